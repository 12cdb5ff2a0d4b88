// Chooses, once, the kernels for the processor it runs on.
#include <cstdlib>
#include <string>

#include "kernels/kernels.hpp"

namespace rtkm {

#ifdef RTKM_HAS_AVX2
// RTKM_INSTRUCTIONS=baseline keeps to what every processor has; the tests use it.
static bool use_avx2() {
    const char* wish = std::getenv("RTKM_INSTRUCTIONS");
    if (wish && std::string(wish) == "baseline") return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#define RTKM_CHOOSE(table) (use_avx2() ? avx2::table : baseline::table)
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
