// Operations over the paged caches: appending, the indexer, latent attention.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops.h"

namespace dk {

static char* entry(const Tensor& pages, const Sequences& s, i64 number, i64 position) {
  const i64 size = pages.size[1], page = s.table[number * s.pages + position / size];
  return static_cast<char*>(pages.at(page, position % size));
}

// `count` entries from `position` on in fp32, as far as they lie in one page: where they lie, or widened into `room`.
static const float* some_entries(Context c, const Tensor& pages, const Sequences& s, i64 number, i64 position, i64 count,
                                 float* room) {
  const char* at = entry(pages, s, number, position);
  if (pages.type == Type::f32) return reinterpret_cast<const float*>(at);
  c.k->widen(reinterpret_cast<const u16*>(at), count * pages.size[2], room);
  return room;
}

// f(row of the batch, its sequence, its position) for each new token.
template <class Fn> static void each_token(const Sequences& s, i64 rows, i64 work, Fn f) {
  Pool::shared().run(rows, work, [&](i64 row) {
    i64 number = std::upper_bound(s.starts, s.starts + s.count + 1, std::int32_t(row)) - s.starts - 1;
    f(row, number, s.lengths[number] - (s.starts[number + 1] - row));
  });
}

// One new entry, rounded to the dtype of what it was made from before that of the pages.
static void append(Context c, float* row, Type from, const Tensor& pages, const Sequences& s, i64 number, i64 position) {
  const i64 n = pages.size[2];
  if (from == Type::bf16 && pages.type == Type::f32) {
    auto* rounded = static_cast<u16*>(scratch(SLOT_ITEM_B, n * 2));
    c.k->narrow(row, n, rounded);
    c.k->widen(rounded, n, row);
  }
  narrow(c, row, n, pages.type, entry(pages, s, number, position));
}

void write_latents(Context c, Tensor kv, Tensor weight, float eps, Tensor pages, Sequences s) {
  const i64 n = kv.last(), rank = weight.last();
  need(pages.size[2] == n && rank <= n, "latents of another width than the pages");
  check(s, kv.size[0], &pages, nullptr);
  const float* by = wide(c, weight, SLOT_A);
  each_token(s, kv.size[0], kv.size[0] * n * 4, [&](i64 row, i64 number, i64 position) {
    float* room = floats(SLOT_ITEM_A, 2 * n);
    const float* in = wide(c, kv, row, room);
    c.k->rms(in, by, eps, rank, room + n);
    std::memcpy(room + n + rank, in + rank, std::size_t(n - rank) * 4);
    append(c, room + n, kv.type, pages, s, number, position);
  });
}

void write_keys(Context c, Tensor keys, Tensor weight, Tensor bias, float eps, Tensor pages, Sequences s) {
  const i64 n = keys.last();
  need(pages.size[2] == n && weight.last() == n && bias.last() == n, "keys of another width than the pages");
  check(s, keys.size[0], &pages, nullptr);
  const float *by = wide(c, weight, SLOT_A), *plus = wide(c, bias, SLOT_B);
  each_token(s, keys.size[0], keys.size[0] * n * 4, [&](i64 row, i64 number, i64 position) {
    float* room = floats(SLOT_ITEM_A, 2 * n);
    c.k->layer(wide(c, keys, row, room), by, plus, eps, n, room + n);
    append(c, room + n, keys.type, pages, s, number, position);
  });
}

// Bits that grow with the number, NaN above all as torch sorts it, both zeros equal; without a branch, as a row has one
// for each position of the past.
static inline std::uint32_t ordered(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::uint32_t grown = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  const std::uint32_t whole = (bits & 0x7fffffffu) ? grown : 0x80000000u;
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0xffffffffu : whole;
}

// Positions of the k largest of n > k, ascending; of equal ones the lowest. Finds the k-th by its digits, 8 bits a time,
// in `keys` (room for n, twice): after each digit those that begin alike are few.
static void top(const float* scores, i64 n, i64 k, std::uint32_t* keys, std::int32_t* out) {
  std::uint32_t* alike = keys + n;
  for (i64 i = 0; i < n; i++) alike[i] = keys[i] = ordered(scores[i]);
  std::uint32_t prefix = 0;
  i64 wanted = k, left = n;  // how many are still to be found among those that begin as `prefix` does
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::int32_t counts[256] = {};
    for (i64 i = 0; i < left; i++) counts[alike[i] >> shift & 255]++;
    std::uint32_t digit = 255;
    for (; counts[digit] < wanted; digit--) wanted -= counts[digit];
    prefix |= digit << shift;
    i64 kept = 0;
    for (i64 i = 0; i < left; i++) {
      const std::uint32_t key = alike[i];
      alike[kept] = key;
      kept += (key >> shift & 255) == digit;
    }
    left = kept;
  }
  i64 found = 0;
  for (i64 i = 0; found < k; i++) {
    const bool equal = keys[i] == prefix, taken = keys[i] > prefix || (equal && wanted > 0);
    out[found] = std::int32_t(i);
    found += taken;
    wanted -= equal;
  }
}

// The definition's factors H^-½ and d^-½ are left out: they are the same for all positions, and without them whole numbers
// stay whole and ties exact.
void index_topk(Context c, Tensor q, Tensor weights, Tensor pages, Sequences s, i64 k, Tensor out) {
  const i64 heads = weights.size[1], d = pages.size[2], page = pages.size[1], rows = q.size[0], strip = 512;
  need(q.last() == heads * d && out.size[0] == rows && out.last() == k, "indexer: shapes that don't fit");
  check(s, rows, &pages, nullptr);
  if (!rows) return;
  i64 ldq = q.last(), ldw = heads, longest = 0;
  const float *queries = wide(c, q, SLOT_X, &ldq), *raw = wide(c, weights, SLOT_A, &ldw);
  for (i64 i = 0; i < s.count; i++) longest = std::max<i64>(longest, s.lengths[i]);
  const i64 strips = divide_up(longest, strip), at_once = std::max<i64>(1, (i64(16) << 20) / longest);
  auto place = [&](i64 row, i64& number) {  // how many positions the row sees
    number = std::upper_bound(s.starts, s.starts + s.count + 1, std::int32_t(row)) - s.starts - 1;
    return s.lengths[number] - (s.starts[number + 1] - row) + 1;
  };
  for (i64 begin = 0; begin < rows; begin += at_once) {
    const i64 count = std::min(at_once, rows - begin);
    float* scores = floats(SLOT_OUT, count * longest);
    Pool::shared().run(count * strips, count * longest * heads * d, [&](i64 item) {
      i64 number, row = begin + item / strips;
      const i64 seen = place(row, number), first = item % strips * strip, last = std::min(seen, first + strip);
      if (seen <= k) return;
      float *keys = floats(SLOT_ITEM_A, page * (d + heads)), *dots = keys + page * d;
      for (i64 at = first; at < last;) {
        const i64 n = std::min(last - at, page - at % page);
        const float* past = some_entries(c, pages, s, number, at, n, keys);
        c.k->dots(past, d, n, queries + row * ldq, d, heads, d, dots, heads);
        c.k->relu_sums(dots, heads, raw + row * ldw, n, scores + (row - begin) * longest + at);
        at += n;
      }
    });
    Pool::shared().run(count, count * longest * 8, [&](i64 item) {
      i64 number;
      const i64 seen = place(begin + item, number);
      auto* to = static_cast<std::int32_t*>(out.at(begin + item));
      if (seen > k)
        return top(scores + item * longest, seen, k, reinterpret_cast<std::uint32_t*>(floats(SLOT_ITEM_B, 2 * seen)), to);
      for (i64 i = 0; i < k; i++) to[i] = i < seen ? std::int32_t(i) : -1;
    });
  }
}

// Softmax and sum go over the past in blocks of 64 positions with a running maximum (as FlashAttention does), so that
// nothing grows with the context; several heads share a block's latents.
void mla_attention(Context c, Tensor q, Tensor pages, Sequences s, Tensor chosen, i64 rank, float scale, Tensor out) {
  const i64 heads = q.size[1], width = q.size[2], rows = q.size[0], block = 64;
  need(q.type == Type::f32 && out.type == Type::f32 && pages.size[2] == width && rank <= width,
       "attention: shapes that don't fit");
  need(!chosen || (chosen.size[0] == rows && chosen.type == Type::i32), "attention: chosen positions are int32 [N, k]");
  check(s, rows, &pages, nullptr);
  const i64 group = std::clamp<i64>(divide_up(heads * rows, 4 * Pool::shared().threads()), std::min<i64>(4, heads),
                                    std::min<i64>(32, heads));
  const i64 groups = divide_up(heads, group);
  const bool runs = !chosen && pages.size[1] % block == 0 && pages.stride[1] == width;  // a block lies in one page, entry after entry
  i64 longest = chosen ? chosen.last() : 0;
  for (i64 i = 0; !chosen && i < s.count; i++) longest = std::max<i64>(longest, s.lengths[i]);
  Pool::shared().run(rows * groups, rows * longest * heads * width * 2, [&](i64 item) {
    const i64 row = item / groups, head = item % groups * group, n = std::min(group, heads - head);
    const i64 number = std::upper_bound(s.starts, s.starts + s.count + 1, std::int32_t(row)) - s.starts - 1;
    const i64 seen = s.lengths[number] - (s.starts[number + 1] - row) + 1;
    const auto* wanted = chosen ? static_cast<const std::int32_t*>(chosen.at(row)) : nullptr;
    const i64 count = chosen ? chosen.last() : seen;
    float* room = floats(SLOT_ITEM_A, block * width + n * (block + 2));
    float *latents = room, *scores = latents + block * width, *largest = scores + n * block, *sums = largest + n;
    auto* mixed = static_cast<float*>(out.at(row, head));
    std::memset(mixed, 0, std::size_t(n * rank) * 4);
    std::fill(largest, largest + n, -INFINITY);
    std::fill(sums, sums + n, 0.f);
    for (i64 at = 0; at < count;) {
      i64 filled = 0;
      const float* past = latents;
      if (runs) {
        filled = std::min(block, count - at);
        past = some_entries(c, pages, s, number, at, filled, latents);
        at += filled;
      }
      for (; !runs && filled < block && at < count; at++) {
        const i64 position = wanted ? wanted[at] : at;
        if (position < 0 || position >= seen) continue;
        const char* from = entry(pages, s, number, position);
        float* to = latents + filled++ * width;
        if (pages.type == Type::f32) std::memcpy(to, from, std::size_t(width) * 4);
        else c.k->widen(reinterpret_cast<const u16*>(from), width, to);
      }
      if (!filled) break;
      c.k->dots(static_cast<const float*>(q.at(row, head)), width, n, past, width, filled, width, scores, block);
      for (i64 h = 0; h < n; h++) {
        const float before = largest[h];
        largest[h] = c.k->softmax_part(scores + h * block, filled, scale, before, sums + h);
        if (largest[h] > before && before != -INFINITY)
          c.k->scale(mixed + h * rank, std::exp(before - largest[h]), rank);
      }
      c.k->sums(scores, block, n, past, width, filled, rank, mixed, rank);
    }
    for (i64 h = 0; h < n; h++)
      if (sums[h] > 0) c.k->scale(mixed + h * rank, 1.f / sums[h], rank);
  });
}

}  // namespace dk
