// What steps leave, as Python sees it: to be looked at, and handed back for the next.
#pragma once
#include <variant>

#include "passes/concentrate.hpp"
#include "passes/proximal_step.hpp"
#include "python/arrays.hpp"

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
    bind_pass<Trimmed>(m, "TrimmedPass")
        .def_prop_ro("kept", property<Trimmed>([](const auto& state) {
                         return view_of<const bool>(state.bounds.status,
                                                    {state.bounds.n});
                     }))
        .def_prop_ro("cut", property<Trimmed>(
                                [](const auto& state) { return as_tuple(state.cut); }))
        .def_prop_ro("n_changed", property<Trimmed>(
                                      [](const auto& state) { return state.n_changed; }));
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
