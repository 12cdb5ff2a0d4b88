// The fused step of the methods that trim: assign every row to its s nearest centers,
// find the cut, and sum what is kept, reading of the table only what may have changed.
#pragma once
#include "sweep.hpp"

namespace rtkm {

// What a pass answers besides its watch and its moments.
struct Concentrated {
    Cut cut;
    double objective;
    std::size_t n_changed;
};

// Rows that surely stay where they are rest, the others are met, and what changed is
// added to the sums or taken from them. If the cut falls outside the window, a better
// one is asked for. `last` may be null; but for the rounding of weighted masses it
// changes nothing but the time it takes. `moments` holds the sums of the last pass, and
// then those of this one.
template <class T>
Concentrated concentrate(const Team& team, const Rows<T>& rows, const Centers<T>& centers,
                         const LastPass<T>* last, bool uses_bounds, double kept_mass,
                         double total_mass, const Window& window, const Watch& out,
                         const Lists& lists, const Moments& moments, T* means) {
    Knowledge<T> knowledge(rows, centers, last, uses_bounds, out);
    const Following<T>& pass = knowledge.pass;
    std::optional<Sweep<T, PassReport>> sweep;
    const auto look = [&](const Window& at, const Sample& sample) {
        knowledge.set_window(at);
        sweep.emplace(
            team, pass, lists, sample,
            [&](std::size_t, Range range, PassReport& report, const Workspace<T>& work) {
                kernels<T>().follow(pass, range, report, work);
            });
    };
    const auto holds_cut = [&] {
        double open_mass = 0;
        for (std::size_t u = 0; u < sweep->undecided.n; ++u)
            open_mass += rows.weight(sweep->undecided.rows[u]);
        return kept_mass > sweep->sure_mass && kept_mass <= sweep->sure_mass + open_mass;
    };
    Cut cut{infinity, rows.n, 1.0};
    if (window.sure == infinity) {  // nothing is trimmed
        look(window, {});
    } else {
        look_until_it_holds(window, rows.n, look, holds_cut, [&] {
            return window_for(team, rows, sweep->undecided, kept_mass / total_mass);
        });
        const Undecided& undecided = sweep->undecided;
        cut = find_cut(team,
                       {undecided.costs, rows.weights, undecided.n, undecided.rows,
                        sweep->sure_mass},
                       kept_mass);
        sweep->settle(team, [&](Range range, PassReport& report) {
            kernels<T>().settle(pass, range, undecided, cut, report);
        });
    }
    sweep->add_to(moments);
    const auto n_changed = sweep->n_changed();
    refresh_if_stale(team, pass, lists, moments);
    const auto add_cut_row = [&](double share) {
        for (std::size_t r = 0; r < out.s && cut.row < rows.n; ++r)
            kernels<T>().join(rows, cut.row, share,
                              moments[out.labels[cut.row * out.s + r]]);
    };
    add_cut_row(cut.share - 1);
    for (std::size_t j = 0; j < centers.k; ++j)
        write_mean(moments[j], rows.origin, centers.data + j * rows.p, rows.p,
                   means + j * rows.p);
    const double objective = find_objective(team, pass, moments, cut);
    add_cut_row(1 - cut.share);
    return {cut, objective, n_changed};
}

}  // namespace rtkm
