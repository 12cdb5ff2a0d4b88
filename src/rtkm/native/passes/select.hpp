// The exact trimming threshold without a sort: histograms of the leading bits, refined
// around the crossing until what is left fits in one small gather, or all is equal.
#pragma once
#include <cstring>
#include <limits>

#include "passes/parallel.hpp"

namespace rtkm {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Unsigned numbers in the order of the doubles they stand for.
inline std::uint64_t ordered_bits(double x) {
    x += 0.0;  // -0.0 becomes 0.0
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}

namespace detail {

constexpr int bucket_bits = 12;
constexpr std::size_t n_buckets = std::size_t{1} << bucket_bits;
constexpr std::size_t small_gather = 512;

// Leading bits that all rows still in question share.
struct Prefix {
    std::uint64_t value = 0;
    int length = 0;

    bool holds(std::uint64_t bits) const {
        return length == 0 || bits >> (64 - length) == value;
    }
    int next_length() const { return std::min(64, length + bucket_bits); }
    std::size_t bucket(std::uint64_t bits) const {
        const std::uint64_t mask = (std::uint64_t{1} << (next_length() - length)) - 1;
        return bits >> (64 - next_length()) & mask;
    }
    Prefix extended(std::size_t bucket) const {
        return {value << (next_length() - length) | bucket, next_length()};
    }
};

struct Histogram {
    std::vector<std::uint32_t> counts;
    std::vector<Exact> masses;  // stays empty while every weight is one

    void reserve(bool weighted) {
        counts.resize(n_buckets);
        if (weighted) masses.resize(n_buckets);
    }
    Exact mass(std::size_t b) const {
        return masses.empty() ? Exact{1.0 * counts[b]} : masses[b];
    }
    void add(const Histogram& part) {
        for (std::size_t b = 0; b < part.counts.size(); ++b) counts[b] += part.counts[b];
        for (std::size_t b = 0; b < part.masses.size(); ++b)
            masses[b].add(part.masses[b]);
    }
};

}  // namespace detail

// The values to be cut: those of all rows, or of the n that are listed in `rows`, in
// order.
struct Values {
    const double* data;
    const double* weights;  // or all ones
    std::size_t n;
    const std::uint32_t* rows = nullptr;
    Exact mass_below = {};  // of the rows that are kept anyway

    std::size_t row(std::size_t i) const { return rows ? rows[i] : i; }
    double value(std::size_t i) const { return data[i]; }
    double weight(std::size_t i) const { return weights ? weights[row(i)] : 1.0; }
};

inline detail::Histogram histogram(const Parallel& parallel, const Values& values,
                                   const detail::Prefix& prefix) {
    // fewer rows than buckets are counted before a histogram of their own is cleared
    const Partition partition(values.n, 0, 4 * detail::n_buckets);
    std::vector<detail::Histogram> partial(partition.n_parts);
    for_each_part(parallel, partition, 8, [&](std::size_t part, Range rows) {
        detail::Histogram& buckets = partial[part];
        buckets.reserve(values.weights);
        for (std::size_t i = rows.first; i < rows.last; ++i) {
            const std::uint64_t bits = ordered_bits(values.value(i));
            if (!prefix.holds(bits)) continue;
            const std::size_t b = prefix.bucket(bits);
            ++buckets.counts[b];
            if (values.weights) buckets.masses[b].add(values.weight(i));
        }
    });
    detail::Histogram sum;
    sum.reserve(values.weights);
    for (const detail::Histogram& part : partial) sum.add(part);
    return sum;
}

// What a sum leaves of a mass.
inline double left_of(double mass, const Exact& sum) {
    return Exact{mass}.minus(normalized(sum));
}

// The row at which the weights, taken in the order (value, row), first reach `mass`.
inline Cut find_cut(const Parallel& parallel, const Values& values, double mass) {
    detail::Prefix prefix;
    Exact below = values.mass_below;
    for (std::size_t n_left = values.n;
         n_left > detail::small_gather && prefix.length < 64;) {
        const detail::Histogram buckets = histogram(parallel, values, prefix);
        std::size_t crossing = 0;
        Exact reached = below;
        for (std::size_t b = 0; b < detail::n_buckets; ++b) {
            if (buckets.counts[b] == 0) continue;
            below = reached;
            reached.add(buckets.mass(b));
            crossing = b;
            if (reached.value() >= mass) break;
        }
        n_left = buckets.counts[crossing];
        prefix = prefix.extended(crossing);
    }
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < values.n; ++i)
        if (prefix.holds(ordered_bits(values.value(i)))) left.push_back(i);
    if (prefix.length < 64)  // else all values are equal and the rows in order
        std::sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
            const double x = values.value(a), y = values.value(b);
            return x < y || (x == y && a < b);
        });
    Cut cut{std::numeric_limits<double>::infinity(), values.n, 1.0};
    for (const std::size_t i : left) {
        if (values.weight(i) == 0) continue;
        const double share = left_of(mass, below) / values.weight(i);
        cut = {values.value(i), values.row(i), std::clamp(share, 0.0, 1.0)};
        below.add(values.weight(i));
        if (below.value() >= mass) break;
    }
    return cut;
}

}  // namespace rtkm
