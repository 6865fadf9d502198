# SPDX-License-Identifier: Apache-2.0
"""Commits and checkpoints: their framing, and their bodies as structures.

docs/format/vault.md, section Records. A structure has `unknown`: what only a later version
understands, in words; the rest of it holds all the same.
"""

import struct
from dataclasses import dataclass, field

import cbor
from entries import entry_item, parse_entry
from errors import require
from items import (Fields, array, ascending, flag, ident, octets, origin, padded, parse_refs,
                   parse_vector, path, resolved, time, uint, unknown_capability, writer_key)
from primitives import hkdf, hmac_sha256

COMMIT_MAGIC, CHECKPOINT_MAGIC = b"cofcomm1", b"cofchkp1"
MAX_BODY = 1 << 30


def checkpoint_key(seed, vault_id):
    return hkdf(seed, vault_id, b"coffer/checkpoint/v1")


@dataclass(frozen=True)
class Segment:
    id: bytes
    size: int
    header_size: int
    file_key: bytes

    @staticmethod
    def parse(item):
        array(item, 4)
        segment = Segment(ident(item[0]), uint(item[1], (1 << 48) + 1, "an object's size"),
                          uint(item[2], what="a header's size"), octets(item[3], 16))
        require(segment.header_size < segment.size, "a header larger than its object")
        return segment

    def item(self):
        return [self.id, self.size, self.header_size, self.file_key]


@dataclass(frozen=True)
class Known:
    """A known commit, or a checkpoint that another one builds on."""
    id: bytes
    header_size: int
    file_key: bytes

    @staticmethod
    def parse(item):
        array(item, 3)
        return Known(ident(item[0]), uint(item[1]), octets(item[2], 16))

    def item(self):
        return [self.id, self.header_size, self.file_key]


@dataclass
class Commit:
    vault_id: bytes
    writer: bytes
    seq: int
    made: tuple
    started: tuple
    capability: int = 0
    previous: bytes = None
    vector: list = field(default_factory=list)
    known: list = field(default_factory=list)
    table: list = field(default_factory=list)
    segments: list = field(default_factory=list)
    entries: list = field(default_factory=list)
    removals: list = field(default_factory=list)  # (path, refs)
    pins: list = field(default_factory=list)
    horizon: tuple = None
    remark: str = None
    unknown: list = field(default_factory=list)

    def replaced(self):
        """The versions that are not live any more because of this commit."""
        refs = [r for entry in self.entries for r in entry.replaces]
        refs += [r for _, removed in self.removals for r in removed]
        return resolved(refs, self.table)

    def item(self):
        item = {0: self.vault_id, 1: self.writer, 2: self.capability, 3: self.seq,
                4: self.previous, 5: self.made, 6: self.started, 7: self.vector,
                8: [k.item() for k in self.known], 9: self.table,
                10: [s.item() for s in self.segments], 11: [entry_item(e) for e in self.entries],
                12: self.removals, 13: self.pins or None, 14: self.horizon, 15: self.remark}
        return {key: value for key, value in item.items() if value is not None}


def _pin(item):
    array(item, 2)
    return ident(item[0]), flag(item[1])


def _removal(item):
    array(item, 2)
    return path(item[0]), parse_refs(item[1])


def _text(item):
    require(type(item) is str and item, "a remark that is not text")
    return item


def parse_commit(item):
    f = Fields(item, "a commit")
    by_id = lambda known: known.id  # noqa: E731
    vault_id, writer, capability = origin(f)
    segments = ascending([Segment.parse(s) for s in array(f.need(10))], "segments", by_id)
    commit = Commit(
        vault_id, writer, capability=capability, seq=uint(f.need(3)),
        previous=f.optional(4, ident), made=time(array(f.need(5), 2)),
        started=time(array(f.need(6), 2)), vector=parse_vector(f.need(7)),
        known=ascending([Known.parse(k) for k in array(f.need(8))], "known commits", by_id),
        table=ascending([ident(i) for i in array(f.need(9))], "commits of refs"),
        segments=segments,
        entries=ascending([parse_entry(e, len(segments)) for e in array(f.need(11))], "entries",
                          lambda entry: entry.path),
        removals=ascending([_removal(r) for r in array(f.need(12))], "removals",
                           lambda removal: removal[0]),
        pins=f.optional(13, lambda v: [_pin(p) for p in array(v, least=1)]) or [],
        horizon=f.optional(14, lambda v: time(array(v, 2))), remark=f.optional(15, _text))
    require(commit.seq >= 1, "a commit with the number 0")
    require((commit.previous is None) == (commit.seq == 1), "the commit before, or its absence")
    require(all(other != writer for other, _ in commit.vector), "a vector that names its writer")
    require({entry.path for entry in commit.entries}.isdisjoint(path for path, _ in commit.removals),
            "a path that is added and removed")
    ascending(commit.pins, "pins", lambda pin: pin[0])
    commit.replaced()
    commit.unknown = f.rest()[0] + unknown_capability(capability)
    commit.unknown += [u for entry in commit.entries for u in entry.unknown]
    return commit


@dataclass(frozen=True)
class Covered:
    id: bytes
    writer: bytes
    seq: int
    made: tuple
    started: tuple
    header_size: int
    file_key: bytes

    @staticmethod
    def parse(item):
        array(item, 9)
        return Covered(ident(item[0]), octets(item[1], 16), uint(item[2]), time(item[3:5]),
                       time(item[5:7]), uint(item[7]), octets(item[8], 16))

    def item(self):
        return [self.id, self.writer, self.seq, *self.made, *self.started, self.header_size,
                self.file_key]


@dataclass
class Checkpoint:
    vault_id: bytes
    level: int
    made: tuple
    covered: list
    vector: list
    segments: list
    table: list
    live: list       # (index into covered, index in the commit, entry)
    tombstones: list
    pins: list = field(default_factory=list)
    horizon: tuple = None
    bases: list = field(default_factory=list)
    unknown: list = field(default_factory=list)

    def item(self):
        item = {0: self.vault_id, 1: self.level, 2: self.made,
                3: [c.item() for c in self.covered], 4: self.vector,
                5: [s.item() for s in self.segments], 6: self.table,
                7: [[c, i, entry_item(e)] for c, i, e in self.live], 8: self.tombstones,
                9: [[p, kept, *made, by] for p, kept, made, by in self.pins] or None,
                10: self.horizon, 11: [b.item() for b in self.bases] or None}
        return {key: value for key, value in item.items() if value is not None}


def _live(item, segment_count):
    array(item, 3)
    entry = parse_entry(item[2], segment_count)
    require(not entry.replaces and 20 not in item[2], "an entry of a checkpoint with key 20")
    return uint(item[0]), uint(item[1]), entry


def _checkpoint_pin(item):
    array(item, 5)
    return ident(item[0]), flag(item[1]), time(item[2:4]), ident(item[4])


def parse_checkpoint(item):
    f = Fields(item, "a checkpoint")
    by_id = lambda known: known.id  # noqa: E731
    segments = ascending([Segment.parse(s) for s in array(f.need(5))], "segments", by_id)
    checkpoint = Checkpoint(
        octets(f.need(0), 16, "a vault id"), uint(f.need(1)), time(array(f.need(2), 2)),
        ascending([Covered.parse(c) for c in array(f.need(3))], "covered commits", by_id),
        parse_vector(f.need(4)), segments,
        ascending([ident(i) for i in array(f.need(6))], "commits of refs"),
        [_live(v, len(segments)) for v in array(f.need(7))],
        parse_refs(f.need(8), least=0),
        pins=f.optional(9, lambda v: [_checkpoint_pin(p) for p in array(v, least=1)]) or [],
        horizon=f.optional(10, lambda v: time(array(v, 2))),
        bases=f.optional(11, lambda v: [Known.parse(k) for k in array(v, least=1)]) or [])
    covered = checkpoint.covered
    require(all(c < len(covered) for c, _, _ in checkpoint.live), "a version outside the table")
    ascending(checkpoint.live, "versions", lambda v: (v[2].path, covered[v[0]].id, v[1]))
    replaced = {commit for commit, _ in resolved(checkpoint.tombstones, checkpoint.table)}
    require(not replaced & {c.id for c in covered}, "a tombstone that is covered")
    require(len({(c, i) for c, i, _ in checkpoint.live}) == len(checkpoint.live), "a version twice")
    ascending(checkpoint.pins, "pins", lambda pin: pin[0])
    ascending(checkpoint.bases, "checkpoints", by_id)
    if not checkpoint.bases:
        _check_vector(checkpoint)
    checkpoint.unknown = f.rest()[0] + [u for _, _, e in checkpoint.live for u in e.unknown]
    return checkpoint


def _check_vector(checkpoint):
    highest = {}
    for c in checkpoint.covered:
        highest[c.writer] = max(c.seq, highest.get(c.writer, 0))
    require(dict(checkpoint.vector) == highest, "a vector that is not that of what is covered")


# Framing.

def frame(magic, body, key, padding=True):
    """The plaintext of a commit or checkpoint."""
    plain = magic + struct.pack(">Q", len(body)) + body
    return padded(plain + hmac_sha256(key, plain), padding)


def open_frame(plain, magic, key_of):
    """(body, decoded body), its MAC right under key_of(decoded body)."""
    require(plain[:8] == magic, "the magic is wrong")
    require(len(plain) >= 48, "the record is too short")
    size = struct.unpack(">Q", plain[8:16])[0]
    require(size <= MAX_BODY and size <= len(plain) - 48, "the body's size is wrong")
    body = plain[16:16 + size]
    require(not any(plain[48 + size:]), "the padding is not zeros")
    item = cbor.decode(body)
    require(hmac_sha256(key_of(item), plain[:16 + size]) == plain[16 + size:48 + size],
            "the MAC is wrong")
    return body, item


def open_commit(plain, seed, vault_id):
    def key_of(item):
        own_vault, writer, capability = origin(Fields(item, "a commit"))
        require(own_vault == vault_id, "the commit is another vault's")
        return writer_key(seed, vault_id, writer, capability)
    body, item = open_frame(plain, COMMIT_MAGIC, key_of)
    commit = parse_commit(item)
    _check_round_trip(commit, body)
    return commit


def open_checkpoint(plain, seed, vault_id):
    body, item = open_frame(plain, CHECKPOINT_MAGIC,
                            lambda item: checkpoint_key(seed, vault_id))
    checkpoint = parse_checkpoint(item)
    require(checkpoint.vault_id == vault_id, "the checkpoint is another vault's")
    _check_round_trip(checkpoint, body)
    return checkpoint


def _check_round_trip(record, body):
    """An invariant of the document, as a test of this reader."""
    if not record.unknown and 128 > max(cbor.decode(body)):
        require(cbor.encode(record.item()) == body, "encoded again, the record differs")
