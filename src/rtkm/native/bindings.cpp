// nanobind: shapes, dtypes, ownership and the GIL; no arithmetic.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <optional>
#include <variant>

#include "concentrate.hpp"
#include "leaders.hpp"
#include "order.hpp"
#include "pool.hpp"
#include "simplex.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rtkm {
namespace python {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T> new_array(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t length : shape) size *= length;
    T* memory = new T[size];
    nb::capsule owner(memory, [](void* m) noexcept { delete[] static_cast<T*>(m); });
    return nb::ndarray<nb::numpy, T>(memory, shape, owner);
}

// An array whose memory goes back to the pool, while there is one, when its last view
// dies.
template <class T>
nb::ndarray<nb::numpy, T> pooled_array(const std::shared_ptr<Pool>& pool,
                                       std::initializer_list<std::size_t> shape) {
    struct Loan {
        std::weak_ptr<Pool> pool;
        void* memory;
        std::size_t bytes;
        ~Loan() {
            if (const auto owner = pool.lock())
                owner->give_back(memory, bytes);
            else
                std::free(memory);
        }
    };
    std::size_t bytes = sizeof(T);
    for (const std::size_t length : shape) bytes *= length;
    auto* loan = new Loan{pool, pool->take(bytes), bytes};
    nb::capsule owner(loan, [](void* l) noexcept { delete static_cast<Loan*>(l); });
    return nb::ndarray<nb::numpy, T>(loan->memory, shape, owner);
}

template <class T>
nb::ndarray<nb::numpy, T> zeros(std::initializer_list<std::size_t> shape) {
    auto array = new_array<T>(shape);
    std::fill(array.data(), array.data() + array.size(), T{0});
    return array;
}

bool signal_is_pending() {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// Runs the work without the GIL; a Python signal handler that raised ends it.
template <class Work>
void without_gil(Work work) {
    try {
        nb::gil_scoped_release release;
        work();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

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

nb::tuple as_tuple(const Cut& cut) {
    return nb::make_tuple(cut.threshold, cut.row, cut.share);
}

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

// A table as the kernels see it, with its row weights and the threads to use.
class Table {
    std::variant<Rows<float>, Rows<double>> rows_;
    Team team_;
    nb::object owners_;  // keeps the arrays alive
    std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();

    template <class Body>
    auto visit(Body body) const {
        return std::visit(body, rows_);
    }

    void admit(const std::optional<Vector<const double>>& weights) {
        if (visit([](const auto& rows) { return rows.n; }) > UINT32_MAX)
            throw nb::value_error("a table holds at most 2**32 - 1 rows");
        if (weights)
            std::visit([&](auto& rows) { rows.weights = weights->data(); }, rows_);
    }

public:
    template <class T>
    Table(Matrix<const T> X, std::optional<Vector<const double>> weights, int n_threads)
        : rows_(Rows<T>{X.data(), X.shape(0), X.shape(1)}),
          team_{n_threads, signal_is_pending},
          owners_(nb::make_tuple(X, weights)) {
        admit(weights);
    }

    template <class T>
    Table(Vector<const T> data, Vector<const std::int32_t> indices,
          Vector<const std::int32_t> indptr, std::size_t n_features,
          std::optional<Vector<const double>> weights, int n_threads)
        : rows_(Rows<T>{data.data(), indptr.shape(0) - 1, n_features, indices.data(),
                        indptr.data()}),
          team_{n_threads, signal_is_pending},
          owners_(nb::make_tuple(data, indices, indptr, weights)) {
        admit(weights);
    }

    // The nearest centers of every row: labels, squared distances, cost, spare.
    nb::tuple nearest(nb::object C, std::size_t s) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            NearestArrays out(pool_, rows.n, s);
            without_gil([&] { rtkm::nearest(team_, rows, centers, out.pointers()); });
            return out.tuple();
        });
    }

    // The same, and with it: kept rows, cut, sums, masses and the cost of what is kept.
    nb::tuple concentrate(nb::object C, std::size_t s, double kept_mass,
                          std::pair<double, double> window) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            NearestArrays out(pool_, rows.n, s);
            auto kept = pooled_array<std::uint8_t>(pool_, {rows.n});
            const auto undecided = pooled_array<std::uint32_t>(pool_, {rows.n});
            auto sums = zeros<double>({centers.k, rows.p});
            auto masses = zeros<double>({centers.k});
            Sums total{sums.data(), masses.data()};
            Cut cut;
            without_gil([&] {
                cut = rtkm::concentrate(team_, rows, centers, kept_mass,
                                        {window.first, window.second}, out.pointers(),
                                        kept.data(), {undecided.data()}, total);
            });
            return nb::make_tuple(out.tuple(), kept, as_tuple(cut), sums, masses,
                                  total.cost);
        });
    }

    nb::object squared_distances(nb::object C) const {
        return visit([&](const auto& rows) -> nb::object {
            using T = std::decay_t<decltype(*rows.data)>;
            const CentersOf centers(rows, C);
            auto out = new_array<T>({rows.n, centers.k});
            without_gil([&] {
                rtkm::squared_distances(team_, rows, centers, out.data());
            });
            return out.cast();
        });
    }

    void lower(nb::object C, Vector<double> cost) const {
        visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            without_gil([&] {
                rtkm::lower(team_, rows, centers, cost.data());
            });
        });
    }

    nb::ndarray<nb::numpy, double> swap_gains(nb::object candidates,
                                              Matrix<std::int32_t> labels,
                                              Matrix<double> squared,
                                              Vector<double> cost, Vector<double> spare,
                                              double cap, std::size_t k) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, candidates);
            const Nearest state{labels.data(), squared.data(), cost.data(), spare.data(),
                                labels.shape(1)};
            auto gains = zeros<double>({centers.k, k + 1});
            without_gil([&] {
                rtkm::swap_gains(team_, rows, centers, state, cap, k,
                                 gains.data());
            });
            return gains;
        });
    }

    nb::tuple weighted_sums(Matrix<const double> weights) const {
        return visit([&](const auto& rows) {
            const std::size_t k = weights.shape(1);
            auto sums = zeros<double>({k, rows.p});
            auto masses = zeros<double>({k});
            Sums total{sums.data(), masses.data()};
            without_gil([&] {
                rtkm::weighted_sums(team_, rows, weights.data(), k, total);
            });
            return nb::make_tuple(sums, masses);
        });
    }

    nb::ndarray<nb::numpy, double> mean_pair_distances(
        Matrix<const std::int64_t> neighbors) const {
        const std::size_t n = neighbors.shape(0), k = neighbors.shape(1);
        auto out = new_array<double>({n});
        visit([&](const auto& rows) {
            without_gil([&] {
                rtkm::mean_pair_distances(team_, rows, neighbors.data(), n, k,
                                          out.data());
            });
        });
        return out;
    }

    // The labels of one-pass clustering, the centers it ends with and their sizes.
    nb::tuple leaders(double radius) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            if (rows.is_csr()) throw nb::value_error("leaders need dense rows");
            auto labels = new_array<std::int32_t>({rows.n});
            Leaders<T> leaders(rows, radius);
            without_gil([&] { leaders.run(team_, labels.data()); });
            auto centers = new_array<T>({leaders.count(), rows.p});
            auto sizes = new_array<double>({leaders.count()});
            std::copy(leaders.centers().begin(), leaders.centers().end(), centers.data());
            std::copy(leaders.sizes().begin(), leaders.sizes().end(), sizes.data());
            return nb::make_tuple(labels, centers, sizes);
        });
    }

    nb::ndarray<nb::numpy, std::int64_t> lexicographic_order() const {
        return visit([&](const auto& rows) {
            auto order = new_array<std::int64_t>({rows.n});
            without_gil([&] { rtkm::lexicographic_order(rows, order.data()); });
            return order;
        });
    }

    std::size_t count_distinct(std::size_t enough) const {
        std::size_t count = 0;
        visit([&](const auto& rows) {
            without_gil([&] { count = rtkm::count_distinct(rows, enough); });
        });
        return count;
    }

    // The rows drawn by each of `u`; chances are weight * min(cost, cap), or the weights
    // alone, also where no cost is left.
    nb::ndarray<nb::numpy, std::int64_t> draw(Vector<const std::int64_t> order,
                                              std::optional<Vector<const double>> cost,
                                              double cap, Vector<const double> u) const {
        auto drawn = new_array<std::int64_t>({u.shape(0)});
        visit([&](const auto& rows) {
            const auto by_weight = [&](std::size_t i) { return rows.weight(i); };
            const auto by_cost = [&](std::size_t i) {
                return rows.weight(i) * std::min(cost->data()[i], cap);
            };
            const Draws draws{order.data(), rows.n, u.data(), u.shape(0), drawn.data()};
            without_gil([&] {
                if (!cost || !draws.by(team_, by_cost)) draws.by(team_, by_weight);
            });
        });
        return drawn;
    }
};

using Weights = std::optional<Vector<const double>>;

const double* pointer(const Weights& weights) {
    return weights ? weights->data() : nullptr;
}

nb::tuple find_cut(Vector<const double> values, const Weights& weights, double mass,
                   int n_threads) {
    Cut cut;
    without_gil([&] {
        const Team team{n_threads, signal_is_pending};
        cut = rtkm::find_cut(team, {values.data(), pointer(weights), values.shape(0)},
                             mass);
    });
    return as_tuple(cut);
}

nb::ndarray<nb::numpy, double> project(Vector<const double> y, const Weights& weights,
                                       double total, int n_threads) {
    auto w = new_array<double>({y.shape(0)});
    without_gil([&] {
        const Team team{n_threads, signal_is_pending};
        rtkm::project(team, y.data(), pointer(weights), y.shape(0), total, w.data());
    });
    return w;
}

nb::ndarray<nb::numpy, double> project_rows(Matrix<const double> Y, double total,
                                            int n_threads) {
    const std::size_t n = Y.shape(0), k = Y.shape(1);
    auto W = new_array<double>({n, k});
    without_gil([&] {
        const Team team{n_threads, signal_is_pending};
        for_each_part(team, Partition(n), 16 * k, [&](std::size_t, Range rows) {
            std::vector<double> scratch(k);
            for (std::size_t i = rows.first; i < rows.last; ++i)
                project_row(Y.data() + i * k, k, total, W.data() + i * k, scratch.data());
        });
    });
    return W;
}

}  // namespace python
}  // namespace rtkm

NB_MODULE(_native, m) {
    using namespace rtkm::python;
    const auto weights = nb::arg("weights").none();
    const auto threads = nb::arg("n_threads");
    nb::class_<Table>(m, "Table")
        .def(nb::init<Matrix<const double>, std::optional<Vector<const double>>, int>(),
             "X"_a.noconvert(), weights, threads)
        .def(nb::init<Matrix<const float>, std::optional<Vector<const double>>, int>(),
             "X"_a.noconvert(), weights, threads)
        .def(nb::init<Vector<const double>, Vector<const std::int32_t>,
                      Vector<const std::int32_t>, std::size_t,
                      std::optional<Vector<const double>>, int>(),
             "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
             "n_features"_a, weights, threads)
        .def(nb::init<Vector<const float>, Vector<const std::int32_t>,
                      Vector<const std::int32_t>, std::size_t,
                      std::optional<Vector<const double>>, int>(),
             "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
             "n_features"_a, weights, threads)
        .def("nearest", &Table::nearest, "C"_a, "n_memberships"_a)
        .def("concentrate", &Table::concentrate, "C"_a, "n_memberships"_a, "kept_mass"_a,
             "window"_a)
        .def("squared_distances", &Table::squared_distances, "C"_a)
        .def("lower", &Table::lower, "C"_a, "cost"_a.noconvert())
        .def("swap_gains", &Table::swap_gains, "candidates"_a, "labels"_a, "squared"_a,
             "cost"_a, "spare"_a, "cap"_a, "n_clusters"_a)
        .def("weighted_sums", &Table::weighted_sums, "weights"_a)
        .def("mean_pair_distances", &Table::mean_pair_distances, "neighbors"_a)
        .def("leaders", &Table::leaders, "radius"_a)
        .def("lexicographic_order", &Table::lexicographic_order)
        .def("count_distinct", &Table::count_distinct, "enough"_a)
        .def("draw", &Table::draw, "order"_a, "cost"_a.none(), "cap"_a, "u"_a);
    m.def("find_cut", &find_cut, "values"_a, weights, "mass"_a, threads);
    m.def("project", &project, "y"_a, weights, "total"_a, threads);
    m.def("project_rows", &project_rows, "Y"_a, "total"_a, threads);
    m.def("instruction_set", [] { return rtkm::kernels<double>().name; });
}
