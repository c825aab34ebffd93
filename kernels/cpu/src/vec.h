// A vector of WIDTH floats in the compiler's own vector types: one text for every instruction set. Included by one file
// an instruction set, inside a namespace of its own, so that no function compiled for a newer CPU is shared.
#pragma once
#include <cmath>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include "kernels.h"

namespace dk::ISA {

constexpr int W = WIDTH;
typedef float F __attribute__((vector_size(4 * WIDTH)));
typedef float Floose __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef std::int32_t I __attribute__((vector_size(4 * WIDTH)));
typedef u16 H __attribute__((vector_size(2 * WIDTH)));
typedef u16 Hloose __attribute__((vector_size(2 * WIDTH), aligned(2), may_alias));

static inline F load(const float* p) { return *reinterpret_cast<const Floose*>(p); }
static inline void store(float* p, F v) { *reinterpret_cast<Floose*>(p) = v; }
static inline F all(float x) { return x - F{}; }

static inline F load(const u16* p) {
#if defined(__AVX512F__)
  return (F)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)), 16);
#elif defined(__AVX2__)
  return (F)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)), 16);
#else
  return (F)(__builtin_convertvector(*reinterpret_cast<const Hloose*>(p), I) << 16);
#endif
}

#if defined(__AVX512F__)
static inline F load_part(const float* p, i64 n) { return (F)_mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p); }
static inline F load_part(const u16* p, i64 n) {
  return (F)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(__mmask16((1u << n) - 1), p)), 16);
}
static inline void store_part(float* p, F v, i64 n) { _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), (__m512)v); }
#else
template <class E> static inline F load_part(const E* p, i64 n) {
  E part[W] = {};
  for (i64 i = 0; i < n; i++) part[i] = p[i];
  return load(part);
}

static inline void store_part(float* p, F v, i64 n) {
  for (i64 i = 0; i < n; i++) p[i] = v[i];
}
#endif

static inline float total(F v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps((__m512)v);
#elif defined(__AVX2__)
  __m128 h = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  h = _mm_add_ps(h, _mm_movehl_ps(h, h));
  return _mm_cvtss_f32(_mm_add_ss(h, _mm_movehdup_ps(h)));
#else
  return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}

// The totals of R vectors one after another; four at a time take less than half the instructions, and add in the order
// of one alone.
template <int R, class V> static inline void put_totals(const V (&sums)[R], float* out) {
  int r = 0;
#if defined(__AVX512F__)
  for (; r + 4 <= R; r += 4) {
    __m512 two[2];
    for (int i = 0; i < 2; i++) {
      const __m512 a = (__m512)sums[r + 2 * i], b = (__m512)sums[r + 2 * i + 1];
      two[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    }
    __m512 made = _mm512_add_ps(_mm512_shuffle_f32x4(two[0], two[1], 0x88), _mm512_shuffle_f32x4(two[0], two[1], 0xdd));
    made = _mm512_add_ps(made, _mm512_permute_ps(made, 0x4e));
    made = _mm512_add_ps(made, _mm512_permute_ps(made, 0xb1));
    const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm_storeu_ps(out + r, _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, made)));
  }
#endif
  for (; r < R; r++) out[r] = total((F)sums[r]);
}

static inline F pick(I mask, F yes, F no) { return (F)((mask & (I)yes) | (~mask & (I)no)); }
static inline F least(F a, F b) { return pick(b < a, b, a); }  // a NaN in `a` stays
static inline F most(F a, F b) { return pick(b > a, b, a); }
static inline F abs(F x) { return (F)((I)x & 0x7fffffff); }

// e^x to about one unit in the last place; 0 and infinity outside of the range become the smallest and largest normal.
static inline F exp(F x) {
  const F magic = all(12582912.f);
  x = least(most(x, all(-87.33654f)), all(88.3762626647949f));
  F turn = x * all(1.44269504f) + magic;
  F n = turn - magic;
  F r = x - n * all(0.693359375f);
  r = r - n * all(-2.12194440e-4f);
  F p = all(1.9875691500e-4f);
  p = p * r + all(1.3981999507e-3f);
  p = p * r + all(8.3334519073e-3f);
  p = p * r + all(4.1665795894e-2f);
  p = p * r + all(1.6666665459e-1f);
  p = p * r + all(5.0000001201e-1f);
  p = p * r * r + r + 1.f;
  return (F)((I)p + (((I)turn - (I)magic) << 23));
}

static inline F sigmoid(F x) { return 1.f / (1.f + exp(-x)); }

static inline F tanh(F x) {
  F z = x * x;
  F p = all(-5.70498872745e-3f);
  p = p * z + all(2.06390887954e-2f);
  p = p * z + all(-5.37397155531e-2f);
  p = p * z + all(1.33314422036e-1f);
  p = p * z + all(-3.33332819422e-1f);
  F near = p * z * x + x;
  F far = 1.f - 2.f / (exp(2.f * abs(x)) + 1.f);
  far = (F)((I)far | ((I)x & (I)all(-0.f)));
  return pick(abs(x) < 0.625f, near, far);
}

// log(1 + e^x): max(x, 0) + log1p(e^-|x|), the logarithm by 2·atanh(y / (2 + y)).
static inline F softplus(F x) {
  F y = exp(-abs(x));
  F s = y / (y + 2.f);
  F z = s * s;
  F p = all(1.f / 13.f);
  p = p * z + all(1.f / 11.f);
  p = p * z + all(1.f / 9.f);
  p = p * z + all(1.f / 7.f);
  p = p * z + all(1.f / 5.f);
  p = p * z + all(1.f / 3.f);
  return most(x, F{}) + 2.f * (p * z * s + s);
}

// Weights that are read once come from memory: lines are asked for this far ahead of those in use, into the second-level
// cache. R rows of `bytes` each are read at once, so that nearer than their end they would be asked for too late.
template <int R> static inline i64 ahead(i64 bytes) { return R * bytes > 8192 ? R * bytes : 8192; }
static inline void fetch(const void* p) { __builtin_prefetch(p, 0, 2); }

// f on each vector of n floats, the last one padded: out[i] = f(x[i]).
template <class Fn> static inline void each(i64 n, Fn f) {
  i64 i = 0;
  for (; i + W <= n; i += W) f(i, i64(W));
  if (i < n) f(i, n - i);
}

template <class E> static inline F take(const E* p, i64 n) { return n == W ? load(p) : load_part(p, n); }
static inline void put(float* p, F v, i64 n) { n == W ? store(p, v) : store_part(p, v, n); }

}  // namespace dk::ISA
