// Threads over a fixed partition of the rows.
//
// The parts depend on the number of rows only, and partial results are combined in the
// order of the parts, so every result is bitwise the same for any number of threads.
// Threads live for one pass: nothing is left behind that a fork could break.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "rows.hpp"

namespace rtkm {

struct Interrupted {};

struct Team {
    int n_threads = 1;
    bool (*interrupted)() = nullptr;  // asked now and then, by the calling thread only
};

inline std::size_t n_parts(std::size_t n_rows) {
    return std::clamp<std::size_t>(n_rows / 512, 1, 16);
}

// Boundaries are multiples of 16 rows, so that only the last tile can be short.
inline Range part_of(std::size_t n_rows, std::size_t part) {
    const std::size_t parts = n_parts(n_rows), step = (n_rows / parts + 15) / 16 * 16;
    return {std::min(n_rows, part * step),
            part + 1 == parts ? n_rows : std::min(n_rows, (part + 1) * step)};
}

// Calls body(part, range) for the rows of every part, in ranges of at most a few
// milliseconds each (`row_work` is the arithmetic of one row), so that an interrupt is
// noticed soon. Throws Interrupted.
template <class Body>
void for_each_part(const Team& team, std::size_t n_rows, std::size_t row_work,
                   Body body) {
    using clock = std::chrono::steady_clock;
    const std::size_t parts = n_parts(n_rows);
    const std::size_t stride =
        std::max<std::size_t>(16, (std::size_t{1} << 23) / (row_work + 1) / 16 * 16);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    auto last_asked = clock::now();
    const auto ask = [&] {
        if (!team.interrupted) return;
        const auto now = clock::now();
        if (now - last_asked < std::chrono::milliseconds(50)) return;
        last_asked = now;
        if (team.interrupted()) stop = true;
    };
    const auto work = [&](bool is_caller) {
        for (std::size_t part; (part = next++) < parts;) {
            const Range rows = part_of(n_rows, part);
            for (std::size_t i = rows.first; i < rows.last && !stop; i += stride) {
                body(part, Range{i, std::min(rows.last, i + stride)});
                if (is_caller) ask();
            }
        }
    };
    // below about 1e7 operations a second thread costs more than it brings
    const bool alone = team.n_threads < 2 || parts < 2 || n_rows * row_work < 10'000'000;
    if (alone) {
        work(true);
    } else {
        std::mutex mutex;
        std::condition_variable finished;
        std::size_t n_running = std::min<std::size_t>(team.n_threads, parts) - 1;
        std::vector<std::thread> threads;
        for (std::size_t t = n_running; t > 0; --t)
            threads.emplace_back([&] {
                work(false);
                const std::lock_guard lock(mutex);
                --n_running;
                finished.notify_one();
            });
        work(true);
        for (std::unique_lock lock(mutex); n_running > 0;) {
            finished.wait_for(lock, std::chrono::milliseconds(50));
            ask();
        }
        for (auto& thread : threads) thread.join();
    }
    if (stop) throw Interrupted{};
}

}  // namespace rtkm
