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

// Rows of x made ready for products with weights of any type: bf16 for weights of bf16 where there is an instruction for
// both, fp32 for the rest.
namespace {
class Rows {
 public:
  Rows(Context c, const Tensor& x, const Tensors& weights) : c_(c) {
    for (const Tensor& w : weights) {
      need(w.dims == 2 && w.last() == x.last() && (w.type == Type::f32 || w.type == Type::bf16), "a weight of another width");
      if (paired(w) && !half_) half_ = halved(c, x, SLOT_A, &ldh_);
      if (!paired(w) && !in_) in_ = wide(c, x, SLOT_X, &ldx_);
    }
  }

  // out[t, r]: token `token` + t times row `first` + r, in fp32.
  void times(const Tensor& w, i64 first, i64 rows, i64 token, i64 tokens, float* out, i64 ldo) const {
    if (paired(w))
      c_.k->pairs(half_ + token * ldh_, ldh_, tokens, static_cast<u16*>(w.at(first)), w.stride[0], rows, w.last(), out, ldo);
    else some_rows(c_, in_ + token * ldx_, ldx_, tokens, w, first, rows, out, ldo);
  }

 private:
  bool paired(const Tensor& w) const { return c_.k->pairs && !c_.exact && w.type == Type::bf16; }
  Context c_;
  i64 ldx_ = 0, ldh_ = 0;
  const float* in_ = nullptr;
  const u16* half_ = nullptr;
};
}  // namespace

void linear(Context c, Tensor x, const Tensors& weights, Tensor out) {
  const i64 tokens = x.size[0];
  i64 rows = 0;
  for (const Tensor& w : weights) rows += w.size[0];
  need(out.size[0] == tokens && out.last() == rows, "a result of another shape");
  if (!tokens || !rows) return;
  const Rows in(c, x, weights);
  const bool direct = out.type == Type::f32;
  float* result = direct ? out.as<float>() : floats(SLOT_OUT, tokens * rows);
  const i64 each = panel(rows, tokens > FEW ? 16 : 128);
  i64 items = 0;
  for (const Tensor& w : weights) items += divide_up(w.size[0], each);
  Pool::shared().run(items, tokens * rows * x.last(), [&](i64 item) {
    i64 column = 0;
    for (const Tensor& w : weights) {
      const i64 here = divide_up(w.size[0], each);
      if (item < here) {
        const i64 first = item * each, count = std::min(each, w.size[0] - first);
        in.times(w, first, count, 0, tokens, result + column + first, rows);
        for (i64 t = 0; !direct && t < tokens; t++)
          c.k->narrow(result + t * rows + column + first, count, out.as<u16>() + t * rows + column + first);
        return;
      }
      item -= here;
      column += w.size[0];
    }
  });
}

// Logits are made a tile at a time and never kept. How the vocabulary is cut depends on the weight's shape alone, so that
// neither company nor threads change a bit.
void loglik(Context c, Tensor x, Tensor weight, Tensor rows, Tensor tokens, Tensor out) {
  const i64 count = x.size[0], vocab = weight.size[0], width = weight.last(), asked = rows.last(), block = 48;
  need(rows.type == Type::i64 && tokens.type == Type::i64 && rows.dims == 1 && tokens.dims == 1 && tokens.last() == asked &&
           out.type == Type::f32 && out.dims == 1 && out.last() == asked,
       "loglik: shapes that don't fit");
  for (i64 i = 0; i < asked; i++)
    need(rows.as<i64>()[i] >= 0 && rows.as<i64>()[i] < count && tokens.as<i64>()[i] >= 0 && tokens.as<i64>()[i] < vocab,
         "loglik: a row or token that isn't there");
  const Rows in(c, x, {weight});
  if (!asked) return;
  const i64 each = std::clamp<i64>((i64(128) << 10) / width / 16 * 16, 16, 512);  // a tile's weights stay in the cache
  const i64 panels = divide_up(vocab, each), blocks = divide_up(count, block);
  float* parts = floats(SLOT_C, 2 * panels * count);  // of each panel and row: the maximum, Σ e^(logit − maximum)
  Pool::shared().run(panels * blocks, count * vocab * width, [&](i64 item) {
    const i64 first = item / blocks * each, high = std::min(each, vocab - first);
    const i64 row = item % blocks * block, n = std::min(block, count - row);
    float* tile = floats(SLOT_ITEM_A, block * each);
    in.times(weight, first, high, row, n, tile, each);
    for (i64 t = 0; t < n; t++) {
      float* part = parts + 2 * ((row + t) * panels + item / blocks);
      part[1] = 0;
      part[0] = c.k->softmax_part(tile + t * each, high, 1.f, -INFINITY, part + 1);
    }
  });
  float* whole = floats(SLOT_D, count);
  for (i64 row = 0; row < count; row++) {
    const float* part = parts + 2 * row * panels;
    float largest = part[0];
    for (i64 i = 1; i < panels; i++) largest = std::max(largest, part[2 * i]);
    double sum = 0;
    for (i64 i = 0; i < panels; i++) sum += double(part[2 * i + 1]) * std::exp(double(part[2 * i] - largest));
    whole[row] = largest + float(std::log(sum));
  }
  Pool::shared().run(asked, asked * width, [&](i64 i) {  // alone, a product has the bits that it has in a tile
    const i64 row = rows.as<i64>()[i];
    float logit;
    in.times(weight, tokens.as<i64>()[i], 1, row, 1, &logit, 1);
    out.as<float>()[i] = logit - whole[row];
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
