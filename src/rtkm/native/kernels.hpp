// The block kernels: each works on a range of rows and knows neither threads nor Python.
//
// kernels.cpp is compiled once for each instruction set, in a namespace of its own and
// without any library template, so that no AVX code can leak into the baseline.
#pragma once
#include "rows.hpp"
#include "weights.hpp"

namespace rtkm {

// Scratch memory of one part: p and k times `tile_rows` numbers, 64-byte aligned, and
// s + 1 each for the insertion of the s + 1 nearest centers.
template <class T>
struct Workspace {
    T* tile;
    T* distances;
    T* nearest;
    std::int32_t* order;
};

// Rows in a tile: two vector registers of them.
template <class T>
constexpr std::size_t tile_rows = 64 / sizeof(T);

// Rows that are followed before those that may have changed are gathered into tiles.
constexpr std::size_t follow_rows = 64;

template <class T>
struct Kernels {
    const char* name;

    // Nearest centers of each row.
    void (*nearest)(const Rows<T>&, Range, const Centers<T>&, const Nearest&,
                    const Workspace<T>&);

    // The same from those of the last pass; the spare may be lower than it would be.
    void (*follow)(const Rows<T>&, Range, const Centers<T>&, const Drift&,
                   const Nearest& last, const Nearest&, const Workspace<T>&);

    // Rows below the window are kept and summed, those inside are listed.
    void (*sum_sure)(const Rows<T>&, Range, const Nearest&, const Window&, std::size_t k,
                     std::uint8_t* kept, Undecided&, Sums&);

    // Once the cut is known: decides a range of the undecided rows and sums the kept.
    void (*settle)(const Rows<T>&, Range, const Undecided&, const Nearest&, const Cut&,
                   std::uint8_t* kept, Sums&);

    // n x k squared distances.
    void (*distances)(const Rows<T>&, Range, const Centers<T>&, T* out,
                      const Workspace<T>&);

    // cost = min(cost, squared distance to the one center).
    void (*lower)(const Rows<T>&, Range, const Centers<T>&, double* cost,
                  const Workspace<T>&);

    // Change of the cost, capped at `cap`, if candidate c takes the place of center j:
    // gains[c][j] + gains[c][k].
    void (*swap_gains)(const Rows<T>&, Range, const Centers<T>& candidates,
                       const Nearest&, double cap, std::size_t k, double* gains,
                       const Workspace<T>&);

    // Sums and masses under n x k weights.
    void (*weighted_sums)(const Rows<T>&, Range, const double* weights, std::size_t k,
                          Sums&);

    // Squared distance of each row to its mix of the centers under n x k weights; the
    // scratch holds p numbers.
    void (*residuals)(const Rows<T>&, Range, const double* weights, const Centers<T>&,
                      double* scratch, double* out);

    // Mean distance of the pairs among k rows, which are listed in a line each.
    void (*mean_pair_distances)(const Rows<T>&, Range lines, const std::int64_t* neighbors,
                                std::size_t k, double* out);

    // Nearest center of one dense row; ties go to the lowest number.
    Closest (*closest)(const T* row, const Centers<T>&);

    // Lists the rows of a block that do not surely stay at their vertex in a proximal
    // step.
    std::size_t (*stay)(const Rows<T>&, Range, const Centers<T>&, const Proximal&,
                        const Weights&, double* cost, std::uint32_t* open);

    // The proximal step of a block, but for the undecided rows, which are listed.
    void (*relax)(const Rows<T>&, Range, const Centers<T>&, const Proximal&,
                  const Weights&, PartReport&, Sums&, const Workspace<T>&);

    // Sums under memberships and inlier weights, of a range of the undecided rows.
    void (*sum_weighted)(const Rows<T>&, Range, const Undecided&, const Weights&,
                         std::size_t k, Sums&);
};

// The best kernels this processor runs.
template <class T>
const Kernels<T>& kernels();

namespace baseline {
extern const Kernels<float> kernels32;
extern const Kernels<double> kernels64;
}  // namespace baseline

namespace avx2 {
extern const Kernels<float> kernels32;
extern const Kernels<double> kernels64;
}  // namespace avx2

}  // namespace rtkm
