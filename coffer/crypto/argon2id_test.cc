// SPDX-License-Identifier: Apache-2.0
// Argon2id against the vector of RFC 9106 and against the library of its authors.
#include "coffer/crypto/argon2id.h"

#include <argon2.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/testing/seeded_random.h"
#include "coffer/os/testing/child.h"

namespace coffer::crypto {
namespace {

using testing::SeededRandom;

Bytes Tag(const Argon2idParameters& parameters, const Argon2idInput& input, size_t size) {
  Bytes tag(size);
  const Status status = Argon2id(parameters, input, tag);
  EXPECT_TRUE(status.ok()) << status.error().message();
  return tag;
}

// The library takes pointers to what it does not write unless asked to.
uint8_t* Pointer(ByteSpan bytes) { return const_cast<uint8_t*>(bytes.data()); }
uint32_t Size(ByteSpan bytes) { return static_cast<uint32_t>(bytes.size()); }

Bytes LibraryTag(const Argon2idParameters& parameters, const Argon2idInput& input, size_t size) {
  Bytes tag(size);
  argon2_context context = {};
  context.out = tag.data();
  context.outlen = Size(tag);
  context.pwd = Pointer(input.password);
  context.pwdlen = Size(input.password);
  context.salt = Pointer(input.salt);
  context.saltlen = Size(input.salt);
  context.secret = Pointer(input.secret);
  context.secretlen = Size(input.secret);
  context.ad = Pointer(input.associated_data);
  context.adlen = Size(input.associated_data);
  context.t_cost = parameters.passes;
  context.m_cost = parameters.memory_kib;
  context.lanes = parameters.lanes;
  context.threads = 1;
  context.version = ARGON2_VERSION_13;
  EXPECT_EQ(argon2_ctx(&context, Argon2_id), ARGON2_OK);
  return tag;
}

// Section 5.3.
TEST(Argon2idTest, Rfc9106) {
  const Bytes password(32, 1);
  const Bytes salt(16, 2);
  const Bytes secret(8, 3);
  const Bytes associated_data(12, 4);
  EXPECT_EQ(hex::Encode(Tag({.memory_kib = 32, .passes = 3, .lanes = 4},
                            {password, salt, secret, associated_data}, 32)),
            "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659");
}

struct RandomCase {
  Argon2idParameters parameters;
  Bytes password;
  Bytes salt;
  Bytes secret;
  Bytes associated_data;
  size_t tag_size;

  [[nodiscard]] Argon2idInput input() const { return {password, salt, secret, associated_data}; }
};

// Memory from the least on, where segments have two blocks, to more than the 128 blocks of a
// segment that one block of addresses serves.
RandomCase MakeCase(SeededRandom& random) {
  RandomCase made;
  const auto number = [&](size_t bound) { return static_cast<uint32_t>(random.Below(bound)); };
  made.parameters.lanes = 1 + number(10) % 9;
  made.parameters.passes = 1 + number(4);
  made.parameters.memory_kib = 8 * made.parameters.lanes + number(random.Below(4) == 0 ? 900 : 60);
  made.password = random.Take(random.Below(200));
  made.salt = random.Take(8 + random.Below(60));
  made.secret = random.Take(random.Below(2) * random.Below(40));
  made.associated_data = random.Take(random.Below(2) * random.Below(300));
  made.tag_size = 4 + random.Below(125);
  return made;
}

TEST(Argon2idTest, AgreesWithTheLibrary) {
  constexpr uint64_t kSeed = 9106;
  SeededRandom random(kSeed);
  for (int i = 0; i < 400; ++i) {
    const RandomCase made = MakeCase(random);
    ASSERT_EQ(Tag(made.parameters, made.input(), made.tag_size),
              LibraryTag(made.parameters, made.input(), made.tag_size))
        << "case " << i << " of seed " << kSeed << ": " << made.parameters.memory_kib << " KiB, "
        << made.parameters.passes << " passes, " << made.parameters.lanes << " lanes";
  }
}

TEST(Argon2idTest, TagsOfEverySize) {
  const Bytes salt(8, 2);
  const Argon2idParameters least = {.memory_kib = 8, .passes = 1, .lanes = 1};
  for (size_t size = 4; size <= 200; ++size) {
    ASSERT_EQ(Tag(least, {{}, salt}, size), LibraryTag(least, {{}, salt}, size)) << size;
  }
}

TEST(Argon2idTest, ParametersOfKeyFiles) {
  const Bytes salt = coffer::testing::Pattern(16);
  const Argon2idParameters parameters = {.memory_kib = 65536, .passes = 1, .lanes = 4};
  EXPECT_EQ(Tag(parameters, {AsBytes("correct horse"), salt}, 32),
            LibraryTag(parameters, {AsBytes("correct horse"), salt}, 32));
}

TEST(Argon2idTest, BatchesGiveWhatSingleHashesGive) {
  SeededRandom random(2);
  for (size_t count = 0; count <= 5; ++count) {
    std::vector<RandomCase> cases;
    std::vector<Bytes> tags;
    for (size_t i = 0; i < count; ++i) {
      cases.push_back(MakeCase(random));
      tags.emplace_back(cases.back().tag_size);
    }
    std::vector<Argon2idJob> jobs;
    jobs.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      jobs.push_back({cases[i].parameters, cases[i].input(), tags[i]});
    }
    ASSERT_TRUE(Argon2idBatch(jobs).ok());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(tags[i], Tag(cases[i].parameters, cases[i].input(), cases[i].tag_size));
    }
  }
}

void ExpectRefused(const Argon2idParameters& parameters, const Argon2idInput& input, size_t size,
                   ErrorCode code) {
  Bytes tag(size, 0x5c);
  const Status status = Argon2id(parameters, input, tag);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), code) << status.error().message();
  EXPECT_EQ(tag, Bytes(size));
}

TEST(Argon2idTest, Bounds) {
  const Bytes salt(8);
  const Bytes short_salt(7);
  const Argon2idInput good = {{}, salt};
  const Argon2idParameters least = {.memory_kib = 8, .passes = 1, .lanes = 1};
  EXPECT_EQ(Tag(least, good, 4).size(), 4U);
  constexpr ErrorCode kInvalid = ErrorCode::kInvalidArgument;
  ExpectRefused({7, 1, 1}, good, 32, kInvalid);
  ExpectRefused({8, 0, 1}, good, 32, kInvalid);
  ExpectRefused({8, 1, 0}, good, 32, kInvalid);
  ExpectRefused({15, 1, 2}, good, 32, kInvalid);
  ExpectRefused({0xffffffff, 1, 1U << 24}, good, 32, kInvalid);
  ExpectRefused({8, 1, 0xffffffff}, good, 32, kInvalid);
  ExpectRefused(least, good, 3, kInvalid);
  ExpectRefused(least, good, 0, kInvalid);
  ExpectRefused(least, {{}, short_salt}, 32, kInvalid);
}

// Memory that the system does not have is an error, not the end.
TEST(Argon2idTest, NoMemory) {
  EXPECT_EQ(os::RunInChild([] {
              const rlimit limit = {size_t{1} << 26, size_t{1} << 26};
              if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
              const Bytes salt(8);
              Bytes tag(32, 0x5c);
              const Argon2idParameters parameters = {.memory_kib = 65536, .passes = 1, .lanes = 1};
              const Status status = Argon2id(parameters, {{}, salt}, tag);
              if (status.ok() || status.error().code() != ErrorCode::kTooLarge) return 2;
              return tag == Bytes(32) ? 0 : 3;
            }),
            0);
}

// Where no thread can be had, the hashes are made in turn.
TEST(Argon2idTest, NoThreads) {
  EXPECT_EQ(os::RunInChild([] {
              const rlimit limit = {0, 0};
              if (setrlimit(RLIMIT_NPROC, &limit) != 0) return 1;
              if (geteuid() == 0 && setuid(65534) != 0) return 2;
              const Bytes salt(8);
              std::array<Bytes, 2> tags = {Bytes(32), Bytes(32)};
              const Argon2idParameters parameters = {.memory_kib = 64, .passes = 1, .lanes = 1};
              const std::array<Argon2idJob, 2> jobs = {
                  Argon2idJob{parameters, {{}, salt}, tags[0]},
                  Argon2idJob{parameters, {{}, salt}, tags[1]}};
              if (!Argon2idBatch(jobs).ok()) return 3;
              return tags[0] == tags[1] && tags[0] != Bytes(32) ? 0 : 4;
            }),
            0);
}

TEST(Argon2idTest, OneBadJobStopsABatch) {
  const Bytes salt(8);
  Bytes good(32, 0x5c);
  Bytes bad(32, 0x5c);
  const std::array<Argon2idJob, 2> jobs = {Argon2idJob{{8, 1, 1}, {{}, salt}, good},
                                           Argon2idJob{{7, 1, 1}, {{}, salt}, bad}};
  const Status status = Argon2idBatch(jobs);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(good, Bytes(32));
  EXPECT_EQ(bad, Bytes(32));
}

}  // namespace
}  // namespace coffer::crypto
