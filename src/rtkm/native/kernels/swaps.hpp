// What swaps of a center for a row would bring, for kernels.cpp alone.
#pragma once
#include "kernels/tiles.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

inline double smaller(double a, double b) {
    return a < b ? a : b;
}

// A row with costs d_1 <= .. <= d_s and spare d_(s+1) that meets a candidate at dx costs
// min(cost, cost - d_s + dx), and min(cost, cost - d_j + min(dx, spare)) if j goes.
struct SwappedRow {
    const std::int32_t* labels;
    const double* squared;
    double weight, cost, spare, cap;
    std::size_t s;

    SwappedRow(const KnownNearest& state, double weight, double cap, std::size_t i)
        : labels(state.labels + i * state.s),
          squared(state.squared + i * state.s),
          weight(weight),
          cost(state.cost[i]),
          spare(state.spare[i]),
          cap(cap),
          s(state.s) {}

    // Candidates beyond this change nothing.
    double limit() const { return smaller(spare, cap - cost + squared[s - 1]); }

    double with(double dx) const {
        const double farthest = squared[s - 1];
        return smaller(dx < farthest ? cost - farthest + dx : cost, cap);
    }
    double without(std::size_t r, double dx) const {
        return smaller(cost - squared[r] + smaller(dx, spare), cap);
    }
    // What the loss of a center costs if no candidate helps; if nothing else does either,
    // all candidates do, and what they bring is counted from nothing.
    double loss(std::size_t r) const {
        const double change = without(r, spare) - smaller(cost, cap);
        return change < __builtin_inf() ? change : 0.0;
    }
    void add_losses(const ExactSums& changes) const {
        for (std::size_t r = 0; r < s; ++r) changes.add(labels[r], weight * loss(r));
    }
    void add_changes(double dx, const ExactSums& changes, std::size_t k) const {
        const double now = smaller(cost, cap), met = with(dx);
        changes.add(k, weight * (met - now));
        for (std::size_t r = 0; r < s; ++r)
            changes.add(labels[r], weight * ((without(r, dx) - met) - loss(r)));
    }
};

// The last line of the changes takes what the loss of each center costs if no candidate
// helps; the lines before it what each candidate changes. Most rows are near to none.
template <class T>
void swap_changes(const Rows<T>& rows, Range range, const Centers<T>& candidates,
                  const KnownNearest& state, double cap, std::size_t k,
                  const ExactSums& changes, const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        T limit[lanes] = {};
        for (std::size_t l = 0; l < tile.count; ++l) {
            const std::size_t i = tile.row[l];
            const SwappedRow row(state, rows.weight(i), cap, i);
            row.add_losses(changes + candidates.k * (k + 1));
            limit[l] = static_cast<T>(row.limit() * 1.000001);  // lest rounding miss one
        }
        tile_distances(rows, tile, candidates, work);
        for (std::size_t c = 0; c < candidates.k; ++c) {
            const T* const dx = work.distances + c * lanes;
            if (!any((load(dx) < load(limit)) | (load(dx + w) < load(limit + w))))
                continue;
            std::size_t helped[lanes], n_helped = 0;
            for (std::size_t l = 0; l < lanes; ++l) {  // which are is hard to foresee
                helped[n_helped] = l;
                n_helped += dx[l] < limit[l];
            }
            for (std::size_t m = 0; m < n_helped; ++m) {
                const std::size_t l = helped[m], i = tile.row[l];
                SwappedRow(state, rows.weight(i), cap, i)
                    .add_changes(dx[l], changes + c * (k + 1), k);
            }
        }
    });
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
