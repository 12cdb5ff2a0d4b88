// Compiled once for each instruction set: RTKM_ISA names the namespace.
#include "kernels.hpp"
#include "nearest.hpp"
#include "pairs.hpp"
#include "proximal.hpp"
#include "sums.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

template <class T>
inline void add_to_its_centers(const Rows<T>& rows, std::size_t row, double weight,
                               const Nearest& nearest, const Sums& sums) {
    for (std::size_t r = 0; r < nearest.s; ++r) {
        const std::size_t j = nearest.labels[row * nearest.s + r];
        sums.masses[j] += weight;
        add_row(rows, row, weight, sums.rows + j * rows.p);
    }
}

// Branches on the cost would be gambles, so there are none: an undecided row is written
// and only then counted, and a row that is not sure is summed in a slot of its own.
// Everything is passed by value: what the compiler can see whole it keeps in registers.
template <class T, std::size_t S>
inline void sum_sure_rows(const Rows<T> rows, Range range, const Nearest nearest,
                          const Window window, std::size_t k, std::uint8_t* kept,
                          Undecided& undecided, Sums& sums) {
    const std::size_t s = S ? S : nearest.s;
    std::uint32_t* open = undecided.rows + undecided.n;
    double* const sum = sums.rows;
    double* const masses = sums.masses;
    const double counted[2] = {0.0, 1.0};
    double total = sums.cost;
    for (std::size_t i = range.first; i < range.last; ++i) {
        const double cost = nearest.cost[i], weight = rows.weight(i);
        const std::size_t sure = cost < window.sure;
        kept[i] = static_cast<std::uint8_t>(sure);
        *open = static_cast<std::uint32_t>(i);
        open += (1 - sure) & (cost < window.ceiling);
        total += counted[sure] * weight * cost;
        for (std::size_t r = 0; r < s; ++r) {
            const std::size_t j = k - ((k - nearest.labels[i * s + r]) & (0 - sure));
            masses[j] += weight;
            add_row(rows, i, weight, sum + j * rows.p);
        }
    }
    sums.cost = total;
    undecided.n = open - undecided.rows;
}

template <class T>
void sum_sure(const Rows<T>& rows, Range range, const Nearest& nearest,
              const Window& window, std::size_t k, std::uint8_t* kept,
              Undecided& undecided, Sums& sums) {
    if (nearest.s == 1)
        sum_sure_rows<T, 1>(rows, range, nearest, window, k, kept, undecided, sums);
    else
        sum_sure_rows<T, 0>(rows, range, nearest, window, k, kept, undecided, sums);
}

template <class T>
void settle(const Rows<T>& rows, Range range, const Undecided& undecided,
            const Nearest& nearest, const Cut& cut, std::uint8_t* kept, Sums& sums) {
    for (std::size_t u = range.first; u < range.last; ++u) {
        const std::size_t i = undecided.rows[u];
        const double cost = nearest.cost[i];
        kept[i] = cut.keeps(cost, i);
        if (!kept[i]) continue;
        const double weight = rows.weight(i) * (i == cut.row ? cut.share : 1.0);
        sums.cost += weight * cost;
        add_to_its_centers(rows, i, weight, nearest, sums);
    }
}

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

// A row with costs d_1 <= .. <= d_s and spare d_(s+1) that meets a candidate at dx costs
// min(cost, cost - d_s + dx), and min(cost, cost - d_j + min(dx, spare)) if j goes.
template <class T>
void swap_gains(const Rows<T>& rows, Range range, const Centers<T>& candidates,
                const Nearest& state, double cap, std::size_t k, double* gains,
                const Workspace<T>& work) {
    const std::size_t s = state.s;
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        tile_distances(rows, tile, candidates, work);
        for (std::size_t l = 0; l < tile.count; ++l) {
            const std::size_t i = tile.row[l];
            const double weight = rows.weight(i), cost = state.cost[i];
            const double spare = state.spare[i], farthest = state.squared[i * s + s - 1];
            const double now = smaller(cost, cap);
            for (std::size_t c = 0; c < candidates.k; ++c) {
                const double dx = work.distances[c * tile_rows<T> + l];
                double* gain = gains + c * (k + 1);
                double with = now;
                if (dx < farthest) {
                    with = smaller(cost - farthest + dx, cap);
                    gain[k] += weight * (with - now);
                }
                if (cost >= cap && with >= cap) continue;  // trimmed before and after
                for (std::size_t r = 0; r < s; ++r) {
                    const double lost = cost - state.squared[i * s + r];
                    const double without = smaller(lost + smaller(dx, spare), cap);
                    gain[state.labels[i * s + r]] += weight * (without - with);
                }
            }
        }
    });
}

template <class T>
void weighted_sums(const Rows<T>& rows, Range range, const double* weights,
                   std::size_t k, Sums& sums) {
    for (std::size_t i = range.first; i < range.last; ++i)
        add_to_all_centers(rows, i, rows.weight(i), weights + i * k, k, sums);
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
        for (; f + 4 <= rows.p; f += 4) sum += load(residual + f) * load(residual + f);
        double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (; f < rows.p; ++f) total += residual[f] * residual[f];
        out[i] = total;
    }
}

template <class T>
constexpr Kernels<T> table(const char* name) {
    return {name, nearest<T>, follow<T>, sum_sure<T>, settle<T>, distances<T>, lower<T>,
            swap_gains<T>, weighted_sums<T>, residuals<T>, mean_pair_distances<T>,
            closest<T>, stay<T>, relax<T>, sum_weighted<T>};
}

#define RTKM_TEXT2(x) #x
#define RTKM_TEXT(x) RTKM_TEXT2(x)

}  // namespace

extern const Kernels<float> kernels32 = table<float>(RTKM_TEXT(RTKM_ISA));
extern const Kernels<double> kernels64 = table<double>(RTKM_TEXT(RTKM_ISA));

}  // namespace RTKM_ISA
}  // namespace rtkm
