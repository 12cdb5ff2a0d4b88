// Centers that come in, and nearest centers that go out.
#pragma once
#include <optional>

#include "arrays.hpp"
#include "passes.hpp"

namespace rtkm {
namespace python {

struct NearestArrays {
    nb::ndarray<nb::numpy, std::int32_t> labels;
    nb::ndarray<nb::numpy, double> squared, cost, spare;

    NearestArrays(const std::shared_ptr<Pool>& pool, std::size_t n, std::size_t s)
        : labels(pooled_array<std::int32_t>(pool, {n, s})),
          squared(pooled_array<double>(pool, {n, s})),
          // one membership: the cost is the squared distance, and shares its memory
          cost(s > 1 ? pooled_array<double>(pool, {n})
                     : nb::cast<nb::ndarray<nb::numpy, double>>(
                           squared.cast().attr("reshape")(-1))),
          spare(pooled_array<double>(pool, {n})) {}

    Nearest pointers() {
        return {labels.data(), squared.data(), cost.data(), spare.data(),
                labels.shape(1)};
    }
    nb::tuple tuple() const { return nb::make_tuple(labels, squared, cost, spare); }
};

// Centers of the same type as the rows, with the squares that CSR rows need.
template <class T>
struct CentersOf : Centers<T> {
    std::optional<SquaredCenters> squared;

    CentersOf(const Rows<T>& rows, nb::handle C) {
        const auto array = nb::cast<Matrix<const T>>(C, false);
        if (array.shape(1) != rows.p) throw nb::value_error("centers of wrong width");
        static_cast<Centers<T>&>(*this) = {array.data(), array.shape(0), rows.p};
        if (!rows.is_csr()) return;
        squared.emplace(*this);
        this->squares = squared->squares();
        this->squared_norms = squared->norms();
    }
    CentersOf(const CentersOf&) = delete;
};

}  // namespace python
}  // namespace rtkm
