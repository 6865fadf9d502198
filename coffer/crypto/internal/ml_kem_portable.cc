// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ML-KEM-768 in portable C++, to be read next to FIPS 203 section 4: the
// reference for the other files. All coefficients it makes are canonical.
#include <array>

#include "coffer/base/ct.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/internal/ml_kem_constants.h"
#include "coffer/crypto/internal/ml_kem_kernels.h"

namespace coffer::crypto::internal {
namespace {

constexpr uint32_t kModulus = kQ;

// x - q if x >= q, for x < 2q.
uint32_t SubtractOnce(uint32_t x) {
  const uint32_t difference = x - kModulus;
  const uint32_t negative = ct::ValueBarrier(0U - (difference >> 31));  // all ones or zero
  return difference + (negative & kModulus);
}

// x mod q for x < 2^26, by multiplying with the reciprocal: processors divide faster or slower
// depending on the numbers. The quotient is right or one too small: m / 2^38 is below 1 / q by less
// than 2^-38, so the product is too small by less than 2^26 / 2^38.
uint32_t Reduce(uint32_t x) {
  constexpr uint64_t kReciprocal = (uint64_t{1} << 38) / kModulus;
  const uint32_t quotient = static_cast<uint32_t>((x * kReciprocal) >> 38);
  return SubtractOnce(x - quotient * kModulus);
}

uint32_t Multiply(uint32_t a, uint32_t b) { return Reduce(a * b); }
uint32_t Add(uint32_t a, uint32_t b) { return SubtractOnce(a + b); }
uint32_t Subtract(uint32_t a, uint32_t b) { return SubtractOnce(a + kModulus - b); }

// The canonical representative of any 16-bit one.
uint32_t FromSigned(int16_t c) {
  constexpr int kLift = 10 * kQ;  // more than 2^15
  return Reduce(static_cast<uint32_t>(c + kLift));
}

int16_t ToCoefficient(uint32_t x) { return static_cast<int16_t>(x); }

void Canonicalise(Poly& f) {
  for (int16_t& c : f.c) c = ToCoefficient(FromSigned(c));
}

std::array<uint32_t, kN> LoadCanonical(const Poly& f) {
  std::array<uint32_t, kN> values;
  for (size_t i = 0; i < kN; ++i) values[i] = FromSigned(f.c[i]);
  return values;
}

void Store(std::array<uint32_t, kN>& values, Poly& f) {
  for (size_t i = 0; i < kN; ++i) f.c[i] = ToCoefficient(values[i]);
  SecureWipe(values.data(), sizeof(values));
}

// Algorithm 9
void Ntt(Poly& poly) {
  std::array<uint32_t, kN> f = LoadCanonical(poly);
  size_t i = 1;
  for (size_t len = 128; len >= 2; len /= 2) {
    for (size_t start = 0; start < kN; start += 2 * len) {
      const uint32_t zeta = kZetas[i++];
      for (size_t j = start; j < start + len; ++j) {
        const uint32_t t = Multiply(zeta, f[j + len]);
        f[j + len] = Subtract(f[j], t);
        f[j] = Add(f[j], t);
      }
    }
  }
  Store(f, poly);
}

// Algorithm 10
void InverseNtt(Poly& poly) {
  std::array<uint32_t, kN> f = LoadCanonical(poly);
  size_t i = 127;
  for (size_t len = 2; len <= 128; len *= 2) {
    for (size_t start = 0; start < kN; start += 2 * len) {
      const uint32_t zeta = kZetas[i--];
      for (size_t j = start; j < start + len; ++j) {
        const uint32_t t = f[j];
        f[j] = Add(t, f[j + len]);
        f[j + len] = Multiply(zeta, Subtract(f[j + len], t));
      }
    }
  }
  for (uint32_t& c : f) c = Multiply(c, kInverseOf128);
  Store(f, poly);
}

void Prepare(const Poly& f, PreparedPoly& prepared) {
  for (size_t i = 0; i < kN; ++i) prepared.straight[i] = ToCoefficient(FromSigned(f.c[i]));
}

// Algorithms 11 and 12, added up.
void InnerProduct(const PolyVector& a, const PreparedVector& b, Poly& sum) {
  for (size_t i = 0; i < kN / 2; ++i) {
    uint32_t c0 = 0;
    uint32_t c1 = 0;
    for (size_t j = 0; j < kK; ++j) {
      const uint32_t a0 = FromSigned(a[j].c[2 * i]);
      const uint32_t a1 = FromSigned(a[j].c[2 * i + 1]);
      const uint32_t b0 = FromSigned(b[j].straight[2 * i]);
      const uint32_t b1 = FromSigned(b[j].straight[2 * i + 1]);
      c0 = Add(c0, Reduce(a0 * b0 + a1 * Multiply(b1, kGammas[i])));
      c1 = Add(c1, Reduce(a0 * b1 + a1 * b0));
    }
    sum.c[2 * i] = ToCoefficient(c0);
    sum.c[2 * i + 1] = ToCoefficient(c1);
  }
}

void AddPoly(Poly& f, const Poly& g) {
  for (size_t i = 0; i < kN; ++i)
    f.c[i] = ToCoefficient(Add(FromSigned(f.c[i]), FromSigned(g.c[i])));
}

void SubtractPoly(Poly& f, const Poly& g) {
  for (size_t i = 0; i < kN; ++i) {
    f.c[i] = ToCoefficient(Subtract(FromSigned(f.c[i]), FromSigned(g.c[i])));
  }
}

uint32_t Bit(std::span<const uint8_t> bytes, size_t index) {
  return (static_cast<uint32_t>(bytes[index / 8]) >> (index % 8)) & 1;
}

// Algorithm 8, eta = 2
void SampleNoise(std::span<const uint8_t, kNoiseSize> bytes, Poly& f) {
  for (size_t i = 0; i < kN; ++i) {
    const uint32_t x = Bit(bytes, 4 * i) + Bit(bytes, 4 * i + 1);
    const uint32_t y = Bit(bytes, 4 * i + 2) + Bit(bytes, 4 * i + 3);
    f.c[i] = static_cast<int16_t>(static_cast<int32_t>(x) - static_cast<int32_t>(y));
  }
}

// Algorithm 7, steps 5 to 14; the bytes are public
size_t SampleUniform(std::span<const uint8_t> bytes, std::span<int16_t> out) {
  size_t made = 0;
  for (size_t i = 0; i + 3 <= bytes.size() && made < out.size(); i += 3) {
    const int d1 = bytes[i] + 256 * (bytes[i + 1] % 16);
    const int d2 = bytes[i + 1] / 16 + 16 * bytes[i + 2];
    if (d1 < kQ) out[made++] = static_cast<int16_t>(d1);
    if (d2 < kQ && made < out.size()) out[made++] = static_cast<int16_t>(d2);
  }
  return made;
}

// Algorithm 5: bit j of coefficient i is bit d * i + j of the bytes.
template <size_t kD, class Value>
void ByteEncode(Value value, std::span<uint8_t> bytes) {
  for (uint8_t& byte : bytes) byte = 0;
  for (size_t i = 0; i < kN; ++i) {
    const uint32_t c = value(i);
    for (size_t j = 0; j < kD; ++j) {
      const size_t bit = kD * i + j;
      bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | (((c >> j) & 1) << (bit % 8)));
    }
  }
}

// Coefficient i of algorithm 6, before its reduction modulo q.
template <size_t kD>
uint32_t ByteDecode(std::span<const uint8_t> bytes, size_t i) {
  uint32_t c = 0;
  for (size_t j = 0; j < kD; ++j) c |= Bit(bytes, kD * i + j) << j;
  return c;
}

// Compress (4.7): 2^d x / q, rounded, modulo 2^d; by the reciprocal, as in Reduce. What is rounded
// down is n / q for n = 2^d x + (q - 1) / 2 < 2^22, and the product is below n / q + 1 / q.
template <size_t kD>
uint32_t Compress(uint32_t x) {
  constexpr uint64_t kReciprocal = (uint64_t{1} << 35) / kModulus + 1;
  static_assert((kReciprocal * kModulus - (uint64_t{1} << 35)) << 22 < uint64_t{1} << 35);
  const uint64_t n = (static_cast<uint64_t>(x) << kD) + (kModulus - 1) / 2;
  return static_cast<uint32_t>((n * kReciprocal) >> 35) & ((1U << kD) - 1);
}

// Decompress (4.8): q y / 2^d, rounded.
template <size_t kD>
uint32_t Decompress(uint32_t y) {
  return (kModulus * y + (1U << (kD - 1))) >> kD;
}

void Encode(const Poly& f, std::span<uint8_t, kEncodedPolySize> bytes) {
  ByteEncode<12>([&](size_t i) { return static_cast<uint32_t>(f.c[i]); }, bytes);
}

void Decode(std::span<const uint8_t, kEncodedPolySize> bytes, Poly& f) {
  for (size_t i = 0; i < kN; ++i) f.c[i] = ToCoefficient(ByteDecode<12>(bytes, i));
}

template <size_t kD>
void CompressPoly(const Poly& f, std::span<uint8_t, kN * kD / 8> bytes) {
  ByteEncode<kD>([&](size_t i) { return Compress<kD>(static_cast<uint32_t>(f.c[i])); }, bytes);
}

template <size_t kD>
void DecompressPoly(std::span<const uint8_t, kN * kD / 8> bytes, Poly& f) {
  for (size_t i = 0; i < kN; ++i) {
    f.c[i] = ToCoefficient(Decompress<kD>(ct::ValueBarrier(ByteDecode<kD>(bytes, i))));
  }
}

}  // namespace

const MlKemKernels kMlKemPortable = {
    .name = "portable",
    .level = os::SimdLevel::kPortable,
    .ntt = Ntt,
    .inverse_ntt = InverseNtt,
    .prepare = Prepare,
    .inner_product = InnerProduct,
    .add = AddPoly,
    .subtract = SubtractPoly,
    .canonicalise = Canonicalise,
    .sample_noise = SampleNoise,
    .sample_uniform = SampleUniform,
    .encode = Encode,
    .decode = Decode,
    .compress_u = CompressPoly<kDu>,
    .decompress_u = DecompressPoly<kDu>,
    .compress_v = CompressPoly<kDv>,
    .decompress_v = DecompressPoly<kDv>,
    .to_message = CompressPoly<1>,
    .from_message = DecompressPoly<1>,
};

}  // namespace coffer::crypto::internal
