// The fused step of the methods that trim: assign every row to its s nearest centers,
// find the cut, and sum what is kept, reading of the table only what may have changed.
#pragma once
#include <utility>

#include "sweep.hpp"

namespace rtkm {

// What a pass answers besides its watch and its moments.
struct Concentrated {
    Cut cut;
    double objective;
    std::size_t n_changed;
};

// A window that holds the cut if some of the rows tell of all.
template <class T>
Window ask_for_window(const Rows<T>& rows, const Centers<T>& centers, std::size_t s,
                      double kept_share) {
    constexpr std::size_t n_places = 256, few = 16;
    const std::size_t stride = rows.n / n_places;
    if (stride < few) return {0.0, infinity};
    ScratchMemory<T> memory(rows.p, centers.k, s);
    std::vector<std::int32_t> labels(few * s);
    std::vector<double> squared(few * s), cost(few), spare(few);
    std::vector<std::pair<double, double>> asked;  // cost and weight
    double mass = 0;
    for (std::size_t place = 0; place < n_places; ++place) {
        const Rows<T> some = rows.from(place * stride, few);
        double* const costs = s == 1 ? squared.data() : cost.data();
        kernels<T>().nearest(some, {0, few}, centers,
                             {labels.data(), squared.data(), costs, spare.data(), s},
                             memory.workspace());
        for (std::size_t i = 0; i < few; ++i) {
            asked.emplace_back(costs[i], some.weight(i));
            mass += some.weight(i);
        }
    }
    std::sort(asked.begin(), asked.end());
    // rows that are near to each other may be alike, and tell less than they number
    const double error =
        4 * std::sqrt(kept_share * (1 - kept_share) / n_places / 4) + 1e-3;
    Window window{0.0, infinity};
    double below = 0;
    for (const auto& [value, weight] : asked) {
        below += weight;
        if (below < (kept_share - error) * mass) window.sure = value;
        if (below > (kept_share + error) * mass && window.ceiling == infinity)
            window.ceiling = value;
    }
    return window;
}

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
    const auto look = [&](const Window& at) {
        knowledge.set_window(at);
        sweep.emplace(
            team, pass, lists,
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
        look(window);
    } else {
        if (window.sure < window.ceiling) look(window);
        if (!sweep || !holds_cut())
            look(ask_for_window(rows, centers, out.s, kept_mass / total_mass));
        if (!holds_cut()) look({0.0, infinity});
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
