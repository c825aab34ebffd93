// MXFP4 by AVX-512 with VNNI; table look-ups by VBMI where the file is compiled for it.
#pragma once
#include "mxfp4.h"

namespace dk::ISA {

static inline __m512i twelve_more() {  // 2·value + 12, unsigned as vpdpbusd wants its first factor
  return _mm512_broadcast_i32x4(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
}

// The low and the high nibbles of 64 bytes through the table.
static inline void both(__m512i table, __m512i v, __m512i& low, __m512i& high) {
#if defined(__AVX512VBMI__)  // six index bits are used and the table is there four times: nothing to mask
  low = _mm512_permutexvar_epi8(v, table);
  high = _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 4), table);
#else
  const __m512i nibble = _mm512_set1_epi8(15);
  low = _mm512_shuffle_epi8(table, _mm512_and_si512(v, nibble));
  high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble));
#endif
}

template <int T, int R>
static void tile8(const u8* w, const u8* s, i64 blocks, const Quant* x, float* out, i64 ldo) {
  const __m512i table = twelve_more();
  const __m512i tiny = _mm512_set1_epi32(0x00400000);  // 2^-127
  const __m512i lane = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const i64 ldw = blocks * 16, next = ahead<R>(ldw);
  __m512 sums[T][R];
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) sums[t][r] = _mm512_setzero_ps();

  // Up to 16 blocks: four loads of 64 bytes a row. `get` takes an address and how many of the blocks were read before.
  auto group = [&](i64 b, int loads, auto get, auto get_scales) __attribute__((always_inline)) {
    __m512 by[R];
    for (int r = 0; r < R; r++) {
      __m512i bits = _mm512_slli_epi32(_mm512_cvtepu8_epi32(get_scales(s + r * blocks + b)), 23);
      by[r] = _mm512_castsi512_ps(_mm512_max_epu32(bits, tiny));
      if (T == 1) {
        by[r] = _mm512_mul_ps(by[r], _mm512_loadu_ps(x[0].scale + b));
        fetch(s + r * blocks + b + next / 16);
      }
    }
#pragma GCC unroll 4
    for (int g = 0; g < 4; g++) {
      if (g >= loads) break;
      const __m512i at = _mm512_add_epi32(lane, _mm512_set1_epi32(4 * g));
      const i64 i = (b + 4 * g) * 16;
      __m512i even[T], odd[T], start[T];
      __m512 own[T];
      for (int t = 0; t < T; t++) {
        even[t] = _mm512_loadu_si512(x[t].even + i);
        odd[t] = _mm512_loadu_si512(x[t].odd + i);
        start[t] = _mm512_loadu_si512(x[t].start + i / 4);
        if (T > 1) own[t] = _mm512_permutexvar_ps(at, _mm512_loadu_ps(x[t].scale + b));
      }
      for (int r = 0; r < R; r++) {
        __m512i low, high;
        both(table, get(w + r * ldw + i, 4 * g), low, high);
        if (T == 1) fetch(w + r * ldw + i + next);
        __m512 scale = _mm512_permutexvar_ps(at, by[r]);
        for (int t = 0; t < T; t++) {
          __m512i dot = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(start[t], low, even[t]), high, odd[t]);
          __m512 times = T > 1 ? _mm512_mul_ps(scale, own[t]) : scale;
          sums[t][r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot), times, sums[t][r]);
        }
      }
    }
  };
  i64 b = 0;
  for (; b + 16 <= blocks; b += 16)
    group(
        b, 4, [](const u8* p, int) { return _mm512_loadu_si512(p); },
        [](const u8* p) { return _mm_loadu_si128((const __m128i*)p); });
  if (const int left = int(blocks - b))
    group(
        b, (left + 3) / 4,
        [left](const u8* p, int done) {
          int bytes = (left - done) * 16;
          __mmask64 mask = bytes <= 0 ? 0 : bytes >= 64 ? ~0ull : (1ull << bytes) - 1;
          return _mm512_maskz_loadu_epi8(mask, p);
        },
        [left](const u8* p) { return _mm_maskz_loadu_epi8(__mmask16((1u << left) - 1), p); });
  for (int t = 0; t < T; t++) put_totals<R>(sums[t], out + t * ldo);
}

static inline void decode(const u8* packed, F* out) {
  const __m512 table = _mm512_setr_ps(0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6);
  __m512i codes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)packed));
  out[0] = (F)_mm512_permutexvar_ps(codes, table);
  out[1] = (F)_mm512_permutexvar_ps(_mm512_srli_epi32(codes, 4), table);
}

}  // namespace dk::ISA
