// SPDX-License-Identifier: Apache-2.0
// The kernels of ML-KEM: the portable ones against their definitions, and every implementation that
// may run here against them, within the bounds of the contract.
#include "coffer/crypto/internal/ml_kem_kernels.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/crypto/internal/ml_kem_constants.h"

namespace coffer::crypto::internal {
namespace {

constexpr int kCases = 10000;

std::vector<const MlKemKernels*> Runnable() {
  std::vector<const MlKemKernels*> runnable;
  for (const MlKemKernels* kernels : MlKemImplementations()) {
    if (kernels->level <= os::CpuLevel()) runnable.push_back(kernels);
  }
  return runnable;
}

int ModQ(int c) { return (c % kQ + kQ) % kQ; }

// Random coefficients from `low` to `high`; every sixteenth polynomial is all extremes.
class Source {
 public:
  Poly Next(int low, int high) {
    Poly f;
    const bool extreme = random_() % 16 == 0;
    std::uniform_int_distribution<int> any(low, high);
    for (int16_t& c : f.c) {
      c = static_cast<int16_t>(extreme ? (random_() % 2 == 0 ? low : high) : any(random_));
    }
    return f;
  }
  template <size_t kSize>
  std::array<uint8_t, kSize> Bytes() {
    std::array<uint8_t, kSize> bytes;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }
  uint64_t Number() { return random_(); }

 private:
  std::mt19937_64 random_{20240813};
};

void ExpectSameResidues(const Poly& f, const Poly& expected, int bound) {
  for (size_t i = 0; i < kN; ++i) {
    ASSERT_EQ(ModQ(f.c[i]), ModQ(expected.c[i])) << "coefficient " << i;
    ASSERT_LT(std::abs(int{f.c[i]}), bound) << "coefficient " << i;
  }
}

void ExpectSame(const Poly& f, const Poly& expected) {
  for (size_t i = 0; i < kN; ++i) ASSERT_EQ(f.c[i], expected.c[i]) << "coefficient " << i;
}

void ExpectCanonical(const Poly& f) {
  for (int16_t c : f.c) {
    ASSERT_GE(c, 0);
    ASSERT_LT(c, kQ);
  }
}

TEST(MlKemKernelsTest, TableIsOrderedAndNamesWhatRuns) {
  const auto table = MlKemImplementations();
  ASSERT_FALSE(table.empty());
  EXPECT_EQ(table[0], &kMlKemPortable);
  for (size_t i = 1; i < table.size(); ++i) EXPECT_LT(table[i - 1]->level, table[i]->level);
  for (const MlKemKernels* kernels : table) {
    const bool runs = kernels->level <= os::CpuLevel();
    std::cout << "ml-kem " << kernels->name << (runs ? ": runs here" : ": cannot run here") << '\n';
  }
  EXPECT_EQ(&MlKem(), Runnable().back());
}

// The transform by its meaning: coefficients 2i and 2i + 1 are f modulo X^2 - gamma_i (4.12).
TEST(MlKemKernelsTest, TransformIsEvaluation) {
  Source source;
  for (const MlKemKernels* kernels : Runnable()) {
    SCOPED_TRACE(kernels->name);
    const Poly f = source.Next(0, kQ - 1);
    Poly transformed = f;
    kernels->ntt(transformed);
    for (size_t i = 0; i < kN / 2; ++i) {
      int even = 0;
      int odd = 0;
      for (size_t j = kN / 2; j-- > 0;) {
        even = (even * kGammas[i] + f.c[2 * j]) % kQ;
        odd = (odd * kGammas[i] + f.c[2 * j + 1]) % kQ;
      }
      ASSERT_EQ(ModQ(transformed.c[2 * i]), even) << i;
      ASSERT_EQ(ModQ(transformed.c[2 * i + 1]), odd) << i;
    }
    kernels->canonicalise(transformed);
    kernels->inverse_ntt(transformed);
    ExpectSameResidues(transformed, f, kQ);
  }
}

TEST(MlKemKernelsTest, TransformsAgreeWithPortable) {
  for (const MlKemKernels* kernels : Runnable()) {
    SCOPED_TRACE(kernels->name);
    Source source;
    for (int i = 0; i < kCases; ++i) {
      const Poly f = source.Next(-kQ, kQ);
      Poly result = f;
      Poly expected = f;
      kernels->ntt(result);
      kMlKemPortable.ntt(expected);
      ASSERT_NO_FATAL_FAILURE(ExpectSameResidues(result, expected, 8 * kQ));

      const Poly g = source.Next(-kQ + 1, kQ - 1);
      result = g;
      expected = g;
      kernels->inverse_ntt(result);
      kMlKemPortable.inverse_ntt(expected);
      ASSERT_NO_FATAL_FAILURE(ExpectSameResidues(result, expected, kQ));
    }
  }
}

TEST(MlKemKernelsTest, InnerProductAgreesWithPortable) {
  for (const MlKemKernels* kernels : Runnable()) {
    SCOPED_TRACE(kernels->name);
    Source source;
    for (int i = 0; i < kCases; ++i) {
      PolyVector a;
      PreparedVector b;
      PreparedVector expected_b;
      for (size_t j = 0; j < kK; ++j) {
        a[j] = source.Next(0, kQ - 1);
        const Poly f = source.Next(-8 * kQ + 1, 8 * kQ - 1);
        kernels->prepare(f, b[j]);
        kMlKemPortable.prepare(f, expected_b[j]);
      }
      Poly result;
      Poly expected;
      kernels->inner_product(a, b, result);
      kMlKemPortable.inner_product(a, expected_b, expected);
      ASSERT_NO_FATAL_FAILURE(ExpectSameResidues(result, expected, kQ));
    }
  }
}

// The portable product against a product of polynomials modulo X^256 + 1.
TEST(MlKemKernelsTest, InnerProductMultipliesPolynomials) {
  Source source;
  PolyVector a;
  PreparedVector b;
  std::array<int, kN> expected{};
  for (size_t j = 0; j < kK; ++j) {
    a[j] = source.Next(0, kQ - 1);
    Poly g = source.Next(0, kQ - 1);
    for (size_t i = 0; i < kN; ++i) {
      for (size_t k = 0; k < kN; ++k) {
        const int product = a[j].c[i] * g.c[k] % kQ;
        int& place = expected[(i + k) % kN];
        place = ModQ(i + k < kN ? place + product : place - product);
      }
    }
    kMlKemPortable.ntt(a[j]);
    kMlKemPortable.ntt(g);
    kMlKemPortable.prepare(g, b[j]);
  }
  Poly sum;
  kMlKemPortable.inner_product(a, b, sum);
  kMlKemPortable.inverse_ntt(sum);
  for (size_t i = 0; i < kN; ++i) ASSERT_EQ(sum.c[i], expected[i]) << i;
}

TEST(MlKemKernelsTest, AddSubtractAndCanonicalise) {
  for (const MlKemKernels* kernels : Runnable()) {
    SCOPED_TRACE(kernels->name);
    Source source;
    for (int i = 0; i < kCases; ++i) {
      const Poly f = source.Next(-16000, 16000);
      const Poly g = source.Next(-16000, 16000);
      Poly sum = f;
      Poly difference = f;
      kernels->add(sum, g);
      kernels->subtract(difference, g);
      for (size_t j = 0; j < kN; ++j) {
        ASSERT_EQ(ModQ(sum.c[j]), ModQ(f.c[j] + g.c[j]));
        ASSERT_EQ(ModQ(difference.c[j]), ModQ(f.c[j] - g.c[j]));
      }
    }
    // Every 16-bit number.
    for (int base = -32768; base < 32768; base += static_cast<int>(kN)) {
      Poly f;
      for (size_t j = 0; j < kN; ++j) f.c[j] = static_cast<int16_t>(base + static_cast<int>(j));
      kernels->canonicalise(f);
      ASSERT_NO_FATAL_FAILURE(ExpectCanonical(f));
      for (size_t j = 0; j < kN; ++j) ASSERT_EQ(f.c[j], ModQ(base + static_cast<int>(j)));
    }
  }
}

TEST(MlKemKernelsTest, NoiseAgreesWithPortable) {
  for (const MlKemKernels* kernels : Runnable()) {
    SCOPED_TRACE(kernels->name);
    Source source;
    for (int i = 0; i < kCases; ++i) {
      const auto bytes = source.Bytes<kNoiseSize>();
      Poly result;
      Poly expected;
      kernels->sample_noise(bytes, result);
      kMlKemPortable.sample_noise(bytes, expected);
      ASSERT_NO_FATAL_FAILURE(ExpectSameResidues(result, expected, 3));
    }
  }
}

// Any multiple of three bytes into any number of places, exactly as much of both as there is; bytes
// with many numbers that are refused, too. AddressSanitizer watches the ends.
TEST(MlKemKernelsTest, UniformSamplingAgreesWithPortable) {
  for (const MlKemKernels* kernels : Runnable()) {
    SCOPED_TRACE(kernels->name);
    Source source;
    for (int i = 0; i < kCases; ++i) {
      std::vector<uint8_t> bytes(3 * (source.Number() % 200));
      const bool mostly_refused = i % 4 == 0;
      for (uint8_t& byte : bytes) {
        byte = static_cast<uint8_t>(source.Number() | (mostly_refused ? 0xcd : 0));
      }
      std::vector<int16_t> result(source.Number() % (kN + 1), -1);
      std::vector<int16_t> expected = result;
      const size_t made = kernels->sample_uniform(bytes, result);
      ASSERT_EQ(made, kMlKemPortable.sample_uniform(bytes, expected));
      result.resize(made);
      expected.resize(made);
      ASSERT_EQ(result, expected);
    }
  }
}

template <size_t kSize>
void ExpectCodingAgrees(void (*encode)(const Poly&, std::span<uint8_t, kSize>),
                        void (*decode)(std::span<const uint8_t, kSize>, Poly&),
                        void (*expected_encode)(const Poly&, std::span<uint8_t, kSize>),
                        void (*expected_decode)(std::span<const uint8_t, kSize>, Poly&)) {
  Source source;
  for (int i = 0; i < kCases; ++i) {
    Poly f = source.Next(0, kQ - 1);
    // Among the cases every canonical coefficient in every place of a vector.
    if (i < kQ) {
      for (size_t j = 0; j < kN; ++j) f.c[j] = static_cast<int16_t>((i + static_cast<int>(j)) % kQ);
    }
    std::array<uint8_t, kSize> result;
    std::array<uint8_t, kSize> expected;
    encode(f, result);
    expected_encode(f, expected);
    ASSERT_EQ(result, expected);

    const auto bytes = source.Bytes<kSize>();
    Poly decoded;
    Poly expected_decoded;
    decode(bytes, decoded);
    expected_decode(bytes, expected_decoded);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(decoded, expected_decoded));
  }
}

TEST(MlKemKernelsTest, CodingAgreesWithPortable) {
  for (const MlKemKernels* k : Runnable()) {
    SCOPED_TRACE(k->name);
    const MlKemKernels& p = kMlKemPortable;
    ExpectCodingAgrees<kEncodedPolySize>(k->encode, k->decode, p.encode, p.decode);
    ExpectCodingAgrees<kCompressedUSize>(k->compress_u, k->decompress_u, p.compress_u,
                                         p.decompress_u);
    ExpectCodingAgrees<kCompressedVSize>(k->compress_v, k->decompress_v, p.compress_v,
                                         p.decompress_v);
    ExpectCodingAgrees<kMessageSize>(k->to_message, k->from_message, p.to_message, p.from_message);
  }
}

// Compression by its definition, with division, for every coefficient.
TEST(MlKemKernelsTest, CompressionRoundsAsDefined) {
  const auto rounded = [](int numerator, int denominator) {
    return (2 * numerator + denominator) / (2 * denominator);
  };
  for (int x = 0; x < kQ; ++x) {
    Poly f{};
    f.c[0] = static_cast<int16_t>(x);
    std::array<uint8_t, kCompressedUSize> u;
    std::array<uint8_t, kCompressedVSize> v;
    std::array<uint8_t, kMessageSize> m;
    kMlKemPortable.compress_u(f, u);
    kMlKemPortable.compress_v(f, v);
    kMlKemPortable.to_message(f, m);
    ASSERT_EQ(u[0] + 256 * (u[1] & 3), rounded(1024 * x, kQ) % 1024) << x;
    ASSERT_EQ(v[0] & 15, rounded(16 * x, kQ) % 16) << x;
    ASSERT_EQ(m[0] & 1, rounded(2 * x, kQ) % 2) << x;
  }
  for (int y = 0; y < 1024; ++y) {
    Poly f;
    std::array<uint8_t, kCompressedUSize> u{static_cast<uint8_t>(y), static_cast<uint8_t>(y >> 8)};
    kMlKemPortable.decompress_u(u, f);
    ASSERT_EQ(f.c[0], rounded(kQ * y, 1024)) << y;
    std::array<uint8_t, kCompressedVSize> v{static_cast<uint8_t>(y & 15)};
    kMlKemPortable.decompress_v(v, f);
    ASSERT_EQ(f.c[0], rounded(kQ * (y & 15), 16)) << y;
    std::array<uint8_t, kMessageSize> m{static_cast<uint8_t>(y & 1)};
    kMlKemPortable.from_message(m, f);
    ASSERT_EQ(f.c[0], rounded(kQ * (y & 1), 2)) << y;
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
