// From one pass to the next: rows that surely stay as they are rest, and are not even
// read. That is Hamerly's algorithm (SDM 2010), with several own centers for each row and
// a third bound, which tells whether a row can change sides of the cut; for kernels.cpp
// alone.
#pragma once
#include "kernels/moments.hpp"
#include "kernels/nearest.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Bounds are rounded outwards: a relative error of float, and as much as underflow of a
// squared distance can hide.
constexpr float rounded_up = 1 + 0x1p-22f, rounded_down = 1 - 0x1p-22f, hidden = 0x1p-62f;

// Bounds from a tile's squared distances, in units of the table.
template <class T>
inline void upper_bounds(const T* squared, double per_square, float* bounds) {
    for (std::size_t l = 0; l < tile_rows<T>; ++l) {
        const float x = static_cast<float>(squared[l] * per_square);
        bounds[l] = multiply_add(__builtin_sqrtf(x), rounded_up, hidden);
    }
}
template <class T>
inline void lower_bounds(const T* squared, double per_square, float* bounds) {
    // also where there is no other center: infinity may be overflow, and would never end
    constexpr float largest = std::numeric_limits<float>::max();
    for (std::size_t l = 0; l < tile_rows<T>; ++l) {
        const float x = static_cast<float>(squared[l] * per_square);
        bounds[l] = multiply_add(__builtin_sqrtf(x < largest ? x : largest), rounded_down,
                                 -hidden);
    }
}

// Moves bounds along with the centers, by the triangle inequality.
inline Vec<float> move_upper(Vec<float> upper, Vec<float> shift) {
    return (upper + shift) * rounded_up;
}
inline Vec<float> move_lower(Vec<float> lower, Vec<float> shift) {
    return (lower - shift) * rounded_down;
}
inline Vec<float> move_other_lower(Vec<float> other_lower, Vec<float> shift,
                                   Vec<float> own_upper, Vec<float> jumped) {
    const Vec<float> by_shift = other_lower - shift, by_jump = jumped - own_upper;
    return choose(by_jump < by_shift, by_jump, by_shift) *
           rounded_down;  // NaN stays what it is
}

// How far the own centers of eight rows went: the most, and the root of the sum of the
// squares. Rows that are at no center are given any.
struct OwnShift {
    Vec<float> most, all;
};
template <std::size_t S>
inline OwnShift own_shift(const std::int32_t* labels, std::size_t s, const float* shift) {
    if (S == 1) {
        const Vec<float> own = gather(shift, labels, 1);
        return {own, own};
    }
    Vec<float> most = {}, squares = {};
    for (std::size_t r = 0; r < s; ++r) {
        const Vec<float> own = gather(shift, labels + r, s);
        most = choose(most < own, own, most);
        squares = multiply_add(own, own, squares);
    }
    return {most, multiply_add(root(squares), 1 + s * 0x1p-22f, Vec<float>{} + hidden)};
}

// Moves the bounds of eight rows along; returns which of them are sure to stay with
// their centers and, whether kept or frozen, to stay that.
template <class T, std::size_t S>
inline Mask<float> move_eight(const BoundedPass<T>& pass, const CenterShift& shift,
                              std::size_t i) {
    const Bounds last = pass.last, out = pass.out;
    const std::size_t s = S ? S : out.s;
    const std::int32_t* const labels = last.labels + i * s;
    const OwnShift own = own_shift<S>(labels, s, shift.own);
    const Mask<float> status = load_as<Mask<float>>(last.status + i),
                      frozen = status == RowStatus::frozen;
    const Vec<float> before = load(last.cost_upper + i);
    const Vec<float> cost =
        choose(frozen, move_lower(before, own.all), move_upper(before, own.all));
    const Vec<float> upper =
        S == 1 ? cost : move_upper(load(last.own_upper + i), own.most);
    const Vec<float> lower =
        move_other_lower(load(last.other_lower + i), gather(shift.others, labels, s),
                         upper, gather(shift.jumped, labels, s));
    store(out.cost_upper + i, cost);
    if (S != 1) store(out.own_upper + i, upper);
    store(out.other_lower + i, lower);
    const Mask<float> stays = (upper < shift.trust * lower) & (cost < pass.sure_root);
    return (frozen & (cost > pass.gone_root)) | (stays & (status == RowStatus::kept));
}

// Lists the rows of a block that are not at rest. Most often all of eight rest, and
// nothing depends on what else there is to know of them.
template <class T, std::size_t S>
inline std::size_t rest(const BoundedPass<T>& pass, Range block, std::uint32_t* awake) {
    const Bounds last = pass.last, out = pass.out;
    const CenterShift shift = *pass.center_shift;
    const std::size_t n = block.last - block.first, s = S ? S : out.s;
    __builtin_memcpy(out.labels + block.first * s, last.labels + block.first * s,
                     n * s * sizeof *out.labels);
    __builtin_memcpy(out.status + block.first, last.status + block.first, n);
    std::size_t n_awake = 0, i = block.first;
    for (; i + 8 <= block.last; i += 8) {
        const Mask<float> rests = move_eight<T, S>(pass, shift, i);
        if (all(rests)) continue;
        for (std::size_t l = 0; l < 8; ++l) {
            awake[n_awake] = static_cast<std::uint32_t>(i + l);
            n_awake += !rests[l];
        }
    }
    for (; i < block.last; ++i) {  // the last few rows of a table
        out.other_lower[i] = 0;
        awake[n_awake++] = static_cast<std::uint32_t>(i);
    }
    return n_awake;
}

// Puts the s distances of every lane in order.
template <class T>
inline void sort_own(std::size_t s, const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    for (std::size_t r = 1; r < s; ++r)
        for (std::size_t q = r; q > 0; --q)
            for (std::size_t l = 0; l < lanes; ++l) {
                T &a = work.distances[(q - 1) * lanes + l],
                  &b = work.distances[q * lanes + l];
                const T low = b < a ? b : a, high = b < a ? a : b;
                a = low;
                b = high;
            }
}

// The costs of a tile's rows, from their sorted distances.
template <class T>
inline void keep_costs(const BoundedPass<T>& pass, const Tile<T>& tile, const T* squared,
                       std::size_t first, double* costs) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = pass.out.s;
    double sum[lanes] = {};
    for (std::size_t r = 0; r < s; ++r)
        for (std::size_t l = 0; l < lanes; ++l) sum[l] += squared[r * lanes + l];
    for (std::size_t l = 0; l < tile.count; ++l) costs[tile.row[l] - first] = sum[l];
    if (s == 1) return;
    float cost_upper[lanes];
    T sums[lanes];
    for (std::size_t l = 0; l < lanes; ++l) sums[l] = static_cast<T>(sum[l]);
    upper_bounds(sums, pass.per_square_up, cost_upper);
    for (std::size_t l = 0; l < tile.count; ++l)
        pass.out.cost_upper[tile.row[l]] = cost_upper[l];
}

// Measures the own centers of a tile's rows, which makes their bounds tight; lists the
// rows that are still not certain of these, and not frozen.
template <class T, class IsFrozen>
inline std::size_t measure_own(const BoundedPass<T>& pass, const Tile<T>& tile,
                               std::size_t first, double* cost, const Workspace<T>& work,
                               std::uint32_t* open, IsFrozen is_frozen) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = pass.out.s, p = pass.rows.p;
    const T *row[lanes], *own[lanes];
    for (std::size_t l = 0; l < lanes; ++l) row[l] = pass.rows.data + tile.row[l] * p;
    for (std::size_t r = 0; r < s; ++r) {
        for (std::size_t l = 0; l < lanes; ++l)
            own[l] = pass.centers.data + pass.out.labels[tile.row[l] * s + r] * p;
        paired_distances(row, own, p, work.distances + r * lanes);
    }
    if (s > 1) sort_own(s, work);
    T farthest[lanes] = {};
    for (std::size_t r = 0; r < s; ++r)
        for (std::size_t l = 0; l < lanes; ++l) {
            const T d = work.distances[r * lanes + l];
            farthest[l] = farthest[l] < d ? d : farthest[l];
        }
    float own_upper[lanes];
    upper_bounds(farthest, pass.per_square_up, own_upper);
    std::size_t n_open = 0;
    for (std::size_t l = 0; l < tile.count; ++l) {
        const std::size_t i = tile.row[l];
        pass.out.own_upper[i] = own_upper[l];
        open[n_open] = tile.row[l];
        n_open += !(own_upper[l] < pass.center_shift->trust * pass.out.other_lower[i]) &
                  !is_frozen(i);
    }
    keep_costs(pass, tile, work.distances, first, cost);
    return n_open;
}

// Of each row in a tile: the farthest of its s nearest centers, and the next one.
template <class T>
struct Measured {
    T farthest[tile_rows<T>], spare[tile_rows<T>];
};

// Measures all centers.
template <class T>
inline Measured<T> measure_all(const BoundedPass<T>& pass, const Tile<T>& tile,
                               std::size_t first, double* cost,
                               const Workspace<T>& work) {
    constexpr std::size_t lanes = tile_rows<T>;
    const std::size_t s = pass.out.s;
    Measured<T> found;
    float own_upper[lanes], other_lower[lanes];
    tile_distances(pass.rows, tile, pass.centers, work);
    if (s == 1) {
        std::int32_t label[lanes];
        two_smallest(pass.centers.k, work, label, found.farthest, found.spare);
        for (std::size_t l = 0; l < tile.count; ++l)
            pass.out.labels[tile.row[l]] = label[l];
        keep_costs(pass, tile, found.farthest, first, cost);
    } else {
        several_smallest(pass.centers.k, s, work);
        for (std::size_t l = 0; l < tile.count; ++l)
            for (std::size_t r = 0; r < s; ++r)
                pass.out.labels[tile.row[l] * s + r] =
                    static_cast<std::int32_t>(work.order[r * lanes + l]);
        __builtin_memcpy(&found, work.nearest + (s - 1) * lanes, sizeof found);
        keep_costs(pass, tile, work.nearest, first, cost);
    }
    upper_bounds(found.farthest, pass.per_square_up, own_upper);
    lower_bounds(found.spare, pass.per_square_down, other_lower);
    for (std::size_t l = 0; l < tile.count; ++l) {
        pass.out.own_upper[tile.row[l]] = own_upper[l];
        pass.out.other_lower[tile.row[l]] = other_lower[l];
    }
    return found;
}

inline bool has(const std::int32_t* labels, std::size_t s, std::int32_t label) {
    for (std::size_t r = 0; r < s; ++r)
        if (labels[r] == label) return true;
    return false;
}

// Takes a row from the clusters it left and adds it to those it came to.
template <class T>
void account(const BoundedPass<T>& pass, std::size_t i, PassReport& report) {
    const std::size_t s = pass.out.s;
    const bool is_kept = pass.out.status[i] == RowStatus::kept;
    const bool was_kept = pass.last.labels && pass.last.status[i] == RowStatus::kept;
    const std::int32_t* const now = pass.out.labels + i * s;
    const std::int32_t* const before = pass.last.labels ? pass.last.labels + i * s : now;
    if (s == 1 && was_kept && is_kept && now[0] == before[0]) return;
    report.digest += digest_of(i, now, s, is_kept);
    if (pass.last.labels) report.digest -= digest_of(i, before, s, was_kept);
    if (s == 1 && was_kept && is_kept) {
        change_cluster(pass.rows, i, report.moments[before[0]], report.moments[now[0]]);
        ++report.n_changed;
        return;
    }
    bool changed = was_kept != is_kept;
    for (std::size_t r = 0; r < s; ++r) {
        const bool is_new = !has(before, s, now[r]), is_gone = !has(now, s, before[r]);
        changed |= is_new;
        if (was_kept && (is_gone || !is_kept))
            join(pass.rows, i, -1.0, report.moments[before[r]]);
        if (is_kept && (is_new || !was_kept))
            join(pass.rows, i, 1.0, report.moments[now[r]]);
    }
    report.n_changed += changed;
}

// Keeps or trims the rows of which that does not depend on where in the window the cut
// will fall; lists the others.
template <class T>
inline void decide(const BoundedPass<T>& pass, const std::uint32_t* awake, std::size_t n,
                   std::size_t first, const double* costs, PassReport& report) {
    const Bounds last = pass.last, out = pass.out;
    const Window window = pass.window;
    const std::size_t s = out.s;
    for (std::size_t a = 0; a < n; ++a) {
        const std::size_t i = awake[a];
        const double cost = costs[i - first];
        const bool sure = cost < window.sure;
        if (!sure & (cost < window.ceiling)) {
            report.undecided.rows[report.undecided.n] = awake[a];
            report.undecided.costs[report.undecided.n++] = cost;
            out.status[i] = 0;
            continue;
        }
        out.status[i] = sure;
        const bool same = s == 1 && last.labels && last.labels[i] == out.labels[i] &&
                          last.status[i] == sure;
        if (!same) account(pass, i, report);
    }
}

// Adds the mass of a block's rows that are marked as kept.
template <class T>
inline void add_kept_mass(const BoundedPass<T>& pass, Range block, Exact& mass) {
    const double* const weights = pass.rows.weights;
    const std::uint8_t* const is_kept = pass.out.status;
    if (!weights) {
        std::size_t count = 0;
        for (std::size_t i = block.first; i < block.last; ++i) count += is_kept[i];
        return mass.add(static_cast<double>(count));
    }
    add_terms(
        block, mass,
        [&](std::size_t i) { return load(weights + i) * load_as_double(is_kept + i); },
        [&](std::size_t i) { return weights[i] * is_kept[i]; });
}

// The rows of a block that do not rest, what those cost whose own centers are measured,
// and those that must still be measured to all.
struct Awake {
    std::uint32_t rows[block_rows], open[block_rows];
    std::size_t n = 0, n_open = 0;
    double costs[block_rows];
};

// Finds them. Rows meet their own centers if that may be enough: if they are at a vertex,
// and frozen there or no other has come closer than their own were.
template <class T, class IsFrozen>
inline void wake(const BoundedPass<T>& pass, Range block, IsFrozen is_frozen,
                 Awake& awake, const Workspace<T>& work) {
    if (!pass.center_shift) {
        for (std::size_t i = block.first; i < block.last; ++i)
            awake.rows[awake.n++] = awake.open[awake.n_open++] =
                static_cast<std::uint32_t>(i);
        return;
    }
    awake.n = pass.out.s == 1 ? rest<T, 1>(pass, block, awake.rows)
                              : rest<T, 0>(pass, block, awake.rows);
    std::uint32_t own[block_rows];
    std::size_t n_own = 0;
    for (std::size_t a = 0; a < awake.n; ++a) {
        const std::uint32_t i = awake.rows[a];
        const bool may_stay =
            (pass.last.labels[i * pass.out.s] >= 0) &
            (is_frozen(i) | (pass.last.own_upper[i] < pass.out.other_lower[i]));
        own[n_own] = i;
        n_own += may_stay;
        awake.open[awake.n_open] = i;
        awake.n_open += !may_stay;
    }
    for (std::size_t a = 0; a < n_own; a += tile_rows<T>)
        awake.n_open +=
            measure_own(pass, Tile<T>(own + a, n_own - a), block.first, awake.costs, work,
                        awake.open + awake.n_open, is_frozen);
}

// All there is to do for some rows before the cut is known.
template <class T>
void bounded_pass(const BoundedPass<T>& pass, Range range, PassReport& report,
                  const Workspace<T>& work) {
    for (std::size_t first = range.first; first < range.last; first += block_rows) {
        const std::size_t left = range.last - first;
        const Range block{first, first + (left < block_rows ? left : block_rows)};
        Awake awake;
        wake(pass, block, [](std::size_t) { return false; }, awake, work);
        for (std::size_t u = 0; u < awake.n_open; u += tile_rows<T>)
            measure_all(pass, Tile<T>(awake.open + u, awake.n_open - u), first,
                        awake.costs, work);
        decide(pass, awake.rows, awake.n, first, awake.costs, report);
        add_kept_mass(pass, block, report.sure_mass);
    }
}

// Once the cut is known: decides the undecided rows.
template <class T>
void settle(const BoundedPass<T>& pass, Range range, const Undecided& undecided,
            const Cut& cut, PassReport& report) {
    for (std::size_t u = range.first; u < range.last; ++u) {
        const std::size_t i = undecided.rows[u];
        pass.out.status[i] = cut.keeps(undecided.costs[u], i);
        account(pass, i, report);
    }
}

template <class T>
void sum_kept(const BoundedPass<T>& pass, Range range, PassReport& report) {
    const std::size_t s = pass.out.s;
    for (std::size_t i = range.first; i < range.last; ++i)
        for (std::size_t r = 0; r < s && pass.out.status[i] == RowStatus::kept; ++r)
            join(pass.rows, i, 1.0, report.moments[pass.out.labels[i * s + r]]);
}

// The cost of what is kept, row by row.
template <class T>
void add_kept_cost(const BoundedPass<T>& pass, Range range, const Cut& cut,
                   const ExactSums& total, const Workspace<T>& work) {
    const std::size_t s = pass.out.s;
    for_each_tile<T>(range, [&](const Tile<T>& tile) {
        tile_distances(pass.rows, tile, pass.centers, work);
        for (std::size_t l = 0; l < tile.count; ++l) {
            const std::size_t i = tile.row[l];
            if (pass.out.status[i] != RowStatus::kept) continue;
            double cost = 0;  // in the order of the centers, which bounds do not change
            for (std::size_t j = 0; j < pass.centers.k; ++j)
                if (has(pass.out.labels + i * s, s, static_cast<std::int32_t>(j)))
                    cost += work.distances[j * tile_rows<T> + l];
            const double share = i == cut.row ? cut.share : 1.0;
            total.add(0, share * pass.rows.weight(i) * cost);
        }
    });
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
