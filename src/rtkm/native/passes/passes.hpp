// One pass over all rows each: a block kernel on every part, and the sums of all parts.
#pragma once
#include <memory>
#include <new>
#include <optional>

#include "passes/parallel.hpp"
#include "passes/scratch.hpp"

namespace rtkm {

// Sums over rows, `size` of each part. They keep what is rounded away until they are
// added up, so that neither where the parts begin nor the order of the rows shows in
// them.
class SumsOfParts {
public:
    SumsOfParts(const Partition& partition, std::size_t size)
        : partition(partition),
          size_(size),
          parts_(partition.n_parts, std::vector<double>(2 * size)) {}
    const Partition partition;
    ExactSums operator[](std::size_t part) {
        return {parts_[part].data(), parts_[part].data() + size_};
    }
    // Of all parts: sums that are rounded once, and what that takes away.
    ExactSums add_up() {
        const ExactSums total = (*this)[0];
        for (std::size_t i = 0; i < size_; ++i) {
            for (std::size_t part = 1; part < parts_.size(); ++part)
                total.add(i, (*this)[part][i]);
            const Exact whole = normalized(total[i]);
            total.sums[i] = whole.sum;
            total.lost[i] = whole.lost;
        }
        return total;
    }
    // The same to where there is room for both.
    void add_up_into(double* out) {
        const ExactSums total = add_up();
        std::copy_n(total.sums, size_, out);
        std::copy_n(total.lost, size_, out + size_);
    }

private:
    const std::size_t size_;
    std::vector<std::vector<double>> parts_;
};

// What CSR rows need to know of the centers besides their entries.
class SquaredCenters {
public:
    template <class T>
    explicit SquaredCenters(const Centers<T>& centers)
        : squares_(centers.k * centers.p), norms_(centers.k) {
        for (std::size_t i = 0; i < squares_.size(); ++i) {
            squares_[i] = static_cast<double>(centers.data[i]) * centers.data[i];
            norms_[i / centers.p].add(squares_[i]);
        }
    }
    const double* squares() const { return squares_.data(); }
    const Exact* norms() const { return norms_.data(); }

private:
    std::vector<double> squares_;
    std::vector<Exact> norms_;
};

// Runs body(part, range, workspace) on all rows.
template <class T, class Body>
void pass(const Parallel& parallel, const Partition& partition, const Rows<T>& rows,
          std::size_t k, std::size_t s, Body body) {
    std::vector<std::unique_ptr<ScratchMemory<T>>> scratch(partition.n_parts);
    for_each_part(parallel, partition, rows.p * k, [&](std::size_t part, Range range) {
        auto& memory = scratch[part];
        if (!memory) memory = std::make_unique<ScratchMemory<T>>(rows.p, k, s);
        body(part, range, memory->workspace());
        if (range.last == partition[part].last) memory.reset();
    });
}

template <class T>
void nearest(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& centers,
             const Nearest& out) {
    pass<T>(parallel, Partition(rows.n), rows, centers.k, out.s,
            [&](std::size_t, Range range, const Workspace<T>& work) {
                kernels<T>().nearest(rows, range, centers, out, work);
            });
}

template <class T>
void squared_distances(const Parallel& parallel, const Rows<T>& rows,
                       const Centers<T>& centers, T* out) {
    pass<T>(parallel, Partition(rows.n), rows, centers.k, 0,
            [&](std::size_t, Range range, const Workspace<T>& work) {
                kernels<T>().distances(rows, range, centers, out, work);
            });
}

template <class T>
void squared_residuals(const Parallel& parallel, const Rows<T>& rows,
                       const double* weights, const Centers<T>& centers, double* out) {
    const std::size_t row_work = rows.p * centers.k;
    for_each_part(parallel, Partition(rows.n), row_work, [&](std::size_t, Range range) {
        std::vector<double> residual(rows.p);
        kernels<T>().residuals(rows, range, weights, centers, residual.data(), out);
    });
}

template <class T>
void lower(const Parallel& parallel, const Rows<T>& rows, const Centers<T>& center,
           double* cost) {
    pass<T>(parallel, Partition(rows.n), rows, 1, 0,
            [&](std::size_t, Range range, const Workspace<T>& work) {
                kernels<T>().lower(rows, range, center, cost, work);
            });
}

template <class T>
void swap_changes(const Parallel& parallel, const Rows<T>& rows,
                  const Centers<T>& candidates, const KnownNearest& state, double cap,
                  std::size_t k, double* gains) {
    const std::size_t size = (candidates.k + 1) * (k + 1);  // and what they lost
    SumsOfParts sums(Partition(rows.n, 2 * size), size);
    pass<T>(parallel, sums.partition, rows, candidates.k, 0,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                kernels<T>().swap_changes(rows, range, candidates, state, cap, k,
                                          sums[part], work);
            });
    sums.add_up_into(gains);
}

// The smallest and the largest value of each column of dense rows, p each.
template <class T>
void column_ends(const Parallel& parallel, const Rows<T>& rows, double* low,
                 double* high) {
    const Partition partition(rows.n);
    std::vector<std::vector<T>> lows(partition.n_parts), highs(partition.n_parts);
    for_each_part(parallel, partition, rows.p, [&](std::size_t part, Range range) {
        const T* x = rows.data + range.first * rows.p;
        if (lows[part].empty()) {
            lows[part].assign(x, x + rows.p);
            highs[part] = lows[part];
        }
        T *const least = lows[part].data(), *const most = highs[part].data();
        for (std::size_t i = range.first; i < range.last; ++i, x += rows.p)
            for (std::size_t f = 0; f < rows.p; ++f) {
                least[f] = x[f] < least[f] ? x[f] : least[f];
                most[f] = x[f] > most[f] ? x[f] : most[f];
            }
    });
    for (std::size_t f = 0; f < rows.p; ++f) {
        low[f] = lows[0][f];
        high[f] = highs[0][f];
        for (std::size_t part = 1; part < partition.n_parts; ++part) {
            low[f] = std::min<double>(low[f], lows[part][f]);
            high[f] = std::max<double>(high[f], highs[part][f]);
        }
    }
}

// Counts k x k x n_bins masses; a bin is one of `per_half` between the middle of a line
// and its end.
template <class T>
void count_along_lines(const Parallel& parallel, const Rows<T>& rows,
                       const Centers<T>& centers, double cap, std::size_t per_half,
                       std::size_t n_bins, double* counts) {
    const std::size_t k = centers.k, size = k * k * n_bins;
    std::vector<double> per_square(k * k);
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < k; ++j) {
            double gap = 0;
            for (std::size_t f = 0; f < rows.p; ++f) {
                const double d = static_cast<double>(centers.data[i * rows.p + f]) -
                                 centers.data[j * rows.p + f];
                gap += d * d;
            }
            // centers that are one have no line
            per_square[i * k + j] = gap > 0 ? static_cast<double>(per_half) / gap : 0;
        }
    const LineBins bins{per_square.data(), n_bins};
    const Partition partition(rows.n, size);
    std::vector<std::vector<double>> partial(partition.n_parts);
    pass<T>(parallel, partition, rows, k, 0,
            [&](std::size_t part, Range range, const Workspace<T>& work) {
                partial[part].resize(size);
                kernels<T>().count_along_lines(rows, range, centers, bins, cap,
                                               partial[part].data(), work);
            });
    for (const auto& part : partial)
        for (std::size_t i = 0; i < part.size(); ++i) counts[i] += part[i];
}

// The masses of k clusters, and after them their sums, padded.
constexpr std::size_t weighted_sums_size(std::size_t p, std::size_t k) {
    return k * (1 + padded(p));
}

template <class T>
void weighted_sums(const Parallel& parallel, const Rows<T>& rows, const double* weights,
                   std::size_t k, double* out) {
    const std::size_t size = weighted_sums_size(rows.p, k);
    SumsOfParts sums(Partition(rows.n, 2 * size), size);
    for_each_part(parallel, sums.partition, rows.p * k,
                  [&](std::size_t part, Range range) {
                      kernels<T>().weighted_sums(rows, range, weights, k, sums[part]);
                  });
    sums.add_up_into(out);
}

// `neighbors` lists k row numbers in each of n lines.
template <class T>
void mean_pair_distances(const Parallel& parallel, const Rows<T>& rows,
                         const std::int64_t* neighbors, std::size_t n, std::size_t k,
                         double* out) {
    const std::size_t entries = rows.is_csr() ? rows.indptr[rows.n] / rows.n : rows.p;
    const std::size_t work = k * k * (entries + 1);
    for_each_part(parallel, Partition(n), work, [&](std::size_t, Range lines) {
        kernels<T>().mean_pair_distances(rows, lines, neighbors, k, out);
    });
}

}  // namespace rtkm
