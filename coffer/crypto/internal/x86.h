// SPDX-License-Identifier: Apache-2.0
// The intrinsics of x86-64, and the function attributes that allow them. Attributes and not
// compiler flags: a flag on a file would also change the inline functions of shared headers, and
// the linker may keep that copy for every file. Lambdas do not inherit an attribute.
//
// A test build of files for AVX-512 defines COFFER_EMULATED_AVX512 as the name of a header that has
// the intrinsics as plain C++. The attributes are then left out, and any processor runs these
// files.
#pragma once

#if defined(__x86_64__)

#ifdef COFFER_EMULATED_AVX512

#include COFFER_EMULATED_AVX512
#define COFFER_AVX512
#define COFFER_AVX512_INLINE inline
#define COFFER_VNNI512
#define COFFER_VNNI512_INLINE inline
#define COFFER_VAES512
#define COFFER_VAES512_INLINE inline
namespace coffer::crypto::internal {
inline constexpr bool kAvx512IsEmulated = true;
}

#else

// GCC 12 warns about the values that its own headers leave undefined on purpose (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// One for each os::SimdLevel, and for what a file needs beside AVX-512. The inline forms are for
// what a loop is made of.
#define COFFER_AVX2 [[gnu::target("avx2,bmi,bmi2")]]
#define COFFER_AVX2_INLINE [[gnu::target("avx2,bmi,bmi2"), gnu::always_inline]] inline
#define COFFER_AVX512 [[gnu::target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]]
#define COFFER_AVX512_INLINE \
  [[gnu::target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline
#define COFFER_VNNI512 \
  [[gnu::target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]
#define COFFER_VNNI512_INLINE                                                   \
  [[gnu::target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), \
    gnu::always_inline]] inline
#define COFFER_VAES512 [[gnu::target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,aes,vaes")]]
#define COFFER_VAES512_INLINE                                                 \
  [[gnu::target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,aes,vaes"), \
    gnu::always_inline]] inline
namespace coffer::crypto::internal {
inline constexpr bool kAvx512IsEmulated = false;
}

#endif  // COFFER_EMULATED_AVX512

#endif  // defined(__x86_64__)
