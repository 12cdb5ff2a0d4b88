// What all bindings share: arrays in and out, and work without the GIL.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

#include "passes/parallel.hpp"
#include "passes/pool.hpp"

namespace rtkm {
namespace python {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T> new_array(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t length : shape) size *= length;
    T* memory = new T[size];
    nb::capsule owner(memory, [](void* m) noexcept { delete[] static_cast<T*>(m); });
    return nb::ndarray<nb::numpy, T>(memory, shape, owner);
}

// Memory as an array that shares it, and so keeps it alive. A const type makes the array
// one that cannot be written to.
template <class View, class T>
nb::ndarray<nb::numpy, View> view_of(const SharedArray<T>& memory,
                                     std::initializer_list<std::size_t> shape) {
    static_assert(sizeof(View) == sizeof(T));
    nb::capsule owner(new SharedArray<T>(memory), [](void* shared) noexcept {
        delete static_cast<SharedArray<T>*>(shared);
    });
    return nb::ndarray<nb::numpy, View>(memory.get(), shape, owner);
}

template <class T>
nb::ndarray<nb::numpy, T> zeros(std::initializer_list<std::size_t> shape) {
    auto array = new_array<T>(shape);
    std::fill(array.data(), array.data() + array.size(), T{0});
    return array;
}

inline bool signal_is_pending() {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// Runs the work without the GIL; a Python signal handler that raised ends it.
template <class Work>
void without_gil(Work work) {
    try {
        nb::gil_scoped_release release;
        work();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

}  // namespace python
}  // namespace rtkm
