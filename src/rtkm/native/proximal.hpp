// The proximal step of memberships and inlier weights, for kernels.cpp alone.
#pragma once
#include "nearest.hpp"
#include "shift.hpp"
#include "sums.hpp"
#include "weights.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// A block is at most follow_rows rows; what is known of each is numbered from its first.

// Weights are doubles whatever the rows are: a tile takes several registers of them.
using Four = Vec<double>;
constexpr std::size_t four = width<double>;

inline Four smaller(Four a, Four b) { return a < b ? a : b; }
inline Four larger(Four a, Four b) { return a < b ? b : a; }
inline bool all(Mask<double> m) { return (m[0] & m[1] & m[2] & m[3]) != 0; }

// The s-th smallest of k distances; `lowest` has room for s times four.
template <class T>
inline Four sth_smallest(const T* distances, std::size_t k, std::size_t s,
                         double* lowest) {
    const Four infinity = broadcast(std::numeric_limits<double>::infinity());
    Four first = infinity;
    for (std::size_t r = 1; r < s; ++r) store(lowest + r * four, infinity);
    for (std::size_t j = 0; j < k; ++j) {
        const Four d = load_as_double(distances + j * tile_rows<T>);
        Four passed = larger(first, d);
        first = smaller(first, d);
        for (std::size_t r = 1; r < s; ++r) {
            const Four held = load(lowest + r * four);
            store(lowest + r * four, smaller(held, passed));
            passed = larger(held, passed);
        }
    }
    return s == 1 ? first : load(lowest + (s - 1) * four);
}

// The shift that makes k entries, cut off at 0 and 1, sum to s.
template <class T>
inline Four find_shift(const double* entries, std::size_t k, std::size_t s, Four start,
                       Mask<double> needless) {
    const Four zero = {}, one = zero + 1.0;
    ShiftSearch<Four> search;
    search.shift = larger(smaller(start, one), -one);
    search.done = needless;
    while (!all(search.done)) {
        Four excess = zero - static_cast<double>(s), inner = zero;
        for (std::size_t j = 0; j < k; ++j) {
            const Four w = load(entries + j * tile_rows<T>) - search.shift;
            excess += smaller(larger(w, zero), one);
            inner += (w > zero) & (w < one) ? one : zero;
        }
        search.move(excess, inner, inner + static_cast<double>(s));
    }
    return search.shift;
}

// What the new memberships of four rows make of them.
struct Outcome {
    Four cost = {}, change = {}, n_fractions = {};
    Four spare = Four{} + std::numeric_limits<double>::infinity();
    Four label = {};  // the one center a row belongs to, where there is just one
};

// Projects w - pace * distance, entry by entry. Distances are measured from the s-th
// smallest: this keeps the digits of those that matter, however large they are against
// the step, and leaves a shift within [-1, 1]. At no pace nothing moves, to the last bit.
template <class T>
inline Outcome project_four(const T* distances, std::size_t k, std::size_t s, Four pace,
                            const double* before, double* after, double* scratch) {
    constexpr std::size_t lanes = tile_rows<T>;
    const Four zero = {}, one = zero + 1.0;
    const Four reference = sth_smallest(distances, k, s, scratch);
    Four inner = zero, moved = zero;
    for (std::size_t j = 0; j < k * lanes; j += lanes) {
        const Four last = load(before + j);
        const Four move = pace * (load_as_double(distances + j) - reference);
        store(after + j, last - move);
        const Mask<double> is_inner = (last > zero) & (last < one);
        inner += is_inner ? one : zero;
        moved += is_inner ? move : zero;
    }
    // mostly the same entries stay strictly between 0 and 1
    const Four start = inner > zero ? -moved / inner : zero;
    const Four shift = find_shift<T>(after, k, s, start, pace == zero);
    Outcome out;
    Four number = zero;
    for (std::size_t j = 0; j < k * lanes; j += lanes, number += one) {
        const Four d = load_as_double(distances + j), last = load(before + j);
        Four w = load(after + j) - shift;
        w = w < rounding_dust + zero ? zero : w;
        w = w > one - rounding_dust ? one : w;
        w = pace == zero ? last : w;
        store(after + j, w);
        out.cost += w * d;
        out.change = larger(out.change, larger(w - last, last - w));
        out.n_fractions += (w > zero) & (w < one) ? one : zero;
        out.spare = w == zero ? smaller(out.spare, d) : out.spare;
        out.label += w == one ? number : zero;
    }
    return out;
}

// Four rows of k numbers each, to k times four of them, and back.
template <class T>
inline void turn_in(const double* const (&row)[four], std::size_t k, double* columns) {
    std::size_t j = 0;
    for (; j + four <= k; j += four) {
        Four v[four];
        for (std::size_t l = 0; l < four; ++l) v[l] = load(row[l] + j);
        transpose(v);
        for (std::size_t l = 0; l < four; ++l) store(columns + (j + l) * tile_rows<T>, v[l]);
    }
    for (; j < k; ++j)
        for (std::size_t l = 0; l < four; ++l) columns[j * tile_rows<T> + l] = row[l][j];
}

template <class T>
inline void turn_out(const double* columns, std::size_t k, double* const (&row)[four]) {
    std::size_t j = 0;
    for (; j + four <= k; j += four) {
        Four v[four];
        for (std::size_t l = 0; l < four; ++l) v[l] = load(columns + (j + l) * tile_rows<T>);
        transpose(v);
        for (std::size_t l = 0; l < four; ++l) store(row[l] + j, v[l]);
    }
    for (; j < k; ++j)
        for (std::size_t l = 0; l < four; ++l) row[l][j] = columns[j * tile_rows<T> + l];
}

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
        for (std::size_t r = 0; r < s && labels[0] >= 0; ++r) w[labels[r] * lanes + l] = 1.0;
    }
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

// Rows that meet all centers: new memberships, costs and bounds.
template <class T>
void project_tile(const Rows<T>& rows, const Tile<T>& tile, const Centers<T>& centers,
                  const Proximal& step, const Weights& out, PartReport& report,
                  double* cost, std::size_t first, const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t k = centers.k, s = out.s;
    double *before = report.scratch, *after = before + k * lanes;
    double *zeros = after + k * lanes, *dump = zeros + k, *scratch = dump + k;
    tile_distances(rows, tile, centers, work);
    Four change = {};
    for (std::size_t from = 0; from < tile.count; from += four) {
        const std::uint32_t* four_rows = tile.row + from;
        load_memberships<T>(four_rows, k, step, zeros, before + from);
        Four pace;
        for (std::size_t l = 0; l < four; ++l) pace[l] = step.v(four_rows[l]);
        const Outcome outcome =
            project_four(work.distances + from, k, s, pace / step.step, before + from,
                         after + from, scratch);
        const std::size_t n = tile.count - from < four ? tile.count - from : four;
        keep_memberships<T>(four_rows, n, k, after + from, outcome, out, report, dump);
        for (std::size_t l = 0; l < n; ++l) {
            out.spare[four_rows[l]] = outcome.n_fractions[l] > 0 ? 0.0 : outcome.spare[l];
            cost[four_rows[l] - first] = outcome.cost[l];
        }
        change = larger(change, outcome.change);
    }
    for (std::size_t l = 0; l < four; ++l)
        if (change[l] > report.change) report.change = change[l];
}

// Whole tiles of rows, of which many surely stay at their vertex: while no other center
// is nearer than their own, or they have no inlier weight to be moved by. Lists the
// others.
template <class T>
inline std::size_t stay_tile(const Rows<T> rows, std::size_t first,
                             const Centers<T> centers, const Drift& drift,
                             const Weights last, const Weights out, double* cost,
                             const Workspace<T> work, std::uint32_t* open) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = last.s, p = rows.p;
    const T *row[lanes], *own[lanes];
    double spare[lanes], sum[lanes] = {}, farthest[lanes] = {};
    for (std::size_t l = 0; l < lanes; ++l) row[l] = rows.data + (first + l) * p;
    for (std::size_t r = 0; r < s; ++r) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const std::int32_t label = last.labels[(first + l) * s + r];
            own[l] = centers.data + (label < 0 ? 0 : label) * p;
        }
        paired_distances(row, own, p, work.distances);
        for (std::size_t l = 0; l < lanes; ++l) {
            const double d = work.distances[l];
            sum[l] += d;
            farthest[l] = farthest[l] < d ? d : farthest[l];
        }
    }
    lower_spares(row, Tile<T>(first, first + lanes), centers, drift,
                 {last.labels, nullptr, nullptr, last.spare, s}, spare);
    __builtin_memcpy(out.labels + first * s, last.labels + first * s,
                     lanes * s * sizeof *out.labels);
    __builtin_memcpy(out.spare + first, spare, sizeof spare);
    __builtin_memcpy(cost, sum, sizeof sum);
    const double trust = drift.trust;
    std::size_t n_open = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t i = first + l;
        const bool stays = (last.labels[i * s] >= 0) &
                           ((last.v[i] == 0) | (farthest[l] < trust * spare[l]));
        open[n_open] = static_cast<std::uint32_t>(i);
        n_open += !stays;
    }
    return n_open;
}

// Lists the rows of a block that have to meet all centers; for the others everything but
// their inlier weight is done.
template <class T>
std::size_t stay(const Rows<T>& rows, Range block, const Centers<T>& centers,
                 const Proximal& step, const Weights& out, double* cost,
                 const Workspace<T>& work, std::uint32_t* open) {
    std::size_t i = block.first, n_open = 0;
    if (step.drift)
        for (; i + tile_rows<T> <= block.last; i += tile_rows<T>)
            n_open += stay_tile(rows, i, centers, *step.drift, step.last, out,
                                cost + (i - block.first), work, open + n_open);
    for (; i < block.last; ++i) open[n_open++] = static_cast<std::uint32_t>(i);
    return n_open;
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
    for (std::size_t b = 0; b < follow_rows; ++b) {
        v[b] = b < n ? step.v(block.first + b) : 1.0;
        kept[b] = b < n ? rows.weight(block.first + b) : 0.0;
        if (b >= n) cost[b] = -1e300;  // as if surely kept, and no change
    }
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
        for (std::size_t l = 0; l < four && b + l < n; ++l) {
            report.undecided[report.n_undecided] =
                static_cast<std::uint32_t>(block.first + b + l);
            report.n_undecided += (sure[l] | gone[l]) == 0;
        }
    }
    __builtin_memcpy(out.v + block.first, v, n * sizeof *v);
    for (std::size_t l = 0; l < four; ++l) {
        report.mass += mass[l];
        sums.cost += total[l];
        if (change[l] > report.change) report.change = change[l];
    }
}

// Adds the rows of a block to their centers; those that are not kept weigh nothing.
template <class T, std::size_t S>
inline void sum_block(const Rows<T> rows, Range block, const Weights out,
                      const double* kept, std::size_t k, const double* fractions,
                      const Sums sums) {
    const std::size_t s = S ? S : out.s;
    Shared<T> shared(rows, k, sums);
    for (std::size_t i = block.first; i < block.last; ++i) {
        const double weight = kept[i - block.first];
        const std::int32_t* labels = out.labels + i * s;
        if (labels[0] < 0) {
            shared.add(i, weight, fractions + ~labels[0] * k);
            continue;
        }
        for (std::size_t r = 0; r < s; ++r) {
            sums.masses[labels[r]] += weight;
            add_row(rows, i, weight, sums.rows + labels[r] * rows.p);
        }
    }
    shared.finish();
}

// All there is to do for a block before the threshold is known.
template <class T>
void relax(const Rows<T>& rows, Range block, const Centers<T>& centers,
           const Proximal& step, const Weights& out, PartReport& report, Sums& sums,
           const Workspace<T>& work) {
    std::uint32_t open[follow_rows];
    double cost[follow_rows], kept[follow_rows];
    const std::size_t n_open = stay(rows, block, centers, step, out, cost, work, open);
    for (std::size_t u = 0; u < n_open; u += tile_rows<T>)
        project_tile(rows, Tile<T>(open + u, n_open - u), centers, step, out, report,
                     cost, block.first, work);
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
    Shared<T> shared(rows, k, sums);
    for (std::size_t u = range.first; u < range.last; ++u) {
        const std::size_t i = undecided.rows[u];
        const double weight = rows.weight(i) * weights.v[i];
        const std::int32_t* labels = weights.labels + i * s;
        if (labels[0] < 0) {
            shared.add(i, weight, weights.fractions.of(i, labels[0]));
            continue;
        }
        if (weight == 0) continue;
        for (std::size_t r = 0; r < s; ++r) {
            sums.masses[labels[r]] += weight;
            add_row(rows, i, weight, sums.rows + labels[r] * rows.p);
        }
    }
    shared.finish();
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
