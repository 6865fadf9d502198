# SPDX-License-Identifier: Apache-2.0
"""AES-256-CTR-DRBG as the known-answer tests of NIST's competition use it (SP 800-90A, no
derivation function), for the vectors of FrodoKEM."""


def _sbox():
    box, p, q = [0] * 256, 1, 1
    while True:
        p = p ^ (p << 1) & 0xFF ^ (0x1B if p & 0x80 else 0)
        for shift in (1, 2, 4):
            q ^= q << shift & 0xFF
        q ^= 0x09 if q & 0x80 else 0
        rotations = [(q << n | q >> (8 - n)) & 0xFF for n in range(5)]
        box[p] = rotations[0] ^ rotations[1] ^ rotations[2] ^ rotations[3] ^ rotations[4] ^ 0x63
        if p == 1:
            break
    box[0] = 0x63
    return box


_SBOX = _sbox()


def _round_keys(key):
    words, constant = [list(key[i:i + 4]) for i in range(0, 32, 4)], 1
    for i in range(8, 60):
        word = list(words[-1])
        if i % 8 == 0:
            word = [_SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant <<= 1
        elif i % 8 == 4:
            word = [_SBOX[b] for b in word]
        words.append([a ^ b for a, b in zip(words[i - 8], word)])
    return [sum(words[i:i + 4], []) for i in range(0, 60, 4)]


def _doubled(b):
    return b << 1 & 0xFF ^ (0x1B if b & 0x80 else 0)


def aes256(key, block):
    keys = _round_keys(key)
    s = [a ^ b for a, b in zip(block, keys[0])]
    for number in range(1, 15):
        s = [_SBOX[s[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 14:
            mixed = []
            for c in range(0, 16, 4):
                column = s[c:c + 4]
                total = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[i] ^ total ^ _doubled(column[i] ^ column[(i + 1) % 4])
                          for i in range(4)]
            s = mixed
        s = [a ^ b for a, b in zip(s, keys[number])]
    return bytes(s)


class Drbg:
    def __init__(self, seed):
        self._key, self._v = bytes(32), 0
        self._update(seed)

    def _blocks(self, size):
        out = b""
        while len(out) < size:
            self._v = (self._v + 1) % (1 << 128)
            out += aes256(self._key, self._v.to_bytes(16, "big"))
        return out[:size]

    def _update(self, data):
        mixed = bytes(a ^ b for a, b in zip(self._blocks(48), data))
        self._key, self._v = mixed[:32], int.from_bytes(mixed[32:], "big")

    def draw(self, size):
        out = self._blocks(size)
        self._update(bytes(48))
        return out
