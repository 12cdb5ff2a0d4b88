// Registers, for kernels.cpp alone: everything here has internal linkage, so that code of
// one instruction set cannot be taken for that of another.
#pragma once
#include <limits>
#include <type_traits>

#include "kernels/pair.hpp"
#include "kernels/rows.hpp"

namespace rtkm {
namespace RTKM_ISA {
namespace {

// Two registers of 32 bytes hold one feature of a tile's rows; where registers have 16
// bytes two make one, so there is one source for all instruction sets.
template <class T>
struct Simd {
#ifdef __AVX2__
    typedef T Vec __attribute__((vector_size(32)));
#else
    using Vec = Pair<T>;
#endif
};

template <class T>
using Vec = typename Simd<T>::Vec;
template <class T>
using Mask = decltype(Vec<T>{} < Vec<T>{});

template <class T>
constexpr std::size_t width = 32 / sizeof(T);

template <class V>
constexpr bool is_pair = std::is_class_v<V>;

// As many numbers as a register holds, converted from another type.
template <class V, class U>
inline V load_as(const U* from) {
    if constexpr (is_pair<V>) {
        using Half = typename V::Half;
        return {load_as<Half>(from), load_as<Half>(from + V::half)};
    } else {
        constexpr std::size_t lanes = sizeof(V) / sizeof(V{}[0]);
        typedef U Several __attribute__((vector_size(lanes * sizeof(U))));
        Several v;
        __builtin_memcpy(&v, from, sizeof v);
        return __builtin_convertvector(v, V);
    }
}

template <class T>
inline Vec<T> load(const T* from) {
    return load_as<Vec<T>>(from);
}

template <class T>
inline Vec<double> load_as_double(const T* from) {
    return load_as<Vec<double>>(from);
}

template <class T>
inline void store(T* to, Vec<T> v) {
    if constexpr (is_pair<Vec<T>>) {
        __builtin_memcpy(to, &v.low, sizeof v.low);
        __builtin_memcpy(to + v.half, &v.high, sizeof v.high);
    } else {
        __builtin_memcpy(to, &v, sizeof v);
    }
}

template <class T>
inline Vec<T> broadcast(T x) {
    return x - Vec<T>{};
}

template <class V>
inline V root(V v) {
    if constexpr (is_pair<V>) return {root(v.low), root(v.high)};
    for (std::size_t l = 0; l < sizeof v / sizeof v[0]; ++l) v[l] = number_root(v[l]);
    return v;
}

template <class M>
inline bool any(M mask) {
    if constexpr (is_pair<M>) return any(mask.low | mask.high);
    std::uint64_t part[sizeof mask / 8], found = 0;
    __builtin_memcpy(part, &mask, sizeof mask);
    for (const std::uint64_t bits : part) found |= bits;
    return found != 0;
}

template <class M>
inline bool all(M mask) {
    return !any(mask == M{});
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

// The lanes of two registers, counted through, at these places.
template <int... place, class V>
inline V shuffle(V a, V b) {
    if constexpr (is_pair<V>) {
        const typename V::Half half[4] = {a.low, a.high, b.low, b.high};
        V v;
        std::size_t lane = 0;
        ((v[lane++] = half[place / V::half][place % V::half]), ...);
        return v;
    } else {
#if defined(__clang__) || __GNUC__ >= 12
        return __builtin_shufflevector(a, b, place...);
#else
        return __builtin_shuffle(a, b, decltype(a < b){place...});
#endif
    }
}

// Rows as registers in, features as registers out.
#ifdef __AVX2__
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
#else
typedef Pair<double>::Half Half64;
typedef Pair<float>::Half Half32;

inline void transpose(Half64& a, Half64& b) {
    const Half64 first = shuffle<0, 2>(a, b);
    b = shuffle<1, 3>(a, b);
    a = first;
}

inline void transpose(Half32& a, Half32& b, Half32& c, Half32& d) {
    const auto ab = shuffle<0, 4, 1, 5>(a, b), cd = shuffle<0, 4, 1, 5>(c, d);
    const auto ab2 = shuffle<2, 6, 3, 7>(a, b), cd2 = shuffle<2, 6, 3, 7>(c, d);
    a = shuffle<0, 1, 4, 5>(ab, cd);
    b = shuffle<2, 3, 6, 7>(ab, cd);
    c = shuffle<0, 1, 4, 5>(ab2, cd2);
    d = shuffle<2, 3, 6, 7>(ab2, cd2);
}

// Of four blocks the two off the diagonal change places.
inline void transpose(Vec<double> (&v)[4]) {
    for (int i = 0; i < 4; i += 2) {
        transpose(v[i].low, v[i + 1].low);
        transpose(v[i].high, v[i + 1].high);
    }
    for (int i = 0; i < 2; ++i) {
        const auto high = v[i].high;
        v[i].high = v[i + 2].low;
        v[i + 2].low = high;
    }
}

inline void transpose(Vec<float> (&v)[8]) {
    for (int i = 0; i < 8; i += 4) {
        transpose(v[i].low, v[i + 1].low, v[i + 2].low, v[i + 3].low);
        transpose(v[i].high, v[i + 1].high, v[i + 2].high, v[i + 3].high);
    }
    for (int i = 0; i < 4; ++i) {
        const auto high = v[i].high;
        v[i].high = v[i + 4].low;
        v[i + 4].low = high;
    }
}
#endif

}  // namespace
}  // namespace RTKM_ISA
}  // namespace rtkm
