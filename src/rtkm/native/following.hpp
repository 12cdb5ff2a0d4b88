// What a pass that follows another knows, and what it reports.
#pragma once
#include "rows.hpp"

namespace rtkm {

// A pass of a method that trims: what it knows, and where its answers go.
template <class T>
struct Following {
    Rows<T> rows;
    Centers<T> centers;
    Watch last, out;     // no labels in the last: nothing is known
    const Drift* drift;  // null: all rows meet all centers
    Window window;
    float sure_reach, gone_reach;  // roots of costs that are surely below it, and above
    // from squared distances to those in units of the table, rounded up and down
    double per_square_up, per_square_down;
};

// What a pass found in one part of the rows, so far.
struct PassReport {
    Moments moments;  // what came to each cluster, less what went
    Undecided undecided;
    double sure_mass = 0;  // of rows that are surely kept
    std::size_t n_changed = 0;
};

}  // namespace rtkm
