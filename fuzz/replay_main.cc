// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer over the files of the folders given, without libFuzzer, so that every compiler and
// every sanitizer repeats what fuzzing once found. Each input is copied to memory of exactly its
// size, so that AddressSanitizer sees a read past its end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

bool ReplayFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(file),
                                  std::istreambuf_iterator<char>()};
  if (!file || file.bad()) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  const auto input = std::make_unique_for_overwrite<uint8_t[]>(content.size());
  std::ranges::transform(content, input.get(), [](char c) { return static_cast<uint8_t>(c); });
  LLVMFuzzerTestOneInput(input.get(), content.size());
  return true;
}

// Replays the files of `folder` in the order of their names; false unless all could be read and
// there was at least one.
bool ReplayFolder(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  if (paths.empty()) {
    std::fprintf(stderr, "%s: no inputs\n", folder.c_str());
    return false;
  }
  for (const fs::path& path : paths) {
    // Named before it runs, since a finding ends the process.
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    if (!ReplayFile(path)) return false;
  }
  std::printf("%zu inputs\n", paths.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
    return 2;
  }
  try {
    for (int i = 1; i < argc; ++i) {
      if (!ReplayFolder(argv[i])) return 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
