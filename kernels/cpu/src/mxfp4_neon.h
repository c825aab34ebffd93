// MXFP4 by NEON with the dot product instructions of ARMv8.2.
#pragma once
#include "mxfp4.h"

namespace dk::ISA {

static inline void nibbles(const u8* packed, int8x16_t& low, int8x16_t& high) {
  const int8x16_t table = vld1q_s8(TWICE);
  uint8x16_t v = vld1q_u8(packed);
  low = vqtbl1q_s8(table, vandq_u8(v, vdupq_n_u8(15)));
  high = vqtbl1q_s8(table, vshrq_n_u8(v, 4));
}

template <int T, int R>
static void tile8(const u8* w, const u8* s, i64 blocks, const Quant* x, float* out, i64 ldo) {
  const i64 next = ahead<R>(blocks * 16);
  float32x4_t sums[T][R];
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) sums[t][r] = vdupq_n_f32(0);
  for (i64 b = 0; b < blocks; b++)
    for (int r = 0; r < R; r++) {
      int8x16_t low, high;
      nibbles(w + (r * blocks + b) * 16, low, high);
      if (T == 1 && b % 4 == 0) fetch(w + (r * blocks + b) * 16 + next);
      float by = power(s[r * blocks + b]);
      for (int t = 0; t < T; t++) {
        int32x4_t dot = vdotq_s32(vdupq_n_s32(0), low, vld1q_s8(x[t].even + b * 16));
        dot = vdotq_s32(dot, high, vld1q_s8(x[t].odd + b * 16));
        sums[t][r] = vfmaq_n_f32(sums[t][r], vcvtq_f32_s32(dot), by * x[t].scale[b]);
      }
    }
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) out[t * ldo + r] = vaddvq_f32(sums[t][r]);
}

static inline void decode(const u8* packed, F* out) {
  int8x16_t both[2];
  nibbles(packed, both[0], both[1]);
  for (int h = 0; h < 2; h++) {
    int16x8_t low = vmovl_s8(vget_low_s8(both[h])), high = vmovl_s8(vget_high_s8(both[h]));
    int32x4_t four[4] = {vmovl_s16(vget_low_s16(low)), vmovl_s16(vget_high_s16(low)), vmovl_s16(vget_low_s16(high)),
                         vmovl_s16(vget_high_s16(high))};
    for (int i = 0; i < 4; i++) out[h * 4 + i] = (F)vmulq_n_f32(vcvtq_f32_s32(four[i]), 0.5f);
  }
}

}  // namespace dk::ISA
