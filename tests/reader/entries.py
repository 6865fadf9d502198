# SPDX-License-Identifier: Apache-2.0
"""Entries of commits and checkpoints: docs/format/vault.md, section Records."""

from dataclasses import dataclass, field

from errors import require
from items import (Fields, array, ascending, ident, number, octets, parse_refs, path, time,
                   uint)
from primitives import kt128

PIECE_SIZE = 4 << 20
FILE, DIRECTORY, SYMLINK, FIFO, CHARACTER_DEVICE, BLOCK_DEVICE, SOCKET = range(7)


@dataclass
class Entry:
    path: bytes
    kind: int
    mode: int
    owner: tuple
    modified: tuple
    names: tuple = None
    read: tuple = None
    changed: tuple = None
    inode: int = None
    size: int = None
    hash: bytes = None
    data: bytes = None
    blobs: list = None
    piece_hashes: bytes = None
    holes: list = None
    target: bytes = None
    link_group: int = None
    attributes: list = None
    device: tuple = None
    flags: int = None
    replaces: list = field(default_factory=list)  # refs as they stand: (index of a commit, index)
    ignored: dict = field(default_factory=dict)
    unknown: list = field(default_factory=list)

    def kept_size(self):
        return self.size - sum(size for _, size in self.holes or [])

    def pieces(self):
        """The sizes of the pieces."""
        whole, rest = divmod(self.kept_size(), PIECE_SIZE)
        return [PIECE_SIZE] * whole + ([rest] if rest else [])


def _blob(item):
    """(segment, offset, codec, stored size or None)"""
    array(item)
    require(len(item) in (2, 4), "a blob of another form")
    numbers = [number(item[0])] + [uint(part) for part in item[1:]]
    if len(numbers) == 2:
        return (*numbers, 0, None)
    require(numbers[2] != 0, "a blob of codec 0 in its long form")
    return tuple(numbers)


def _hole(item):
    array(item, 2)
    return uint(item[0]), uint(item[1])


def _attribute(item):
    array(item, 2)
    require(octets(item[0]) and b"\0" not in item[0], "the name of an attribute that is not one")
    return item[0], octets(item[1])


def _pair(parse):
    return lambda item: tuple(parse(part) for part in array(item, 2))


def _names(item):
    names = _pair(octets)(item)
    require(any(names), "two empty names")
    return names


def _file_size(item):
    return uint(item, 1 << 63, "a file's size")


def _flags(item):
    require(uint(item) > 0, "flags that say nothing")
    return item


def parse_entry(item, segment_count):
    f = Fields(item, "an entry")
    pair_of_time = lambda value: time(array(value, 2))  # noqa: E731
    entry = Entry(
        path=path(f.need(0)), kind=uint(f.need(1)), mode=uint(f.need(2), 4096, "a mode"),
        owner=_pair(number)(f.need(3)), names=f.optional(4, _names),
        modified=pair_of_time(f.need(5)), read=f.optional(6, pair_of_time),
        changed=f.optional(7, pair_of_time), inode=f.optional(8, uint),
        size=f.optional(9, _file_size), hash=f.optional(10, ident), data=f.optional(11, octets),
        blobs=f.optional(12, lambda v: [_blob(b) for b in array(v, least=1)]),
        piece_hashes=f.optional(13, octets),
        holes=f.optional(14, lambda v: [_hole(h) for h in array(v, least=1)]),
        target=f.optional(15, octets), link_group=f.optional(16, uint),
        attributes=f.optional(17, lambda v: ascending(
            [_attribute(a) for a in array(v, least=1)], "attributes", lambda a: a[0])),
        device=f.optional(18, _pair(uint)), flags=f.optional(19, _flags),
        replaces=f.optional(20, parse_refs) or [])
    entry.unknown, entry.ignored = f.rest()
    if entry.kind > SOCKET:
        entry.unknown.append(f"kind {entry.kind}")
    if (entry.flags or 0) & ~1:
        entry.unknown.append(f"flags {entry.flags}")
    entry.unknown += [f"codec {codec}" for _, _, codec, _ in entry.blobs or [] if codec]
    if entry.kind <= SOCKET:
        _check_kind(f, entry)
    if entry.kind == FILE:
        _check_data(entry, segment_count)
    return entry


def _check_kind(f, entry):
    if entry.kind == FILE:
        require(f.has(9) and f.has(10), "a file without size or content hash")
    else:
        require(not any(f.has(key) for key in range(9, 15)), "data of what is not a file")
    require(not (f.has(16) and entry.kind == DIRECTORY), "links to a directory")
    require(f.has(15) == (entry.kind == SYMLINK), "a target without a link, or a link without one")
    if entry.kind == SYMLINK:
        require(entry.target and b"\0" not in entry.target, "a target that is not one")
    require(f.has(18) == (entry.kind in (CHARACTER_DEVICE, BLOCK_DEVICE)),
            "numbers of what is not a device, or a device without them")


def _check_data(entry, segment_count):
    end = -1
    for offset, size in entry.holes or []:
        require(offset > end and size > 0, "holes that do not ascend, apart")
        end = offset + size
    require(end <= entry.size, "a hole beyond the end")
    pieces = entry.pieces()
    if not pieces:
        require(entry.data is None and entry.blobs is None and entry.piece_hashes is None,
                "data of a file without data")
        return
    require((entry.data is None) != (entry.blobs is None), "a file has its data once")
    if entry.data is not None:
        require(len(entry.data) == entry.kept_size(), "data of another size")
    else:
        require(len(entry.blobs) == len(pieces), "another number of blobs than of pieces")
        require(all(blob[0] < segment_count for blob in entry.blobs), "a blob outside the table")
    if len(pieces) < 2:
        require(entry.piece_hashes is None, "hashes of pieces of a file with one")
        return
    require(entry.piece_hashes is not None and len(entry.piece_hashes) == 32 * len(pieces),
            "another number of hashes than of pieces")
    require(content_hash(joined=entry.piece_hashes) == entry.hash,
            "the content hash is not that of the pieces' hashes")


def content_hash(data=b"", joined=None):
    """Of the only piece, or of the joined hashes of several."""
    if joined is not None:
        return kt128(joined, b"coffer/pieces/v1")
    return kt128(data)


def entry_item(entry):
    """The map of an entry, as parse_entry reads it."""
    optional_time = {6: entry.read, 7: entry.changed}
    item = {0: entry.path, 1: entry.kind, 2: entry.mode, 3: entry.owner, 5: entry.modified,
            4: entry.names, **optional_time, 8: entry.inode, 9: entry.size, 10: entry.hash,
            11: entry.data, 13: entry.piece_hashes, 14: entry.holes, 15: entry.target,
            16: entry.link_group, 17: entry.attributes, 18: entry.device, 19: entry.flags,
            20: entry.replaces or None, **entry.ignored}
    if entry.blobs:
        item[12] = [blob[:2] if blob[2] == 0 else blob for blob in entry.blobs]
    return {key: value for key, value in item.items() if value is not None}
