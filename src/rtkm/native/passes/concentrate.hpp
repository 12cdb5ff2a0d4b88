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
    std::uint64_t digest;   // of the clusters of all rows, and of which are kept
};

// Adds a share of the row of the cut, if it is in this table, to the sums of its
// clusters.
template <class T>
void add_cut_row(const Rows<T>& rows, const TrimmedPass<T>& pass, double share,
                 const Moments& moments) {
    const std::size_t s = pass.bounds.s;
    for (std::size_t r = 0; r < s && pass.cut.row < rows.n; ++r)
        kernels<T>().join(rows, pass.cut.row, share,
                          moments[pass.bounds.labels[pass.cut.row * s + r]]);
}

// A step under way. It looks at the rows with a window that is hoped to hold the cut, and
// once the cut is known settles the rows that were undecided. Between the two the cut may
// be looked for elsewhere: among the rows of a table of which these are one partition.
template <class T>
class TrimmedStep {
public:
    TrimmedPass<T> found;

    TrimmedStep(const Parallel& parallel, const StepInput<T>& input,
                const TrimmedPass<T>* last)
        : found(input, last),
          parallel_(parallel),
          setup_(input, last, found.bounds.view()),
          lists_(input.rows.n),
          digest_before_(last ? last->digest : 0) {}

    // Rows that surely stay where they are rest, the others are measured.
    void look(const Window& window, const Sample& sample) {
        setup_.set_window(window);
        sweep_.emplace(
            parallel_, setup_.pass, lists_, sample,
            [&](std::size_t, Range range, PassReport& report, const Workspace<T>& work) {
                kernels<T>().bounded_pass(setup_.pass, range, report, work);
            });
    }
    const Undecided& undecided() const { return sweep_->undecided; }
    Exact sure_mass() const { return sweep_->sure_mass; }

    bool holds_cut(double kept_mass) const {
        Exact reached = sure_mass();
        for (std::size_t u = 0; u < undecided().n; ++u)
            reached.add(setup_.pass.rows.weight(undecided().rows[u]));
        return kept_mass > sure_mass().value() && kept_mass <= reached.value();
    }
    Cut find_cut(double kept_mass) const {
        return rtkm::find_cut(parallel_,
                              {undecided().costs, setup_.pass.rows.weights, undecided().n,
                               undecided().rows, sure_mass()},
                              kept_mass);
    }

    // Decides the undecided rows; what changed is added to the sums or taken from them.
    void settle(const Cut& cut) {
        found.cut = cut;
        if (undecided().n > 0)
            sweep_->settle(parallel_, [&](Range range, PassReport& report) {
                kernels<T>().settle(setup_.pass, range, undecided(), cut, report);
            });
        sweep_->add_to(found.moments());
        found.n_changed = sweep_->n_changed();
        found.digest = digest_before_ + sweep_->digest();
        refresh_if_stale(parallel_, setup_.pass, lists_, found.moments());
    }

    // The sums of the rows that are decided, and their digest: what is left of those of
    // all rows without the undecided ones.
    std::uint64_t sum_decided(const Moments& moments) const {
        const BoundedPass<T>& pass = setup_.pass;
        const std::size_t s = pass.out.s;
        std::copy_n(found.sums.get(), found.k * moments.stride(), moments.memory);
        sweep_->add_to(moments);
        std::uint64_t digest = digest_before_ + sweep_->digest();
        for (std::size_t u = 0; u < undecided().n && pass.last.labels; ++u) {
            const std::size_t i = undecided().rows[u];
            const std::int32_t* const before = pass.last.labels + i * s;
            const bool was_kept = pass.last.status[i] == RowStatus::kept;
            digest -= digest_of(i, before, s, was_kept);
            for (std::size_t r = 0; r < s && was_kept; ++r)
                kernels<T>().join(pass.rows, i, -1.0, moments[before[r]]);
        }
        refresh_if_stale(parallel_, pass, lists_, moments);
        return digest;
    }

    // The means of what is kept, and its cost. The row of the cut, which the sums hold
    // whole, counts in part for as long as that takes.
    void average() {
        const BoundedPass<T>& pass = setup_.pass;
        const Moments moments = found.moments();
        const std::size_t p = found.p;
        add_cut_row(pass.rows, found, found.cut.share - 1, moments);
        for (std::size_t j = 0; j < found.k; ++j)
            write_mean(moments[j], pass.rows.origin, pass.centers.data + j * p, p,
                       found.means.get() + j * p);
        found.objective = find_objective(parallel_, pass, moments, found.cut);
        add_cut_row(pass.rows, found, 1 - found.cut.share, moments);
    }

private:
    const Parallel& parallel_;
    PassSetup<T> setup_;
    const Lists lists_;
    const std::uint64_t digest_before_;
    std::optional<Sweep<T, PassReport>> sweep_;
};

// Assigns rows, finds the cut and averages what is kept. `last` may be null; it changes
// nothing but the time it takes.
template <class T>
TrimmedPass<T> concentrate(const Parallel& parallel, const StepInput<T>& input,
                           const TrimmedPass<T>* last) {
    TrimmedStep<T> step(parallel, input, last);
    const Window after_jump = last ? not_far_below(last->cut.threshold) : all_undecided;
    look_until_it_holds(
        first_window(input, last, after_jump), input.rows.n,
        [&](const Window& window, const Sample& sample) { step.look(window, sample); },
        [&] { return step.holds_cut(input.kept_mass); },
        [&] {
            return window_for(parallel, input.rows, step.undecided(), input.kept_share());
        });
    step.settle(input.trims() ? step.find_cut(input.kept_mass)
                              : Cut{infinity, input.rows.n, 1.0});
    step.average();
    TrimmedPass<T>& found = step.found;
    if (last) found.expected = expected_cut(found.cut.threshold, last->cut.threshold);
    return std::move(found);
}

// The cost of what a pass keeps, row by row.
template <class T>
Exact kept_cost(const Parallel& parallel, const Rows<T>& rows,
                const TrimmedPass<T>& state) {
    Centers<T> centers = state.centers_view();
    const SquaredCenters squared(centers);  // for CSR rows
    centers.squares = squared.squares();
    centers.squared_norms = squared.norms();
    BoundedPass<T> pass{};
    pass.rows = rows;
    pass.centers = centers;
    pass.out = state.bounds.view();
    return kept_cost(parallel, pass, state.cut);
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
