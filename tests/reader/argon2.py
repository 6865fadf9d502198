# SPDX-License-Identifier: Apache-2.0
"""Argon2id, version 0x13 (RFC 9106), in plain Python: about half a millisecond for each KiB."""

import hashlib
import struct

_M64 = (1 << 64) - 1
_M32 = (1 << 32) - 1


def _le32(number):
    return struct.pack("<I", number)


def _long_hash(data, size):
    """H' of RFC 9106 section 3.3."""
    data = _le32(size) + data
    if size <= 64:
        return hashlib.blake2b(data, digest_size=size).digest()
    block = hashlib.blake2b(data).digest()
    out = block[:32]
    while size - len(out) > 64:
        block = hashlib.blake2b(block).digest()
        out += block[:32]
    return out + hashlib.blake2b(block, digest_size=size - len(out)).digest()


def _indexes():
    """The index quadruples of GB for one permutation P: columns, then diagonals."""
    return [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def _quads():
    """The quadruples of a whole block: P on its eight rows, then on its eight columns of pairs."""
    sets = [[16 * row + i for i in range(16)] for row in range(8)]
    sets += [[2 * column + 16 * (i // 2) + i % 2 for i in range(16)] for column in range(8)]
    return [tuple(words[i] for i in quad) for words in sets for quad in _indexes()]


_QUADS = _quads()


def _compress(x, y):
    """G of RFC 9106 section 3.5 on lists of 128 words."""
    r = [p ^ q for p, q in zip(x, y)]
    z = list(r)
    for ia, ib, ic, id_ in _QUADS:
        a, b, c, d = z[ia], z[ib], z[ic], z[id_]
        a = (a + b + 2 * (a & _M32) * (b & _M32)) & _M64
        d ^= a
        d = (d >> 32) | ((d & _M32) << 32)
        c = (c + d + 2 * (c & _M32) * (d & _M32)) & _M64
        b ^= c
        b = (b >> 24) | ((b & 0xFFFFFF) << 40)
        a = (a + b + 2 * (a & _M32) * (b & _M32)) & _M64
        d ^= a
        d = (d >> 16) | ((d & 0xFFFF) << 48)
        c = (c + d + 2 * (c & _M32) * (d & _M32)) & _M64
        b ^= c
        z[ia], z[ib], z[ic], z[id_] = a, (b >> 63) | ((b << 1) & _M64), c, d
    return [p ^ q for p, q in zip(z, r)]


def _words(data):
    return list(struct.unpack("<128Q", data))


class _Filler:
    """The memory of one computation: `lanes` rows of blocks."""

    def __init__(self, lanes, passes, blocks):
        self.lanes, self.passes, self.blocks = lanes, passes, blocks
        self.columns = blocks // lanes
        self.segment = self.columns // 4
        self.memory = [[None] * self.columns for _ in range(lanes)]

    def fill_segment(self, number, lane, piece):
        """Section 3.4: one slice of one lane in one pass."""
        independent = number == 0 and piece < 2
        addresses = None
        first = 2 if number == 0 and piece == 0 else 0
        for i in range(first, self.segment):
            column = piece * self.segment + i
            before = self.memory[lane][column - 1]  # column 0 follows the last one
            if independent:
                if addresses is None or i % 128 == 0:
                    words = [number, lane, piece, self.blocks, self.passes, 2, i // 128 + 1]
                    zeros = [0] * 128
                    addresses = _compress(zeros, _compress(zeros, words + [0] * 121))
                j = addresses[i % 128]
            else:
                j = before[0]
            row, place = self.reference(number, lane, piece, i, j & _M32, j >> 32)
            block = _compress(before, self.memory[row][place])
            if number > 0:
                block = [p ^ q for p, q in zip(block, self.memory[lane][column])]
            self.memory[lane][column] = block

    def reference(self, number, lane, piece, i, j1, j2):
        row = lane if number == 0 and piece == 0 else j2 % self.lanes
        done = piece * self.segment if number == 0 else 3 * self.segment
        if row == lane:
            area = done + i - 1
        else:
            area = done - (1 if i == 0 else 0)
        relative = area - 1 - (area * ((j1 * j1) >> 32) >> 32)
        start = 0 if number == 0 else (piece + 1) * self.segment
        return row, (start + relative) % self.columns


def argon2id(password, salt, passes, memory, lanes, size, key=b"", data=b""):
    """The tag. `memory` is in KiB."""
    head = hashlib.blake2b(b"".join(map(_le32, [lanes, size, memory, passes, 0x13, 2])) + b"".join(
        _le32(len(part)) + part for part in (password, salt, key, data))).digest()
    filler = _Filler(lanes, passes, 4 * lanes * (memory // (4 * lanes)))
    for lane in range(lanes):
        for i in range(2):
            filler.memory[lane][i] = _words(_long_hash(head + _le32(i) + _le32(lane), 1024))
    for number in range(passes):
        for piece in range(4):
            for lane in range(lanes):
                filler.fill_segment(number, lane, piece)
    last = filler.memory[0][-1]
    for lane in range(1, lanes):
        last = [p ^ q for p, q in zip(last, filler.memory[lane][-1])]
    return _long_hash(struct.pack("<128Q", *last), size)
