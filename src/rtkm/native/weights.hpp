// What the proximal step knows of every row, and what it reports of a part of them.
#pragma once
#include "rows.hpp"

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

// Memberships and inlier weights of all rows.
struct Weights {
    // n x s: the centers a row belongs to, in order; or, below 0, ~place, its place in
    // a chunk of the fractions, s times
    std::int32_t* labels = nullptr;
    double* v = nullptr;      // n
    double* spare = nullptr;  // n: what the squared distance of any other is at least
    std::size_t s = 0;
    Fractions fractions = {};
};

// One proximal step. The inlier weights become clip(v - (cost - threshold) / step, 0, 1)
// with a threshold that is not known before the end of the pass, but expected in the
// window; no row outside of it depends on where.
struct Proximal {
    double step;
    Window window;
    Weights last;            // without labels at the start, when all rows weigh the same
    double first_w, first_v;
    const Drift* drift = nullptr;  // null: every row meets all centers

    RTKM_INLINE bool is_first() const { return last.labels == nullptr; }
    RTKM_INLINE double v(std::size_t row) const {
        return is_first() ? first_v : last.v[row];
    }
};

// What a pass found in one part, so far; there is room for one more block of rows.
struct PartReport {
    std::uint32_t* undecided = nullptr;
    double* fractions = nullptr;
    std::size_t n_undecided = 0, n_fractions = 0;
    double mass = 0;    // of the rows that are surely kept
    double change = 0;  // the most that any weight moved
    double* scratch = nullptr;
};

}  // namespace rtkm
