// The table of inner loops, one for each instruction set. Everything here works on one thread, on rows of fp32.
#pragma once
#include "tensor.h"

namespace dk {

// One row of activations in blocks of 32, as the MXFP4 kernels read it: even columns apart from odd ones, since a
// packed byte holds one of each; padded with zeros to whole groups of 16 blocks.
struct Quant {
  std::int8_t *even, *odd;  // 16 a block
  std::int32_t* start;      // 4 a block, only the first of them used: −12·Σx, what the weights' offset adds
  float* scale;             // 1 a block
};
constexpr i64 BLOCK = 32, GROUP = 16;
constexpr i64 padded(i64 blocks) { return (blocks + GROUP - 1) / GROUP * GROUP; }
// Bytes of a Quant, and of a row for the exact kernel (fp32 evens and odds).
constexpr i64 quant_bytes(i64 blocks) { return padded(blocks) * (16 + 16 + 16 + 4); }

struct Kernels {
  const char* name;
  void (*widen)(const u16* x, i64 n, float* out);
  void (*narrow)(const float* x, i64 n, u16* out);
  // out[t, r] = Σ_k x[t, k] w[r, k]
  void (*dots)(const float* x, i64 ldx, i64 tokens, const float* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo);
  void (*dots16)(const float* x, i64 ldx, i64 tokens, const u16* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo);
  // The same for x in bf16 too; null where the instruction set has no product of such pairs.
  void (*pairs)(const u16* x, i64 ldx, i64 tokens, const u16* w, i64 ldw, i64 rows, i64 k, float* out, i64 ldo);
  // out[t, c] += Σ_p x[t, p] w[p, c]
  void (*sums)(const float* x, i64 ldx, i64 tokens, const float* w, i64 ldw, i64 k, i64 columns, float* out, i64 ldo);
  void (*sums16)(const float* x, i64 ldx, i64 tokens, const u16* w, i64 ldw, i64 k, i64 columns, float* out, i64 ldo);
  void (*add)(const float* a, const float* b, i64 n, float* out);
  void (*scale)(float* x, float by, i64 n);
  void (*axpy)(float* out, const float* x, float by, i64 n);
  float (*squares)(const float* x, i64 n);
  void (*rms)(const float* x, const float* weight, float eps, i64 n, float* out);  // weight may be null
  void (*layer)(const float* x, const float* weight, const float* bias, float eps, i64 n, float* out);
  void (*mix)(const float* const* streams, i64 count, const float* score, float eps, i64 n, float* out);
  void (*silu)(float* x, i64 n);
  void (*sigmoid)(const float* x, i64 n, float* out);
  void (*gated)(const float* x, const float* gate, i64 n, float* out);  // x · σ(gate)
  void (*glu)(const float* gate, const float* up, const Activation& act, i64 n, float* out);
  // exp(g) of the decay: bound·σ(rate·x), or −rate·softplus(x) without a bound; x = decay + bias
  void (*decays)(const float* decay, const float* bias, float rate, const float* bound, i64 n, float* out);
  void (*unit)(const float* x, float by, i64 n, float* out);  // x / |x| · by
  // `columns` ≤ 32 columns of one head's state [d, lds] over `tokens` tokens; k, q, e: [tokens, d]; rows of v, o by ldv
  void (*delta)(float* state, i64 lds, i64 d, i64 columns, const float* q, const float* k, const float* e,
                const float* v, i64 ldv, const float* beta, i64 tokens, float* o, i64 ldo);
  float (*softmax_part)(float* x, i64 n, float scale, float old_max, float* sum);  // gives the new maximum
  // Σ_h weight[h]·relu(dots[p, h]), p = 0 … n
  void (*relu_sums)(const float* dots, i64 heads, const float* weights, i64 n, float* out);
  // MXFP4: rows of packed weights times prepared rows of x
  void (*quantise)(const float* x, i64 blocks, const Quant& out);
  void (*mx8)(const u8* w, const u8* s, i64 rows, i64 blocks, const Quant* x, i64 tokens, float* out, i64 ldo);
  void (*split)(const float* x, i64 blocks, float* out);  // 16 evens then 16 odds a block
  void (*mx32)(const u8* w, const u8* s, i64 rows, i64 blocks, const float* const* x, i64 tokens, float* out, i64 ldo);
};

// Best first; `find` gives null for a name this machine can't run.
const Kernels* find(const char* name);
const Kernels* best();
const char* const* names();  // those that this machine runs, null at the end

}  // namespace dk
