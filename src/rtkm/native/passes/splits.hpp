// What it costs to lose each center, and a step of two-means inside every cluster.
#pragma once
#include <algorithm>

#include "passes/passes.hpp"

namespace rtkm {

// What the clusters that receive the rows of a lost center save when their means follow:
// rows of mass m that lie a mean offset of o from a center of mass M pull it along by
// o m / (M + m), which takes |o m|^2 / (M + m) off the cost of all.
template <class T>
double saved_by_means(const Rows<T>& rows, const Centers<T>& centers, const double* sums,
                      const double* masses, const double* kept) {
    double saved = 0;
    for (std::size_t j = 0; j < centers.k; ++j) {
        if (!(masses[j] > 0)) continue;
        double square = 0;
        for (std::size_t f = 0; f < rows.p; ++f) {
            const double c = centers.data[j * rows.p + f] - rows.origin[f];
            const double offset = sums[j * padded(rows.p) + f] - masses[j] * c;
            square += offset * offset;
        }
        saved += square / (kept[j] + masses[j]);
    }
    return saved;
}

// What the loss of each center costs, capped: its rows move to their second nearest,
// whose mean follows. (That each center is the mean of what it keeps is true of a
// minimum, and taken for granted.) Where sums for each pair of centers would take too
// much, no mean follows, and the cost is that of the move alone.
template <class T>
void losses(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& centers,
            double cap, double* out) {
    constexpr std::size_t affordable = std::size_t{1} << 21;
    const std::size_t k = centers.k, p = rows.p;
    const std::size_t n_pairs = k * k * (p + 1) <= affordable ? k * k : 0;
    const std::size_t size = 2 * k + n_pairs * (1 + padded(p));
    const auto layout = [&](auto of) {
        const auto pairs = of + 2 * k;
        return MovedRows<decltype(of)>{of, of + k, pairs, pairs + n_pairs, n_pairs > 0};
    };
    SumsOfParts sums(Partition(rows.n, 2 * size), size);
    pass<T>(parallel, sums.partition, rows, k, 1,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().add_moved_rows(rows, range, centers, cap, layout(sums[part]),
                                            work);
            });
    const auto moved = layout(sums.add_up().sums);
    for (std::size_t j = 0; j < k; ++j) {
        out[j] = moved.costs[j];
        if (moved.has_pairs)
            out[j] -= saved_by_means(rows, centers, moved.sums + j * k * padded(p),
                                     moved.masses + j * k, moved.kept);
    }
}

// Moves the halves of all clusters to the means of the rows that are nearer to them;
// halves without rows stay where they are. `costs` are those of the clusters before.
template <class T>
void split_step(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& halves,
                const std::int32_t* labels, double cap, T* means, double* masses,
                double* costs) {
    const std::size_t k = halves.k / 2, p = rows.p;
    const std::size_t size = k + halves.k * (1 + padded(p));
    const auto layout = [&](auto of) {
        return HalfSums<decltype(of)>{of, of + k, of + k + halves.k};
    };
    SumsOfParts sums(Partition(rows.n, 2 * size), size);
    pass<T>(parallel, sums.partition, rows, 2, 0,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().split_step(rows, range, halves, labels, cap,
                                        layout(sums[part]), work);
            });
    const auto found = layout(sums.add_up().sums);
    std::copy_n(found.masses, halves.k, masses);
    std::copy_n(found.costs, k, costs);
    for (std::size_t h = 0; h < halves.k; ++h)
        for (std::size_t f = 0; f < p; ++f) {
            const double sum = found.sums[h * padded(p) + f];
            means[h * p + f] = masses[h] > 0
                                   ? static_cast<T>(rows.origin[f] + sum / masses[h])
                                   : halves.data[h * p + f];
        }
}

}  // namespace rtkm
