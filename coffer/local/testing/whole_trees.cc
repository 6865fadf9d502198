// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/testing/whole_trees.h"

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "coffer/local/restore.h"
#include "coffer/local/scan.h"
#include "coffer/os/testing/matchers.h"

namespace coffer::local {

using os::FileSystem;
using vault::Entry;
using vault::EntryKind;

namespace {

// Entries with all their data within.
class Collector final : public ScanVisitor {
 public:
  Status OnEntry(ScannedItem& item) override {
    if (item.entry().kind == EntryKind::kFile) {
      COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<ScannedFile> file, item.Open());
      Bytes& data = item.entry().inline_data;
      for (;;) {
        uint8_t buffer[8192];
        COFFER_ASSIGN_OR_RETURN(const size_t count, file->Read(buffer));
        if (count == 0) break;
        Append(data, ByteSpan(buffer).first(count));
      }
      COFFER_ASSIGN_OR_RETURN(const bool changed, file->FinishReading(item.entry()));
      EXPECT_FALSE(changed);
    }
    entries.push_back(item.entry());
    return OkStatus();
  }
  void OnProblem(const std::string& path, const Error& error) override {
    ADD_FAILURE() << path << ": " << error.message();
  }
  void OnNote(const std::string& path, const std::string& what) override {
    ADD_FAILURE() << path << ": " << what;
  }
  std::vector<Entry> entries;
};

Status Inline(const Entry& entry, DataSink& sink) { return sink.WriteAt(0, entry.inline_data); }

}  // namespace

std::vector<Entry> ScanAll(FileSystem& files, const std::string& path) {
  Collector collector;
  EXPECT_TRUE(IsOk(Scan(files, os::SystemUsers(), {{path, ""}}, {}, collector)));
  return std::move(collector.entries);
}

void RestoreAll(FileSystem& files, const std::string& to, const std::vector<Entry>& entries) {
  auto restorer = std::move(Restorer::Create(files, to, {}, Inline)).value();
  for (const Entry& entry : entries) restorer->Add(entry, entry.path);
  restorer->Finish();
  for (const RestoreProblem& problem : restorer->problems()) {
    ADD_FAILURE() << problem.path << ": " << problem.message;
  }
}

std::vector<Entry> Comparable(std::vector<Entry> entries) {
  for (Entry& entry : entries) {
    entry.status_changed.reset();
    entry.inode.reset();
    entry.accessed.reset();  // the comparison reads, too
  }
  return entries;
}

}  // namespace coffer::local
