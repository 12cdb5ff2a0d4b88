// nanobind: shapes, dtypes, ownership and the GIL; no arithmetic.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

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

// Origin and unit of a table, for one that is a partition of it.
using GivenFrame = std::tuple<Vector<const double>, double>;

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

    void validate(const std::optional<Vector<const double>>& weights,
                  const std::optional<GivenFrame>& frame) {
        if (visit([](const auto& rows) { return rows.n; }) > UINT32_MAX)
            throw nb::value_error("a table holds at most 2**32 - 1 rows");
        std::visit(
            [&](auto& rows) {
                if (weights) rows.weights = weights->data();
                frame_ =
                    frame ? Frame(std::get<0>(*frame).data(), rows.p, std::get<1>(*frame))
                          : Frame(rows);
                rows.origin = frame_.origin.data();
                rows.unit = frame_.unit;
            },
            rows_);
    }

public:
    template <class T>
    Table(Matrix<const T> X, std::optional<Vector<const double>> weights,
          std::optional<GivenFrame> frame, int n_threads)
        : rows_(Rows<T>{X.data(), X.shape(0), X.shape(1)}),
          parallel_{n_threads, signal_is_pending},
          owners_(nb::make_tuple(X, weights)) {
        validate(weights, frame);
    }

    template <class T>
    Table(Vector<const T> data, Vector<const std::int32_t> indices,
          Vector<const std::int32_t> indptr, std::size_t n_features,
          std::optional<Vector<const double>> weights, std::optional<GivenFrame> frame,
          int n_threads)
        : rows_(Rows<T>{data.data(), indptr.shape(0) - 1, n_features, indices.data(),
                        indptr.data()}),
          parallel_{n_threads, signal_is_pending},
          owners_(nb::make_tuple(data, indices, indptr, weights)) {
        validate(weights, frame);
    }

    double unit() const { return frame_.unit; }

    // What sums are measured from.
    nb::ndarray<nb::numpy, double> origin() const {
        const std::size_t p = visit([](const auto& rows) { return rows.p; });
        auto origin = new_array<double>({p});
        std::copy_n(frame_.origin.data(), p, origin.data());
        return origin;
    }

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

    // The first half of a step, with a window for its cut; `settle` is the other half.
    OpenPass bounded_pass(nb::object C, std::size_t s, double sure, double ceiling,
                          const Trimmed* last, bool uses_bounds) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            auto open = std::make_unique<OpenStep<T>>(parallel_, rows, C, s, pool_,
                                                      uses_bounds, last);
            without_gil([&] { open->step->look({sure, ceiling}, Sample{}); });
            return OpenPass{std::move(open)};
        });
    }

    // The sums of the clusters of a pass, with the part of the cut's row that is kept.
    nb::object kept_moments(const Trimmed& pass) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            const TrimmedPass<T>& state = std::get<TrimmedPass<T>>(pass.state);
            const std::size_t stride = state.moments().stride();
            auto sums = new_array<double>({state.k, stride});
            std::copy_n(state.sums.get(), state.k * stride, sums.data());
            add_cut_row(rows, state, state.cut.share - 1, Moments{sums.data(), state.p});
            return nb::cast(sums);
        });
    }

    // What the kept rows cost, row by row, and what that sum lost.
    nb::tuple kept_cost(const Trimmed& pass) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            const TrimmedPass<T>& state = std::get<TrimmedPass<T>>(pass.state);
            Exact cost;
            without_gil([&] { cost = rtkm::kept_cost(parallel_, rows, state); });
            return nb::make_tuple(cost.sum, cost.lost);
        });
    }

    // The sums of k clusters that rows are in by their labels (n, s), with a share each.
    nb::ndarray<nb::numpy, double> moments(Matrix<const std::int32_t> labels,
                                           Vector<const double> shares,
                                           std::size_t k) const {
        return visit([&](const auto& rows) {
            using T = std::decay_t<decltype(*rows.data)>;
            const std::size_t s = labels.shape(1);
            auto sums = zeros<double>({k, Moments{nullptr, rows.p}.stride()});
            const Moments clusters{sums.data(), rows.p};
            for (std::size_t i = 0; i < rows.n; ++i)
                for (std::size_t r = 0; r < s && shares.data()[i] != 0; ++r)
                    kernels<T>().join(rows, i, shares.data()[i],
                                      clusters[labels.data()[i * s + r]]);
            return sums;
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
            auto gains = new_array<double>({2, centers.k + 1, k + 1});
            without_gil([&] {
                rtkm::swap_changes(parallel_, rows, centers, state, cap, k, gains.data());
            });
            return gains;
        });
    }

    nb::ndarray<nb::numpy, double> moved_rows(nb::object C, double cap) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, C);
            auto sums = new_array<double>({2, MovedLayout(centers.k, rows.p).size()});
            without_gil(
                [&] { rtkm::moved_rows(parallel_, rows, centers, cap, sums.data()); });
            return sums;
        });
    }

    nb::ndarray<nb::numpy, double> half_sums(nb::object halves,
                                             Vector<const std::int32_t> labels,
                                             double cap) const {
        return visit([&](const auto& rows) {
            const CentersOf centers(rows, halves);
            const HalvesLayout layout{centers.k / 2, rows.p};
            auto sums = new_array<double>({2, layout.size()});
            without_gil([&] {
                rtkm::half_sums(parallel_, rows, centers, labels.data(), cap,
                                sums.data());
            });
            return sums;
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

    nb::ndarray<nb::numpy, double> weighted_sums(Matrix<const double> weights) const {
        return visit([&](const auto& rows) {
            const std::size_t k = weights.shape(1);
            auto sums = new_array<double>({2, weighted_sums_size(rows.p, k)});
            without_gil([&] {
                rtkm::weighted_sums(parallel_, rows, weights.data(), k, sums.data());
            });
            return sums;
        });
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

    // The first of each of the distinct rows, counted no further than enough.
    nb::ndarray<nb::numpy, std::int64_t> distinct_rows(std::size_t enough) const {
        std::vector<std::int64_t> found;
        visit([&](const auto& rows) {
            without_gil([&] { found = rtkm::distinct_rows(rows, enough); });
        });
        auto numbers = new_array<std::int64_t>({found.size()});
        std::copy(found.begin(), found.end(), numbers.data());
        return numbers;
    }

    // For each row the number of pivots, sorted rows of another table, not beyond it.
    nb::ndarray<nb::numpy, std::uint32_t> buckets(const Table& pivots) const {
        return visit([&](const auto& rows) {
            const auto& sorted = std::get<std::decay_t<decltype(rows)>>(pivots.rows_);
            if (sorted.p != rows.p || sorted.is_csr() != rows.is_csr())
                throw nb::value_error("pivots of another kind");
            auto out = new_array<std::uint32_t>({rows.n});
            without_gil([&] { rtkm::buckets(parallel_, rows, sorted, out.data()); });
            return out;
        });
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

// What some rows add to the digest of a pass.
std::uint64_t digest_of_rows(Vector<const std::uint32_t> rows,
                             Matrix<const std::int32_t> labels, Vector<const bool> kept) {
    const std::size_t s = labels.shape(1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        sum += digest_of(rows.data()[i], labels.data() + i * s, s, kept.data()[i]);
    return sum;
}

// Calls body(centers) with centers of either type.
template <class Body>
auto with_centers(nb::handle C, Body body) {
    const auto call = [&](auto like) {
        using T = decltype(like);
        const auto array = nb::cast<Matrix<const T>>(C, false);
        return body(Centers<T>{array.data(), array.shape(0), array.shape(1)});
    };
    return nb::isinstance<Matrix<const float>>(C) ? call(float{}) : call(double{});
}

// Means and objective of what the partitions of a table keep, from the sums of each; and
// whether these have the digits that the objective needs.
nb::tuple combine_moments(nb::list parts, nb::object C, Vector<const double> origin) {
    return with_centers(C, [&](const auto& centers) {
        using T = std::decay_t<decltype(*centers.data)>;
        const std::size_t k = centers.k, p = centers.p;
        std::vector<double> memory(k * Moments{nullptr, p}.stride());
        const Moments total{memory.data(), p};
        for (nb::handle part : parts) {
            const auto sums = nb::cast<Matrix<const double>>(part, false);
            if (sums.shape(0) != k || sums.shape(1) != total.stride())
                throw nb::value_error("sums of another shape");
            // they are only read
            const Moments moments{const_cast<double*>(sums.data()), p};
            for (std::size_t j = 0; j < k; ++j) add(moments[j], p, total[j]);
        }
        auto means = new_array<T>({k, p});
        Exact cost;
        double squares = 0;
        for (std::size_t j = 0; j < k; ++j) {
            const T* const center = centers.data + j * p;
            write_mean(total[j], origin.data(), center, p, means.data() + j * p);
            cost.add(cost_about(total[j], origin.data(), center, p));
            squares += total[j].all_squares().value();
        }
        const bool is_exact = cost.value() >= least_share * squares;
        return nb::make_tuple(means, cost.value(), is_exact);
    });
}

// Sums of partitions, (2, n) each: sums, and what they lost.
nb::ndarray<nb::numpy, double> add_exactly(nb::list parts) {
    const auto first = nb::cast<Matrix<const double>>(parts[0], false);
    const std::size_t n = first.shape(1);
    auto total = zeros<double>({2, n});
    const ExactSums sums{total.data(), total.data() + n};
    for (nb::handle handle : parts) {
        const auto part = nb::cast<Matrix<const double>>(handle, false);
        if (part.shape(0) != 2 || part.shape(1) != n)
            throw nb::value_error("sums of another shape");
        for (std::size_t i = 0; i < n; ++i)
            sums.add(i, Exact{part.data()[i], part.data()[n + i]});
    }
    for (std::size_t i = 0; i < n; ++i) {
        const Exact whole = normalized(sums[i]);
        sums.sums[i] = whole.sum;
        sums.lost[i] = whole.lost;
    }
    return total;
}

// What is reached after each value, rounded once, and what that takes away.
nb::ndarray<nb::numpy, double> running_sums(Vector<const double> values, double start,
                                            double lost) {
    const std::size_t n = values.shape(0);
    auto sums = new_array<double>({2, n});
    Exact total{start, lost};
    for (std::size_t i = 0; i < n; ++i) {
        total.add(values.data()[i]);
        total = normalized(total);
        sums.data()[i] = total.sum;
        sums.data()[n + i] = total.lost;
    }
    return sums;
}

// The same of sums that have lost something, (2, n).
nb::ndarray<nb::numpy, double> running_pairs(Matrix<const double> pairs) {
    const std::size_t n = pairs.shape(1);
    auto sums = new_array<double>({2, n});
    Exact total;
    for (std::size_t i = 0; i < n; ++i) {
        total.add(Exact{pairs.data()[i], pairs.data()[n + i]});
        total = normalized(total);
        sums.data()[i] = total.sum;
        sums.data()[n + i] = total.lost;
    }
    return sums;
}

nb::ndarray<nb::numpy, double> losses(Vector<const double> sums, nb::object C,
                                      Vector<const double> origin) {
    return with_centers(C, [&](const auto& centers) {
        auto out = new_array<double>({centers.k});
        rtkm::losses(sums.data(), centers, origin.data(), out.data());
        return out;
    });
}

// The next halves of all clusters, their masses, and the costs of the clusters.
nb::tuple half_means(Vector<const double> sums, nb::object halves,
                     Vector<const double> origin) {
    return with_centers(halves, [&](const auto& centers) {
        using T = std::decay_t<decltype(*centers.data)>;
        auto means = new_array<T>({centers.k, centers.p});
        auto masses = new_array<double>({centers.k});
        auto costs = new_array<double>({centers.k / 2});
        rtkm::half_means(sums.data(), centers, origin.data(), means.data(), masses.data(),
                         costs.data());
        return nb::make_tuple(means, masses, costs);
    });
}

nb::tuple expected_window(double threshold, double last) {
    const Window window = expected_cut(threshold, last);
    return nb::make_tuple(window.sure, window.ceiling);
}

using Weights = std::optional<Vector<const double>>;

const double* pointer(const Weights& weights) {
    return weights ? weights->data() : nullptr;
}

nb::tuple find_cut(Vector<const double> values, const Weights& weights, double mass,
                   double mass_below, double lost_below, int n_threads) {
    Cut cut;
    without_gil([&] {
        const Parallel parallel{n_threads, signal_is_pending};
        const Values all{values.data(),
                         pointer(weights),
                         values.shape(0),
                         nullptr,
                         {mass_below, lost_below}};
        cut = rtkm::find_cut(parallel, all, mass);
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
    auto sums = new_array<double>({2, k});
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
    const auto frame = nb::arg("frame").none();
    const auto threads = nb::arg("n_threads");
    nb::class_<Table>(m, "Table")
        .def(nb::init<Matrix<const double>, std::optional<Vector<const double>>,
                      std::optional<GivenFrame>, int>(),
             "X"_a.noconvert(), weights, frame, threads)
        .def(nb::init<Matrix<const float>, std::optional<Vector<const double>>,
                      std::optional<GivenFrame>, int>(),
             "X"_a.noconvert(), weights, frame, threads)
        .def(nb::init<Vector<const double>, Vector<const std::int32_t>,
                      Vector<const std::int32_t>, std::size_t,
                      std::optional<Vector<const double>>, std::optional<GivenFrame>,
                      int>(),
             "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
             "n_features"_a, weights, frame, threads)
        .def(nb::init<Vector<const float>, Vector<const std::int32_t>,
                      Vector<const std::int32_t>, std::size_t,
                      std::optional<Vector<const double>>, std::optional<GivenFrame>,
                      int>(),
             "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
             "n_features"_a, weights, frame, threads)
        .def("unit", &Table::unit)
        .def("origin", &Table::origin)
        .def("release", &Table::release)
        .def("nearest", &Table::nearest, "C"_a, "n_memberships"_a)
        .def("concentrate", &Table::concentrate, "C"_a, "n_memberships"_a, "kept_mass"_a,
             "total_mass"_a, "last"_a.none(), "uses_bounds"_a)
        .def("bounded_pass", &Table::bounded_pass, "C"_a, "n_memberships"_a, "sure"_a,
             "ceiling"_a, "last"_a.none(), "uses_bounds"_a, nb::keep_alive<0, 1>(),
             nb::keep_alive<0, 2>(), nb::keep_alive<0, 6>())
        .def("kept_moments", &Table::kept_moments, "pass_"_a)
        .def("kept_cost", &Table::kept_cost, "pass_"_a)
        .def("moments", &Table::moments, "labels"_a, "shares"_a, "n_clusters"_a)
        .def("proximal_step", &Table::proximal_step, "C"_a, "n_memberships"_a,
             "kept_mass"_a, "total_mass"_a, "step"_a, "last"_a.none(), "uses_bounds"_a)
        .def("squared_distances", &Table::squared_distances, "C"_a)
        .def("squared_residuals", &Table::squared_residuals, "B"_a, "C"_a)
        .def("lower", &Table::lower, "C"_a, "cost"_a.noconvert())
        .def("swap_changes", &Table::swap_changes, "candidates"_a, "labels"_a,
             "squared"_a, "cost"_a, "spare"_a, "cap"_a, "n_clusters"_a)
        .def("moved_rows", &Table::moved_rows, "C"_a, "cap"_a)
        .def("half_sums", &Table::half_sums, "halves"_a, "labels"_a, "cap"_a)
        .def("count_along_lines", &Table::count_along_lines, "C"_a, "cap"_a, "per_half"_a,
             "n_bins"_a)
        .def("weighted_sums", &Table::weighted_sums, "weights"_a)
        .def("mean_pair_distances", &Table::mean_pair_distances, "neighbors"_a)
        .def("leaders", &Table::leaders, "radius"_a)
        .def("further_means", &Table::further_means, "pass_"_a, "rows"_a, "clusters"_a)
        .def("column_ends", &Table::column_ends)
        .def("lexicographic_order", &Table::lexicographic_order)
        .def("distinct_rows", &Table::distinct_rows, "enough"_a)
        .def("buckets", &Table::buckets, "pivots"_a)
        .def("draw", &Table::draw, "order"_a, "cost"_a.none(), "cap"_a, "u"_a);
    bind_passes(m);
    m.def("combine_moments", &combine_moments, "parts"_a, "C"_a, "origin"_a);
    m.def("digest_of_rows", &digest_of_rows, "rows"_a, "labels"_a, "kept"_a);
    m.def("expected_window", &expected_window, "threshold"_a, "last"_a);
    m.def("find_cut", &find_cut, "values"_a, weights, "mass"_a, "mass_below"_a = 0.0,
          "lost_below"_a = 0.0, threads);
    m.def("add_exactly", &add_exactly, "parts"_a);
    m.def("running_sums", &running_sums, "values"_a, "start"_a = 0.0, "lost"_a = 0.0);
    m.def("running_pairs", &running_pairs, "pairs"_a);
    m.def("losses", &losses, "sums"_a, "C"_a, "origin"_a);
    m.def("half_means", &half_means, "sums"_a, "halves"_a, "origin"_a);
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
