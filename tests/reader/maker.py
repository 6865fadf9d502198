# SPDX-License-Identifier: Apache-2.0
"""A small vault that is the same for the same seed and vault id, for other readers to read.

Two writers, A and B. B did not know A2 when it wrote B1: docs/a.txt is in conflict. A3 replaces
docs/moved of B2, which checkpoint C does not cover: a tombstone. Checkpoint D builds on C and
covers B2. A4 is covered by none.
"""

import hashlib
import os

import age
import entries
import keyfile
import recipient
import records
import segments
from entries import Entry, content_hash
from items import writer_key
from primitives import kt128, sha256
from vault import object_path, vault_file

WRITER_A, WRITER_B = bytes(range(0xB0, 0xC0)), bytes(range(0xC0, 0xD0))
OWNER = (1000, 1000)


class Publisher:
    """Writes objects; file keys, nonces and encapsulations come from the seed."""

    def __init__(self, folder, seed, vault_id):
        self.folder, self.seed, self.vault_id = folder, seed, vault_id
        self.identity, self.drawn = recipient.Identity(seed), 0

    def random(self, size):
        self.drawn += 1
        return hashlib.shake_256(b"coffer test vault" + self.seed + self.vault_id +
                                 bytes([self.drawn])).digest(size)

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)

    def publish(self, kind, plaintext):
        """(id, object's size, header's size, file key)"""
        file_key = self.random(16)
        enc, body = recipient.wrap(self.identity.ek, file_key, self.random(136))
        stanza = (recipient.STANZA_TYPE, [recipient.unpadded_base64(enc)], body)
        data = age.seal_file(file_key, [stanza], self.random(16), plaintext)
        ident = sha256(data)
        self.write(object_path(kind, ident), data)
        return ident, len(data), age.check_header(file_key, data), file_key

    def segment(self, writer, pieces):
        """(Segment, offsets of the pieces)"""
        plain, offsets, _ = segments.make_segment(pieces, writer, self.seed, self.vault_id)
        return records.Segment(*self.publish("segments", plain)), offsets

    def commit(self, commit):
        """A Covered: all that others say of it."""
        body = records.cbor.encode(commit.item())
        key = writer_key(self.seed, self.vault_id, commit.writer, 0)
        ident, _, header, file_key = self.publish(
            "commits", records.frame(records.COMMIT_MAGIC, body, key))
        return records.Covered(ident, commit.writer, commit.seq, commit.made, commit.started,
                               header, file_key)

    def checkpoint(self, checkpoint):
        body = records.cbor.encode(checkpoint.item())
        key = records.checkpoint_key(self.seed, self.vault_id)
        ident, _, header, file_key = self.publish(
            "checkpoints", records.frame(records.CHECKPOINT_MAGIC, body, key))
        return records.Known(ident, header, file_key)


def known(*covered):
    return sorted((records.Known(c.id, c.header_size, c.file_key) for c in covered),
                  key=lambda k: k.id)


def file_entry(path, pieces, time, **more):
    """A file of the pieces, which are its data, without a place for them."""
    size = sum(map(len, pieces)) + sum(hole[1] for hole in more.get("holes") or [])
    if len(pieces) < 2:
        return Entry(path, entries.FILE, 0o644, OWNER, (time, 5), size=size,
                     hash=content_hash(b"".join(pieces)), **more)
    hashes = b"".join(map(kt128, pieces))
    return Entry(path, entries.FILE, 0o644, OWNER, (time, 5), size=size,
                 hash=content_hash(joined=hashes), piece_hashes=hashes, **more)


TEXT = b"one piece of text\n" * 100
SPARSE = bytes(range(256)) * 3


def first_entries(offsets):
    """Those of A1, by path; blobs stand in the only segment."""
    def blob(i):
        return [(0, offsets[i], 0, None)]
    entry = Entry
    return sorted([
        entry(b"docs", entries.DIRECTORY, 0o755, OWNER, (-1, 999999999), names=(b"ann", b"staff")),
        file_entry(b"docs/a.txt", [TEXT], 100, blobs=blob(0), read=(101, 0), changed=(102, 0),
                   inode=77),
        file_entry(b"docs/inline", [b"kept here"], 103, data=b"kept here"),
        file_entry(b"docs/empty", [], 104),
        file_entry(b"docs/sparse", [SPARSE], 105, blobs=blob(1), flags=1,
                   holes=[(256, 4096), (4600, 10000)]),
        file_entry(b"docs/hollow", [], 106, holes=[(0, 1 << 20)]),
        file_entry(b"twin-1", [b"both"], 107, data=b"both", link_group=1),
        file_entry(b"twin-2", [b"both"], 107, data=b"both", link_group=1),
        entry(b"link", entries.SYMLINK, 0o777, OWNER, (108, 0), target=b"docs/a.txt"),
        entry(b"pipe", entries.FIFO, 0o600, OWNER, (109, 0)),
        entry(b"null", entries.CHARACTER_DEVICE, 0o666, (0, 0), (110, 0), device=(1, 3)),
        file_entry(b"\xff not utf-8", [b"raw"], 111, data=b"raw",
                   attributes=[(b"user.a", b""), (b"user.b", b"\0\1")]),
    ], key=lambda e: e.path)


class Builder:
    def __init__(self, publisher, large):
        self.out, self.large = publisher, large
        self.commits = {}

    def base(self, writer, seq, made, **more):
        return records.Commit(self.out.vault_id, writer, seq, (made, 0), (made - 1, 500),
                              **more)

    def add(self, name, commit):
        covered = self.out.commit(commit)
        self.commits[name] = commit, covered
        return covered

    def ref(self, name, path, table):
        """The ref of the entry of a commit by its path."""
        commit, covered = self.commits[name]
        return table.index(covered.id), [e.path for e in commit.entries].index(path)

    def ids(self, *names):
        return sorted(self.commits[name][1].id for name in names)

    def build_commits(self):
        segment_a, offsets = self.out.segment(WRITER_A, [TEXT, SPARSE])
        a1 = self.add("A1", self.base(WRITER_A, 1, 1000, segments=[segment_a],
                                      entries=first_entries(offsets)))
        table = self.ids("A1")
        a2 = self.add("A2", self.base(
            WRITER_A, 2, 2000, previous=a1.id, table=table, known=known(a1),
            entries=[file_entry(b"docs/a.txt", [b"of A"], 200, data=b"of A",
                                replaces=[self.ref("A1", b"docs/a.txt", table)])],
            removals=[(b"docs/empty", [self.ref("A1", b"docs/empty", table)])]))
        segment_b, offsets = self.out.segment(WRITER_B, [b"of B" * 300])
        b1 = self.add("B1", self.base(
            WRITER_B, 1, 3000, vector=[(WRITER_A, 1)], known=known(a1), table=table,
            segments=[segment_b],
            entries=[file_entry(b"docs/a.txt", [b"of B" * 300], 300,
                                blobs=[(0, offsets[0], 0, None)],
                                replaces=[self.ref("A1", b"docs/a.txt", table)])]))
        b2 = self.add("B2", self.base(
            WRITER_B, 2, 4000, previous=b1.id, vector=[(WRITER_A, 2)], known=known(a1, a2, b1),
            table=table, remark="moved, and \u2713",
            entries=[file_entry(b"docs/moved", [b"kept here"], 103, data=b"kept here")],
            removals=[(b"docs/inline", [self.ref("A1", b"docs/inline", table)])],
            pins=[(a1.id, True)]))
        table = self.ids("B2")
        a3 = self.add("A3", self.base(
            WRITER_A, 3, 5000, previous=a2.id, vector=[(WRITER_B, 2)],
            known=known(a1, a2, b1, b2), table=table,
            entries=[file_entry(b"docs/moved", [b"rewritten"], 500, data=b"rewritten",
                                replaces=[self.ref("B2", b"docs/moved", table)])]))
        c = self.checkpoint(0, 5500, ["A1", "A2", "B1", "A3"], [])
        self.checkpoint(1, 5600, ["B2"], [c])
        self.add_last(a3)

    def add_last(self, a3):
        """A4: an ignorable key, and with `large` a file of two pieces."""
        added = [file_entry(b"late", [b"late"], 600, data=b"late", ignored={200: [True, "later"]})]
        table = []
        if self.large:
            pieces = [bytes(range(256)) * (entries.PIECE_SIZE // 256), b"rest!"]
            segment, offsets = self.out.segment(WRITER_A, pieces)
            table = [segment]
            added.insert(0, file_entry(b"large", pieces, 601, holes=[(10, 4096)],
                                       blobs=[(0, offset, 0, None) for offset in offsets]))
        self.add("A4", self.base(WRITER_A, 4, 6000, previous=a3.id, vector=[(WRITER_B, 2)],
                                 segments=table, entries=added,
                                 horizon=(10, 0)))

    def checkpoint(self, level, made, names, bases):
        """Of the commits alone that are named: what others replace is another checkpoint's part."""
        covered = sorted((self.commits[name][1] for name in names), key=lambda c: c.id)
        own = {self.commits[name][1].id: self.commits[name][0] for name in names}
        order = [c.id for c in covered]
        replaced = {version for commit in own.values() for version in commit.replaced()}
        table = sorted({version[0] for version in replaced} - set(own))
        used = sorted({s for commit in own.values() for s in commit.segments}, key=lambda s: s.id)
        live = [(order.index(ident), index, self.moved(entry, commit.segments, used))
                for ident, commit in own.items() for index, entry in enumerate(commit.entries)
                if (ident, index) not in replaced]
        highest = {}
        for c in covered:
            highest[c.writer] = max(c.seq, highest.get(c.writer, 0))
        pins = [(pinned, kept, commit.made, ident) for ident, commit in own.items()
                for pinned, kept in commit.pins]
        return self.out.checkpoint(records.Checkpoint(
            self.out.vault_id, level, (made, 0), covered, sorted(highest.items()), used, table,
            sorted(live, key=lambda v: (v[2].path, v[0], v[1])),
            sorted((table.index(c), i) for c, i in replaced if c not in own), pins, None, bases))

    @staticmethod
    def moved(entry, own_table, table):
        """The entry as it stands in a checkpoint."""
        blobs = entry.blobs and [(table.index(own_table[b[0]]), *b[1:]) for b in entry.blobs]
        return Entry(**{**vars(entry), "blobs": blobs, "replaces": []})


def make(folder, seed, vault_id, secret=None, large=False):
    out = Publisher(folder, seed, vault_id)
    os.mkdir(folder)
    if secret is not None:
        data = keyfile.make(seed, vault_id, [secret, secret + b", of slot 1"],
                            [bytes(range(0x40, 0x50)), bytes(range(0x50, 0x60))])
        out.write(os.path.join("keys", keyfile.name("test", data)), data)
    out.write("coffer-vault", vault_file(vault_id, out.identity.ek, seed))
    Builder(out, large).build_commits()
