// The proximal step as Python sees it: the weights of a state in, those of the next out.
#pragma once
#include "centers.hpp"
#include "relax.hpp"

namespace rtkm {
namespace python {

inline nb::ndarray<nb::numpy, double> weights_of(const FractionMemory& fractions) {
    auto weights = new_array<double>({fractions.size(), fractions.view().k});
    fractions.copy_to(weights.data());
    return weights;
}

template <class T>
class Relaxing {
public:
    Relaxing(const std::shared_ptr<Pool>& pool, const Rows<T>& rows,
             const Centers<T>& centers, std::size_t s)
        : rows_(rows),
          centers_(centers),
          s_(s),
          labels_(pooled_array<std::int32_t>(pool, {rows.n, s})),
          v_(pooled_array<double>(pool, {rows.n})),
          spare_(pooled_array<double>(pool, {rows.n})),
          sums_(zeros<double>({centers.k, rows.p})),
          masses_(zeros<double>({centers.k})),
          fractions_(new FractionMemory(Partition(rows.n, (centers.k + 1) * (rows.p + 1)),
                                        centers.k)) {}

    void start(double first_v, double step, const Window& window) {
        // smaller steps could not be divided by, and move nothing further
        step_ = {std::max(step, 1e-300), window, {}, 1.0 * s_ / centers_.k, first_v};
    }

    void follow(const nb::object& last) {
        const auto labels = nb::cast<Matrix<std::int32_t>>(last[1], false);
        const auto v = nb::cast<Vector<double>>(last[2], false);
        const auto spare = nb::cast<Vector<double>>(last[3], false);
        const auto& fractions = nb::cast<const FractionMemory&>(last[4]);
        if (labels.shape(0) != rows_.n || labels.shape(1) != s_ ||
            v.shape(0) != rows_.n || spare.shape(0) != rows_.n ||
            fractions.view().k != centers_.k)
            throw nb::value_error("a last state of another shape");
        fractions_->expect(fractions);
        step_.last = {labels.data(), v.data(), spare.data(), s_, fractions.view()};
        if (last[0].is_none()) return;
        const auto C = nb::cast<Matrix<const T>>(last[0], false);
        if (C.shape(0) != centers_.k || C.shape(1) != rows_.p)
            throw nb::value_error("last centers of another shape");
        last_centers_ = Centers<T>{C.data(), centers_.k, rows_.p};
    }

    void run(const Team& team, double mass) {
        Sums total{sums_.data(), masses_.data()};
        without_gil([&] {
            found_ = rtkm::relax(team, rows_, centers_,
                                 last_centers_ ? &*last_centers_ : nullptr, step_, mass,
                                 {labels_.data(), v_.data(), spare_.data(), s_},
                                 *fractions_, total);
        });
        objective_ = total.cost;
    }

    nb::tuple tuple() {
        const auto fractions =
            nb::cast(fractions_.release(), nb::rv_policy::take_ownership);
        return nb::make_tuple(labels_, v_, spare_, fractions, sums_, masses_, objective_,
                              found_.threshold, found_.change);
    }

private:
    const Rows<T>& rows_;
    const Centers<T>& centers_;
    std::size_t s_;
    nb::ndarray<nb::numpy, std::int32_t> labels_;
    nb::ndarray<nb::numpy, double> v_, spare_, sums_, masses_;
    std::unique_ptr<FractionMemory> fractions_;
    Proximal step_;
    std::optional<Centers<T>> last_centers_;
    Relaxed found_;
    double objective_ = 0;
};

}  // namespace python
}  // namespace rtkm
