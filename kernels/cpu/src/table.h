// The table of one instruction set. Included last by its file.
#pragma once
#include "products.h"
#include "rows.h"

namespace dk::ISA {

extern const Kernels table;
const Kernels table = {
    .name = ISA_NAME,
    .widen = widen,
    .narrow = narrow,
    .dots = dots<float>,
    .dots16 = dots<u16>,
#if defined(__AVX512BF16__)
    .pairs = pairs,
#else
    .pairs = nullptr,
#endif
    .sums = sums<float>,
    .sums16 = sums<u16>,
    .add = add,
    .scale = scale,
    .axpy = axpy,
    .squares = squares,
    .rms = rms,
    .layer = layer,
    .mix = mix,
    .silu = silu,
    .sigmoid = sigmoids,
    .gated = gated,
    .glu = glu,
    .decays = decays,
    .unit = unit,
    .delta = delta,
    .softmax_part = softmax_part,
    .relu_sums = relu_sums,
    .quantise = quantise,
    .mx8 = mx8,
    .split = split,
    .mx32 = mx32,
};

}  // namespace dk::ISA
