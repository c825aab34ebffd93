// The operations: shapes, threads and memory around the kernels. Signatures and meaning are those of kernels/reference,
// with the result as the last argument. Errors: std::invalid_argument, std::out_of_range; before anything is written.
#pragma once
#include <optional>
#include <vector>

#include "kernels.h"
#include "pool.h"

namespace dk {

struct Context {
  const Kernels* k;
  bool exact;  // products in fp32: activations neither in int8 for MXFP4 nor in bf16 for bf16 weights
};

using Tensors = std::vector<Tensor>;

void embed(Context, Tensor tokens, Tensor table, Tensor out);
void linear(Context, Tensor x, const Tensors& weights, Tensor out);
void loglik(Context, Tensor x, Tensor weight, Tensor rows, Tensor tokens, Tensor out);
void add(Context, Tensor one, Tensor two, Tensor out);
void rms_norm(Context, Tensor x, Tensor weight, float eps, Tensor out);
void attn_res(Context, const Tensors& streams, Tensor score, float eps, Tensor out);
void causal_conv(Context, Tensor x, Tensor weight, Tensor states, Sequences, Tensor out);
void kda(Context, Tensor qkv, Tensor decay, Tensor beta, Tensor a_log, Tensor dt_bias, std::optional<float> bound,
         Tensor states, Sequences, Tensor out);
void gated_norm(Context, Tensor o, Tensor weight, Tensor gate, float eps, Tensor out);
void write_latents(Context, Tensor kv, Tensor weight, float eps, Tensor pages, Sequences);
void write_keys(Context, Tensor keys, Tensor weight, Tensor bias, float eps, Tensor pages, Sequences);
void index_topk(Context, Tensor q, Tensor weights, Tensor pages, Sequences, i64 k, Tensor out);
void absorb(Context, Tensor q, Tensor k_b, Tensor out);
void mla_attention(Context, Tensor q, Tensor pages, Sequences, Tensor chosen, i64 rank, float scale, Tensor out);
void expand(Context, Tensor o, Tensor v_b, Tensor out);
void gated(Context, Tensor x, Tensor gate, Tensor out);
void glu(Context, Tensor both, Activation, Tensor out);
void route(Context, Tensor x, Tensor weight, Tensor bias, i64 k, float scale, bool renormalise, Tensor ids, Tensor weights);
void mxfp4(Context, Tensor x, Tensor packed, Tensor scales, Tensor out);  // reference: mxfp4_linear
// more: adds to `out`, which then is fp32. An id of -1 is none.
void experts(Context, Tensor x, Tensor ids, Tensor weights, const Tensors& gate, const Tensors& up, const Tensors& down,
             Activation, Tensor out, bool more);

// Reads memory as fast as the machine's threads can and gives a checksum: what bandwidth is measured by.
std::uint64_t read(Tensor memory, i64 bytes);

// Shared by the files of operations.
void need(bool holds, const char* what);
// Row `i` in fp32: where it lies, or widened into `room`.
const float* wide(Context c, const Tensor& x, i64 row, float* room);
// All of a vector or matrix in fp32, rows `ld` apart: where it lies, or widened into a slot of this thread.
const float* wide(Context c, const Tensor& x, Slot slot, i64* ld = nullptr);
void narrow(Context c, const float* x, i64 n, Type type, void* out);  // copies where the type is fp32
void check(const Sequences& s, i64 rows, const Tensor* pages, const Tensor* states);
inline i64 divide_up(i64 a, i64 b) { return (a + b - 1) / b; }
i64 panel(i64 rows, i64 most);  // rows an item, a multiple of 8
// Up to so many tokens a product is bound by reading its weights: long runs of them an item, since an item's first lines
// are nobody's to ask for in time. With more a panel of weights stays in the cache.
constexpr i64 FEW = 4;

}  // namespace dk
