// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/sponge_chain.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto::internal {
namespace {

using testing::SeededRandom;

Bytes Expected(const SpongeKind& kind, ByteSpan input, size_t size) {
  Sponge sponge(kind);
  sponge.Absorb(input);
  Bytes output(size);
  sponge.Squeeze(output);
  return output;
}

std::vector<size_t> Boundaries(size_t rate) {
  return {0, 1, 7, 8, rate - 1, rate, rate + 1, 2 * rate - 1, 2 * rate, 3 * rate + 5};
}

// Runs the chain in the last of four lanes until it has nothing to do, and returns how many
// permutations it took.
size_t Ride(SpongeChain& chain) {
  KeccakX4 states;
  for (auto& word : states.word) std::fill(std::begin(word), std::end(word), uint64_t{0x55});
  const KeccakLane lane{&states.word[0][3], 4};
  size_t count = 0;
  chain.Board(lane);
  for (; chain.BeforePermutation(lane); ++count) {
    Keccak().permute_x4(states, KeccakRounds::k24);
    chain.AfterPermutation(lane);
  }
  chain.Leave(lane);
  return count;
}

class SpongeChainTest : public ::testing::TestWithParam<SpongeKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SpongeChainTest, ::testing::Values(kShake128Kind, kShake256Kind),
                         [](const auto& test) { return "Rate" + std::to_string(test.param.rate); });

TEST_P(SpongeChainTest, HashesAllLengthsAloneAndRiding) {
  SeededRandom random(1);
  for (size_t input_size : Boundaries(GetParam().rate)) {
    for (size_t output_size : Boundaries(GetParam().rate)) {
      if (output_size == 0) continue;
      const Bytes input = random.Take(input_size);
      const Bytes expected = Expected(GetParam(), input, output_size);
      for (bool riding : {false, true}) {
        SpongeChain chain(Keccak(), GetParam());
        Bytes output(output_size);
        const size_t cut = input_size / 3;
        const size_t job = chain.Add(
            {ByteSpan(input).first(cut), ByteSpan(), ByteSpan(input).subspan(cut)}, output);
        const size_t forecast = chain.Permutations(1000);
        if (riding) {
          EXPECT_EQ(Ride(chain), forecast);
        } else {
          chain.Run(job);
        }
        EXPECT_TRUE(chain.Finished(job));
        EXPECT_EQ(output, expected) << input_size << " to " << output_size;
        EXPECT_EQ(chain.Permutations(1000), 0U);
      }
    }
  }
}

TEST_P(SpongeChainTest, FeedsOneHashToTheNext) {
  SeededRandom random(2);
  const Bytes input = random.Take(500);
  Bytes first(48);
  Bytes second(700);
  Bytes third(24);
  SpongeChain chain(Keccak(), GetParam());
  chain.Add({input}, first);
  chain.Add({ByteSpan(first).first(17), input}, second);
  const size_t last = chain.Add({second, first}, third);
  chain.Run(1, 300);  // part of the second alone, the rest in a lane
  EXPECT_GE(chain.Written(1), 300U);
  EXPECT_FALSE(chain.Finished(1));
  Ride(chain);
  EXPECT_TRUE(chain.Finished(last));

  EXPECT_EQ(first, Expected(GetParam(), input, first.size()));
  Bytes joined(first.begin(), first.begin() + 17);
  Append(joined, input);
  EXPECT_EQ(second, Expected(GetParam(), joined, second.size()));
  joined = second;
  Append(joined, first);
  EXPECT_EQ(third, Expected(GetParam(), joined, third.size()));
}

// What is held is not read, however often the chain is asked, and the hash is right in the end.
TEST_P(SpongeChainTest, WaitsForHeldInput) {
  SeededRandom random(3);
  const size_t rate = GetParam().rate;
  const Bytes input = random.Take(4 * rate + 10);
  for (size_t held : {size_t{0}, size_t{1}, rate - 1, rate, rate + 1, 4 * rate, 4 * rate + 9}) {
    Bytes growing(input.size(), 0xee);
    Bytes output(2 * rate);
    SpongeChain chain(Keccak(), GetParam());
    const size_t job = chain.Add({growing}, output);
    for (size_t size = held; size < input.size(); size += 100) {
      std::copy_n(input.begin(), size, growing.begin());
      chain.Hold(job, size);
      const size_t forecast = chain.Permutations(1000);
      EXPECT_EQ(Ride(chain), forecast);
      EXPECT_EQ(Ride(chain), 0U);
    }
    EXPECT_EQ(chain.Written(job), 0U);
    growing = input;
    chain.Release(job);
    chain.Run(job);
    EXPECT_EQ(output, Expected(GetParam(), input, output.size())) << held;
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
