// Where rows lie along the lines between centers, for kernels.cpp alone.
#pragma once
#include "kernels/tiles.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// A row at squared distances D of its nearest center l and of another one j, which are a
// squared gap G apart, is projected to (D_j - D_l) / G on the line through both: 0
// halfway, 1 at its own center. Rows that lie on the edge of a bin up to rounding are in
// the bin above, whichever way they are rounded.
template <class T>
void count_along_lines(const Rows<T>& rows, Range range, const Centers<T>& centers,
                       const LineBins& bins, double cap, double* counts,
                       const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t k = centers.k;
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        tile_distances(rows, tile, centers, work);
        for (std::size_t l = 0; l < tile.count; ++l) {
            const T* const squared = work.distances + l;
            std::size_t own = 0;
            for (std::size_t j = 1; j < k; ++j)
                if (squared[j * lanes] < squared[own * lanes]) own = j;
            const double least = squared[own * lanes];
            if (!(least <= cap)) continue;
            const double weight = rows.weight(tile.row[l]);
            double* const of_own = counts + own * k * bins.count;
            of_own[own * bins.count] += weight;
            for (std::size_t j = 0; j < k; ++j) {
                const double per_square = bins.per_square[own * k + j];
                const double place =
                    multiply_add(squared[j * lanes] - least, per_square, 1e-9);
                if (per_square > 0 && place < static_cast<double>(bins.count))
                    of_own[j * bins.count + static_cast<std::size_t>(place)] += weight;
            }
        }
    });
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
