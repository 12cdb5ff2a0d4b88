// Sets of clusters: what a set costs a row, and three searches for a cheap one.
#pragma once
#include <limits>

#include "passes/parallel.hpp"

namespace rtkm {

// The set A of s clusters costs row i
//   linear[s] * (sum of L[i][j] over A) + pair[s] * (sum of P[j][l] over its pairs)
//     + fixed[s].
struct SetCosts {
    const double* L;                      // n x k
    const double* P;                      // k x k, symmetric; the diagonal does not count
    const double *linear, *pair, *fixed;  // by size, from 1 to k; entry 0 is not read
    std::size_t n, k;

    const double* row(std::size_t i) const { return L + i * k; }
    double at(std::size_t size, double sum, double pairs) const {
        return linear[size] * sum + (pair[size] * pairs + fixed[size]);
    }
};

// The set of one row as it changes: its members, the sums its cost is made of, and for
// every cluster the sum of its pairs with the other members. Members are as good as
// random, so no branch depends on them: one is at an infinite distance from outside.
class RowSet {
public:
    explicit RowSet(const SetCosts& costs)
        : costs_(costs), member_(costs.k), outside_(costs.k), pairs_with_(costs.k) {}

    void clear(const double* L) {
        L_ = L;
        size_ = 0;
        sum_ = pairs_ = 0;
        for (std::size_t j = 0; j < costs_.k; ++j) {
            member_[j] = 0;
            outside_[j] = pairs_with_[j] = 0;
        }
    }
    void add(std::size_t c) {
        ++size_;
        sum_ += L_[c];
        pairs_ += pairs_with_[c];
        member_[c] = 1;
        outside_[c] = infinity;
        add_pairs(c, 1.0);
    }
    void remove(std::size_t c) {
        --size_;
        sum_ -= L_[c];
        pairs_ -= pairs_with_[c];
        member_[c] = 0;
        outside_[c] = 0;
        add_pairs(c, -1.0);
    }

    std::size_t size() const { return size_; }
    double cost() const { return costs_.at(size_, sum_, pairs_); }
    double cost_with(std::size_t c) const {
        return costs_.at(size_ + 1, sum_ + L_[c], pairs_ + pairs_with_[c]);
    }
    // The cost again, from the list of members, so that it does not matter in which
    // order the set came about.
    double cost_of(const std::size_t* members) const {
        double sum = 0, pairs = 0;
        for (std::size_t m = 0; m < size_; ++m) {
            sum += L_[members[m]];
            for (std::size_t o = 0; o < m; ++o)
                pairs += costs_.P[members[m] * costs_.k + members[o]];
        }
        return costs_.at(size_, sum, pairs);
    }

    // The nearest cluster outside, if there is one.
    std::size_t nearest(std::size_t otherwise) const {
        return lowest([&](std::size_t j) { return L_[j]; }, infinity, otherwise);
    }
    // The cluster outside that would make the set cost least, if less than `limit`.
    std::size_t cheapest(double limit, std::size_t otherwise) const {
        return lowest([&](std::size_t j) { return cost_with(j); }, limit, otherwise);
    }

    // Lists the members in order, in memory for one more, and returns their number.
    std::size_t list(std::size_t* members) const {
        std::size_t count = 0;
        for (std::size_t j = 0; j < costs_.k; ++j) {
            members[count] = j;
            count += member_[j];
        }
        return count;
    }
    void write(std::uint8_t* row) const {
        for (std::size_t j = 0; j < costs_.k; ++j) row[j] = member_[j];
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    template <class Value>
    std::size_t lowest(Value value, double limit, std::size_t otherwise) const {
        for (std::size_t j = 0; j < costs_.k; ++j) {
            const double at = value(j) + outside_[j];
            otherwise = at < limit ? j : otherwise;
            limit = at < limit ? at : limit;
        }
        return otherwise;
    }
    void add_pairs(std::size_t c, double sign) {
        const double* P = costs_.P + c * costs_.k;
        const double own = pairs_with_[c];  // a cluster makes no pair with itself
        for (std::size_t j = 0; j < costs_.k; ++j) pairs_with_[j] += sign * P[j];
        pairs_with_[c] = own;
    }

    const SetCosts& costs_;
    const double* L_ = nullptr;
    std::size_t size_ = 0;
    double sum_ = 0, pairs_ = 0;
    std::vector<std::uint8_t> member_;
    std::vector<double> outside_, pairs_with_;
};

// The nearest cluster, and the next nearest as long as the cost falls.
inline void grow_sets(const Parallel& parallel, const SetCosts& costs,
                      std::uint8_t* sets) {
    const std::size_t k = costs.k;
    for_each_part(parallel, Partition(costs.n), 8 * k, [&](std::size_t, Range rows) {
        RowSet set(costs);
        for (std::size_t i = rows.first; i < rows.last; ++i) {
            set.clear(costs.row(i));
            set.add(set.nearest(0));
            for (;;) {
                const std::size_t next = set.nearest(k);
                if (next == k || !(set.cost_with(next) < set.cost())) break;
                set.add(next);
            }
            set.write(sets + i * k);
        }
    });
}

// A set in the list of all: one cluster more than its parent, and the prices that turn
// the sum of a row's L over it into its cost.
struct Subset {
    std::uint32_t parent, added;
    double linear, constant;
};

// The sets of up to `max_size` clusters: the empty set, then by size, and by their
// members in order. Each extends its parent by a cluster behind all of the parent's.
inline std::vector<Subset> list_subsets(const SetCosts& costs, std::size_t max_size) {
    std::vector<Subset> subsets(1);
    std::vector<double> pairs(1);
    std::size_t first = 0;
    for (std::size_t size = 1; size <= std::min(max_size, costs.k); ++size) {
        const std::size_t last = subsets.size();
        for (std::size_t parent = first; parent < last; ++parent)
            for (auto c = parent ? subsets[parent].added + 1 : 0; c < costs.k; ++c) {
                double sum = pairs[parent];
                for (std::size_t a = parent; a; a = subsets[a].parent)
                    sum += costs.P[subsets[a].added * costs.k + c];
                pairs.push_back(sum);
                subsets.push_back({static_cast<std::uint32_t>(parent), c,
                                   costs.linear[size],
                                   costs.pair[size] * sum + costs.fixed[size]});
            }
        first = last;
    }
    return subsets;
}

// Finds the cheapest of the listed sets for a few rows at a time.
class SubsetSearch {
public:
    static constexpr std::size_t lanes = 4;

    SubsetSearch(const std::vector<Subset>& subsets, std::size_t k)
        : subsets_(subsets), L_(k * lanes), sums_(subsets.size() * lanes) {}

    // The rows from `first` on; a short last group repeats its last row.
    void search(const SetCosts& costs, std::size_t first, std::size_t last) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const double* row = costs.row(std::min(first + l, last - 1));
            for (std::size_t j = 0; j < costs.k; ++j) L_[j * lanes + l] = row[j];
        }
        double lowest[lanes];
        std::fill(lowest, lowest + lanes, std::numeric_limits<double>::infinity());
        std::fill(best_, best_ + lanes, 1);
        for (std::size_t a = 1; a < subsets_.size(); ++a) {
            const Subset subset = subsets_[a];
            const double* L = L_.data() + subset.added * lanes;
            const double* before = sums_.data() + subset.parent * lanes;
            double* sums = sums_.data() + a * lanes;
            for (std::size_t l = 0; l < lanes; ++l) {
                sums[l] = before[l] + L[l];
                const double cost = subset.linear * sums[l] + subset.constant;
                // ties stay with the earlier set
                best_[l] = cost < lowest[l] ? static_cast<std::int64_t>(a) : best_[l];
                lowest[l] = cost < lowest[l] ? cost : lowest[l];
            }
        }
    }
    void write(std::size_t lane, std::uint8_t* row) const {
        for (std::size_t a = best_[lane]; a; a = subsets_[a].parent)
            row[subsets_[a].added] = 1;
    }

private:
    const std::vector<Subset>& subsets_;
    std::vector<double> L_, sums_;
    std::int64_t best_[lanes];
};

// The cheapest of all sets of up to `max_size` clusters.
inline void best_sets(const Parallel& parallel, const SetCosts& costs,
                      std::size_t max_size, std::uint8_t* sets) {
    const std::vector<Subset> subsets = list_subsets(costs, max_size);
    std::fill(sets, sets + costs.n * costs.k, std::uint8_t{0});
    for_each_part(
        parallel, Partition(costs.n), 2 * subsets.size(), [&](std::size_t, Range rows) {
            SubsetSearch search(subsets, costs.k);
            for (std::size_t i = rows.first; i < rows.last; i += SubsetSearch::lanes) {
                search.search(costs, i, rows.last);
                for (std::size_t l = 0; l < SubsetSearch::lanes && i + l < rows.last; ++l)
                    search.write(l, sets + (i + l) * costs.k);
            }
        });
}

// Adds the best further cluster as long as the cost falls.
inline void extend(RowSet& set, std::size_t k, std::size_t max_size) {
    while (set.size() < max_size) {
        const std::size_t next = set.cheapest(set.cost(), k);
        if (next == k) break;
        set.add(next);
    }
}

// Puts in the place of each member, once, the best cluster outside if that costs less.
inline void swap_members(RowSet& set, const std::size_t* members, std::size_t size) {
    for (std::size_t m = 0; m < size; ++m) {
        set.remove(members[m]);
        set.add(set.cheapest(set.cost_with(members[m]), members[m]));
    }
}

// The best of the sets that every single cluster extends to, after a pass of swaps.
inline void greedy_sets(const Parallel& parallel, const SetCosts& costs,
                        std::size_t max_size, std::uint8_t* sets) {
    const std::size_t k = costs.k;
    for_each_part(parallel, Partition(costs.n), 32 * k * k, [&](std::size_t, Range rows) {
        RowSet set(costs);
        std::vector<std::size_t> members(k + 1), best(k + 1);
        for (std::size_t i = rows.first; i < rows.last; ++i) {
            double lowest = std::numeric_limits<double>::infinity();
            std::size_t size = 0;
            for (std::size_t start = 0; start < k; ++start) {
                set.clear(costs.row(i));
                set.add(start);
                extend(set, k, std::min(max_size, k));
                set.list(members.data());
                const double cost = set.cost_of(members.data());
                if (start > 0 && !(cost < lowest)) continue;
                lowest = cost;
                size = set.size();
                best.swap(members);
            }
            set.clear(costs.row(i));
            for (std::size_t m = 0; m < size; ++m) set.add(best[m]);
            swap_members(set, best.data(), size);
            set.write(sets + i * k);
        }
    });
}

}  // namespace rtkm
