// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/result.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "coffer/base/io.h"

namespace coffer {
namespace {

Error Refused() { return Error(ErrorCode::kIo, "refused"); }

TEST(Error, KeepsItsParts) {
  Error error = Refused();
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_EQ(error.message(), "refused");
  EXPECT_EQ(error.system_errno(), 0);
  error.set_system_errno(ENOSPC);
  const Error outer = std::move(error).WithContext("write").WithContext("file");
  EXPECT_EQ(outer.message(), "file: write: refused");
  EXPECT_EQ(outer.code(), ErrorCode::kIo);
  EXPECT_EQ(outer.system_errno(), ENOSPC);
}

TEST(Error, EachCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  const int count = static_cast<int>(ErrorCode::kNeedsNewer) + 1;
  for (int code = 0; code < count; ++code) {
    const std::string_view name = ErrorCodeName(static_cast<ErrorCode>(code));
    EXPECT_FALSE(name.empty());
    names.insert(name);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(count));
  // Those of the age test vectors, word for word.
  EXPECT_EQ(ErrorCodeName(ErrorCode::kHeader), "header failure");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kNoMatch), "no match");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kHeaderMac), "HMAC failure");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kPayload), "payload failure");
  EXPECT_EQ(ErrorCodeName(ErrorCode::kArmor), "armor failure");
}

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("value");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), "value");
  EXPECT_EQ(*result, "value");
  EXPECT_EQ(result->size(), 5U);
  result->push_back('s');
  *result += "!";
  const std::string taken = std::move(result).value();
  EXPECT_EQ(taken, "values!");
}

TEST(Result, HoldsAnError) {
  Result<std::string> result = Refused();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(), "refused");
  const Error error = std::move(result).error();
  EXPECT_EQ(error.code(), ErrorCode::kIo);
}

TEST(Result, HoldsValuesThatOnlyMove) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Status, IsOkUntilItIsNot) {
  EXPECT_TRUE(OkStatus().ok());
  EXPECT_TRUE(Status().ok());
  const Status status = Refused();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kIo);
}

TEST(ResultDeathTest, AskingForWhatIsNotThereEndsTheProgram) {
  const Result<int> good = 1;
  const Result<int> bad = Refused();
  const Status ok = OkStatus();
  EXPECT_DEATH((void)bad.value(), "ok\\(\\)");
  EXPECT_DEATH((void)*bad, "ok\\(\\)");
  EXPECT_DEATH((void)good.error(), "!ok\\(\\)");
  EXPECT_DEATH((void)ok.error(), "has_value");
}

TEST(CheckDeathTest, NamesTheConditionAndThePlace) {
  int count = 0;
  COFFER_CHECK(++count == 1);
  EXPECT_EQ(count, 1);
  EXPECT_DEATH(COFFER_CHECK(count == 2),
               "coffer: internal error: count == 2 \\(.*result_test.cc:[0-9]+\\)");
}

// A function whose steps count how far it came.
Status Steps(const Status& first, const Status& second, int& reached) {
  reached = 0;
  COFFER_TRY(first);
  reached = 1;
  if (reached == 1) COFFER_TRY(second);  // one statement, also without braces
  reached = 2;
  return OkStatus();
}

TEST(Try, ReturnsAtTheFirstError) {
  int reached = 0;
  EXPECT_TRUE(Steps(OkStatus(), OkStatus(), reached).ok());
  EXPECT_EQ(reached, 2);
  EXPECT_EQ(Steps(OkStatus(), Refused(), reached).error().message(), "refused");
  EXPECT_EQ(reached, 1);
  EXPECT_FALSE(Steps(Refused(), OkStatus(), reached).ok());
  EXPECT_EQ(reached, 0);
}

TEST(Try, EvaluatesItsExpressionOnce) {
  int count = 0;
  const auto run = [&]() -> Status {
    COFFER_TRY((++count, OkStatus()));
    return OkStatus();
  };
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(count, 1);
}

template <class A, class B>
Result<std::pair<A, B>> MakePair(A a, B b) {
  return std::pair<A, B>(std::move(a), std::move(b));
}

Result<size_t> AssignAll(const Result<std::string>& text) {
  COFFER_ASSIGN_OR_RETURN(const std::string declared, text);
  std::unique_ptr<int> assigned;
  COFFER_ASSIGN_OR_RETURN(assigned, Result<std::unique_ptr<int>>(std::make_unique<int>(2)));
  // A comma within the expression.
  COFFER_ASSIGN_OR_RETURN(const auto pair, MakePair<int, size_t>(3, 4));
  return declared.size() + static_cast<size_t>(*assigned + pair.first) + pair.second;
}

TEST(AssignOrReturn, DeclaresAssignsOrReturns) {
  EXPECT_EQ(*AssignAll(std::string("x")), 10U);
  const Result<size_t> failed = AssignAll(Refused());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message(), "refused");
}

// Gives its text in pieces, then the end or an error.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view text, size_t piece_size, Status end)
      : rest_(AsBytes(text)), piece_size_(piece_size), end_(std::move(end)) {}

  Result<size_t> Read(MutableByteSpan out) override {
    COFFER_CHECK(!out.empty());
    if (rest_.empty()) {
      COFFER_TRY(end_);
      return size_t{0};
    }
    const size_t size = std::min({out.size(), piece_size_, rest_.size()});
    std::ranges::copy(rest_.first(size), out.begin());
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  ByteSpan rest_;
  size_t piece_size_;
  Status end_;
};

TEST(ReadFull, ReadsUntilItIsFullOrTheSourceEnds) {
  for (size_t piece_size : {size_t{1}, size_t{3}, size_t{100}}) {
    Pieces source("abcdefgh", piece_size, OkStatus());
    std::array<uint8_t, 5> out{};
    EXPECT_EQ(*ReadFull(source, out), 5U);
    EXPECT_EQ(AsText(out), "abcde");
    EXPECT_EQ(*ReadFull(source, out), 3U);
    EXPECT_EQ(AsText(out), "fghde");
    EXPECT_EQ(*ReadFull(source, out), 0U);
    EXPECT_EQ(*ReadFull(source, {}), 0U);
  }
}

TEST(ReadFull, PassesErrorsOn) {
  Pieces source("abc", 2, Refused());
  std::array<uint8_t, 5> out{};
  const Result<size_t> read = ReadFull(source, out);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message(), "refused");
}

static_assert(!std::is_convertible_v<Result<int>, bool>);
static_assert(!std::is_convertible_v<Status, bool>);

}  // namespace
}  // namespace coffer
