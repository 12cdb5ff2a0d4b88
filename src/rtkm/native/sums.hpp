// Sums of rows, for kernels.cpp alone.
#pragma once
#include "simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

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

// A row that belongs to center j with weight * shares[j].
template <class T>
inline void add_to_all_centers(const Rows<T>& rows, std::size_t row, double weight,
                               const double* shares, std::size_t k, const Sums& sums) {
    for (std::size_t j = 0; j < k; ++j) {
        const double part = weight * shares[j];
        if (part == 0) continue;
        sums.masses[j] += part;
        add_row(rows, row, part, sums.rows + j * rows.p);
    }
}

// Rows that belong to many centers, four at a time: then the sums are read and written
// once for all of them.
template <class T>
class Shared {
public:
    Shared(const Rows<T>& rows, std::size_t k, const Sums& sums)
        : rows_(rows), k_(k), sums_(sums) {}

    void add(std::size_t row, double weight, const double* shares) {
        row_[n_] = row;
        weight_[n_] = weight;
        shares_[n_] = shares;
        if (++n_ < 4) return;
        if (rows_.is_csr())
            finish();
        else
            add_four();
        n_ = 0;
    }
    void finish() {
        for (std::size_t l = 0; l < n_; ++l)
            add_to_all_centers(rows_, row_[l], weight_[l], shares_[l], k_, sums_);
        n_ = 0;
    }

private:
    const Rows<T> rows_;
    const std::size_t k_;
    const Sums sums_;
    std::size_t row_[4], n_ = 0;
    double weight_[4];
    const double* shares_[4];

    void add_four() {
        const std::size_t p = rows_.p;
        const T* x[4];
        for (std::size_t l = 0; l < 4; ++l) x[l] = rows_.data + row_[l] * p;
        for (std::size_t j = 0; j < k_; ++j) {
            double part[4], mass = 0;
            for (std::size_t l = 0; l < 4; ++l) {
                part[l] = weight_[l] * shares_[l][j];
                mass += part[l];
            }
            if (mass == 0) continue;
            sums_.masses[j] += mass;
            double* sum = sums_.rows + j * p;
            std::size_t f = 0;
            for (; f + 4 <= p; f += 4) {
                Vec<double> v = load(sum + f);
                for (std::size_t l = 0; l < 4; ++l)
                    v += part[l] * load_as_double(x[l] + f);
                store(sum + f, v);
            }
            for (; f < p; ++f)
                for (std::size_t l = 0; l < 4; ++l) sum[f] += part[l] * x[l][f];
        }
    }
};

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
