// Projection onto the capped simplex {0 <= w <= 1, sum w = total}: clip(y - shift, 0, 1)
// with the shift that gives the total. Exact, with exact zeros and ones.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/shift.hpp"
#include "passes/select.hpp"

namespace rtkm {

inline double clip_to_unit(double w) {
    if (w < rounding_dust) return 0.0;
    return w > 1.0 - rounding_dust ? 1.0 : w;
}

// What decides the shift: the weight at the cap, and weight and weighted sum of the
// entries strictly between. Sums over blocks of rows simply add.
struct Level {
    Exact capped, inner, inner_sum;

    void add(double y, double shift, double weight) {
        if (y - shift >= 1)
            capped.add(weight);
        else if (y > shift) {
            inner.add(weight);
            inner_sum.add(weight * y);
        }
    }
    void add(const Level& part) {
        capped.add(part.capped);
        inner.add(part.inner);
        inner_sum.add(part.inner_sum);
    }
    double total(double shift) const {
        Exact sum = times(-shift, inner);
        sum.add(capped);
        sum.add(inner_sum);
        return sum.value();
    }
};

struct Entry {
    double y, weight;
};

// The level of n entries at a shift.
template <class EntryAt>
Level sum_levels(const Parallel& parallel, std::size_t n, double shift,
                 const EntryAt& entry) {
    const Partition partition(n);
    std::vector<Level> partial(partition.n_parts);
    for_each_part(parallel, partition, 8, [&](std::size_t part, Range range) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const Entry e = entry(i);
            partial[part].add(e.y, shift, e.weight);
        }
    });
    Level level;
    for (const Level& part : partial) level.add(part);
    return level;
}

// The shift at which the level is the total; entries are to be measured so that it is
// in [-2, 1]. `start` is where a vertex would be, the usual answer.
template <class LevelAt>
double solve_shift(double total, const LevelAt& level, double start) {
    ShiftSearch<double> search;
    search.shift = start;
    while (!search.done) {
        const Level at = level(search.shift);
        search.move(at.total(search.shift) - total, at.inner.value(),
                    at.capped.value() + at.inner.value());
    }
    return search.shift;
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
    const auto level = [&](double shift) {
        Level sum;
        for (std::size_t j = 0; j < k; ++j) sum.add(y[j] - reference, shift, 1.0);
        return sum;
    };
    const double shift = solve_shift(total, level, -1.0);
    for (std::size_t j = 0; j < k; ++j) w[j] = clip_to_unit(y[j] - reference - shift);
}

// n entries with weights: sum_i weight_i clip(y_i - shift, 0, 1) = total.
inline void project(const Parallel& parallel, const double* y, const double* weights,
                    std::size_t n, double total, double* w) {
    // the entry that fills the total, counting from the largest
    for (std::size_t i = 0; i < n; ++i) w[i] = -y[i];
    const double reference = -find_cut(parallel, Values{w, weights, n}, total).threshold;
    const auto level = [&](double shift) {
        return sum_levels(parallel, n, shift, [&](std::size_t i) {
            return Entry{y[i] - reference, weights ? weights[i] : 1.0};
        });
    };
    const double shift = solve_shift(total, level, -1.0);
    for (std::size_t i = 0; i < n; ++i) w[i] = clip_to_unit(y[i] - reference - shift);
}

}  // namespace rtkm
