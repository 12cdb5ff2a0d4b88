// Where the trimming threshold is looked for, and the only place where that is decided:
// in the window that is expected from how the threshold moved in the last step, or that a
// sample of the rows tells, or everywhere. Whether a window holds the cut shows in the
// pass itself, so that a wrong one costs time and nothing else.
#pragma once
#include <cmath>

#include "passes/select.hpp"

namespace rtkm {

constexpr Window all_undecided{-infinity, infinity}, all_kept{infinity, infinity};

// How far a threshold may fall and rise in the next step. Mostly it goes on as it did in
// the last one, but less; `slack` is allowed anyhow.
struct Margins {
    double down, up;

    Margins(double change, double ahead, double slack) {
        const double on = ahead * std::abs(change) + slack,
                     back = std::abs(change) + slack;
        down = change < 0 ? on : back;
        up = change < 0 ? back : on;
    }
};

// Where the next cut of a small table is expected when a center has jumped, or the last
// cut did: it may be anywhere, but hardly far below, so that most rows can rest.
inline Window not_far_below(double threshold) {
    return std::isinf(threshold) ? all_undecided : Window{0.8 * threshold, infinity};
}

// Where the next cut is expected, after one at `threshold` and one at `last` before it.
inline Window expected_cut(double threshold, double last) {
    const double change = threshold / last - 1;
    if (!(std::abs(change) < 0.05)) return not_far_below(threshold);
    const Margins margins(change, 1.5, 1e-3);
    return {threshold * (1 - margins.down), threshold * (1 + margins.up)};
}

// The same for the threshold of inlier weights, which rows are kept in part within a
// step of.
inline Window expected_threshold(double threshold, double last, double step) {
    const double change = threshold - last, scale = std::abs(threshold) + step;
    if (!(std::abs(change) < 0.05 * scale) || std::isinf(threshold)) return all_undecided;
    const Margins margins(change, 2, 3e-3 * scale);
    return {threshold - margins.down, threshold + margins.up};
}

// Which rows a pass visits: all, or a few at each of many places, that tell of all.
struct Sample {
    static constexpr std::size_t n_places = 256, few = 16;
    std::size_t stride = 0;  // from place to place, or 0

    // Empty if there are too few rows for it to pay.
    static Sample of(std::size_t n) {
        const std::size_t stride = n / n_places / few * few;
        return {stride >= 2 * few ? stride : 0};
    }
    template <class Visit>
    void visit(Range range, Visit visit) const {
        if (stride == 0) return visit(range);
        std::size_t i = (range.first + stride - 1) / stride * stride;
        for (; i < range.last; i += stride)
            visit(Range{i, std::min(i + few, range.last)});
    }
    // How much a share of the rows may differ from that of all. Rows that are near to
    // each other may be alike, and tell less than they number.
    static double error(double share) {
        return 4 * std::sqrt(share * (1 - share) / n_places / 4) + 1e-3;
    }
};

// A window that holds the cut if the asked rows tell of all.
template <class T>
Window window_for(const Parallel& parallel, const Rows<T>& rows, const Undecided& asked,
                  double kept_share) {
    const Values costs{asked.costs, rows.weights, asked.n, asked.rows};
    double mass = 0;
    for (std::size_t u = 0; u < asked.n; ++u) mass += costs.weight(u);
    const auto cost_at = [&](double share) {
        return find_cut(parallel, costs, share * mass).threshold;
    };
    const double error = Sample::error(kept_share);
    return {kept_share > error ? cost_at(kept_share - error) : -infinity,
            kept_share + error < 1 ? cost_at(kept_share + error) : infinity};
}

// Looks at all rows with a window that holds the cut: the first if one is expected, or
// what a sample tells, or else no window at all.
template <class Look, class Holds, class Tell>
void look_until_it_holds(const Window& first, std::size_t n, Look look, Holds holds,
                         Tell tell) {
    if (first.sure == infinity) return look(first, Sample{});  // nothing is trimmed
    const Sample some = Sample::of(n);
    const bool is_narrow = !std::isinf(first.ceiling);
    // a wide one leaves many rows undecided: where a sample can tell more, that is asked
    const bool is_expected = !std::isinf(first.sure) && (is_narrow || !some.stride);
    if (is_expected) look(first, Sample{});
    if (is_expected && holds()) return;
    if (some.stride) {
        look(all_undecided, some);
        look(tell(), Sample{});
        if (holds()) return;
    }
    look(all_undecided, Sample{});
}

}  // namespace rtkm
