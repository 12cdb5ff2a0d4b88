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

template <class T>
struct LexicographicLess {
    const Rows<T>& rows;

    bool operator()(std::size_t a, std::size_t b) const {
        return rows.is_csr() ? sparse(a, b) : dense(a, b);
    }

private:
    bool dense(std::size_t a, std::size_t b) const {
        const T *x = rows.data + a * rows.p, *y = rows.data + b * rows.p;
        for (std::size_t f = 0; f < rows.p; ++f)
            if (x[f] != y[f]) return x[f] < y[f];
        return false;
    }
    bool sparse(std::size_t a, std::size_t b) const {
        auto i = rows.indptr[a], j = rows.indptr[b];
        const auto i_end = rows.indptr[a + 1], j_end = rows.indptr[b + 1];
        while (i < i_end || j < j_end) {
            const auto f = i < i_end ? rows.indices[i] : INT32_MAX;
            const auto g = j < j_end ? rows.indices[j] : INT32_MAX;
            const T x = f <= g ? rows.data[i++] : T{0};
            const T y = g <= f ? rows.data[j++] : T{0};
            if (x != y) return x < y;
        }
        return false;
    }
};

template <class T>
double leading_value(const Rows<T>& rows, std::size_t i) {
    if (!rows.is_csr()) return rows.data[i * rows.p];
    const auto e = rows.indptr[i];
    return e < rows.indptr[i + 1] && rows.indices[e] == 0 ? rows.data[e] : T{0};
}

// Sorting contiguous keys of the first column settles most of the order; only rows that
// tie there are compared as rows.
template <class T>
void lexicographic_order(const Rows<T>& rows, std::uint32_t* order) {
    std::vector<std::pair<std::uint64_t, std::size_t>> keys(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i)
        keys[i] = {ordered_bits(leading_value(rows, i)), i};
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 0; i < rows.n; ++i)
        order[i] = static_cast<std::uint32_t>(keys[i].second);
    for (std::size_t first = 0, last; first < rows.n; first = last) {
        for (last = first + 1; last < rows.n && keys[last].first == keys[first].first;)
            ++last;
        std::stable_sort(order + first, order + last, LexicographicLess<T>{rows});
    }
}

// The number of distinct rows of positive weight, counted no further than `enough`.
template <class T>
std::size_t count_distinct(const Rows<T>& rows, std::size_t enough) {
    std::set<std::size_t, LexicographicLess<T>> seen(LexicographicLess<T>{rows});
    for (std::size_t i = 0; i < rows.n && seen.size() < enough; ++i)
        if (rows.weight(i) > 0) seen.insert(i);
    return seen.size();
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
        std::vector<double> sums((n + block - 1) / block);
        for_each_part(
            parallel, Partition(sums.size()), 16 * block, [&](std::size_t, Range blocks) {
                for (std::size_t b = blocks.first; b < blocks.last; ++b)
                    for (std::size_t i = b * block; i < std::min(n, (b + 1) * block); ++i)
                        sums[b] += chance(order[i]);
            });
        const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
        for (std::size_t d = 0; d < n_draws && total > 0; ++d) {
            const double target = u[d] * total;
            double reached = 0;
            std::size_t b = 0;
            for (; b + 1 < sums.size() && reached + sums[b] <= target; ++b)
                reached += sums[b];
            drawn[d] = -1;
            for (std::size_t i = b * block; i < n; ++i) {
                const double c = chance(order[i]);
                reached += c;
                if (c > 0) drawn[d] = order[i];
                if (drawn[d] >= 0 && reached > target) break;
            }
        }
        return total > 0;
    }
};

}  // namespace rtkm
