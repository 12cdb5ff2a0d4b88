// Memberships of rows that share themselves among clusters.
#pragma once
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/kernels.hpp"
#include "passes/parallel.hpp"

namespace rtkm {

// The memory behind Fractions, which grows while a pass goes over its rows.
class FractionMemory {
public:
    FractionMemory(const Partition& partition, std::size_t k)
        : memory_(partition.n_parts),
          chunks_(partition.n_parts),
          sizes_(partition.n_parts),
          capacities_(partition.n_parts),
          expected_(partition.n_parts),
          chunk_rows_(partition[0].last),
          k_(k) {}
    FractionMemory(FractionMemory&&) = default;

    Fractions view() const {
        return {chunks_.data(), chunks_.size(), std::max<std::size_t>(chunk_rows_, 1),
                k_};
    }
    std::size_t size() const {
        return std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0});
    }
    void copy_to(double* weights) const {
        for (std::size_t c = 0; c < chunks_.size(); ++c)
            weights = std::copy(chunks_[c], chunks_[c] + sizes_[c] * k_, weights);
    }

    // A chunk of which `n` rows are used, with room for a block more.
    double* grown(std::size_t chunk, std::size_t n) {
        sizes_[chunk] = n;
        if (n + block_rows <= capacities_[chunk]) return chunks_[chunk];
        capacities_[chunk] = std::max(n + n / 2, expected_[chunk]) + block_rows;
        std::unique_ptr<double[]> larger(new double[capacities_[chunk] * k_]);
        std::copy(chunks_[chunk], chunks_[chunk] + n * k_, larger.get());
        memory_[chunk] = std::move(larger);
        return chunks_[chunk] = memory_[chunk].get();
    }
    // Sizes to be expected, so that chunks need not grow.
    void expect(const FractionMemory& last) { expected_ = last.sizes_; }
    void set_size(std::size_t chunk, std::size_t n) { sizes_[chunk] = n; }

private:
    std::vector<std::unique_ptr<double[]>> memory_;
    std::vector<double*> chunks_;
    std::vector<std::size_t> sizes_, capacities_, expected_;
    std::size_t chunk_rows_, k_;
};

}  // namespace rtkm
