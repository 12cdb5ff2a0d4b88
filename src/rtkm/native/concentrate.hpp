// The fused step of the methods that trim: assign every row to its s nearest centers,
// find the cut, and sum what is kept, reading the table once where it can.
#pragma once
#include <numeric>

#include "passes.hpp"
#include "select.hpp"

namespace rtkm {

// Rows below the window are summed while they are in the cache, those inside after the
// cut is known. Nothing is ever subtracted again, so an outlier of any
// size cannot wash out digits; if the cut falls outside, all rows become undecided.
template <class T>
Cut concentrate(const Team& team, const Rows<T>& rows, const Centers<T>& centers,
                const LastPass<T>* last, double kept_mass, const Window& window,
                const Nearest& out, std::uint8_t* kept, Undecided undecided,
                Sums& total) {
    nearest_and_sums(team, rows, centers, last, out, window, kept, undecided, total);
    if (window.sure == infinity) return {infinity, rows.n, 1.0};  // nothing is trimmed

    const double* weights = rows.weights;
    double sure_mass = std::accumulate(total.masses, total.masses + centers.k, 0.0) / out.s;
    double open_mass = static_cast<double>(undecided.n);
    if (weights) {
        open_mass = 0;
        for (std::size_t u = 0; u < undecided.n; ++u)
            open_mass += weights[undecided.rows[u]];
    }
    if (kept_mass <= sure_mass || kept_mass > sure_mass + open_mass) {
        std::iota(undecided.rows, undecided.rows + rows.n, std::uint32_t{0});
        undecided.n = rows.n;
        sure_mass = 0;
        std::fill(total.rows, total.rows + centers.k * rows.p, 0.0);
        std::fill(total.masses, total.masses + centers.k, 0.0);
        total.cost = 0;
    }
    const Cut cut = find_cut(
        team, {out.cost, weights, undecided.n, undecided.rows, sure_mass}, kept_mass);
    settle(team, rows, undecided, out, cut, centers.k, kept, total);
    return cut;
}

}  // namespace rtkm
