// Error-free transformations and compensated summation: sums and products that keep
// what rounding takes away, by Knuth's two-sum (The Art of Computer Programming 2,
// 4.2.2) and the products of T. J. Dekker, "A floating-point technique for extending the
// available precision", Numerische Mathematik 18, 1971.
//
// V is a number, or a register of them.
#pragma once
#include "kernels/numbers.hpp"

namespace rtkm {

// The sum, and what was rounded away.
template <class V>
RTKM_INLINE void two_sum(V x, V& sum, V& lost) {
    const V next = sum + x, part = next - sum;
    lost += (sum - (next - part)) + (x - part);
    sum = next;
}

// A product, and what rounding takes of it: by a fused multiply-add, or where there is
// none by numbers with half the digits each, whose products are exact. (T. J. Dekker
// splits by arithmetic; a mask is quicker.)
template <class V>
struct Product {
    V large, small;

    RTKM_INLINE Product(V a, V b) : large(a * b) {
#ifdef RTKM_FUSES
        small = multiply_add(a, b, -large);
#else
        const V a_upper = leading_half(a), a_lower = a - a_upper;
        const V b_upper = leading_half(b), b_lower = b - b_upper;
        small = a_upper * b_upper - large + a_upper * b_lower + a_lower * b_upper +
                a_lower * b_lower;
#endif
    }
};

// A difference by two-sum, and what was rounded away.
template <class V>
struct Difference {
    V value, lost;

    RTKM_INLINE Difference(V a, V b) : value(a - b) {
        const V part = value - a;
        lost = (a - (value - part)) - (b + part);
    }
};

// A sum that keeps what each addition rounds away.
template <class V>
struct ExactSum {
    V sum = {}, lost = {};

    RTKM_INLINE void add(V x) { two_sum(x, sum, lost); }
    RTKM_INLINE void add(const Product<V>& product) {
        add(product.large);
        lost += product.small;
    }
    RTKM_INLINE void add(const ExactSum& other) {
        add(other.sum);
        lost += other.lost;
    }
    RTKM_INLINE V value() const { return sum + lost; }
    RTKM_INLINE V minus(const ExactSum& other) const {
        return (sum - other.sum) + (lost - other.lost);
    }
};

using Exact = ExactSum<double>;

// The same sum, of which `sum` is the value: otherwise it depends on the order of what
// was added, and so would all that is computed with it. Of a sum that is infinite nothing
// is lost.
RTKM_INLINE Exact normalized(const Exact& total) {
    Exact whole{total.sum};
    if (total.lost == total.lost) whole.add(total.lost);
    return whole;
}

// Many sums, and what each of them rounded away.
struct ExactSums {
    double *sums, *lost;

    RTKM_INLINE void add(std::size_t i, double x) const { two_sum(x, sums[i], lost[i]); }
    RTKM_INLINE void add(std::size_t i, const Exact& x) const {
        add(i, x.sum);
        lost[i] += x.lost;
    }
    RTKM_INLINE Exact operator[](std::size_t i) const { return {sums[i], lost[i]}; }
    RTKM_INLINE ExactSums operator+(std::size_t i) const { return {sums + i, lost + i}; }
};

// A number times an exact sum.
RTKM_INLINE Exact times(double factor, const Exact& sum) {
    Exact result;
    result.add(Product<double>(factor, sum.sum));
    result.lost = multiply_add(factor, sum.lost, result.lost);
    return result;
}

}  // namespace rtkm
