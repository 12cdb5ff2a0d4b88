// Memory of arrays that died, kept for the next pass of the same fit: fresh pages cost
// a large fit as much as the arithmetic. All of it is freed with the pool.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>

namespace rtkm {

class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    ~Pool() {
        for (const auto& [bytes, memory] : free_) ::operator delete(memory);
    }
    void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto found = free_.find(bytes);
        if (found == free_.end()) return ::operator new(bytes);
        void* memory = found->second;
        free_.erase(found);
        return memory;
    }
    void give_back(void* memory, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        free_.emplace(bytes, memory);
    }

private:
    std::mutex mutex_;
    std::multimap<std::size_t, void*> free_;
};

}  // namespace rtkm
