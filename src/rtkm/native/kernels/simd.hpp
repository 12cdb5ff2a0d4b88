// Registers, for kernels.cpp alone: everything here has internal linkage, so that code of
// one instruction set cannot be taken for that of another.
#pragma once
#include <limits>
#include <type_traits>

#include "kernels/rows.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Two registers of 32 bytes hold one feature of a tile's rows; a compiler without AVX
// splits each in two, so there is one source for both instruction sets.
template <class T>
struct Simd;
template <>
struct Simd<double> {
    typedef double Vec __attribute__((vector_size(32)));
    typedef std::int64_t Mask __attribute__((vector_size(32)));
};
template <>
struct Simd<float> {
    typedef float Vec __attribute__((vector_size(32)));
    typedef std::int32_t Mask __attribute__((vector_size(32)));
};

template <class T>
using Vec = typename Simd<T>::Vec;
template <class T>
using Mask = typename Simd<T>::Mask;

template <class T>
constexpr std::size_t width = 32 / sizeof(T);

template <class T>
inline Vec<T> load(const T* from) {
    Vec<T> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

template <class T>
inline void store(T* to, Vec<T> v) {
    __builtin_memcpy(to, &v, sizeof v);
}

template <class T>
inline Vec<T> broadcast(T x) {
    return x - Vec<T>{};
}

inline Vec<double> root(Vec<double> v) {
    for (std::size_t l = 0; l < width<double>; ++l) v[l] = __builtin_sqrt(v[l]);
    return v;
}

inline Vec<float> root(Vec<float> v) {
    for (std::size_t l = 0; l < width<float>; ++l) v[l] = __builtin_sqrtf(v[l]);
    return v;
}

template <class M>
inline bool any(M mask) {
    std::uint64_t part[4];
    __builtin_memcpy(part, &mask, sizeof mask);
    return (part[0] | part[1] | part[2] | part[3]) != 0;
}

template <class M>
inline bool all(M mask) {
    std::uint64_t part[4];
    __builtin_memcpy(part, &mask, sizeof mask);
    return (part[0] & part[1] & part[2] & part[3]) == ~std::uint64_t{0};
}

// The lanes of two registers, counted through, at these places.
template <int... place, class V>
inline V shuffle(V a, V b) {
#if defined(__clang__) || __GNUC__ >= 12
    return __builtin_shufflevector(a, b, place...);
#else
    return __builtin_shuffle(a, b, decltype(a < b){place...});
#endif
}

// Eight bytes, as numbers.
inline Mask<float> load_bytes(const std::uint8_t* from) {
    typedef std::uint8_t Bytes __attribute__((vector_size(8)));
    Bytes bytes;
    __builtin_memcpy(&bytes, from, sizeof bytes);
    return __builtin_convertvector(bytes, Mask<float>);
}

// table[max(place, 0)] for eight places, `stride` apart.
inline Vec<float> gather(const float* table, const std::int32_t* place,
                         std::size_t stride) {
    Vec<float> v;
    for (std::size_t l = 0; l < width<float>; ++l) {
        const std::int32_t at = place[l * stride];
        v[l] = table[at < 0 ? 0 : at];
    }
    return v;
}

inline Vec<double> load_as_double(const double* x) {
    return load(x);
}

inline Vec<double> load_as_double(const float* x) {
    typedef float Half __attribute__((vector_size(16)));
    Half v;
    __builtin_memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, Vec<double>);
}

// Rows as registers in, features as registers out.
inline void transpose(Vec<double> (&v)[4]) {
    const auto a = shuffle<0, 4, 2, 6>(v[0], v[1]);
    const auto b = shuffle<1, 5, 3, 7>(v[0], v[1]);
    const auto c = shuffle<0, 4, 2, 6>(v[2], v[3]);
    const auto d = shuffle<1, 5, 3, 7>(v[2], v[3]);
    v[0] = shuffle<0, 1, 4, 5>(a, c);
    v[1] = shuffle<0, 1, 4, 5>(b, d);
    v[2] = shuffle<2, 3, 6, 7>(a, c);
    v[3] = shuffle<2, 3, 6, 7>(b, d);
}

inline void transpose(Vec<float> (&v)[8]) {
    Vec<float> t[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = shuffle<0, 8, 1, 9, 4, 12, 5, 13>(v[i], v[i + 1]);
        t[i + 1] = shuffle<2, 10, 3, 11, 6, 14, 7, 15>(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int h = 0; h < 2; ++h) {
            const auto a = t[i + h], b = t[i + h + 2];
            v[i + 2 * h] = shuffle<0, 1, 8, 9, 4, 5, 12, 13>(a, b);
            v[i + 2 * h + 1] = shuffle<2, 3, 10, 11, 6, 7, 14, 15>(a, b);
        }
    for (int i = 0; i < 4; ++i) {
        t[i] = shuffle<0, 1, 2, 3, 8, 9, 10, 11>(v[i], v[i + 4]);
        t[i + 4] = shuffle<4, 5, 6, 7, 12, 13, 14, 15>(v[i], v[i + 4]);
    }
    for (int i = 0; i < 8; ++i) v[i] = t[i];
}

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
