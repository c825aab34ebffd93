// Which tables this machine can run.
#include <cstring>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#include "kernels.h"

namespace dk {

#define TABLE(isa) namespace isa_##isa { extern const Kernels table; }
#if defined(__x86_64__)
TABLE(avx512bf16)
TABLE(avx512vbmi)
TABLE(avx512)
TABLE(avx2)
#elif defined(__aarch64__)
TABLE(neon)
#endif
TABLE(scalar)
#undef TABLE

struct Candidate {
  const Kernels* table;
  bool (*runs)();
};

#if defined(__x86_64__)
static bool avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool avx512() {
  return avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni");
}
static bool avx512vbmi() { return avx512() && __builtin_cpu_supports("avx512vbmi"); }
static bool avx512bf16() { return avx512vbmi() && __builtin_cpu_supports("avx512bf16"); }
#elif defined(__aarch64__)
static bool neon() {
#if defined(__linux__)
  return getauxval(AT_HWCAP) & (1ul << 20);  // HWCAP_ASIMDDP
#else
  return true;  // every Apple processor has the dot product
#endif
}
#endif

static const Candidate CANDIDATES[] = {
#if defined(__x86_64__)
    {&isa_avx512bf16::table, avx512bf16},
    {&isa_avx512vbmi::table, avx512vbmi},
    {&isa_avx512::table, avx512},
    {&isa_avx2::table, avx2},
#elif defined(__aarch64__)
    {&isa_neon::table, neon},
#endif
    {&isa_scalar::table, [] { return true; }},
};

const Kernels* find(const char* name) {
  for (const Candidate& one : CANDIDATES)
    if (std::strcmp(one.table->name, name) == 0) return one.runs() ? one.table : nullptr;
  return nullptr;
}

const Kernels* best() {
  for (const Candidate& one : CANDIDATES)
    if (one.runs()) return one.table;
  return nullptr;
}

const char* const* names() {
  static const char* found[8] = {};
  if (!found[0]) {
    int count = 0;
    for (const Candidate& one : CANDIDATES)
      if (one.runs()) found[count++] = one.table->name;
  }
  return found;
}

}  // namespace dk
