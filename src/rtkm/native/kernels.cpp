// Compiled once for each instruction set: RTKM_ISA names the namespace.
#include "kernels.hpp"
#include "pairs.hpp"
#include "simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

inline double smaller(double a, double b) { return a < b ? a : b; }

// A tile holds feature after feature, each of all its rows; a short last tile repeats
// its last row, so no lane ever holds rubbish.
template <class T>
void pack_dense(const Rows<T>& rows, std::size_t first, std::size_t count, T* tile) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    const T* row[lanes];
    for (std::size_t l = 0; l < lanes; ++l)
        row[l] = rows.data + (first + (l < count ? l : count - 1)) * rows.p;
    std::size_t f = 0;
    for (; f + w <= rows.p; f += w)
        for (std::size_t half = 0; half < lanes; half += w) {
            Vec<T> v[w];
            for (std::size_t l = 0; l < w; ++l) v[l] = load(row[half + l] + f);
            transpose(v);
            for (std::size_t l = 0; l < w; ++l) store(tile + (f + l) * lanes + half, v[l]);
        }
    for (; f < rows.p; ++f)
        for (std::size_t l = 0; l < lanes; ++l) tile[f * lanes + l] = row[l][f];
}

template <class T>
void pack_csr(const Rows<T>& rows, std::size_t first, std::size_t count, T* tile) {
    constexpr std::size_t lanes = tile_rows<T>;
    __builtin_memset(tile, 0, rows.p * lanes * sizeof(T));
    for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t row = first + (l < count ? l : count - 1);
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
            tile[rows.indices[e] * lanes + l] = rows.data[e];
    }
}

// Squared distances of a tile to G centers, summed from differences: next to the fused
// multiply-add the subtraction is free, and rows far from the origin keep their digits.
template <class T, int G>
void group_distances(const T* tile, const T* center, std::size_t p, T* out) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    Vec<T> sum[G][2] = {};
    for (std::size_t f = 0; f < p; ++f) {
        const Vec<T> x0 = load(tile + f * lanes), x1 = load(tile + f * lanes + w);
        for (int g = 0; g < G; ++g) {
            const Vec<T> c = broadcast(center[g * p + f]);
            const Vec<T> d0 = x0 - c, d1 = x1 - c;
            sum[g][0] += d0 * d0;
            sum[g][1] += d1 * d1;
        }
    }
    for (int g = 0; g < G; ++g) {
        store(out + g * lanes, sum[g][0]);
        store(out + g * lanes + w, sum[g][1]);
    }
}

// Below a quarter of the entries the detour over the norms pays. It is taken row by row,
// so that the answer for a row does not depend on its neighbors.
template <class T>
bool is_very_sparse(const Rows<T>& rows, std::size_t row) {
    const std::size_t entries = rows.indptr[row + 1] - rows.indptr[row];
    return 4 * entries < rows.p;
}

// Only the entries that are there are visited; what the zeros contribute is the rest of
// the center's squared norm, subtracted with twice the digits.
template <class T>
void sparse_distances(const Rows<T>& rows, std::size_t row, const Centers<T>& centers,
                      T* out) {
    for (std::size_t j = 0; j < centers.k; ++j) {
        const T* c = centers.data + j * centers.p;
        const double* squares = centers.squares + j * centers.p;
        double there = 0;
        Exact covered;
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e) {
            const double d = rows.data[e] - c[rows.indices[e]];
            there += d * d;
            covered.add(squares[rows.indices[e]]);
        }
        const double rest = centers.squared_norms[j].minus(covered);
        out[j * tile_rows<T>] = static_cast<T>(there + (rest > 0 ? rest : 0));
    }
}

// Squared distances of a packed tile to all centers, in groups of up to four, which is
// what the registers hold, and as even as can be, so that none leaves them idle.
template <class T>
void packed_distances(const Centers<T>& centers, const Workspace<T>& work) {
    const std::size_t n_groups = (centers.k + 3) / 4, p = centers.p;
    const T* c = centers.data;
    T* out = work.distances;
    for (std::size_t g = 0; g < n_groups; ++g) {
        const std::size_t size = centers.k / n_groups + (g < centers.k % n_groups);
        switch (size) {
            case 4: group_distances<T, 4>(work.tile, c, p, out); break;
            case 3: group_distances<T, 3>(work.tile, c, p, out); break;
            case 2: group_distances<T, 2>(work.tile, c, p, out); break;
            case 1: group_distances<T, 1>(work.tile, c, p, out); break;
        }
        c += size * p;
        out += size * tile_rows<T>;
    }
}

template <class T>
void csr_distances(const Rows<T>& rows, std::size_t first, std::size_t count,
                   const Centers<T>& centers, const Workspace<T>& work) {
    std::size_t n_sparse = 0;
    for (std::size_t l = 0; l < count; ++l) n_sparse += is_very_sparse(rows, first + l);
    if (n_sparse < count) {
        pack_csr(rows, first, count, work.tile);
        packed_distances(centers, work);
    }
    for (std::size_t l = 0; l < count; ++l)
        if (is_very_sparse(rows, first + l))
            sparse_distances(rows, first + l, centers, work.distances + l);
}

// Leaves the k x lanes squared distances of `count` rows in work.distances.
template <class T>
void tile_distances(const Rows<T>& rows, std::size_t first, std::size_t count,
                    const Centers<T>& centers, const Workspace<T>& work) {
    if (rows.is_csr()) return csr_distances(rows, first, count, centers, work);
    pack_dense(rows, first, count, work.tile);
    packed_distances(centers, work);
}

// The two smallest of k distances, lane by lane; ties go to the lowest number.
template <class T>
void two_smallest(const T* distances, std::size_t k, std::size_t first,
                  std::size_t count, const Nearest& out) {
    constexpr std::size_t lanes = tile_rows<T>, w = width<T>;
    using Int = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    T best[lanes], second[lanes];
    Int label[lanes];
    for (std::size_t half = 0; half < lanes; half += w) {
        Vec<T> low = broadcast(std::numeric_limits<T>::infinity()), next = low;
        Mask<T> low_at = {};
        for (std::size_t j = 0; j < k; ++j) {
            const Vec<T> d = load(distances + j * lanes + half);
            const Mask<T> closer = d < low;
            const Vec<T> loser = closer ? low : d;
            next = loser < next ? loser : next;
            low = closer ? d : low;
            low_at = closer ? static_cast<Int>(j) - Mask<T>{} : low_at;
        }
        store(best + half, low);
        store(second + half, next);
        __builtin_memcpy(label + half, &low_at, sizeof low_at);
    }
    for (std::size_t l = 0; l < count; ++l) {
        out.labels[first + l] = static_cast<std::int32_t>(label[l]);
        out.squared[first + l] = best[l];
        out.spare[first + l] = second[l];
    }
}

// The s + 1 smallest of k distances, by insertion; ties go to the lowest number.
template <class T>
void several_smallest(std::size_t k, std::size_t first, std::size_t count,
                      const Nearest& out, const Workspace<T>& work) {
    const std::size_t s = out.s;
    for (std::size_t l = 0; l < count; ++l) {
        for (std::size_t r = 0; r <= s; ++r)
            work.nearest[r] = std::numeric_limits<T>::infinity();
        for (std::size_t j = 0; j < k; ++j) {
            const T d = work.distances[j * tile_rows<T> + l];
            if (!(d < work.nearest[s])) continue;
            std::size_t r = s;
            for (; r > 0 && d < work.nearest[r - 1]; --r) {
                work.nearest[r] = work.nearest[r - 1];
                work.order[r] = work.order[r - 1];
            }
            work.nearest[r] = d;
            work.order[r] = static_cast<std::int32_t>(j);
        }
        const std::size_t i = first + l;
        double cost = 0;
        for (std::size_t r = 0; r < s; ++r) {
            out.labels[i * s + r] = work.order[r];
            out.squared[i * s + r] = work.nearest[r];
            cost += work.nearest[r];
        }
        out.cost[i] = cost;
        out.spare[i] = work.nearest[s];
    }
}

template <class T>
inline void add_row(const Rows<T>& rows, std::size_t row, double weight, double* sum) {
    if (rows.is_csr()) {
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
            sum[rows.indices[e]] += weight * rows.data[e];
        return;
    }
    const T* x = rows.data + row * rows.p;
    std::size_t f = 0;
    for (; f + 4 <= rows.p; f += 4)
        store(sum + f, load(sum + f) + weight * load_as_double(x + f));
    for (; f < rows.p; ++f) sum[f] += weight * x[f];
}

template <class T>
inline void add_to_its_centers(const Rows<T>& rows, std::size_t row, double weight,
                               const Nearest& nearest, const Sums& sums) {
    for (std::size_t r = 0; r < nearest.s; ++r) {
        const std::size_t j = nearest.labels[row * nearest.s + r];
        sums.masses[j] += weight;
        add_row(rows, row, weight, sums.rows + j * rows.p);
    }
}

template <class T, class Body>
inline void for_each_tile(Range range, Body body) {
    for (std::size_t first = range.first; first < range.last; first += tile_rows<T>) {
        const std::size_t left = range.last - first;
        body(first, left < tile_rows<T> ? left : tile_rows<T>);
    }
}

// Branches on the cost would be gambles, so there are none: an undecided row is written
// and only then counted, and a row that is not sure is summed in a slot of its own.
// Everything is passed by value: what the compiler can see whole it keeps in registers.
template <class T, std::size_t S>
inline void sum_sure_rows(const Rows<T> rows, Range range, const Nearest nearest,
                          const Window window, std::size_t k, std::uint8_t* kept,
                          Undecided& undecided, Sums& sums) {
    const std::size_t s = S ? S : nearest.s;
    std::uint32_t* open = undecided.rows + undecided.n;
    double* const sum = sums.rows;
    double* const masses = sums.masses;
    const double counted[2] = {0.0, 1.0};
    double total = sums.cost;
    for (std::size_t i = range.first; i < range.last; ++i) {
        const double cost = nearest.cost[i], weight = rows.weight(i);
        const std::size_t sure = cost < window.sure;
        kept[i] = static_cast<std::uint8_t>(sure);
        *open = static_cast<std::uint32_t>(i);
        open += (1 - sure) & (cost < window.ceiling);
        total += counted[sure] * weight * cost;
        for (std::size_t r = 0; r < s; ++r) {
            const std::size_t j = k - ((k - nearest.labels[i * s + r]) & (0 - sure));
            masses[j] += weight;
            add_row(rows, i, weight, sum + j * rows.p);
        }
    }
    sums.cost = total;
    undecided.n = open - undecided.rows;
}

template <class T>
void sum_sure(const Rows<T>& rows, Range range, const Nearest& nearest,
              const Window& window, std::size_t k, std::uint8_t* kept,
              Undecided& undecided, Sums& sums) {
    if (nearest.s == 1)
        sum_sure_rows<T, 1>(rows, range, nearest, window, k, kept, undecided, sums);
    else
        sum_sure_rows<T, 0>(rows, range, nearest, window, k, kept, undecided, sums);
}

template <class T>
void nearest(const Rows<T>& rows, Range range, const Centers<T>& centers,
             const Nearest& out, const Workspace<T>& work) {
    for_each_tile<T>(range, [&](std::size_t first, std::size_t count) {
        tile_distances(rows, first, count, centers, work);
        if (out.s == 1)
            two_smallest(work.distances, centers.k, first, count, out);
        else
            several_smallest(centers.k, first, count, out, work);
    });
}

template <class T>
void settle(const Rows<T>& rows, Range range, const Undecided& undecided,
            const Nearest& nearest, const Cut& cut, std::uint8_t* kept, Sums& sums) {
    for (std::size_t u = range.first; u < range.last; ++u) {
        const std::size_t i = undecided.rows[u];
        const double cost = nearest.cost[i];
        kept[i] = cut.keeps(cost, i);
        if (!kept[i]) continue;
        const double weight = rows.weight(i) * (i == cut.row ? cut.share : 1.0);
        sums.cost += weight * cost;
        add_to_its_centers(rows, i, weight, nearest, sums);
    }
}

template <class T>
void distances(const Rows<T>& rows, Range range, const Centers<T>& centers, T* out,
               const Workspace<T>& work) {
    for_each_tile<T>(range, [&](std::size_t first, std::size_t count) {
        tile_distances(rows, first, count, centers, work);
        for (std::size_t l = 0; l < count; ++l)
            for (std::size_t j = 0; j < centers.k; ++j)
                out[(first + l) * centers.k + j] = work.distances[j * tile_rows<T> + l];
    });
}

template <class T>
void lower(const Rows<T>& rows, Range range, const Centers<T>& center, double* cost,
           const Workspace<T>& work) {
    for_each_tile<T>(range, [&](std::size_t first, std::size_t count) {
        tile_distances(rows, first, count, center, work);
        for (std::size_t l = 0; l < count; ++l)
            cost[first + l] = smaller(cost[first + l], work.distances[l]);
    });
}

// A row with costs d_1 <= .. <= d_s and spare d_(s+1) that meets a candidate at dx costs
// min(cost, cost - d_s + dx), and min(cost, cost - d_j + min(dx, spare)) if j goes.
template <class T>
void swap_gains(const Rows<T>& rows, Range range, const Centers<T>& candidates,
                const Nearest& state, double cap, std::size_t k, double* gains,
                const Workspace<T>& work) {
    const std::size_t s = state.s;
    for_each_tile<T>(range, [&](std::size_t first, std::size_t count) {
        tile_distances(rows, first, count, candidates, work);
        for (std::size_t l = 0; l < count; ++l) {
            const std::size_t i = first + l;
            const double weight = rows.weight(i), cost = state.cost[i];
            const double spare = state.spare[i], farthest = state.squared[i * s + s - 1];
            const double now = smaller(cost, cap);
            for (std::size_t c = 0; c < candidates.k; ++c) {
                const double dx = work.distances[c * tile_rows<T> + l];
                double* gain = gains + c * (k + 1);
                double with = now;
                if (dx < farthest) {
                    with = smaller(cost - farthest + dx, cap);
                    gain[k] += weight * (with - now);
                }
                if (cost >= cap && with >= cap) continue;  // trimmed before and after
                for (std::size_t r = 0; r < s; ++r) {
                    const double lost = cost - state.squared[i * s + r];
                    const double without = smaller(lost + smaller(dx, spare), cap);
                    gain[state.labels[i * s + r]] += weight * (without - with);
                }
            }
        }
    });
}

template <class T>
void weighted_sums(const Rows<T>& rows, Range range, const double* weights,
                   std::size_t k, Sums& sums) {
    for (std::size_t i = range.first; i < range.last; ++i)
        for (std::size_t j = 0; j < k; ++j) {
            const double weight = rows.weight(i) * weights[i * k + j];
            if (weight == 0) continue;
            sums.masses[j] += weight;
            add_row(rows, i, weight, sums.rows + j * rows.p);
        }
}

template <class T>
void residuals(const Rows<T>& rows, Range range, const double* weights,
               const Centers<T>& centers, double* residual, double* out) {
    const Rows<T> center_rows{centers.data, centers.k, centers.p};
    for (std::size_t i = range.first; i < range.last; ++i) {
        __builtin_memset(residual, 0, rows.p * sizeof(double));
        for (std::size_t j = 0; j < centers.k; ++j) {
            const double weight = weights[i * centers.k + j];
            if (weight != 0) add_row(center_rows, j, weight, residual);
        }
        add_row(rows, i, -1.0, residual);
        Vec<double> sum = {};
        std::size_t f = 0;
        for (; f + 4 <= rows.p; f += 4) sum += load(residual + f) * load(residual + f);
        double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        for (; f < rows.p; ++f) total += residual[f] * residual[f];
        out[i] = total;
    }
}

template <class T>
constexpr Kernels<T> table(const char* name) {
    return {name, nearest<T>, sum_sure<T>, settle<T>, distances<T>, lower<T>,
            swap_gains<T>, weighted_sums<T>, residuals<T>, mean_pair_distances<T>,
            closest<T>};
}

#define RTKM_TEXT2(x) #x
#define RTKM_TEXT(x) RTKM_TEXT2(x)

}  // namespace

extern const Kernels<float> kernels32 = table<float>(RTKM_TEXT(RTKM_ISA));
extern const Kernels<double> kernels64 = table<double>(RTKM_TEXT(RTKM_ISA));

}  // namespace RTKM_ISA
}  // namespace rtkm
