// MXFP4 without special instructions.
#pragma once
#include "mxfp4.h"

namespace dk::ISA {

template <int T, int R>
static void tile8(const u8* w, const u8* s, i64 blocks, const Quant* x, float* out, i64 ldo) {
  float sums[T][R] = {};
  for (i64 b = 0; b < blocks; b++)
    for (int r = 0; r < R; r++) {
      const u8* packed = w + (r * blocks + b) * 16;
      std::int32_t dots[T] = {};
      for (int i = 0; i < 16; i++) {
        std::int32_t low = TWICE[packed[i] & 15], high = TWICE[packed[i] >> 4];
        for (int t = 0; t < T; t++) dots[t] += low * x[t].even[b * 16 + i] + high * x[t].odd[b * 16 + i];
      }
      float by = power(s[r * blocks + b]);
      for (int t = 0; t < T; t++) sums[t][r] += float(dots[t]) * (by * x[t].scale[b]);
    }
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) out[t * ldo + r] = sums[t][r];
}

static inline void decode(const u8* packed, F* out) {
  float wide[32];
  for (int i = 0; i < 16; i++) {
    wide[i] = 0.5f * TWICE[packed[i] & 15];
    wide[16 + i] = 0.5f * TWICE[packed[i] >> 4];
  }
  for (int i = 0; i < 32 / W; i++) out[i] = load(wide + i * W);
}

}  // namespace dk::ISA
