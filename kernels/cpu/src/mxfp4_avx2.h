// MXFP4 by AVX2: products of bytes added in pairs to 16 bits (2·24·127, twice, fits), those to 32.
#pragma once
#include "mxfp4.h"

namespace dk::ISA {

template <int T, int R>
static void tile8(const u8* w, const u8* s, i64 blocks, const Quant* x, float* out, i64 ldo) {
  const __m256i table = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
  const __m256i nibble = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1), tiny = _mm256_set1_epi32(0x00400000);
  const i64 next = ahead<R>(blocks * 16);
  __m256 sums[T][R];
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) sums[t][r] = _mm256_setzero_ps();
  for (i64 b = 0; b < blocks; b += 8) {
    const u8 *bytes[R], *scales[R];
    u8 rest[R][128], rest_scales[R][8];
    for (int r = 0; r < R; r++) {
      bytes[r] = w + (r * blocks + b) * 16;
      scales[r] = s + r * blocks + b;
      if (b + 8 > blocks) {  // the last ones, padded with zeros
        std::memset(rest[r], 0, 128);
        std::memset(rest_scales[r], 0, 8);
        std::memcpy(rest[r], bytes[r], std::size_t(blocks - b) * 16);
        std::memcpy(rest_scales[r], scales[r], std::size_t(blocks - b));
        bytes[r] = rest[r];
        scales[r] = rest_scales[r];
      }
    }
    __m256 by[R];
    for (int r = 0; r < R; r++) {
      __m256i bits = _mm256_slli_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)scales[r])), 23);
      by[r] = _mm256_castsi256_ps(_mm256_max_epu32(bits, tiny));
    }
    for (int g = 0; g < 4; g++) {
      const __m256i at = _mm256_setr_epi32(2 * g, 2 * g, 2 * g, 2 * g, 2 * g + 1, 2 * g + 1, 2 * g + 1, 2 * g + 1);
      const i64 i = (b + 2 * g) * 16;
      for (int r = 0; r < R; r++) {
        __m256i v = _mm256_loadu_si256((const __m256i*)(bytes[r] + g * 32));
        __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble));
        __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
        __m256 scale = _mm256_permutevar8x32_ps(by[r], at);
        if (T == 1 && g % 2 == 0) fetch(w + (r * blocks + b) * 16 + g * 32 + next);
        for (int t = 0; t < T; t++) {
          __m256i even = _mm256_loadu_si256((const __m256i*)(x[t].even + i));
          __m256i odd = _mm256_loadu_si256((const __m256i*)(x[t].odd + i));
          __m256i start = _mm256_loadu_si256((const __m256i*)(x[t].start + i / 4));
          __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(low, even), _mm256_maddubs_epi16(high, odd));
          __m256i dot = _mm256_add_epi32(_mm256_madd_epi16(pairs, ones), start);
          __m256 own = _mm256_permutevar8x32_ps(_mm256_loadu_ps(x[t].scale + b), at);
          sums[t][r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(scale, own), sums[t][r]);
        }
      }
    }
  }
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) out[t * ldo + r] = total((F)sums[t][r]);
}

static inline void decode(const u8* packed, F* out) {
  const __m256 table = _mm256_setr_ps(0, .5f, 1, 1.5f, 2, 3, 4, 6);
  for (int half = 0; half < 2; half++) {
    __m256i codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)(packed + half * 8)));
    for (int high = 0; high < 2; high++) {  // three bits choose the magnitude, the fourth is the sign
      __m256i code = high ? _mm256_srli_epi32(codes, 4) : codes;
      __m256i sign = _mm256_slli_epi32(_mm256_srli_epi32(code, 3), 31);
      out[half + high * 2] = (F)_mm256_xor_ps(_mm256_permutevar8x32_ps(table, code), _mm256_castsi256_ps(sign));
    }
  }
}

}  // namespace dk::ISA
