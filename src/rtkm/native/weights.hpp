// What the proximal step knows of every row, and what it reports of a part of them.
#pragma once
#include "following.hpp"

namespace rtkm {

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

// One proximal step. The inlier weights become clip(v - (cost - threshold) / step, 0, 1)
// with a threshold that is not known before the end of the pass, but expected in the
// window of the pass; no row outside of it depends on where.
//
// The watch of a pass holds the centers of rows at a vertex; or, below 0, ~place, the
// place of the row in its chunk of the fractions, s times. Rows at a vertex whose inlier
// weight is 1 are marked as kept: they can rest, and stay in the sums of their clusters.
// What others count for is summed in every pass.
struct Proximal {
    double step;
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
struct RelaxReport : PassReport {
    Sums partly = {};  // what rows count for that are not kept whole at a vertex
    double* fractions = nullptr;
    std::size_t n_fractions = 0;
    double change = 0;  // the most that any weight moved
    double* scratch = nullptr;
};

}  // namespace rtkm
