// MXFP4 rows: what every instruction set shares. One file an instruction set gives `tile8` (int8 activations) and
// `decode` (32 values as fp32, evens first), see mxfp4_*.h.
#pragma once
#include "vec.h"

namespace dk::ISA {

// 2^(s − 127). Its bits are the byte in the exponent; 0 alone is a subnormal number. 255, NaN, is refused at load.
static inline float power(u8 s) {
  std::uint32_t bits = s ? std::uint32_t(s) << 23 : 0x00400000u;
  float made;
  std::memcpy(&made, &bits, 4);
  return made;
}

// Twice the value of each code: all are whole numbers, −12 … 12.
constexpr std::int8_t TWICE[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

template <int T, int R>
static void tile8(const u8* w, const u8* s, i64 blocks, const Quant* x, float* out, i64 ldo);
static inline void decode(const u8* packed, F* out);

// To int8, a block's largest magnitude becoming 127. The scale is halved since weights are doubled. Numbers that aren't
// finite make the whole block NaN, as they would make the product.
static void quantise(const float* x, i64 blocks, const Quant& out) {
  for (i64 b = 0; b < padded(blocks); b++) {
    float whole[32], largest = 0, by = 0;
    std::int32_t sum = 0;
    bool there = b < blocks, finite = true;
    if (there) {
      F most_so_far{}, wrong{};
      for (int i = 0; i < 32; i += W) {
        F v = load(x + b * 32 + i);
        most_so_far = most(most_so_far, abs(v));
        wrong += v - v;
      }
      finite = total(wrong) == 0;
      for (int i = 0; i < W; i++) largest = most_so_far[i] > largest ? most_so_far[i] : largest;
      there = finite && largest > 1e-30f;
      by = there ? 127.f / largest : 0.f;
      const F magic = all(12582912.f);  // adding it rounds to whole numbers, ties to even
      if (there)
        for (int i = 0; i < 32; i += W) store(whole + i, load(x + b * 32 + i) * by + magic - magic);
    }
    for (int i = 0; i < 16; i++) {
      std::int32_t even = there ? std::int32_t(whole[2 * i]) : 0, odd = there ? std::int32_t(whole[2 * i + 1]) : 0;
      out.even[b * 16 + i] = std::int8_t(even);
      out.odd[b * 16 + i] = std::int8_t(odd);
      sum += even + odd;
    }
    out.start[b * 4] = -12 * sum;
    out.start[b * 4 + 1] = out.start[b * 4 + 2] = out.start[b * 4 + 3] = 0;
    out.scale[b] = there ? largest / 127.f * 0.5f : finite ? 0.f : NAN;
  }
}

static void split(const float* x, i64 blocks, float* out) {
  for (i64 b = 0; b < blocks; b++)
    for (int i = 0; i < 16; i++) {
      out[b * 32 + i] = x[b * 32 + 2 * i];
      out[b * 32 + 16 + i] = x[b * 32 + 2 * i + 1];
    }
}

template <int T>
static void rows8(const u8* w, const u8* s, i64 rows, i64 blocks, const Quant* x, float* out, i64 ldo) {
  i64 r = 0;
  for (; r + 4 <= rows; r += 4) tile8<T, 4>(w + r * blocks * 16, s + r * blocks, blocks, x, out + r, ldo);
  for (; r < rows; r++) tile8<T, 1>(w + r * blocks * 16, s + r * blocks, blocks, x, out + r, ldo);
}

static void mx8(const u8* w, const u8* s, i64 rows, i64 blocks, const Quant* x, i64 tokens, float* out, i64 ldo) {
  i64 t = 0;
  for (; t + 4 <= tokens; t += 4) rows8<4>(w, s, rows, blocks, x + t, out + t * ldo, ldo);
  for (; t + 2 <= tokens; t += 2) rows8<2>(w, s, rows, blocks, x + t, out + t * ldo, ldo);
  for (; t < tokens; t++) rows8<1>(w, s, rows, blocks, x + t, out + t * ldo, ldo);
}

template <int T, int R>
static void tile32(const u8* w, const u8* s, i64 blocks, const float* const* x, float* out, i64 ldo) {
  constexpr int V = 32 / W;
  F sums[T][R] = {};
  for (i64 b = 0; b < blocks; b++)
    for (int r = 0; r < R; r++) {
      F v[V];
      decode(w + (r * blocks + b) * 16, v);
      if (T == 1) __builtin_prefetch(w + ((r + R) * blocks + b) * 16);
      F by = all(power(s[r * blocks + b]));
      for (int t = 0; t < T; t++) {
        F part = v[0] * load(x[t] + b * 32);
        for (int i = 1; i < V; i++) part += v[i] * load(x[t] + b * 32 + i * W);
        sums[t][r] += part * by;
      }
    }
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) out[t * ldo + r] = total(sums[t][r]);
}

template <int T>
static void rows32(const u8* w, const u8* s, i64 rows, i64 blocks, const float* const* x, float* out, i64 ldo) {
  i64 r = 0;
  for (; r + 4 <= rows; r += 4) tile32<T, 4>(w + r * blocks * 16, s + r * blocks, blocks, x, out + r, ldo);
  for (; r < rows; r++) tile32<T, 1>(w + r * blocks * 16, s + r * blocks, blocks, x, out + r, ldo);
}

static void mx32(const u8* w, const u8* s, i64 rows, i64 blocks, const float* const* x, i64 tokens, float* out,
                 i64 ldo) {
  i64 t = 0;
  for (; t + 4 <= tokens; t += 4) rows32<4>(w, s, rows, blocks, x + t, out + t * ldo, ldo);
  for (; t < tokens; t++) rows32<1>(w, s, rows, blocks, x + t, out + t * ldo, ldo);
}

}  // namespace dk::ISA
