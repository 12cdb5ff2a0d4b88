// What it costs to lose each center, and a step of two-means inside every cluster.
#pragma once
#include <algorithm>

#include "passes/passes.hpp"

namespace rtkm {

// Sums of all parts, in their order.
class SumsOfParts {
public:
    SumsOfParts(std::size_t n_parts, std::size_t size)
        : parts_(n_parts, std::vector<double>(size)) {}
    double* operator[](std::size_t part) { return parts_[part].data(); }
    // Into those of the first part.
    void add_up() {
        for (std::size_t part = 1; part < parts_.size(); ++part)
            for (std::size_t i = 0; i < parts_[0].size(); ++i)
                parts_[0][i] += parts_[part][i];
    }

private:
    std::vector<std::vector<double>> parts_;
};

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
            const double offset = sums[j * rows.p + f] - masses[j] * c;
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
    const std::size_t size = n_pairs * (p + 1) + 2 * k;
    const auto pointers = [&](double* of) {
        double* const sums = n_pairs ? of + 2 * k : nullptr;
        return MovedRows{of, of + k, sums, sums + n_pairs * p};
    };
    const Partition partition(rows.n, size);
    SumsOfParts parts(partition.n_parts, size);
    pass<T>(parallel, partition, rows, k, 1,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().add_moved_rows(rows, range, centers, cap,
                                            pointers(parts[part]), work);
            });
    parts.add_up();
    const MovedRows moved = pointers(parts[0]);
    for (std::size_t j = 0; j < k; ++j) {
        out[j] = moved.costs[j];
        if (moved.sums)
            out[j] -= saved_by_means(rows, centers, moved.sums + j * k * p,
                                     moved.masses + j * k, moved.kept);
    }
}

// Moves the halves of all clusters to the means of the rows that are nearer to them;
// halves without rows stay where they are. `costs` are those of the clusters before.
template <class T>
void split_step(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& halves,
                const std::int32_t* labels, double cap, T* means, double* masses,
                double* costs) {
    const std::size_t n_halves = halves.k, p = rows.p, size = n_halves * (p + 1);
    const auto pointers = [&](double* of) {
        return HalfSums{of, of + n_halves * p, of + size};
    };
    const Partition partition(rows.n, size + n_halves / 2);
    SumsOfParts sums(partition.n_parts, size + n_halves / 2);
    pass<T>(parallel, partition, rows, 2, 0,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().split_step(rows, range, halves, labels, cap,
                                        pointers(sums[part]), work);
            });
    sums.add_up();
    const HalfSums found = pointers(sums[0]);
    std::copy_n(found.masses, n_halves, masses);
    std::copy_n(found.costs, n_halves / 2, costs);
    for (std::size_t h = 0; h < n_halves; ++h)
        for (std::size_t f = h * p; f < (h + 1) * p; ++f)
            means[f] =
                masses[h] > 0
                    ? static_cast<T>(rows.origin[f - h * p] + found.sums[f] / masses[h])
                    : halves.data[f];
}

}  // namespace rtkm
