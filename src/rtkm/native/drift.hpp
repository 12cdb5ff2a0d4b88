// How far the centers went since the last pass, and whether that pass still tells.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "rows.hpp"

namespace rtkm {

// What the last pass found, and where the centers were then.
template <class T>
struct LastPass {
    Centers<T> centers;
    Nearest nearest;
};

// All bounds are rounded to the safe side: squared distances carry at most p + 2 relative
// errors of T each.
template <class T>
class Travel {
public:
    Travel(const Centers<T>& now, const LastPass<T>& last) : way_(now.k) {
        for (std::size_t j = 0; j < now.k; ++j) {
            double squared = 0;
            for (std::size_t f = 0; f < now.p; ++f) {
                const double step = static_cast<double>(now.data[j * now.p + f]) -
                                    last.centers.data[j * now.p + f];
                squared += step * step;
            }
            way_[j] = std::sqrt(squared) * (1 + 1e-9);
        }
        drift.trust = 1 - 8.0 * (now.p + 8) * std::numeric_limits<T>::epsilon();
        drift.rest = *std::max_element(way_.begin(), way_.end());
        set_movers_apart();
    }

    Drift drift;

    // Whether most rows keep their centers for sure, to judge by some of them: only then
    // it is quicker to look for those that may not.
    bool is_short(const Nearest& last, std::size_t n) const {
        constexpr std::size_t n_asked = 512;
        const std::size_t stride = n / n_asked + 1, s = last.s;
        std::size_t n_sure = 0, n_seen = 0;
        for (std::size_t i = 0; i < n; i += stride, ++n_seen) {
            double own = std::sqrt(last.squared[i * s + s - 1]), longest = 0;
            for (std::size_t r = 0; r < s; ++r)
                longest = std::max(longest, way_[last.labels[i * s + r]]);
            n_sure += own + longest < std::sqrt(last.spare[i]) - drift.rest;
        }
        return 2 * n_sure > n_seen;
    }

private:
    std::vector<double> way_;

    // A center that went much farther than most, as after a swap, would spoil the bound
    // of every row; it is cheaper to measure its distances.
    void set_movers_apart() {
        std::vector<std::int32_t> order(way_.size());
        std::iota(order.begin(), order.end(), 0);
        const std::size_t n_tried = std::min(order.size(), Drift::most_movers + 1);
        std::partial_sort(
            order.begin(), order.begin() + n_tried, order.end(),
            [&](std::int32_t a, std::int32_t b) { return way_[a] > way_[b]; });
        for (std::size_t m = 1; m < n_tried; ++m) {
            if (way_[order[m]] > way_[order[0]] / 1e9) continue;
            drift.n_movers = m;
            drift.rest = way_[order[m]];
            std::copy(order.begin(), order.begin() + m, drift.movers);
            return;
        }
    }
};

}  // namespace rtkm
