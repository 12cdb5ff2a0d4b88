// The nearest centers of rows, from all distances; for kernels.cpp alone.
#pragma once
#include "kernels/tiles.hpp"

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
            const Vec<T> loser = choose(closer, low, d);
            second = choose(loser < second, loser, second);
            low = choose(closer, d, low);
            low_at = choose(closer, static_cast<Int>(j) - Mask<T>{}, low_at);
        }
        store(smallest + half, low);
        store(next + half, second);
        for (std::size_t l = 0; l < w; ++l)
            label[half + l] = static_cast<std::int32_t>(low_at[l]);
    }
}

// The s + 1 smallest of k distances, lane by lane, into work.nearest, and the numbers of
// their centers into work.order; ties go to the lowest number. Each distance is passed
// down the sorted ones: from the first that is larger on, all move by one place.
template <class T>
inline void several_smallest(std::size_t k, std::size_t s, const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    for (std::size_t half = 0; half < lanes; half += w) {
        T* const held = work.nearest + half;
        T* const number = work.order + half;
        for (std::size_t r = 0; r <= s; ++r) {
            store(held + r * lanes, broadcast(std::numeric_limits<T>::infinity()));
            store(number + r * lanes, Vec<T>{});
        }
        for (std::size_t j = 0; j < k; ++j) {
            const Vec<T> d = load(work.distances + j * lanes + half);
            if (!any(d < load(held + s * lanes))) continue;
            Vec<T> passed = d, label = broadcast(static_cast<T>(j));
            Mask<T> moves = {};
            for (std::size_t r = 0; r <= s * lanes; r += lanes) {
                const Vec<T> there = load(held + r), its_label = load(number + r);
                moves |= d < there;
                store(held + r, choose(moves, passed, there));
                store(number + r, choose(moves, label, its_label));
                passed = choose(moves, there, passed);
                label = choose(moves, its_label, label);
            }
        }
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
    several_smallest(centers.k, s, work);
    for (std::size_t l = 0; l < tile.count; ++l) {
        const std::size_t i = tile.row[l];
        double sum = 0;
        for (std::size_t r = 0; r < s; ++r) {
            out.labels[i * s + r] = static_cast<std::int32_t>(work.order[r * lanes + l]);
            out.squared[i * s + r] = work.nearest[r * lanes + l];
            sum += work.nearest[r * lanes + l];
        }
        out.cost[i] = sum;
        out.spare[i] = work.nearest[s * lanes + l];
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
