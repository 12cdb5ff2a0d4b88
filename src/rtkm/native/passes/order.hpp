// Rows in lexicographic order, and random draws along it.
//
// Draws by inverse distribution function over rows in this order do not notice whether
// the table was shuffled, shifted or scaled, or a weight of two written as two rows.
#pragma once
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "passes/select.hpp"

namespace rtkm {

// The first two values in which rows of two tables differ, or two equal ones.
template <class T>
std::pair<T, T> first_difference(const Rows<T>& A, std::size_t a, const Rows<T>& B,
                                 std::size_t b) {
    if (!A.is_csr()) {
        const T *x = A.data + a * A.p, *y = B.data + b * B.p;
        for (std::size_t f = 0; f < A.p; ++f)
            if (x[f] != y[f]) return {x[f], y[f]};
        return {};
    }
    auto i = A.indptr[a], j = B.indptr[b];
    const auto i_end = A.indptr[a + 1], j_end = B.indptr[b + 1];
    while (i < i_end || j < j_end) {
        const auto f = i < i_end ? A.indices[i] : INT32_MAX;
        const auto g = j < j_end ? B.indices[j] : INT32_MAX;
        const T x = f <= g ? A.data[i++] : T{0};
        const T y = g <= f ? B.data[j++] : T{0};
        if (x != y) return {x, y};
    }
    return {};
}

template <class T>
bool is_less(const Rows<T>& A, std::size_t a, const Rows<T>& B, std::size_t b) {
    const auto [x, y] = first_difference(A, a, B, b);
    return x < y;
}

template <class T>
struct LexicographicLess {
    const Rows<T>& rows;
    const bool by_number = false;  // of equal rows, the first is less

    bool operator()(std::size_t a, std::size_t b) const {
        const auto [x, y] = first_difference(rows, a, rows, b);
        return x < y || (x == y && by_number && a < b);
    }
};

template <class T>
double leading_value(const Rows<T>& rows, std::size_t i) {
    if (!rows.is_csr()) return rows.data[i * rows.p];
    const auto e = rows.indptr[i];
    return e < rows.indptr[i + 1] && rows.indices[e] == 0 ? rows.data[e] : T{0};
}

// Numbers in the order of the first column, which tie where its values are close: evenly
// over where most of them are, by a sample, and one number for all that is beyond.
template <class T>
std::vector<std::uint32_t> leading_keys(const Parallel& parallel, const Rows<T>& rows) {
    constexpr std::size_t most = 257;
    std::vector<double> sample(std::min(rows.n, most));
    for (std::size_t i = 0; i < sample.size(); ++i)
        sample[i] = leading_value(rows, i * (rows.n / sample.size()));
    std::sort(sample.begin(), sample.end());
    const double low = sample[sample.size() / 10],
                 width = sample[sample.size() * 9 / 10] - low;
    constexpr double half = 2147483648.0, last = 4294967295.0;
    const double per_unit = half / 2 / width;
    std::vector<std::uint32_t> keys(rows.n);
    for_each_part(parallel, Partition(rows.n), 8, [&](std::size_t, Range range) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const double away = leading_value(rows, i) - low;
            // a column that is mostly one value has no width
            const double place = away == 0 ? 0 : away * per_unit;
            keys[i] = static_cast<std::uint32_t>(std::clamp(place + half, 0.0, last));
        }
    });
    return keys;
}

// Sorts some rows, which come by their number, by their keys; those that tie as rows.
template <class T>
void sort_bucket(const Rows<T>& rows, const std::uint32_t* keys, std::uint32_t* first,
                 std::uint32_t* last) {
    std::vector<std::uint64_t> pairs(last - first);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        pairs[i] = std::uint64_t{keys[first[i]]} << 32 | first[i];
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 0; i < pairs.size(); ++i)
        first[i] = static_cast<std::uint32_t>(pairs[i]);
    for (std::uint32_t* end; first < last; first = end) {
        for (end = first + 1; end < last && keys[*end] == keys[*first];) ++end;
        if (end - first > 1) std::sort(first, end, LexicographicLess<T>{rows, true});
    }
}

// Keys of the first column settle most of the order. Rows are dealt into buckets by the
// leading bits of these, and each bucket, which fits the caches, is sorted by itself.
template <class T>
void lexicographic_order(const Parallel& parallel, const Rows<T>& rows,
                         std::uint32_t* order) {
    const std::vector<std::uint32_t> keys = leading_keys(parallel, rows);
    int shift = 32 - 16;
    while (shift < 31 && rows.n >> (32 - shift) < 8) ++shift;
    std::vector<std::size_t> ends((UINT32_MAX >> shift) + 2);
    for (const std::uint32_t key : keys) ++ends[(key >> shift) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (std::size_t i = 0; i < rows.n; ++i)
        order[ends[keys[i] >> shift]++] = static_cast<std::uint32_t>(i);
    const std::size_t n_buckets = ends.size() - 1;
    const std::size_t work = 256 * (rows.n / n_buckets + 1);
    for_each_part(parallel, Partition(n_buckets, 0, 16), work,
                  [&](std::size_t, Range buckets) {
                      for (std::size_t b = buckets.first; b < buckets.last; ++b)
                          sort_bucket(rows, keys.data(), order + (b ? ends[b - 1] : 0),
                                      order + ends[b]);
                  });
}

// The first of each of the distinct rows of positive weight, no more than `enough`.
template <class T>
std::vector<std::int64_t> distinct_rows(const Rows<T>& rows, std::size_t enough) {
    std::set<std::size_t, LexicographicLess<T>> seen(LexicographicLess<T>{rows});
    for (std::size_t i = 0; i < rows.n && seen.size() < enough; ++i)
        if (rows.weight(i) > 0) seen.insert(i);
    return {seen.begin(), seen.end()};
}

// How many of some pivots, which are in lexicographic order, are not beyond each row.
// The first column mostly tells.
template <class T>
void buckets(const Parallel& parallel, const Rows<T>& rows, const Rows<T>& pivots,
             std::uint32_t* out) {
    std::vector<double> leading(pivots.n);
    for (std::size_t i = 0; i < pivots.n; ++i) leading[i] = leading_value(pivots, i);
    for_each_part(parallel, Partition(rows.n), 64, [&](std::size_t, Range range) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto tied =
                std::equal_range(leading.begin(), leading.end(), leading_value(rows, i));
            auto first = static_cast<std::size_t>(tied.first - leading.begin());
            auto last = static_cast<std::size_t>(tied.second - leading.begin());
            while (first < last) {
                const std::size_t middle = first + (last - first) / 2;
                if (is_less(rows, i, pivots, middle))
                    last = middle;
                else
                    first = middle + 1;
            }
            out[i] = static_cast<std::uint32_t>(first);
        }
    });
}

// Random draws: for each u the first row, along `order`, at which the running sum of the
// chances exceeds u * their total. Sums of blocks come first, so that each draw walks
// one block only.
struct Draws {
    const std::uint32_t* order;
    std::size_t n;
    const double* u;
    std::size_t n_draws;
    std::int64_t* drawn;

    // False, and nothing drawn, where no row has a chance.
    template <class Chance>
    bool by(const Parallel& parallel, const Chance& chance) const {
        constexpr std::size_t block = 1024;
        std::vector<Exact> sums((n + block - 1) / block);
        for_each_part(
            parallel, Partition(sums.size()), 16 * block, [&](std::size_t, Range blocks) {
                double chances[block];  // first, as they are far apart in memory
                for (std::size_t b = blocks.first; b < blocks.last; ++b) {
                    const std::size_t size = std::min(n - b * block, block);
                    for (std::size_t i = 0; i < size; ++i)
                        chances[i] = chance(order[b * block + i]);
                    Exact sum;
                    for (std::size_t i = 0; i < size; ++i) sum.add(chances[i]);
                    sums[b] = sum;
                }
            });
        Exact sum;
        for (const Exact& of_block : sums) sum.add(of_block);
        const double total = normalized(sum).sum;
        for (std::size_t d = 0; d < n_draws && total > 0; ++d) {
            const double target = u[d] * total;
            Exact reached;
            std::size_t b = 0;
            for (; b + 1 < sums.size(); ++b) {
                Exact next = reached;
                next.add(sums[b]);
                if (next.value() > target) break;
                reached = next;
            }
            drawn[d] = -1;
            for (std::size_t i = b * block; i < n; ++i) {
                const double c = chance(order[i]);
                reached.add(c);
                if (c > 0) drawn[d] = order[i];
                if (drawn[d] >= 0 && reached.value() > target) break;
            }
        }
        return total > 0;
    }
};

}  // namespace rtkm
