// The tables the kernels read: plain pointers and sizes, no Python.
#pragma once
#include <cstddef>
#include <cstdint>

// What the kernels call must become part of them: a copy of its own could be compiled
// for one instruction set and called from another.
#define RTKM_INLINE __attribute__((always_inline)) inline

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

    RTKM_INLINE bool is_csr() const { return indices != nullptr; }
    RTKM_INLINE double weight(std::size_t row) const { return weights ? weights[row] : 1.0; }
};

// A sum that keeps what each addition rounds away.
struct Exact {
    double sum = 0, lost = 0;

    RTKM_INLINE void add(double x) {
        const double next = sum + x, part = next - sum;
        lost += (sum - (next - part)) + (x - part);
        sum = next;
    }
    RTKM_INLINE double minus(const Exact& other) const {
        return (sum - other.sum) + (lost - other.lost);
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

// How far the centers went since the last pass: those that went far by number, and the
// most that any other went. `trust`, a little below 1, is what rounding leaves of a bound.
struct Drift {
    static constexpr std::size_t most_movers = 4;
    double rest, trust;
    std::int32_t movers[most_movers];
    std::size_t n_movers = 0;
};

// The nearest of some centers; of none, one infinitely far away.
struct Closest {
    std::size_t center = 0;
    double squared = __builtin_inf();
};

// Partial sums of a block: weighted rows and masses of k centers, and the cost of what
// was kept. Slot k takes the rows that are not to count, so that no branch is needed.
struct Sums {
    double* rows;    // (k + 1) x p
    double* masses;  // k + 1
    double cost = 0;
};

// Rows that cost less than `sure` are kept and those from `ceiling` on are trimmed,
// wherever between them the cut will fall; the rows between are undecided.
struct Window {
    double sure, ceiling;
};

struct Undecided {
    std::uint32_t* rows;
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
