// SPDX-License-Identifier: Apache-2.0
// Unlocking a key file with the tags of its slots marked as secret: memcheck speaks up if anything
// depends on which slot opens, before that is chosen. And an AEAD opened in the usual way, whose
// haste it must catch.
#include <array>
#include <cstdio>
#include <string_view>

#include "coffer/base/ct.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/os/random.h"
#include "coffer/vault/key_file.h"

namespace coffer::vault {
namespace {

// Stands in for Argon2id, whose addresses are secret by design.
Status MarkedTags(std::span<const crypto::Argon2idJob> jobs) {
  for (const crypto::Argon2idJob& job : jobs) {
    for (size_t i = 0; i < job.tag.size(); ++i) {
      job.tag[i] = job.input.password[i % job.input.password.size()] ^ job.input.salt[i % 16];
    }
    ct::Poison(job.tag.data(), job.tag.size());
  }
  return OkStatus();
}

constexpr KeyFilePolicy kMarked = {.floor = kKeyFilePolicy.floor,
                                   .ceiling = kKeyFilePolicy.ceiling,
                                   .written = kKeyFilePolicy.written,
                                   .hash = MarkedTags};

bool Run() {
  crypto::CofferSeed seed;
  seed.ExposeMutable()[0] = 1;
  const SecretBuffer first = SecretBuffer::CopyOf("first");
  const SecretBuffer second = SecretBuffer::CopyOf("second");
  const SecretBuffer wrong = SecretBuffer::CopyOf("wrong");
  const auto made = KeyFile::Create({{}, seed, first, &second}, os::SystemRandom(), kMarked);
  if (!made.ok()) return false;
  auto bytes = made->Encode();
  if (!bytes.ok()) return false;
  ct::Unpoison(bytes->data(), bytes->size());
  const auto file = KeyFile::Parse(*bytes, kMarked);
  if (!file.ok() || file->Unlock(wrong, kMarked).ok()) return false;
  const auto by_first = file->Unlock(first, kMarked);
  const auto by_second = file->Unlock(second, kMarked);
  if (!by_first.ok() || by_first->slot != 0 || !by_second.ok() || by_second->slot != 1)
    return false;
  const bool same = ct::Equal(by_first->seed.Expose(), seed.Expose()) &&
                    ct::Equal(by_second->seed.Expose(), seed.Expose());
  const auto replaced = file->ReplaceSlot(*by_first, 0, wrong, os::SystemRandom(), kMarked);
  return ct::Declassify(same) && replaced.ok();
}

bool OpenInHaste() {
  std::array<uint8_t, 32> key{};
  ct::Poison(key.data(), key.size());
  const std::array<uint8_t, 12> nonce{};
  const std::array<uint8_t, 48> sealed{};
  std::array<uint8_t, 32> seed;
  auto aead = crypto::ChaCha20Poly1305::Create(key);
  return aead.ok() && aead->Open(nonce, {}, sealed, seed).ok();
}

}  // namespace
}  // namespace coffer::vault

int main(int argc, char** argv) {
  if (argc < 2) {
    if (coffer::vault::Run()) return 0;
    std::fputs("a key file did not do what it should\n", stderr);
    return 1;
  }
  if (std::string_view(argv[1]) == "open") return coffer::vault::OpenInHaste() ? 0 : 1;
  std::fprintf(stderr, "no such leak: %s\n", argv[1]);
  return 2;
}
