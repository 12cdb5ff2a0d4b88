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
    Travel(const Centers<T>& now, const Centers<T>& before) : way_(now.k), order_(now.k) {
        for (std::size_t j = 0; j < now.k; ++j) {
            double squared = 0;
            for (std::size_t f = 0; f < now.p; ++f) {
                const double step = static_cast<double>(now.data[j * now.p + f]) -
                                    before.data[j * now.p + f];
                squared += step * step;
            }
            way_[j] = std::sqrt(squared) * (1 + 1e-9);
        }
        drift.trust = 1 - 8.0 * (now.p + 8) * std::numeric_limits<T>::epsilon();
        std::iota(order_.begin(), order_.end(), 0);
        std::partial_sort(
            order_.begin(), order_.begin() + std::min(now.k, n_plans), order_.end(),
            [&](std::int32_t a, std::int32_t b) { return way_[a] > way_[b]; });
        drift.rest = way_[order_[0]];
    }

    Drift drift;

    // A center that went much farther than the others, as after a swap, would spoil the
    // bounds of all rows: it may be cheaper to measure it. Some rows are asked how many
    // would be left open if so many centers were measured. The unit is a distance within
    // a tile, as measured; one apart takes about four, and so does what goes with each.
    // False if it is quicker to look at all centers again.
    bool pays(const Nearest& last, std::size_t n) {
        const std::vector<double> open = open_shares(last, n);
        const double all_centers = way_.size() + 4.0;
        double least = all_centers;
        bool found = false;
        for (std::size_t m = 0; m < open.size(); ++m) {
            const double cost = 4.0 * (1 + last.s + m) + open[m] * (all_centers + 2);
            if (cost >= least) continue;
            least = cost;
            found = true;
            drift.n_movers = m;
            drift.rest = m < way_.size() ? way_[order_[m]] : 0.0;
        }
        std::copy(order_.begin(), order_.begin() + drift.n_movers, drift.movers);
        return found;
    }

private:
    static constexpr std::size_t n_plans = Drift::most_movers + 1;

    std::vector<double> way_;
    std::vector<std::int32_t> order_;  // those that went farthest first

    // The share of rows that are not sure of their centers, for 0, 1, .. movers.
    std::vector<double> open_shares(const Nearest& last, std::size_t n) const {
        constexpr std::size_t n_asked = 512;
        const std::size_t stride = n / n_asked + 1, s = last.s;
        std::vector<double> open(std::min(way_.size(), n_plans));
        double n_seen = 0;
        for (std::size_t i = 0; i < n; i += stride, ++n_seen) {
            double own = 0;
            for (std::size_t r = 0; r < s; ++r)
                own = std::max(own, std::sqrt(last.squared[i * s + r]) +
                                        way_[last.labels[i * s + r]]);
            const double slack = std::sqrt(last.spare[i]) - own;
            for (std::size_t m = 0; m < open.size(); ++m)
                open[m] += !(way_[order_[m]] < slack);
        }
        for (double& share : open) share /= n_seen;
        return open;
    }
};

}  // namespace rtkm
