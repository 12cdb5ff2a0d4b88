// One-pass clustering: a row joins the nearest leader within reach, or becomes one.
//
// Every row changes what the next one meets, so there is nothing to divide: one thread.
#pragma once
#include <vector>

#include "passes/passes.hpp"

namespace rtkm {

template <class T>
class Leaders {
public:
    Leaders(const Rows<T>& rows, double radius)
        : rows_(rows), squared_radius_(radius * radius) {}

    void run(const Parallel& parallel, std::int32_t* labels) {
        constexpr std::size_t a_while = std::size_t{1} << 23;
        std::size_t work = 0;
        for (std::size_t i = 0; i < rows_.n; ++i) {
            labels[i] = static_cast<std::int32_t>(place(rows_.data + i * rows_.p));
            work += (count() + 1) * rows_.p;
            if (work < a_while) continue;
            work = 0;
            if (parallel.interrupted && parallel.interrupted()) throw Interrupted{};
        }
    }

    std::size_t count() const { return sizes_.size(); }
    const std::vector<double>& sizes() const { return sizes_; }
    const std::vector<T>& centers() const { return centers_; }

private:
    const Rows<T>& rows_;
    double squared_radius_;
    std::vector<T> centers_, first_;  // the means, and the rows that opened clusters
    std::vector<double> offsets_;     // sums of differences from those rows
    std::vector<double> sizes_;

    std::size_t place(const T* x) {
        const std::size_t p = rows_.p;
        const Closest near = kernels<T>().closest(x, {centers_.data(), count(), p});
        if (count() == 0 || !(near.squared <= squared_radius_)) {
            centers_.insert(centers_.end(), x, x + p);
            first_.insert(first_.end(), x, x + p);
            offsets_.resize(offsets_.size() + p);
            sizes_.push_back(1);
            return count() - 1;
        }
        join(x, near.center * p, sizes_[near.center] += 1);
        return near.center;
    }

    // The mean of equal rows is that row, to the last bit.
    void join(const T* x, std::size_t at, double size) {
        for (std::size_t f = 0; f < rows_.p; ++f) {
            const double first = first_[at + f];
            offsets_[at + f] += x[f] - first;
            centers_[at + f] = static_cast<T>(first + offsets_[at + f] / size);
        }
    }
};

}  // namespace rtkm
