// The routed experts: tokens sorted by expert, then three jobs over all of them: both branches and their activation,
// int8 blocks of what came out, and the way down.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "ops.h"

namespace dk {

namespace {

struct Pairs {  // (token, place) pairs sorted by expert, in a token's order within one
  std::vector<i64> tokens, places, experts, first;  // experts that are used, and where each one's pairs begin
};

Pairs sorted(const Tensor& ids, i64 experts, bool none) {  // none: -1 is no expert
  const i64 rows = ids.size[0], k = ids.last();
  std::vector<i64> start(std::size_t(experts) + 1, 0), expert(std::size_t(rows * k));
  for (i64 i = 0; i < rows * k; i++) {
    const void* row = ids.at(i / k);
    expert[i] = ids.type == Type::i64 ? static_cast<const i64*>(row)[i % k] : static_cast<const std::int32_t*>(row)[i % k];
    if (expert[i] < -i64(none) || expert[i] >= experts) throw std::out_of_range("an expert that isn't there");
    if (expert[i] >= 0) start[expert[i] + 1]++;
  }
  Pairs made;
  for (i64 e = 0; e < experts; e++) {
    if (start[e + 1]) made.experts.push_back(e), made.first.push_back(start[e]);
    start[e + 1] += start[e];
  }
  const i64 all = start[experts];
  made.first.push_back(all);
  made.tokens.resize(all);
  made.places.resize(all);
  for (i64 i = 0; i < rows * k; i++) {
    if (expert[i] < 0) continue;
    i64 at = start[expert[i]]++;
    made.tokens[at] = i / k;
    made.places[at] = i % k;
  }
  return made;
}

// Rows made ready for one kind of weight: int8 blocks, fp32 evens and odds, or fp32 as they are.
class Ready {
 public:
  Ready(Context c, const Tensors& weight, Slot slot, i64 rows, i64 width) : c_(c), rows_(rows), width_(width) {
    mx_ = weight.size() == 2;
    if (mx_) {
      blocks_ = width / BLOCK;
      each_ = c.exact ? blocks_ * BLOCK * 4 : (quant_bytes(blocks_) + 63) / 64 * 64;
    } else {
      each_ = width * 4;
    }
    memory_ = static_cast<char*>(scratch(slot, rows * each_ + 64));
  }

  void set(i64 row, const float* x) {
    if (!mx_) std::memcpy(at(row), x, std::size_t(width_) * 4);
    else if (c_.exact) c_.k->split(x, blocks_, reinterpret_cast<float*>(at(row)));
    else c_.k->quantise(x, blocks_, quant(row));
  }

  // out[i, r] = the rows numbered by `numbers` times rows first … first + rows of one expert.
  void times(const Tensors& weight, i64 expert, i64 first, i64 rows, const i64* numbers, i64 count, float* out, i64 ldo) const {
    if (!mx_) {
      for (i64 i = 0; i < count; i++) {
        const void* w = weight[0].at(expert, first);
        const auto* x = reinterpret_cast<const float*>(at(numbers[i]));
        if (weight[0].type == Type::f32)
          c_.k->dots(x, width_, 1, static_cast<const float*>(w), width_, rows, width_, out + i * ldo, ldo);
        else
          c_.k->dots16(x, width_, 1, static_cast<const u16*>(w), width_, rows, width_, out + i * ldo, ldo);
      }
      return;
    }
    const auto* packed = static_cast<const u8*>(weight[0].at(expert, first));
    const auto* scales = static_cast<const u8*>(weight[1].at(expert, first));
    for (i64 i = 0; i < count; i += 64) {
      const i64 n = std::min<i64>(64, count - i);
      if (c_.exact) {
        const float* x[64];
        for (i64 j = 0; j < n; j++) x[j] = reinterpret_cast<const float*>(at(numbers[i + j]));
        c_.k->mx32(packed, scales, rows, blocks_, x, n, out + i * ldo, ldo);
      } else {
        Quant x[64];
        for (i64 j = 0; j < n; j++) x[j] = quant(numbers[i + j]);
        c_.k->mx8(packed, scales, rows, blocks_, x, n, out + i * ldo, ldo);
      }
    }
  }

 private:
  char* at(i64 row) const { return memory_ + row * each_; }
  Quant quant(i64 row) const {
    char* p = at(row);
    const i64 n = padded(blocks_);
    return {reinterpret_cast<std::int8_t*>(p), reinterpret_cast<std::int8_t*>(p + n * 16),
            reinterpret_cast<std::int32_t*>(p + n * 32), reinterpret_cast<float*>(p + n * 48)};
  }

  Context c_;
  bool mx_;
  i64 rows_, width_, blocks_ = 0, each_;
  char* memory_;
};

void fits(const Tensors& weight, i64 experts, i64 rows, i64 columns) {
  need(weight.size() == 1 || weight.size() == 2, "a weight is (packed, scales) or one tensor");
  const bool mx = weight.size() == 2;
  need(!mx || columns % BLOCK == 0, "MXFP4 needs a multiple of 32 columns");
  const i64 wide[2] = {mx ? columns / 2 : columns, columns / BLOCK};
  for (std::size_t i = 0; i < weight.size(); i++) {
    const Tensor& w = weight[i];
    need(w.dims == 3 && w.size[0] == experts && w.size[1] == rows && w.size[2] == wide[i] && w.stride[1] == wide[i],
         "experts of shapes that don't fit");
    need(mx ? w.type == Type::u8 : w.type == Type::f32 || w.type == Type::bf16, "experts of an unknown type");
  }
}

}  // namespace

void mxfp4(Context c, Tensor x, Tensor packed, Tensor scales, Tensor out) {
  const i64 rows = packed.size[0], width = x.last(), tokens = x.size[0];
  const auto one = [](Tensor w) {  // as a stack of one expert
    w.dims = 3;
    for (int i = 2; i > 0; i--) w.size[i] = w.size[i - 1], w.stride[i] = w.stride[i - 1];
    w.size[0] = 1, w.stride[0] = 0;
    return w;
  };
  need(packed.dims == 2 && scales.dims == 2 && out.type == Type::f32 && out.size[0] == tokens && out.last() == rows,
       "mxfp4: shapes that don't fit");
  const Tensors weight{one(packed), one(scales)};
  fits(weight, 1, rows, width);
  if (!tokens) return;
  Ready in(c, weight, SLOT_A, tokens, width);
  std::vector<i64> numbers(tokens);
  for (i64 t = 0; t < tokens; t++) {
    numbers[t] = t;
    in.set(t, wide(c, x, t, floats(SLOT_ITEM_A, width)));
  }
  const i64 high = panel(rows, tokens > FEW ? 64 : 128);
  Pool::shared().run(divide_up(rows, high), tokens * rows * width, [&](i64 item) {
    const i64 first = item * high;
    in.times(weight, 0, first, std::min(high, rows - first), numbers.data(), tokens, out.as<float>() + first, rows);
  });
}

void experts(Context c, Tensor x, Tensor ids, Tensor weights, const Tensors& gate, const Tensors& up, const Tensors& down,
             Activation act, Tensor out, bool more) {
  need(!more || out.type == Type::f32, "what is added to has to be fp32");
  need(!gate.empty() && gate[0].dims == 3 && weights.type == Type::f32, "experts: weights that don't fit");
  const i64 count = gate[0].size[0], inner = gate[0].size[1], width = x.last(), tokens = x.size[0];
  fits(gate, count, inner, width);
  fits(up, count, inner, width);
  fits(down, count, width, inner);
  need(gate.size() == up.size() && ids.size[0] == tokens && weights.size[0] == tokens && weights.last() == ids.last(),
       "experts: shapes that don't fit");
  const Pairs pairs = sorted(ids, count, more);
  const i64 all = i64(pairs.tokens.size()), used = i64(pairs.experts.size());
  const bool direct = out.type == Type::f32;
  float* result = direct ? out.as<float>() : floats(SLOT_OUT, tokens * width);
  if (!tokens) return;

  Pool& pool = Pool::shared();
  Ready in(c, gate, SLOT_A, tokens, width), inside(c, down, SLOT_B, all, inner);
  pool.run(tokens, tokens * width * 4, [&](i64 t) { in.set(t, wide(c, x, t, floats(SLOT_ITEM_A, width))); });

  float* hidden = floats(SLOT_C, all * inner);
  const i64 high = panel(used * inner, tokens > FEW ? 32 : 128), panels = divide_up(inner, high);
  pool.run(used * panels, all * inner * width * 2, [&](i64 item) {
    const i64 group = item / panels, begin = pairs.first[group], n = pairs.first[group + 1] - begin;
    const i64 row = item % panels * high, rows = std::min(high, inner - row), expert = pairs.experts[group];
    float *one = floats(SLOT_ITEM_A, 2 * n * rows), *two = one + n * rows;
    in.times(gate, expert, row, rows, &pairs.tokens[begin], n, one, rows);
    in.times(up, expert, row, rows, &pairs.tokens[begin], n, two, rows);
    for (i64 i = 0; i < n; i++)
      c.k->glu(one + i * rows, two + i * rows, act, rows, hidden + (begin + i) * inner + row);
  });

  std::vector<i64> numbers(all);
  for (i64 i = 0; i < all; i++) numbers[i] = i;
  pool.run(all, all * inner * 4, [&](i64 pair) { inside.set(pair, hidden + pair * inner); });

  const i64 strip = panel(width, tokens > FEW ? 32 : 128);
  pool.run(divide_up(width, strip), all * inner * width, [&](i64 item) {
    const i64 row = item * strip, rows = std::min(strip, width - row);
    for (i64 t = 0; !more && t < tokens; t++) std::memset(result + t * width + row, 0, std::size_t(rows) * 4);
    for (i64 group = 0; group < used; group++) {
      const i64 begin = pairs.first[group], n = pairs.first[group + 1] - begin;
      float* made = floats(SLOT_ITEM_A, n * rows);
      inside.times(down, pairs.experts[group], row, rows, &numbers[begin], n, made, rows);
      for (i64 i = 0; i < n; i++) {
        const i64 token = pairs.tokens[begin + i];
        const float by = static_cast<const float*>(weights.at(token))[pairs.places[begin + i]];
        c.k->axpy(result + token * width + row, made + i * rows, by, rows);
      }
    }
    for (i64 t = 0; !direct && t < tokens; t++)
      c.k->narrow(result + t * width + row, rows, out.as<u16>() + t * width + row);
  });
}

}  // namespace dk
