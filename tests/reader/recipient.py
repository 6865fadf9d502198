# SPDX-License-Identifier: Apache-2.0
"""The coffer recipient: docs/format/recipient.md, and X-Wing (draft-connolly-cfrg-xwing-kem)."""

import base64
import hashlib
import struct

import frodo
import mlkem
from errors import NotForUs, require
from primitives import X25519_BASE, hkdf_expand, hkdf_extract, seal, unseal, x25519

STANZA_TYPE = "coffer-frodo976-xwing"
EK_SIZE, ENC_SIZE = 16848, 16912
_LABEL = b"coffer/frodo976-mlkem768-x25519/v1"
_XWING_LABEL = bytes.fromhex("5c2e2f2f5e5c")


def unpadded_base64(data):
    return base64.b64encode(data).decode().rstrip("=")


def from_unpadded_base64(text):
    """The bytes of canonical base64 without padding, or Damaged."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        data = None
    require(data is not None and unpadded_base64(data) == text, "base64 is not canonical")
    return data


_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def bech32(prefix, data):
    """Bech32 of BIP 173 without a limit of length, in lower case."""
    bits = int.from_bytes(data, "big") << (-len(data) * 8 % 5)
    count = -(-len(data) * 8 // 5)
    values = [(bits >> (5 * i)) & 31 for i in reversed(range(count))]
    checked = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + values
    remainder = 1
    for value in checked + [0] * 6:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for i, generator in enumerate([0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3]):
            if top >> i & 1:
                remainder ^= generator
    remainder ^= 1
    values += [(remainder >> (5 * i)) & 31 for i in reversed(range(6))]
    return prefix + "1" + "".join(_BECH32[v] for v in values)


def hpke_keys(shared_secret, suite_id, info):
    """(key, base_nonce) of the key schedule of RFC 9180 section 5.1 in base mode."""
    def extract(salt, label, ikm):
        return hkdf_extract(salt, b"HPKE-v1" + suite_id + label + ikm)

    def expand(prk, label, context, size):
        return hkdf_expand(prk, struct.pack(">H", size) + b"HPKE-v1" + suite_id + label + context,
                           size)
    context = b"\0" + extract(b"", b"psk_id_hash", b"") + extract(b"", b"info_hash", info)
    secret = extract(shared_secret, b"secret", b"")
    return expand(secret, b"key", context, 32), expand(secret, b"base_nonce", context, 12)


class XWing:
    """The key pair of a seed of 32 bytes."""

    def __init__(self, seed):
        expanded = hashlib.shake_256(seed).digest(96)
        ek, self._dk = mlkem.key_pair(expanded[:32], expanded[32:64])
        self._scalar = expanded[64:]
        self.public_key = ek + x25519(self._scalar, X25519_BASE)

    def decapsulate(self, ciphertext):
        """None stands for an X25519 share that gives zeros."""
        share = ciphertext[mlkem.CIPHERTEXT_SIZE:]
        secret = x25519(self._scalar, share)
        if secret == bytes(32):
            return None
        return _combine(mlkem.decapsulate(self._dk, ciphertext[:mlkem.CIPHERTEXT_SIZE]), secret,
                        share, self.public_key[mlkem.EK_SIZE:])


def _combine(first, second, share, public_share):
    return hashlib.sha3_256(first + second + share + public_share + _XWING_LABEL).digest()


def xwing_encapsulate(public_key, randomness):
    """(shared secret, ciphertext), from 64 bytes of randomness."""
    ek, public_share = public_key[:mlkem.EK_SIZE], public_key[mlkem.EK_SIZE:]
    first, ciphertext = mlkem.encapsulate(ek, randomness[:32])
    share = x25519(randomness[32:], X25519_BASE)
    second = x25519(randomness[32:], public_share)
    require(second != bytes(32), "the recipient's X25519 share gives zeros")
    return _combine(first, second, share, public_share), ciphertext + share


def _keys(ss_frodo, ss_xwing, enc, ek):
    ss = hashlib.sha3_256(ss_frodo + ss_xwing + hashlib.sha3_256(enc).digest() +
                          hashlib.sha3_256(ek).digest() + _LABEL).digest()
    return hpke_keys(ss, b"HPKE" + bytes.fromhex("ff0100010003"), _LABEL)


def wrap(ek, file_key, randomness):
    """(enc, body), from 136 bytes of randomness: mu and salt of FrodoKEM, then X-Wing's."""
    require(len(ek) == EK_SIZE, "the recipient has another size")
    require(mlkem.is_reduced(ek[frodo.PUBLIC_KEY_SIZE:]), "the ML-KEM key is not reduced")
    ss_frodo, first = frodo.encapsulate(ek[:frodo.PUBLIC_KEY_SIZE], randomness[:24],
                                        randomness[24:72])
    ss_xwing, second = xwing_encapsulate(ek[frodo.PUBLIC_KEY_SIZE:], randomness[72:])
    enc = first + second
    key, nonce = _keys(ss_frodo, ss_xwing, enc, ek)
    return enc, seal(key, nonce, file_key)


class Identity:
    def __init__(self, seed):
        parts = hashlib.shake_256(b"coffer/identity/v1" + seed).digest(120)
        public, self._frodo = frodo.key_pair(parts[32:56], parts[56:104], parts[104:])
        self._xwing = XWing(parts[:32])
        self.ek = public + self._xwing.public_key
        self.text = bech32("age-plugin-coffer-", seed).upper()
        self.recipient_text = bech32("age1coffer", self.ek)

    def unwrap(self, arguments, body):
        """The file key. Damaged for a malformed stanza, NotForUs for another's."""
        require(len(arguments) == 1, "the stanza has another number of arguments")
        enc = from_unpadded_base64(arguments[0])
        require(len(enc) == ENC_SIZE, "the encapsulated key has another size")
        require(len(body) == 32, "the stanza's body has another size")
        ss_xwing = self._xwing.decapsulate(enc[frodo.CIPHERTEXT_SIZE:])
        require(ss_xwing is not None, "the X25519 share gives zeros")
        ss_frodo = frodo.decapsulate(self._frodo, enc[:frodo.CIPHERTEXT_SIZE])
        key, nonce = _keys(ss_frodo, ss_xwing, enc, self.ek)
        try:
            return unseal(key, nonce, body)
        except NotForUs:
            raise NotForUs("the stanza is not for this identity") from None
