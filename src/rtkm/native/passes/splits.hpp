// What it costs to lose each center, and a step of two-means inside every cluster.
#pragma once
#include <algorithm>

#include "passes/passes.hpp"

namespace rtkm {

// What the clusters that receive the rows of a lost center save when their means follow:
// rows of mass m that lie a mean offset of o from a center of mass M pull it along by
// o m / (M + m), which takes |o m|^2 / (M + m) off the cost of all.
template <class T>
double saved_by_means(const Centers<T>& centers, const double* origin, const double* sums,
                      const double* masses, const double* kept) {
    const std::size_t p = centers.p;
    double saved = 0;
    for (std::size_t j = 0; j < centers.k; ++j) {
        if (!(masses[j] > 0)) continue;
        double square = 0;
        for (std::size_t f = 0; f < p; ++f) {
            const double c = centers.data[j * p + f] - origin[f];
            const double offset = sums[j * padded(p) + f] - masses[j] * c;
            square += offset * offset;
        }
        saved += square / (kept[j] + masses[j]);
    }
    return saved;
}

// How the sums of rows that lose their center are laid out. Where those of each pair of
// centers would take too much there are none.
struct MovedLayout {
    std::size_t k, p, n_pairs;

    MovedLayout(std::size_t k, std::size_t p) : k(k), p(p) {
        constexpr std::size_t affordable = std::size_t{1} << 21;
        n_pairs = k * k * (p + 1) <= affordable ? k * k : 0;
    }
    std::size_t size() const { return 2 * k + n_pairs * (1 + padded(p)); }
    template <class Sums>
    MovedRows<Sums> operator()(Sums of) const {
        const auto pairs = of + 2 * k;
        return {of, of + k, pairs, pairs + n_pairs, n_pairs > 0};
    }
};

// Adds up the rows that would move to their second nearest center without the first.
template <class T>
void moved_rows(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& centers,
                double cap, double* out) {
    const MovedLayout layout(centers.k, rows.p);
    SumsOfParts sums(Partition(rows.n, 2 * layout.size()), layout.size());
    pass<T>(parallel, sums.partition, rows, centers.k, 1,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().add_moved_rows(rows, range, centers, cap, layout(sums[part]),
                                            work);
            });
    sums.add_up_into(out);
}

// What the loss of each center costs, capped: its rows move to their second nearest,
// whose mean follows. (That each center is the mean of what it keeps is true of a
// minimum, and taken for granted.) Without sums for each pair of centers no mean follows,
// and the cost is that of the move alone.
template <class T>
void losses(const double* sums, const Centers<T>& centers, const double* origin,
            double* out) {
    const MovedLayout layout(centers.k, centers.p);
    const MovedRows<const double*> moved = layout(sums);
    for (std::size_t j = 0; j < centers.k; ++j) {
        out[j] = moved.costs[j];
        if (moved.has_pairs)
            out[j] -= saved_by_means(centers, origin,
                                     moved.sums + j * centers.k * padded(centers.p),
                                     moved.masses + j * centers.k, moved.kept);
    }
}

// How the sums of the halves of k clusters are laid out.
struct HalvesLayout {
    std::size_t k, p;

    std::size_t size() const { return k + 2 * k * (1 + padded(p)); }
    template <class Sums>
    HalfSums<Sums> operator()(Sums of) const {
        return {of, of + k, of + 3 * k};
    }
};

// Adds up the rows that are nearer to each half of their cluster.
template <class T>
void half_sums(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& halves,
               const std::int32_t* labels, double cap, double* out) {
    const HalvesLayout layout{halves.k / 2, rows.p};
    SumsOfParts sums(Partition(rows.n, 2 * layout.size()), layout.size());
    pass<T>(parallel, sums.partition, rows, 2, 0,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().split_step(rows, range, halves, labels, cap,
                                        layout(sums[part]), work);
            });
    sums.add_up_into(out);
}

// Moves the halves of all clusters to the means of the rows that are nearer to them;
// halves without rows stay where they are. `costs` are those of the clusters before.
template <class T>
void half_means(const double* sums, const Centers<T>& halves, const double* origin,
                T* means, double* masses, double* costs) {
    const std::size_t p = halves.p;
    const HalvesLayout layout{halves.k / 2, p};
    const HalfSums<const double*> found = layout(sums);
    std::copy_n(found.masses, halves.k, masses);
    std::copy_n(found.costs, layout.k, costs);
    for (std::size_t h = 0; h < halves.k; ++h)
        for (std::size_t f = 0; f < p; ++f) {
            const double sum = found.sums[h * padded(p) + f];
            means[h * p + f] = masses[h] > 0 ? static_cast<T>(origin[f] + sum / masses[h])
                                             : halves.data[h * p + f];
        }
}

}  // namespace rtkm
