// The proximal step as Python sees it.
#pragma once
#include "relax.hpp"
#include "stepping.hpp"

namespace rtkm {
namespace python {

inline nb::ndarray<nb::numpy, double> weights_of(const FractionMemory& fractions) {
    auto weights = new_array<double>({fractions.size(), fractions.view().k});
    fractions.copy_to(weights.data());
    return weights;
}

template <class T>
class Relaxing : public Stepping<T> {
public:
    Relaxing(const std::shared_ptr<Pool>& pool, const Rows<T>& rows,
             const Centers<T>& centers, std::size_t s, double step, double first_v)
        : Stepping<T>(pool, rows, centers, s),
          v_(pooled_array<double>(pool, {rows.n})),
          fractions_(new FractionMemory(partition_of(rows, centers.k), centers.k)),
          // smaller steps could not be divided by, and move nothing further
          step_{std::max(step, 1e-300),
                1.0 * s / centers.k,
                first_v,
                nullptr,
                {},
                v_.data()} {}

    // As of any step, and then inlier weights and fractions.
    void follow(const nb::object& last) {
        Stepping<T>::follow(last);
        const auto v = nb::cast<Vector<double>>(last[3], false);
        const auto& fractions = nb::cast<const FractionMemory&>(last[4]);
        if (v.shape(0) != this->rows.n || fractions.view().k != this->centers.k)
            throw nb::value_error("a last step of another shape");
        fractions_->expect(fractions);
        step_.last_v = v.data();
        step_.fractions = fractions.view();
    }

    nb::tuple run(const Team& team, double mass, double total_mass, const Window& window,
                  bool uses_bounds) {
        Relaxed found;
        without_gil([&] {
            found = rtkm::relax(team, this->rows, this->centers, this->last(),
                                uses_bounds, step_, mass, total_mass, window,
                                this->watch.pointers(), this->lists(), *fractions_,
                                {this->moments.data(), this->rows.p}, this->means.data());
        });
        const auto fractions =
            nb::cast(fractions_.release(), nb::rv_policy::take_ownership);
        return nb::make_tuple(this->watch.tuple(), this->moments, v_, fractions,
                              this->means, found.objective, found.threshold,
                              found.change);
    }

private:
    nb::ndarray<nb::numpy, double> v_;
    std::unique_ptr<FractionMemory> fractions_;
    Proximal step_;
};

}  // namespace python
}  // namespace rtkm
