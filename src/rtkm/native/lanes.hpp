// Projections of four rows' memberships at a time, for kernels.cpp alone.
#pragma once
#include "kernels.hpp"
#include "shift.hpp"
#include "simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Weights are doubles whatever the rows are: a tile takes several registers of them.
using Four = Vec<double>;
constexpr std::size_t four = width<double>;

inline Four smaller(Four a, Four b) {
    return a < b ? a : b;
}
inline Four larger(Four a, Four b) {
    return a < b ? b : a;
}
inline bool all(Mask<double> m) {
    return (m[0] & m[1] & m[2] & m[3]) != 0;
}
inline void note_largest(Four values, double& largest) {
    for (std::size_t l = 0; l < four; ++l)
        if (largest < values[l]) largest = values[l];
}

// The s-th smallest of k distances; `lowest` has room for s times four.
template <class T>
inline Four sth_smallest(const T* distances, std::size_t k, std::size_t s,
                         double* lowest) {
    const Four infinity = broadcast(std::numeric_limits<double>::infinity());
    Four first = infinity;
    for (std::size_t r = 1; r < s; ++r) store(lowest + r * four, infinity);
    for (std::size_t j = 0; j < k; ++j) {
        const Four d = load_as_double(distances + j * tile_rows<T>);
        Four passed = larger(first, d);
        first = smaller(first, d);
        for (std::size_t r = 1; r < s; ++r) {
            const Four held = load(lowest + r * four);
            store(lowest + r * four, smaller(held, passed));
            passed = larger(held, passed);
        }
    }
    return s == 1 ? first : load(lowest + (s - 1) * four);
}

// The shift that makes k entries, cut off at 0 and 1, sum to s.
template <class T>
inline Four find_shift(const double* entries, std::size_t k, std::size_t s, Four start,
                       Mask<double> needless) {
    const Four zero = {}, one = zero + 1.0;
    ShiftSearch<Four> search;
    search.shift = larger(smaller(start, one), -one);
    search.done = needless;
    while (!all(search.done)) {
        Four excess = zero - static_cast<double>(s), inner = zero;
        for (std::size_t j = 0; j < k; ++j) {
            const Four w = load(entries + j * tile_rows<T>) - search.shift;
            excess += smaller(larger(w, zero), one);
            inner += (w > zero) & (w < one) ? one : zero;
        }
        search.move(excess, inner, inner + static_cast<double>(s));
    }
    return search.shift;
}

// What memberships make of four rows.
struct Outcome {
    Four cost = {}, change = {}, n_fractions = {};
    Four farthest = {};  // distance of the centers a row at a vertex belongs to
    Four spare = Four{} + std::numeric_limits<double>::infinity();  // and nearest other
    Four label = {};  // the one center a row belongs to, where there is just one
};

// Projects w - pace * distance, entry by entry. Distances are measured from the s-th
// smallest: this keeps the digits of those that matter, however large they are against
// the step, and leaves a shift within [-1, 1]. At no pace nothing moves, to the last bit.
template <class T>
inline Outcome project_four(const T* distances, std::size_t k, std::size_t s, Four pace,
                            const double* before, double* after, double* scratch) {
    constexpr std::size_t lanes = tile_rows<T>;
    const Four zero = {}, one = zero + 1.0;
    const Four reference = sth_smallest(distances, k, s, scratch);
    Four inner = zero, moved = zero;
    for (std::size_t j = 0; j < k * lanes; j += lanes) {
        const Four last = load(before + j);
        const Four move = pace * (load_as_double(distances + j) - reference);
        store(after + j, last - move);
        const Mask<double> is_inner = (last > zero) & (last < one);
        inner += is_inner ? one : zero;
        moved += is_inner ? move : zero;
    }
    // mostly the same entries stay strictly between 0 and 1
    const Four start = inner > zero ? -moved / inner : zero;
    const Four shift = find_shift<T>(after, k, s, start, pace == zero);
    Outcome out;
    Four number = zero;
    for (std::size_t j = 0; j < k * lanes; j += lanes, number += one) {
        const Four d = load_as_double(distances + j), last = load(before + j);
        Four w = load(after + j) - shift;
        w = w < rounding_dust + zero ? zero : w;
        w = w > one - rounding_dust ? one : w;
        w = pace == zero ? last : w;
        store(after + j, w);
        out.cost += w * d;
        out.change = larger(out.change, larger(w - last, last - w));
        out.n_fractions += (w > zero) & (w < one) ? one : zero;
        out.spare = w == zero ? smaller(out.spare, d) : out.spare;
        out.farthest = w == one ? larger(out.farthest, d) : out.farthest;
        out.label += w == one ? number : zero;
    }
    return out;
}

// The outcome for rows that stay at vertices, told by their centers' numbers, s times
// four.
template <class T>
inline Outcome survey(const T* distances, std::size_t k, const double* numbers,
                      std::size_t s) {
    const Four zero = {}, one = zero + 1.0;
    Outcome out;
    Four number = zero;
    for (std::size_t j = 0; j < k * tile_rows<T>; j += tile_rows<T>, number += one) {
        const Four d = load_as_double(distances + j);
        Mask<double> is_own = load(numbers) == number;
        for (std::size_t r = 1; r < s; ++r) is_own |= load(numbers + r * four) == number;
        out.cost += is_own ? d : zero;
        out.farthest = larger(out.farthest, is_own ? d : zero);
        out.spare = is_own ? out.spare : smaller(out.spare, d);
    }
    return out;
}

// Four rows of k numbers each, to k times four of them, and back.
template <class T>
inline void turn_in(const double* const (&row)[four], std::size_t k, double* columns) {
    std::size_t j = 0;
    for (; j + four <= k; j += four) {
        Four v[four];
        for (std::size_t l = 0; l < four; ++l) v[l] = load(row[l] + j);
        transpose(v);
        for (std::size_t l = 0; l < four; ++l)
            store(columns + (j + l) * tile_rows<T>, v[l]);
    }
    for (; j < k; ++j)
        for (std::size_t l = 0; l < four; ++l) columns[j * tile_rows<T> + l] = row[l][j];
}

template <class T>
inline void turn_out(const double* columns, std::size_t k, double* const (&row)[four]) {
    std::size_t j = 0;
    for (; j + four <= k; j += four) {
        Four v[four];
        for (std::size_t l = 0; l < four; ++l)
            v[l] = load(columns + (j + l) * tile_rows<T>);
        transpose(v);
        for (std::size_t l = 0; l < four; ++l) store(row[l] + j, v[l]);
    }
    for (; j < k; ++j)
        for (std::size_t l = 0; l < four; ++l) row[l][j] = columns[j * tile_rows<T> + l];
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
