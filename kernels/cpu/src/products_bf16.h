// Matrix products of bf16 rows with bf16 weights, sums in fp32, by AVX512-BF16: twice the multiplications an instruction.
// A result's own order of additions is the same in every tile, as in products.h.
#pragma once
#include "vec.h"

namespace dk::ISA {

template <int T, int R>
static inline void pairs_tile(const u16* x, i64 ldx, const u16* w, i64 ldw, i64 k, float* out, i64 ldo) {
  const i64 next = ahead<R>(ldw * 2);
  __m512 sums[T][R];
  for (int t = 0; t < T; t++)
    for (int r = 0; r < R; r++) sums[t][r] = _mm512_setzero_ps();
  auto step = [&](auto get, i64 i) __attribute__((always_inline)) {
    __m512bh mine[T];
    for (int t = 0; t < T; t++) mine[t] = (__m512bh)get(x + t * ldx + i);
    for (int r = 0; r < R; r++) {
      const __m512bh v = (__m512bh)get(w + r * ldw + i);
      for (int t = 0; t < T; t++) sums[t][r] = _mm512_dpbf16_ps(sums[t][r], v, mine[t]);
    }
  };
  i64 i = 0;
  for (; i + 32 <= k; i += 32) {
    if (T == 1 && R > 1)
      for (int r = 0; r < R; r++) fetch(reinterpret_cast<const char*>(w + r * ldw + i) + next);
    step([](const u16* p) { return _mm512_loadu_si512(p); }, i);
  }
  if (i < k) {
    const __mmask32 mask = (1u << (k - i)) - 1;
    step([mask](const u16* p) { return _mm512_maskz_loadu_epi16(mask, p); }, i);
  }
  for (int t = 0; t < T; t++) put_totals<R>(sums[t], out + t * ldo);
}

template <int T>
static inline void pairs_rows(const u16* x, i64 ldx, const u16* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo) {
  constexpr int R = T == 1 ? 8 : 4;
  i64 r = 0;
  for (; r + R <= rows; r += R) pairs_tile<T, R>(x, ldx, w + r * ldw, ldw, k, out + r, ldo);
  for (; r < rows; r++) pairs_tile<T, 1>(x, ldx, w + r * ldw, ldw, k, out + r, ldo);
}

static void pairs(const u16* x, i64 ldx, i64 tokens, const u16* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo) {
  i64 t = 0;
  for (; t + 6 <= tokens; t += 6) pairs_rows<6>(x + t * ldx, ldx, w, ldw, rows, k, out + t * ldo, ldo);
  for (; t + 2 <= tokens; t += 2) pairs_rows<2>(x + t * ldx, ldx, w, ldw, rows, k, out + t * ldo, ldo);
  for (; t < tokens; t++) pairs_rows<1>(x + t * ldx, ldx, w, ldw, rows, k, out + t * ldo, ldo);
}

}  // namespace dk::ISA
