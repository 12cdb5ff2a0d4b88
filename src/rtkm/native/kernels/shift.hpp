// The shift of a projection onto a capped simplex, for one row or for several at a time.
#pragma once
#include "kernels/rows.hpp"

namespace rtkm {

// weights closer than this to 0 or 1 are rounding
constexpr double rounding_dust = 1e-12;

// The root of a falling, piecewise linear total, by Newton steps kept inside a shrinking
// bracket. V is a number, or a register of them, each with a root of its own in [-2, 1].
// Ask for the total at `shift` and hand it to `move`, until it is done.
template <class V>
struct ShiftSearch {
    V shift = V{};
    V low = V{} - 2.5, high = V{} + 1.5;
    decltype(V{} < V{}) done = {};

    // `excess` is the total less what it should be, `inner` the weight of the entries
    // strictly between 0 and 1, `size` the scale that rounding is measured by.
    RTKM_INLINE void move(V excess, V inner, V size) {
        const V zero = V{}, one = zero + 1.0;
        const V newton = shift + excess / choose(inner > zero, inner, one);
        const V error = choose(excess < zero, -excess, excess);
        // the total cannot be told from the right one: one more step, and it is exact
        const auto found = error <= 1e-15 * size;
        const V exact = choose(inner > zero, newton, shift);
        low = choose(excess > zero, shift, low);
        high = choose(excess > zero, high, shift);
        // where the total is flat the answer is likely a vertex, and that is where the
        // entry that fills the total becomes 1
        V next = choose(inner > zero, newton, -one);
        next = choose((next > low) & (next < high), next, low + (high - low) / 2);
        const auto stuck = (next <= low) | (next >= high);  // no number left between
        shift = choose(done, shift, choose(found, exact, next));
        done = done | found | stuck;
    }
};

}  // namespace rtkm
