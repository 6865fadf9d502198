# SPDX-License-Identifier: Apache-2.0
"""The plaintext of segments: docs/format/vault.md, section Segments."""

import struct
from dataclasses import dataclass, field

import cbor
from entries import PIECE_SIZE
from errors import require
from items import (Fields, array, ident, origin, padded_size, uint, unknown_capability, writer_key)
from primitives import hmac_sha256, kt128

MAGIC = b"cofsegm1"


@dataclass
class Index:
    vault_id: bytes
    writer: bytes
    capability: int
    blobs: list   # (offset, stored size, size, codec, hash)
    unknown: list = field(default_factory=list)


def make_segment(pieces, writer, seed, vault_id, padding=True):
    """(plaintext, offsets of the pieces, CBOR of the index)"""
    blobs, offsets, index = b"", [], []
    for piece in pieces:
        offsets.append(len(blobs))
        index.append([len(blobs), len(piece), len(piece), 0, kt128(piece)])
        blobs += piece
    body = cbor.encode({0: vault_id, 1: writer, 2: 0, 3: index})
    sealed = body + hmac_sha256(writer_key(seed, vault_id, writer, 0), body)
    trailer = MAGIC + struct.pack(">2Q", len(blobs), len(sealed))
    size = len(blobs) + len(sealed) + len(trailer)
    zeros = bytes(padded_size(size) - size if padding else 0)
    return blobs + sealed + zeros + trailer, offsets, body


def open_segment(plain, seed, vault_id):
    """The index, its MAC right, its blobs back to back and with their hashes."""
    require(len(plain) >= 24 + 32 and plain[-24:-16] == MAGIC, "not a segment")
    offset, size = struct.unpack(">2Q", plain[-16:])
    end = offset + size
    require(size >= 32 and end <= len(plain) - 24, "the index lies outside the segment")
    require(not any(plain[end:-24]), "the padding is not zeros")
    body, mac = plain[offset:end - 32], plain[end - 32:end]
    f = Fields(cbor.decode(body), "an index")
    own_vault, writer, capability = origin(f)
    require(own_vault == vault_id, "the segment is another vault's")
    require(hmac_sha256(writer_key(seed, vault_id, writer, capability), body) == mac,
            "the index's MAC is wrong")
    blobs, at = [], 0
    for item in array(f.need(3)):
        array(item, 5)
        start, stored, plain_size, codec = [uint(number) for number in item[:4]]
        require(start == at, "blobs that are not back to back")
        require(0 < plain_size <= PIECE_SIZE, "a piece of another size")
        at += stored
        if codec == 0:
            require(stored == plain_size, "a stored piece of another size")
            require(kt128(plain[start:at]) == ident(item[4]), "a blob's hash is wrong")
        blobs.append((start, stored, plain_size, codec, ident(item[4])))
    require(at == offset, "the index does not follow the blobs")
    unknown = f.rest()[0] + unknown_capability(capability)
    return Index(own_vault, writer, capability, blobs, unknown)
