// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "coffer/age/header.h"
#include "coffer/age/inspect.h"
#include "coffer/base/quote.h"
#include "coffer/cli/commands.h"
#include "coffer/cli/entry_text.h"
#include "coffer/os/input.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

std::string_view Word(age::PostQuantum verdict) {
  switch (verdict) {
    case age::PostQuantum::kYes:
      return "yes";
    case age::PostQuantum::kNo:
      return "no";
    case age::PostQuantum::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view Sentence(age::PostQuantum verdict) {
  switch (verdict) {
    case age::PostQuantum::kYes:
      return "This file uses post-quantum encryption.";
    case age::PostQuantum::kNo:
      return "This file does NOT use post-quantum encryption.";
    case age::PostQuantum::kUnknown:
      break;
  }
  return "Whether this file uses post-quantum encryption depends on recipient types that are not "
         "known here.";
}

// The members and their order are those of age-inspect --json. The padding fields are always 0: the
// format has no padding.
std::string FormatJson(const age::Inspection& inspection) {
  nlohmann::ordered_json json;
  json["version"] = age::kVersionLine;
  json["postquantum"] = Word(inspection.post_quantum);
  json["armor"] = inspection.armored;
  json["stanza_types"] = inspection.stanza_types;
  json["sizes"] = {{"header", inspection.header_size},
                   {"armor", inspection.armor_size},
                   {"overhead", inspection.overhead_size},
                   {"min_payload", inspection.payload_size},
                   {"max_payload", inspection.payload_size},
                   {"min_padding", 0},
                   {"max_padding", 0}};
  return json.dump(4) + "\n";
}

std::string FormatText(const age::Inspection& inspection, const std::string& name) {
  std::string text = fmt::format("{} is an age file, version \"{}\".\n\n", name, age::kVersionLine);
  if (inspection.armored) text += "This file is ASCII-armored.\n\n";
  text += "This file is encrypted to the following recipient types:\n";
  for (const std::string& type : inspection.stanza_types) {
    text += fmt::format("  - {}\n", Quote(type));
  }
  text += fmt::format("\n{}\n\n", Sentence(inspection.post_quantum));
  text += "Size breakdown (assuming it decrypts successfully):\n\n";
  const auto row = [&text](std::string_view what, uint64_t size) {
    text += fmt::format("    {:<19} {:>12} bytes\n", what, size);
  };
  row("Header", inspection.header_size);
  if (inspection.armored) row("Armor overhead", inspection.armor_size);
  row("Encryption overhead", inspection.overhead_size);
  row("Payload", inspection.payload_size);
  text += fmt::format("    {:<19} -------------------\n", "");
  row("Total", inspection.header_size + inspection.armor_size + inspection.overhead_size +
                   inspection.payload_size);
  return text + "\nTip: for machine-readable output, use --json.\n";
}

}  // namespace

Status RunInspect(const InspectOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::Input> input, os::OpenInput(options.input));
  Result<age::Inspection> inspection = age::Inspect(*input, input->size());
  if (!inspection.ok()) return std::move(inspection).error().WithContext("inspection failed");
  const bool is_standard = options.input.empty() || options.input == "-";
  const std::string name = is_standard ? "<stdin>" : DisplayName(options.input);
  const std::string text = options.json ? FormatJson(*inspection) : FormatText(*inspection, name);
  return os::StandardOutput().Write(AsBytes(text));
}

}  // namespace coffer::cli
