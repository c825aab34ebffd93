// Kernels over rows: norms, gates, activations, conversions. One copy an instruction set (see vec.h).
#pragma once
#include "vec.h"

namespace dk::ISA {

static void widen(const u16* x, i64 n, float* out) {
  each(n, [&](i64 i, i64 m) { put(out + i, take(x + i, m), m); });
}

// To the nearest, ties to even; a NaN stays one.
static void narrow(const float* x, i64 n, u16* out) {
  for (i64 i = 0; i < n; i++) {
    std::uint32_t bits;
    std::memcpy(&bits, x + i, 4);
    bool nan = (bits & 0x7fffffff) > 0x7f800000;
    out[i] = u16(nan ? (bits >> 16 | 0x40) : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

static void add(const float* a, const float* b, i64 n, float* out) {
  each(n, [&](i64 i, i64 m) { put(out + i, take(a + i, m) + take(b + i, m), m); });
}

static void scale(float* x, float by, i64 n) {
  each(n, [&](i64 i, i64 m) { put(x + i, take(x + i, m) * by, m); });
}

static void axpy(float* out, const float* x, float by, i64 n) {
  each(n, [&](i64 i, i64 m) { put(out + i, take(x + i, m) * by + take(out + i, m), m); });
}

static float squares(const float* x, i64 n) {
  F sums{};
  each(n, [&](i64 i, i64 m) { F v = take(x + i, m); sums += v * v; });
  return total(sums);
}

static void rms(const float* x, const float* weight, float eps, i64 n, float* out) {
  float by = 1.f / std::sqrt(squares(x, n) / float(n) + eps);
  if (weight) each(n, [&](i64 i, i64 m) { put(out + i, take(x + i, m) * by * take(weight + i, m), m); });
  else each(n, [&](i64 i, i64 m) { put(out + i, take(x + i, m) * by, m); });
}

static void layer(const float* x, const float* weight, const float* bias, float eps, i64 n, float* out) {
  F sums{};
  each(n, [&](i64 i, i64 m) { sums += take(x + i, m); });
  float mean = total(sums) / float(n);
  double spread = 0;
  for (i64 i = 0; i < n; i++) spread += double(x[i] - mean) * double(x[i] - mean);
  float by = 1.f / std::sqrt(float(spread / double(n)) + eps);
  each(n, [&](i64 i, i64 m) { put(out + i, (take(x + i, m) - mean) * by * take(weight + i, m) + take(bias + i, m), m); });
}

// The softmax over RMS-normed streams' scores, and the streams mixed by it.
static void mix(const float* const* streams, i64 count, const float* score, float eps, i64 n, float* out) {
  float weights[64], largest = -INFINITY, sum = 0;
  for (i64 j = 0; j < count; j++) {
    F dots{}, norms{};
    each(n, [&](i64 i, i64 m) {
      F v = take(streams[j] + i, m);
      dots += v * take(score + i, m);
      norms += v * v;
    });
    weights[j] = total(dots) / std::sqrt(total(norms) / float(n) + eps);
    largest = weights[j] > largest ? weights[j] : largest;
  }
  for (i64 j = 0; j < count; j++) sum += weights[j] = expf(weights[j] - largest);
  for (i64 j = 0; j < count; j++) weights[j] /= sum;
  each(n, [&](i64 i, i64 m) {
    F mixed{};
    for (i64 j = 0; j < count; j++) mixed += take(streams[j] + i, m) * weights[j];
    put(out + i, mixed, m);
  });
}

static void silu(float* x, i64 n) {
  each(n, [&](i64 i, i64 m) { F v = take(x + i, m); put(x + i, v * sigmoid(v), m); });
}

static void sigmoids(const float* x, i64 n, float* out) {
  each(n, [&](i64 i, i64 m) { put(out + i, sigmoid(take(x + i, m)), m); });
}

static void gated(const float* x, const float* gate, i64 n, float* out) {
  each(n, [&](i64 i, i64 m) { put(out + i, take(x + i, m) * sigmoid(take(gate + i, m)), m); });
}

static void glu(const float* gate, const float* up, const Activation& act, i64 n, float* out) {
  each(n, [&](i64 i, i64 m) {
    F g = take(gate + i, m), u = take(up + i, m);
    if (act.situ) {
      if (act.linear_beta > 0) u = act.linear_beta * tanh(u / act.linear_beta);
      put(out + i, act.beta * tanh(g / act.beta) * sigmoid(g) * u, m);
    } else {
      put(out + i, g * sigmoid(g) * u, m);
    }
  });
}

static void decays(const float* decay, const float* bias, float rate, const float* bound, i64 n, float* out) {
  each(n, [&](i64 i, i64 m) {
    F x = take(decay + i, m) + take(bias + i, m);
    F g = bound ? *bound * sigmoid(x * rate) : -(softplus(x) * rate);
    put(out + i, pick(g < -87.f, F{}, exp(g)), m);
  });
}

static void unit(const float* x, float by, i64 n, float* out) {
  float factor = 1.f / std::sqrt(squares(x, n) + 1e-6f);
  each(n, [&](i64 i, i64 m) { put(out + i, take(x + i, m) * factor * by, m); });
}

// x ← e^(x·scale − max); the sum is moved to the new maximum and grows by the new terms.
static float softmax_part(float* x, i64 n, float scale, float old_max, float* sum) {
  float largest = old_max;
  for (i64 i = 0; i < n; i++) {
    x[i] *= scale;
    largest = x[i] > largest ? x[i] : largest;
  }
  F sums{};
  each(n, [&](i64 i, i64 m) {
    F v = take(x + i, m) - largest;
    put(x + i, pick(v < -87.f, F{}, exp(v)), m);
    sums += take(x + i, m);
  });
  *sum = *sum * (old_max == -INFINITY ? 0.f : expf(old_max - largest)) + total(sums);
  return largest;
}

template <int R> static inline void relu_sums_of(const float* dots, i64 heads, const float* weights, float* out) {
  F sums[R] = {};
  each(heads, [&](i64 h, i64 m) {
    const F by = take(weights + h, m);
    for (int r = 0; r < R; r++) sums[r] += most(take(dots + r * heads + h, m), F{}) * by;
  });
  put_totals<R>(sums, out);
}

static void relu_sums(const float* dots, i64 heads, const float* weights, i64 n, float* out) {
  i64 p = 0;
  for (; p + 4 <= n; p += 4) relu_sums_of<4>(dots + p * heads, heads, weights, out + p);
  for (; p < n; p++) relu_sums_of<1>(dots + p * heads, heads, weights, out + p);
}

}  // namespace dk::ISA
