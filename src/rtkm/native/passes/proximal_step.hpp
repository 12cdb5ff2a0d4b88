// The fused proximal step: memberships, inlier weights, and sums of what they keep,
// reading the table once where it can.
#pragma once
#include "passes/fractions.hpp"
#include "passes/inlier_weights.hpp"
#include "passes/sweep.hpp"

namespace rtkm {

// The means of what is kept whole, in the moments, and of what is kept in part.
template <class T>
void write_means(const Rows<T>& rows, const Centers<T>& centers, const Moments& moments,
                 const Sums& partly, T* means) {
    std::vector<Exact> masses(centers.k);
    Exact total;
    for (std::size_t j = 0; j < centers.k; ++j) {
        masses[j] = partly.masses[j];
        masses[j].add(*moments[j].mass);
        total.add(masses[j]);
    }
    for (std::size_t j = 0; j < centers.k; ++j) {
        const bool is_filled = masses[j].value() > 1e-12 * total.value();
        for (std::size_t f = 0; f < rows.p; ++f) {
            Exact sum = partly.rows[j * padded(rows.p) + f];
            sum.add(Exact{moments[j].sums[f], moments[j].lost[f]});
            means[j * rows.p + f] =
                is_filled ? static_cast<T>(exact_mean(rows.origin[f], sum, masses[j]))
                          : centers.data[j * rows.p + f];
        }
    }
}

template <class T>
struct ProximalPass : PassState<T> {
    SharedArray<double> v;  // the inlier weights
    FractionMemory fractions;
    double threshold;  // rows that cost less gain inlier weight
    double change;     // the most that any weight moved

    ProximalPass(const StepInput<T>& input, const ProximalPass* last)
        : PassState<T>(input, last),
          v(pooled<double>(input.pool, input.rows.n)),
          fractions(partition_of(input.rows, this->k), this->k) {
        if (last) fractions.expect(last->fractions);
    }

    // From the last weights to these.
    ProximalStep step(const StepInput<T>& input, const ProximalPass* last,
                      double size) const {
        // smaller steps could not be divided by, and move nothing further
        ProximalStep step{std::max(size, 1e-300),
                          1.0 * input.s / this->k,
                          std::min(input.kept_share(), 1.0),
                          nullptr,
                          {},
                          v.get()};
        if (!last) return step;
        step.last_v = last->v.get();
        step.fractions = last->fractions.view();
        return step;
    }
};

// A range of a part, block by block, as there is room for one among the fractions.
template <class T>
void step_blocks(const BoundedPass<T>& pass, const ProximalStep& step, std::size_t part,
                 Range range, FractionMemory& fractions, ProximalReport& report,
                 const Workspace<T>& work) {
    for (std::size_t i = range.first; i < range.last; i += block_rows) {
        const Range block{i, std::min(range.last, i + block_rows)};
        report.fractions = fractions.grown(part, report.n_fractions);
        kernels<T>().proximal_step(pass, step, block, report, work);
    }
    fractions.set_size(part, report.n_fractions);
}

// The means of what is kept whole and in part, and its cost.
template <class T>
void average(const Parallel& parallel, const BoundedPass<T>& pass,
             const Sweep<T, ProximalReport>& sweep, const Sums& partly,
             const Lists& lists, ProximalPass<T>& found) {
    const Moments moments = found.moments();
    sweep.add_to(moments);
    refresh_if_stale(parallel, pass, lists, moments);
    write_means(pass.rows, pass.centers, moments, partly, found.means.get());
    const Cut no_cut{infinity, pass.rows.n, 1.0};
    found.objective =
        find_objective(parallel, pass, moments, no_cut) + partly.cost.sums[0];
}

// `proximal_step_in_words` in _table.py says what this computes. `last` may be null;
// bounds and windows change nothing but the time it takes, and where between what is kept
// and what is trimmed the threshold is said to be.
template <class T>
ProximalPass<T> proximal_step(const Parallel& parallel, const StepInput<T>& input,
                              double size, const ProximalPass<T>* last) {
    ProximalPass<T> found(input, last);
    const ProximalStep step = found.step(input, last, size);
    PassSetup<T> setup(input, last, found.bounds.view());
    const BoundedPass<T>& pass = setup.pass;
    const Lists lists(input.rows.n);
    std::optional<SumsOfParts> partly;
    std::optional<Sweep<T, ProximalReport>> sweep;
    std::vector<std::vector<std::uint32_t>> ends;
    const auto look = [&](const Window& window, const Sample& sample) {
        setup.set_window(window);
        partly.emplace(partition_of(input.rows, found.k), Sums::size(found.k, found.p));
        std::vector<std::vector<double>> scratch(partly->partition.n_parts);
        ends.resize(partly->partition.n_parts);
        const auto step_range = [&](std::size_t part, Range range, ProximalReport& report,
                                    const Workspace<T>& work) {
            scratch[part].resize(found.k * (3 * 4 + 2));
            report.scratch = scratch[part].data();
            ends[part].resize(found.k);
            report.ends = ends[part].data();
            report.partly = Sums::in((*partly)[part], found.k, found.p);
            step_blocks(pass, step, part, range, found.fractions, report, work);
        };
        sweep.emplace(parallel, pass, lists, sample, step_range);
    };
    const auto inlier_weights = [&] {
        return InlierWeights<T>(parallel, pass, step, sweep->undecided,
                                left_of(input.kept_mass, sweep->sure_mass));
    };
    const auto holds_threshold = [&] { return inlier_weights().are_within_reach(); };
    const auto ask = [&] {  // rows are kept in part within a step of the cut
        const Window cut =
            window_for(parallel, input.rows, sweep->undecided, input.kept_share());
        return Window{cut.sure - step.size, cut.ceiling + step.size};
    };
    look_until_it_holds(first_window(input, last), input.rows.n, look, holds_threshold,
                        ask);
    const SettledWeights settled = inlier_weights().settle();
    sweep->settle(parallel, [&](Range range, ProximalReport& report) {
        kernels<T>().settle_proximal(pass, step, range, sweep->undecided,
                                     found.fractions.view(), report);
    });
    found.threshold = settled.threshold;
    found.change = settled.change;
    for (const ProximalReport& report : sweep->reports)
        found.change = std::max(found.change, report.change);
    average(parallel, pass, *sweep, Sums::in(partly->add_up(), found.k, found.p), lists,
            found);
    if (last)
        found.expected = expected_threshold(found.threshold, last->threshold, step.size);
    return found;
}

}  // namespace rtkm
