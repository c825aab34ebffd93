// Operations that work row by row, and what all operations share.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "ops.h"

namespace dk {

void need(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

static bool real(const Tensor& x) { return x.type == Type::f32 || x.type == Type::bf16; }

const float* wide(Context c, const Tensor& x, i64 row, float* room) {
  if (x.type == Type::f32) return static_cast<const float*>(x.at(row));
  c.k->widen(static_cast<const u16*>(x.at(row)), x.last(), room);
  return room;
}

const float* wide(Context c, const Tensor& x, Slot slot, i64* ld) {
  need(real(x), "float32 or bfloat16 is needed");
  const i64 width = x.last(), rows = x.dims == 1 ? 1 : x.size[0];
  if (x.type == Type::f32) {
    if (ld) *ld = x.stride[0];
    return x.as<float>();
  }
  float* room = floats(slot, rows * width);
  for (i64 row = 0; row < rows; row++)
    c.k->widen(static_cast<const u16*>(x.dims == 1 ? x.data : x.at(row)), width, room + row * width);
  if (ld) *ld = width;
  return room;
}

void narrow(Context c, const float* x, i64 n, Type type, void* out) {
  if (type == Type::bf16) c.k->narrow(x, n, static_cast<u16*>(out));
  else if (x != out) std::memcpy(out, x, std::size_t(n) * 4);
}

void check(const Sequences& s, i64 rows, const Tensor* pages, const Tensor* states) {
  need(s.starts[0] == 0 && s.starts[s.count] == rows, "the sequences' rows are not those of the batch");
  for (i64 i = 0; i < s.count; i++) {
    const i64 fresh = s.starts[i + 1] - s.starts[i], length = s.lengths[i];
    need(fresh >= 0 && length >= fresh, "a sequence is shorter than its new tokens");
    if (states && (s.slots[i] < 0 || s.slots[i] >= states->size[0])) throw std::out_of_range("a slot outside of the pool");
    if (!pages) continue;
    const i64 used = divide_up(length, pages->size[1]);
    need(used <= s.pages, "a sequence has fewer pages than tokens");
    for (i64 page = 0; page < used; page++) {
      const i64 number = s.table[i * s.pages + page];
      if (number < 0 || number >= pages->size[0]) throw std::out_of_range("a page outside of the pool");
    }
  }
}

i64 panel(i64 rows, i64 most) {
  const i64 items = 8 * Pool::shared().threads();
  return std::clamp<i64>(divide_up(divide_up(rows, items), 8) * 8, 8, most);
}

// f(row, in, out) for every row, `in` its `operands` rows in fp32, `out` fp32 of out's width.
template <class Fn> static void by_rows(Context c, std::initializer_list<Tensor> operands, const Tensor& out, Fn f) {
  const i64 rows = out.size[0], width = out.last();
  i64 widest = width;
  for (const Tensor& one : operands) {
    need(real(one), "float32 or bfloat16 is needed");
    need(one.dims == 2 && one.size[0] == rows, "operands of different length");
    widest = std::max(widest, one.last());
  }
  Pool::shared().run(rows, rows * width * 8, [&](i64 row) {
    float* room = floats(SLOT_ITEM_A, widest * 4);
    const float* in[3];
    int count = 0;
    for (const Tensor& one : operands) {
      in[count] = wide(c, one, row, room + count * widest);
      count++;
    }
    float* to = out.type == Type::f32 ? static_cast<float*>(out.at(row)) : room + 3 * widest;
    f(in, to);
    narrow(c, to, width, out.type, out.at(row));
  });
}

std::uint64_t read(Tensor memory, i64 bytes) {
  const i64 strip = i64(1) << 18, count = divide_up(bytes, strip);
  std::atomic<std::uint64_t> sum{0};
  Pool::shared().run(count, bytes, [&](i64 item) {
    const auto* p = reinterpret_cast<const std::uint64_t*>(memory.as<char>() + item * strip);
    const i64 n = std::min(strip, bytes - item * strip) / 8;
    std::uint64_t mine[8] = {};
    for (i64 i = 0; i + 8 <= n; i += 8) {
      __builtin_prefetch(p + i + 256);
      for (int j = 0; j < 8; j++) mine[j] ^= p[i + j];
    }
    for (std::uint64_t one : mine) sum ^= one;
  });
  return sum;
}

void embed(Context c, Tensor tokens, Tensor table, Tensor out) {
  const i64* ids = tokens.as<i64>();
  for (i64 i = 0; i < tokens.size[0]; i++)
    if (ids[i] < 0 || ids[i] >= table.size[0]) throw std::out_of_range("a token outside of the vocabulary");
  Pool::shared().run(tokens.size[0], tokens.size[0] * table.last(), [&](i64 i) {
    if (table.type == out.type) {
      std::memcpy(out.at(i), table.at(ids[i]), std::size_t(out.last() * out.bytes()));
      return;
    }
    const float* row = wide(c, table, ids[i], floats(SLOT_ITEM_A, table.last()));
    narrow(c, row, out.last(), out.type, out.at(i));
  });
}

void add(Context c, Tensor one, Tensor two, Tensor out) {
  need(one.last() == two.last(), "sums need equal widths");
  by_rows(c, {one, two}, out, [&](auto in, float* to) { c.k->add(in[0], in[1], out.last(), to); });
}

void rms_norm(Context c, Tensor x, Tensor weight, float eps, Tensor out) {
  need(!weight || weight.last() == x.last(), "the norm's weight has another width");
  const float* by = weight ? wide(c, weight, SLOT_A) : nullptr;
  by_rows(c, {x}, out, [&](auto in, float* to) { c.k->rms(in[0], by, eps, out.last(), to); });
}

void gated(Context c, Tensor x, Tensor gate, Tensor out) {
  need(x.last() == gate.last(), "gates need equal widths");
  by_rows(c, {x, gate}, out, [&](auto in, float* to) { c.k->gated(in[0], in[1], out.last(), to); });
}

void glu(Context c, Tensor both, Activation act, Tensor out) {
  const i64 n = out.last();
  need(both.last() == 2 * n, "a gated activation needs twice its width");
  by_rows(c, {both}, out, [&](auto in, float* to) { c.k->glu(in[0], in[0] + n, act, n, to); });
}

void attn_res(Context c, const Tensors& streams, Tensor score, float eps, Tensor out) {
  const i64 n = out.last(), count = i64(streams.size());
  need(count <= 64, "more than 64 residual streams");
  for (const Tensor& one : streams)
    need(real(one) && one.size[0] == out.size[0] && one.last() == n, "residual streams of different shapes");
  need(score.last() == n, "residual scores of another width");
  const float* by = wide(c, score, SLOT_A);
  Pool::shared().run(out.size[0], out.size[0] * n * count * 2, [&](i64 row) {
    float* room = floats(SLOT_ITEM_A, (count + 1) * n);
    const float* in[64];
    for (i64 j = 0; j < count; j++) in[j] = wide(c, streams[j], row, room + j * n);
    float* to = out.type == Type::f32 ? static_cast<float*>(out.at(row)) : room + count * n;
    c.k->mix(in, count, by, eps, n, to);
    narrow(c, to, n, out.type, out.at(row));
  });
}

void gated_norm(Context c, Tensor o, Tensor weight, Tensor gate, float eps, Tensor out) {
  const i64 heads = o.size[1], d = o.size[2];
  need(o.type == Type::f32 && weight.last() == d && real(gate) && gate.last() == heads * d &&
           gate.size[0] == o.size[0],
       "gated norm: shapes that don't fit");
  const float* by = wide(c, weight, SLOT_A);
  Pool::shared().run(o.size[0], o.size[0] * heads * d * 8, [&](i64 row) {
    float* room = floats(SLOT_ITEM_A, 3 * heads * d);
    const float* gates = wide(c, gate, row, room);
    float* normed = room + heads * d;
    for (i64 h = 0; h < heads; h++)
      c.k->rms(static_cast<const float*>(o.at(row, h)), by, eps, d, normed + h * d);
    float* to = out.type == Type::f32 ? static_cast<float*>(out.at(row)) : room + 2 * heads * d;
    c.k->gated(normed, gates, heads * d, to);
    narrow(c, to, heads * d, out.type, out.at(row));
  });
}

}  // namespace dk
