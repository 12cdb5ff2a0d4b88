// Two registers of 16 bytes as one of 32, for simd.hpp alone. A compiler takes 32 bytes
// apart by itself, but GCC then keeps them in memory.
#pragma once
#include <type_traits>

#include "kernels/rows.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

template <class T>
struct Pair {
    typedef T Half __attribute__((vector_size(16)));
    using Int = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    static constexpr std::size_t half = 16 / sizeof(T);

    Half low, high;

    Pair() = default;
    RTKM_INLINE Pair(Half low, Half high) : low(low), high(high) {}
    RTKM_INLINE Pair(T x) : low(x - Half{}), high(x - Half{}) {}

    RTKM_INLINE T& operator[](std::size_t lane) {
        return reinterpret_cast<T*>(this)[lane];
    }
    RTKM_INLINE T operator[](std::size_t lane) const {
        return reinterpret_cast<const T*>(this)[lane];
    }

#define RTKM_OF_BOTH(Result, op)                            \
    friend RTKM_INLINE Result operator op(Pair a, Pair b) { \
        return Result(a.low op b.low, a.high op b.high);    \
    }
    RTKM_OF_BOTH(Pair, +)
    RTKM_OF_BOTH(Pair, -)
    RTKM_OF_BOTH(Pair, *)
    RTKM_OF_BOTH(Pair, /)
    RTKM_OF_BOTH(Pair, &)
    RTKM_OF_BOTH(Pair, |)
    RTKM_OF_BOTH(Pair<Int>, <)
    RTKM_OF_BOTH(Pair<Int>, >)
    RTKM_OF_BOTH(Pair<Int>, <=)
    RTKM_OF_BOTH(Pair<Int>, >=)
    RTKM_OF_BOTH(Pair<Int>, ==)
#undef RTKM_OF_BOTH
    RTKM_INLINE Pair operator-() const { return {-low, -high}; }
    RTKM_INLINE Pair& operator+=(Pair b) { return *this = *this + b; }
    RTKM_INLINE Pair& operator/=(Pair b) { return *this = *this / b; }
    RTKM_INLINE Pair& operator|=(Pair b) { return *this = *this | b; }

    // What numbers.hpp has for registers, of both.
    friend RTKM_INLINE Pair choose(Pair<Int> mask, Pair a, Pair b) {
        return {mask.low ? a.low : b.low, mask.high ? a.high : b.high};
    }
#ifdef RTKM_FUSES
    friend RTKM_INLINE Pair fused(Pair a, Pair b, Pair c) {
        return {fused(a.low, b.low, c.low), fused(a.high, b.high, c.high)};
    }
#endif
    friend RTKM_INLINE Pair leading_half(Pair x) {
        return {leading_half(x.low), leading_half(x.high)};
    }
};

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
