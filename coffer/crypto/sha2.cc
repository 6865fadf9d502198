// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/sha2.h"

#include <utility>

#include "coffer/crypto/internal/openssl.h"

namespace coffer::crypto {
namespace {

constexpr std::string_view kName = "SHA-2";

Result<const EVP_MD*> Fetch(Sha2 which) {
  return which == Sha2::kSha256 ? internal::FetchSha256() : internal::FetchSha512();
}

EVP_MD_CTX* Context(void* context) {
  COFFER_CHECK(context != nullptr);  // moved from
  return static_cast<EVP_MD_CTX*>(context);
}

template <size_t kSize>
Result<std::array<uint8_t, kSize>> Hash(Sha2 which, ByteSpan bytes) {
  COFFER_ASSIGN_OR_RETURN(const EVP_MD* const digest, Fetch(which));
  std::array<uint8_t, kSize> out;
  if (EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, digest, nullptr) != 1) {
    return internal::LibraryError(kName);
  }
  return out;
}

}  // namespace

Result<Sha2Hasher> Sha2Hasher::Create(Sha2 which) {
  COFFER_TRY(Fetch(which));
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  if (context == nullptr) return internal::LibraryError(kName);
  return Sha2Hasher(context, which);
}

Sha2Hasher::Sha2Hasher(Sha2Hasher&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      which_(other.which_),
      started_(other.started_) {}

Sha2Hasher& Sha2Hasher::operator=(Sha2Hasher&& other) noexcept {
  if (this == &other) return *this;
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
  context_ = std::exchange(other.context_, nullptr);
  which_ = other.which_;
  started_ = other.started_;
  return *this;
}

// The library wipes the state of the hash as it frees the context.
Sha2Hasher::~Sha2Hasher() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

Status Sha2Hasher::Start() {
  if (started_) return OkStatus();
  COFFER_ASSIGN_OR_RETURN(const EVP_MD* const digest, Fetch(which_));
  if (EVP_DigestInit_ex2(Context(context_), digest, nullptr) != 1) {
    return internal::LibraryError(kName);
  }
  started_ = true;
  return OkStatus();
}

Status Sha2Hasher::Update(ByteSpan bytes) {
  COFFER_TRY(Start());
  if (EVP_DigestUpdate(Context(context_), bytes.data(), bytes.size()) != 1) {
    return internal::LibraryError(kName);
  }
  return OkStatus();
}

Status Sha2Hasher::Finish(MutableByteSpan out) {
  COFFER_CHECK(out.size() == (which_ == Sha2::kSha256 ? 32 : 64));
  COFFER_TRY(Start());
  started_ = false;
  if (EVP_DigestFinal_ex(Context(context_), out.data(), nullptr) != 1) {
    return internal::LibraryError(kName);
  }
  return OkStatus();
}

Result<std::array<uint8_t, 32>> Sha256(ByteSpan bytes) { return Hash<32>(Sha2::kSha256, bytes); }

Result<std::array<uint8_t, 64>> Sha512(ByteSpan bytes) { return Hash<64>(Sha2::kSha512, bytes); }

}  // namespace coffer::crypto
