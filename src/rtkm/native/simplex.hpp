// Projection onto the capped simplex {0 <= w <= 1, sum w = total}: clip(y - shift, 0, 1)
// with the shift that gives the total. Exact, with exact zeros and ones.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>

#include "select.hpp"

namespace rtkm {

constexpr double rounding_dust = 1e-12;

inline double clip_to_unit(double w) {
    if (w < rounding_dust) return 0.0;
    return w > 1.0 - rounding_dust ? 1.0 : w;
}

// What decides the shift: the weight at the cap, and weight and weighted sum of the
// entries strictly between. Sums over blocks of rows simply add.
struct Level {
    double capped = 0, inner = 0, inner_sum = 0;

    void add(double y, double shift, double weight) {
        if (y - shift >= 1)
            capped += weight;
        else if (y > shift) {
            inner += weight;
            inner_sum += weight * y;
        }
    }
    void add(const Level& part) {
        capped += part.capped;
        inner += part.inner;
        inner_sum += part.inner_sum;
    }
    double total(double shift) const { return capped + inner_sum - inner * shift; }
};

// The root of a falling, piecewise linear total in [-1, 0], by Newton steps kept inside
// a shrinking bracket. It starts at the end where a vertex would be, the usual answer.
// `level(shift)` sums over the entries, measured from the one that fills the total.
template <class LevelAt>
double solve_shift(double total, const LevelAt& level) {
    double low = -1, high = 0, shift = low;
    for (;;) {
        const Level at = level(shift);
        const double excess = at.total(shift) - total;
        const double newton = at.inner > 0 ? shift + excess / at.inner : high;
        // the sums cannot be told from the total: one more step, and it is exact
        if (std::abs(excess) <= 1e-15 * (at.capped + at.inner))
            return at.inner > 0 ? newton : shift;
        (excess > 0 ? low : high) = shift;
        shift = newton > low && newton < high ? newton : low + (high - low) / 2;
        if (!(shift > low && shift < high)) return shift;  // no number left between
    }
}

// One row of k entries; the total may be any number in [0, k]. `scratch` holds k.
inline void project_row(const double* y, std::size_t k, double total, double* w,
                        double* scratch) {
    if (total <= 0 || total >= static_cast<double>(k)) {
        std::fill(w, w + k, total > 0 ? 1.0 : 0.0);
        return;
    }
    // the entry that fills the total is the ceil(total)-th largest
    auto filling = static_cast<std::size_t>(total);
    if (static_cast<double>(filling) < total) ++filling;
    std::copy(y, y + k, scratch);
    std::nth_element(scratch, scratch + (filling - 1), scratch + k, std::greater<>());
    const double reference = scratch[filling - 1];
    const double shift = solve_shift(total, [&](double at) {
        Level level;
        for (std::size_t j = 0; j < k; ++j) level.add(y[j] - reference, at, 1.0);
        return level;
    });
    for (std::size_t j = 0; j < k; ++j) w[j] = clip_to_unit(y[j] - reference - shift);
}

// n entries with weights: sum_i weight_i clip(y_i - shift, 0, 1) = total.
inline void project(const Team& team, const double* y, const double* weights,
                    std::size_t n, double total, double* w) {
    // the entry that fills the total, counting from the largest
    for (std::size_t i = 0; i < n; ++i) w[i] = -y[i];
    const double reference = -find_cut(team, Values{w, weights, n}, total).threshold;
    const double shift = solve_shift(total, [&](double at) {
        const Partition partition(n);
        std::vector<Level> partial(partition.n_parts);
        for_each_part(team, partition, 8, [&](std::size_t part, Range rows) {
            for (std::size_t i = rows.first; i < rows.last; ++i)
                partial[part].add(y[i] - reference, at, weights ? weights[i] : 1.0);
        });
        Level level;
        for (const Level& part : partial) level.add(part);
        return level;
    });
    for (std::size_t i = 0; i < n; ++i) w[i] = clip_to_unit(y[i] - reference - shift);
}

}  // namespace rtkm
