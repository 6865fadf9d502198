# SPDX-License-Identifier: Apache-2.0
"""A vault in a directory: docs/format/vault.md."""

import os
import re

import age
import recipient
import records
import segments
import state
from entries import content_hash
from errors import Damaged, NewerNeeded, NotForUs, require
from primitives import hkdf, hmac_sha256, kt128, sha256

VAULT_MAGIC = b"coffer vault1\r\n\x1a"
_VAULT_SIZE = 16948
_NAMES = re.compile(r"coffer-vault|reserve|tmp(/.*)?|"
                    r"keys(/[A-Za-z0-9._-]{1,64}-[0-9a-f]{16}\.key)?|"
                    r"segments(/(?P<two>[0-9a-f]{2})(/(?P=two)[0-9a-f]{62})?)?|"
                    r"(commits|checkpoints|condemned)(/[0-9a-f]{64})?")


def vault_file(vault_id, ek, seed):
    """The bytes of coffer-vault."""
    data = VAULT_MAGIC + b"\0\1\0\0" + vault_id + ek
    data += sha256(data)
    return data + hmac_sha256(hkdf(seed, vault_id, b"coffer/vault/v1"), data)


def open_vault_file(data, seed, identity):
    """The vault id."""
    require(data[:16] == VAULT_MAGIC, "coffer-vault is not one, or damaged")
    require(len(data) >= 20, "coffer-vault is too short")
    if data[16:20] != b"\0\1\0\0":
        raise NewerNeeded("a vault of another version")
    require(len(data) == _VAULT_SIZE, "coffer-vault has another size")
    require(sha256(data[:16884]) == data[16884:16916], "the checksum of coffer-vault is wrong")
    vault_id = data[20:36]
    if hmac_sha256(hkdf(seed, vault_id, b"coffer/vault/v1"), data[:16916]) != data[16916:]:
        raise NotForUs("the seed is not that of coffer-vault, or its MAC is wrong")
    require(data[36:16884] == identity.ek, "the recipient of coffer-vault is not the seed's")
    return vault_id


def object_path(kind, ident):
    name = ident.hex()
    return os.path.join(kind, name[:2], name) if kind == "segments" else os.path.join(kind, name)


class Vault:
    """All records of a vault, checked. `reports` says what is wrong with it."""

    def __init__(self, path, seed):
        self.path, self.seed, self.reports = path, seed, []
        self.identity = recipient.Identity(seed)
        self.id = open_vault_file(self.read("coffer-vault"), seed, self.identity)
        self.keys, self.decapsulations, self._segments = {}, 0, {}
        self.report_foreign_names()
        self.checkpoints = self.open_all("checkpoints", records.open_checkpoint)
        self.commits = self.open_all("commits", records.open_commit)
        for kind, opened in (("checkpoint", self.checkpoints), ("commit", self.commits)):
            self.reports += [f"{kind} {ident.hex()}: needs a newer coffer: {what}"
                             for ident, record in opened.items() for what in record.unknown]
        self.reports += state.sequence_reports(self.commits, self.checkpoints.values())
        self.live = self.merged_state()

    def read(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def report_foreign_names(self):
        for folder, folders, files in os.walk(self.path):
            for name in sorted(folders + files):
                inside = os.path.relpath(os.path.join(folder, name), self.path)
                if not _NAMES.fullmatch(inside):
                    self.reports.append(f"not ours: {inside!r}")

    def names(self, kind):
        folder = os.path.join(self.path, kind)
        found = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(bytes.fromhex(n) for n in found if re.fullmatch(r"[0-9a-f]{64}", n))

    def open_all(self, kind, parse):
        """{id: record}. What another record names is opened with the key that it names."""
        waiting, opened = self.names(kind), {}
        while waiting:
            ident = next((i for i in waiting if i in self.keys), waiting[0])
            waiting.remove(ident)
            try:
                opened[ident] = parse(self.open_object(kind, ident), self.seed, self.id)
                self.learn_keys(opened[ident])
            except (Damaged, NotForUs) as error:
                self.reports.append(f"{kind}/{ident.hex()}: {error}")
        return opened

    def learn_keys(self, record):
        if isinstance(record, records.Commit):
            named = record.known + record.segments
        else:
            named = record.covered + record.segments + record.bases
        for other in named:
            key = (other.file_key, other.header_size)
            require(self.keys.setdefault(other.id, key) == key, "two keys for one object")

    def open_object(self, kind, ident):
        """The plaintext of an object whose name is right and whose header has our stanza alone."""
        data = self.read(object_path(kind, ident))
        require(sha256(data) == ident, "its name is not the hash of its bytes")
        stanzas = age.parse_header(data)[0]
        require([stanza[0] for stanza in stanzas] == [recipient.STANZA_TYPE],
                "not exactly one stanza of the vault's type")
        if ident in self.keys:
            file_key, size = self.keys[ident]
            require(age.check_header(file_key, data) == size, "the header has another size")
        else:
            self.decapsulations += 1
            file_key, size = age.open_header(data, self.identity)
        return age.open_payload(file_key, data[size:])

    def merged_state(self):
        live = state.from_checkpoints(self.checkpoints.values(), self.commits)
        covered = {c.id for checkpoint in self.checkpoints.values() for c in checkpoint.covered}
        if covered <= set(self.commits):
            whole = state.from_commits(self.commits)
            require(set(live) == set(whole), "the checkpoints disagree with their commits")
            for key, version in live.items():
                self.check_same(version, whole[key])
        return live

    def check_same(self, one, other):
        """A version by way of a checkpoint, and by way of its commit."""
        def plain(version):
            entry = dict(vars(version.entry), replaces=None, blobs=None)
            blobs = [(version.segments[blob[0]], blob[1:]) for blob in version.entry.blobs or []]
            return version.made, entry, blobs
        require(plain(one) == plain(other), "a checkpoint has an entry that its commit has not")

    def segment(self, segment):
        """(index, plaintext)"""
        if segment.id not in self._segments:
            size = os.path.getsize(os.path.join(self.path, object_path("segments", segment.id)))
            require(size == segment.size, "a segment has another size")
            self.keys.setdefault(segment.id, (segment.file_key, segment.header_size))
            plain = self.open_object("segments", segment.id)
            self._segments[segment.id] = segments.open_segment(plain, self.seed, self.id), plain
        return self._segments[segment.id]

    def pieces(self, version):
        """The pieces of a file, each with its hash right."""
        entry = version.entry
        sizes = entry.pieces()
        hashes = entry.piece_hashes or entry.hash
        if not sizes:
            require(content_hash() == entry.hash, "the hash of no data is wrong")
        at = 0
        for i, size in enumerate(sizes):
            if entry.data is not None:
                piece = entry.data[at:at + size]
            else:
                piece = self.blob(version, entry.blobs[i], size, hashes[32 * i:32 * i + 32])
            require(kt128(piece) == hashes[32 * i:32 * i + 32], "the hash of a piece is wrong")
            at += size
            yield piece

    def blob(self, version, blob, size, digest):
        number, offset, codec, _ = blob
        if codec != 0:
            raise NewerNeeded(f"codec {codec}")
        index, plain = self.segment(version.segments[number])
        require((offset, size, size, 0, digest) in index.blobs, "a blob that its segment has not")
        return plain[offset:offset + size]

    def content(self, version):
        """The bytes of a file, holes as zeros."""
        kept, out, used = b"".join(self.pieces(version)), [], 0
        position = 0
        for offset, size in version.entry.holes or []:
            out.append(kept[used:used + offset - position] + bytes(size))
            used += offset - position
            position = offset + size
        return b"".join(out) + kept[used:]
