# SPDX-License-Identifier: Apache-2.0
"""ML-KEM-768 (FIPS 203) with its inputs of randomness as arguments."""

import hashlib

_Q, _N, _K = 3329, 256, 3
_ETA, _DU, _DV = 2, 10, 4
EK_SIZE, CIPHERTEXT_SIZE = 1184, 1088


def _reversed_bits(i):
    return int(f"{i:07b}"[::-1], 2)


_ZETAS = [pow(17, _reversed_bits(i), _Q) for i in range(128)]
_GAMMAS = [pow(17, 2 * _reversed_bits(i) + 1, _Q) for i in range(128)]


def _ntt(f):
    f, i, length = list(f), 1, 128
    while length >= 2:
        for start in range(0, _N, 2 * length):
            zeta = _ZETAS[i]
            i += 1
            for j in range(start, start + length):
                t = zeta * f[j + length]
                f[j + length] = (f[j] - t) % _Q
                f[j] = (f[j] + t) % _Q
        length //= 2
    return f


def _inverse_ntt(f):
    f, i, length = list(f), 127, 2
    while length <= 128:
        for start in range(0, _N, 2 * length):
            zeta = _ZETAS[i]
            i -= 1
            for j in range(start, start + length):
                t = f[j]
                f[j] = (t + f[j + length]) % _Q
                f[j + length] = zeta * (f[j + length] - t) % _Q
        length *= 2
    return [x * 3303 % _Q for x in f]


def _multiply(f, g):
    """MultiplyNTTs."""
    h = [0] * _N
    for i in range(128):
        a0, a1, b0, b1 = f[2 * i], f[2 * i + 1], g[2 * i], g[2 * i + 1]
        h[2 * i] = (a0 * b0 + a1 * b1 * _GAMMAS[i]) % _Q
        h[2 * i + 1] = (a0 * b1 + a1 * b0) % _Q
    return h


def _add(*polynomials):
    return [sum(column) % _Q for column in zip(*polynomials)]


def _dot(left, right):
    return _add(*[_multiply(f, g) for f, g in zip(left, right)])


def _encode(f, bits):
    total = 0
    for x in reversed(f):
        total = (total << bits) | x
    return total.to_bytes(32 * bits, "little")


def _decode(data, bits):
    total, mask = int.from_bytes(data, "little"), (1 << bits) - 1
    return [(total >> (bits * i)) & mask for i in range(_N)]


def _split(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


def _compress(f, bits):
    return [((x << bits) + _Q // 2) // _Q % (1 << bits) for x in f]


def _decompress(f, bits):
    return [(x * _Q + (1 << (bits - 1))) >> bits for x in f]


def _sample_ntt(seed):
    size = 840
    while True:
        stream, out = hashlib.shake_128(seed).digest(size), []
        for at in range(0, size, 3):
            a, b, c = stream[at:at + 3]
            out += [d for d in (a + 256 * (b % 16), b // 16 + 16 * c) if d < _Q]
        if len(out) >= _N:
            return out[:_N]
        size += 168


def _sample_cbd(seed, nonce):
    stream = int.from_bytes(hashlib.shake_256(seed + bytes([nonce])).digest(64 * _ETA), "little")
    out = []
    for i in range(_N):
        bits = stream >> (2 * _ETA * i)
        out.append(((bits & 1) + (bits >> 1 & 1) - (bits >> 2 & 1) - (bits >> 3 & 1)) % _Q)
    return out


def _matrix(rho):
    """A in the NTT domain: A[i][j] from rho || j || i."""
    return [[_sample_ntt(rho + bytes([j, i])) for j in range(_K)] for i in range(_K)]


def _g(data):
    digest = hashlib.sha3_512(data).digest()
    return digest[:32], digest[32:]


def _h(data):
    return hashlib.sha3_256(data).digest()


def key_pair(d, z):
    """ML-KEM.KeyGen_internal: (ek, dk)."""
    rho, sigma = _g(d + bytes([_K]))
    a = _matrix(rho)
    s = [_ntt(_sample_cbd(sigma, i)) for i in range(_K)]
    e = [_ntt(_sample_cbd(sigma, _K + i)) for i in range(_K)]
    t = [_add(_dot(a[i], s), e[i]) for i in range(_K)]
    ek = b"".join(_encode(f, 12) for f in t) + rho
    return ek, b"".join(_encode(f, 12) for f in s) + ek + _h(ek) + z


def is_reduced(ek):
    """The modulus check of section 7.2."""
    return all(x < _Q for part in _split(ek[:384 * _K], 384) for x in _decode(part, 12))


def _encrypt(ek, m, r):
    t = [_decode(part, 12) for part in _split(ek[:384 * _K], 384)]
    a = _matrix(ek[384 * _K:])
    y = [_ntt(_sample_cbd(r, i)) for i in range(_K)]
    e1 = [_sample_cbd(r, _K + i) for i in range(_K)]
    e2 = _sample_cbd(r, 2 * _K)
    u = [_add(_inverse_ntt(_dot([a[j][i] for j in range(_K)], y)), e1[i]) for i in range(_K)]
    v = _add(_inverse_ntt(_dot(t, y)), e2, _decompress(_decode(m, 1), 1))
    return b"".join(_encode(_compress(f, _DU), _DU) for f in u) + _encode(_compress(v, _DV), _DV)


def encapsulate(ek, m):
    """(shared secret, ciphertext)"""
    key, r = _g(m + _h(ek))
    return key, _encrypt(ek, m, r)


def decapsulate(dk, ciphertext):
    secret, ek = dk[:384 * _K], dk[384 * _K:768 * _K + 32]
    h, z = dk[768 * _K + 32:768 * _K + 64], dk[768 * _K + 64:]
    u = [_decompress(_decode(part, _DU), _DU)
         for part in _split(ciphertext[:32 * _DU * _K], 32 * _DU)]
    v = _decompress(_decode(ciphertext[32 * _DU * _K:], _DV), _DV)
    s = [_decode(part, 12) for part in _split(secret, 384)]
    product = _inverse_ntt(_dot(s, [_ntt(f) for f in u]))
    m = _encode(_compress([(x - y) % _Q for x, y in zip(v, product)], 1), 1)
    key, r = _g(m + h)
    if _encrypt(ek, m, r) != ciphertext:
        return hashlib.shake_256(z + ciphertext).digest(32)
    return key
