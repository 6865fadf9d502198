// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/testing/cctv.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "coffer/base/testing/corpus.h"

namespace coffer::age::testing {
namespace {

// The largest file of the corpus has 16.8 MB.
constexpr size_t kMaxFileSize = size_t{32} << 20;

[[noreturn]] void Fail(const std::string& name, const std::string& reason) {
  std::fprintf(stderr, "vector %s: %s\n", name.c_str(), reason.c_str());
  std::abort();
}

Bytes Inflate(const std::string& name, std::string_view compressed) {
  Bytes out(kMaxFileSize);
  uLongf size = out.size();
  if (uncompress(out.data(), &size, AsBytes(compressed).data(), compressed.size()) != Z_OK) {
    Fail(name, "cannot be decompressed");
  }
  out.resize(size);
  return out;
}

void SetField(CctvVector& vector, bool& compressed, const std::string& key, std::string value) {
  if (key == "expect") {
    vector.expect = std::move(value);
  } else if (key == "payload") {
    vector.payload_hash = std::move(value);
  } else if (key == "file key") {
    vector.file_key = std::move(value);
  } else if (key == "identity") {
    vector.identities.push_back(std::move(value));
  } else if (key == "passphrase") {
    vector.passphrase = std::move(value);
  } else if (key == "armored") {
    vector.armored = value == "yes";
  } else if (key == "compressed") {
    if (value != "zlib") Fail(vector.name, "unknown compression");
    compressed = true;
  } else if (key != "comment") {
    Fail(vector.name, "unknown key " + key);
  }
}

CctvVector Load(const std::filesystem::path& path) {
  CctvVector vector;
  vector.name = path.filename();
  std::ifstream stream(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) Fail(vector.name, "cannot be read");
  std::string_view rest = content;
  bool compressed = false;
  while (true) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) Fail(vector.name, "has no empty line");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.empty()) break;
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) Fail(vector.name, "has a line without a key");
    SetField(vector, compressed, std::string(line.substr(0, colon)),
             std::string(line.substr(colon + 2)));
  }
  vector.file = compressed ? Inflate(vector.name, rest) : Bytes(rest.begin(), rest.end());
  return vector;
}

}  // namespace

std::vector<CctvVector> LoadCctvVectors() {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  const auto directory = coffer::testing::CorpusPath("cctv-age");
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    paths.push_back(entry.path());
  }
  if (error) Fail("cctv-age", error.message());
  std::ranges::sort(paths);
  std::vector<CctvVector> vectors;
  vectors.reserve(paths.size());
  for (const auto& path : paths) vectors.push_back(Load(path));
  return vectors;
}

}  // namespace coffer::age::testing
