// The nearest centers of rows, for kernels.cpp alone: from all distances, or from those
// of the last pass where they still tell.
#pragma once
#include "tiles.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

inline double smaller(double a, double b) { return a < b ? a : b; }

// The two smallest of k distances, lane by lane; ties go to the lowest number.
template <class T>
void two_smallest(const Tile<T>& tile, std::size_t k, const Nearest& out,
                  const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    using Int = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    T best[lanes], second[lanes];
    Int label[lanes];
    for (std::size_t half = 0; half < lanes; half += w) {
        Vec<T> low = broadcast(std::numeric_limits<T>::infinity()), next = low;
        Mask<T> low_at = {};
        for (std::size_t j = 0; j < k; ++j) {
            const Vec<T> d = load(work.distances + j * lanes + half);
            const Mask<T> closer = d < low;
            const Vec<T> loser = closer ? low : d;
            next = loser < next ? loser : next;
            low = closer ? d : low;
            low_at = closer ? static_cast<Int>(j) - Mask<T>{} : low_at;
        }
        store(best + half, low);
        store(second + half, next);
        __builtin_memcpy(label + half, &low_at, sizeof low_at);
    }
    for (std::size_t l = 0; l < tile.count; ++l) {
        const std::size_t i = tile.row[l];
        out.labels[i] = static_cast<std::int32_t>(label[l]);
        out.squared[i] = best[l];
        out.spare[i] = second[l];
    }
}

// The s + 1 smallest of k distances, by insertion; ties go to the lowest number.
template <class T>
void several_smallest(const Tile<T>& tile, std::size_t k, const Nearest& out,
                      const Workspace<T>& work) {
    const std::size_t s = out.s;
    for (std::size_t l = 0; l < tile.count; ++l) {
        for (std::size_t r = 0; r <= s; ++r)
            work.nearest[r] = std::numeric_limits<T>::infinity();
        for (std::size_t j = 0; j < k; ++j) {
            const T d = work.distances[j * tile_rows<T> + l];
            if (!(d < work.nearest[s])) continue;
            std::size_t r = s;
            for (; r > 0 && d < work.nearest[r - 1]; --r) {
                work.nearest[r] = work.nearest[r - 1];
                work.order[r] = work.order[r - 1];
            }
            work.nearest[r] = d;
            work.order[r] = static_cast<std::int32_t>(j);
        }
        const std::size_t i = tile.row[l];
        double cost = 0;
        for (std::size_t r = 0; r < s; ++r) {
            out.labels[i * s + r] = work.order[r];
            out.squared[i * s + r] = work.nearest[r];
            cost += work.nearest[r];
        }
        out.cost[i] = cost;
        out.spare[i] = work.nearest[s];
    }
}

template <class T>
void nearest_of_tile(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& centers,
                     const Nearest& out, const Workspace<T>& work) {
    tile_distances(rows, tile, centers, work);
    if (out.s == 1)
        two_smallest(tile, centers.k, out, work);
    else
        several_smallest(tile, centers.k, out, work);
}

template <class T>
void nearest(const Rows<T>& rows, Range range, const Centers<T>& centers,
             const Nearest& out, const Workspace<T>& work) {
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        nearest_of_tile(rows, tile, centers, out, work);
    });
}

// Lower bounds for the squared distances of all centers but a row's own. Centers that
// went far are measured; the others came closer by at most `drift.rest`.
template <class T>
void lower_spares(const T* const* row, const Tile<T>& tile, const Centers<T>& centers,
                  const Drift& drift, const Nearest& last, double* spare) {
    constexpr std::size_t lanes = tile_rows<T>;
    for (std::size_t l = 0; l < lanes; ++l) {
        const double root = __builtin_sqrt(last.spare[tile.row[l]]);
        const double reach = root * drift.trust - drift.rest;
        spare[l] = reach > 0 ? reach * reach : 0.0;
    }
    for (std::size_t m = 0; m < drift.n_movers; ++m) {
        const T* center[lanes];
        T squared[lanes];
        for (std::size_t l = 0; l < lanes; ++l)
            center[l] = centers.data + drift.movers[m] * centers.p;
        paired_distances(row, center, centers.p, squared);
        for (std::size_t l = 0; l < lanes; ++l) {
            bool is_own = false;
            for (std::size_t r = 0; r < last.s; ++r)
                is_own |= last.labels[tile.row[l] * last.s + r] == drift.movers[m];
            if (!is_own) spare[l] = smaller(spare[l], squared[l]);
        }
    }
}

// Puts the distances of a row to its own s centers into order, and adds them up.
template <class T>
double sort_own(const Nearest& last, std::size_t i, const T* squared, const Nearest& out) {
    const std::size_t s = out.s;
    for (std::size_t r = 0; r < s; ++r) {
        const std::int32_t label = last.labels[i * s + r];
        const double d = squared[r * tile_rows<T>];
        std::size_t at = r;
        for (; at > 0; --at) {
            const double before = out.squared[i * s + at - 1];
            const std::int32_t number = out.labels[i * s + at - 1];
            if (before < d || (before == d && number < label)) break;
            out.squared[i * s + at] = before;
            out.labels[i * s + at] = number;
        }
        out.squared[i * s + at] = d;
        out.labels[i * s + at] = label;
    }
    double cost = 0;
    for (std::size_t r = 0; r < s; ++r) cost += out.squared[i * s + r];
    return cost;
}

// Updates the rows of a tile whose own centers are certainly still the nearest, and
// lists the others. Own distances are computed in either case, so every number but the
// spare is that of a pass without bounds.
template <class T>
std::size_t follow_tile(const Rows<T>& rows, const Tile<T>& tile,
                        const Centers<T>& centers, const Drift& drift,
                        const Nearest& last, const Nearest& out, const Workspace<T>& work,
                        std::uint32_t* open) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = out.s, p = rows.p;
    const T *row[lanes], *own[lanes];
    double spare[lanes];
    for (std::size_t l = 0; l < lanes; ++l) row[l] = rows.data + tile.row[l] * p;
    for (std::size_t r = 0; r < s; ++r) {
        for (std::size_t l = 0; l < lanes; ++l)
            own[l] = centers.data + last.labels[tile.row[l] * s + r] * p;
        paired_distances(row, own, p, work.distances + r * lanes);
    }
    lower_spares(row, tile, centers, drift, last, spare);
    std::size_t n_open = 0;
    for (std::size_t l = 0; l < tile.count; ++l) {
        const std::size_t i = tile.row[l];
        out.cost[i] = sort_own(last, i, work.distances + l, out);
        out.spare[i] = spare[l];
        open[n_open] = static_cast<std::uint32_t>(i);
        n_open += !(out.squared[i * s + s - 1] < drift.trust * spare[l]);
    }
    return n_open;
}

// The nearest centers from those of the last pass: only rows that may have changed meet
// all centers.
template <class T>
void follow(const Rows<T>& rows, Range range, const Centers<T>& centers,
            const Drift& drift, const Nearest& last, const Nearest& out,
            const Workspace<T>& work) {
    std::uint32_t open[follow_rows];
    for (std::size_t i = range.first; i < range.last; i += follow_rows) {
        const std::size_t left = range.last - i;
        std::size_t n_open = 0;
        for_each_tile<T>({i, i + (left < follow_rows ? left : follow_rows)},
                         [&](const Tile<T>& tile) {
                             n_open += follow_tile(rows, tile, centers, drift, last, out,
                                                   work, open + n_open);
                         });
        for (std::size_t u = 0; u < n_open; u += tile_rows<T>)
            nearest_of_tile(rows, Tile<T>(open + u, n_open - u), centers, out, work);
    }
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
