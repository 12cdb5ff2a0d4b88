// Sums of clusters that rows come to and go from, for kernels.cpp alone.
#pragma once
#include "kernels/sums.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// What a row, or a register of its features, brings to the sums of a cluster.
template <class V>
struct Terms {
    Difference<V> y;
    Product<V> square;

    Terms(V x, V origin) : y(x, origin), square(y.value, y.value) {
        square.small = multiply_add(2 * y.value, y.lost, square.small);
    }
    // At a weight of 1 or -1 products with it are exact.
    void add_whole(double weight, ExactSum<V>& sum, ExactSum<V>& squares) const {
        sum.add(weight * y.value);
        sum.lost += weight * y.lost;
        squares.add(weight * square.large);
        squares.lost += weight * square.small;
    }
    void add_weighted(double weight, ExactSum<V>& sum, ExactSum<V>& squares) const {
        const V w = weight + V{};
        const Product<V> part(w, y.value);
        const V small = multiply_add(w, y.lost, part.small);
        // a sum has no room for all digits of a product; with some of them fewer it is
        // exact, and so what it was before once a row has come and gone
        const V coarse = part.large * 0x1.8p-14;
        sum.add(part.large);
        sum.lost += (small + coarse) - coarse;
        squares.add(Product<V>(w, square.large));
        squares.lost += weight * square.small;
    }
    void add(double weight, ExactSum<V>& sum, ExactSum<V>& squares) const {
        if (weight == 1 || weight == -1)
            add_whole(weight, sum, squares);
        else
            add_weighted(weight, sum, squares);
    }
};

// Adds a row, as seen from the origin, to N clusters, with a weight for each.
template <std::size_t N, class T>
inline void add_dense(const Rows<T>& rows, std::size_t row, const ClusterSums (&into)[N],
                      const double (&weight)[N]) {
    using Four = Vec<double>;
    const T* const x = rows.data + row * rows.p;
    ExactSum<Four> squares[N];
    for (std::size_t n = 0; n < N; ++n)
        squares[n] = {load(into[n].squares), load(into[n].squares + 4)};
    for (std::size_t f = 0; f < rows.p; f += 4) {
        const Terms<Four> terms(four_features(x, f, rows.p), load(rows.origin + f));
        for (std::size_t n = 0; n < N; ++n) {
            ExactSum<Four> sum{load(into[n].sums + f), load(into[n].lost + f)};
            terms.add(weight[n], sum, squares[n]);
            store(into[n].sums + f, sum.sum);
            store(into[n].lost + f, sum.lost);
        }
    }
    for (std::size_t n = 0; n < N; ++n) {
        store(into[n].squares, squares[n].sum);
        store(into[n].squares + 4, squares[n].lost);
    }
}

// The same for a CSR row. There the origin is 0, so that zeros need not be visited.
template <std::size_t N, class T>
inline void add_sparse(const Rows<T>& rows, std::size_t row, const ClusterSums (&into)[N],
                       const double (&weight)[N]) {
    for (std::size_t n = 0; n < N; ++n) {
        Exact squares{into[n].squares[0], into[n].squares[4]};
        for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e) {
            const std::size_t f = rows.indices[e];
            Exact sum{into[n].sums[f], into[n].lost[f]};
            Terms<double>(rows.data[e], 0.0).add(weight[n], sum, squares);
            into[n].sums[f] = sum.sum;
            into[n].lost[f] = sum.lost;
        }
        into[n].squares[0] = squares.sum;
        into[n].squares[4] = squares.lost;
    }
}

template <std::size_t N, class T>
inline void add_to_clusters(const Rows<T>& rows, std::size_t row,
                            const ClusterSums (&into)[N], const double (&weight)[N]) {
    if (weight[0] == 0) return;
    if (rows.is_csr())
        add_sparse(rows, row, into, weight);
    else
        add_dense(rows, row, into, weight);
    for (std::size_t n = 0; n < N; ++n) {
        into[n].mass->add(weight[n]);
        *into[n].count += weight[n] > 0 ? 1 : -1;
    }
}

// Adds a row to a cluster, or takes it away if the share is negative. With twice the
// digits a row takes away what it brought, so that not even a far outlier washes out
// those of the others, and what the cluster costs can be had from its sums.
template <class T>
void join(const Rows<T>& rows, std::size_t row, double share, const ClusterSums& into) {
    add_to_clusters<1>(rows, row, {into}, {share * rows.weight(row)});
}

// Moves a row from one cluster to another.
template <class T>
void change_cluster(const Rows<T>& rows, std::size_t row, const ClusterSums& from,
                    const ClusterSums& to) {
    const double weight = rows.weight(row);
    add_to_clusters<2>(rows, row, {from, to}, {-weight, weight});
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
