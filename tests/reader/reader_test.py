#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The second reader: examples of the documents, vaults that it makes, and damage to them."""
import contextlib
import copy
import hashlib
import io
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import cbor  # noqa: E402
import example  # noqa: E402
import keyfile  # noqa: E402
import maker  # noqa: E402
import reader  # noqa: E402
import recipient  # noqa: E402
import records  # noqa: E402
import segments  # noqa: E402
import state  # noqa: E402
from entries import content_hash  # noqa: E402
from errors import Damaged, NewerNeeded, NotForUs  # noqa: E402
from items import padded_size, writer_key  # noqa: E402
from primitives import chacha20_stream, hkdf, hmac_sha256, sha256, unseal  # noqa: E402
from vault import Vault  # noqa: E402

FORMATS = os.path.join(HERE, "..", "..", "docs", "format")
SEED, VAULT_ID = bytes(range(32)), bytes(range(0xA0, 0xB0))


def document(name):
    with open(os.path.join(FORMATS, name), encoding="utf-8") as file:
        return file.read()


class Recipient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.identity = recipient.Identity(bytes(range(32)))
        randomness = chacha20_stream(b"TEST RANDOMNESS TEST RANDOMNESS!", bytes(12), 0, 136)
        cls.enc, cls.body = recipient.wrap(cls.identity.ek, b"YELLOW SUBMARINE", randomness)

    def test_the_vector(self):
        text = document("recipient.md")
        values = re.findall(r"(?m)^\|[^|\n]*\| `([^`]*)`[^|\n]*\|$", text)[-5:]
        got = [self.identity.text, self.identity.recipient_text[:40] + "...",
               hashlib.sha256(self.identity.recipient_text.encode()).hexdigest(),
               hashlib.sha256(self.enc).hexdigest(), self.body.hex()]
        self.assertEqual(values, got)
        self.assertEqual((len(self.identity.text), len(self.identity.recipient_text)), (77, 26974))
        self.assertEqual(self.identity.unwrap([recipient.unpadded_base64(self.enc)], self.body),
                         b"YELLOW SUBMARINE")

    def test_changed_parts_are_for_nobody(self):
        for at in (0, 15743, 15791, 15792, 16880, 16911):
            changed = bytearray(self.enc)
            changed[at] ^= 1
            with self.assertRaises(NotForUs):
                self.identity.unwrap([recipient.unpadded_base64(bytes(changed))], self.body)

    def test_malformed_stanzas(self):
        text = recipient.unpadded_base64(self.enc)
        zeros = recipient.unpadded_base64(self.enc[:-32] + bytes(32))
        for arguments, body in [([], self.body), ([text, text], self.body),
                                ([text[:-4]], self.body), ([text], self.body[:-1]),
                                ([zeros], self.body),
                                ([text + "=="], self.body), ([text[:-1] + "B"], self.body)]:
            with self.assertRaises(Damaged):
                self.identity.unwrap(arguments, body)


class KeyFiles(unittest.TestCase):
    def setUp(self):
        example = document("keyfile.md").split("## An example")[1].split("## Versions")[0]
        block = example.split("and the file\n")[1].split("\nAs `laptop`")[0]
        self.data = bytes.fromhex("".join(block.split()))
        cells = re.findall(r"`([0-9a-f]{32})` `([0-9a-f]{32})`", example)
        self.tags = [bytes.fromhex("".join(cell)) for cell in cells[:2]]
        self.keys = [bytes.fromhex("".join(cell)) for cell in cells[2:]]

    def test_the_example(self):
        """All but Argon2id: its tags are the document's."""
        file = keyfile.KeyFile(self.data)
        self.assertEqual(file.vault_id, VAULT_ID)
        for i, slot in enumerate(file.slots):
            info = b"coffer/slot/v1" + bytes([i]) + slot.head + file.vault_id
            self.assertEqual(hkdf(self.tags[i], b"", info), self.keys[i])
            self.assertEqual(unseal(self.keys[i], bytes(12), slot.sealed), SEED)
        self.assertEqual(keyfile.name("laptop", self.data), "laptop-cd62a85f5f1b21ca.key")

    def long_example_with_its_secrets(self):
        """Minutes of Argon2id: run by its name alone."""
        for secret in (b"correct horse battery staple", b"7k3m-second-secret"):
            self.assertEqual(keyfile.KeyFile(self.data).open(secret), SEED)

    def test_small_costs(self):
        data = keyfile.make(SEED, VAULT_ID, [b"one", b"two"], [bytes(16), bytes(range(16))],
                            (32, 1, 2))
        with self.assertRaises(Damaged):
            keyfile.KeyFile(data)
        file = keyfile.KeyFile(data, (8, 1, 1))
        for secret in (b"one", b"two"):
            self.assertEqual(file.open(secret), SEED)
        with self.assertRaises(NotForUs):
            file.open(b"three")
        file.slots.reverse()  # a slot opens in its place alone
        with self.assertRaises(NotForUs):
            file.open(b"one")

    def test_the_order_of_reading(self):
        def changed(at, value, summed=True):
            data = bytearray(self.data)
            data[at] = value
            return bytes(data[:180]) + (sha256(bytes(data[:180])) if summed else data[180:])
        for data, error in [(changed(0, 0), Damaged), (self.data[:19], Damaged),
                            (changed(17, 2)[:40], NewerNeeded),
                            (changed(19, 1, False), NewerNeeded),
                            (self.data[:-1], Damaged), (changed(50, 0, False), Damaged),
                            (changed(108, 2), NewerNeeded), (changed(39, 2), Damaged),
                            (changed(109, 17), Damaged)]:
            with self.assertRaises(error):
                keyfile.KeyFile(data)


class VaultExample(unittest.TestCase):
    def test_the_bytes_are_those_of_the_reader(self):
        with open(os.path.join(HERE, "example.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), example.text() + "\n")

    def test_the_document_has_them(self):
        text = document("vault.md").split("## An example")[1]
        made = example.example()
        blocks = ["".join(block.split()) for block in re.findall(r"(?m)(?:^    .*\n)+", text)]
        commit, framed, pieces, index, tail, hashes = blocks[1:]
        self.assertEqual(blocks[0], "".join(made["commit"]["diagnostic"].split()))
        self.assertEqual(commit, made["commit"]["body"])
        self.assertEqual(framed.replace("...thebody", commit), made["commit"]["plaintext"])
        self.assertEqual(pieces + index + tail, made["segment"]["plaintext"])
        self.assertEqual(hashes, made["content_hash"]["nothing"] +
                         made["content_hash"]["of_joined"])
        cells = re.findall(r"\| `([0-9a-f]{64})` \|", text)
        self.assertEqual(cells, [*made["keys"].values(), made["coffer_vault"]["checksum"],
                                 made["coffer_vault"]["mac"]])
        self.assertEqual(re.findall(r"`([0-9a-f]{40})`", text), [made["coffer_vault"]["head"][:40]])
        sizes = re.findall(r"\| (\d+) \| (\d+) (?=\|)", text)
        self.assertEqual(sorted([int(a), int(b)] for a, b in sizes), made["padded_sizes"])

    def test_the_reader_reads_them(self):
        made = example.example()
        plain = bytes.fromhex(made["commit"]["plaintext"])
        self.assertEqual(records.open_commit(plain, SEED, VAULT_ID).writer.hex(), made["writer"])
        records.open_checkpoint(bytes.fromhex(made["checkpoint"]["plaintext"]), SEED, VAULT_ID)
        segments.open_segment(bytes.fromhex(made["segment"]["plaintext"]), SEED, VAULT_ID)


class Cbor(unittest.TestCase):
    def test_round_trip(self):
        for item in (0, 23, 24, 255, 256, 65535, 65536, 2 ** 32, 2 ** 64 - 1, -1, -24, -25,
                     -2 ** 64, b"", bytes(300), "\u2713", [], [1, [2]], {},
                     {0: 1, 23: b"", 24: True, 256: False}):
            self.assertEqual(cbor.decode(cbor.encode(item)), item)

    def test_refused(self):
        for text in ("", "1817", "190018", "1a00000018", "1b0000000000000018", "5801", "4161 00",
                     "5f4161ff", "9f01ff", "bf0101ff", "c001", "f6", "f7", "f800", "f90000",
                     "fa00000000", "fb0000000000000000", "a2010100 01", "a201010101", "a12001",
                     "a1616101", "a14101 01", "61ff", "8201", "9b00ffffffffffffff",
                     "5bffffffffffffffff", "1c", "818181818181818181 01", "ff", "1801"):
            with self.subTest(text), self.assertRaises(Damaged):
                cbor.decode(bytes.fromhex(text))
        self.assertEqual(cbor.decode(bytes.fromhex("818181818181818101")), [[[[[[[[1]]]]]]]])


class Padding(unittest.TestCase):
    def test_padme(self):
        for size, padded in ((2, 2), (8, 8), (9, 10), (100, 104), (257, 272), (1000, 1024),
                             (1025, 1088), (1000000, 1015808), (16777217, 17301504)):
            self.assertEqual(padded_size(size), padded)


class States(unittest.TestCase):
    """However commits are shared out between checkpoints, the state is theirs."""

    def random_commits(self, source):
        commits = {}
        for number in range(source.randrange(1, 9)):
            ident = bytes([source.randrange(256)]) + bytes(30) + bytes([number])
            versions = [(i, n) for i, c in commits.items() for n in range(len(c.entries))]
            refs = source.sample(versions, min(len(versions), source.randrange(3)))
            refs += [(b"\xff" * 32, 0)] * source.randrange(2)  # one that never comes
            table = sorted({i for i, _ in refs})
            refs = sorted((table.index(i), n) for i, n in refs)
            added = [maker.file_entry(b"%d" % n, [], 0)
                     for n in source.sample(range(5), source.randrange(3))]
            commit = records.Commit(VAULT_ID, bytes(16), 1, (source.randrange(3), 0), (0, 0),
                                    table=table, entries=added, removals=[(b"x", refs)])
            commits[ident] = commit
        return commits

    def checkpoint(self, commits, names):
        publisher = Collector()
        builder = maker.Builder(publisher, False)
        builder.commits = {i: (c, records.Covered(i, c.writer, c.seq, c.made, c.started, 1,
                                                  bytes(16))) for i, c in commits.items()}
        builder.checkpoint(0, 0, names, [])
        return publisher.made

    def test_any_partition(self):
        source = random.Random(1)
        for _ in range(300):
            commits = self.random_commits(source)
            parts = [[i for i in commits if source.random() < 0.5] for _ in range(3)]
            checkpoints = [self.checkpoint(commits, part) for part in parts]
            # What a checkpoint covers need not be there.
            there = {i: c for i, c in commits.items() if source.random() < 0.5 or
                     not any(i in part for part in parts)}
            self.assertEqual(set(state.from_checkpoints(checkpoints, there)),
                             set(state.from_commits(commits)))


class Collector:
    """Takes a checkpoint instead of a maker.Publisher."""
    vault_id = VAULT_ID

    def checkpoint(self, checkpoint):
        self.made = records.parse_checkpoint(cbor.decode(cbor.encode(checkpoint.item())))


class MadeVault(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = os.path.join(cls.folder, "vault")
        maker.make(cls.path, SEED, VAULT_ID, large=True)

    def run_reader(self, *arguments):
        """(exit status, standard output, standard error)"""
        out, error, before = io.StringIO(), io.StringIO(), sys.argv
        sys.argv = ["reader.py", *arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
                status = reader.main()
        finally:
            sys.argv = before
        return status, out.getvalue(), error.getvalue()

    def copy(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        return shutil.copytree(self.path, os.path.join(folder, "vault"))

    def test_list(self):
        status, out, error = self.run_reader("list", self.path, "--seed", SEED.hex())
        self.assertEqual((status, error), (0, ""))
        lines = {bytes.fromhex(line["path"]): line for line in map(json.loads, out.splitlines())}
        self.assertEqual(sorted(lines), [
            b"docs", b"docs/a.txt", b"docs/hollow", b"docs/moved", b"docs/sparse", b"large",
            b"late", b"link", b"null", b"pipe", b"twin-1", b"twin-2", b"\xff not utf-8"])
        self.assertEqual(lines[b"docs/a.txt"]["versions"], 2)
        self.assertEqual(lines[b"docs/a.txt"]["hash"], content_hash(b"of B" * 300).hex())
        self.assertEqual(lines[b"docs"]["mtime"], [-1, 999999999])
        status, out, _ = self.run_reader("list", self.path, "--all", "--seed", SEED.hex())
        self.assertEqual((status, len(out.splitlines())), (0, 14))

    def test_extract(self):
        destination = os.path.join(self.folder, "out")
        status, _, error = self.run_reader("extract", self.path, destination, "--seed", SEED.hex())
        self.assertEqual((status, error), (0, ""))

        def content(name):
            with open(os.path.join(os.fsencode(destination), name), "rb") as file:
                return file.read()
        self.assertEqual(content(b"docs/a.txt"), b"of B" * 300)
        self.assertEqual(content(b"docs/moved"), b"rewritten")
        self.assertEqual(content(b"docs/hollow"), bytes(1 << 20))
        sparse = maker.SPARSE
        self.assertEqual(content(b"docs/sparse"),
                         sparse[:256] + bytes(4096) + sparse[256:504] + bytes(10000) + sparse[504:])
        large = bytes(range(256)) * 16384 + b"rest!"
        self.assertEqual(content(b"large"), large[:10] + bytes(4096) + large[10:])
        self.assertEqual(os.readlink(os.path.join(destination, "link")), "docs/a.txt")

    def test_one_decapsulation_a_chain(self):
        """Checkpoints are opened with the identity, and what they name without it; A4 is new."""
        vault = Vault(self.path, SEED)
        self.assertEqual(vault.reports, [])
        self.assertLessEqual(vault.decapsulations, 3)

    def test_another_seed(self):
        status, _, error = self.run_reader("list", self.path, "--seed", bytes(32).hex())
        self.assertEqual(status, 1)
        self.assertIn("the seed is not that of coffer-vault", error)

    def objects(self, path, kind):
        return sorted(os.path.join(folder, name) for folder, _, names in
                      os.walk(os.path.join(path, kind)) for name in names)

    def test_changed_objects_are_reported(self):
        for kind in ("commits", "checkpoints"):
            path = self.copy()
            name = self.objects(path, kind)[0]
            with open(name, "r+b") as file:
                data = bytearray(file.read())
                data[-1] ^= 1
                file.seek(0)
                file.write(data)
            self.assertTrue(any("name is not the hash" in r for r in Vault(path, SEED).reports))

    def test_changed_segment_is_not_given_out(self):
        path = self.copy()
        for name in self.objects(path, "segments"):
            with open(name, "r+b") as file:
                file.seek(23000)
                file.write(b"damage")
        status, _, error = self.run_reader("extract", path, os.path.join(self.folder, "damaged"),
                                           "--seed", SEED.hex())
        self.assertEqual(status, 1)
        self.assertEqual(error.count("its name is not the hash of its bytes"), 3)

    def test_missing_commit(self):
        path = self.copy()
        vault = Vault(path, SEED)
        last = next(i for i, c in vault.commits.items() if c.seq == 4)
        third = next(i for i, c in vault.commits.items() if c.seq == 3)
        os.remove(os.path.join(path, "commits", third.hex()))
        self.assertEqual(Vault(path, SEED).reports,
                         [f"the covered commit {third.hex()} is not there"])
        shutil.rmtree(os.path.join(path, "checkpoints"))
        reports = Vault(path, SEED).reports
        self.assertEqual(reports, ["1 commits of writer b0b1b2b3b4b5b6b7b8b9babbbcbdbebf are "
                                   "missing, first 3"])
        os.remove(os.path.join(path, "commits", last.hex()))  # nobody knows of it
        self.assertEqual(Vault(path, SEED).reports, [])

    def test_without_checkpoints_the_state_is_the_same(self):
        path = self.copy()
        whole = set(Vault(path, SEED).live)
        name = self.objects(path, "checkpoints")
        for one in name:
            os.remove(one)
            self.assertEqual(set(Vault(path, SEED).live), whole)

    def test_foreign_names(self):
        path = self.copy()
        for name in ("notes", "commits/short", "segments/00/" + "1" * 64):
            os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
            with open(os.path.join(path, name), "wb"):
                pass
        self.assertEqual(sorted(Vault(path, SEED).reports),
                         ["not ours: 'commits/short'", "not ours: 'notes'",
                          f"not ours: 'segments/00/{'1' * 64}'"])

    def publish(self, path, item, key=None):
        out = maker.Publisher(path, SEED, VAULT_ID)
        out.drawn = 100
        out.publish("commits", records.frame(records.COMMIT_MAGIC, cbor.encode(item),
                                             key or writer_key(SEED, VAULT_ID, b"w" * 16, 0)))

    def commit_item(self, **changed):
        item = {0: VAULT_ID, 1: b"w" * 16, 2: 0, 3: 1, 5: [9000, 0], 6: [9000, 0], 7: [], 8: [],
                9: [], 10: [], 11: [{0: b"new", 1: 1, 2: 0, 3: [0, 0], 5: [0, 0]}], 12: []}
        item.update({int(key[1:]): value for key, value in changed.items()})
        return {key: value for key, value in item.items() if value is not None}

    def test_commits_that_do_not_count(self):
        for item, key, report in [
                (self.commit_item(), bytes(32), "the MAC is wrong"),
                (self.commit_item(k0=bytes(16)), None, "another vault's")]:
            path = self.copy()
            self.publish(path, item, key)
            vault = Vault(path, SEED)
            self.assertEqual(len(vault.reports), 1)
            self.assertIn(report, vault.reports[0])
            self.assertNotIn(b"new", state.by_path(vault.live))

    def test_data_in_an_entry_is_checked(self):
        path = self.copy()
        entry = {0: b"new", 1: 0, 2: 0, 3: [0, 0], 5: [0, 0], 9: 1, 10: bytes(32), 11: b"x"}
        self.publish(path, self.commit_item(k11=[entry]))
        vault = Vault(path, SEED)
        with self.assertRaisesRegex(Damaged, "hash of a piece"):
            vault.content(state.by_path(vault.live)[b"new"][0])

    def test_a_checkpoint_that_lies_about_its_commits(self):
        path = self.copy()
        vault = Vault(path, SEED)
        checkpoint = next(c for c in vault.checkpoints.values() if not c.bases)
        out = maker.Publisher(path, SEED, VAULT_ID)
        out.drawn = 100
        checkpoint.live.pop()
        out.checkpoint(checkpoint)
        with self.assertRaisesRegex(Damaged, "disagree"):
            Vault(path, SEED)

    def test_later_versions_are_read_as_far_as_understood(self):
        entry = {0: b"new", 1: 7, 2: 0, 3: [0, 0], 5: [0, 0], 19: 2, 100: "?"}
        path = self.copy()
        self.publish(path, self.commit_item(k11=[entry], k50=1, k130=[1]))
        vault = Vault(path, SEED)
        self.assertIn(b"new", state.by_path(vault.live))
        self.assertEqual([r.split("needs a newer coffer: ")[1] for r in vault.reports],
                         ["key 50 of a commit", "key 100 of an entry", "kind 7", "flags 2"])


class Forms(unittest.TestCase):
    """Records whose MAC would be right, and whose form is not."""

    def file(self, **changed):
        entry = {0: b"f", 1: 0, 2: 0, 3: [0, 0], 5: [0, 0], 9: 1, 10: content_hash(b"x"), 11: b"x"}
        entry.update({int(key[1:]): value for key, value in changed.items()})
        return {key: value for key, value in entry.items() if value is not None}

    def commit(self, *added, **changed):
        return MadeVault.commit_item(self, k11=list(added), **changed)

    def test_good_ones(self):
        for item in (self.commit(), self.commit(self.file()),
                     self.commit(self.file(k14=[[0, 5], [6, 1]], k9=7)),
                     self.commit(k3=2, k4=bytes(32)), self.commit(k200=[[[[]]]])):
            records.parse_commit(item)

    def test_bad_commits(self):
        one, two = bytes(32), b"\1" * 32
        segment = [one, 100, 10, bytes(16)]
        for changed in (
                {"k0": bytes(15)}, {"k1": None}, {"k2": 256}, {"k3": 0}, {"k3": 2}, {"k4": one},
                {"k5": [0]}, {"k5": [0, 10 ** 9]}, {"k5": [1 << 63, 0]}, {"k6": None},
                {"k7": [[b"w" * 16, 1]]}, {"k7": [[b"x" * 16, 1], [b"a" * 16, 1]]},
                {"k8": [[one, 1]]}, {"k9": [two, one]}, {"k9": [one, one]},
                {"k10": [segment, segment]}, {"k10": [segment + [0]]},
                {"k10": [[one, 10, 10, bytes(16)]]},
                {"k12": [[b"a", []]]}, {"k12": [[b"a", [[0, 0]]]]},
                {"k12": [[b"a", [[0, 0], [0, 0]]]], "k9": [one]},
                {"k12": [[b"b", [[0, 0]]], [b"a", [[0, 1]]]], "k9": [one]},
                {"k12": [[b"a", [[0, 1], [0, 0]]]], "k9": [one]},
                {"k12": [[b"a", [[0, 1 << 32]]]], "k9": [one]},
                {"k13": []}, {"k13": [[one, 1]]}, {"k13": [[one, True], [one, False]]},
                {"k15": b"bytes"}, {"k15": ""}, {"k200": [[[[[]]]]]}):
            with self.subTest(changed), self.assertRaises(Damaged):
                records.parse_commit(self.commit(**changed))

    def test_bad_entries(self):
        bad = [self.file(**changed) for changed in (
            {"k0": b""}, {"k0": b"/a"}, {"k0": b"a/"}, {"k0": b"a//b"}, {"k0": b"a/../b"},
            {"k0": b"."}, {"k0": b"a\0"}, {"k0": b"a" * ((1 << 20) + 1)}, {"k0": "text"},
            {"k2": 4096}, {"k2": True}, {"k3": [0]}, {"k5": [0, -1]}, {"k9": None}, {"k10": None},
            {"k9": 2}, {"k11": None}, {"k9": 0}, {"k12": [[0, 0]]}, {"k11": None, "k12": [[0, 0]]},
            {"k13": bytes(32)}, {"k14": []}, {"k14": [[0, 0]]}, {"k14": [[0, 2]]},
            {"k14": [[0, 1], [1, 1]], "k9": 3}, {"k15": b"t"}, {"k17": [[b"b", b""], [b"a", b""]]},
            {"k3": [1 << 32, 0]}, {"k4": [b"", b""]}, {"k9": 1 << 63}, {"k19": 0}, {"k17": []},
            {"k17": [[b"", b""]]}, {"k17": [[b"a\0", b""]]}, {"k200": {0: [[[[]]]]}}, {"k20": []},
            {"k18": [1, 2]}, {"k20": [[0, 0]]}, {"k1": 1}, {"k1": 2})]
        for entry in bad:
            with self.subTest(str(entry)[:200]), self.assertRaises(Damaged):
                records.parse_commit(self.commit(entry))
        with self.assertRaises(Damaged):
            records.parse_commit(self.commit(self.file(), self.file()))
        with self.assertRaises(Damaged):
            records.parse_commit(self.commit(self.file(), k9=[bytes(32)], k12=[[b"f", [[0, 0]]]]))
        with self.assertRaises(Damaged):
            records.parse_commit(self.commit(self.file(k11=None, k12=[[0, 0, 0, 1]]),
                                             k10=[[bytes(32), 100, 10, bytes(16)]]))

    def test_frames(self):
        key = writer_key(SEED, VAULT_ID, b"w" * 16, 0)
        plain = records.frame(records.COMMIT_MAGIC, cbor.encode(self.commit(self.file())), key)
        records.open_commit(plain, SEED, VAULT_ID)
        size = int.from_bytes(plain[8:16], "big")
        self.assertGreater(len(plain), size + 48)
        for at in (0, 15, 16, 30, 16 + size, len(plain) - 1):
            changed = bytearray(plain)
            changed[at] ^= 1
            with self.assertRaises(Damaged):
                records.open_commit(bytes(changed), SEED, VAULT_ID)
        for short in (b"", plain[:16], plain[:47], plain[:47 + size]):
            with self.assertRaises(Damaged):
                records.open_commit(short, SEED, VAULT_ID)

    def test_segments(self):
        plain, offsets, body = segments.make_segment([b"first", b"2nd"], b"w" * 16, SEED, VAULT_ID)
        self.assertEqual(offsets, [0, 5])
        index = segments.open_segment(plain, SEED, VAULT_ID)
        self.assertEqual([blob[:2] for blob in index.blobs], [(0, 5), (5, 3)])
        for at in (0, 7, 8, 8 + len(body), 8 + len(body) + 32, len(plain) - 24, len(plain) - 16,
                   len(plain) - 1):
            changed = bytearray(plain)
            changed[at] ^= 1
            with self.assertRaises(Damaged):
                segments.open_segment(bytes(changed), SEED, VAULT_ID)
        with self.assertRaises(Damaged):
            segments.open_segment(plain, SEED, bytes(16))

    def test_blobs_that_leave_gaps(self):
        piece = b"first"
        item = [0, len(piece), len(piece), 0, content_hash(piece)]
        for blobs, data in [([item], piece), ([[1, *item[1:]]], b"?" + piece),
                            ([item], piece + b"?"), ([[0, 5, 6, *item[3:]]], piece),
                            ([[1, 5, 5, 1, bytes(32)]], piece)]:
            body = cbor.encode({0: VAULT_ID, 1: b"w" * 16, 2: 0, 3: blobs})
            body += hmac_sha256(writer_key(SEED, VAULT_ID, b"w" * 16, 0), body)
            plain = data + body + b"cofsegm1" + struct.pack(">2Q", len(data), len(body))
            if data is piece and blobs[0] is item:
                segments.open_segment(plain, SEED, VAULT_ID)
            else:
                with self.assertRaises(Damaged):
                    segments.open_segment(plain, SEED, VAULT_ID)

    def test_checkpoints(self):
        one = bytes(32)
        covered = [one, b"w" * 16, 1, 0, 0, 0, 0, 1, bytes(16)]
        entry = MadeVault.commit_item(self)[11][0]
        good = {0: VAULT_ID, 1: 0, 2: [0, 0], 3: [covered], 4: [[b"w" * 16, 1]], 5: [],
                6: [b"\1" * 32], 7: [[0, 0, entry]], 8: [[0, 3]]}
        records.parse_checkpoint(good)
        for key, value in [(3, [covered, covered]), (3, [covered[:-1]]), (4, []),
                           (4, [[b"w" * 16, 2]]), (6, [one]), (7, [[1, 0, entry]]),
                           (7, [[0, 0, entry], [0, 0, entry]]),
                           (7, [[0, 0, {**entry, 20: [[0, 0]]}]]),
                           (8, [[1, 0]]), (8, [[0, 3], [0, 3]]), (9, []), (11, [])]:
            changed = copy.deepcopy(good)
            changed[key] = value
            with self.subTest(key), self.assertRaises(Damaged):
                records.parse_checkpoint(changed)


if __name__ == "__main__":
    unittest.main()
