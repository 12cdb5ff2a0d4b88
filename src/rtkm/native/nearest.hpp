// The nearest centers of rows, from all distances; for kernels.cpp alone.
#pragma once
#include "tiles.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// The two smallest of k distances, lane by lane; ties go to the lowest number.
template <class T>
inline void two_smallest(std::size_t k, const Workspace<T>& work, std::int32_t* label,
                         T* smallest, T* next) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    using Int = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    for (std::size_t half = 0; half < lanes; half += w) {
        Vec<T> low = broadcast(std::numeric_limits<T>::infinity()), second = low;
        Mask<T> low_at = {};
        for (std::size_t j = 0; j < k; ++j) {
            const Vec<T> d = load(work.distances + j * lanes + half);
            const Mask<T> closer = d < low;
            const Vec<T> loser = closer ? low : d;
            second = loser < second ? loser : second;
            low = closer ? d : low;
            low_at = closer ? static_cast<Int>(j) - Mask<T>{} : low_at;
        }
        store(smallest + half, low);
        store(next + half, second);
        for (std::size_t l = 0; l < w; ++l)
            label[half + l] = static_cast<std::int32_t>(low_at[l]);
    }
}

// The s + 1 smallest of a lane's k distances, by insertion into work.nearest and
// work.order; ties go to the lowest number.
template <class T>
inline void several_smallest(std::size_t k, std::size_t s, std::size_t lane,
                             const Workspace<T>& work) {
    for (std::size_t r = 0; r <= s; ++r)
        work.nearest[r] = std::numeric_limits<T>::infinity();
    for (std::size_t j = 0; j < k; ++j) {
        const T d = work.distances[j * tile_rows<T> + lane];
        if (!(d < work.nearest[s])) continue;
        std::size_t r = s;
        for (; r > 0 && d < work.nearest[r - 1]; --r) {
            work.nearest[r] = work.nearest[r - 1];
            work.order[r] = work.order[r - 1];
        }
        work.nearest[r] = d;
        work.order[r] = static_cast<std::int32_t>(j);
    }
}

template <class T>
void nearest_of_tile(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& centers,
                     const Nearest& out, const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = out.s;
    tile_distances(rows, tile, centers, work);
    if (s == 1) {
        std::int32_t label[lanes];
        T squared[lanes], spare[lanes];
        two_smallest(centers.k, work, label, squared, spare);
        for (std::size_t l = 0; l < tile.count; ++l) {
            out.labels[tile.row[l]] = label[l];
            out.squared[tile.row[l]] = squared[l];
            out.spare[tile.row[l]] = spare[l];
        }
        return;
    }
    for (std::size_t l = 0; l < tile.count; ++l) {
        const std::size_t i = tile.row[l];
        several_smallest(centers.k, s, l, work);
        double sum = 0;
        for (std::size_t r = 0; r < s; ++r) {
            out.labels[i * s + r] = work.order[r];
            out.squared[i * s + r] = work.nearest[r];
            sum += work.nearest[r];
        }
        out.cost[i] = sum;
        out.spare[i] = work.nearest[s];
    }
}

template <class T>
void nearest(const Rows<T>& rows, Range range, const Centers<T>& centers,
             const Nearest& out, const Workspace<T>& work) {
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        nearest_of_tile(rows, tile, centers, out, work);
    });
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
