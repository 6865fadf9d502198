# SPDX-License-Identifier: Apache-2.0
"""The part of CBOR (RFC 8949) that records use, in deterministic encoding only.

Integers are int, byte strings bytes, text strings str, arrays lists, maps dicts with keys that are
not negative, and true and false bool.
"""

from errors import Damaged, require

MAX_NESTING = 8


def _head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << (8 * size):
            return bytes([major << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError("an integer of more than 64 bits")


def encode(item):
    if isinstance(item, bool):
        return b"\xf5" if item else b"\xf4"
    if isinstance(item, int):
        return _head(0, item) if item >= 0 else _head(1, -1 - item)
    if isinstance(item, bytes):
        return _head(2, len(item)) + item
    if isinstance(item, str):
        data = item.encode("utf-8")
        return _head(3, len(data)) + data
    if isinstance(item, (list, tuple)):
        return _head(4, len(item)) + b"".join(map(encode, item))
    return _head(5, len(item)) + b"".join(encode(key) + encode(item[key]) for key in sorted(item))


class _Decoder:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        require(size <= len(self.data) - self.at, "CBOR ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def head(self):
        first = self.take(1)[0]
        major, low = first >> 5, first & 31
        if low < 24:
            return major, low, low
        require(low <= 27, "CBOR of indefinite or unknown length")
        size = 1 << (low - 24)
        number = int.from_bytes(self.take(size), "big")
        require(_head(0, number)[0] == low, "a CBOR head that is not in its shortest form")
        return major, number, low

    def item(self, depth):
        major, number, low = self.head()
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major == 2:
            return self.take(number)
        if major == 3:
            try:
                return self.take(number).decode("utf-8")
            except UnicodeDecodeError:
                raise Damaged("a text that is not UTF-8") from None
        if major in (4, 5):
            require(depth < MAX_NESTING, "CBOR is nested too deep")
            return self.array(number, depth) if major == 4 else self.map(number, depth)
        require(major == 7 and low in (20, 21), "a CBOR type that records do not have")
        return low == 21

    def array(self, count, depth):
        require(count <= len(self.data) - self.at, "CBOR ends too early")
        return [self.item(depth + 1) for _ in range(count)]

    def map(self, count, depth):
        require(2 * count <= len(self.data) - self.at, "CBOR ends too early")
        out, last = {}, -1
        for _ in range(count):
            major, key, _ = self.head()
            require(major == 0, "a key of a map that is not an unsigned integer")
            require(key > last, "keys of a map do not ascend")
            out[key] = self.item(depth + 1)
            last = key
        return out


def decode(data):
    decoder = _Decoder(data)
    item = decoder.item(0)
    require(decoder.at == len(data), "bytes after the CBOR item")
    return item


def diagnostic(item):
    """Diagnostic notation, RFC 8949 section 8."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, bytes):
        return f"h'{item.hex()}'"
    if isinstance(item, str):
        return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(map(diagnostic, item)) + "]"
    return "{" + ", ".join(f"{key}: {diagnostic(item[key])}" for key in sorted(item)) + "}"
