// What it costs to lose each center, and two-means inside every cluster at once; for
// kernels.cpp alone.
#pragma once
#include "kernels/nearest.hpp"
#include "kernels/sums.hpp"
#include "kernels/swaps.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Rows that lose their center move to the next one unless they cost too much there.
template <class T>
void add_moved_rows(const Rows<T>& rows, Range range, const Centers<T>& centers,
                    double cap, const MovedRows<ExactSums>& moved,
                    const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        tile_distances(rows, tile, centers, work);
        several_smallest(centers.k, 1, work);
        for (std::size_t l = 0; l < tile.count; ++l) {
            const std::size_t i = tile.row[l];
            const auto own = static_cast<std::size_t>(work.order[l]);
            const auto next = static_cast<std::size_t>(work.order[lanes + l]);
            const double weight = rows.weight(i);
            const double before = work.nearest[l], after = work.nearest[lanes + l];
            if (before <= cap) moved.kept.add(own, weight);
            moved.costs.add(own, weight * (smaller(after, cap) - smaller(before, cap)));
            if (!moved.has_pairs || !(after <= cap)) continue;
            const std::size_t pair = own * centers.k + next;
            moved.masses.add(pair, weight);
            add_from_origin(rows, i, weight, moved.sums + pair * padded(rows.p));
        }
    });
}

// Squared distances of a tile's rows to both halves of their clusters, into the first two
// lines of work.distances.
template <class T>
void half_distances(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& halves,
                    const std::int32_t* labels, const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t p = rows.p;
    const T *row[lanes], *half[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
        const std::int32_t label = labels[tile.row[l]];
        const std::size_t first = label < 0 ? 0 : 2 * static_cast<std::size_t>(label);
        if (rows.is_csr()) {
            const Centers<T> both{halves.data + first * p, 2, p,
                                  halves.squares + first * p,
                                  halves.squared_norms + first};
            sparse_distances(rows, tile.row[l], both, work.distances + l);
            continue;
        }
        row[l] = rows.data + tile.row[l] * p;
        half[l] = halves.data + first * p;
    }
    if (rows.is_csr()) return;
    paired_distances(row, half, p, work.distances);
    for (std::size_t l = 0; l < lanes; ++l) half[l] += p;
    paired_distances(row, half, p, work.distances + lanes);
}

// Rows go to the nearer half of their cluster, of equally near ones the first, and are
// summed there; those that cost more than the cap cost that, and count for no mean. Rows
// with a label below 0 are left out.
template <class T>
void split_step(const Rows<T>& rows, Range range, const Centers<T>& halves,
                const std::int32_t* labels, double cap, const HalfSums<ExactSums>& out,
                const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        half_distances(rows, tile, halves, labels, work);
        for (std::size_t l = 0; l < tile.count; ++l) {
            const std::size_t i = tile.row[l];
            if (labels[i] < 0) continue;
            const double first = work.distances[l], second = work.distances[lanes + l];
            const double cost = second < first ? second : first;
            const std::size_t half =
                2 * static_cast<std::size_t>(labels[i]) + (second < first);
            const double weight = rows.weight(i);
            out.costs.add(half / 2, weight * smaller(cost, cap));
            if (!(cost <= cap)) continue;
            out.masses.add(half, weight);
            add_from_origin(rows, i, weight, out.sums + half * padded(rows.p));
        }
    });
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
