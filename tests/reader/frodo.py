# SPDX-License-Identifier: Apache-2.0
"""FrodoKEM-976-SHAKE, salted (draft-longa-cfrg-frodokem-03), with its randomness as arguments.

Rows of a matrix are kept in large integers, an entry in each slot of 32 bits. Samples lie between
-10 and 10: they are moved up by 16 so that no slot is ever negative, and sums of 976 products with
16 bits stay below 2^32.
"""

import bisect
import hashlib
import operator
import struct

_N, _NHAT, _B = 976, 8, 3
_TABLE = [5638, 15915, 23689, 28571, 31116, 32217, 32613, 32731, 32760, 32766]  # without its last
_UP = 16
_SEC, _SE, _A = 24, 48, 16
PUBLIC_KEY_SIZE, CIPHERTEXT_SIZE = 15632, 15792
_C1 = 2 * _N * _NHAT
_C2 = 2 * _NHAT * _NHAT


def _shake(data, size):
    return hashlib.shake_256(data).digest(size)


def _samples(prefix, seed, count):
    words = struct.unpack(f"<{count}H", _shake(bytes([prefix]) + seed, 2 * count))
    out = []
    for word in words:
        e = bisect.bisect_left(_TABLE, word >> 1)
        out.append(-e if word & 1 else e)
    return out


def _row_of_a(seed_a, i):
    return hashlib.shake_128(struct.pack("<H", i) + seed_a).digest(2 * _N)


def _rows(flat, width):
    return [flat[at:at + width] for at in range(0, len(flat), width)]


def _pack(flat):
    return struct.pack(f">{len(flat)}H", *[x & 0xFFFF for x in flat])


def _unpack(data):
    return list(struct.unpack(f">{len(data) // 2}H", data))


def _times_narrow(rows, narrow):
    """rows * narrow, for rows of _N numbers and a matrix _N x _NHAT of samples, given as rows."""
    packed = [int.from_bytes(struct.pack(f"<{_NHAT}Q", *[x + _UP for x in row]), "little")
              for row in narrow]
    out = []
    for row in rows:
        total = sum(map(operator.mul, row, packed))
        lift = _UP * sum(row)
        out.append([x - lift for x in struct.unpack(f"<{_NHAT}Q", total.to_bytes(8 * _NHAT,
                                                                                "little"))])
    return out


def _samples_times_a(samples, seed_a):
    """S' * A, for the rows of S': products of a sample and a whole row of A are summed up."""
    mask = int.from_bytes(b"\xff\xff\0\0" * (_N // 2), "little")
    even, odd = [0] * _NHAT, [0] * _NHAT
    lift_even = lift_odd = 0
    for i in range(_N):
        row = int.from_bytes(_row_of_a(seed_a, i), "little")
        row_even, row_odd = row & mask, (row >> 16) & mask
        lift_even += row_even
        lift_odd += row_odd
        for k in range(_NHAT):
            factor = samples[k][i] + _UP
            even[k] += factor * row_even
            odd[k] += factor * row_odd

    def numbers(value):
        return struct.unpack(f"<{_N // 2}I", value.to_bytes(2 * _N, "little"))
    lifts = [numbers(lift_even), numbers(lift_odd)]
    out = []
    for k in range(_NHAT):
        row = [0] * _N
        row[0::2] = [x - _UP * y for x, y in zip(numbers(even[k]), lifts[0])]
        row[1::2] = [x - _UP * y for x, y in zip(numbers(odd[k]), lifts[1])]
        out.append(row)
    return out


def _encode(u):
    bits = int.from_bytes(u, "little")
    return [((bits >> (_B * i)) & 7) << (16 - _B) for i in range(_NHAT * _NHAT)]


def _decode(flat):
    total = 0
    for i, c in enumerate(flat):
        total |= (((c & 0xFFFF) + (1 << (15 - _B)) >> (16 - _B)) & 7) << (_B * i)
    return total.to_bytes(_SEC, "little")


def key_pair(s, seed_se, z):
    """KeyGenInternal: (pk, sk)."""
    seed_a = _shake(z, _A)
    samples = _samples(0x5F, seed_se, 2 * _N * _NHAT)
    s_transposed, e = samples[:_N * _NHAT], samples[_N * _NHAT:]
    rows = (struct.unpack(f"<{_N}H", _row_of_a(seed_a, i)) for i in range(_N))
    product = _times_narrow(rows, list(zip(*_rows(s_transposed, _N))))
    b = _pack([x + y for x, y in zip((x for row in product for x in row), e)])
    pk = seed_a + b
    sk = s + pk + struct.pack(f"<{_N * _NHAT}h", *s_transposed) + _shake(pk, _SEC)
    return pk, sk


def _encrypt(pk, u, seed_se):
    """B' and C, packed."""
    samples = _samples(0x96, seed_se, 2 * _N * _NHAT + _NHAT * _NHAT)
    s1 = _rows(samples[:_N * _NHAT], _N)
    e1 = samples[_N * _NHAT:2 * _N * _NHAT]
    e2 = samples[2 * _N * _NHAT:]
    product = [x for row in _samples_times_a(s1, pk[:_A]) for x in row]
    c1 = _pack([x + y for x, y in zip(product, e1)])
    columns = list(zip(*_rows(_unpack(pk[_A:]), _NHAT)))
    v = [sum(map(operator.mul, row, column)) for row in s1 for column in columns]
    return c1, _pack([x + y + z for x, y, z in zip(v, e2, _encode(u))])


def encapsulate(pk, u, salt):
    """(shared secret, ciphertext)"""
    seeds = _shake(_shake(pk, _SEC) + u + salt, _SE + _SEC)
    c1, c2 = _encrypt(pk, u, seeds[:_SE])
    ciphertext = c1 + c2 + salt
    return _shake(ciphertext + seeds[_SE:], _SEC), ciphertext


def decapsulate(sk, ciphertext):
    s, pk = sk[:_SEC], sk[_SEC:_SEC + PUBLIC_KEY_SIZE]
    s_bytes, pkh = sk[_SEC + PUBLIC_KEY_SIZE:-_SEC], sk[-_SEC:]
    c1, c2, salt = ciphertext[:_C1], ciphertext[_C1:_C1 + _C2], ciphertext[_C1 + _C2:]
    s_transposed = _rows(struct.unpack(f"<{_N * _NHAT}h", s_bytes), _N)
    product = _times_narrow(_rows(_unpack(c1), _N), list(zip(*s_transposed)))
    u = _decode([x - y for x, y in zip(_unpack(c2), (x for row in product for x in row))])
    seeds = _shake(pkh + u + salt, _SE + _SEC)
    key = seeds[_SE:] if _encrypt(pk, u, seeds[:_SE]) == (c1, c2) else s
    return _shake(ciphertext + key, _SEC)
