// What steps leave, as Python sees it: to be looked at, and handed back for the next.
#pragma once
#include <variant>

#include "passes/concentrate.hpp"
#include "passes/proximal_step.hpp"
#include "python/arrays.hpp"
#include "python/centers.hpp"

namespace rtkm {
namespace python {

inline nb::tuple as_tuple(const Cut& cut) {
    return nb::make_tuple(cut.threshold, cut.row, cut.share);
}

// A pass over rows of either type.
template <template <class> class State>
struct PassOf {
    std::variant<State<float>, State<double>> state;

    // As the last pass of a step, if it can be that.
    template <class T>
    const State<T>& fitting(const StepInput<T>& input) const {
        const State<T>* const last = std::get_if<State<T>>(&state);
        if (!last || last->bounds.n != input.rows.n || last->bounds.s != input.s ||
            last->k != input.centers.k || last->p != input.centers.p)
            throw nb::value_error("the last pass is of another shape or type");
        return *last;
    }
};

using Trimmed = PassOf<TrimmedPass>;

// A step between its halves. Table, centers and last pass must live as long.
template <class T>
struct OpenStep {
    CentersOf<T> centers;
    std::optional<TrimmedStep<T>> step;

    OpenStep(const Parallel& parallel, const Rows<T>& rows, nb::handle C, std::size_t s,
             const std::shared_ptr<Pool>& pool, bool uses_bounds, const Trimmed* last)
        : centers(rows, C) {
        const StepInput<T> input{rows, centers, s, 0, 0, uses_bounds, pool};
        step.emplace(parallel, input, last ? &last->fitting(input) : nullptr);
    }
};

struct OpenPass {
    std::variant<std::unique_ptr<OpenStep<float>>, std::unique_ptr<OpenStep<double>>>
        open;

    template <class Body>
    auto visit(Body body) const {
        return std::visit([&](const auto& of) { return body(*of->step); }, open);
    }
    nb::tuple sure_mass() const {
        const Exact mass = visit([](const auto& step) { return step.sure_mass(); });
        return nb::make_tuple(mass.sum, mass.lost);
    }
    std::size_t n_undecided() const {
        return visit([](const auto& step) { return step.undecided().n; });
    }
    // The rows that depend on the cut, what they cost, and their clusters.
    nb::tuple undecided() const {
        return visit([](const auto& step) {
            const Undecided& some = step.undecided();
            const Bounds bounds = step.found.bounds.view();
            auto rows = new_array<std::uint32_t>({some.n});
            auto costs = new_array<double>({some.n});
            auto labels = new_array<std::int32_t>({some.n, bounds.s});
            std::copy_n(some.rows, some.n, rows.data());
            std::copy_n(some.costs, some.n, costs.data());
            for (std::size_t u = 0; u < some.n; ++u)
                std::copy_n(bounds.labels + some.rows[u] * bounds.s, bounds.s,
                            labels.data() + u * bounds.s);
            return nb::make_tuple(rows, costs, labels);
        });
    }
    // The sums of the clusters without those rows, and the digest.
    nb::tuple decided() const {
        return visit([](const auto& step) {
            const std::size_t k = step.found.k, p = step.found.p;
            auto sums = new_array<double>({k, Moments{nullptr, p}.stride()});
            const std::uint64_t digest = step.sum_decided({sums.data(), p});
            return nb::make_tuple(sums, digest);
        });
    }
    // What the cut leaves, but for means and objective. It can be asked for once.
    Trimmed settle(double threshold, std::size_t row, double share) {
        return visit([&](auto& step) {
            without_gil([&] { step.settle({threshold, row, share}); });
            return Trimmed{std::move(step.found)};
        });
    }
};
using Proximal = PassOf<ProximalPass>;

// The memberships of rows that share themselves, in the order of the rows.
inline nb::ndarray<nb::numpy, double> shares_of(const FractionMemory& fractions) {
    auto shares = new_array<double>({fractions.size(), fractions.view().k});
    fractions.copy_to(shares.data());
    return shares;
}

// A property that is read from the state.
template <class Pass, class Read>
auto property(Read read) {
    return [read](const Pass& pass) {
        const auto cast = [&](const auto& state) { return nb::cast(read(state)); };
        return std::visit(cast, pass.state);
    };
}

// What both kinds of passes show, and nobody can write to: the next pass starts from it.
template <class Pass>
nb::class_<Pass> bind_pass(nb::module_& m, const char* name) {
    nb::class_<Pass> pass(m, name);
    const auto show = [&](const char* property_name, auto read) {
        pass.def_prop_ro(property_name, property<Pass>(read));
    };
    show("clusters", [](const auto& state) {
        const BoundsMemory& bounds = state.bounds;
        return view_of<const std::int32_t>(bounds.labels, {bounds.n, bounds.s});
    });
    show("cost_upper", [](const auto& state) {
        return view_of<const float>(state.bounds.cost_upper, {state.bounds.n});
    });
    show("own_upper", [](const auto& state) {
        return view_of<const float>(state.bounds.own_upper, {state.bounds.n});
    });
    show("other_lower", [](const auto& state) {
        return view_of<const float>(state.bounds.other_lower, {state.bounds.n});
    });
    show("status", [](const auto& state) {
        return view_of<const std::uint8_t>(state.bounds.status, {state.bounds.n});
    });
    show("moments", [](const auto& state) {
        return view_of<const double>(state.sums, {state.k, state.moments().stride()});
    });
    show("means", [](const auto& state) {
        using T = std::decay_t<decltype(state.means[0])>;
        return view_of<const T>(state.means, {state.k, state.p});
    });
    show("objective", [](const auto& state) { return state.objective; });
    return pass;
}

inline void bind_passes(nb::module_& m) {
    nb::class_<OpenPass>(m, "OpenPass")
        .def_prop_ro("sure_mass", &OpenPass::sure_mass)
        .def_prop_ro("n_undecided", &OpenPass::n_undecided)
        .def("undecided", &OpenPass::undecided)
        .def("decided", &OpenPass::decided)
        .def("settle", &OpenPass::settle, nb::arg("threshold"), nb::arg("row"),
             nb::arg("share"));
    bind_pass<Trimmed>(m, "TrimmedPass")
        .def_prop_ro("kept", property<Trimmed>([](const auto& state) {
                         return view_of<const bool>(state.bounds.status,
                                                    {state.bounds.n});
                     }))
        .def_prop_ro("cut", property<Trimmed>(
                                [](const auto& state) { return as_tuple(state.cut); }))
        .def_prop_ro("n_changed",
                     property<Trimmed>([](const auto& state) { return state.n_changed; }))
        .def_prop_ro("digest",
                     property<Trimmed>([](const auto& state) { return state.digest; }));
    bind_pass<Proximal>(m, "ProximalPass")
        .def_prop_ro("v", property<Proximal>([](const auto& state) {
                         return view_of<const double>(state.v, {state.bounds.n});
                     }))
        .def_prop_ro("threshold", property<Proximal>(
                                      [](const auto& state) { return state.threshold; }))
        .def_prop_ro("change",
                     property<Proximal>([](const auto& state) { return state.change; }))
        .def("shares", property<Proximal>(
                           [](const auto& state) { return shares_of(state.fractions); }));
}

}  // namespace python
}  // namespace rtkm
