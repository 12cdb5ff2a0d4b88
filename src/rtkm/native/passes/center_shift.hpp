// How far the centers went since the last pass, and what the triangle inequality leaves
// of its bounds (Hamerly, SDM 2010).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "passes/scratch.hpp"

namespace rtkm {

// What rounding can make of squared distances, which carry at most p + 2 relative errors
// of T each.
template <class T>
double rounding_of_distances(std::size_t p) {
    return 4.0 * (p + 8) * std::numeric_limits<T>::epsilon();
}

// A center that went much farther than the others, as after a swap, would spoil the
// bounds of all rows. If it is taken for one that jumped, only where it is now counts:
// rows near to their own center cannot be near to one that is far away from that.
template <class T>
class CenterShifts {
public:
    CenterShifts(const Centers<T>& now, const Centers<T>& before, double unit)
        : now_(now),
          per_unit_(1 / unit),
          own_(now.k),
          others_(now.k),
          jumped_(now.k),
          order_(now.k) {
        for (std::size_t j = 0; j < now.k; ++j)
            own_[j] = distance(now.data + j * now.p, before.data + j * now.p);
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return own_[a] != own_[b] ? own_[a] > own_[b] : a < b;
        });
        trust_ = static_cast<float>(1 - 2 * rounding_of_distances<T>(now.p) - 1e-6);
    }

    CenterShift view() const {
        return {own_.data(), others_.data(), jumped_.data(), trust_};
    }

    // Finds out, from some rows, for how many centers that jumped the fewest are left
    // awake. False if it is quicker to look at all centers again. The unit is a distance
    // within a tile, as measured; one apart takes about four.
    bool pays(const Bounds& last, std::size_t n) {
        const double all_centers = now_.k + 4.0;
        double least = all_centers;
        std::size_t best = 0;
        const bool affordable = now_.k <= n / 64;  // there are as many pairs of centers
        if (affordable) measure_pairs();
        for (const std::size_t n_jumps : plans(affordable)) {
            set_jumps(n_jumps);
            const auto [awake, open] = ask_rows(last, n);
            const double cost = 1 + awake * 5 + open * all_centers;
            if (cost < least) {
                least = cost;
                best = n_jumps;
            }
        }
        set_jumps(best);
        return least < all_centers;
    }

private:
    const Centers<T> now_;
    double per_unit_;
    std::vector<float> own_, others_, jumped_, pairs_;
    std::vector<std::size_t> order_;  // those that went farthest first
    float trust_;

    // In units of the table, a little longer than it is.
    float distance(const T* a, const T* b) const {
        double squared = 0;
        for (std::size_t f = 0; f < now_.p; ++f) {
            const double step = (static_cast<double>(a[f]) - b[f]) * per_unit_;
            squared += step * step;
        }
        return static_cast<float>(std::sqrt(squared) * 1.000001);
    }

    // The distances of each two centers, a little shorter than they are.
    void measure_pairs() {
        const std::size_t k = now_.k;
        std::vector<T> squared(k * k);
        ScratchMemory<T> memory(now_.p, k, 0);
        kernels<T>().distances({now_.data, k, now_.p}, {0, k}, now_, squared.data(),
                               memory.workspace());
        pairs_.resize(k * k);
        for (std::size_t i = 0; i < k * k; ++i)
            pairs_[i] = static_cast<float>(
                std::min(std::sqrt(static_cast<double>(squared[i])) * per_unit_,
                         static_cast<double>(std::numeric_limits<float>::max())) *
                trust_);
    }

    // None, some, or all.
    std::vector<std::size_t> plans(bool with_jumps) const {
        std::vector<std::size_t> plans{0};
        if (!with_jumps) return plans;
        for (std::size_t n_jumps = 1; n_jumps < std::min<std::size_t>(now_.k, 5);
             ++n_jumps)
            plans.push_back(n_jumps);
        plans.push_back(now_.k);
        return plans;
    }

    // Takes those that went farthest for centers that jumped.
    void set_jumps(std::size_t n_jumps) {
        const std::size_t k = now_.k;
        const float none = std::numeric_limits<float>::infinity();
        for (std::size_t j = 0; j < k; ++j) {
            const bool is_first = n_jumps < k && order_[n_jumps] == j;
            const std::size_t next = n_jumps + is_first;
            others_[j] = next < k ? own_[order_[next]] : 0.0f;
            jumped_[j] = none;
        }
        for (std::size_t r = 0; r < n_jumps; ++r)
            for (std::size_t j = 0; j < k; ++j) {
                if (order_[r] == j) continue;
                jumped_[j] = std::min(jumped_[j], pairs_[order_[r] * k + j]);
            }
    }

    struct Shares {
        double awake, open;
    };
    Shares ask_rows(const Bounds& last, std::size_t n) const {
        constexpr std::size_t n_asked = 128;
        const std::size_t stride = n / n_asked + 1, s = last.s;
        double n_seen = 0, awake = 0, open = 0;
        for (std::size_t i = 0; i < n; i += stride, ++n_seen) {
            const std::int32_t* const labels = last.labels + i * s;
            if (labels[0] < 0) {  // it has no center of its own
                ++awake, ++open;
                continue;
            }
            float shift = 0;
            for (std::size_t r = 0; r < s; ++r) shift = std::max(shift, own_[labels[r]]);
            const float own_upper = last.own_upper[i] + shift;
            const float other_lower = std::min(last.other_lower[i] - others_[labels[0]],
                                               jumped_[labels[0]] - own_upper);
            const bool is_open = last.status[i] == RowStatus::open;
            awake += is_open ||
                     (last.status[i] == RowStatus::kept && !(own_upper < other_lower));
            open +=
                last.status[i] != RowStatus::frozen && !(last.own_upper[i] < other_lower);
        }
        return {awake / n_seen, open / n_seen};
    }
};

}  // namespace rtkm
