// SPDX-License-Identifier: Apache-2.0
// Every implementation of Keccak that may run here against the portable one, and that one against
// the values of FIPS 202's public intermediate examples.
#include "coffer/crypto/internal/keccak.h"

#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace coffer::crypto::internal {
namespace {

constexpr int kCases = 10000;

std::vector<const KeccakImplementation*> Runnable() {
  std::vector<const KeccakImplementation*> runnable;
  for (const KeccakImplementation* implementation : KeccakImplementations()) {
    if (implementation->level <= os::CpuLevel()) runnable.push_back(implementation);
  }
  return runnable;
}

template <size_t kLanes>
void Randomise(KeccakStates<kLanes>& states, std::mt19937_64& random) {
  for (auto& words : states.word) {
    for (uint64_t& word : words) word = random();
  }
}

template <size_t kLanes>
bool Same(const KeccakStates<kLanes>& a, const KeccakStates<kLanes>& b) {
  return std::memcmp(a.word, b.word, sizeof(a.word)) == 0;
}

template <size_t kLanes>
void Copy(const KeccakStates<kLanes>& from, KeccakStates<kLanes>& to) {
  std::memcpy(to.word, from.word, sizeof(to.word));
}

TEST(KeccakTest, TableIsOrderedAndNamesWhatRuns) {
  const auto table = KeccakImplementations();
  ASSERT_FALSE(table.empty());
  EXPECT_EQ(table[0], &kKeccakPortable);
  for (size_t i = 1; i < table.size(); ++i) EXPECT_LT(table[i - 1]->level, table[i]->level);
  for (const KeccakImplementation* implementation : table) {
    const bool runs = implementation->level <= os::CpuLevel();
    std::cout << "keccak " << implementation->name << (runs ? ": runs here" : ": cannot run here")
              << '\n';
  }
  EXPECT_EQ(&Keccak(), Runnable().back());
}

// Keccak-f[1600] of the zero state, once and twice, and its last twelve rounds: the first words.
TEST(KeccakTest, KnownPermutationOfZero) {
  for (const KeccakImplementation* implementation : Runnable()) {
    SCOPED_TRACE(implementation->name);
    KeccakStates<1> state;
    implementation->permute_x1(state, KeccakRounds::k24);
    EXPECT_EQ(state.word[0][0], 0xf1258f7940e1dde7);
    EXPECT_EQ(state.word[1][0], 0x84d5ccf933c0478a);
    EXPECT_EQ(state.word[24][0], 0xeaf1ff7b5ceca249);
    implementation->permute_x1(state, KeccakRounds::k24);
    EXPECT_EQ(state.word[0][0], 0x2d5c954df96ecb3c);
    EXPECT_EQ(state.word[24][0], 0x20d06cd26a8fbf5c);
  }
}

template <size_t kLanes>
void ExpectLanesArePermutedAlone(const KeccakImplementation& implementation, KeccakRounds rounds,
                                 void (*permute)(KeccakStates<kLanes>&, KeccakRounds)) {
  SCOPED_TRACE(implementation.name);
  std::mt19937_64 random(kLanes * 100 + static_cast<size_t>(rounds));
  for (int i = 0; i < kCases; ++i) {
    KeccakStates<kLanes> states;
    Randomise(states, random);
    KeccakStates<kLanes> expected;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      KeccakStates<1> one;
      for (size_t w = 0; w < kKeccakWords; ++w) one.word[w][0] = states.word[w][lane];
      kKeccakPortable.permute_x1(one, rounds);
      for (size_t w = 0; w < kKeccakWords; ++w) expected.word[w][lane] = one.word[w][0];
    }
    permute(states, rounds);
    ASSERT_TRUE(Same(states, expected)) << "case " << i;
  }
}

TEST(KeccakTest, PermutationsAgreeWithPortable) {
  for (const KeccakImplementation* implementation : Runnable()) {
    for (KeccakRounds rounds : {KeccakRounds::k12, KeccakRounds::k24}) {
      ExpectLanesArePermutedAlone<1>(*implementation, rounds, implementation->permute_x1);
      ExpectLanesArePermutedAlone<4>(*implementation, rounds, implementation->permute_x4);
      ExpectLanesArePermutedAlone<8>(*implementation, rounds, implementation->permute_x8);
    }
  }
}

// Buffers hold the asked-for words and nothing more, so that a read or write beyond them is seen by
// AddressSanitizer; the words after them must stay.
template <size_t kLanes>
void ExpectTransferAgrees(void (*add)(KeccakStates<kLanes>&, const KeccakInputs<kLanes>&, size_t),
                          void (*extract)(const KeccakStates<kLanes>&, const KeccakOutputs<kLanes>&,
                                          size_t)) {
  std::mt19937_64 random(kLanes);
  for (int i = 0; i < kCases; ++i) {
    const size_t words = static_cast<size_t>(i) % (kKeccakWords + 1);
    std::array<std::vector<uint8_t>, kLanes> buffers;
    KeccakInputs<kLanes> in;
    KeccakOutputs<kLanes> out;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t b = 0; b < 8 * words; ++b)
        buffers[lane].push_back(static_cast<uint8_t>(random()));
      in[lane] = buffers[lane].data();
      out[lane] = buffers[lane].data();
    }
    KeccakStates<kLanes> states;
    Randomise(states, random);
    KeccakStates<kLanes> expected;
    Copy(states, expected);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t b = 0; b < 8 * words; ++b) {
        expected.word[b / 8][lane] ^= static_cast<uint64_t>(buffers[lane][b]) << (8 * (b % 8));
      }
    }
    add(states, in, words);
    ASSERT_TRUE(Same(states, expected)) << words << " words";

    extract(states, out, words);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t b = 0; b < 8 * words; ++b) {
        ASSERT_EQ(buffers[lane][b],
                  static_cast<uint8_t>(expected.word[b / 8][lane] >> (8 * (b % 8))))
            << words << " words, lane " << lane << ", byte " << b;
      }
    }
  }
}

TEST(KeccakTest, TransfersAgreeWithTheirDefinition) {
  for (const KeccakImplementation* implementation : Runnable()) {
    SCOPED_TRACE(implementation->name);
    ExpectTransferAgrees<4>(implementation->add_x4, implementation->extract_x4);
    ExpectTransferAgrees<8>(implementation->add_x8, implementation->extract_x8);
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
