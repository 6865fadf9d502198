// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/testing/wycheproof.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <nlohmann/json.hpp>

#include "coffer/base/hex.h"

namespace coffer::crypto::testing {
namespace {

using Json = nlohmann::json;

[[noreturn]] void Fail(std::string_view what, std::string_view name) {
  std::fprintf(stderr, "wycheproof: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(name.size()), name.data());
  std::abort();
}

template <class Map>
const auto& Find(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  if (found == map.end()) Fail("no such field", name);
  return found->second;
}

void Flatten(const Json& object, const std::string& prefix, WycheproofFields& fields) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) fields.texts[prefix + name] = value.get<std::string>();
    if (value.is_number_integer()) fields.numbers[prefix + name] = value.get<int64_t>();
    if (value.is_object()) Flatten(value, prefix + name + ".", fields);
  }
}

Verdict ToVerdict(const std::string& text) {
  if (text == "valid") return Verdict::kValid;
  if (text == "invalid") return Verdict::kInvalid;
  if (text == "acceptable") return Verdict::kAcceptable;
  Fail("unknown result", text);
}

WycheproofCase ToCase(const Json& json) {
  WycheproofCase test{json.at("tcId").get<int64_t>(),
                      ToVerdict(json.at("result").get<std::string>()),
                      json.value("comment", std::string()),
                      json.value("flags", std::vector<std::string>()),
                      {}};
  Flatten(json, "", test.fields);
  return test;
}

WycheproofGroup ToGroup(const Json& json) {
  WycheproofGroup group{json.at("type").get<std::string>(), {}, {}};
  Flatten(json, "", group.fields);
  for (const Json& test : json.at("tests")) group.cases.push_back(ToCase(test));
  return group;
}

}  // namespace

bool WycheproofFields::Has(std::string_view name) const {
  return texts.contains(name) || numbers.contains(name);
}

const std::string& WycheproofFields::Text(std::string_view name) const { return Find(texts, name); }

int64_t WycheproofFields::Number(std::string_view name) const { return Find(numbers, name); }

Bytes WycheproofFields::Hex(std::string_view name) const {
  std::optional<Bytes> bytes = hex::Decode(Text(name));
  if (!bytes) Fail("not hexadecimal", name);
  return *std::move(bytes);
}

bool WycheproofCase::HasFlag(std::string_view flag) const {
  return std::ranges::find(flags, flag) != flags.end();
}

WycheproofFile LoadWycheproof(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) Fail("cannot open", path.string());
  const Json json = Json::parse(stream);  // throws, and so ends the test, if malformed
  WycheproofFile file{
      json.at("algorithm").get<std::string>(), json.at("numberOfTests").get<size_t>(), {}};
  for (const Json& group : json.at("testGroups")) file.groups.push_back(ToGroup(group));
  return file;
}

}  // namespace coffer::crypto::testing
