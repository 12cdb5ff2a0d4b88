// One pass that follows another: what both kinds of steps share.
#pragma once
#include <numeric>
#include <optional>

#include "clusters.hpp"
#include "drift.hpp"
#include "passes.hpp"
#include "select.hpp"

namespace rtkm {

// What the last pass left.
template <class T>
struct LastPass {
    Centers<T> centers;
    Watch watch;
};

// Memory of a pass for rows that are undecided, n each.
struct Lists {
    std::uint32_t* rows;
    double* costs;
};

// A partition that each part's sums are affordable for.
template <class T>
Partition partition_of(const Rows<T>& rows, std::size_t k) {
    return Partition(rows.n, k * Moments{nullptr, rows.p}.stride());
}

// What a pass knows from the last one, if there is one.
template <class T>
class Knowledge {
public:
    Knowledge(const Rows<T>& rows, const Centers<T>& centers, const LastPass<T>* last,
              bool uses_bounds, const Watch& out) {
        const double rounding = rounding_of_distances<T>(rows.p);
        const double per_square = 1 / rows.unit / rows.unit;
        pass = {rows,
                centers,
                {},
                out,
                nullptr,
                {},
                0,
                0,
                per_square * (1 + rounding),
                per_square * (1 - rounding)};
        if (!last) return;
        pass.last = last->watch;
        if (!uses_bounds || rows.is_csr()) return;
        travel_.emplace(centers, last->centers, rows.unit);
        if (!travel_->pays(last->watch, rows.n)) return;
        drift_ = travel_->drift();
        pass.drift = &drift_;
    }
    Knowledge(const Knowledge&) = delete;

    void set_window(const Window& window) {
        pass.window = window;
        const double sure = std::max(window.sure, 0.0) * pass.per_square_down;
        pass.sure_reach = static_cast<float>(std::sqrt(sure) * (1 - 1e-6));
        const double gone = std::max(window.ceiling, 0.0) * pass.per_square_up;
        pass.gone_reach = static_cast<float>(std::sqrt(gone) * (1 + 1e-6));
    }

    Following<T> pass;

private:
    std::optional<Travel<T>> travel_;
    Drift drift_;
};

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

// One pass, for a window that is hoped to hold the cut; the body is a kernel on a range
// of a part.
template <class T, class Report>
class Sweep {
public:
    template <class Body>
    Sweep(const Team& team, const Following<T>& pass, const Lists& lists,
          const Sample& sample, Body body)
        : pass_(pass),
          partition_(partition_of(pass.rows, pass.centers.k)),
          reports(partition_.n_parts),
          undecided{lists.rows, lists.costs} {
        const std::size_t size = pass.centers.k * Moments{nullptr, pass.rows.p}.stride();
        memory_.resize(reports.size() * size);
        for (std::size_t part = 0; part < reports.size(); ++part) {
            const std::size_t first = partition_[part].first;
            reports[part].moments = {memory_.data() + part * size, pass.rows.p};
            reports[part].undecided = {lists.rows + first, lists.costs + first};
        }
        rtkm::pass<T>(team, partition_, pass.rows, pass.centers.k, pass.out.s,
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
            sure_mass += report.sure_mass;
        }
    }

    // Runs settle(range, report) on the undecided rows; any report will do for them.
    template <class Settle>
    void settle(const Team& team, Settle settle) {
        const Partition some(undecided.n,
                             pass_.centers.k * Moments{nullptr, pass_.rows.p}.stride());
        for_each_part(team, some, pass_.rows.p, [&](std::size_t part, Range range) {
            settle(range, reports[part]);
        });
    }

    std::size_t n_changed() const {
        std::size_t sum = 0;
        for (const Report& report : reports) sum += report.n_changed;
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
    const Following<T>& pass_;
    const Partition partition_;
    std::vector<double> memory_;

public:
    std::vector<Report> reports;
    Undecided undecided;
    double sure_mass = 0;
};

// What is less than this share of the squares has lost too many of their digits.
constexpr double least_share = 1e-9;

// The cost of what is kept, from the sums of the clusters.
template <class T>
double cost_about_centers(const Following<T>& pass, const Moments& moments) {
    const std::size_t p = pass.rows.p;
    Exact cost;
    for (std::size_t j = 0; j < pass.centers.k; ++j)
        cost.add(cost_about(moments[j], pass.rows.origin, pass.centers.data + j * p, p));
    return cost.value();
}

// Sums all rows again if some have left that were so far away that even twice the digits
// may not be enough for the others.
template <class T>
void refresh_if_stale(const Team& team, const Following<T>& pass, const Lists& lists,
                      const Moments& moments) {
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
    Sweep<T, PassReport>(team, pass, lists, {}, sum_kept).add_to(moments);
}

constexpr Window all_undecided{-infinity, infinity};

// A window that holds the cut if the asked rows tell of all.
template <class T>
Window window_for(const Team& team, const Rows<T>& rows, const Undecided& asked,
                  double kept_share) {
    const Values costs{asked.costs, rows.weights, asked.n, asked.rows};
    double mass = 0;
    for (std::size_t u = 0; u < asked.n; ++u) mass += costs.weight(u);
    const auto cost_at = [&](double share) {
        return find_cut(team, costs, share * mass).threshold;
    };
    const double error = Sample::error(kept_share);
    return {kept_share > error ? cost_at(kept_share - error) : -infinity,
            kept_share + error < 1 ? cost_at(kept_share + error) : infinity};
}

// Looks at all rows with a window that holds the cut: the one that is expected, or what
// a sample tells, or else no window at all.
template <class Look, class Holds, class Tell>
void look_until_it_holds(const Window& expected, std::size_t n, Look look, Holds holds,
                         Tell tell) {
    const bool is_expected = !std::isinf(expected.sure);
    if (is_expected) look(expected, Sample{});
    if (is_expected && holds()) return;
    const Sample some = Sample::of(n);
    if (some.stride) {
        look(all_undecided, some);
        look(tell(), Sample{});
        if (holds()) return;
    }
    look(all_undecided, Sample{});
}

// The cost of what is kept. Where clusters are so far apart and so tight that the sums
// have too few digits for it, the rows are asked.
template <class T>
double find_objective(const Team& team, const Following<T>& pass, const Moments& moments,
                      const Cut& cut) {
    const std::size_t k = pass.centers.k;
    const double cost = cost_about_centers(pass, moments);
    double squares = 0;
    for (std::size_t j = 0; j < k; ++j) squares += moments[j].all_squares().value();
    if (cost >= least_share * squares) return cost;
    const Partition partition(pass.rows.n);
    std::vector<double> partial(partition.n_parts);
    rtkm::pass<T>(team, partition, pass.rows, k, pass.out.s,
                  [&](std::size_t part, Range range, const Workspace<T>& work) {
                      partial[part] += kernels<T>().kept_cost(pass, range, cut, work);
                  });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace rtkm
