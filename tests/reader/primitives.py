# SPDX-License-Identifier: Apache-2.0
"""Symmetric cryptography and X25519 in plain Python.

It is for checking formats: nothing here is constant-time, and nothing is wiped. Where speed matters
many lanes are kept in one large integer, so that one operation of Python works on all of them.
"""

import hashlib
import hmac
import struct

from errors import NotForUs


def hmac_sha256(key, data):
    return hmac.digest(key, data, "sha256")


def hkdf_extract(salt, ikm):
    return hmac_sha256(salt or bytes(32), ikm)


def hkdf_expand(prk, info, size=32):
    out, block = b"", b""
    while len(out) < size:
        block = hmac_sha256(prk, block + info + bytes([len(out) // 32 + 1]))
        out += block
    return out[:size]


def hkdf(ikm, salt, info, size=32):
    """HKDF-SHA256, RFC 5869."""
    return hkdf_expand(hkdf_extract(salt, ikm), info, size)


def xor(a, b):
    return (int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).to_bytes(len(a), "little")


# ChaCha20-Poly1305, RFC 8439. Each of the 16 words is an integer with a slot of 64 bits for every
# block; a word fills the lower half of its slot.

_QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
             (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def chacha20_stream(key, nonce, counter, size):
    """`size` bytes of the key stream from block `counter` on."""
    count = -(-size // 64)
    if count == 0:
        return b""
    ones = int.from_bytes((b"\1" + bytes(7)) * count, "little")
    mask = ones * 0xFFFFFFFF
    start = [word * ones for word in struct.unpack("<4I8I", b"expand 32-byte k" + key)]
    start.append(int.from_bytes(struct.pack(f"<{count}Q", *range(counter, counter + count)),
                                "little"))
    start += [word * ones for word in struct.unpack("<3I", nonce)]
    x = list(start)

    def rotated(value, bits):
        return ((value << bits) | (value >> (32 - bits))) & mask

    for _ in range(10):
        for a, b, c, d in _QUARTERS:
            x[a] = (x[a] + x[b]) & mask
            x[d] = rotated(x[d] ^ x[a], 16)
            x[c] = (x[c] + x[d]) & mask
            x[b] = rotated(x[b] ^ x[c], 12)
            x[a] = (x[a] + x[b]) & mask
            x[d] = rotated(x[d] ^ x[a], 8)
            x[c] = (x[c] + x[d]) & mask
            x[b] = rotated(x[b] ^ x[c], 7)
    words = [0] * (16 * count)
    for i in range(16):
        total = (x[i] + start[i]) & mask
        words[i::16] = struct.unpack(f"<{count}Q", total.to_bytes(8 * count, "little"))
    return struct.pack(f"<{16 * count}I", *words)[:size]


def poly1305(key, data):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(key[16:], "little")
    prime = (1 << 130) - 5
    total = 0
    for at in range(0, len(data), 16):
        total = (total + int.from_bytes(data[at:at + 16] + b"\1", "little")) * r % prime
    return ((total + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def _aead_tag(one_time_key, additional, ciphertext):
    def filled(data):
        return data + bytes(-len(data) % 16)
    return poly1305(one_time_key, filled(additional) + filled(ciphertext) +
                    struct.pack("<2Q", len(additional), len(ciphertext)))


def seal(key, nonce, plaintext, additional=b""):
    """ChaCha20-Poly1305: the ciphertext and its tag."""
    stream = chacha20_stream(key, nonce, 0, 64 + len(plaintext))
    ciphertext = xor(plaintext, stream[64:])
    return ciphertext + _aead_tag(stream[:32], additional, ciphertext)


def unseal(key, nonce, sealed, additional=b""):
    """The plaintext, or NotForUs."""
    if len(sealed) < 16:
        raise NotForUs("shorter than a tag")
    ciphertext, tag = sealed[:-16], sealed[-16:]
    stream = chacha20_stream(key, nonce, 0, 64 + len(ciphertext))
    if not hmac.compare_digest(tag, _aead_tag(stream[:32], additional, ciphertext)):
        raise NotForUs("the tag is wrong")
    return xor(ciphertext, stream[64:])


# X25519, RFC 7748 section 5.

_P = (1 << 255) - 19


def x25519(scalar, u):
    k = int.from_bytes(scalar, "little")
    k = (k & ~7 & ((1 << 254) - 1)) | (1 << 254)
    x1 = (int.from_bytes(u, "little") & ((1 << 255) - 1)) % _P
    x2, z2, x3, z3, swapped = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = (k >> t) & 1
        if swapped != bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = bit
        a, b = x2 + z2, x2 - z2
        aa, bb = a * a % _P, b * b % _P
        e = aa - bb
        da, cb = (x3 - z3) * a % _P, (x3 + z3) * b % _P
        x3, z3 = (da + cb) ** 2 % _P, x1 * (da - cb) ** 2 % _P
        x2, z2 = aa * bb % _P, e * (aa + 121665 * e) % _P
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, _P - 2, _P) % _P).to_bytes(32, "little")


X25519_BASE = (9).to_bytes(32, "little")


# KT128, RFC 9861. A state is 25 integers with 64 bits for each of the messages that are hashed side
# by side, which all have one length.

_ROUND_CONSTANTS = [
    0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008]


def _rotations():
    """(from, to, bits) of the steps rho and pi: lane x + 5y."""
    steps, x, y = [(0, 0, 0)], 1, 0
    for t in range(24):
        steps.append((x + 5 * y, y + 5 * ((2 * x + 3 * y) % 5), (t + 1) * (t + 2) // 2 % 64))
        x, y = y, (2 * x + 3 * y) % 5
    return steps


_RHO_PI = _rotations()


def _keccak_p12(a, ones, low):
    full = low[64]

    def rotated(value, bits):
        return ((value & low[64 - bits]) << bits) | ((value >> (64 - bits)) & low[bits])

    for constant in _ROUND_CONSTANTS:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[(x + 4) % 5] ^ rotated(c[(x + 1) % 5], 1) for x in range(5)]
        b = [0] * 25
        for source, target, bits in _RHO_PI:
            b[target] = rotated(a[source] ^ d[source % 5], bits)
        for y in range(0, 25, 5):
            for x in range(5):
                a[y + x] = b[y + x] ^ ((b[y + (x + 1) % 5] ^ full) & b[y + (x + 2) % 5])
        a[0] ^= constant * ones


def turboshake128_many(messages, domain, size):
    """TurboSHAKE128 of each message; all have one length."""
    rate, count = 168, len(messages)
    ones = int.from_bytes((b"\1" + bytes(7)) * count, "little")
    low = [ones * ((1 << bits) - 1) for bits in range(65)]
    state = [0] * 25
    length = len(messages[0])
    end = bytes([domain]) + bytes(-(length + 1) % rate)
    end = end[:-1] + bytes([end[-1] ^ 0x80])
    for at in range(0, length + len(end), rate):
        blocks = [m[at:at + rate] for m in messages]
        if at + rate > length:
            blocks = [block + end for block in blocks]
        for lane in range(rate // 8):
            joined = b"".join([block[8 * lane:8 * lane + 8] for block in blocks])
            state[lane] ^= int.from_bytes(joined, "little")
        _keccak_p12(state, ones, low)
    outputs = [b""] * count
    while len(outputs[0]) < size:
        lanes = [state[lane].to_bytes(8 * count, "little") for lane in range(rate // 8)]
        for i in range(count):
            outputs[i] += b"".join([lane[8 * i:8 * i + 8] for lane in lanes])
        _keccak_p12(state, ones, low)
    return [output[:size] for output in outputs]


def turboshake128(message, domain, size):
    return turboshake128_many([message], domain, size)[0]


def _length_encode(number):
    digits = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return digits + bytes([len(digits)])


def kt128(message, customization=b"", size=32):
    chunk = 8192
    s = message + customization + _length_encode(len(customization))
    if len(s) <= chunk:
        return turboshake128(s, 0x07, size)
    leaves = [s[at:at + chunk] for at in range(chunk, len(s), chunk)]
    whole = leaves if len(leaves[-1]) == chunk else leaves[:-1]
    chained = []
    for at in range(0, len(whole), 128):
        chained += turboshake128_many(whole[at:at + 128], 0x0B, 32)
    if len(whole) < len(leaves):
        chained.append(turboshake128(leaves[-1], 0x0B, 32))
    node = (s[:chunk] + b"\3" + bytes(7) + b"".join(chained) + _length_encode(len(leaves)) +
            b"\xff\xff")
    return turboshake128(node, 0x06, size)


def sha256(data):
    return hashlib.sha256(data).digest()
