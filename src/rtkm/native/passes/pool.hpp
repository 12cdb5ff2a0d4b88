// Memory of arrays that died, kept for the next pass of the same fit: fresh pages cost
// a large fit as much as the arithmetic. All of it is freed with the pool.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace rtkm {

// Large blocks ask for large pages, which are faulted in by the hundred and spare the
// processor most address look-ups.
constexpr std::size_t large_page = std::size_t{1} << 21;

inline std::align_val_t block_alignment(std::size_t bytes) {
    return std::align_val_t{bytes < 2 * large_page ? 64 : large_page};
}

inline void* allocate_block(std::size_t bytes) {
    const auto alignment = static_cast<std::size_t>(block_alignment(bytes));
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = ::operator new(rounded, block_alignment(bytes));
#ifdef __linux__
    if (alignment == large_page) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return memory;
}

inline void free_block(void* memory, std::size_t bytes) {
    ::operator delete(memory, block_alignment(bytes));
}

class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    ~Pool() {
        for (const auto& [bytes, memory] : free_) free_block(memory, bytes);
    }
    void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto found = free_.find(bytes);
        if (found == free_.end()) return allocate_block(bytes);
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

template <class T>
using SharedArray = std::shared_ptr<T[]>;

// An array whose memory goes back to the pool, while there is one, when its last owner
// lets go of it.
template <class T>
SharedArray<T> pooled(const std::shared_ptr<Pool>& pool, std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    const auto give_back = [home = std::weak_ptr<Pool>(pool), bytes](T* memory) {
        if (const auto owner = home.lock())
            owner->give_back(memory, bytes);
        else
            free_block(memory, bytes);
    };
    return SharedArray<T>(static_cast<T*>(pool->take(bytes)), give_back);
}

}  // namespace rtkm
