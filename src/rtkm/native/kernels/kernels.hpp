// The block kernels: each works on a range of rows and knows neither threads nor Python.
//
// kernels.cpp is compiled once for each instruction set, in a namespace of its own and
// without any library template, so that no AVX code can leak into the baseline.
#pragma once
#include "kernels/rows.hpp"
#include "kernels/types.hpp"

namespace rtkm {

// Scratch memory of one part: p, k, s + 1 and s + 1 times `tile_rows` numbers, 64-byte
// aligned; the last for the s + 1 nearest centers and their numbers, as a T each.
template <class T>
struct Workspace {
    T* tile;
    T* distances;
    T* nearest;
    T* order;
};

// Rows in a tile: two vector registers of them.
template <class T>
constexpr std::size_t tile_rows = 64 / sizeof(T);

// Rows of a block: few enough for what is known of each to stay in the nearest cache.
constexpr std::size_t block_rows = 256;

template <class T>
struct Kernels {
    const char* name;

    // Nearest centers of each row.
    void (*nearest)(const Rows<T>&, Range, const Centers<T>&, const Nearest&,
                    const Workspace<T>&);

    // Nearest centers, kept rows and changed sums, but for the undecided rows.
    void (*bounded_pass)(const BoundedPass<T>&, Range, PassReport&, const Workspace<T>&);

    // Once the cut is known: those of a range of the undecided rows.
    void (*settle)(const BoundedPass<T>&, Range, const Undecided&, const Cut&,
                   PassReport&);

    // Adds a share of a row to the sums of a cluster.
    void (*join)(const Rows<T>&, std::size_t row, double share, const ClusterSums&);

    // The sums of what is kept, from all rows.
    void (*sum_kept)(const BoundedPass<T>&, Range, PassReport&);

    // Adds the cost of what is kept, row by row.
    void (*add_kept_cost)(const BoundedPass<T>&, Range, const Cut&,
                          const ExactSums& total, const Workspace<T>&);

    // n x k squared distances.
    void (*distances)(const Rows<T>&, Range, const Centers<T>&, T* out,
                      const Workspace<T>&);

    // cost = min(cost, squared distance to the one center).
    void (*lower)(const Rows<T>&, Range, const Centers<T>&, double* cost,
                  const Workspace<T>&);

    // Change of the cost, capped at `cap`, if candidate c of n takes the place of center
    // j: gains[c][j] + gains[c][k] + gains[n][j].
    void (*swap_changes)(const Rows<T>&, Range, const Centers<T>& candidates,
                         const KnownNearest&, double cap, std::size_t k,
                         const ExactSums& gains, const Workspace<T>&);

    // Adds up the rows that would move to their second nearest center without the first.
    void (*add_moved_rows)(const Rows<T>&, Range, const Centers<T>&, double cap,
                           const MovedRows<ExactSums>&, const Workspace<T>&);

    // Adds up the rows that are nearer to either half of their cluster, of which cluster
    // j has the centers 2 j and 2 j + 1.
    void (*split_step)(const Rows<T>&, Range, const Centers<T>& halves,
                       const std::int32_t* labels, double cap, const HalfSums<ExactSums>&,
                       const Workspace<T>&);

    // Adds, for each pair of centers (own, other), the mass of the rows in each bin along
    // the line between them, of rows no costlier than `cap`; the first bin of the pair
    // (own, own) has the mass of all such rows of the center.
    void (*count_along_lines)(const Rows<T>&, Range, const Centers<T>&, const LineBins&,
                              double cap, double* counts, const Workspace<T>&);

    // Adds k masses, and after them k x padded(p) sums, under n x k weights.
    void (*weighted_sums)(const Rows<T>&, Range, const double* weights, std::size_t k,
                          const ExactSums&);

    // Squared distance of each row to its mix of the centers under n x k weights; the
    // scratch holds p numbers.
    void (*residuals)(const Rows<T>&, Range, const double* weights, const Centers<T>&,
                      double* scratch, double* out);

    // Mean distance of the pairs among k rows, which are listed in a line each.
    void (*mean_pair_distances)(const Rows<T>&, Range lines,
                                const std::int64_t* neighbors, std::size_t k,
                                double* out);

    // Nearest center of one dense row; ties go to the lowest number.
    Closest (*closest)(const T* row, const Centers<T>&);

    // The proximal step of a block, but for the undecided rows.
    void (*proximal_step)(const BoundedPass<T>&, const ProximalStep&, Range,
                          ProximalReport&, const Workspace<T>&);

    // Once the undecided rows have their inlier weights: what a range of them count for.
    void (*settle_proximal)(const BoundedPass<T>&, const ProximalStep&, Range,
                            const Undecided&, const Fractions& now, ProximalReport&);
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

namespace neon {
extern const Kernels<float> kernels32;
extern const Kernels<double> kernels64;
}  // namespace neon

}  // namespace rtkm
