// Where the rows of a table are, and how wide: sums are measured from there, and bounds
// in that unit, so that neither depends on the units and the offset of the columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/rows.hpp"

namespace rtkm {

struct Frame {
    std::vector<double> origin;  // with zeros up to a multiple of four, as kernels read
    double unit = 1;

    Frame() = default;

    // One that is given, as partitions of one table share theirs.
    Frame(const double* given, std::size_t p, double unit)
        : origin((p + 3) / 4 * 4), unit(unit) {
        std::copy_n(given, p, origin.begin());
    }

    // From the medians of some rows, which outliers among them do not move; CSR rows keep
    // to 0.
    template <class T>
    explicit Frame(const Rows<T>& rows) : origin((rows.p + 3) / 4 * 4) {
        if (rows.is_csr() || rows.n == 0) return;
        constexpr std::size_t most = 33;
        const std::size_t n = std::min(rows.n, most);
        std::vector<double> column(n), spread(rows.p);
        for (std::size_t f = 0; f < rows.p; ++f) {
            for (std::size_t i = 0; i < n; ++i)
                column[i] = rows.data[i * (rows.n / n) * rows.p + f];
            origin[f] = median(column);
            for (double& value : column) value = std::abs(value - origin[f]);
            spread[f] = median(column);
        }
        const double width = *std::max_element(spread.begin(), spread.end());
        // a power of two, so that dividing by it rounds nothing; and so large that what
        // underflows in a squared distance is less than bounds are rounded by
        const double denormal = std::numeric_limits<T>::denorm_min();
        const double least = std::ldexp(std::sqrt(denormal * rows.p), 62);
        if (width > 0) unit = std::ldexp(1.0, std::ilogb(std::max(width, least)));
    }

private:
    static double median(std::vector<double>& values) {
        const auto middle = values.begin() + values.size() / 2;
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    }
};

}  // namespace rtkm
