// One pass after another: what both kinds of steps share.
#pragma once
#include <optional>

#include "passes/center_shift.hpp"
#include "passes/clusters.hpp"
#include "passes/passes.hpp"
#include "passes/state.hpp"

namespace rtkm {

// Memory of a pass for rows that are undecided, n each. Few of its pages are ever
// touched, so it takes none from the pool.
class Lists {
public:
    explicit Lists(std::size_t n) : rows_(new std::uint32_t[n]), costs_(new double[n]) {}
    Undecided from(std::size_t first) const {
        return {rows_.get() + first, costs_.get() + first};
    }

private:
    std::unique_ptr<std::uint32_t[]> rows_;
    std::unique_ptr<double[]> costs_;
};

// A partition that each part's sums are affordable for.
template <class T>
Partition partition_of(const Rows<T>& rows, std::size_t k) {
    return Partition(rows.n, k * Moments{nullptr, rows.p}.stride());
}

// What a pass knows from the last one, if there is one.
template <class T>
class PassSetup {
public:
    PassSetup(const StepInput<T>& input, const PassState<T>* last, const Bounds& out) {
        const Rows<T>& rows = input.rows;
        const double rounding = rounding_of_distances<T>(rows.p);
        const double per_square = 1 / rows.unit / rows.unit;
        pass = {rows,
                input.centers,
                {},
                out,
                nullptr,
                {},
                0,
                0,
                per_square * (1 + rounding),
                per_square * (1 - rounding)};
        if (!last) return;
        pass.last = last->bounds.view();
        if (!input.uses_bounds || rows.is_csr()) return;
        shifts_.emplace(input.centers, last->centers_view(), rows.unit);
        if (!shifts_->pays(pass.last, rows.n)) return;
        center_shift_ = shifts_->view();
        pass.center_shift = &center_shift_;
    }
    PassSetup(const PassSetup&) = delete;

    void set_window(const Window& window) {
        pass.window = window;
        const double sure = std::max(window.sure, 0.0) * pass.per_square_down;
        pass.sure_root = static_cast<float>(std::sqrt(sure) * (1 - 1e-6));
        const double gone = std::max(window.ceiling, 0.0) * pass.per_square_up;
        pass.gone_root = static_cast<float>(std::sqrt(gone) * (1 + 1e-6));
    }

    BoundedPass<T> pass;

private:
    std::optional<CenterShifts<T>> shifts_;
    CenterShift center_shift_;
};

// One pass, for a window that is hoped to hold the cut; the body is a kernel on a range
// of a part.
template <class T, class Report>
class Sweep {
public:
    template <class Body>
    Sweep(const Parallel& parallel, const BoundedPass<T>& pass, const Lists& lists,
          const Sample& sample, Body body)
        : pass_(pass),
          partition_(partition_of(pass.rows, pass.centers.k)),
          reports(partition_.n_parts),
          undecided(lists.from(0)) {
        const std::size_t size = pass.centers.k * Moments{nullptr, pass.rows.p}.stride();
        memory_.resize(reports.size() * size);
        for (std::size_t part = 0; part < reports.size(); ++part) {
            const std::size_t first = partition_[part].first;
            reports[part].moments = {memory_.data() + part * size, pass.rows.p};
            reports[part].undecided = lists.from(first);
        }
        rtkm::pass<T>(parallel, partition_, pass.rows, pass.centers.k, pass.out.s,
                      [&](std::size_t part, Range range, const Workspace<T>& work) {
                          sample.visit(range, [&](Range some) {
                              body(part, some, reports[part], work);
                          });
                      });
        for (const Report& report : reports) {
            const Undecided& part = report.undecided;
            std::copy_n(part.rows, part.n, undecided.rows + undecided.n);
            std::copy_n(part.costs, part.n, undecided.costs + undecided.n);
            undecided.n += part.n;
            sure_mass.add(report.sure_mass);
        }
    }

    // Runs settle(range, report) on the undecided rows; any report will do for them.
    template <class Settle>
    void settle(const Parallel& parallel, Settle settle) {
        const Partition some(undecided.n,
                             pass_.centers.k * Moments{nullptr, pass_.rows.p}.stride());
        for_each_part(parallel, some, pass_.rows.p, [&](std::size_t part, Range range) {
            settle(range, reports[part]);
        });
    }

    std::size_t n_changed() const {
        std::size_t sum = 0;
        for (const Report& report : reports) sum += report.n_changed;
        return sum;
    }

    std::uint64_t digest() const {
        std::uint64_t sum = 0;
        for (const Report& report : reports) sum += report.digest;
        return sum;
    }

    // Adds what came to the clusters, in the order of the parts.
    void add_to(const Moments& moments) const {
        for (std::size_t j = 0; j < pass_.centers.k; ++j) {
            for (const Report& part : reports)
                add(part.moments[j], moments.p, moments[j]);
            finish(moments, j);
        }
    }

private:
    const BoundedPass<T>& pass_;
    const Partition partition_;
    std::vector<double> memory_;

public:
    std::vector<Report> reports;
    Undecided undecided;
    Exact sure_mass;
};

// What is less than this share of the squares has lost too many of their digits.
constexpr double least_share = 1e-9;

// The cost of what is kept, from the sums of the clusters.
template <class T>
double cost_about_centers(const BoundedPass<T>& pass, const Moments& moments) {
    const std::size_t p = pass.rows.p;
    Exact cost;
    for (std::size_t j = 0; j < pass.centers.k; ++j)
        cost.add(cost_about(moments[j], pass.rows.origin, pass.centers.data + j * p, p));
    return cost.value();
}

// Sums all rows again if some have left that were so far away that even twice the digits
// may not be enough for the others.
template <class T>
void refresh_if_stale(const Parallel& parallel, const BoundedPass<T>& pass,
                      const Lists& lists, const Moments& moments) {
    double squares = 0, peak = 0;
    for (std::size_t j = 0; j < pass.centers.k; ++j) {
        squares += moments[j].all_squares().value();
        peak += *moments[j].peak;
    }
    if (peak <= 4 * squares || cost_about_centers(pass, moments) >= least_share * peak)
        return;
    std::fill_n(moments.memory, pass.centers.k * moments.stride(), 0.0);
    const auto sum_kept = [&](std::size_t, Range range, PassReport& report,
                              const Workspace<T>&) {
        kernels<T>().sum_kept(pass, range, report);
    };
    Sweep<T, PassReport>(parallel, pass, lists, {}, sum_kept).add_to(moments);
}

// The cost of what is kept, row by row.
template <class T>
Exact kept_cost(const Parallel& parallel, const BoundedPass<T>& pass, const Cut& cut) {
    SumsOfParts total(Partition(pass.rows.n), 1);
    rtkm::pass<T>(parallel, total.partition, pass.rows, pass.centers.k, pass.out.s,
                  [&](std::size_t part, Range range, const Workspace<T>& work) {
                      kernels<T>().add_kept_cost(pass, range, cut, total[part], work);
                  });
    return total.add_up()[0];
}

// The cost of what is kept. Where clusters are so far apart and so tight that the sums
// have too few digits for it, the rows are asked.
template <class T>
double find_objective(const Parallel& parallel, const BoundedPass<T>& pass,
                      const Moments& moments, const Cut& cut) {
    const double cost = cost_about_centers(pass, moments);
    double squares = 0;
    for (std::size_t j = 0; j < pass.centers.k; ++j)
        squares += moments[j].all_squares().value();
    return cost >= least_share * squares ? cost : kept_cost(parallel, pass, cut).value();
}

}  // namespace rtkm
