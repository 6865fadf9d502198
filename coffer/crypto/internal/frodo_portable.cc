// SPDX-License-Identifier: Apache-2.0
// The inner loops of FrodoKEM in portable C++: the reference for the other files, to be read next
// to draft-longa-cfrg-frodokem-03.
#include "coffer/base/ct.h"
#include "coffer/crypto/internal/frodo_kernels.h"

namespace coffer::crypto::internal {
namespace {

uint16_t Truncate(uint32_t value) { return static_cast<uint16_t>(value); }

void AccumulateSa(const uint16_t* s, size_t first, const uint16_t* rows, size_t n, uint16_t* b) {
  for (size_t i = 0; i < kFrodoNBar; ++i) {
    for (size_t k = 0; k < kFrodoGroup; ++k) {
      const uint32_t factor = s[i * n + first + k];
      for (size_t j = 0; j < n; ++j) {
        b[i * n + j] = Truncate(b[i * n + j] + factor * rows[k * n + j]);
      }
    }
  }
}

void MultiplyRows(const uint16_t* rows, const uint16_t* t, size_t n, uint16_t* p) {
  for (size_t i = 0; i < kFrodoGroup; ++i) {
    for (size_t k = 0; k < kFrodoNBar; ++k) {
      uint32_t sum = 0;
      for (size_t j = 0; j < n; ++j) sum += uint32_t{rows[i * n + j]} * t[k * n + j];
      p[i * kFrodoNBar + k] = Truncate(sum);
    }
  }
}

void AccumulateSb(const uint16_t* s, const uint16_t* b, size_t n, uint16_t* v) {
  for (size_t i = 0; i < kFrodoNBar; ++i) {
    for (size_t k = 0; k < kFrodoNBar; ++k) {
      uint32_t sum = v[i * kFrodoNBar + k];
      for (size_t j = 0; j < n; ++j) sum += uint32_t{s[i * n + j]} * b[j * kFrodoNBar + k];
      v[i * kFrodoNBar + k] = Truncate(sum);
    }
  }
}

// Section 7.5. Always walks through the whole table; t and the entries are below 2^15, so the top
// bit of the 16-bit difference T_X(i) - t is set exactly if t > T_X(i).
uint16_t Sample(uint16_t r, std::span<const uint16_t> table) {
  const uint16_t t = Truncate(uint32_t{r} >> 1);
  uint16_t e = 0;
  for (uint16_t entry : table) e = Truncate(e + (Truncate(uint32_t{entry} - t) >> 15));
  const uint16_t sign = ct::ValueBarrier(Truncate(0U - (r & 1U)));
  return Truncate(uint32_t{Truncate(uint32_t{e} ^ sign)} - sign);  // -e if the sign is all ones
}

void SampleAll(uint16_t* values, size_t count, std::span<const uint16_t> table) {
  for (size_t i = 0; i < count; ++i) values[i] = Sample(values[i], table);
}

void Pack(const uint16_t* values, size_t count, unsigned d, uint8_t* out) {
  uint32_t bits = 0;  // the low `held` bits wait to be written, first bit on top
  unsigned held = 0;
  for (size_t i = 0; i < count; ++i) {
    bits = (bits << d) | (values[i] & ((uint32_t{1} << d) - 1));
    held += d;
    while (held >= 8) {
      held -= 8;
      *out++ = static_cast<uint8_t>(bits >> held);
    }
  }
}

void Unpack(const uint8_t* in, size_t count, unsigned d, uint16_t* values) {
  uint32_t bits = 0;
  unsigned held = 0;
  for (size_t i = 0; i < count; ++i) {
    while (held < d) {
      bits = (bits << 8) | *in++;
      held += 8;
    }
    held -= d;
    values[i] = Truncate((bits >> held) & ((uint32_t{1} << d) - 1));
  }
}

uint16_t Difference(const uint16_t* a, const uint16_t* b, size_t count, uint16_t mask) {
  uint32_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= (uint32_t{a[i]} ^ b[i]) & mask;
  return ct::ValueBarrier(Truncate(all));
}

}  // namespace

const FrodoKernels kFrodoKernelsPortable = {
    .accumulate_sa = AccumulateSa,
    .multiply_rows = MultiplyRows,
    .accumulate_sb = AccumulateSb,
    .sample = SampleAll,
    .pack = Pack,
    .unpack = Unpack,
    .difference = Difference,
};

}  // namespace coffer::crypto::internal
