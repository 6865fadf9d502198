// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ML-KEM-768 (FIPS 203 section 4) as a table of named implementations.
//
// A polynomial's coefficients stand for their residues modulo q: any representative may stand for a
// residue, within the bound that each function gives. "Canonical" means 0 <= c < q. Products of the
// transform are in the order of algorithm 9 in every implementation, and none carries a Montgomery
// factor to the outside, so all of them can be compared.
//
// Nothing here branches on a coefficient or uses one as an address or divides it, but for
// sample_uniform, whose input is public.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coffer/os/cpu.h"

namespace coffer::crypto::internal {

inline constexpr int kQ = 3329;    // the modulus
inline constexpr size_t kN = 256;  // coefficients of a polynomial
inline constexpr size_t kK = 3;    // polynomials of a vector in ML-KEM-768
inline constexpr size_t kDu = 10;  // bits of a compressed coefficient of u
inline constexpr size_t kDv = 4;   // and of v

inline constexpr size_t kMessageSize = 32;
inline constexpr size_t kEncodedPolySize = kN * 12 / 8;
inline constexpr size_t kCompressedUSize = kN * kDu / 8;
inline constexpr size_t kCompressedVSize = kN * kDv / 8;
inline constexpr size_t kNoiseSize = 128;  // bytes that SamplePolyCBD takes for eta = 2

struct alignas(32) Poly {
  int16_t c[kN];
};

// An element of T_q made ready to be a factor many times. What is in it is each implementation's
// own.
struct alignas(32) PreparedPoly {
  int16_t straight[kN];
  int16_t swapped[kN];
};

using PolyVector = Poly[kK];
using PreparedVector = PreparedPoly[kK];

struct MlKemKernels {
  std::string_view name;
  os::SimdLevel level;

  // Algorithm 9, in place. Takes |c| <= q, gives |c| < 8q.
  void (*ntt)(Poly& f);
  // Algorithm 10, in place. Takes |c| < q, gives |c| < q.
  void (*inverse_ntt)(Poly& f);
  // Takes |c| < 8q.
  void (*prepare)(const Poly& f, PreparedPoly& prepared);
  // The sum of the products (algorithm 11) of two vectors. Takes canonical `a`, gives |c| < q.
  void (*inner_product)(const PolyVector& a, const PreparedVector& b, Poly& sum);
  // f + g and f - g, in `f`. The sums fit 16 bits.
  void (*add)(Poly& f, const Poly& g);
  void (*subtract)(Poly& f, const Poly& g);
  // Makes any coefficients canonical.
  void (*canonicalise)(Poly& f);

  // Algorithm 8 for eta = 2. Gives |c| <= 2.
  void (*sample_noise)(std::span<const uint8_t, kNoiseSize> bytes, Poly& f);
  // The loop of algorithm 7: turns groups of three of `bytes`, a multiple of 3, into coefficients
  // until the bytes or the places in `out` are used up. Returns how many it made; those are
  // canonical.
  size_t (*sample_uniform)(std::span<const uint8_t> bytes, std::span<int16_t> out);

  // ByteEncode and ByteDecode for d = 12 (algorithms 5 and 6). Encoding takes canonical
  // coefficients. Decoding gives 12-bit ones as they stand in the bytes: the caller checks or
  // canonicalises.
  void (*encode)(const Poly& f, std::span<uint8_t, kEncodedPolySize> bytes);
  void (*decode)(std::span<const uint8_t, kEncodedPolySize> bytes, Poly& f);
  // Compress and encode, decode and decompress (section 4.2.1). Compressing takes canonical
  // coefficients, decompressing gives them.
  void (*compress_u)(const Poly& f, std::span<uint8_t, kCompressedUSize> bytes);
  void (*decompress_u)(std::span<const uint8_t, kCompressedUSize> bytes, Poly& f);
  void (*compress_v)(const Poly& f, std::span<uint8_t, kCompressedVSize> bytes);
  void (*decompress_v)(std::span<const uint8_t, kCompressedVSize> bytes, Poly& f);
  // The same for one bit, which makes a message of a polynomial.
  void (*to_message)(const Poly& f, std::span<uint8_t, kMessageSize> message);
  void (*from_message)(std::span<const uint8_t, kMessageSize> message, Poly& f);
};

extern const MlKemKernels kMlKemPortable;
#if defined(__x86_64__)
extern const MlKemKernels kMlKemAvx2;
#endif

// All that this build has, portable first, by rising level. Only those up to os::CpuLevel() may
// run.
std::span<const MlKemKernels* const> MlKemImplementations();

// The best that may run here; chosen once.
const MlKemKernels& MlKem();

}  // namespace coffer::crypto::internal
