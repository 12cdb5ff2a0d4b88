// Memory that kernels work in.
#pragma once
#include <memory>
#include <new>

#include "kernels/kernels.hpp"

namespace rtkm {

template <class T>
class ScratchMemory {
public:
    ScratchMemory(std::size_t p, std::size_t k, std::size_t s)
        : tile_(allocate(p)),
          distances_(allocate(k)),
          nearest_(allocate(s + 1)),
          order_(allocate(s + 1)) {}
    Workspace<T> workspace() {
        return {tile_.get(), distances_.get(), nearest_.get(), order_.get()};
    }

private:
    struct Free {
        void operator()(T* memory) const {
            ::operator delete[](memory, std::align_val_t{64});
        }
    };
    using Aligned = std::unique_ptr<T[], Free>;
    static Aligned allocate(std::size_t features) {
        const std::size_t bytes = features * tile_rows<T> * sizeof(T);
        return Aligned(static_cast<T*>(::operator new[](bytes, std::align_val_t{64})));
    }
    Aligned tile_, distances_, nearest_, order_;
};

}  // namespace rtkm
