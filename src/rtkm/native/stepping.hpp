// Steps as Python sees them: what one leaves to the next.
#pragma once
#include "centers.hpp"
#include "sweep.hpp"

namespace rtkm {
namespace python {

// The arrays of a Watch.
struct WatchArrays {
    nb::ndarray<nb::numpy, std::int32_t> labels;
    nb::ndarray<nb::numpy, float> reach, far, low;
    nb::ndarray<nb::numpy, std::uint8_t> kept;

    WatchArrays(const std::shared_ptr<Pool>& pool, std::size_t n, std::size_t s)
        : labels(pooled_array<std::int32_t>(pool, {n, s})),
          reach(pooled_array<float>(pool, {n})),
          // one membership: both are the distance of the one center
          far(s > 1 ? pooled_array<float>(pool, {n}) : reach),
          low(pooled_array<float>(pool, {n})),
          kept(pooled_array<std::uint8_t>(pool, {n})) {}

    Watch pointers() {
        return {labels.data(), reach.data(), far.data(),
                low.data(),    kept.data(),  labels.shape(1)};
    }
    nb::tuple tuple() const { return nb::make_tuple(labels, reach, far, low, kept); }

    static Watch read(const nb::object& watch, std::size_t n, std::size_t s) {
        const auto labels = nb::cast<Matrix<std::int32_t>>(watch[0], false);
        const auto reach = nb::cast<Vector<float>>(watch[1], false);
        const auto far = nb::cast<Vector<float>>(watch[2], false);
        const auto low = nb::cast<Vector<float>>(watch[3], false);
        const auto kept = nb::cast<Vector<std::uint8_t>>(watch[4], false);
        if (labels.shape(0) != n || labels.shape(1) != s || reach.shape(0) != n ||
            far.shape(0) != n || low.shape(0) != n || kept.shape(0) != n)
            throw nb::value_error("a last pass of another shape");
        return {labels.data(), reach.data(), far.data(), low.data(), kept.data(), s};
    }
};

// What both kinds of steps take and leave.
template <class T>
class Stepping {
public:
    Stepping(const std::shared_ptr<Pool>& pool, const Rows<T>& rows,
             const Centers<T>& centers, std::size_t s)
        : rows(rows),
          centers(centers),
          watch(pool, rows.n, s),
          undecided_(new std::uint32_t[rows.n]),
          costs_(new double[rows.n]),
          moments(zeros<double>({centers.k, Moments{nullptr, rows.p}.stride()})),
          means(new_array<T>({centers.k, rows.p})) {}

    // From centers, watch and moments of the last step.
    void follow(const nb::object& last) {
        const auto C = nb::cast<Matrix<const T>>(last[0], false);
        const auto sums = nb::cast<Matrix<const double>>(last[2], false);
        if (C.shape(0) != centers.k || C.shape(1) != rows.p ||
            sums.shape(0) != centers.k || sums.shape(1) != moments.shape(1))
            throw nb::value_error("a last step of another shape");
        const std::size_t s = watch.labels.shape(1);
        last_ = LastPass<T>{{C.data(), centers.k, rows.p},
                            WatchArrays::read(nb::borrow(last[1]), rows.n, s)};
        std::copy_n(sums.data(), moments.size(), moments.data());
    }

    const LastPass<T>* last() const { return last_ ? &*last_ : nullptr; }
    Lists lists() const { return {undecided_.get(), costs_.get()}; }

    const Rows<T>& rows;
    const Centers<T>& centers;
    WatchArrays watch;

private:
    // few of their pages are ever touched, so they take none from the pool
    std::unique_ptr<std::uint32_t[]> undecided_;
    std::unique_ptr<double[]> costs_;
    std::optional<LastPass<T>> last_;

public:
    nb::ndarray<nb::numpy, double> moments;
    nb::ndarray<nb::numpy, T> means;
};

}  // namespace python
}  // namespace rtkm
