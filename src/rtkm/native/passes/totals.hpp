// Sums of a number for each row.
#pragma once
#include "passes/passes.hpp"

namespace rtkm {

// The sum of n values, under weights if there are any, and what it rounds away.
inline Exact exact_sum(const Parallel& parallel, const double* values,
                       const double* weights, std::size_t n) {
    SumsOfParts sums(Partition(n), 1);
    for_each_part(parallel, sums.partition, 8, [&](std::size_t part, Range range) {
        Exact sum;
        for (std::size_t i = range.first; i < range.last; ++i)
            if (weights)
                sum.add(Product<double>(weights[i], values[i]));
            else
                sum.add(values[i]);
        sums[part].add(0, sum);
    });
    return sums.add_up()[0];
}

// The sums of what rows bring to each of k clusters: n values, and s labels for each, of
// which those below 0 do not count.
inline void label_sums(const Parallel& parallel, const double* values,
                       const std::int32_t* labels, std::size_t n, std::size_t s,
                       std::size_t k, double* out) {
    SumsOfParts sums(Partition(n, 2 * k), k);
    for_each_part(parallel, sums.partition, 8 * s, [&](std::size_t part, Range range) {
        for (std::size_t i = range.first; i < range.last; ++i)
            for (std::size_t r = 0; r < s; ++r)
                if (labels[i * s + r] >= 0) sums[part].add(labels[i * s + r], values[i]);
    });
    sums.add_up_into(out);
}

}  // namespace rtkm
