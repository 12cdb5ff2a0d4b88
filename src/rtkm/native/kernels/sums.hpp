// Sums of rows, for kernels.cpp alone.
#pragma once
#include "kernels/simd.hpp"

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

// Rows that share their weight among centers.
template <class T>
struct FourRows {
    const T* x[4];
    double weight[4];
    const double* shares[4];
};

// Adds four rows, as seen from the origin, to G centers from the j-th on. To branch on
// shares would be a gamble.
template <class T, std::size_t G>
inline void add_four(const FourRows<T> four, const double* origin, std::size_t j,
                     std::size_t p, const Sums sums) {
    double* const sum = sums.rows + j * p;
    double part[G][4];
    for (std::size_t g = 0; g < G; ++g) {
        for (std::size_t l = 0; l < 4; ++l)
            part[g][l] = four.weight[l] * four.shares[l][j + g];
        sums.masses[j + g] += (part[g][0] + part[g][1]) + (part[g][2] + part[g][3]);
    }
    std::size_t f = 0;
    for (; f + 4 <= p; f += 4) {
        Vec<double> v[G];
        for (std::size_t g = 0; g < G; ++g) v[g] = load(sum + g * p + f);
        for (std::size_t l = 0; l < 4; ++l) {
            const Vec<double> y = load_as_double(four.x[l] + f) - load(origin + f);
            for (std::size_t g = 0; g < G; ++g) v[g] += part[g][l] * y;
        }
        for (std::size_t g = 0; g < G; ++g) store(sum + g * p + f, v[g]);
    }
    for (; f < p; ++f)
        for (std::size_t g = 0; g < G; ++g)
            for (std::size_t l = 0; l < 4; ++l)
                sum[g * p + f] += part[g][l] * (four.x[l][f] - origin[f]);
}

// Gathers rows that share their weight among centers, to add four at a time to four
// centers: so what is read serves four times. If fewer are left, the rest weigh nothing.
template <class T>
class SharingRows {
public:
    SharingRows(const Rows<T>& rows, std::size_t k, const Sums& sums)
        : rows_(rows), k_(k), sums_(sums) {}

    void add(std::size_t row, double weight, const double* shares) {
        if (rows_.is_csr())  // the origin is 0
            return add_to_all_centers(rows_, row, weight, shares, k_, sums_);
        four_.x[n_] = rows_.data + row * rows_.p;
        four_.weight[n_] = weight;
        four_.shares[n_] = shares;
        if (++n_ == 4) finish();
    }
    void add_to_one(std::size_t row, double weight, std::size_t center) {
        double* const sum = sums_.rows + center * rows_.p;
        sums_.masses[center] += weight;
        if (rows_.is_csr()) return add_row(rows_, row, weight, sum);
        const T* const x = rows_.data + row * rows_.p;
        for (std::size_t f = 0; f < rows_.p; ++f)
            sum[f] += weight * (x[f] - rows_.origin[f]);
    }
    void finish() {
        if (n_ == 0) return;
        for (; n_ < 4; ++n_) {
            four_.x[n_] = four_.x[0];
            four_.weight[n_] = 0;
            four_.shares[n_] = four_.shares[0];
        }
        std::size_t j = 0;
        for (; j + 4 <= k_; j += 4)
            add_four<T, 4>(four_, rows_.origin, j, rows_.p, sums_);
        for (; j < k_; ++j) add_four<T, 1>(four_, rows_.origin, j, rows_.p, sums_);
        n_ = 0;
    }

private:
    const Rows<T> rows_;
    const std::size_t k_;
    const Sums sums_;
    std::size_t n_ = 0;
    FourRows<T> four_;
};

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
