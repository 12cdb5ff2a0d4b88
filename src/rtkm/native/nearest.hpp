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
inline void lower_spares(const T* const* row, std::size_t first, const Centers<T>& centers,
                         const Drift& drift, const Nearest& last, double* spare) {
    constexpr std::size_t lanes = tile_rows<T>;
    for (std::size_t l = 0; l < lanes; l += width<double>) {
        const Vec<double> reach =
            root(load(last.spare + first + l)) * drift.trust - drift.rest;
        store(spare + l, reach > 0 ? reach * reach : Vec<double>{});
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
                is_own |= last.labels[(first + l) * last.s + r] == drift.movers[m];
            if (!is_own) spare[l] = smaller(spare[l], squared[l]);
        }
    }
}

// Puts a row's own centers into the order of their distances, and adds these up.
template <class T>
inline void sort_own(const std::int32_t* own, const T* squared, std::size_t i,
                     const Nearest& out) {
    const std::size_t s = out.s;
    std::int32_t* const labels = out.labels + i * s;
    double* const sorted = out.squared + i * s;
    for (std::size_t r = 0; r < s; ++r) {
        const std::int32_t label = own[r];
        const double d = squared[r * tile_rows<T>];
        std::size_t at = r;
        for (; at > 0; --at) {
            const bool comes_later =
                d < sorted[at - 1] || (d == sorted[at - 1] && label < labels[at - 1]);
            if (!comes_later) break;
            sorted[at] = sorted[at - 1];
            labels[at] = labels[at - 1];
        }
        sorted[at] = d;
        labels[at] = label;
    }
    double cost = 0;
    for (std::size_t r = 0; r < s; ++r) cost += sorted[r];
    out.cost[i] = cost;
}

// Updates a tile's rows, all of whose own centers are measured; lists those of which it
// is not certain that these are still the nearest. So every number but the spare is
// that of a pass without bounds. Structures come by value: what the compiler can see
// whole it keeps in registers.
template <class T>
inline std::size_t follow_tile(const Rows<T> rows, std::size_t first,
                               const Centers<T> centers, const Drift& drift,
                               const Nearest last, const Nearest out,
                               const Workspace<T> work, std::uint32_t* open) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = out.s, p = rows.p;
    const double trust = drift.trust;
    const T *row[lanes], *own[lanes];
    double spare[lanes];
    for (std::size_t l = 0; l < lanes; ++l) row[l] = rows.data + (first + l) * p;
    for (std::size_t r = 0; r < s; ++r) {
        for (std::size_t l = 0; l < lanes; ++l)
            own[l] = centers.data + last.labels[(first + l) * s + r] * p;
        paired_distances(row, own, p, work.distances + r * lanes);
    }
    lower_spares(row, first, centers, drift, last, spare);
    if (s == 1) {
        __builtin_memmove(out.labels + first, last.labels + first, lanes * 4);
        for (std::size_t l = 0; l < lanes; ++l) out.squared[first + l] = work.distances[l];
    } else {
        for (std::size_t i = first; i < first + lanes; ++i)
            sort_own(last.labels + i * s, work.distances + (i - first), i, out);
    }
    __builtin_memcpy(out.spare + first, spare, sizeof spare);
    std::size_t n_open = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
        open[n_open] = static_cast<std::uint32_t>(first + l);
        n_open += !(out.squared[(first + l) * s + s - 1] < trust * spare[l]);
    }
    return n_open;
}

// The nearest centers from those of the last pass: only rows that may have changed meet
// all centers, and those that do not fill a tile.
template <class T>
void follow(const Rows<T>& rows, Range range, const Centers<T>& centers,
            const Drift& drift, const Nearest& last, const Nearest& out,
            const Workspace<T>& work) {
    std::uint32_t open[follow_rows + tile_rows<T>];
    for (std::size_t i = range.first; i < range.last;) {
        const std::size_t left = range.last - i;
        const std::size_t end = i + (left < follow_rows ? left : follow_rows);
        std::size_t n_open = 0;
        for (; i + tile_rows<T> <= end; i += tile_rows<T>)
            n_open += follow_tile(rows, i, centers, drift, last, out, work, open + n_open);
        for (; i < end; ++i) open[n_open++] = static_cast<std::uint32_t>(i);
        for (std::size_t u = 0; u < n_open; u += tile_rows<T>)
            nearest_of_tile(rows, Tile<T>(open + u, n_open - u), centers, out, work);
    }
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
