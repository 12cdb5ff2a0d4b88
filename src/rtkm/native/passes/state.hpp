// What a step takes, and what it leaves: to the next step, which it spares most of its
// work, and to those who look at it.
#pragma once
#include <algorithm>
#include <memory>

#include "kernels/kernels.hpp"
#include "passes/pool.hpp"
#include "passes/window.hpp"

namespace rtkm {

template <class T>
struct StepInput {
    Rows<T> rows;
    Centers<T> centers;
    std::size_t s;  // the number of clusters of each row
    double kept_mass, total_mass;
    bool uses_bounds;  // false: all rows meet all centers
    std::shared_ptr<Pool> pool;

    bool trims() const { return kept_mass < total_mass; }
    double kept_share() const { return kept_mass / total_mass; }
};

// The memory behind Bounds.
struct BoundsMemory {
    std::size_t n, s;
    SharedArray<std::int32_t> labels;
    SharedArray<float> cost_upper, own_upper, other_lower;
    SharedArray<std::uint8_t> status;

    BoundsMemory(const std::shared_ptr<Pool>& pool, std::size_t n, std::size_t s)
        : n(n),
          s(s),
          labels(pooled<std::int32_t>(pool, n * s)),
          cost_upper(pooled<float>(pool, n)),
          // one membership: both are the distance of the one center
          own_upper(s > 1 ? pooled<float>(pool, n) : cost_upper),
          other_lower(pooled<float>(pool, n)),
          status(pooled<std::uint8_t>(pool, n)) {}

    Bounds view() const {
        return {labels.get(),      cost_upper.get(), own_upper.get(),
                other_lower.get(), status.get(),     s};
    }
};

// What both kinds of steps leave. Whoever looks at an array shares it, so that it lives
// as long as that, and no longer for the sake of the others.
template <class T>
struct PassState {
    std::size_t k, p;
    SharedArray<T> centers, means;  // k x p each; the means are the next centers
    BoundsMemory bounds;
    SharedArray<double> sums;  // those of the clusters, as Moments
    double objective = 0;
    Window expected = all_undecided;  // where the next step should look for its cut

    // `last` is null, or as wide and as long.
    PassState(const StepInput<T>& input, const PassState* last)
        : k(input.centers.k),
          p(input.centers.p),
          centers(last && last->leads_to(input.centers) ? last->means
                                                        : copy_of(input.centers)),
          means(new T[k * p]),
          bounds(input.pool, input.rows.n, input.s),
          sums(new double[k * Moments{nullptr, p}.stride()]) {
        const std::size_t size = k * moments().stride();
        if (last)
            std::copy_n(last->sums.get(), size, sums.get());
        else
            std::fill_n(sums.get(), size, 0.0);
    }

    Moments moments() const { return {sums.get(), p}; }
    Centers<T> centers_view() const { return {centers.get(), k, p}; }

    // Whether the centers are the means of this pass, and not, as after a swap, others.
    bool leads_to(const Centers<T>& next) const { return next.data == means.get(); }

private:
    static SharedArray<T> copy_of(const Centers<T>& centers) {
        SharedArray<T> copy(new T[centers.k * centers.p]);
        std::copy_n(centers.data, centers.k * centers.p, copy.get());
        return copy;
    }
};

// Where a step looks for its cut first; `otherwise` if the centers are not those that the
// last step leads to.
template <class T>
Window first_window(const StepInput<T>& input, const PassState<T>* last,
                    const Window& otherwise = all_undecided) {
    if (!input.trims()) return all_kept;
    return last && last->leads_to(input.centers) ? last->expected : otherwise;
}

}  // namespace rtkm
