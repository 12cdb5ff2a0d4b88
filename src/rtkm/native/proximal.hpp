// The proximal step of memberships and inlier weights, for kernels.cpp alone.
#pragma once
#include "follow.hpp"
#include "lanes.hpp"
#include "sums.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Memberships of four rows, center after center.
template <class T>
inline void load_memberships(const std::uint32_t* rows, std::size_t k, const Watch& last,
                             const Proximal& step, const double* zeros, double* w) {
    constexpr std::size_t lanes = tile_rows<T>;
    if (last.labels == nullptr) {
        for (std::size_t j = 0; j < k; ++j) store(w + j * lanes, step.first_w + Four{});
        return;
    }
    const std::size_t s = last.s;
    const double* weights[four];
    for (std::size_t l = 0; l < four; ++l) {
        const std::int32_t label = last.labels[rows[l] * s];
        weights[l] = label < 0 ? step.fractions.of(rows[l], label) : zeros;
    }
    turn_in<T>(weights, k, w);
    for (std::size_t l = 0; l < four; ++l) {
        const std::int32_t* labels = last.labels + rows[l] * s;
        for (std::size_t r = 0; r < s; ++r)
            if (labels[r] >= 0) w[labels[r] * lanes + l] = 1.0;
    }
}

// The centers of four rows, each s; returns whether all of the rows are at vertices.
inline bool load_vertices(const std::uint32_t* rows, const Watch& last, double* numbers) {
    if (last.labels == nullptr) return false;
    for (std::size_t r = 0; r < last.s; ++r) {
        Four number;
        for (std::size_t l = 0; l < four; ++l)
            number[l] = last.labels[rows[l] * last.s + r];
        if (!all(number >= Four{})) return false;
        store(numbers + r * four, number);
    }
    return true;
}

// Writes the memberships of up to four rows: their s centers each, or k weights.
template <class T>
inline void keep_memberships(const std::uint32_t* rows, std::size_t n, std::size_t k,
                             const double* w, const Outcome& outcome, const Watch& out,
                             RelaxReport& report, double* dump) {
    const std::size_t s = out.s, n_before = report.n_fractions;
    double* weights[four] = {dump, dump, dump, dump};
    for (std::size_t l = 0; l < n; ++l) {
        std::int32_t* labels = out.labels + rows[l] * s;
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
                r += w[j * tile_rows<T> + l] == 1.0;
            }
        }
    }
    if (report.n_fractions > n_before) turn_out<T>(w, k, weights);
}

// Memory for the memberships of a tile, and more.
template <class T>
struct TileScratch {
    double *before, *after, *zeros, *dump, *lowest;

    TileScratch(double* memory, std::size_t k)
        : before(memory),
          after(before + k * tile_rows<T>),
          zeros(after + k * tile_rows<T>),
          dump(zeros + k),
          lowest(dump + k) {}
};

// Four rows that have met all centers: new memberships, and what they make of them.
template <class T>
inline Outcome move_four(const std::uint32_t* rows, std::size_t n, const T* distances,
                         const Following<T>& pass, const Proximal& step,
                         const TileScratch<T>& scratch, RelaxReport& report) {
    const std::size_t k = pass.centers.k, s = pass.out.s;
    Four pace;
    for (std::size_t l = 0; l < four; ++l) pace[l] = step.before(rows[l]);
    pace /= step.step;
    if (load_vertices(rows, pass.last, scratch.lowest)) {
        const Outcome outcome = survey(distances, k, scratch.lowest, s);
        if (all((outcome.farthest <= outcome.spare) | (pace == Four{}))) {
            for (std::size_t l = 0; l < n; ++l)
                for (std::size_t r = 0; r < s; ++r)
                    pass.out.labels[rows[l] * s + r] = pass.last.labels[rows[l] * s + r];
            return outcome;
        }
    }
    load_memberships<T>(rows, k, pass.last, step, scratch.zeros, scratch.before);
    const Outcome outcome = project_four(distances, k, s, pace, scratch.before,
                                         scratch.after, scratch.lowest);
    keep_memberships<T>(rows, n, k, scratch.after, outcome, pass.out, report,
                        scratch.dump);
    return outcome;
}

// The bounds of rows at a vertex; those of others do not matter.
template <class T>
inline void keep_bounds(const Following<T>& pass, const std::uint32_t* row, std::size_t n,
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
    for (std::size_t l = 0; l < n; ++l) {
        pass.out.far[row[l]] = bounds[0][l];
        pass.out.low[row[l]] = bounds[1][l];
        if (pass.out.s > 1) pass.out.reach[row[l]] = bounds[2][l];
    }
}

// Rows that meet all centers: new memberships, costs and bounds.
template <class T>
void move_tile(const Following<T>& pass, const Proximal& step, const Tile<T>& tile,
               std::size_t first, double* costs, RelaxReport& report,
               const Workspace<T>& work) {
    const TileScratch<T> scratch(report.scratch, pass.centers.k);
    tile_distances(pass.rows, tile, pass.centers, work);
    Four change = {};
    for (std::size_t from = 0; from < tile.count; from += four) {
        const std::uint32_t* row = tile.row + from;
        const std::size_t n = tile.count - from < four ? tile.count - from : four;
        const Outcome outcome =
            move_four(row, n, work.distances + from, pass, step, scratch, report);
        keep_bounds(pass, row, n, outcome);
        for (std::size_t l = 0; l < n; ++l) costs[row[l] - first] = outcome.cost[l];
        change = larger(change, outcome.change);
    }
    note_largest(change, report.change);
}

// Counts a row whose inlier weight is known: if it is whole at a vertex it joins the
// sums of its clusters, else it is summed for this pass alone.
template <class T>
inline void count_row(const Following<T>& pass, std::size_t i, double v, double cost,
                      const double* fractions, RelaxReport& report,
                      SharingRows<T>& sharing) {
    const std::size_t s = pass.out.s;
    const std::int32_t* const labels = pass.out.labels + i * s;
    const double weight = v * pass.rows.weight(i);
    const bool whole = (v == 1) & (labels[0] >= 0);
    pass.out.kept[i] = whole;
    const bool was_whole = pass.last.labels && pass.last.kept[i];
    const bool same =
        whole == was_whole && (!whole || (s == 1 && pass.last.labels[i] == labels[0]));
    if (!same) account(pass, i, report);
    if (whole | (weight == 0)) return;
    report.partly.cost += weight * cost;
    if (labels[0] < 0) return sharing.add(i, weight, fractions);
    for (std::size_t r = 0; r < s; ++r) sharing.add_to_one(i, weight, labels[r]);
}

// The inlier weights that do not depend on where in the window the threshold falls; the
// other rows are listed.
template <class T>
inline void weigh(const Following<T>& pass, const Proximal& step,
                  const std::uint32_t* awake, std::size_t n, std::size_t first,
                  const double* costs, RelaxReport& report) {
    const std::size_t k = pass.centers.k;
    SharingRows<T> sharing(pass.rows, k, report.partly);
    for (std::size_t a = 0; a < n; ++a) {
        const std::size_t i = awake[a];
        const double cost = costs[i - first], before = step.before(i);
        const bool sure = cost <= pass.window.sure - (1 - before) * step.step;
        const bool gone = cost >= pass.window.ceiling + before * step.step;
        step.v[i] = sure;
        if (!(sure | gone)) {
            report.undecided.rows[report.undecided.n] = awake[a];
            report.undecided.costs[report.undecided.n++] = cost;
            continue;
        }
        const double change = sure ? 1 - before : before;
        if (report.change < change) report.change = change;
        const std::int32_t label = pass.out.labels[i * pass.out.s];
        count_row(pass, i, sure, cost,
                  label < 0 ? report.fractions + ~label * k : nullptr, report, sharing);
    }
    sharing.finish();
}

// The mass of a block's rows that are surely kept.
template <class T>
inline double sure_mass(const Following<T>& pass, const Proximal& step, Range block,
                        const std::uint32_t* awake, std::size_t n_awake) {
    if (!pass.rows.weights) {
        double count = static_cast<double>(block.last - block.first - n_awake);
        for (std::size_t a = 0; a < n_awake; ++a) count += step.v[awake[a]];
        return count;
    }
    double mass = 0;
    for (std::size_t i = block.first; i < block.last; ++i)
        mass += step.v[i] * pass.rows.weights[i];
    return mass;
}

// Puts listed rows of a block in order: fractions are kept in that of the rows.
inline void sort_rows(std::uint32_t* listed, std::size_t n, Range block) {
    bool is_listed[follow_rows] = {};
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
void relax(const Following<T>& pass, const Proximal& step, Range block,
           RelaxReport& report, const Workspace<T>& work) {
    if (pass.drift)
        __builtin_memcpy(step.v + block.first, step.last_v + block.first,
                         (block.last - block.first) * sizeof *step.v);
    Awake awake;
    const auto is_frozen = [&](std::size_t i) { return step.last_v[i] == 0; };
    wake(pass, block, is_frozen, awake, work);
    if (pass.drift) sort_rows(awake.open, awake.n_open, block);
    for (std::size_t u = 0; u < awake.n_open; u += tile_rows<T>)
        move_tile(pass, step, Tile<T>(awake.open + u, awake.n_open - u), block.first,
                  awake.costs, report, work);
    weigh(pass, step, awake.rows, awake.n, block.first, awake.costs, report);
    report.sure_mass += sure_mass(pass, step, block, awake.rows, awake.n);
}

// Counts a range of the undecided rows, once they have their inlier weights.
template <class T>
void settle_relaxed(const Following<T>& pass, const Proximal& step, Range range,
                    const Undecided& undecided, const Fractions& fractions,
                    RelaxReport& report) {
    SharingRows<T> sharing(pass.rows, pass.centers.k, report.partly);
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
