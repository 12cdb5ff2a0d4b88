// The proximal step of memberships and inlier weights, for kernels.cpp alone.
#pragma once
#include "lanes.hpp"
#include "nearest.hpp"
#include "sums.hpp"
#include "weights.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Memberships of four rows, center after center.
template <class T>
inline void load_memberships(const std::uint32_t* rows, std::size_t k,
                             const Proximal& step, const double* zeros, double* w) {
    constexpr std::size_t lanes = tile_rows<T>;
    if (step.is_first()) {
        for (std::size_t j = 0; j < k; ++j) store(w + j * lanes, step.first_w + Four{});
        return;
    }
    const std::size_t s = step.last.s;
    const double* weights[four];
    for (std::size_t l = 0; l < four; ++l) {
        const std::int32_t label = step.last.labels[rows[l] * s];
        weights[l] = label < 0 ? step.last.fractions.of(rows[l], label) : zeros;
    }
    turn_in<T>(weights, k, w);
    for (std::size_t l = 0; l < four; ++l) {
        const std::int32_t* labels = step.last.labels + rows[l] * s;
        for (std::size_t r = 0; r < s; ++r)
            if (labels[r] >= 0) w[labels[r] * lanes + l] = 1.0;
    }
}

// The centers of four rows, each s; returns whether all of the rows are at vertices.
inline bool load_vertices(const std::uint32_t* rows, const Weights& last,
                          double* numbers) {
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
                             const double* w, const Outcome& outcome, const Weights& out,
                             PartReport& report, double* dump) {
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
                         std::size_t k, const Proximal& step, const Weights& out,
                         const TileScratch<T>& scratch, PartReport& report) {
    const std::size_t s = out.s;
    Four pace;
    for (std::size_t l = 0; l < four; ++l) pace[l] = step.v(rows[l]);
    pace /= step.step;
    if (load_vertices(rows, step.last, scratch.lowest)) {
        const Outcome outcome = survey(distances, k, scratch.lowest, s);
        if (all((outcome.farthest <= outcome.spare) | (pace == Four{}))) {
            for (std::size_t l = 0; l < n; ++l)
                for (std::size_t r = 0; r < s; ++r)
                    out.labels[rows[l] * s + r] = step.last.labels[rows[l] * s + r];
            return outcome;
        }
    }
    load_memberships<T>(rows, k, step, scratch.zeros, scratch.before);
    const Outcome outcome = project_four(distances, k, s, pace, scratch.before,
                                         scratch.after, scratch.lowest);
    keep_memberships<T>(rows, n, k, scratch.after, outcome, out, report, scratch.dump);
    return outcome;
}

// CSR rows leave the lanes beyond the end of a tile as they were; four rows at a time
// need numbers there.
template <class T>
inline void repeat_last(const Tile<T>& tile, std::size_t k, T* distances) {
    for (std::size_t l = tile.count; l % four > 0; ++l)
        for (std::size_t j = 0; j < k * tile_rows<T>; j += tile_rows<T>)
            distances[j + l] = distances[j + tile.count - 1];
}

// Rows that meet all centers: new memberships, costs and bounds.
template <class T>
void move_tile(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& centers,
               const Proximal& step, const Weights& out, PartReport& report, double* cost,
               std::size_t first, const Workspace<T>& work) {
    const TileScratch<T> scratch(report.scratch, centers.k);
    tile_distances(rows, tile, centers, work);
    repeat_last(tile, centers.k, work.distances);
    Four change = {};
    for (std::size_t from = 0; from < tile.count; from += four) {
        const std::uint32_t* row = tile.row + from;
        const std::size_t n = tile.count - from < four ? tile.count - from : four;
        const Outcome outcome = move_four(row, n, work.distances + from, centers.k, step,
                                          out, scratch, report);
        for (std::size_t l = 0; l < n; ++l) {
            out.spare[row[l]] = outcome.n_fractions[l] > 0 ? 0.0 : outcome.spare[l];
            cost[row[l] - first] = outcome.cost[l];
        }
        change = larger(change, outcome.change);
    }
    note_largest(change, report.change);
}

// Distances of a tile's rows to their own centers: the sum and the farthest. Rows at no
// vertex get any.
template <class T>
inline void meet_own(const T* const* row, const Centers<T>& centers,
                     const std::int32_t* labels, std::size_t s, double* sum,
                     double* farthest) {
    constexpr std::size_t lanes = tile_rows<T>;
    const T* own[lanes];
    T squared[lanes];
    for (std::size_t r = 0; r < s; ++r) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const std::int32_t label = labels[l * s + r];
            own[l] = centers.data + (label < 0 ? 0 : label) * centers.p;
        }
        paired_distances(row, own, centers.p, squared);
        for (std::size_t l = 0; l < lanes; ++l) {
            const double d = squared[l];
            sum[l] += d;
            farthest[l] = farthest[l] < d ? d : farthest[l];
        }
    }
}

// A whole tile of rows, many of which surely stay at their vertex: while no other center
// is nearer than their own, or they have no inlier weight to be moved by. Lists the
// others.
template <class T>
inline std::size_t stay_tile(const Rows<T> rows, std::size_t first,
                             const Centers<T> centers, const Drift& drift,
                             const Weights last, const Weights out, double* cost,
                             std::uint32_t* open) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = last.s;
    const std::int32_t* const labels = last.labels + first * s;
    const T* row[lanes];
    double spare[lanes], sum[lanes] = {}, farthest[lanes] = {};
    for (std::size_t l = 0; l < lanes; ++l) row[l] = rows.data + (first + l) * rows.p;
    meet_own(row, centers, labels, s, sum, farthest);
    lower_spares(row, first, centers, drift,
                 {last.labels, nullptr, nullptr, last.spare, s}, spare);
    __builtin_memcpy(out.labels + first * s, labels, lanes * s * sizeof *labels);
    __builtin_memcpy(out.spare + first, spare, sizeof spare);
    __builtin_memcpy(cost, sum, sizeof sum);
    const double trust = drift.trust;
    std::size_t n_open = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
        const bool stays = (labels[l * s] >= 0) & ((last.v[first + l] == 0) |
                                                   (farthest[l] < trust * spare[l]));
        open[n_open] = static_cast<std::uint32_t>(first + l);
        n_open += !stays;
    }
    return n_open;
}

// A block is at most follow_rows rows; what is known of each is numbered from its first.

// Lists the rows of a block that have to meet all centers; for the others everything but
// their inlier weight is done.
template <class T>
std::size_t stay(const Rows<T>& rows, Range block, const Centers<T>& centers,
                 const Proximal& step, const Weights& out, double* cost,
                 std::uint32_t* open) {
    std::size_t i = block.first, n_open = 0;
    if (step.drift)
        for (; i + tile_rows<T> <= block.last; i += tile_rows<T>)
            n_open += stay_tile(rows, i, centers, *step.drift, step.last, out,
                                cost + (i - block.first), open + n_open);
    for (; i < block.last; ++i) open[n_open++] = static_cast<std::uint32_t>(i);
    return n_open;
}

// The values of a block's rows, or all the same where there is no array of them. So that
// four can be taken at a time, there are more beyond the end.
inline void copy_or_fill(double* to, const double* from, double same, Range block,
                         double beyond) {
    const std::size_t n = block.last - block.first;
    if (from)
        __builtin_memcpy(to, from + block.first, n * sizeof *to);
    else
        for (std::size_t b = 0; b < n; ++b) to[b] = same;
    for (std::size_t b = n; b % four > 0; ++b) to[b] = beyond;
}

// Inlier weights of the rows for which they do not depend on where in the window the
// threshold falls; the others are listed, with their cost for a weight. `kept` becomes
// the weight of each row that is kept. Without branches on the cost, which would be
// gambles.
template <class T>
inline void weigh(const Rows<T>& rows, Range block, const Proximal& step,
                  const Weights& out, double* cost, double* kept, PartReport& report,
                  Sums& sums) {
    const std::size_t n = block.last - block.first;
    double v[follow_rows];
    copy_or_fill(v, step.last.v, step.first_v, block, 1.0);
    copy_or_fill(kept, rows.weights, 1.0, block, 0.0);
    for (std::size_t b = n; b % four > 0; ++b) cost[b] = -1e300;  // nothing moves there
    const Four zero = {}, one = zero + 1.0;
    Four mass = zero, total = zero, change = zero;
    for (std::size_t b = 0; b < n; b += four) {
        const Four c = load(cost + b), last = load(v + b), weight = load(kept + b);
        const Mask<double> sure = c <= step.window.sure - (one - last) * step.step;
        const Mask<double> gone = c >= step.window.ceiling + last * step.step;
        const Four now = sure ? one : (gone ? zero : c);
        const Four counted = sure ? weight : zero;
        change = larger(change, sure ? one - last : (gone ? last : zero));
        store(v + b, now);
        store(kept + b, counted);
        mass += counted;
        total += counted * c;
        if (all(sure | gone)) continue;
        const auto first = static_cast<std::uint32_t>(block.first + b);
        for (std::uint32_t l = 0; l < four && b + l < n; ++l) {
            report.undecided[report.n_undecided] = first + l;
            report.n_undecided += (sure[l] | gone[l]) == 0;
        }
    }
    __builtin_memcpy(out.v + block.first, v, n * sizeof *v);
    for (std::size_t l = 0; l < four; ++l) {
        report.mass += mass[l];
        sums.cost += total[l];
    }
    note_largest(change, report.change);
}

// Adds the rows of a block to their centers; those that are not kept weigh nothing.
template <class T, std::size_t S>
inline void sum_block(const Rows<T> rows, Range block, const Weights out,
                      const double* kept, std::size_t k, const double* fractions,
                      const Sums sums) {
    const std::size_t s = S ? S : out.s;
    SharingRows<T> sharing(rows, k, sums);
    for (std::size_t i = block.first; i < block.last; ++i) {
        const double weight = kept[i - block.first];
        const std::int32_t* labels = out.labels + i * s;
        if (labels[0] < 0) {
            sharing.add(i, weight, fractions + ~labels[0] * k);
            continue;
        }
        for (std::size_t r = 0; r < s; ++r) {
            sums.masses[labels[r]] += weight;
            add_row(rows, i, weight, sums.rows + labels[r] * rows.p);
        }
    }
    sharing.finish();
}

// All there is to do for a block before the threshold is known.
template <class T>
void relax(const Rows<T>& rows, Range block, const Centers<T>& centers,
           const Proximal& step, const Weights& out, PartReport& report, Sums& sums,
           const Workspace<T>& work) {
    std::uint32_t open[follow_rows];
    double cost[follow_rows], kept[follow_rows];
    const std::size_t n_open = stay(rows, block, centers, step, out, cost, open);
    for (std::size_t u = 0; u < n_open; u += tile_rows<T>)
        move_tile(rows, Tile<T>(open + u, n_open - u), centers, step, out, report, cost,
                  block.first, work);
    weigh(rows, block, step, out, cost, kept, report, sums);
    if (out.s == 1)
        sum_block<T, 1>(rows, block, out, kept, centers.k, report.fractions, sums);
    else
        sum_block<T, 0>(rows, block, out, kept, centers.k, report.fractions, sums);
}

// Sums a range of the undecided rows, once they have their inlier weights.
template <class T>
void sum_weighted(const Rows<T>& rows, Range range, const Undecided& undecided,
                  const Weights& weights, std::size_t k, Sums& sums) {
    const std::size_t s = weights.s;
    SharingRows<T> sharing(rows, k, sums);
    for (std::size_t u = range.first; u < range.last; ++u) {
        const std::size_t i = undecided.rows[u];
        const double weight = rows.weight(i) * weights.v[i];
        const std::int32_t* labels = weights.labels + i * s;
        if (labels[0] < 0) {
            sharing.add(i, weight, weights.fractions.of(i, labels[0]));
            continue;
        }
        for (std::size_t r = 0; r < s; ++r) {
            sums.masses[labels[r]] += weight;
            add_row(rows, i, weight, sums.rows + labels[r] * rows.p);
        }
    }
    sharing.finish();
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
