// The fused proximal step: memberships, inlier weights, and sums of what they keep,
// reading the table once where it can.
#pragma once
#include <cmath>

#include "simplex.hpp"
#include "sweep.hpp"

namespace rtkm {

// The memory behind Fractions, which grows while a pass goes over its rows.
class FractionMemory {
public:
    FractionMemory(const Partition& partition, std::size_t k)
        : memory_(partition.n_parts),
          chunks_(partition.n_parts),
          sizes_(partition.n_parts),
          capacities_(partition.n_parts),
          expected_(partition.n_parts),
          chunk_rows_(partition[0].last),
          k_(k) {}
    FractionMemory(const FractionMemory&) = delete;

    Fractions view() const {
        return {chunks_.data(), chunks_.size(), std::max<std::size_t>(chunk_rows_, 1),
                k_};
    }
    std::size_t size() const {
        return std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0});
    }
    void copy_to(double* weights) const {
        for (std::size_t c = 0; c < chunks_.size(); ++c)
            weights = std::copy(chunks_[c], chunks_[c] + sizes_[c] * k_, weights);
    }

    // A chunk of which `n` rows are used, with room for a block more.
    double* grown(std::size_t chunk, std::size_t n) {
        sizes_[chunk] = n;
        if (n + follow_rows <= capacities_[chunk]) return chunks_[chunk];
        capacities_[chunk] = std::max(n + n / 2, expected_[chunk]) + follow_rows;
        std::unique_ptr<double[]> larger(new double[capacities_[chunk] * k_]);
        std::copy(chunks_[chunk], chunks_[chunk] + n * k_, larger.get());
        memory_[chunk] = std::move(larger);
        return chunks_[chunk] = memory_[chunk].get();
    }
    // Sizes to be expected, so that chunks need not grow.
    void expect(const FractionMemory& last) { expected_ = last.sizes_; }
    void set_size(std::size_t chunk, std::size_t n) { sizes_[chunk] = n; }

private:
    std::vector<std::unique_ptr<double[]>> memory_;
    std::vector<double*> chunks_;
    std::vector<std::size_t> sizes_, capacities_, expected_;
    std::size_t chunk_rows_, k_;
};

// What the inlier weights of the undecided rows come to.
struct Verdict {
    double change = 0;
    double partly = 0;                // what is kept of rows that are kept in part
    double kept_most, trimmed_least;  // costs
    double threshold = 0;

    void add(const Verdict& part) {
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
class Ballot {
public:
    Ballot(const Team& team, const Following<T>& pass, const Proximal& step,
           const Undecided& undecided)
        : team_(team),
          rows_(pass.rows),
          window_(pass.window),
          step_(step),
          undecided_(undecided) {}

    // Whether the threshold that keeps the mass is above the window, or below.
    bool is_above(double mass) const {
        return level({window_.ceiling}, 0).total(0) < mass;
    }
    bool is_below(double mass) const { return level({window_.sure}, 0).total(0) > mass; }

    Verdict settle(double mass) const {
        const Reference reference = find_reference(mass);
        const double shift = solve_shift(
            mass, [&](double at) { return level(reference, at); }, reference.start);
        const Partition partition(undecided_.n);
        const Verdict none{0, 0, window_.sure, window_.ceiling};
        std::vector<Verdict> partial(partition.n_parts, none);
        for_each_part(team_, partition, 8, [&](std::size_t part, Range range) {
            for (std::size_t u = range.first; u < range.last; ++u)
                partial[part].add(set_weight(u, reference, shift));
        });
        Verdict verdict = none;
        for (const Verdict& part : partial) verdict.add(part);
        // where no row is kept in part, any threshold between kept and trimmed would do
        verdict.threshold = verdict.partly > 0
                                ? reference.cost - (shift + reference.v) * step_.step
                                : verdict.between();
        return verdict;
    }

private:
    const Team& team_;
    const Rows<T>& rows_;
    const Window window_;
    const Proximal& step_;
    const Undecided undecided_;

    // What rows are measured from. Near to the threshold it keeps the digits of those
    // that matter, and leaves a shift within [-2, 1].
    struct Reference {
        double cost, v = 0, start = 0;
    };

    // The row at which the cheapest reach the mass; or, if the window is narrow, its
    // middle.
    Reference find_reference(double mass) const {
        const auto [sure, ceiling] = window_;
        if (ceiling - sure < step_.step) return {(sure + ceiling) / 2};
        const Values costs{undecided_.costs, rows_.weights, undecided_.n,
                           undecided_.rows};
        const Cut cut = find_cut(team_, costs, mass);
        if (std::isinf(cut.threshold)) return {sure};  // no undecided row weighs anything
        return {cut.threshold, step_.before(cut.row), -1.0};
    }
    double entry(std::size_t u, const Reference& reference) const {
        return (step_.before(undecided_.rows[u]) - reference.v) -
               (undecided_.costs[u] - reference.cost) / step_.step;
    }
    Level level(const Reference& reference, double shift) const {
        return sum_levels(team_, undecided_.n, shift, [&](std::size_t u) {
            return Entry{entry(u, reference), rows_.weight(undecided_.rows[u])};
        });
    }
    Verdict set_weight(std::size_t u, const Reference& reference, double shift) const {
        const std::size_t i = undecided_.rows[u];
        const double cost = undecided_.costs[u],
                     v = clip_to_unit(entry(u, reference) - shift);
        step_.v[i] = v;
        return {std::abs(v - step_.before(i)), v < 1 ? rows_.weight(i) * v : 0.0,
                v == 1 ? cost : -infinity, v == 0 ? cost : infinity};
    }
};

// The means of what is kept whole, in the moments, and of what is kept in part.
template <class T>
void write_means(const Rows<T>& rows, const Centers<T>& centers, const Moments& moments,
                 const Sums& partly, T* means) {
    double total = 0;
    for (std::size_t j = 0; j < centers.k; ++j)
        total += moments[j].mass->value() + partly.masses[j];
    for (std::size_t j = 0; j < centers.k; ++j) {
        const double mass = moments[j].mass->value() + partly.masses[j];
        const bool is_filled = mass > 1e-12 * total;
        for (std::size_t f = 0; f < rows.p; ++f) {
            const double sum =
                moments[j].sums[f] + (moments[j].lost[f] + partly.rows[j * rows.p + f]);
            means[j * rows.p + f] = is_filled
                                        ? static_cast<T>(rows.origin[f] + sum / mass)
                                        : centers.data[j * rows.p + f];
        }
    }
}

struct Relaxed {
    double threshold, change, objective;
};

// `last` may be null; `uses_bounds` and the window, which only must not be empty, change
// nothing but the time it takes, and where between what is kept and what is trimmed the
// threshold is said to be. `moments` holds the sums of what the last pass kept whole, and
// then those of this one.
template <class T>
Relaxed relax(const Team& team, const Rows<T>& rows, const Centers<T>& centers,
              const LastPass<T>* last, bool uses_bounds, const Proximal& step,
              double mass, double total_mass, const Window& window, const Watch& out,
              const Lists& lists, FractionMemory& fractions, const Moments& moments,
              T* means) {
    Knowledge<T> knowledge(rows, centers, last, uses_bounds, out);
    Following<T>& pass = knowledge.pass;
    const std::size_t k = centers.k;
    std::optional<PartialSums> partly;
    std::optional<Sweep<T, RelaxReport>> sweep;
    const auto look = [&](const Window& at, const Sample& sample) {
        knowledge.set_window(at);
        partly.emplace(partition_of(rows, k), k, rows.p);
        std::vector<std::vector<double>> scratch(partly->partition.n_parts);
        const auto relax_range = [&](std::size_t part, Range range, RelaxReport& report,
                                     const Workspace<T>& work) {
            scratch[part].resize(k * (3 * 4 + 2));
            report.scratch = scratch[part].data();
            report.partly = (*partly)[part];
            for (std::size_t i = range.first; i < range.last; i += follow_rows) {
                const Range block{i, std::min(range.last, i + follow_rows)};
                report.fractions = fractions.grown(part, report.n_fractions);
                kernels<T>().relax(pass, step, block, report, work);
            }
            fractions.set_size(part, report.n_fractions);
            (*partly)[part] = report.partly;
        };
        sweep.emplace(team, pass, lists, sample, relax_range);
    };
    const auto ballot = [&] { return Ballot<T>(team, pass, step, sweep->undecided); };
    const auto mass_left = [&] { return mass - sweep->sure_mass; };
    const auto holds_threshold = [&] {
        return !ballot().is_above(mass_left()) && !ballot().is_below(mass_left());
    };
    if (window.sure == infinity)  // nothing is trimmed
        look(window, {});
    else
        look_until_it_holds(window, rows.n, look, holds_threshold, [&] {
            // rows are kept in part within a step of the cut
            const auto [sure, ceiling] =
                window_for(team, rows, sweep->undecided, mass / total_mass);
            return Window{sure - step.step, ceiling + step.step};
        });
    const Verdict verdict = ballot().settle(mass_left());
    const Fractions now = fractions.view();
    sweep->settle(team, [&](Range range, RelaxReport& report) {
        kernels<T>().settle_relaxed(pass, step, range, sweep->undecided, now, report);
    });
    std::vector<double> memory(k * (rows.p + 1));
    Sums total{memory.data(), memory.data() + k * rows.p};
    double change = verdict.change;
    for (std::size_t part = 0; part < sweep->reports.size(); ++part) {
        (*partly)[part] = sweep->reports[part].partly;
        change = std::max(change, sweep->reports[part].change);
    }
    partly->add_to(total);
    sweep->add_to(moments);
    refresh_if_stale(team, pass, lists, moments);
    write_means(rows, centers, moments, total, means);
    const double whole = find_objective(team, pass, moments, {infinity, rows.n, 1.0});
    return {verdict.threshold, change, whole + total.cost};
}

}  // namespace rtkm
