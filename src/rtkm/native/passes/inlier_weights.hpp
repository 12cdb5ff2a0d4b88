// The inlier weights of a proximal step, and their trimming threshold: what is left to be
// decided when the pass over the rows is over.
#pragma once
#include "kernels/types.hpp"
#include "passes/simplex.hpp"

namespace rtkm {

// What the inlier weights of the undecided rows come to.
struct SettledWeights {
    double change = 0;
    double partly = 0;                // what is kept of rows that are kept in part
    double kept_most, trimmed_least;  // costs
    double threshold = 0;

    void add(const SettledWeights& part) {
        change = std::max(change, part.change);
        partly += part.partly;
        kept_most = std::max(kept_most, part.kept_most);
        trimmed_least = std::min(trimmed_least, part.trimmed_least);
    }
    double between() const {
        if (std::isinf(kept_most)) return trimmed_least;
        return std::isinf(trimmed_least) ? kept_most : (kept_most + trimmed_least) / 2;
    }
};

// The inlier weights of the undecided rows.
template <class T>
class InlierWeights {
public:
    InlierWeights(const Parallel& parallel, const BoundedPass<T>& pass,
                  const ProximalStep& step, const Undecided& undecided, double mass)
        : parallel_(parallel),
          rows_(pass.rows),
          window_(pass.window),
          step_(step),
          undecided_(undecided),
          mass_(mass) {}

    // Whether the threshold that keeps the mass is in the window.
    bool are_within_reach() const {
        return !(level({window_.ceiling}, 0).total(0) < mass_) &&
               !(level({window_.sure}, 0).total(0) > mass_);
    }

    SettledWeights settle() const {
        const Reference reference = find_reference();
        const double shift = solve_shift(
            mass_, [&](double at) { return level(reference, at); }, reference.start);
        const Partition partition(undecided_.n);
        const SettledWeights none{0, 0, window_.sure, window_.ceiling};
        std::vector<SettledWeights> partial(partition.n_parts, none);
        for_each_part(parallel_, partition, 8, [&](std::size_t part, Range range) {
            for (std::size_t u = range.first; u < range.last; ++u)
                partial[part].add(set_weight(u, reference, shift));
        });
        SettledWeights settled = none;
        for (const SettledWeights& part : partial) settled.add(part);
        // where no row is kept in part, any threshold between kept and trimmed would do
        settled.threshold = settled.partly > 0
                                ? reference.cost - (shift + reference.v) * step_.size
                                : settled.between();
        return settled;
    }

private:
    const Parallel& parallel_;
    const Rows<T>& rows_;
    const Window window_;
    const ProximalStep& step_;
    const Undecided undecided_;
    const double mass_;  // that they keep together

    // What rows are measured from. Near to the threshold it keeps the digits of those
    // that matter, and leaves a shift within [-2, 1].
    struct Reference {
        double cost, v = 0, start = 0;
    };

    // The row at which the cheapest reach the mass; or, if the window is narrow, its
    // middle.
    Reference find_reference() const {
        const auto [sure, ceiling] = window_;
        if (ceiling - sure < step_.size) return {(sure + ceiling) / 2};
        const Values costs{undecided_.costs, rows_.weights, undecided_.n,
                           undecided_.rows};
        const Cut cut = find_cut(parallel_, costs, mass_);
        if (std::isinf(cut.threshold)) return {sure};  // no undecided row weighs anything
        return {cut.threshold, step_.before(cut.row), -1.0};
    }
    double entry(std::size_t u, const Reference& reference) const {
        return (step_.before(undecided_.rows[u]) - reference.v) -
               (undecided_.costs[u] - reference.cost) / step_.size;
    }
    Level level(const Reference& reference, double shift) const {
        return sum_levels(parallel_, undecided_.n, shift, [&](std::size_t u) {
            return Entry{entry(u, reference), rows_.weight(undecided_.rows[u])};
        });
    }
    SettledWeights set_weight(std::size_t u, const Reference& reference,
                              double shift) const {
        const std::size_t i = undecided_.rows[u];
        const double cost = undecided_.costs[u],
                     v = clip_to_unit(entry(u, reference) - shift);
        step_.v[i] = v;
        return {std::abs(v - step_.before(i)), v < 1 ? rows_.weight(i) * v : 0.0,
                v == 1 ? cost : -infinity, v == 0 ? cost : infinity};
    }
};

}  // namespace rtkm
