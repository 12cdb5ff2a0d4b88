// Centers that come in, and nearest centers that go out.
#pragma once
#include <optional>

#include "passes/passes.hpp"
#include "python/arrays.hpp"

namespace rtkm {
namespace python {

struct NearestArrays {
    std::size_t n, s;
    SharedArray<std::int32_t> labels;
    SharedArray<double> squared, cost, spare;

    NearestArrays(const std::shared_ptr<Pool>& pool, std::size_t n, std::size_t s)
        : n(n),
          s(s),
          labels(pooled<std::int32_t>(pool, n * s)),
          squared(pooled<double>(pool, n * s)),
          // one membership: the cost is the squared distance
          cost(s > 1 ? pooled<double>(pool, n) : squared),
          spare(pooled<double>(pool, n)) {}

    Nearest pointers() const {
        return {labels.get(), squared.get(), cost.get(), spare.get(), s};
    }
    nb::tuple tuple() const {
        return nb::make_tuple(view_of<std::int32_t>(labels, {n, s}),
                              view_of<double>(squared, {n, s}),
                              view_of<double>(cost, {n}), view_of<double>(spare, {n}));
    }
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
