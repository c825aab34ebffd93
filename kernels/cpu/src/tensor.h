// What the kernels work on: a view of memory that somebody else owns.
#pragma once
#include <cstdint>

namespace dk {

using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;  // also the bits of a bfloat16

enum class Type { f32, bf16, u8, i32, i64, none };

struct Tensor {
  void* data = nullptr;
  Type type = Type::none;
  int dims = 0;
  i64 size[4] = {1, 1, 1, 1};
  i64 stride[4] = {0, 0, 0, 0};  // in elements; the last one is always 1

  explicit operator bool() const { return data != nullptr; }
  i64 bytes() const { return type == Type::f32 || type == Type::i32 ? 4 : type == Type::i64 ? 8 : type == Type::u8 ? 1 : 2; }
  i64 last() const { return size[dims - 1]; }
  void* at(i64 i) const { return static_cast<char*>(data) + i * stride[0] * bytes(); }
  void* at(i64 i, i64 j) const { return static_cast<char*>(at(i)) + j * stride[1] * bytes(); }
  template <class E> E* as() const { return static_cast<E*>(data); }
};

// Where the sequences of a flat batch lie, as kernels/layout.py has it; all int32.
struct Sequences {
  const std::int32_t *starts, *lengths, *slots, *table;
  i64 count, pages;  // sequences, and width of the table
};

struct Activation {
  bool situ;
  float beta, linear_beta;
};

}  // namespace dk
