// The proximal step of memberships and inlier weights, for kernels.cpp alone.
#pragma once
#include "kernels/bounded_pass.hpp"
#include "kernels/lanes.hpp"
#include "kernels/sums.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Rows whose memberships may become, or stay, neither 0 nor 1, until there are four.
struct Movers {
    std::uint32_t rows[four];
    std::size_t n = 0;
    double sth_smallest[four];
    double *distances, *before, *after;  // k times four
    double *zeros, *dump;                // k

    Movers(double* memory, std::size_t k)
        : distances(memory),
          before(distances + k * four),
          after(before + k * four),
          zeros(after + k * four),
          dump(zeros + k) {}

    // The distances of a row are `stride` apart.
    template <class T>
    void add(std::uint32_t row, const T* its_distances, std::size_t stride, std::size_t k,
             double smallest) {
        for (std::size_t j = 0; j < k; ++j)
            distances[j * four + n] = its_distances[j * stride];
        sth_smallest[n] = smallest;
        rows[n++] = row;
    }
    // Lanes without a row of their own repeat the first.
    void fill(std::size_t k) {
        for (std::size_t l = n; l < four; ++l) {
            for (std::size_t j = 0; j < k; ++j)
                distances[j * four + l] = distances[j * four];
            sth_smallest[l] = sth_smallest[0];
            rows[l] = rows[0];
        }
    }
};

// Their memberships, center after center.
inline void load_memberships(const Movers& movers, std::size_t k, const Bounds& last,
                             const ProximalStep& step) {
    if (last.labels == nullptr) {
        for (std::size_t j = 0; j < k; ++j)
            store(movers.before + j * four, broadcast(step.first_w));
        return;
    }
    const std::size_t s = last.s;
    const double* weights[four];
    for (std::size_t l = 0; l < four; ++l) {
        const std::int32_t label = last.labels[movers.rows[l] * s];
        weights[l] = label < 0 ? step.fractions.of(movers.rows[l], label) : movers.zeros;
    }
    turn_in(weights, k, movers.before);
    for (std::size_t l = 0; l < four; ++l) {
        const std::int32_t* labels = last.labels + movers.rows[l] * s;
        for (std::size_t r = 0; r < s; ++r)
            if (labels[r] >= 0) movers.before[labels[r] * four + l] = 1.0;
    }
}

// Writes what they became: s centers each, or k weights.
inline void keep_memberships(const Movers& movers, std::size_t k, const Outcome& outcome,
                             const Bounds& out, ProximalReport& report) {
    const std::size_t s = out.s, n_before = report.n_fractions;
    double* const dump = movers.dump;
    double* weights[four] = {dump, dump, dump, dump};
    for (std::size_t l = 0; l < movers.n; ++l) {
        std::int32_t* labels = out.labels + movers.rows[l] * s;
        if (outcome.n_fractions[l] > 0) {
            weights[l] = report.fractions + report.n_fractions * k;
            const auto place = static_cast<std::int32_t>(report.n_fractions++);
            for (std::size_t r = 0; r < s; ++r) labels[r] = ~place;
        } else if (s == 1) {
            labels[0] = static_cast<std::int32_t>(outcome.label[l]);
        } else {
            std::size_t r = 0;
            for (std::size_t j = 0; j < k && r < s; ++j) {
                labels[r] = static_cast<std::int32_t>(j);
                r += movers.after[j * four + l] == 1.0;
            }
        }
    }
    if (report.n_fractions > n_before) turn_out(movers.after, k, weights);
}

// The bounds of those at a vertex; those of others do not matter.
template <class T>
inline void keep_bounds(const BoundedPass<T>& pass, const Movers& movers,
                        const Outcome& outcome) {
    constexpr std::size_t lanes = tile_rows<double>;
    double squared[3][lanes] = {};
    float bounds[3][lanes];
    store(squared[0], outcome.farthest);
    store(squared[1], outcome.spare);
    store(squared[2], outcome.cost);
    upper_bounds(squared[0], pass.per_square_up, bounds[0]);
    lower_bounds(squared[1], pass.per_square_down, bounds[1]);
    upper_bounds(squared[2], pass.per_square_up, bounds[2]);
    for (std::size_t l = 0; l < movers.n; ++l) {
        pass.out.own_upper[movers.rows[l]] = bounds[0][l];
        pass.out.other_lower[movers.rows[l]] = bounds[1][l];
        if (pass.out.s > 1) pass.out.cost_upper[movers.rows[l]] = bounds[2][l];
    }
}

// The cost of a row at a vertex, from its sorted distances as for rows that did not wait.
inline double cost_at_vertex(const Bounds& out, const Movers& movers, std::size_t lane) {
    const std::int32_t* const labels = out.labels + movers.rows[lane] * out.s;
    double* const own = movers.dump;
    for (std::size_t r = 0; r < out.s; ++r) {
        const double d = movers.distances[labels[r] * four + lane];
        std::size_t q = r;
        for (; q > 0 && d < own[q - 1]; --q) own[q] = own[q - 1];
        own[q] = d;
    }
    double sum = 0;
    for (std::size_t r = 0; r < out.s; ++r) sum += own[r];
    return sum;
}

// New memberships, costs and bounds of the rows that were waiting.
template <class T>
inline void move_all(const BoundedPass<T>& pass, const ProximalStep& step,
                     std::size_t first, double* costs, Movers& movers,
                     ProximalReport& report) {
    if (movers.n == 0) return;
    const std::size_t k = pass.centers.k;
    movers.fill(k);
    Four pace;
    for (std::size_t l = 0; l < four; ++l) pace[l] = step.before(movers.rows[l]);
    pace /= step.size;
    load_memberships(movers, k, pass.last, step);
    const Outcome outcome =
        project_four(movers.distances, k, pass.out.s, load(movers.sth_smallest), pace,
                     movers.before, movers.after);
    keep_memberships(movers, k, outcome, pass.out, report);
    if (any(outcome.n_fractions == Four{})) keep_bounds(pass, movers, outcome);
    for (std::size_t l = 0; l < movers.n; ++l)
        costs[movers.rows[l] - first] = outcome.n_fractions[l] == 0
                                            ? cost_at_vertex(pass.out, movers, l)
                                            : outcome.cost[l];
    note_largest(outcome.change, report.change);
    movers.n = 0;
}

// Whether two rows' labels are the same but for their order.
inline bool are_same(const std::int32_t* a, const std::int32_t* b, std::size_t s) {
    for (std::size_t r = 0; r < s; ++r)
        if (!has(b, s, a[r])) return false;
    return true;
}

// Rows that meet all centers. A row leaves all of itself to its s nearest centers if it
// is there already, or if the next one is farther away by some steps: two if memberships
// have to come down from 1, one if all start equal. The others wait for more of their
// kind. Which do is hard to foresee, so there is no branch on it.
template <class T>
void move_tile(const BoundedPass<T>& pass, const ProximalStep& step, const Tile<T>& tile,
               std::size_t first, double* costs, Movers& movers, ProximalReport& report,
               const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = pass.out.s;
    const bool is_first = pass.last.labels == nullptr;
    const std::int32_t* const last = is_first ? pass.out.labels : pass.last.labels;
    const double enough = is_first ? 1 : 2, all_the_way = is_first ? step.longest() : 1;
    const Measured<T> found = measure_all(pass, tile, first, costs, work);
    std::size_t waiting[lanes], n_waiting = 0;
    for (std::size_t l = 0; l < tile.count; ++l) {
        const std::size_t i = tile.row[l];
        const double gap = static_cast<double>(found.spare[l]) - found.farthest[l];
        const bool is_there =
            !is_first & are_same(pass.out.labels + i * s, last + i * s, s);
        const bool leaps =
            (gap * step.before(i) >= enough * step.size) & (last[i * s] >= 0);
        const double change = all_the_way * (leaps & !is_there);
        report.change = report.change < change ? change : report.change;
        waiting[n_waiting] = l;
        n_waiting += !(is_there | leaps);
    }
    for (std::size_t m = 0; m < n_waiting; ++m) {
        const std::size_t l = waiting[m];
        movers.add(tile.row[l], work.distances + l, lanes, pass.centers.k,
                   found.farthest[l]);
        if (movers.n == four) move_all(pass, step, first, costs, movers, report);
    }
}

// Leaves a row with its centers until it may be kept again; how far others are is not
// followed till then.
template <class T>
inline void freeze(const BoundedPass<T>& pass, std::size_t i, double cost) {
    constexpr float largest = std::numeric_limits<float>::max();
    const float x = static_cast<float>(cost * pass.per_square_down);
    const float root = __builtin_sqrtf(x < largest ? x : largest);
    pass.out.status[i] = RowStatus::frozen;
    pass.out.cost_upper[i] = multiply_add(root, rounded_down, -hidden);
    pass.out.other_lower[i] = 0;
}

// Counts a row whose inlier weight is known: if it is whole at a vertex it joins the
// sums of its clusters, else it is summed for this pass alone.
template <class T>
inline void count_row(const BoundedPass<T>& pass, std::size_t i, double v, double cost,
                      const double* fractions, ProximalReport& report,
                      SharingRows<T>& sharing) {
    const std::size_t s = pass.out.s;
    const std::int32_t* const labels = pass.out.labels + i * s;
    const double weight = v * pass.rows.weight(i);
    const bool whole = (v == 1) & (labels[0] >= 0);
    pass.out.status[i] = whole;
    if ((v == 0) & (labels[0] >= 0)) freeze(pass, i, cost);
    const bool was_whole = pass.last.labels && pass.last.status[i] == RowStatus::kept;
    if (whole | was_whole) account(pass, i, report);
    if (whole | (weight == 0)) return;
    report.partly.cost.add(0, weight * cost);
    if (labels[0] < 0) return sharing.add(i, weight, fractions);
    for (std::size_t r = 0; r < s; ++r) sharing.add_to_one(i, weight, labels[r]);
}

// The inlier weights that do not depend on where in the window the threshold falls; the
// other rows are listed. What a row needs is hard to foresee: there is no branch on it.
template <class T>
inline void weigh(const BoundedPass<T>& pass, const ProximalStep& step,
                  const std::uint32_t* awake, std::size_t n, std::size_t first,
                  const double* costs, ProximalReport& report) {
    const std::size_t k = pass.centers.k, s = pass.out.s;
    const Bounds& last = pass.last.labels ? pass.last : pass.out;
    std::uint32_t to_count[block_rows];
    std::size_t n_to_count = 0;
    for (std::size_t a = 0; a < n; ++a) {
        const std::size_t i = awake[a];
        const double cost = costs[i - first], before = step.before(i);
        const bool sure = cost <= multiply_add(before - 1, step.size, pass.window.sure);
        const bool gone = cost >= multiply_add(before, step.size, pass.window.ceiling);
        const double change = sure * (1 - before) + gone * before;
        report.change = report.change < change ? change : report.change;
        step.v[i] = sure;
        report.undecided.rows[report.undecided.n] = awake[a];
        report.undecided.costs[report.undecided.n] = cost;
        report.undecided.n += !(sure | gone);
        const bool was_whole = pass.last.labels && last.status[i] == RowStatus::kept;
        const bool stays =
            (s == 1) & was_whole & (last.labels[i * s] == pass.out.labels[i * s]);
        to_count[n_to_count] = awake[a];
        n_to_count += sure ? !stays : gone;
        pass.out.status[i] = sure;  // right if it stays; else it will be counted
    }
    SharingRows<T> sharing(pass.rows, k, report.partly, report.ends);
    for (std::size_t c = 0; c < n_to_count; ++c) {
        const std::size_t i = to_count[c];
        const std::int32_t label = pass.out.labels[i * s];
        count_row(pass, i, step.v[i], costs[i - first],
                  label < 0 ? report.fractions + ~label * k : nullptr, report, sharing);
    }
    sharing.finish();
}

// Adds the mass of a block's rows that are surely kept.
template <class T>
inline void add_sure_mass(const BoundedPass<T>& pass, const ProximalStep& step,
                          Range block, Exact& mass) {
    const double *const v = step.v, *const weights = pass.rows.weights;
    if (weights)
        add_terms(
            block, mass, [&](std::size_t i) { return load(v + i) * load(weights + i); },
            [&](std::size_t i) { return v[i] * weights[i]; });
    else
        add_terms(
            block, mass, [&](std::size_t i) { return load(v + i); },
            [&](std::size_t i) { return v[i]; });
}

// Puts listed rows of a block in order: fractions are kept in that of the rows.
inline void sort_rows(std::uint32_t* listed, std::size_t n, Range block) {
    bool is_listed[block_rows] = {};
    for (std::size_t u = 0; u < n; ++u) is_listed[listed[u] - block.first] = true;
    std::size_t at = 0;
    for (std::size_t i = block.first; i < block.last && at < n; ++i) {
        listed[at] = static_cast<std::uint32_t>(i);
        at += is_listed[i - block.first];
    }
}

// All there is to do for a block before the threshold is known. Rows without inlier
// weight are frozen: nothing moves their memberships.
template <class T>
void proximal_step(const BoundedPass<T>& pass, const ProximalStep& step, Range block,
                   ProximalReport& report, const Workspace<T>& work) {
    if (pass.center_shift)
        __builtin_memcpy(step.v + block.first, step.last_v + block.first,
                         (block.last - block.first) * sizeof *step.v);
    Awake awake;
    const auto is_frozen = [&](std::size_t i) { return step.last_v[i] == 0; };
    wake(pass, block, is_frozen, awake, work);
    if (pass.center_shift) sort_rows(awake.open, awake.n_open, block);
    Movers movers(report.scratch, pass.centers.k);
    for (std::size_t u = 0; u < awake.n_open; u += tile_rows<T>)
        move_tile(pass, step, Tile<T>(awake.open + u, awake.n_open - u), block.first,
                  awake.costs, movers, report, work);
    move_all(pass, step, block.first, awake.costs, movers, report);
    weigh(pass, step, awake.rows, awake.n, block.first, awake.costs, report);
    add_sure_mass(pass, step, block, report.sure_mass);
}

// Counts a range of the undecided rows, once they have their inlier weights.
template <class T>
void settle_proximal(const BoundedPass<T>& pass, const ProximalStep& step, Range range,
                     const Undecided& undecided, const Fractions& fractions,
                     ProximalReport& report) {
    SharingRows<T> sharing(pass.rows, pass.centers.k, report.partly, report.ends);
    for (std::size_t u = range.first; u < range.last; ++u) {
        const std::size_t i = undecided.rows[u];
        const std::int32_t label = pass.out.labels[i * pass.out.s];
        count_row(pass, i, step.v[i], undecided.costs[u],
                  label < 0 ? fractions.of(i, label) : nullptr, report, sharing);
    }
    sharing.finish();
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
