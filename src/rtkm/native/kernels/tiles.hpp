// Squared distances of tiles, a few rows at a time, for kernels.cpp alone.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// The numbers of the rows in a tile. A short tile repeats its last row, so that no lane
// ever holds rubbish.
template <class T>
struct Tile {
    std::uint32_t row[tile_rows<T>];
    std::size_t count;

    // The next rows of a range, from `first` on.
    Tile(std::size_t first, std::size_t last) {
        count = last - first < tile_rows<T> ? last - first : tile_rows<T>;
        for (std::size_t l = 0; l < tile_rows<T>; ++l)
            row[l] = static_cast<std::uint32_t>(first + (l < count ? l : count - 1));
    }
    // The next of some listed rows.
    Tile(const std::uint32_t* listed, std::size_t n) {
        count = n < tile_rows<T> ? n : tile_rows<T>;
        for (std::size_t l = 0; l < tile_rows<T>; ++l)
            row[l] = listed[l < count ? l : count - 1];
    }
};

template <class T, class Body>
inline void for_each_tile(Range range, Body body) {
    for (std::size_t first = range.first; first < range.last; first += tile_rows<T>)
        body(Tile<T>(first, range.last));
}

// A packed tile holds feature after feature, each of all its rows.
template <class T>
void pack_dense(const Rows<T>& rows, const Tile<T>& tile, T* packed) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    const T* row[lanes];
    for (std::size_t l = 0; l < lanes; ++l) row[l] = rows.data + tile.row[l] * rows.p;
    std::size_t f = 0;
    for (; f + w <= rows.p; f += w)
        for (std::size_t half = 0; half < lanes; half += w) {
            Vec<T> v[w];
            for (std::size_t l = 0; l < w; ++l) v[l] = load(row[half + l] + f);
            transpose(v);
            for (std::size_t l = 0; l < w; ++l)
                store(packed + (f + l) * lanes + half, v[l]);
        }
    for (; f < rows.p; ++f)
        for (std::size_t l = 0; l < lanes; ++l) packed[f * lanes + l] = row[l][f];
}

template <class T>
void pack_csr(const Rows<T>& rows, const Tile<T>& tile, T* packed) {
    constexpr std::size_t lanes = tile_rows<T>;
    __builtin_memset(packed, 0, rows.p * lanes * sizeof(T));
    for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t row = tile.row[l];
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
            packed[rows.indices[e] * lanes + l] = rows.data[e];
    }
}

// Squared distances of a tile to G centers, summed from differences: next to the fused
// multiply-add the subtraction is free, and rows far from the origin keep their digits.
template <class T, int G>
void group_distances(const T* tile, const T* center, std::size_t p, T* out) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    Vec<T> sum[G][2] = {};
    for (std::size_t f = 0; f < p; ++f) {
        const Vec<T> x0 = load(tile + f * lanes), x1 = load(tile + f * lanes + w);
        for (int g = 0; g < G; ++g) {
            const Vec<T> c = broadcast(center[g * p + f]);
            const Vec<T> d0 = x0 - c, d1 = x1 - c;
            sum[g][0] = multiply_add(d0, d0, sum[g][0]);
            sum[g][1] = multiply_add(d1, d1, sum[g][1]);
        }
    }
    for (int g = 0; g < G; ++g) {
        store(out + g * lanes, sum[g][0]);
        store(out + g * lanes + w, sum[g][1]);
    }
}

// Below a quarter of the entries the detour over the norms pays. It is taken row by row,
// so that the answer for a row does not depend on its neighbors.
template <class T>
bool is_very_sparse(const Rows<T>& rows, std::size_t row) {
    const std::size_t entries = rows.indptr[row + 1] - rows.indptr[row];
    return 4 * entries < rows.p;
}

// Only the entries that are there are visited; what the zeros contribute is the rest of
// the center's squared norm, subtracted with twice the digits.
template <class T>
void sparse_distances(const Rows<T>& rows, std::size_t row, const Centers<T>& centers,
                      T* out) {
    for (std::size_t j = 0; j < centers.k; ++j) {
        const T* c = centers.data + j * centers.p;
        const double* squares = centers.squares + j * centers.p;
        double there = 0;
        Exact covered;
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e) {
            const double d = rows.data[e] - c[rows.indices[e]];
            there = multiply_add(d, d, there);
            covered.add(squares[rows.indices[e]]);
        }
        const double rest = centers.squared_norms[j].minus(covered);
        out[j * tile_rows<T>] = static_cast<T>(there + (rest > 0 ? rest : 0));
    }
}

// Squared distances of a packed tile to all centers, in groups of up to four, which is
// what the registers hold, and as even as can be, so that none leaves them idle.
template <class T>
void packed_distances(const Centers<T>& centers, const Workspace<T>& work) {
    const std::size_t n_groups = (centers.k + 3) / 4, p = centers.p;
    const T* c = centers.data;
    T* out = work.distances;
    for (std::size_t g = 0; g < n_groups; ++g) {
        const std::size_t size = centers.k / n_groups + (g < centers.k % n_groups);
        switch (size) {
            case 4: group_distances<T, 4>(work.tile, c, p, out); break;
            case 3: group_distances<T, 3>(work.tile, c, p, out); break;
            case 2: group_distances<T, 2>(work.tile, c, p, out); break;
            case 1: group_distances<T, 1>(work.tile, c, p, out); break;
        }
        c += size * p;
        out += size * tile_rows<T>;
    }
}

template <class T>
void csr_distances(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& centers,
                   const Workspace<T>& work) {
    std::size_t n_sparse = 0;
    for (std::size_t l = 0; l < tile.count; ++l)
        n_sparse += is_very_sparse(rows, tile.row[l]);
    if (n_sparse < tile.count) {
        pack_csr(rows, tile, work.tile);
        packed_distances(centers, work);
    }
    for (std::size_t l = 0; l < tile.count; ++l)
        if (is_very_sparse(rows, tile.row[l]))
            sparse_distances(rows, tile.row[l], centers, work.distances + l);
    for (std::size_t l = tile.count; l < tile_rows<T>; ++l)  // as in a packed tile
        for (std::size_t j = 0; j < centers.k * tile_rows<T>; j += tile_rows<T>)
            work.distances[j + l] = work.distances[j + tile.count - 1];
}

// Leaves the k x lanes squared distances of a tile in work.distances.
template <class T>
void tile_distances(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& centers,
                    const Workspace<T>& work) {
    if (rows.is_csr()) return csr_distances(rows, tile, centers, work);
    pack_dense(rows, tile, work.tile);
    packed_distances(centers, work);
}

// Squared distances of each row of a tile to a center of its own. Differences are turned
// rather than packed, and summed feature after feature as in group_distances, so that
// both give the same bits.
template <class T>
void paired_distances(const T* const* row, const T* const* center, std::size_t p,
                      T* out) {
    constexpr std::size_t w = width<T>;
    for (std::size_t half = 0; half < tile_rows<T>; half += w) {
        const T* const* x = row + half;
        const T* const* c = center + half;
        Vec<T> sum = {}, d[w];
        std::size_t f = 0;
        for (; f + w <= p; f += w) {
            for (std::size_t l = 0; l < w; ++l) d[l] = load(x[l] + f) - load(c[l] + f);
            transpose(d);
            for (std::size_t l = 0; l < w; ++l) sum = multiply_add(d[l], d[l], sum);
        }
        if (f < p && p >= w) {  // the last features, some of them for a second time
            for (std::size_t l = 0; l < w; ++l)
                d[l] = load(x[l] + p - w) - load(c[l] + p - w);
            transpose(d);
            for (std::size_t l = w - (p - f); l < w; ++l)
                sum = multiply_add(d[l], d[l], sum);
            f = p;
        }
        for (; f < p; ++f) {
            for (std::size_t l = 0; l < w; ++l) d[0][l] = x[l][f] - c[l][f];
            sum = multiply_add(d[0], d[0], sum);
        }
        store(out + half, sum);
    }
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
