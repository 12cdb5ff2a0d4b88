// The sums of all clusters, and what follows from them: means and costs.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/kernels.hpp"

namespace rtkm {

inline void add(const ClusterSums& part, std::size_t p, const ClusterSums& into) {
    for (std::size_t f = 0; f < p; ++f) {
        two_sum(part.sums[f], into.sums[f], into.lost[f]);
        into.lost[f] += part.lost[f];
    }
    for (std::size_t l = 0; l < 4; ++l) {
        two_sum(part.squares[l], into.squares[l], into.squares[4 + l]);
        into.squares[4 + l] += part.squares[4 + l];
    }
    into.mass->add(*part.mass);
    *into.count += *part.count;
}

// A cluster that was left by all its rows keeps none of what rounding left of them.
inline void finish(const Moments& moments, std::size_t j) {
    const ClusterSums cluster = moments[j];
    if (*cluster.count == 0)
        std::fill_n(moments.memory + j * moments.stride(), moments.stride(), 0.0);
    *cluster.peak = std::max(*cluster.peak, cluster.all_squares().value());
}

// A number with twice the digits, rounded. One that is halfway between two numbers, but
// for what sums of weighted rows lose, goes to the even one, so that the order in which
// these came does not show.
inline double rounded(const Exact& number) {
    const Exact whole = normalized(number);
    const double value = whole.sum;
    const double other = std::nextafter(value, whole.lost > 0 ? HUGE_VAL : -HUGE_VAL),
                 half = std::abs(other - value) / 2;
    constexpr double close = 0x1p-20;
    if (!(std::abs(std::abs(whole.lost) - half) <= close * half)) return value;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & 1 ? other : value;
}

// origin + sum / mass, rounded once but for the rarest cases.
inline double exact_mean(double origin, const Exact& of, const Exact& under) {
    const Exact sum = normalized(of), mass = normalized(under);
    const double quotient = sum.value() / mass.value();
    Exact rest = times(-quotient, mass);
    rest.add(sum);
    Exact mean{origin};
    mean.add(quotient);
    mean.lost += rest.value() / mass.value();
    return rounded(mean);
}

// The mean of a cluster; without mass it stays where the center was.
template <class T>
void write_mean(const ClusterSums& cluster, const double* origin, const T* center,
                std::size_t p, T* mean) {
    for (std::size_t f = 0; f < p; ++f) {
        const Exact sum{cluster.sums[f], cluster.lost[f]};
        mean[f] = cluster.mass->value() > 0
                      ? static_cast<T>(exact_mean(origin[f], sum, *cluster.mass))
                      : center[f];
    }
}

// The sum of mass |y - c|^2 over a cluster, which is its squares - 2 c . sums + mass c^2.
template <class T>
Exact cost_about(const ClusterSums& cluster, const double* origin, const T* center,
                 std::size_t p) {
    Exact cost = normalized(cluster.all_squares());
    const Exact mass = normalized(*cluster.mass);
    for (std::size_t f = 0; f < p; ++f) {
        const double c = center[f] - origin[f];
        const Exact sum = normalized({cluster.sums[f], cluster.lost[f]});
        Exact pull = times(c, mass);
        pull.add(-2 * sum.sum);
        pull.lost -= 2 * sum.lost;
        cost.add(times(c, pull));
    }
    return cost;
}

}  // namespace rtkm
