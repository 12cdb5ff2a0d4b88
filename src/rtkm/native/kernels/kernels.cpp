// Compiled once for each instruction set: RTKM_ISA names the namespace.
#include "kernels/kernels.hpp"

#include "kernels/bounded_pass.hpp"
#include "kernels/lines.hpp"
#include "kernels/nearest.hpp"
#include "kernels/pairs.hpp"
#include "kernels/proximal_step.hpp"
#include "kernels/splits.hpp"
#include "kernels/sums.hpp"
#include "kernels/swaps.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

template <class T>
void distances(const Rows<T>& rows, Range range, const Centers<T>& centers, T* out,
               const Workspace<T>& work) {
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        tile_distances(rows, tile, centers, work);
        for (std::size_t l = 0; l < tile.count; ++l)
            for (std::size_t j = 0; j < centers.k; ++j)
                out[tile.row[l] * centers.k + j] = work.distances[j * tile_rows<T> + l];
    });
}

template <class T>
void lower(const Rows<T>& rows, Range range, const Centers<T>& center, double* cost,
           const Workspace<T>& work) {
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        tile_distances(rows, tile, center, work);
        for (std::size_t l = 0; l < tile.count; ++l)
            cost[tile.row[l]] = smaller(cost[tile.row[l]], work.distances[l]);
    });
}

template <class T>
void weighted_sums(const Rows<T>& rows, Range range, const double* weights, std::size_t k,
                   const ExactSums& sums) {
    for (std::size_t i = range.first; i < range.last; ++i)
        for (std::size_t j = 0; j < k; ++j) {
            const double part = rows.weight(i) * weights[i * k + j];
            if (part == 0) continue;
            sums.add(j, part);
            add_exactly(rows, i, part, nullptr, sums + k + j * padded(rows.p));
        }
}

template <class T>
void residuals(const Rows<T>& rows, Range range, const double* weights,
               const Centers<T>& centers, double* residual, double* out) {
    const Rows<T> center_rows{centers.data, centers.k, centers.p};
    for (std::size_t i = range.first; i < range.last; ++i) {
        __builtin_memset(residual, 0, rows.p * sizeof(double));
        for (std::size_t j = 0; j < centers.k; ++j) {
            const double weight = weights[i * centers.k + j];
            if (weight != 0) add_row(center_rows, j, weight, residual);
        }
        add_row(rows, i, -1.0, residual);
        Vec<double> sum = {};
        std::size_t f = 0;
        for (; f + 4 <= rows.p; f += 4) {
            const Vec<double> four = load(residual + f);
            sum = multiply_add(four, four, sum);
        }
        double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (; f < rows.p; ++f) total = multiply_add(residual[f], residual[f], total);
        out[i] = total;
    }
}

template <class T>
constexpr Kernels<T> table(const char* name) {
    return {name,
            nearest<T>,
            bounded_pass<T>,
            settle<T>,
            join<T>,
            sum_kept<T>,
            add_kept_cost<T>,
            distances<T>,
            lower<T>,
            swap_changes<T>,
            add_moved_rows<T>,
            split_step<T>,
            count_along_lines<T>,
            weighted_sums<T>,
            residuals<T>,
            mean_pair_distances<T>,
            closest<T>,
            proximal_step<T>,
            settle_proximal<T>};
}

#define RTKM_TEXT2(x) #x
#define RTKM_TEXT(x) RTKM_TEXT2(x)

}  // namespace

extern const Kernels<float> kernels32 = table<float>(RTKM_TEXT(RTKM_ISA));
extern const Kernels<double> kernels64 = table<double>(RTKM_TEXT(RTKM_ISA));

}  // namespace RTKM_ISA
}  // namespace rtkm
