// Threads over a fixed partition of the rows.
//
// The parts depend on the table only, and partial results are combined in the order of
// the parts, so every result is bitwise the same for any number of threads. Threads live
// for one pass: nothing is left behind that a fork could break.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/rows.hpp"

namespace rtkm {

struct Interrupted {};

struct Parallel {
    int n_threads = 1;
    bool (*interrupted)() = nullptr;  // asked now and then, by the calling thread only
};

// Rows cut into parts: at most 16, and fewer where each needs `numbers_each` for its
// partial sums and those are many, or where a part has not at least `rows_each`.
struct Partition {
    std::size_t n_rows, n_parts;

    explicit Partition(std::size_t n_rows, std::size_t numbers_each = 0,
                       std::size_t rows_each = 512)
        : n_rows(n_rows) {
        constexpr std::size_t affordable = std::size_t{1} << 23;
        const std::size_t most =
            std::clamp<std::size_t>(affordable / (numbers_each + 1), 4, 16);
        n_parts = std::clamp<std::size_t>(n_rows / rows_each, 1, most);
    }
    // Boundaries are multiples of 16 rows, so that only the last tile can be short.
    Range operator[](std::size_t part) const {
        const std::size_t step = (n_rows / n_parts + 15) / 16 * 16;
        return {std::min(n_rows, part * step),
                part + 1 == n_parts ? n_rows : std::min(n_rows, (part + 1) * step)};
    }
};

// One pass under way: parts still to be taken, and what ended it early.
template <class Body>
class Pass {
public:
    Pass(const Parallel& parallel, const Partition& partition, std::size_t row_work,
         Body& body)
        : parallel_(parallel), partition_(partition), body_(body) {
        // a few milliseconds at a time, so that an interrupt is noticed soon
        constexpr std::size_t a_while = std::size_t{1} << 23;
        stride_ = std::max<std::size_t>(16, a_while / (row_work + 1) / 16 * 16);
    }

    void run_alone() {
        work(true);
        finish();
    }

    void run_with(std::size_t n_helpers) {
        std::vector<std::thread> helpers;
        helpers.reserve(n_helpers);
        for (std::size_t h = 0; h < n_helpers; ++h) {
            change_running(+1);
            try {
                helpers.emplace_back([this] {
                    work(false);
                    change_running(-1);
                });
            } catch (const std::system_error&) {  // no more threads to be had
                change_running(-1);
                break;
            }
        }
        work(true);
        for (std::unique_lock lock(mutex_); n_running_ > 0;) {
            finished_.wait_for(lock, std::chrono::milliseconds(50));
            lock.unlock();
            ask();
            lock.lock();
        }
        for (auto& helper : helpers) helper.join();
        finish();
    }

private:
    using Clock = std::chrono::steady_clock;

    const Parallel& parallel_;
    const Partition& partition_;
    Body& body_;
    std::size_t stride_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stop_{false};
    Clock::time_point last_asked_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable finished_;
    std::size_t n_running_ = 0;
    std::exception_ptr error_;

    void work(bool is_caller) noexcept {
        try {
            for (std::size_t part; (part = next_++) < partition_.n_parts;) {
                const Range rows = partition_[part];
                for (std::size_t i = rows.first; i < rows.last && !stop_; i += stride_) {
                    body_(part, Range{i, std::min(rows.last, i + stride_)});
                    if (is_caller) ask();
                }
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            error_ = std::current_exception();
            stop_ = true;
        }
    }

    void ask() {
        if (stop_ || !parallel_.interrupted) return;
        const auto now = Clock::now();
        if (now - last_asked_ < std::chrono::milliseconds(50)) return;
        last_asked_ = now;
        if (parallel_.interrupted()) stop_ = true;
    }

    void change_running(int by) {
        const std::lock_guard lock(mutex_);
        n_running_ += by;
        finished_.notify_one();
    }

    void finish() const {
        if (error_) std::rethrow_exception(error_);
        if (stop_) throw Interrupted{};
    }
};

// Calls body(part, range) for all rows of every part; `row_work` is the arithmetic of
// one row. Throws Interrupted, and what the body throws.
template <class Body>
void for_each_part(const Parallel& parallel, const Partition& partition,
                   std::size_t row_work, Body body) {
    Pass<Body> pass(parallel, partition, row_work, body);
    const std::size_t n_threads =
        std::min<std::size_t>(std::max(parallel.n_threads, 1), partition.n_parts);
    // below about 1e7 operations a second thread costs more than it brings; to fetch a
    // row and to note what was found takes as long as so many
    constexpr std::size_t per_row = 80;
    if (n_threads < 2 || partition.n_rows * (row_work + per_row) < 10'000'000)
        pass.run_alone();
    else
        pass.run_with(n_threads - 1);
}

}  // namespace rtkm
