// The tables the kernels read: plain pointers and sizes, no Python.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/exact.hpp"

namespace rtkm {

// A half-open range of row numbers.
struct Range {
    std::size_t first, last;
};

// A table of n rows and p columns, dense and row-major, or CSR when `indices` is set.
template <class T>
struct Rows {
    const T* data;
    std::size_t n, p;
    const std::int32_t* indices = nullptr;  // sorted within a row, no duplicates
    const std::int32_t* indptr = nullptr;
    const double* weights = nullptr;  // one for each row, or all ones
    const double* origin = nullptr;   // amid the rows: what sums are measured from
    double unit = 1;                  // about their width: what bounds are measured in

    RTKM_INLINE bool is_csr() const { return indices != nullptr; }
    RTKM_INLINE double weight(std::size_t row) const {
        return weights ? weights[row] : 1.0;
    }
};

template <class T>
struct Centers {
    const T* data;  // k x p, row-major
    std::size_t k, p;
    // for CSR rows only: every entry squared, and the sums of those for each center
    const double* squares = nullptr;
    const Exact* squared_norms = nullptr;
};

// What a pass knows of each row; the arrays are n x s, n x s, n and n.
struct Nearest {
    std::int32_t* labels;  // the s nearest centers, nearest first
    double* squared;       // their squared distances
    double* cost;          // the sum of those (may be `squared` itself when s is 1)
    double* spare;         // what the squared distance of any other is at least
    std::size_t s;
};

// The same, to be read.
struct KnownNearest {
    const std::int32_t* labels;
    const double *squared, *cost, *spare;
    std::size_t s;
};

// Numbers that take up whole registers of four, which must not reach into what follows.
RTKM_INLINE constexpr std::size_t padded(std::size_t p) {
    return (p + 3) / 4 * 4;
}

// Sums over the rows of one cluster, each as seen from the origin of the table.
struct ClusterSums {
    double *sums, *lost;  // of the rows, and what those sums rounded away
    double* squares;      // four sums of their squares, and what those rounded away
    Exact* mass;
    double* count;  // of rows that weigh anything
    double* peak;   // the most that the squares have been

    RTKM_INLINE Exact all_squares() const {
        Exact total;
        for (std::size_t l = 0; l < 4; ++l) total.add(Exact{squares[l], squares[4 + l]});
        return total;
    }
};

// Those of all clusters, in one block of memory.
struct Moments {
    double* memory;
    std::size_t p;

    RTKM_INLINE std::size_t stride() const { return 2 * padded(p) + 12; }
    RTKM_INLINE ClusterSums operator[](std::size_t cluster) const {
        double* const sums = memory + cluster * stride();
        double* const rest = sums + 2 * padded(p);
        return {sums,      sums + padded(p), rest, reinterpret_cast<Exact*>(rest + 8),
                rest + 10, rest + 11};
    }
};

// The nearest of some centers; of none, one infinitely far away.
struct Closest {
    std::size_t center = 0;
    double squared = __builtin_inf();
};

// Bins along the lines between k centers, from halfway on towards a row's own center.
struct LineBins {
    const double* per_square;  // k x k: bins for each unit of a squared distance, 0: none
    std::size_t count;         // rows beyond the last are not counted
};

// Weighted rows and masses of k centers, and the cost of what was kept.
struct Sums {
    ExactSums masses;  // k
    ExactSums rows;    // k x padded(p), as seen from the origin
    ExactSums cost;    // 1

    static std::size_t size(std::size_t k, std::size_t p) {
        return k * (1 + padded(p)) + 1;
    }
    static Sums in(const ExactSums& memory, std::size_t k, std::size_t p) {
        return {memory, memory + k, memory + k * (1 + padded(p))};
    }
};

// The rows that move when a center is lost: what they cost more, by that center, and
// their sums by pairs of that center and the next one; and what each center keeps.
template <class Sums>
struct MovedRows {
    Sums costs;      // k
    Sums kept;       // k
    Sums masses;     // k x k
    Sums sums;       // k x k x padded(p), as seen from the origin
    bool has_pairs;  // or else the last two are not asked for
};

// Sums of the rows nearer to either half of their cluster, and the costs of k clusters.
template <class Sums>
struct HalfSums {
    Sums costs;   // k
    Sums masses;  // 2 k
    Sums sums;    // 2 k x padded(p), as seen from the origin
};

// Rows that cost less than `sure` are kept and those from `ceiling` on are trimmed,
// wherever between them the cut will fall; the rows between are undecided.
struct Window {
    double sure, ceiling;
};

struct Undecided {
    std::uint32_t* rows;
    double* costs;
    std::size_t n = 0;
};

// Where the trimming falls in the order (cost, row): rows before `row` are kept whole,
// `row` keeps `share` of itself, the rest is trimmed.
struct Cut {
    double threshold;
    std::size_t row;
    double share;

    RTKM_INLINE bool keeps(double cost, std::size_t i) const {
        return cost < threshold || (cost == threshold && i <= row);
    }
};

}  // namespace rtkm
