// Operations that are matrix products: the trunk, the absorbed attention's two sides, the router.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops.h"

namespace dk {

// out[t, first … first + rows] = x Wᵀ for some rows of W, whatever its type; in fp32.
static void some_rows(Context c, const float* x, i64 ldx, i64 tokens, const Tensor& w, i64 first, i64 rows, float* out,
                      i64 ldo) {
  const i64 k = w.last();
  if (w.type == Type::f32)
    c.k->dots(x, ldx, tokens, static_cast<float*>(w.at(first)), w.stride[0], rows, k, out, ldo);
  else
    c.k->dots16(x, ldx, tokens, static_cast<u16*>(w.at(first)), w.stride[0], rows, k, out, ldo);
}

// All rows in bf16: where they lie, or rounded into a slot of this thread.
static const u16* halved(Context c, const Tensor& x, Slot slot, i64* ld) {
  if (x.type == Type::bf16) {
    *ld = x.stride[0];
    return x.as<u16>();
  }
  need(x.type == Type::f32, "float32 or bfloat16 is needed");
  const i64 width = x.last(), rows = x.size[0];
  auto* room = static_cast<u16*>(scratch(slot, rows * width * 2));
  for (i64 row = 0; row < rows; row++) c.k->narrow(static_cast<const float*>(x.at(row)), width, room + row * width);
  *ld = width;
  return room;
}

void linear(Context c, Tensor x, const Tensors& weights, Tensor out) {
  const i64 tokens = x.size[0], k = x.last();
  i64 rows = 0;
  for (const Tensor& w : weights) {
    need(w.dims == 2 && w.last() == k && (w.type == Type::f32 || w.type == Type::bf16), "a weight of another width");
    rows += w.size[0];
  }
  need(out.size[0] == tokens && out.last() == rows, "a result of another shape");
  if (!tokens || !rows) return;
  // Rows of bf16 for weights of bf16 where there is an instruction for both; the rest reads fp32.
  const auto paired = [&](const Tensor& w) { return c.k->pairs && !c.exact && w.type == Type::bf16; };
  i64 ldx = k, ldh = k;
  const float* in = nullptr;
  const u16* half = nullptr;
  for (const Tensor& w : weights) {
    if (paired(w) && !half) half = halved(c, x, SLOT_A, &ldh);
    if (!paired(w) && !in) in = wide(c, x, SLOT_X, &ldx);
  }
  const bool direct = out.type == Type::f32;
  float* result = direct ? out.as<float>() : floats(SLOT_OUT, tokens * rows);
  const i64 each = panel(rows, tokens > FEW ? 16 : 128);
  i64 items = 0;
  for (const Tensor& w : weights) items += divide_up(w.size[0], each);
  Pool::shared().run(items, tokens * rows * k, [&](i64 item) {
    i64 column = 0;
    for (const Tensor& w : weights) {
      const i64 here = divide_up(w.size[0], each);
      if (item < here) {
        const i64 first = item * each, count = std::min(each, w.size[0] - first);
        if (paired(w))
          c.k->pairs(half, ldh, tokens, static_cast<u16*>(w.at(first)), w.stride[0], count, k, result + column + first, rows);
        else some_rows(c, in, ldx, tokens, w, first, count, result + column + first, rows);
        for (i64 t = 0; !direct && t < tokens; t++)
          c.k->narrow(result + t * rows + column + first, count, out.as<u16>() + t * rows + column + first);
        return;
      }
      item -= here;
      column += w.size[0];
    }
  });
}

void absorb(Context c, Tensor q, Tensor k_b, Tensor out) {
  const i64 heads = k_b.size[0], nope = k_b.size[1], rank = k_b.size[2], tokens = q.size[0];
  const i64 width = q.last() / heads, shared = width - nope, all = rank + shared;
  need(width * heads == q.last() && shared >= 0 && out.type == Type::f32, "absorb: shapes that don't fit");
  i64 ldq = q.last();
  const float* in = wide(c, q, SLOT_X, &ldq);
  const i64 strip = 128, strips = divide_up(rank, strip);
  Pool::shared().run(heads * strips, tokens * heads * nope * rank, [&](i64 item) {
    const i64 h = item / strips, first = item % strips * strip, columns = std::min(strip, rank - first);
    const float* x = in + h * width;
    float* to = out.as<float>() + h * all;
    for (i64 t = 0; t < tokens; t++) {
      std::memset(to + t * heads * all + first, 0, std::size_t(columns) * 4);
      if (first == 0) std::memcpy(to + t * heads * all + rank, x + t * ldq + nope, std::size_t(shared) * 4);
    }
    if (k_b.type == Type::f32)
      c.k->sums(x, ldq, tokens, static_cast<float*>(k_b.at(h)) + first, k_b.stride[1], nope, columns, to + first, heads * all);
    else
      c.k->sums16(x, ldq, tokens, static_cast<u16*>(k_b.at(h)) + first, k_b.stride[1], nope, columns, to + first, heads * all);
  });
}

void expand(Context c, Tensor o, Tensor v_b, Tensor out) {
  const i64 heads = v_b.size[0], v = v_b.size[1], rank = v_b.size[2], tokens = o.size[0];
  need(o.type == Type::f32 && o.size[1] == heads && o.size[2] == rank && out.last() == heads * v,
       "expand: shapes that don't fit");
  const bool direct = out.type == Type::f32;
  float* result = direct ? out.as<float>() : floats(SLOT_OUT, tokens * heads * v);
  Pool::shared().run(heads, tokens * heads * v * rank, [&](i64 h) {
    Tensor w = v_b;
    w.data = v_b.at(h);
    w.dims = 2;
    w.size[0] = v, w.size[1] = rank;
    w.stride[0] = v_b.stride[1], w.stride[1] = 1;
    some_rows(c, o.as<float>() + h * rank, o.stride[0], tokens, w, 0, v, result + h * v, heads * v);
    for (i64 t = 0; !direct && t < tokens; t++)
      c.k->narrow(result + (t * heads + h) * v, v, out.as<u16>() + (t * heads + h) * v);
  });
}

void route(Context c, Tensor x, Tensor weight, Tensor bias, i64 k, float scale, bool renormalise, Tensor ids,
           Tensor weights) {
  const i64 tokens = x.size[0], experts = weight.size[0];
  need(weight.last() == x.last() && k <= experts && k > 0, "route: shapes that don't fit");
  need(!bias || bias.last() == experts, "route: a bias of another width");
  i64 ldx = x.last();
  const float* in = wide(c, x, SLOT_X, &ldx);
  const float* push = bias ? wide(c, bias, SLOT_A) : nullptr;
  float* scores = floats(SLOT_OUT, tokens * experts);
  const i64 each = panel(experts, 64);
  Pool::shared().run(divide_up(experts, each), tokens * experts * x.last(), [&](i64 item) {
    const i64 first = item * each;
    some_rows(c, in, ldx, tokens, weight, first, std::min(each, experts - first), scores + first, experts);
  });
  Pool::shared().run(tokens, tokens * experts * 8, [&](i64 t) {
    float* own = scores + t * experts;
    float* by = floats(SLOT_ITEM_A, experts);
    c.k->sigmoid(own, experts, own);
    for (i64 e = 0; e < experts; e++) by[e] = push ? own[e] + push[e] : own[e];
    auto* chosen = static_cast<std::int32_t*>(ids.at(t));
    auto before = [&](float one, float two) { return one > two || (std::isnan(one) && !std::isnan(two)); };
    i64 count = 0;  // kept sorted: a later expert passes only those that it is truly larger than
    for (i64 e = 0; e < experts; e++) {
      if (count == k && !before(by[e], by[chosen[k - 1]])) continue;
      i64 at = count < k ? count++ : k - 1;
      for (; at > 0 && before(by[e], by[chosen[at - 1]]); at--) chosen[at] = chosen[at - 1];
      chosen[at] = std::int32_t(e);
    }
    auto* out = static_cast<float*>(weights.at(t));
    float sum = 0;
    for (i64 i = 0; i < k; i++) sum += out[i] = own[chosen[i]];
    const float factor = renormalise ? 1.f / (sum + 1e-20f) : 1.f;
    for (i64 i = 0; i < k; i++) out[i] = out[i] * factor * scale;
  });
}

}  // namespace dk
