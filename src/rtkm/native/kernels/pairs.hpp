// Distances between two rows, for kernels.cpp alone: detectors look at pairs of rows
// that lie anywhere in a table, where tiles have nothing to hold on to.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

template <class T>
inline T squared_distance(const T* a, const T* b, std::size_t p) {
    constexpr std::size_t w = width<T>;
    Vec<T> sums = {};
    std::size_t f = 0;
    for (; f + w <= p; f += w) {
        const Vec<T> d = load(a + f) - load(b + f);
        sums = multiply_add(d, d, sums);
    }
    T sum = 0;
    for (std::size_t l = 0; l < w; ++l) sum += sums[l];
    for (std::size_t l = 0; l + 1 < w && f < p; ++l, ++f)
        sum = multiply_add(a[f] - b[f], a[f] - b[f], sum);
    return sum;
}

template <class T>
inline double csr_squared_distance(const Rows<T>& rows, std::size_t a, std::size_t b) {
    auto i = rows.indptr[a], j = rows.indptr[b];
    const auto i_end = rows.indptr[a + 1], j_end = rows.indptr[b + 1];
    double sum = 0;
    while (i < i_end || j < j_end) {
        const auto f = i < i_end ? rows.indices[i] : INT32_MAX;
        const auto g = j < j_end ? rows.indices[j] : INT32_MAX;
        double d = 0;
        if (f <= g) d += rows.data[i++];
        if (g <= f) d -= rows.data[j++];
        sum = multiply_add(d, d, sum);
    }
    return sum;
}

template <class T>
void mean_pair_distances(const Rows<T>& rows, Range range, const std::int64_t* neighbors,
                         std::size_t k, double* out) {
    for (std::size_t i = range.first; i < range.last; ++i) {
        const std::int64_t* near = neighbors + i * k;
        double sum = 0;
        for (std::size_t a = 1; a < k; ++a)
            for (std::size_t b = 0; b < a; ++b)
                sum += __builtin_sqrt(rows.is_csr()
                                          ? csr_squared_distance(rows, near[a], near[b])
                                          : squared_distance(rows.data + near[a] * rows.p,
                                                             rows.data + near[b] * rows.p,
                                                             rows.p));
        out[i] = 2 * sum / (static_cast<double>(k) * static_cast<double>(k - 1));
    }
}

template <class T>
Closest closest(const T* x, const Centers<T>& centers) {
    Closest best;
    for (std::size_t j = 0; j < centers.k; ++j) {
        const double d = squared_distance(x, centers.data + j * centers.p, centers.p);
        if (d < best.squared) best = {j, d};
    }
    return best;
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
