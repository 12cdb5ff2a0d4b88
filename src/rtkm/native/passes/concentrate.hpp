// The fused step of the methods that trim: assign every row to its s nearest centers,
// find the cut, and sum what is kept, reading of the table only what may have changed.
#pragma once
#include "passes/sweep.hpp"

namespace rtkm {

template <class T>
struct TrimmedPass : PassState<T> {
    using PassState<T>::PassState;
    Cut cut;
    std::size_t n_changed;  // rows that are not where they were in the last pass
};

// Finds the cut among the undecided rows, and decides them.
template <class T>
Cut settle_cut(const Parallel& parallel, const BoundedPass<T>& pass,
               Sweep<T, PassReport>& sweep, double kept_mass) {
    const Undecided& undecided = sweep.undecided;
    const Cut cut = find_cut(parallel,
                             {undecided.costs, pass.rows.weights, undecided.n,
                              undecided.rows, sweep.sure_mass},
                             kept_mass);
    sweep.settle(parallel, [&](Range range, PassReport& report) {
        kernels<T>().settle(pass, range, undecided, cut, report);
    });
    return cut;
}

// The means of what is kept, and its cost. The row of the cut, which the sums hold whole,
// counts in part for as long as that takes.
template <class T>
void average(const Parallel& parallel, const BoundedPass<T>& pass,
             TrimmedPass<T>& found) {
    const Moments moments = found.moments();
    const Cut& cut = found.cut;
    const std::size_t p = found.p, s = pass.out.s;
    const auto add_cut_row = [&](double share) {
        for (std::size_t r = 0; r < s && cut.row < pass.rows.n; ++r)
            kernels<T>().join(pass.rows, cut.row, share,
                              moments[pass.out.labels[cut.row * s + r]]);
    };
    add_cut_row(cut.share - 1);
    for (std::size_t j = 0; j < found.k; ++j)
        write_mean(moments[j], pass.rows.origin, pass.centers.data + j * p, p,
                   found.means.get() + j * p);
    found.objective = find_objective(parallel, pass, moments, cut);
    add_cut_row(1 - cut.share);
}

// Rows that surely stay where they are rest, the others are measured, and what changed is
// added to the sums or taken from them. `last` may be null; it changes nothing but the
// time it takes.
template <class T>
TrimmedPass<T> concentrate(const Parallel& parallel, const StepInput<T>& input,
                           const TrimmedPass<T>* last) {
    TrimmedPass<T> found(input, last);
    PassSetup<T> setup(input, last, found.bounds.view());
    const BoundedPass<T>& pass = setup.pass;
    const Lists lists(input.rows.n);
    std::optional<Sweep<T, PassReport>> sweep;
    const auto look = [&](const Window& window, const Sample& sample) {
        setup.set_window(window);
        sweep.emplace(
            parallel, pass, lists, sample,
            [&](std::size_t, Range range, PassReport& report, const Workspace<T>& work) {
                kernels<T>().bounded_pass(pass, range, report, work);
            });
    };
    const auto holds_cut = [&] {
        Exact reached = sweep->sure_mass;
        for (std::size_t u = 0; u < sweep->undecided.n; ++u)
            reached.add(input.rows.weight(sweep->undecided.rows[u]));
        return input.kept_mass > sweep->sure_mass.value() &&
               input.kept_mass <= reached.value();
    };
    const Window after_jump = last ? not_far_below(last->cut.threshold) : all_undecided;
    look_until_it_holds(
        first_window(input, last, after_jump), input.rows.n, look, holds_cut, [&] {
            return window_for(parallel, input.rows, sweep->undecided, input.kept_share());
        });
    found.cut = input.trims() ? settle_cut(parallel, pass, *sweep, input.kept_mass)
                              : Cut{infinity, input.rows.n, 1.0};
    sweep->add_to(found.moments());
    found.n_changed = sweep->n_changed();
    refresh_if_stale(parallel, pass, lists, found.moments());
    average(parallel, pass, found);
    if (last) found.expected = expected_cut(found.cut.threshold, last->cut.threshold);
    return found;
}

// The means of a pass that keeps rows whole, if some rows are in further clusters.
template <class T>
void further_means(const Rows<T>& rows, const TrimmedPass<T>& pass,
                   const std::int64_t* row, const std::int32_t* cluster, std::size_t n,
                   T* means) {
    const std::size_t p = pass.p, stride = pass.moments().stride();
    std::vector<double> memory(pass.sums.get(), pass.sums.get() + pass.k * stride);
    const Moments moments{memory.data(), p};
    for (std::size_t i = 0; i < n; ++i)
        kernels<T>().join(rows, row[i], 1.0, moments[cluster[i]]);
    for (std::size_t j = 0; j < pass.k; ++j)
        write_mean(moments[j], rows.origin, pass.centers.get() + j * p, p, means + j * p);
}

}  // namespace rtkm
