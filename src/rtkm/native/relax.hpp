// The fused proximal step: memberships, inlier weights, and sums of what they keep,
// reading the table once where it can.
#pragma once
#include <cmath>
#include <numeric>

#include "passes.hpp"
#include "simplex.hpp"

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
        return {chunks_.data(), chunks_.size(), std::max<std::size_t>(chunk_rows_, 1), k_};
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

// A pass over all rows: what is sure, and the rows that are not.
template <class T>
struct Sweep {
    PartialSums sums;
    std::vector<PartReport> reports;
    Undecided undecided;

    Sweep(const Team& team, const Rows<T>& rows, const Centers<T>& centers,
          const Proximal& step, const Weights& out, FractionMemory& fractions)
        : sums(rows.n, centers.k, rows.p),
          reports(sums.partition.n_parts),
          listed_(new std::uint32_t[rows.n]) {
        std::vector<std::vector<double>> scratch(reports.size());
        pass<T>(team, sums.partition, rows, centers.k, out.s,
                [&](std::size_t part, Range range, const Workspace<T>& work) {
                    PartReport& report = reports[part];
                    scratch[part].resize(2 * centers.k * (tile_rows<T> + 1) + out.s * 4);
                    report.scratch = scratch[part].data();
                    report.undecided = &listed_[sums.partition[part].first];
                    for (std::size_t i = range.first; i < range.last; i += follow_rows) {
                        const Range block{i, std::min(range.last, i + follow_rows)};
                        report.fractions = fractions.grown(part, report.n_fractions);
                        kernels<T>().relax(rows, block, centers, step, out, report,
                                           sums[part], work);
                    }
                    fractions.set_size(part, report.n_fractions);
                });
        undecided.rows = listed_.get();
        for (const PartReport& report : reports) {
            std::copy_n(report.undecided, report.n_undecided, undecided.rows + undecided.n);
            undecided.n += report.n_undecided;
        }
    }
    double sure_mass() const {
        double mass = 0;
        for (const PartReport& report : reports) mass += report.mass;
        return mass;
    }
    double change() const {
        double most = 0;
        for (const PartReport& report : reports) most = std::max(most, report.change);
        return most;
    }

private:
    std::unique_ptr<std::uint32_t[]> listed_;
};

// What the inlier weights of the undecided rows come to.
struct Verdict {
    double cost = 0, change = 0;
    double partly = 0;                // what is kept of rows that are kept in part
    double kept_most, trimmed_least;  // costs
    double threshold = 0;

    void add(const Verdict& part) {
        cost += part.cost;
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

// The inlier weights of the undecided rows; their costs are in place of these.
template <class T>
class Ballot {
public:
    Ballot(const Team& team, const Rows<T>& rows, const Proximal& step, double* v,
           const Undecided& undecided)
        : team_(team), rows_(rows), step_(step), v_(v), undecided_(undecided) {}

    // Whether the threshold that keeps the mass is in the window.
    bool is_in_window(double mass) const {
        return level({step_.window.sure}, 0).total(0) <= mass &&
               level({step_.window.ceiling}, 0).total(0) >= mass;
    }

    Verdict settle(double mass) const {
        const Reference reference = find_reference(mass);
        const double shift = solve_shift(
            mass, [&](double at) { return level(reference, at); }, reference.start);
        const Partition partition(undecided_.n);
        const Verdict none{0, 0, 0, step_.window.sure, step_.window.ceiling};
        std::vector<Verdict> partial(partition.n_parts, none);
        for_each_part(team_, partition, 8, [&](std::size_t part, Range range) {
            for (std::size_t u = range.first; u < range.last; ++u)
                partial[part].add(set_weight(undecided_.rows[u], reference, shift));
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
    const Proximal& step_;
    double* v_;
    const Undecided undecided_;

    // What rows are measured from. Near to the threshold it keeps the digits of those
    // that matter, and leaves a shift within [-2, 1].
    struct Reference {
        double cost, v = 0, start = 0;
    };

    // The row at which the cheapest reach the mass; or, if the window is narrow, its
    // middle.
    Reference find_reference(double mass) const {
        const auto [sure, ceiling] = step_.window;
        if (ceiling - sure < step_.step) return {(sure + ceiling) / 2};
        const Values costs{v_, rows_.weights, undecided_.n, undecided_.rows};
        const Cut cut = find_cut(team_, costs, mass);
        if (std::isinf(cut.threshold)) return {sure};  // no undecided row weighs anything
        return {cut.threshold, step_.v(cut.row), -1.0};
    }
    double entry(std::size_t i, const Reference& reference) const {
        return (step_.v(i) - reference.v) - (v_[i] - reference.cost) / step_.step;
    }
    Level level(const Reference& reference, double shift) const {
        return sum_levels(team_, undecided_.n, shift, [&](std::size_t u) {
            const std::size_t i = undecided_.rows[u];
            return Entry{entry(i, reference), rows_.weight(i)};
        });
    }
    Verdict set_weight(std::size_t i, const Reference& reference, double shift) const {
        const double cost = v_[i], v = clip_to_unit(entry(i, reference) - shift);
        const double weight = rows_.weight(i) * v;
        v_[i] = v;
        return {weight * cost, std::abs(v - step_.v(i)), v < 1 ? weight : 0.0,
                v == 1 ? cost : -infinity, v == 0 ? cost : infinity};
    }
};

// Whether most rows surely stay where they are, to judge by some of them: only then it
// is quicker to look for those that may not.
template <class T>
bool most_stay(const Rows<T>& rows, const Centers<T>& centers, const Proximal& step,
               const Weights& out) {
    constexpr std::size_t n_asked = 32, asked_rows = 16;
    const std::size_t stride = std::max(rows.n / n_asked / 16 * 16, asked_rows);
    std::uint32_t open[follow_rows];
    double cost[follow_rows];
    std::size_t n_open = 0, n_seen = 0;
    for (std::size_t i = 0; i + asked_rows <= rows.n; i += stride) {
        n_open += kernels<T>().stay(rows, {i, i + asked_rows}, centers, step, out, cost,
                                    open);
        n_seen += asked_rows;
    }
    return 2 * n_open < n_seen;
}

struct Relaxed {
    double threshold, change;
};

// `last_centers` may be null, and changes nothing but the time it takes; so does the
// window, which only must not be empty.
template <class T>
Relaxed relax(const Team& team, const Rows<T>& rows, const Centers<T>& centers,
              const Centers<T>* last_centers, Proximal step, double mass, Weights out,
              FractionMemory& fractions, Sums& total) {
    std::optional<Travel<T>> travel;
    // a center on its own takes about four times as long as one of many
    if (last_centers && !rows.is_csr() && 4 * out.s <= centers.k) {
        travel.emplace(centers, *last_centers);
        step.drift = &travel->drift;
        if (!most_stay(rows, centers, step, out)) step.drift = nullptr;
    }
    std::optional<Sweep<T>> sweep;
    sweep.emplace(team, rows, centers, step, out, fractions);
    const auto ballot = [&] {
        return Ballot<T>(team, rows, step, out.v, sweep->undecided);
    };
    if (!std::isinf(step.window.sure) &&
        !ballot().is_in_window(mass - sweep->sure_mass())) {
        step.window = {-infinity, infinity};
        sweep.emplace(team, rows, centers, step, out, fractions);
    }
    const Verdict verdict = ballot().settle(mass - sweep->sure_mass());
    out.fractions = fractions.view();
    sweep->sums.add_to(total);
    PartialSums sums(sweep->undecided.n, centers.k, rows.p);
    const std::size_t row_work = rows.p * centers.k;
    for_each_part(team, sums.partition, row_work, [&](std::size_t part, Range range) {
        kernels<T>().sum_weighted(rows, range, sweep->undecided, out, centers.k,
                                  sums[part]);
    });
    sums.add_to(total);
    total.cost += verdict.cost;
    return {verdict.threshold, std::max(sweep->change(), verdict.change)};
}

}  // namespace rtkm
