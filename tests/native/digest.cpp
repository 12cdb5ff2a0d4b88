// Prints a digest of what the native core computes, for each instruction set that it can
// choose here. `make test-compilers` compares those of compilers, processors and systems;
// it needs no Python, so that it runs wherever a compiler or an emulator does.
#include <cstdio>
#include <memory>

#include "passes/concentrate.hpp"
#include "passes/frame.hpp"
#include "passes/order.hpp"
#include "passes/proximal_step.hpp"
#include "passes/splits.hpp"

using namespace rtkm;

namespace {

// FNV-1a of bytes.
class Digest {
public:
    template <class T>
    void add(const T* values, std::size_t n) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values);
        for (std::size_t b = 0; b < n * sizeof(T); ++b)
            value_ = (value_ ^ bytes[b]) * 1099511628211u;
    }
    template <class T>
    void add(const std::vector<T>& values) {
        add(values.data(), values.size());
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 14695981039346656037u;
};

// Numbers between -1 and 2, the same on every machine (G. Marsaglia's xorshift).
class Numbers {
public:
    double next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) * 0x1p-53 * 3 - 1;
    }
    template <class T>
    std::vector<T> draw(std::size_t n) {
        std::vector<T> drawn(n);
        for (T& value : drawn) value = static_cast<T>(next());
        return drawn;
    }

private:
    std::uint64_t state_ = 88172645463325252u;
};

// Rows without most of their values.
template <class T>
struct SparseRows {
    std::vector<T> data;
    std::vector<std::int32_t> indices, indptr{0};

    SparseRows(const std::vector<T>& X, std::size_t p) {
        for (std::size_t i = 0; i < X.size(); ++i) {
            if (X[i] > 1.2) {
                data.push_back(X[i]);
                indices.push_back(static_cast<std::int32_t>(i % p));
            }
            if (i % p == p - 1) indptr.push_back(static_cast<std::int32_t>(data.size()));
        }
    }
};

template <class State>
void add_state(const State& state, Digest& digest) {
    digest.add(state.means.get(), state.k * state.p);
    digest.add(state.bounds.labels.get(), state.bounds.n * state.bounds.s);
    digest.add(state.bounds.status.get(), state.bounds.n);
    digest.add(state.sums.get(), state.k * state.moments().stride());
    digest.add(&state.objective, 1);
}

// Six steps, each from the means of the last.
template <class State, class T, class Step>
void follow(StepInput<T> input, Step step, Digest& digest) {
    std::unique_ptr<const State> last;
    for (int i = 0; i < 6; ++i) {
        const SquaredCenters squares(input.centers);
        if (input.rows.is_csr()) {
            input.centers.squares = squares.squares();
            input.centers.squared_norms = squares.norms();
        }
        last = std::make_unique<const State>(step(input, last.get()));
        add_state(*last, digest);
        input.centers.data = last->means.get();
    }
}

template <class T>
void add_table(Rows<T> rows, std::size_t k, Numbers& numbers, Digest& digest) {
    const Parallel alone;
    const std::size_t n = rows.n, p = rows.p;
    const Frame frame(rows);
    rows.origin = frame.origin.data();
    rows.unit = frame.unit;
    const std::vector<T> C = numbers.draw<T>(k * p);
    Centers<T> centers{C.data(), k, p};
    const SquaredCenters squares(centers);
    if (rows.is_csr()) {
        centers.squares = squares.squares();
        centers.squared_norms = squares.norms();
    }
    double mass = 0;
    for (std::size_t i = 0; i < n; ++i) mass += rows.weight(i);
    for (std::size_t s = 1; s <= std::min<std::size_t>(2, k - 1); ++s) {
        std::vector<std::int32_t> labels(n * s);
        std::vector<double> squared(n * s), cost(n), spare(n);
        double* const costs = s == 1 ? squared.data() : cost.data();
        nearest(alone, rows, centers,
                {labels.data(), squared.data(), costs, spare.data(), s});
        digest.add(labels);
        digest.add(squared);
        digest.add(costs, n);
        digest.add(spare);
        std::vector<double> gains(2 * (k + 1) * (k + 1));  // and what they lost
        const KnownNearest known{labels.data(), squared.data(), costs, spare.data(), s};
        swap_changes(alone, rows, centers, known, static_cast<double>(p), k,
                     gains.data());
        digest.add(gains);
        const StepInput<T> input{
            rows, centers, s, 0.9 * mass, mass, true, std::make_shared<Pool>()};
        follow<TrimmedPass<T>>(
            input, [&](auto& now, auto* last) { return concentrate(alone, now, last); },
            digest);
        const double step = 0.7 * static_cast<double>(p);
        follow<ProximalPass<T>>(
            input,
            [&](auto& now, auto* last) { return proximal_step(alone, now, step, last); },
            digest);
    }
    std::vector<T> distances(n * k);
    squared_distances(alone, rows, centers, distances.data());
    digest.add(distances);
    const std::vector<double> weights = numbers.draw<double>(n * k);
    std::vector<double> residuals(n), losses_of(k);
    std::vector<double> sums(2 * weighted_sums_size(p, k)),
        moved(2 * MovedLayout(k, p).size());
    squared_residuals(alone, rows, weights.data(), centers, residuals.data());
    digest.add(residuals);
    weighted_sums(alone, rows, weights.data(), k, sums.data());
    digest.add(sums);
    moved_rows(alone, rows, centers, static_cast<double>(p), moved.data());
    losses(moved.data(), centers, rows.origin, losses_of.data());
    digest.add(losses_of);
    std::vector<std::int64_t> neighbors(4 * n);
    for (std::size_t i = 0; i < neighbors.size(); ++i) neighbors[i] = 7 * i % n;
    mean_pair_distances(alone, rows, neighbors.data(), n, 4, residuals.data());
    digest.add(residuals);
    std::vector<std::uint32_t> order(n);
    lexicographic_order(alone, rows, order.data());
    digest.add(order);
}

template <class T>
void add_tables(Digest& digest) {
    Numbers numbers;
    const std::size_t shapes[][3] = {{333, 1, 2},  {700, 3, 3},   {515, 7, 5},
                                     {260, 11, 9}, {130, 37, 20}, {90, 130, 6}};
    for (const auto& [n, p, k] : shapes)
        for (const bool is_weighted : {false, true}) {
            const std::vector<T> X = numbers.draw<T>(n * p);
            std::vector<double> weights = numbers.draw<double>(n);
            for (double& weight : weights) weight = weight > 0 ? weight : 0;
            const double* const given = is_weighted ? weights.data() : nullptr;
            add_table<T>({X.data(), n, p, nullptr, nullptr, given}, k, numbers, digest);
            const SparseRows<T> some(X, p);
            add_table<T>(
                {some.data.data(), n, p, some.indices.data(), some.indptr.data(), given},
                k, numbers, digest);
        }
}

}  // namespace

int main() {
    Digest digest;
    add_tables<double>(digest);
    add_tables<float>(digest);
    std::printf("%s %016llx\n", kernels<double>().name,
                static_cast<unsigned long long>(digest.value()));
}
