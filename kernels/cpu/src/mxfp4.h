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

typedef std::int8_t Bytes __attribute__((vector_size(32)));
typedef std::int8_t Half __attribute__((vector_size(16)));
typedef std::int8_t Few __attribute__((vector_size(WIDTH)));

static inline std::int32_t largest(I v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_epi32((__m512i)v);
#else
  std::int32_t found = v[0];
  for (int i = 1; i < W; i++) found = v[i] > found ? v[i] : found;
  return found;
#endif
}

// To int8, a block's largest magnitude becoming 127. The scale is halved since weights are doubled. Numbers that aren't
// finite make the whole block NaN, as they would make the product.
static void quantise(const float* x, i64 blocks, const Quant& out) {
  const F magic = all(12582912.f);  // adding it rounds to whole numbers, ties to even
  for (i64 b = 0; b < blocks; b++) {
    I most_bits{};  // magnitudes are ordered as their bits are; above 0x7f7fffff is nothing finite
    for (int i = 0; i < 32; i += W) {
      I bits = (I)load(x + b * 32 + i) & 0x7fffffff;
      most_bits = bits > most_bits ? bits : most_bits;
    }
    const std::int32_t bits = largest(most_bits);
    float most_of_all;
    std::memcpy(&most_of_all, &bits, 4);
    const bool finite = bits < 0x7f800000, there = finite && most_of_all > 1e-30f;
    const F by = all(there ? 127.f / most_of_all : 0.f);
    std::int8_t whole[32] = {};
    I sums{};
    for (int i = 0; there && i < 32; i += W) {
      I v = (I)(load(x + b * 32 + i) * by + magic) - (I)magic;
      sums += v;
      const Few few = __builtin_convertvector(v, Few);
      std::memcpy(whole + i, &few, W);
    }
    Bytes v;
    std::memcpy(&v, whole, 32);
    Half even = __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    Half odd = __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    std::memcpy(out.even + b * 16, &even, 16);
    std::memcpy(out.odd + b * 16, &odd, 16);
    const std::int32_t start[4] = {-12 * std::int32_t(total(__builtin_convertvector(sums, F))), 0, 0, 0};
    std::memcpy(out.start + b * 4, start, 16);
    out.scale[b] = there ? most_of_all / 127.f * 0.5f : finite ? 0.f : NAN;
  }
  const i64 rest = padded(blocks) - blocks;
  std::memset(out.even + blocks * 16, 0, std::size_t(rest) * 16);
  std::memset(out.odd + blocks * 16, 0, std::size_t(rest) * 16);
  std::memset(out.start + blocks * 4, 0, std::size_t(rest) * 16);
  std::memset(out.scale + blocks, 0, std::size_t(rest) * 4);
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
  const i64 next = ahead<R>(blocks * 16);
  for (i64 b = 0; b < blocks; b++)
    for (int r = 0; r < R; r++) {
      F v[V];
      decode(w + (r * blocks + b) * 16, v);
      if (T == 1 && b % 4 == 0) fetch(w + (r * blocks + b) * 16 + next);
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
