// What is computed the same way with a number and with a register of them.
//
// Compilers are told not to fuse multiplications with additions on their own
// (-ffp-contract=off): where that is meant, it is written. So all compilers give the same
// bits, and so do all processors that fuse.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#if defined(RTKM_FUSES) && defined(__AVX2__)
#include <immintrin.h>
#elif defined(RTKM_FUSES)
#include <arm_neon.h>
#endif

// What the kernels call must become part of them: a copy of its own could be compiled
// for one instruction set and called from another.
#define RTKM_INLINE __attribute__((always_inline)) inline

namespace rtkm {

// a * b + c, rounded once.
RTKM_INLINE double fused(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
RTKM_INLINE float fused(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
#if defined(RTKM_FUSES) && defined(__AVX2__)
typedef double FourDoubles __attribute__((vector_size(32)));
typedef float EightFloats __attribute__((vector_size(32)));
RTKM_INLINE FourDoubles fused(FourDoubles a, FourDoubles b, FourDoubles c) {
    return _mm256_fmadd_pd(a, b, c);
}
RTKM_INLINE EightFloats fused(EightFloats a, EightFloats b, EightFloats c) {
    return _mm256_fmadd_ps(a, b, c);
}
#elif defined(RTKM_FUSES)
typedef double TwoDoubles __attribute__((vector_size(16)));
typedef float FourFloats __attribute__((vector_size(16)));
RTKM_INLINE TwoDoubles fused(TwoDoubles a, TwoDoubles b, TwoDoubles c) {
    return vfmaq_f64(c, a, b);
}
RTKM_INLINE FourFloats fused(FourFloats a, FourFloats b, FourFloats c) {
    return vfmaq_f32(c, a, b);
}
#endif

// a * b + c, fused where the instruction set has that (RTKM_FUSES), where it takes no
// longer than a multiplication. A factor may be a number for all of a register.
template <class A, class B, class V>
RTKM_INLINE V multiply_add(A a, B b, V c) {
#ifdef RTKM_FUSES
    const V zero = {};
    if constexpr (!std::is_same_v<A, V>)
        return multiply_add(a - zero, b, c);
    else if constexpr (!std::is_same_v<B, V>)
        return multiply_add(a, b - zero, c);
    else
        return fused(a, b, c);
#else
    return c + a * b;
#endif
}

RTKM_INLINE double number_root(double x) {
    return __builtin_sqrt(x);
}
RTKM_INLINE float number_root(float x) {
    return __builtin_sqrtf(x);
}

// Of each lane, a or b; of single numbers, one of them.
template <class M, class V>
RTKM_INLINE V choose(M mask, V a, V b) {
    return mask ? a : b;
}

// A number without the lower half of its digits.
template <class V>
RTKM_INLINE V leading_half(V x) {
    using Bits =
        std::conditional_t<std::is_same_v<V, double>, std::int64_t, decltype(V{} < V{})>;
    Bits bits;
    __builtin_memcpy(&bits, &x, sizeof x);
    bits &= ~((std::int64_t{1} << 27) - 1);
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

}  // namespace rtkm
