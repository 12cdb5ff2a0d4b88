// Chooses, once, the kernels for the processor it runs on.
#include <cstdlib>
#include <string>

#include "kernels/kernels.hpp"

#if defined(RTKM_HAS_AVX2) && defined(_WIN32)
// The library behind __builtin_cpu_supports is not everywhere on Windows.
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace rtkm {

#if defined(RTKM_HAS_AVX2) && defined(_WIN32)
__attribute__((target("xsave"))) static bool has_best() {
    unsigned a, b, c, d;
    constexpr unsigned needed = bit_FMA | bit_OSXSAVE;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return false;
    return (_xgetbv(0) & 6) == 6;  // the system keeps the registers of 32 bytes
}
#elif defined(RTKM_HAS_AVX2)
static bool has_best() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#elif defined(RTKM_HAS_NEON)
static bool has_best() {
    return true;  // every processor that this is compiled for
}
#endif

#if defined(RTKM_HAS_AVX2)
namespace best = avx2;
#elif defined(RTKM_HAS_NEON)
namespace best = neon;
#endif

#if defined(RTKM_HAS_AVX2) || defined(RTKM_HAS_NEON)
// RTKM_INSTRUCTIONS=baseline keeps to what gives the same bits on every processor.
static bool use_best() {
    const char* wish = std::getenv("RTKM_INSTRUCTIONS");
    return !(wish && std::string(wish) == "baseline") && has_best();
}
#define RTKM_CHOOSE(table) (use_best() ? best::table : baseline::table)
#else
#define RTKM_CHOOSE(table) (baseline::table)
#endif

template <>
const Kernels<float>& kernels() {
    static const Kernels<float>& chosen = RTKM_CHOOSE(kernels32);
    return chosen;
}

template <>
const Kernels<double>& kernels() {
    static const Kernels<double>& chosen = RTKM_CHOOSE(kernels64);
    return chosen;
}

}  // namespace rtkm
