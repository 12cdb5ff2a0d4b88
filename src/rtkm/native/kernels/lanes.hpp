// Projections of four rows' memberships at a time, for kernels.cpp alone.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/shift.hpp"
#include "kernels/simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Weights are doubles whatever the rows are: a tile takes several registers of them.
using Four = Vec<double>;
constexpr std::size_t four = width<double>;

inline Four smaller(Four a, Four b) {
    return choose(a < b, a, b);
}
inline Four larger(Four a, Four b) {
    return choose(a < b, b, a);
}
inline void note_largest(Four values, double& largest) {
    for (std::size_t l = 0; l < four; ++l)
        if (largest < values[l]) largest = values[l];
}

// The shift that makes k entries, cut off at 0 and 1, sum to s.
inline Four find_shift(const double* entries, std::size_t k, std::size_t s, Four start,
                       Mask<double> needless) {
    const Four zero = {}, one = zero + 1.0;
    ShiftSearch<Four> search;
    search.shift = larger(smaller(start, one), -one);
    search.done = needless;
    while (!all(search.done)) {
        Four excess = zero - static_cast<double>(s), inner = zero;
        for (std::size_t j = 0; j < k; ++j) {
            const Four w = load(entries + j * four) - search.shift;
            excess += smaller(larger(w, zero), one);
            inner += choose((w > zero) & (w < one), one, zero);
        }
        search.move(excess, inner, inner + static_cast<double>(s));
    }
    return search.shift;
}

// What memberships make of four rows.
struct Outcome {
    Four cost, change, n_fractions;
    Four farthest, spare;  // of a row at a vertex: its own centers, and any other
    Four label;            // the one center a row belongs to, where there is just one
};

// Projects w - pace * distance, entry by entry. Distances are measured from the s-th
// smallest: this keeps the digits of those that matter, however large they are against
// the step, and leaves a shift within [-1, 1]. At no pace nothing moves, to the last bit.
inline Outcome project_four(const double* distances, std::size_t k, std::size_t s,
                            Four sth_smallest, Four pace, const double* before,
                            double* after) {
    const Four zero = {}, one = zero + 1.0;
    Four inner = zero, moved = zero;
    for (std::size_t j = 0; j < k * four; j += four) {
        const Four last = load(before + j);
        const Four move = pace * (load(distances + j) - sth_smallest);
        store(after + j, last - move);
        const Mask<double> is_inner = (last > zero) & (last < one);
        inner += choose(is_inner, one, zero);
        moved += choose(is_inner, move, zero);
    }
    // mostly the same entries stay strictly between 0 and 1
    const Four start = choose(inner > zero, -moved / inner, zero);
    const Four shift = find_shift(after, k, s, start, pace == zero);
    Four cost = zero, change = zero, n_fractions = zero, farthest = zero, label = zero,
         spare = broadcast(std::numeric_limits<double>::infinity()), number = zero;
    for (std::size_t j = 0; j < k * four; j += four, number += one) {
        const Four d = load(distances + j), last = load(before + j);
        Four w = load(after + j) - shift;
        w = choose(w < rounding_dust + zero, zero, w);
        w = choose(w > one - rounding_dust, one, w);
        w = choose(pace == zero, last, w);
        store(after + j, w);
        cost = multiply_add(w, d, cost);
        change = larger(change, larger(w - last, last - w));
        n_fractions += choose((w > zero) & (w < one), one, zero);
        spare = choose(w == zero, smaller(spare, d), spare);
        farthest = choose(w == one, larger(farthest, d), farthest);
        label += choose(w == one, number, zero);
    }
    return {cost, change, n_fractions, farthest, spare, label};
}

// Four rows of k numbers each, to k times four of them, and back.
inline void turn_in(const double* const (&row)[four], std::size_t k, double* columns) {
    std::size_t j = 0;
    for (; j + four <= k; j += four) {
        Four v[four];
        for (std::size_t l = 0; l < four; ++l) v[l] = load(row[l] + j);
        transpose(v);
        for (std::size_t l = 0; l < four; ++l) store(columns + (j + l) * four, v[l]);
    }
    for (; j < k; ++j)
        for (std::size_t l = 0; l < four; ++l) columns[j * four + l] = row[l][j];
}

inline void turn_out(const double* columns, std::size_t k, double* const (&row)[four]) {
    std::size_t j = 0;
    for (; j + four <= k; j += four) {
        Four v[four];
        for (std::size_t l = 0; l < four; ++l) v[l] = load(columns + (j + l) * four);
        transpose(v);
        for (std::size_t l = 0; l < four; ++l) store(row[l] + j, v[l]);
    }
    for (; j < k; ++j)
        for (std::size_t l = 0; l < four; ++l) row[l][j] = columns[j * four + l];
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
