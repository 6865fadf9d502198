#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damage of every kind to every class of object, and adds that are killed at any system call.

usage: vault_damage_test.py BIN_DIR
"""
import hashlib
import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from vault_test import DAMAGED, FAILED, OK, Machine  # noqa: E402

import tempfile  # noqa: E402


def objects(vault, kind):
    """The paths of one class of objects, sorted."""
    if kind == "coffer-vault":
        return [os.path.join(vault, kind)]
    return sorted(os.path.join(directory, name)
                  for directory, _, names in os.walk(os.path.join(vault, kind)) for name in names)


def rewrite(path, change):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    os.remove(path)
    with open(path, "wb") as file:
        file.write(change(data))


def flip(place):
    def change(data):
        data[int(len(data) * place) if isinstance(place, float) else place] ^= 0x10
        return data
    return change


DAMAGES = {
    "emptied": lambda data: b"",
    "cut to one byte": lambda data: data[:1],
    "cut in the header": lambda data: data[:len(data) // 3],
    "cut by one byte": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "flipped at the front": flip(3),
    "flipped in the middle": flip(0.5),
    "flipped at the end": flip(-1),
}


class DamageTest(unittest.TestCase):
    binaries = ""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.machine = m = Machine(cls.binaries, cls.holder.name).init()
        cls.contents = {}
        # 18 commits: one checkpoint over 16, two that it does not cover.
        for number in range(18):
            name = f"file-{number:02}"
            cls.contents[name] = os.urandom(9000)
            m.run("add", "-q", "--stdin-name", name, stdin=cls.contents[name])
        cls.pristine = m.vault + "-pristine"
        shutil.copytree(m.vault, cls.pristine)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def setUp(self):
        shutil.rmtree(self.machine.vault)
        shutil.copytree(self.pristine, self.machine.vault)

    def get_what_is_whole(self):
        """How many files come out; each is right, or does not come out at all."""
        whole = 0
        for name, content in list(self.contents.items())[::6]:
            done = subprocess.run(
                [self.machine.program, "get", name, "-o", "-"], capture_output=True, check=False,
                cwd=self.machine.directory, env=self.machine.environment)
            if done.stdout:
                self.assertEqual(done.stdout, content)
                whole += 1
            else:
                self.assertNotEqual(done.returncode, OK)
        return whole

    def test_every_damage_to_every_class(self):
        for kind, readable in (("segments", 2), ("commits", 2), ("checkpoints", 3)):
            for damage, change in DAMAGES.items():
                with self.subTest(kind=kind, damage=damage):
                    self.setUp()
                    victim = objects(self.machine.vault, kind)[0]
                    rewrite(victim, change)
                    name = os.path.basename(victim).encode()
                    self.assertIn(name, self.machine.out("check", code=DAMAGED))
                    self.assertIn(name, self.machine.out("check", "--no-key", code=DAMAGED))
                    self.assertGreaterEqual(self.get_what_is_whole(), readable)

    def test_removed_and_swapped_objects(self):
        for kind in ("segments", "commits"):
            with self.subTest(kind=kind, damage="removed"):
                self.setUp()
                os.remove(objects(self.machine.vault, kind)[0])
                self.machine.run("check", code=DAMAGED)
                self.assertGreaterEqual(self.get_what_is_whole(), 2)
            with self.subTest(kind=kind, damage="swapped"):
                self.setUp()
                first, second = objects(self.machine.vault, kind)[:2]
                os.rename(first, first + ".x")
                os.rename(second, first)
                os.rename(first + ".x", second)
                found = self.machine.out("check", code=DAMAGED)
                self.assertIn(os.path.basename(first).encode(), found)
                self.assertIn(os.path.basename(second).encode(), found)
        # State is all there without a checkpoint.
        self.setUp()
        os.remove(objects(self.machine.vault, "checkpoints")[0])
        self.machine.run("check")
        self.assertEqual(self.get_what_is_whole(), 3)

    def test_what_only_history_needs_is_missed(self):
        with tempfile.TemporaryDirectory() as directory:
            m = Machine(self.binaries, directory).init()
            m.run("add", "-q", "--stdin-name", "passing", stdin=os.urandom(9000))
            m.run("rm", "-q", "passing")
            for number in range(16):  # so that a checkpoint no longer speaks of it
                m.run("add", "-q", "--stdin-name", str(number), stdin=b"x")
            self.assertEqual(m.out("check"), b"")
            os.remove(objects(m.vault, "segments")[0])
            self.assertIn(b"missing", m.out("check", code=DAMAGED))

    def test_damage_to_what_a_vault_begins_with(self):
        for damage, change in DAMAGES.items():
            with self.subTest(damage=damage):
                self.setUp()
                rewrite(objects(self.machine.vault, "coffer-vault")[0], change)
                if damage != "flipped at the end":  # the MAC, which takes the key
                    self.machine.run("check", "--no-key", code=DAMAGED)
                self.machine.run("add", "--stdin-name", "x", stdin=b"x", code=DAMAGED)
                self.setUp()
                rewrite(objects(self.machine.vault, "keys")[0], change)
                self.machine.run("check", "--no-key", code=DAMAGED)
                self.machine.run("list", code=DAMAGED)
        self.setUp()
        os.remove(os.path.join(self.machine.vault, "coffer-vault"))
        self.machine.run("list", code=FAILED)
        self.machine.run("init", "-q", "--no-recovery", code=FAILED)

    def test_objects_of_another_vault(self):
        """Whole, of the right form, and made by nobody who has the seed."""
        with tempfile.TemporaryDirectory() as directory:
            other = Machine(self.binaries, directory).init()
            other.run("add", "-q", "--stdin-name", "planted", stdin=os.urandom(9000))
            for kind in ("commits", "segments"):
                for path in objects(other.vault, kind):
                    target = path.replace(other.vault, self.machine.vault)
                    shutil.copy(path, target)
        done = self.machine.run("list", code=DAMAGED)
        self.assertNotIn(b"planted", done.stdout)
        self.assertEqual(len(done.stdout.splitlines()), len(self.contents))
        self.assertIn(b"commits/", self.machine.out("list", "--unverified", code=DAMAGED))

    def test_records_of_somebody_who_has_the_recipient(self):
        """The recipient is public: anybody can make an age file to it, and nobody a MAC."""
        m = self.machine
        m.run("key", "export", "--identity", "identity")
        self.addCleanup(os.remove, m.path("identity"))
        recipient = m.out("keygen", "-y", "identity").decode().strip()
        for kind in ("commits", "checkpoints"):
            for place in (9, 60, -1):
                with self.subTest(kind=kind, place=place):
                    self.setUp()
                    original = objects(m.vault, kind)[0]
                    plain = bytearray(m.out("decrypt", "-i", "identity", original))
                    if place == -1:  # as it is, under a file key of its own: a second of the same
                        place = len(plain.rstrip(b"\0")) - 1
                    plain[place] ^= 1
                    forged = m.out("encrypt", "-r", recipient, stdin=bytes(plain))
                    name = hashlib.sha256(forged).hexdigest()
                    with open(os.path.join(m.vault, kind, name), "wb") as file:
                        file.write(forged)
                    done = m.run("list", code=DAMAGED)
                    self.assertIn(name.encode(), done.stderr)
                    self.assertEqual(len(done.stdout.splitlines()), len(self.contents))
                    m.run("check", "--no-key")  # whole, as far as anybody can tell without the key
                    self.assertIn(name.encode(), m.out("check", code=DAMAGED))

    def test_strangers_are_named(self):
        for name in ("commits/x", "segments/zz", "readme", "segments/ab/" + "0" * 63):
            path = os.path.join(self.machine.vault, name)
            with open(path, "w", encoding="ascii") as file:
                file.write("x")
            self.assertIn(name.encode(), self.machine.out("check", "--no-key"))


class LossTest(unittest.TestCase):
    """What was lost is stored again by whoever still has it."""
    binaries = ""

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.machine = m = Machine(self.binaries, self.holder.name).init()
        os.mkdir(m.path("tree"))
        for name, size in (("small", 9000), ("big", 20 << 20), ("note", 10)):
            with open(m.path("tree", name), "wb") as file:
                file.write(os.urandom(size))
        m.run("add", "-q", "tree")

    def expect_whole(self):
        self.machine.run("get", "-q", "tree", "-o", "back")
        subprocess.run(["diff", "-r", self.machine.path("tree"), self.machine.path("back")],
                       check=True)
        shutil.rmtree(self.machine.path("back"))

    def test_segments_that_are_gone_or_cut_are_stored_again(self):
        for name, lose in (("gone", os.remove), ("cut", lambda path: rewrite(path, lambda d: d[:99]))):
            for path in objects(self.machine.vault, "segments"):
                with self.subTest(damage=name, path=path):
                    lose(path)
                    self.machine.run("get", "-q", "tree", "-o", "broken", code=DAMAGED)
                    shutil.rmtree(self.machine.path("broken"))
                    self.machine.run("add", "-q", "tree")
                    self.expect_whole()

    def test_check_names_every_file_that_is_hit(self):
        m = self.machine
        os.mkdir(m.path("many"))
        for number in range(60):
            with open(m.path("many", str(number)), "wb") as file:
                file.write(os.urandom(1000))
        before = set(objects(m.vault, "segments"))
        m.run("add", "-q", "many")
        os.remove((set(objects(m.vault, "segments")) - before).pop())
        found = m.out("check", code=DAMAGED)
        for number in range(60):
            self.assertIn(b"hits many/%d\n" % number, found)
        # Stored again, it is still missed by the past.
        m.run("add", "-q", "many")
        found = m.out("check", code=DAMAGED)
        self.assertIn(b"only earlier versions", found)
        self.assertNotIn(b"hits", found)

    def test_another_machine_stores_them_again(self):
        os.remove(objects(self.machine.vault, "segments")[0])
        other = Machine(self.binaries, self.machine.directory)
        other.environment["XDG_STATE_HOME"] = other.path("other-state")
        other.run("add", "-q", "tree")
        self.expect_whole()

    def test_a_vault_copied_without_its_empty_directories(self):
        for directory, _, _ in os.walk(self.machine.vault, topdown=False):
            if not os.listdir(directory):
                os.rmdir(directory)
        self.machine.run("check")
        for number in range(20):
            self.machine.run("add", "-q", "--stdin-name", str(number), stdin=os.urandom(9000))
        self.expect_whole()
        self.machine.run("check")


class CostTest(unittest.TestCase):
    binaries = ""

    def test_500_small_files_wait_for_the_disk_ten_times(self):
        with tempfile.TemporaryDirectory() as directory:
            m = Machine(self.binaries, directory).init()
            os.mkdir(m.path("tree"))
            for i in range(500):
                with open(m.path("tree", str(i)), "wb") as file:
                    file.write(os.urandom(1000 + 30 * i))
            calls = ("fsync", "fdatasync", "msync", "sync", "syncfs", "sync_file_range",
                     "io_uring_enter")
            subprocess.run(["strace", "-f", "-qq", "-o", m.path("calls"), "-e",
                            "trace=" + ",".join(calls), m.program, "add", "-q", "tree"],
                           check=True, cwd=m.directory, env=m.straced())
            with open(m.path("calls"), encoding="utf-8") as file:
                seen = [line for line in file if "sync_file_range" not in line and "(" in line]
            waits = [line for line in seen if "resumed" not in line and "+++" not in line]
            self.assertLessEqual(len(waits), 10, "".join(waits))
            self.assertTrue(all("fsync" in line or "fdatasync" in line for line in waits))
            self.assertEqual(len(objects(m.vault, "segments")), 1)  # an encapsulation each
            self.assertEqual(len(objects(m.vault, "commits")), 1)


class FullDiskTest(unittest.TestCase):
    """On a file system of 4 MiB, in a mount namespace of its own."""
    binaries = ""

    def test_a_full_disk(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(["unshare", "--map-root-user", "--mount", sys.executable,
                            os.path.realpath(__file__), self.binaries, "--on-small-disk",
                            directory], check=True)

    def on_small_disk(self, directory):
        disk = os.path.join(directory, "disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], check=True)
        m = Machine(self.binaries, directory, vault=os.path.join(disk, "vault")).init()
        for name in ("first", "second"):
            m.run("add", "-q", "--stdin-name", name, stdin=name.encode() * 5000)
        done = m.run("add", "--stdin-name", "big", stdin=os.urandom(8 << 20), code=FAILED)
        self.assertIn(b"No space left", done.stderr)
        self.assertEqual(os.listdir(os.path.join(m.vault, "tmp")), [])
        m.run("check", "--read-data")
        with open(os.path.join(disk, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        m.run("add", "--stdin-name", "small", stdin=b"x" * 5000, code=FAILED)
        done = m.run("rm", "first")
        self.assertIn(b"reserve", done.stderr)
        self.assertEqual(m.out("list").split(), [b"second"])
        self.assertEqual(m.out("get", "second", "-o", "-"), b"second" * 5000)
        m.run("check", "--read-data")


class KillTest(unittest.TestCase):
    binaries = ""

    def kill_at(self, call, number):
        """Adds with strace, which kills at entry of a thread's Nth call; whether it came to that."""
        m = self.machine
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
             f"inject={call}:signal=KILL:when={number}", m.program, "add", "-q", "tree"],
            cwd=m.directory, env=m.straced(), capture_output=True, check=False)
        return done.returncode != OK

    def test_an_add_that_is_killed_loses_nothing(self):
        for call in ("write", "pwrite64", "fsync", "fdatasync", "renameat2", "mkdir", "linkat",
                     "openat"):
            hits = 0
            for number in range(1, 40):
                with tempfile.TemporaryDirectory() as directory:
                    self.machine = m = Machine(self.binaries, directory).init()
                    m.run("add", "-q", "--stdin-name", "before", stdin=b"acknowledged")
                    os.mkdir(m.path("tree"))
                    for i in range(20):
                        with open(m.path("tree", str(i)), "wb") as file:
                            file.write(os.urandom(5000))
                    if not self.kill_at(call, number):
                        break
                    hits += 1
                    with self.subTest(call=call, number=number):
                        self.assertEqual(m.out("get", "before", "-o", "-"), b"acknowledged")
                        m.run("check", "--read-data")
                        m.run("add", "-q", "tree")
                        m.run("get", "tree", "-o", "back")
                        subprocess.run(["diff", "-r", m.path("tree"), m.path("back")], check=True)
                        m.run("check")
            if call in ("fsync", "renameat2"):
                self.assertGreater(hits, 1, call)


if __name__ == "__main__":
    binaries = os.path.abspath(sys.argv.pop(1))
    DamageTest.binaries = KillTest.binaries = FullDiskTest.binaries = binaries
    CostTest.binaries = LossTest.binaries = binaries
    if sys.argv[1:2] == ["--on-small-disk"]:
        FullDiskTest().on_small_disk(sys.argv[2])
    else:
        unittest.main()
