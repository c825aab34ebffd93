// Matrix products of fp32 rows with fp32 or bf16 weights, and the delta rule. One copy an instruction set (see vec.h).
// A result's own order of additions is the same in every tile, so that company in a batch changes no bit of it.
#pragma once
#include "vec.h"

namespace dk::ISA {

template <int T, int R, class E>
static inline void dots_tile(const float* x, i64 ldx, const E* w, i64 ldw, i64 k, float* out, i64 ldo) {
  F sums[T][R] = {};
  const i64 next = ahead<R>(ldw * i64(sizeof(E)));
  auto step = [&](auto get, i64 i) __attribute__((always_inline)) {
    F wide[T];
    for (int t = 0; t < T; t++) wide[t] = get(x + t * ldx + i);
    for (int r = 0; r < R; r++) {
      F v = get(w + r * ldw + i);
      for (int t = 0; t < T; t++) sums[t][r] += v * wide[t];
    }
  };
  i64 i = 0;
  for (; i + W <= k; i += W) {
    if (T == 1 && R > 1)
      for (int r = 0; r < R; r++) fetch(reinterpret_cast<const char*>(w + r * ldw + i) + next);
    step([](const auto* p) { return load(p); }, i);
  }
  if (i < k) step([n = k - i](const auto* p) { return load_part(p, n); }, i);
  for (int t = 0; t < T; t++) put_totals<R>(sums[t], out + t * ldo);
}

template <int T, class E>
static inline void dots_rows(const float* x, i64 ldx, const E* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo) {
  constexpr int R = T == 1 ? 8 : 4;
  i64 r = 0;
  for (; r + R <= rows; r += R) dots_tile<T, R>(x, ldx, w + r * ldw, ldw, k, out + r, ldo);
  for (; r < rows; r++) dots_tile<T, 1>(x, ldx, w + r * ldw, ldw, k, out + r, ldo);
}

template <class E>
static void dots(const float* x, i64 ldx, i64 tokens, const E* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo) {
  i64 t = 0;
  for (; t + 4 <= tokens; t += 4) dots_rows<4>(x + t * ldx, ldx, w, ldw, rows, k, out + t * ldo, ldo);
  for (; t + 2 <= tokens; t += 2) dots_rows<2>(x + t * ldx, ldx, w, ldw, rows, k, out + t * ldo, ldo);
  for (; t < tokens; t++) dots_rows<1>(x + t * ldx, ldx, w, ldw, rows, k, out + t * ldo, ldo);
}

template <int T, int C, class E>
static inline void sums_tile(const float* x, i64 ldx, const E* w, i64 ldw, i64 k, float* out, i64 ldo) {
  F sums[T][C];
  for (int t = 0; t < T; t++)
    for (int c = 0; c < C; c++) sums[t][c] = load(out + t * ldo + c * W);
  for (i64 i = 0; i < k; i++) {
    for (int c = 0; c < C; c++) {
      F v = load(w + i * ldw + c * W);
      for (int t = 0; t < T; t++) sums[t][c] += v * x[t * ldx + i];
    }
  }
  for (int t = 0; t < T; t++)
    for (int c = 0; c < C; c++) store(out + t * ldo + c * W, sums[t][c]);
}

template <int T, class E>
static inline void sums_rows(const float* x, i64 ldx, const E* w, i64 ldw, i64 k, i64 columns, float* out, i64 ldo) {
  i64 c = 0;
  for (; c + 4 * W <= columns; c += 4 * W) sums_tile<T, 4>(x, ldx, w + c, ldw, k, out + c, ldo);
  for (; c + W <= columns; c += W) sums_tile<T, 1>(x, ldx, w + c, ldw, k, out + c, ldo);
  if (c == columns) return;
  for (int t = 0; t < T; t++) {
    F sums = load_part(out + t * ldo + c, columns - c);
    for (i64 i = 0; i < k; i++) sums += load_part(w + i * ldw + c, columns - c) * x[t * ldx + i];
    store_part(out + t * ldo + c, sums, columns - c);
  }
}

template <class E>
static void sums(const float* x, i64 ldx, i64 tokens, const E* w, i64 ldw, i64 k, i64 columns, float* out, i64 ldo) {
  i64 t = 0;
  for (; t + 4 <= tokens; t += 4) sums_rows<4>(x + t * ldx, ldx, w, ldw, k, columns, out + t * ldo, ldo);
  for (; t < tokens; t++) sums_rows<1>(x + t * ldx, ldx, w, ldw, k, columns, out + t * ldo, ldo);
}

// S ← Diag(e)S; S ← S + k β(v − Sᵀk)ᵀ; o = Sᵀq on C vectors of columns. A column needs no other one, so a few of them
// stay in the first-level cache over all tokens; decaying and reading the next token's k are one pass with the update.
template <int C>
static inline void delta_columns(float* state, i64 lds, i64 d, const float* q, const float* k, const float* e,
                                 const float* v, i64 ldv, const float* beta, i64 tokens, float* o, i64 ldo) {
  F seen[C] = {};
  for (i64 i = 0; i < d; i++)
    for (int c = 0; c < C; c++) {
      F s = load(state + i * lds + c * W) * e[i];
      store(state + i * lds + c * W, s);
      seen[c] += s * k[i];
    }
  for (i64 t = 0; t < tokens; t++) {
    const float *qt = q + t * d, *kt = k + t * d, *next_e = e + (t + 1) * d, *next_k = k + (t + 1) * d;
    F change[C], read[C] = {}, next[C] = {};
    for (int c = 0; c < C; c++) change[c] = (load(v + t * ldv + c * W) - seen[c]) * beta[t];
    bool more = t + 1 < tokens;
    for (i64 i = 0; i < d; i++)
      for (int c = 0; c < C; c++) {
        F s = load(state + i * lds + c * W) + change[c] * kt[i];
        read[c] += s * qt[i];
        if (more) {
          s = s * next_e[i];
          next[c] += s * next_k[i];
        }
        store(state + i * lds + c * W, s);
      }
    for (int c = 0; c < C; c++) {
      store(o + t * ldo + c * W, read[c]);
      seen[c] = next[c];
    }
  }
}

static void delta(float* state, i64 lds, i64 d, i64 columns, const float* q, const float* k, const float* e,
                  const float* v, i64 ldv, const float* beta, i64 tokens, float* o, i64 ldo) {
  i64 c = 0;
  for (; c + 2 * W <= columns; c += 2 * W)
    delta_columns<2>(state + c, lds, d, q, k, e, v + c, ldv, beta, tokens, o + c, ldo);
  for (; c + W <= columns; c += W)
    delta_columns<1>(state + c, lds, d, q, k, e, v + c, ldv, beta, tokens, o + c, ldo);
  for (; c < columns; c++)
    for (i64 t = 0; t < tokens; t++) {
      float seen = 0, read = 0;
      for (i64 i = 0; i < d; i++) seen += (state[i * lds + c] *= e[t * d + i]) * k[t * d + i];
      float change = (v[t * ldv + c] - seen) * beta[t];
      for (i64 i = 0; i < d; i++) read += (state[i * lds + c] += change * k[t * d + i]) * q[t * d + i];
      o[t * ldo + c] = read;
    }
}

}  // namespace dk::ISA
