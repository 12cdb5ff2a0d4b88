// Sums of rows, for kernels.cpp alone.
#pragma once
#include "kernels/simd.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

template <class T>
inline void add_row(const Rows<T>& rows, std::size_t row, double weight, double* sum) {
    if (rows.is_csr()) {
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e) {
            double& there = sum[rows.indices[e]];
            there = multiply_add(weight, rows.data[e], there);
        }
        return;
    }
    const T* x = rows.data + row * rows.p;
    std::size_t f = 0;
    for (; f + 4 <= rows.p; f += 4)
        store(sum + f, multiply_add(weight, load_as_double(x + f), load(sum + f)));
    for (; f < rows.p; ++f) sum[f] = multiply_add(weight, x[f], sum[f]);
}

// The last features of a row, fewer than four, with zeros after them. Where there are
// four before the end, they are read at once.
template <class T>
inline Vec<double> last_features(const T* row, std::size_t p) {
    const std::size_t n = p % 4;
    Vec<double> last = {};
    if (p < 4) {  // a loop would keep them in memory
        last[0] = row[0];
        if (n > 1) last[1] = row[1];
        if (n > 2) last[2] = row[2];
        return last;
    }
    const Vec<double> four = load_as_double(row + p - 4);
    switch (n) {
        case 1: return shuffle<3, 4, 4, 4>(four, last);
        case 2: return shuffle<2, 3, 4, 4>(four, last);
        default: return shuffle<1, 2, 3, 4>(four, last);
    }
}

// The features of a row from the f-th on, four or as many as there are.
template <class T>
inline Vec<double> four_features(const T* row, std::size_t f, std::size_t p) {
    return f + 4 <= p ? load_as_double(row + f) : last_features(row, p);
}

inline ExactSum<Vec<double>> load_sums(const ExactSums& from) {
    return {load(from.sums), load(from.lost)};
}
inline void store_sums(const ExactSums& to, const ExactSum<Vec<double>>& four) {
    store(to.sums, four.sum);
    store(to.lost, four.lost);
}

// Adds a number for each row: `four` gives those of the rows from the i-th on.
template <class Four, class One>
inline void add_terms(Range rows, Exact& total, Four four, One one) {
    ExactSum<Vec<double>> sums;
    std::size_t i = rows.first;
    for (; i + 4 <= rows.last; i += 4) sums.add(four(i));
    for (std::size_t l = 0; l < 4; ++l) total.add(Exact{sums.sum[l], sums.lost[l]});
    for (; i < rows.last; ++i) total.add(one(i));
}

// Adds a row to padded sums, which keep what is rounded away; what the row brings is
// rounded.
template <class T>
inline void add_exactly(const Rows<T>& rows, std::size_t row, double weight,
                        const double* origin, const ExactSums& sums) {
    if (rows.is_csr()) {
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e)
            sums.add(rows.indices[e], weight * rows.data[e]);
        return;
    }
    const T* const x = rows.data + row * rows.p;
    for (std::size_t f = 0; f < rows.p; f += 4) {
        Vec<double> y = four_features(x, f, rows.p);
        if (origin) y = y - load(origin + f);
        ExactSum<Vec<double>> four = load_sums(sums + f);
        four.add(weight * y);
        store_sums(sums + f, four);
    }
}

// The same as seen from the origin of the table; that of CSR rows is 0.
template <class T>
inline void add_from_origin(const Rows<T>& rows, std::size_t row, double weight,
                            const ExactSums& sums) {
    add_exactly(rows, row, weight, rows.origin, sums);
}

// A row that belongs to center j with weight * shares[j].
template <class T>
inline void add_to_all_centers(const Rows<T>& rows, std::size_t row, double weight,
                               const double* shares, std::size_t k, const Sums& sums) {
    for (std::size_t j = 0; j < k; ++j) {
        const double part = weight * shares[j];
        if (part == 0) continue;
        sums.masses.add(j, part);
        add_from_origin(rows, row, part, sums.rows + j * padded(rows.p));
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
    const ExactSums rows = sums.rows + j * padded(p);
    double part[G][4];
    for (std::size_t g = 0; g < G; ++g)
        for (std::size_t l = 0; l < 4; ++l) {
            part[g][l] = four.weight[l] * four.shares[l][j + g];
            sums.masses.add(j + g, part[g][l]);
        }
    for (std::size_t f = 0; f < p; f += 4) {
        ExactSum<Vec<double>> sum[G];
        for (std::size_t g = 0; g < G; ++g) sum[g] = load_sums(rows + g * padded(p) + f);
        for (std::size_t l = 0; l < 4; ++l) {
            const Vec<double> y = four_features(four.x[l], f, p) - load(origin + f);
            for (std::size_t g = 0; g < G; ++g) sum[g].add(part[g][l] * y);
        }
        for (std::size_t g = 0; g < G; ++g) store_sums(rows + g * padded(p) + f, sum[g]);
    }
}

// Gathers parts of rows, and adds them center after center, a few features at a time: so
// sums stay in registers and features in the nearest cache. Centers that a row has no
// part in cost nothing but a look at its shares. `ends` holds k numbers.
template <class T>
class RowParts {
public:
    RowParts(const Rows<T>& rows, std::size_t k, const Sums& sums, std::uint32_t* ends)
        : rows_(rows), k_(k), sums_(sums), ends_(ends) {}

    void add(std::size_t row, double weight, const double* shares) {
        std::size_t n = n_parts_;
        for (std::size_t j = 0; j < k_; ++j) {  // which are 0 is hard to foresee
            const double part = weight * shares[j];
            parts_[n] = {part, static_cast<std::uint32_t>(j), n_rows_};
            n += part != 0;
            if (n < most_parts) continue;
            close(row, n);
            n = 0;
        }
        close(row, n);
    }
    void finish() {
        if (n_rows_ == 0) return;
        sort_parts();
        const std::size_t p = padded(rows_.p);
        std::size_t f = 0;
        for (; f + 4 * most_registers <= p; f += 4 * most_registers)
            add_features<most_registers>(f);
        for (; f + 8 <= p; f += 8) add_features<2>(f);
        for (; f < p; f += 4) add_features<1>(f);
        n_rows_ = n_parts_ = 0;
    }

private:
    static constexpr std::size_t most_rows = 64, most_parts = 512, most_registers = 4;
    struct Part {
        double weight;
        std::uint32_t center, row;  // the row is one of those gathered
    };

    const Rows<T> rows_;
    const std::size_t k_;
    const Sums sums_;
    std::uint32_t* const ends_;  // of the parts of each center
    std::uint32_t n_rows_ = 0;
    std::size_t n_parts_ = 0;
    const T* x_[most_rows];
    Part parts_[most_parts], sorted_[most_parts];
    double y_[most_rows * 4 * most_registers];

    // The row has the parts since the last one's, up to the n-th.
    void close(std::size_t row, std::size_t n) {
        n_parts_ = n;
        x_[n_rows_++] = rows_.data + row * rows_.p;
        if (n_rows_ == most_rows || n_parts_ == most_parts) finish();
    }
    // By center; those of each in the order of the rows.
    void sort_parts() {
        for (std::size_t j = 0; j < k_; ++j) ends_[j] = 0;
        for (std::size_t e = 0; e < n_parts_; ++e) ++ends_[parts_[e].center];
        std::uint32_t first = 0;
        for (std::size_t j = 0; j < k_; ++j) {
            const std::uint32_t count = ends_[j];
            ends_[j] = first;
            first += count;
        }
        for (std::size_t e = 0; e < n_parts_; ++e) {
            const Part part = parts_[e];
            sorted_[ends_[part.center]++] = part;
            sums_.masses.add(part.center, part.weight);
        }
    }
    // N registers of features, from the f-th on, as seen from the origin.
    template <std::size_t N>
    void add_features(std::size_t f) {
        for (std::size_t l = 0; l < n_rows_; ++l)
            for (std::size_t v = 0; v < 4 * N; v += 4)
                store(y_ + l * 4 * N + v,
                      four_features(x_[l], f + v, rows_.p) - load(rows_.origin + f + v));
        std::size_t e = 0;
        for (std::size_t j = 0; j < k_; ++j) {
            if (e == ends_[j]) continue;
            const ExactSums sums = sums_.rows + j * padded(rows_.p) + f;
            ExactSum<Vec<double>> total[N];
            for (std::size_t v = 0; v < N; ++v) total[v] = load_sums(sums + 4 * v);
            for (; e < ends_[j]; ++e) {
                const double* const y = y_ + sorted_[e].row * 4 * N;
                for (std::size_t v = 0; v < N; ++v)
                    total[v].add(sorted_[e].weight * load(y + 4 * v));
            }
            for (std::size_t v = 0; v < N; ++v) store_sums(sums + 4 * v, total[v]);
        }
    }
};

// Sums (of features of centers) from which on it pays to leave out those that a row has
// no part in; to add to all of fewer takes less time than to tell them apart.
constexpr std::size_t many_sums = 1024;

// Gathers rows that share their weight among centers, to add four at a time to four
// centers: so what is read serves four times. If fewer are left, the rest weigh nothing.
template <class T>
class SharingRows {
public:
    SharingRows(const Rows<T>& rows, std::size_t k, const Sums& sums, std::uint32_t* ends)
        : rows_(rows),
          k_(k),
          sums_(sums),
          has_many_sums_(k * rows.p >= many_sums),
          parts_(rows, k, sums, ends) {}

    void add(std::size_t row, double weight, const double* shares) {
        if (rows_.is_csr())  // the origin is 0
            return add_to_all_centers(rows_, row, weight, shares, k_, sums_);
        if (has_many_sums_) return parts_.add(row, weight, shares);
        four_.x[n_] = rows_.data + row * rows_.p;
        four_.weight[n_] = weight;
        four_.shares[n_] = shares;
        if (++n_ == 4) finish();
    }
    void add_to_one(std::size_t row, double weight, std::size_t center) {
        sums_.masses.add(center, weight);
        add_from_origin(rows_, row, weight, sums_.rows + center * padded(rows_.p));
    }
    void finish() {
        if (has_many_sums_) return parts_.finish();
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
    const bool has_many_sums_;
    std::size_t n_ = 0;
    FourRows<T> four_;
    RowParts<T> parts_;
};

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
