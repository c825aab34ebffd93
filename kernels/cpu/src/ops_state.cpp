// Operations with recurrent state: the short convolution and Kimi Delta Attention.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops.h"

namespace dk {

void causal_conv(Context c, Tensor x, Tensor weight, Tensor states, Sequences s, Tensor out) {
  const i64 channels = weight.size[0], kernel = weight.size[1], past = kernel - 1, strip = 512;
  need(x.last() == channels && states.size[1] == channels && states.size[2] == past, "conv: shapes that don't fit");
  need(kernel <= 16, "conv: a kernel of more than 16");
  check(s, x.size[0], nullptr, &states);
  const i64 strips = divide_up(channels, strip);
  Pool::shared().run(s.count * strips, x.size[0] * channels * 8, [&](i64 item) {
    const i64 number = item / strips, first = item % strips * strip, n = std::min(strip, channels - first);
    const i64 begin = s.starts[number], end = s.starts[number + 1];
    if (begin == end) return;
    // Columns of channels: `window` holds the last inputs as rows of n, oldest first, `taps` the weights alike.
    float* room = floats(SLOT_ITEM_A, n * (3 * kernel + 2));
    float *window = room, *taps = window + kernel * n, *flat = taps + kernel * n, *made = flat + kernel * n;
    auto fetch = [&](const Tensor& from, i64 at, i64 count, i64 ld, float* to) {  // [n, count] → [count, n]
      const float* in = flat;
      if (from.type == Type::f32) in = from.as<float>() + at;
      else c.k->widen(from.as<u16>() + at, n * count, flat);
      for (i64 i = 0; i < n; i++)
        for (i64 j = 0; j < count; j++) to[j * n + i] = in[i * ld + j];
    };
    fetch(weight, first * kernel, kernel, kernel, taps);
    const i64 kept = (s.slots[number] * channels + first) * past;
    if (past) fetch(states, kept, past, past, window);
    for (i64 t = begin; t < end; t++) {
      float* newest = window + past * n;
      if (x.type == Type::f32) std::memcpy(newest, static_cast<float*>(x.at(t)) + first, std::size_t(n) * 4);
      else c.k->widen(static_cast<u16*>(x.at(t)) + first, n, newest);
      std::memset(made, 0, std::size_t(n) * 4);
      for (i64 j = 0; j < kernel; j++) {
        const float *row = window + j * n, *tap = taps + j * n;
        for (i64 i = 0; i < n; i++) made[i] += row[i] * tap[i];
      }
      c.k->silu(made, n);
      narrow(c, made, n, out.type, static_cast<char*>(out.at(t)) + first * out.bytes());
      std::memmove(window, window + n, std::size_t(past * n) * 4);
    }
    for (i64 i = 0; i < n; i++)
      for (i64 j = 0; j < past; j++) flat[i * past + j] = window[j * n + i];
    narrow(c, flat, n * past, states.type, static_cast<char*>(states.data) + kept * states.bytes());
  });
}

// The state's columns move on by themselves, so that a long text needs no other form than a short one: a few columns at
// a time stay in the cache over a whole part of it, and any cut of the text gives the same bits.
void kda(Context c, Tensor qkv, Tensor decay, Tensor beta, Tensor a_log, Tensor dt_bias, std::optional<float> bound,
         Tensor states, Sequences s, Tensor out) {
  const i64 heads = beta.size[1], d = states.size[2], width = heads * d, part = 64, strip = 32;
  need(qkv.last() == 3 * width && decay.last() == width && dt_bias.last() == width && a_log.last() == heads &&
           states.size[1] == heads && states.size[3] == d,
       "kda: shapes that don't fit");
  need(states.type == Type::f32 && out.type == Type::f32, "kda: states are float32");
  check(s, qkv.size[0], nullptr, &states);
  const float* rates = wide(c, a_log, SLOT_A);
  const float* bias = wide(c, dt_bias, SLOT_B);
  Pool::shared().run(s.count * heads, qkv.size[0] * width * d * 4, [&](i64 item) {
    const i64 number = item / heads, h = item % heads;
    float* room = floats(SLOT_ITEM_A, part * (4 * d + 1) + 4 * d);
    float *q = room, *k = q + part * d, *e = k + part * d, *v = e + part * d, *b = v + part * d, *one = b + part;
    const float rate = std::exp(rates[h]);
    float* state = static_cast<float*>(states.at(s.slots[number], h));
    auto piece = [&](const Tensor& from, i64 t, i64 column, float* to) {  // d values of a row, in fp32
      if (from.type == Type::f32) return static_cast<const float*>(from.at(t)) + column;
      c.k->widen(static_cast<const u16*>(from.at(t)) + column, d, to);
      return static_cast<const float*>(to);
    };
    for (i64 first = s.starts[number]; first < s.starts[number + 1]; first += part) {
      const i64 tokens = std::min<i64>(part, s.starts[number + 1] - first);
      for (i64 t = 0; t < tokens; t++) {
        c.k->unit(piece(qkv, first + t, h * d, one), 1.f / std::sqrt(float(d)), d, q + t * d);
        c.k->unit(piece(qkv, first + t, width + h * d, one), 1.f, d, k + t * d);
        std::memcpy(v + t * d, piece(qkv, first + t, 2 * width + h * d, one), std::size_t(d) * 4);
        c.k->decays(piece(decay, first + t, h * d, one), bias + h * d, rate, bound ? &*bound : nullptr, d, e + t * d);
        std::uint32_t bits = 0;
        float raw;
        if (beta.type == Type::f32) raw = static_cast<const float*>(beta.at(first + t))[h];
        else bits = std::uint32_t(static_cast<const u16*>(beta.at(first + t))[h]) << 16, std::memcpy(&raw, &bits, 4);
        b[t] = 1.f / (1.f + std::exp(-raw));
      }
      for (i64 column = 0; column < d; column += strip)
        c.k->delta(state + column, d, d, std::min(strip, d - column), q, k, e, v + column, d, b, tokens,
                   out.as<float>() + (first * heads + h) * d + column, width);
    }
  });
}

}  // namespace dk
