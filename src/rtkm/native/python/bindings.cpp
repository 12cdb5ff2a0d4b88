// nanobind: shapes, dtypes, ownership and the GIL; no arithmetic.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <variant>

#include "passes/frame.hpp"
#include "passes/leaders.hpp"
#include "passes/order.hpp"
#include "passes/sets.hpp"
#include "passes/simplex.hpp"
#include "passes/splits.hpp"
#include "passes/totals.hpp"
#include "python/arrays.hpp"
#include "python/centers.hpp"
#include "python/steps.hpp"

namespace rtkm {
namespace python {

// A table as the kernels see it, with its row weights and the threads to use.
class Table {
    std::variant<Rows<float>, Rows<double>> rows_;
    Parallel parallel_;
    nb::object owners_;  // keeps the arrays alive
    Frame frame_;
    std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();

    template <class Body>
    auto visit(Body body) const {
        return std::visit(body, rows_);
    }

    // Runs next(input, last), the step from the last pass, or from none.
    template <template <class> class State, class Next>
    PassOf<State> step(nb::handle C, std::size_t s, double kept_mass, double total_mass,
                       bool uses_bounds, const PassOf<State>* last, Next next) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            const CentersOf centers(rows, C);
            const StepInput<T> input{rows,       centers,     s,    kept_mass,
                                     total_mass, uses_bounds, pool_};
            const State<T>* const from = last ? &last->fitting(input) : nullptr;
            std::optional<State<T>> found;
            without_gil([&] { found.emplace(next(input, from)); });
            return PassOf<State>{std::move(*found)};
        });
    }

    void validate(const std::optional<Vector<const double>>& weights) {
        if (visit([](const auto& rows) { return rows.n; }) > UINT32_MAX)
            throw nb::value_error("a table holds at most 2**32 - 1 rows");
        std::visit(
            [&](auto& rows) {
                if (weights) rows.weights = weights->data();
                frame_ = Frame(rows);
                rows.origin = frame_.origin.data();
                rows.unit = frame_.unit;
            },
            rows_);
    }

public:
    template <class T>
    Table(Matrix<const T> X, std::optional<Vector<const double>> weights, int n_threads)
        : rows_(Rows<T>{X.data(), X.shape(0), X.shape(1)}),
          parallel_{n_threads, signal_is_pending},
          owners_(nb::make_tuple(X, weights)) {
        validate(weights);
    }

    template <class T>
    Table(Vector<const T> data, Vector<const std::int32_t> indices,
          Vector<const std::int32_t> indptr, std::size_t n_features,
          std::optional<Vector<const double>> weights, int n_threads)
        : rows_(Rows<T>{data.data(), indptr.shape(0) - 1, n_features, indices.data(),
                        indptr.data()}),
          parallel_{n_threads, signal_is_pending},
          owners_(nb::make_tuple(data, indices, indptr, weights)) {
        validate(weights);
    }

    double unit() const { return frame_.unit; }

    // Frees the memory of arrays that died.
    void release() { pool_ = std::make_shared<Pool>(); }

    // The nearest centers of every row: labels, squared distances, cost, spare.
    nb::tuple nearest(nb::object C, std::size_t s) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            NearestArrays out(pool_, rows.n, s);
            without_gil([&] { rtkm::nearest(parallel_, rows, centers, out.pointers()); });
            return out.tuple();
        });
    }

    // One step of a method that trims.
    Trimmed concentrate(nb::object C, std::size_t s, double kept_mass, double total_mass,
                        const Trimmed* last, bool uses_bounds) const {
        return step(C, s, kept_mass, total_mass, uses_bounds, last,
                    [&](const auto& input, const auto* from) {
                        return rtkm::concentrate(parallel_, input, from);
                    });
    }

    // The means of a step if rows are in further clusters.
    nb::object further_means(const Trimmed& pass, Vector<const std::int64_t> of,
                             Vector<const std::int32_t> clusters) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            const TrimmedPass<T>& state = std::get<TrimmedPass<T>>(pass.state);
            auto means = new_array<T>({state.k, state.p});
            without_gil([&] {
                rtkm::further_means(rows, state, of.data(), clusters.data(), of.shape(0),
                                    means.data());
            });
            return nb::cast(means);
        });
    }

    // One proximal step.
    Proximal proximal_step(nb::object C, std::size_t s, double kept_mass,
                           double total_mass, double size, const Proximal* last,
                           bool uses_bounds) const {
        return step(C, s, kept_mass, total_mass, uses_bounds, last,
                    [&](const auto& input, const auto* from) {
                        return rtkm::proximal_step(parallel_, input, size, from);
                    });
    }

    nb::object squared_distances(nb::object C) const {
        return visit([&](const auto& rows) -> nb::object {
            using T = std::decay_t<decltype(*rows.data)>;
            const CentersOf centers(rows, C);
            auto out = new_array<T>({rows.n, centers.k});
            without_gil(
                [&] { rtkm::squared_distances(parallel_, rows, centers, out.data()); });
            return out.cast();
        });
    }

    nb::ndarray<nb::numpy, double> squared_residuals(Matrix<const double> B,
                                                     nb::object C) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            if (B.shape(0) != rows.n || B.shape(1) != centers.k)
                throw nb::value_error("mixing weights of wrong shape");
            auto out = new_array<double>({rows.n});
            without_gil([&] {
                rtkm::squared_residuals(parallel_, rows, B.data(), centers, out.data());
            });
            return out;
        });
    }

    void lower(nb::object C, Vector<double> cost) const {
        visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            without_gil([&] { rtkm::lower(parallel_, rows, centers, cost.data()); });
        });
    }

    nb::ndarray<nb::numpy, double> swap_changes(nb::object candidates,
                                                Matrix<const std::int32_t> labels,
                                                Matrix<const double> squared,
                                                Vector<const double> cost,
                                                Vector<const double> spare, double cap,
                                                std::size_t k) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, candidates);
            const KnownNearest state{labels.data(), squared.data(), cost.data(),
                                     spare.data(), labels.shape(1)};
            auto gains = new_array<double>({centers.k + 1, k + 1});
            without_gil([&] {
                rtkm::swap_changes(parallel_, rows, centers, state, cap, k, gains.data());
            });
            return gains;
        });
    }

    nb::ndarray<nb::numpy, double> losses(nb::object C, double cap) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            auto out = new_array<double>({centers.k});
            without_gil([&] { rtkm::losses(parallel_, rows, centers, cap, out.data()); });
            return out;
        });
    }

    // The next halves of all clusters, their masses, and the costs of the clusters.
    nb::tuple split_step(nb::object halves, Vector<const std::int32_t> labels,
                         double cap) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            const CentersOf centers(rows, halves);
            auto means = new_array<T>({centers.k, rows.p});
            auto masses = new_array<double>({centers.k});
            auto costs = new_array<double>({centers.k / 2});
            without_gil([&] {
                rtkm::split_step(parallel_, rows, centers, labels.data(), cap,
                                 means.data(), masses.data(), costs.data());
            });
            return nb::make_tuple(means, masses, costs);
        });
    }

    nb::ndarray<nb::numpy, double> count_along_lines(nb::object C, double cap,
                                                     std::size_t per_half,
                                                     std::size_t n_bins) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            auto counts = zeros<double>({centers.k, centers.k, n_bins});
            without_gil([&] {
                rtkm::count_along_lines(parallel_, rows, centers, cap, per_half, n_bins,
                                        counts.data());
            });
            return counts;
        });
    }

    nb::tuple weighted_sums(Matrix<const double> weights) const {
        return visit([&](const auto& rows) {
            const std::size_t k = weights.shape(1);
            auto sums = new_array<double>({k, rows.p});
            auto masses = new_array<double>({k});
            without_gil([&] {
                rtkm::weighted_sums(parallel_, rows, weights.data(), k, sums.data(),
                                    masses.data());
            });
            return nb::make_tuple(sums, masses);
        });
    }

    nb::ndarray<nb::numpy, double> label_masses(Vector<const std::int32_t> labels,
                                                std::optional<Vector<const double>> kept,
                                                std::size_t k) const {
        auto masses = new_array<double>({k});
        visit([&](const auto& rows) {
            if (labels.shape(0) != rows.n || (kept && kept->shape(0) != rows.n))
                throw nb::value_error("labels or shares of wrong length");
            without_gil([&] {
                rtkm::label_masses(parallel_, rows, labels.data(),
                                   kept ? kept->data() : nullptr, k, masses.data());
            });
        });
        return masses;
    }

    nb::ndarray<nb::numpy, double> mean_pair_distances(
        Matrix<const std::int64_t> neighbors) const {
        const std::size_t n = neighbors.shape(0), k = neighbors.shape(1);
        auto out = new_array<double>({n});
        visit([&](const auto& rows) {
            without_gil([&] {
                rtkm::mean_pair_distances(parallel_, rows, neighbors.data(), n, k,
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
            without_gil([&] { leaders.run(parallel_, labels.data()); });
            auto centers = new_array<T>({leaders.count(), rows.p});
            auto sizes = new_array<double>({leaders.count()});
            std::copy(leaders.centers().begin(), leaders.centers().end(), centers.data());
            std::copy(leaders.sizes().begin(), leaders.sizes().end(), sizes.data());
            return nb::make_tuple(labels, centers, sizes);
        });
    }

    // The smallest and the largest value of each column.
    nb::ndarray<nb::numpy, double> column_ends() const {
        return visit([&](const auto& rows) {
            if (rows.is_csr()) throw nb::value_error("ends of columns need dense rows");
            auto ends = new_array<double>({2, rows.p});
            without_gil([&] {
                rtkm::column_ends(parallel_, rows, ends.data(), ends.data() + rows.p);
            });
            return ends;
        });
    }

    nb::ndarray<nb::numpy, std::uint32_t> lexicographic_order() const {
        return visit([&](const auto& rows) {
            auto order = new_array<std::uint32_t>({rows.n});
            without_gil(
                [&] { rtkm::lexicographic_order(parallel_, rows, order.data()); });
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
    nb::ndarray<nb::numpy, std::int64_t> draw(Vector<const std::uint32_t> order,
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
                if (!cost || !draws.by(parallel_, by_cost))
                    draws.by(parallel_, by_weight);
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
        const Parallel parallel{n_threads, signal_is_pending};
        cut = rtkm::find_cut(parallel, {values.data(), pointer(weights), values.shape(0)},
                             mass);
    });
    return as_tuple(cut);
}

// The sum, rounded once, and what that takes away.
nb::tuple exact_sum(Vector<const double> values, const Weights& weights, int n_threads) {
    if (weights && weights->shape(0) != values.shape(0))
        throw nb::value_error("weights of wrong length");
    Exact sum;
    without_gil([&] {
        const Parallel parallel{n_threads, signal_is_pending};
        sum = rtkm::exact_sum(parallel, values.data(), pointer(weights), values.shape(0));
    });
    return nb::make_tuple(sum.sum, sum.lost);
}

nb::ndarray<nb::numpy, double> label_sums(Vector<const double> values,
                                          Matrix<const std::int32_t> labels,
                                          std::size_t k, int n_threads) {
    if (labels.shape(0) != values.shape(0))
        throw nb::value_error("labels of wrong length");
    auto sums = new_array<double>({k});
    without_gil([&] {
        const Parallel parallel{n_threads, signal_is_pending};
        rtkm::label_sums(parallel, values.data(), labels.data(), labels.shape(0),
                         labels.shape(1), k, sums.data());
    });
    return sums;
}

nb::ndarray<nb::numpy, double> project(Vector<const double> y, const Weights& weights,
                                       double total, int n_threads) {
    auto w = new_array<double>({y.shape(0)});
    without_gil([&] {
        const Parallel parallel{n_threads, signal_is_pending};
        rtkm::project(parallel, y.data(), pointer(weights), y.shape(0), total, w.data());
    });
    return w;
}

nb::ndarray<nb::numpy, double> project_rows(Matrix<const double> Y, double total,
                                            int n_threads) {
    const std::size_t n = Y.shape(0), k = Y.shape(1);
    auto W = new_array<double>({n, k});
    without_gil([&] {
        const Parallel parallel{n_threads, signal_is_pending};
        for_each_part(parallel, Partition(n), 16 * k, [&](std::size_t, Range rows) {
            std::vector<double> scratch(k);
            for (std::size_t i = rows.first; i < rows.last; ++i)
                project_row(Y.data() + i * k, k, total, W.data() + i * k, scratch.data());
        });
    });
    return W;
}

using Sets = nb::ndarray<nb::numpy, std::uint8_t>;
using Costs = Matrix<const double>;
using Price = Vector<const double>;

// Runs search(parallel, costs, sets) and returns the memberships.
template <class Search>
Sets find_sets(const Costs& L, const Costs& P, const Price& linear, const Price& pair,
               const Price& fixed, int n_threads, Search search) {
    const std::size_t n = L.shape(0), k = L.shape(1);
    if (P.shape(0) != k || P.shape(1) != k) throw nb::value_error("P of wrong shape");
    for (const Price* price : {&linear, &pair, &fixed})
        if (price->shape(0) != k + 1) throw nb::value_error("prices of wrong length");
    const SetCosts costs{L.data(), P.data(), linear.data(), pair.data(), fixed.data(),
                         n,        k};
    auto sets = new_array<std::uint8_t>({n, k});
    without_gil(
        [&] { search(Parallel{n_threads, signal_is_pending}, costs, sets.data()); });
    return sets;
}

Sets grow_sets(Costs L, Costs P, Price linear, Price pair, Price fixed, int n_threads) {
    return find_sets(L, P, linear, pair, fixed, n_threads, rtkm::grow_sets);
}

// One of the searches that take a greatest size.
template <void search(const Parallel&, const SetCosts&, std::size_t, std::uint8_t*)>
Sets sets_up_to(Costs L, Costs P, Price linear, Price pair, Price fixed,
                std::size_t max_size, int n_threads) {
    if (max_size < 1) throw nb::value_error("sets hold at least one cluster");
    return find_sets(
        L, P, linear, pair, fixed, n_threads,
        [=](const Parallel& parallel, const SetCosts& costs, std::uint8_t* sets) {
            search(parallel, costs, max_size, sets);
        });
}

}  // namespace python
}  // namespace rtkm

NB_MODULE(_native, m) {
    using namespace rtkm::python;
    using namespace nb::literals;
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
        .def("unit", &Table::unit)
        .def("release", &Table::release)
        .def("nearest", &Table::nearest, "C"_a, "n_memberships"_a)
        .def("concentrate", &Table::concentrate, "C"_a, "n_memberships"_a, "kept_mass"_a,
             "total_mass"_a, "last"_a.none(), "uses_bounds"_a)
        .def("proximal_step", &Table::proximal_step, "C"_a, "n_memberships"_a,
             "kept_mass"_a, "total_mass"_a, "step"_a, "last"_a.none(), "uses_bounds"_a)
        .def("squared_distances", &Table::squared_distances, "C"_a)
        .def("squared_residuals", &Table::squared_residuals, "B"_a, "C"_a)
        .def("lower", &Table::lower, "C"_a, "cost"_a.noconvert())
        .def("swap_changes", &Table::swap_changes, "candidates"_a, "labels"_a,
             "squared"_a, "cost"_a, "spare"_a, "cap"_a, "n_clusters"_a)
        .def("losses", &Table::losses, "C"_a, "cap"_a)
        .def("split_step", &Table::split_step, "halves"_a, "labels"_a, "cap"_a)
        .def("count_along_lines", &Table::count_along_lines, "C"_a, "cap"_a, "per_half"_a,
             "n_bins"_a)
        .def("weighted_sums", &Table::weighted_sums, "weights"_a)
        .def("label_masses", &Table::label_masses, "labels"_a, "kept"_a.none(), "k"_a)
        .def("mean_pair_distances", &Table::mean_pair_distances, "neighbors"_a)
        .def("leaders", &Table::leaders, "radius"_a)
        .def("further_means", &Table::further_means, "pass_"_a, "rows"_a, "clusters"_a)
        .def("column_ends", &Table::column_ends)
        .def("lexicographic_order", &Table::lexicographic_order)
        .def("count_distinct", &Table::count_distinct, "enough"_a)
        .def("draw", &Table::draw, "order"_a, "cost"_a.none(), "cap"_a, "u"_a);
    bind_passes(m);
    m.def("find_cut", &find_cut, "values"_a, weights, "mass"_a, threads);
    m.def("exact_sum", &exact_sum, "values"_a, weights, threads);
    m.def("label_sums", &label_sums, "values"_a, "labels"_a, "n_clusters"_a, threads);
    m.def("project", &project, "y"_a, weights, "total"_a, threads);
    m.def("project_rows", &project_rows, "Y"_a, "total"_a, threads);
    m.def("grow_sets", &grow_sets, "L"_a, "P"_a, "linear"_a, "pair"_a, "fixed"_a,
          threads);
    m.def("best_sets", &sets_up_to<rtkm::best_sets>, "L"_a, "P"_a, "linear"_a, "pair"_a,
          "fixed"_a, "max_size"_a, threads);
    m.def("greedy_sets", &sets_up_to<rtkm::greedy_sets>, "L"_a, "P"_a, "linear"_a,
          "pair"_a, "fixed"_a, "max_size"_a, threads);
    m.def("instruction_set", [] { return rtkm::kernels<double>().name; });
}
