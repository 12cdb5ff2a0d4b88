// What passes know of every row, and what they report of a part of them.
#pragma once
#include "kernels/rows.hpp"

namespace rtkm {

// What became of a row. One that is frozen was trimmed by a proximal step: its centers
// stay what they are, and its bound on the cost is one from below.
struct RowStatus {
    static constexpr std::uint8_t open = 0, kept = 1, frozen = 2;
};

// What one pass leaves to the next about each row: the bounds of G. Hamerly, "Making
// k-means even faster", SDM 2010, for one or several own centers, and one more for the
// cost, which trimming goes by. Distances are in the unit of the table, rounded to the
// safe side.
struct Bounds {
    std::int32_t* labels;  // n x s: the s nearest centers, in any order
    float* cost_upper;     // the root of the row's cost is at most this; frozen: at least
    float* own_upper;      // its farthest own center is at most so far away (the same
                           // array when s is 1)
    float* other_lower;    // any other center is at least so far away
    std::uint8_t* status;  // its RowStatus
    std::size_t s;
};

// What a row adds to the digest of a pass, which tells passes apart: its clusters, and
// whether it is kept, by the finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA
// 2014).
RTKM_INLINE std::uint64_t digest_of(std::size_t row, const std::int32_t* labels,
                                    std::size_t s, bool is_kept) {
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < s; ++r) {
        const auto label = static_cast<std::uint32_t>(labels[r]);
        std::uint64_t z =
            (std::uint64_t{row} << 32 | label << 1 | std::uint64_t{is_kept}) +
            0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        sum += z ^ z >> 31;
    }
    return sum;
}

// How far the centers went since the last pass, by center: by the triangle inequality
// that is what bounds may be off by.
struct CenterShift {
    const float* own;     // how far it went
    const float* others;  // how far any other went at most, but those that jumped
    const float* jumped;  // how far away the nearest of those that jumped is now
    float trust;          // a little below 1: what rounding leaves of a bound
};

// A pass that uses what the last one left: what it knows, and where its answers go.
template <class T>
struct BoundedPass {
    Rows<T> rows;
    Centers<T> centers;
    Bounds last, out;                 // no labels in the last: nothing is known
    const CenterShift* center_shift;  // null: all rows meet all centers
    Window window;
    float sure_root, gone_root;  // roots of costs that are surely below it, and above
    // from squared distances to those in units of the table, rounded up and down
    double per_square_up, per_square_down;
};

// What a pass found in one part of the rows, so far.
struct PassReport {
    Moments moments;  // what came to each cluster, less what went
    Undecided undecided;
    Exact sure_mass;  // of rows that are surely kept
    std::size_t n_changed = 0;
    std::uint64_t digest = 0;  // what changed in that of all rows
};

// The k memberships of every row for which they are not all 0 or 1, in the order of the
// rows: one chunk for each of the parts the table is cut into.
struct Fractions {
    double* const* chunks = nullptr;
    std::size_t n_chunks = 0, chunk_rows = 1, k = 0;

    RTKM_INLINE const double* of(std::size_t row, std::int32_t label) const {
        const std::size_t chunk = row / chunk_rows;
        return chunks[chunk < n_chunks ? chunk : n_chunks - 1] + ~label * k;
    }
};

// One proximal step. The inlier weights become clip(v - (cost - threshold) / size, 0, 1)
// with a threshold that is not known before the end of the pass, but expected in the
// window of the pass; no row outside of it depends on where.
//
// The labels of a pass are the centers of rows at a vertex; or, below 0, ~place, the
// place of the row in its chunk of the fractions, s times. Rows at a vertex whose inlier
// weight is 1 are marked as kept: they can rest, and stay in the sums of their clusters.
// What others count for is summed in every pass.
struct ProximalStep {
    double size;
    double first_w, first_v;  // those of all rows, while there is no last state
    const double* last_v;
    Fractions fractions;  // of the last state
    double* v;            // n, to be found

    RTKM_INLINE double before(std::size_t row) const {
        return last_v ? last_v[row] : first_v;
    }
    // The most that a first membership can move.
    RTKM_INLINE double longest() const {
        return first_w == 1 ? 0 : first_w > 0.5 ? first_w : 1 - first_w;
    }
};

// What a proximal pass found in one part, so far; there is room for one more block.
struct ProximalReport : PassReport {
    Sums partly = {};  // what rows count for that are not kept whole at a vertex
    double* fractions = nullptr;
    std::size_t n_fractions = 0;
    double change = 0;  // the most that any weight moved
    double* scratch = nullptr;
    std::uint32_t* ends = nullptr;  // scratch of k numbers, too
};

}  // namespace rtkm
