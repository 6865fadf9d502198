// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/plugin_server.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coffer/age/coffer_recipient.h"
#include "coffer/base/secret.h"

namespace coffer::age {
namespace {

// Phase 1 is held in memory. No honest client comes near these.
constexpr size_t kMaxStanzaCount = size_t{1} << 16;
constexpr size_t kMaxPhaseSize = size_t{64} << 20;

struct PluginError {
  std::vector<std::string> arguments;  // e.g. "recipient", "0"
  std::string message;
};

// What a client said: among it are identities, as arguments, and file keys, as bodies.
struct SecretStanzas {
  SecretStanzas() = default;
  SecretStanzas(SecretStanzas&&) = default;
  SecretStanzas& operator=(SecretStanzas&&) = delete;
  ~SecretStanzas() {
    for (Stanza& stanza : list) {
      SecureWipe(stanza.body);
      for (std::string& argument : stanza.arguments) SecureWipe(argument.data(), argument.size());
    }
  }

  std::vector<Stanza> list;
};

class Conversation {
 public:
  Conversation(ByteSource& source, ByteSink& sink) : reader_(source), sink_(sink) {}

  // The stanzas of phase 1, without "done".
  Result<SecretStanzas> ReadPhaseOne() {
    SecretStanzas stanzas;
    size_t size = 0;
    while (true) {
      Stanza& stanza = stanzas.list.emplace_back();
      COFFER_ASSIGN_OR_RETURN(stanza, Receive());
      if (stanza.type == "done") {
        stanzas.list.pop_back();
        return stanzas;
      }
      size += stanza.type.size() + stanza.body.size();
      for (const std::string& argument : stanza.arguments) {
        size += sizeof(std::string) + argument.size();
      }
      if (stanzas.list.size() > kMaxStanzaCount || size > kMaxPhaseSize) {
        return Error(ErrorCode::kTooLarge, "plugin conversation: the client says too much");
      }
    }
  }

  // Sends a command and waits for the answer, whose type is returned.
  Result<std::string> Ask(std::string type, std::vector<std::string> arguments, ByteSpan body) {
    COFFER_TRY(Send(std::move(type), std::move(arguments), body));
    COFFER_ASSIGN_OR_RETURN(Stanza answer, Receive());
    return std::move(answer.type);
  }

  // A command that the client has to take.
  Status Tell(std::string type, std::vector<std::string> arguments, ByteSpan body) {
    COFFER_ASSIGN_OR_RETURN(const std::string answer,
                            Ask(std::move(type), std::move(arguments), body));
    if (answer != "ok")
      return Error(ErrorCode::kHeader, "plugin conversation: the client did not take a command");
    return OkStatus();
  }

  Status TellErrors(const std::vector<PluginError>& errors) {
    for (const PluginError& error : errors) {
      COFFER_TRY(Tell("error", error.arguments, AsBytes(error.message)));
    }
    return OkStatus();
  }

  Status Finish() { return Send("done", {}, {}); }

 private:
  Result<Stanza> Receive() {
    Result<Stanza> stanza = ReadStanza(reader_);
    if (!stanza.ok()) return std::move(stanza).error().WithContext("plugin conversation");
    return stanza;
  }

  Status Send(std::string type, std::vector<std::string> arguments, ByteSpan body) {
    Stanza stanza{std::move(type), std::move(arguments), Bytes(body.begin(), body.end())};
    Bytes out;
    AppendStanza(out, stanza);
    const Status status = sink_.Write(out);
    SecureWipe(out);  // a file key may be in it
    SecureWipe(stanza.body);
    return status;
  }

  BufferedReader reader_;
  ByteSink& sink_;
};

// What a client of recipient-v1 asked for.
struct WrapRequest {
  Recipients recipients;
  std::vector<FileKey> file_keys;
  std::vector<PluginError> errors;
  bool takes_labels = false;
};

Status AddWrapStanza(const Stanza& stanza, size_t& recipient_index, size_t& identity_index,
                     WrapRequest& request) {
  if (stanza.type == "add-recipient" && stanza.arguments.size() == 1) {
    auto recipient = CofferRecipient::Parse(stanza.arguments[0]);
    if (recipient.ok()) {
      request.recipients.push_back(std::make_unique<CofferRecipient>(std::move(*recipient)));
    } else {
      request.errors.push_back(
          {{"recipient", std::to_string(recipient_index)}, recipient.error().message()});
    }
    ++recipient_index;
  } else if (stanza.type == "add-identity" && stanza.arguments.size() == 1) {
    auto identity = CofferIdentity::Parse(stanza.arguments[0]);
    if (identity.ok()) {
      COFFER_ASSIGN_OR_RETURN(auto recipient, identity->ToRecipient());
      request.recipients.push_back(std::move(recipient));
    } else {
      request.errors.push_back(
          {{"identity", std::to_string(identity_index)}, identity.error().message()});
    }
    ++identity_index;
  } else if (stanza.type == "wrap-file-key") {
    if (stanza.body.size() != FileKey::kSize) {
      request.errors.push_back({{"internal"}, "a file key has 16 bytes"});
    } else {
      request.file_keys.push_back(FileKey::CopyOf(ByteSpan(stanza.body).first<FileKey::kSize>()));
    }
  } else if (stanza.type == "extension-labels") {
    request.takes_labels = true;
  } else if (stanza.type == "add-recipient" || stanza.type == "add-identity") {
    request.errors.push_back({{"internal"}, stanza.type + " takes one argument"});
  }
  // Anything else is grease, or an extension that nobody here knows: to be ignored.
  return OkStatus();
}

Result<WrapRequest> ReadWrapRequest(Conversation& conversation) {
  COFFER_ASSIGN_OR_RETURN(const SecretStanzas stanzas, conversation.ReadPhaseOne());
  WrapRequest request;
  size_t recipient_index = 0;
  size_t identity_index = 0;
  for (const Stanza& stanza : stanzas.list) {
    COFFER_TRY(AddWrapStanza(stanza, recipient_index, identity_index, request));
  }
  return request;
}

// A client that knows labels keeps classic recipients out of the file. To one that does not, a word
// of warning is all that can be said; it may decline to show it.
Status AnnounceStrength(const WrapRequest& request, Conversation& conversation) {
  if (request.takes_labels) {
    return conversation.Tell("labels", {std::string(kPostQuantumLabel)}, {});
  }
  constexpr std::string_view kWarning =
      "this client does not keep post-quantum and classic recipients apart: a file with both is no "
      "safer than its classic ones";
  COFFER_TRY(conversation.Ask("msg", {}, AsBytes(kWarning)));
  return OkStatus();
}

Status ServeRecipient(Conversation& conversation, os::Random& random) {
  COFFER_ASSIGN_OR_RETURN(WrapRequest request, ReadWrapRequest(conversation));
  // All stanzas are made before the first is sent: with an error there must be none.
  std::vector<std::pair<size_t, Stanza>> wrapped;
  for (size_t file = 0; file < request.file_keys.size() && request.errors.empty(); ++file) {
    for (const auto& recipient : request.recipients) {
      Result<WrappedFileKey> result = recipient->Wrap(request.file_keys[file], random);
      if (!result.ok()) {
        request.errors.push_back({{"internal"}, result.error().message()});
        break;
      }
      for (Stanza& stanza : result->stanzas) wrapped.emplace_back(file, std::move(stanza));
    }
  }
  if (!request.errors.empty()) {
    COFFER_TRY(conversation.TellErrors(request.errors));
    return conversation.Finish();
  }
  COFFER_TRY(AnnounceStrength(request, conversation));
  for (auto& [file, stanza] : wrapped) {
    std::vector<std::string> arguments = {std::to_string(file), std::move(stanza.type)};
    std::ranges::move(stanza.arguments, std::back_inserter(arguments));
    COFFER_TRY(conversation.Tell("recipient-stanza", std::move(arguments), stanza.body));
  }
  return conversation.Finish();
}

// What a client of identity-v1 asked for.
struct UnwrapRequest {
  Identities identities;
  std::map<std::string, std::vector<Stanza>> files;  // by the index that the client gave
  std::vector<PluginError> errors;
};

// A number from 0 on in decimal, without leading zeros.
bool IsFileIndex(std::string_view text) {
  constexpr size_t kMaxDigits = 9;
  if (text.empty() || text.size() > kMaxDigits || (text.size() > 1 && text[0] == '0')) return false;
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

UnwrapRequest ParseUnwrapRequest(const SecretStanzas& stanzas) {
  UnwrapRequest request;
  size_t identity_index = 0;
  for (const Stanza& stanza : stanzas.list) {
    if (stanza.type == "add-identity" && stanza.arguments.size() == 1) {
      auto identity = CofferIdentity::Parse(stanza.arguments[0]);
      if (identity.ok()) {
        request.identities.push_back(std::make_unique<CofferIdentity>(std::move(*identity)));
      } else {
        request.errors.push_back(
            {{"identity", std::to_string(identity_index)}, identity.error().message()});
      }
      ++identity_index;
    } else if (stanza.type == "add-identity" || stanza.type == "recipient-stanza") {
      if (stanza.type == "add-identity" || stanza.arguments.size() < 2 ||
          !IsFileIndex(stanza.arguments[0])) {
        request.errors.push_back({{"internal"}, "malformed " + stanza.type});
        continue;
      }
      Stanza received{
          stanza.arguments[1], {stanza.arguments.begin() + 2, stanza.arguments.end()}, stanza.body};
      request.files[stanza.arguments[0]].push_back(std::move(received));
    }
  }
  return request;
}

// Finds the stanza that is malformed, to name it to the client.
PluginError MalformedStanzaError(const std::string& file, const std::vector<Stanza>& stanzas,
                                 Identity& identity, const std::string& message) {
  for (size_t i = 0; i < stanzas.size(); ++i) {
    if (!identity.Unwrap(std::span(stanzas).subspan(i, 1)).ok()) {
      return {{"stanza", file, std::to_string(i)}, message};
    }
  }
  return {{"internal"}, message};
}

Status ServeIdentity(Conversation& conversation) {
  COFFER_ASSIGN_OR_RETURN(const SecretStanzas stanzas, conversation.ReadPhaseOne());
  UnwrapRequest request = ParseUnwrapRequest(stanzas);
  if (!request.errors.empty()) {
    COFFER_TRY(conversation.TellErrors(request.errors));
    return conversation.Finish();
  }
  for (const auto& [file, received] : request.files) {
    for (const auto& identity : request.identities) {
      Result<std::optional<FileKey>> file_key = identity->Unwrap(received);
      if (!file_key.ok()) {
        COFFER_TRY(conversation.TellErrors(
            {MalformedStanzaError(file, received, *identity, file_key.error().message())}));
        break;
      }
      const std::optional<FileKey>& opened = *file_key;
      if (!opened) continue;
      COFFER_TRY(conversation.Tell("file-key", {file}, opened->Expose()));
      break;
    }
  }
  return conversation.Finish();
}

}  // namespace

Status ServePlugin(std::string_view state_machine, ByteSource& source, ByteSink& sink,
                   os::Random& random) {
  Conversation conversation(source, sink);
  if (state_machine == "recipient-v1") return ServeRecipient(conversation, random);
  if (state_machine == "identity-v1") return ServeIdentity(conversation);
  return Error(ErrorCode::kInvalidArgument,
               "unknown state machine; there are recipient-v1 and identity-v1");
}

}  // namespace coffer::age
