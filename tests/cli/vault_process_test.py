#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds that end at any moment, and several processes and machines at one vault.

usage: vault_process_test.py BIN_DIR [--kills N]
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from vault_test import OK, Machine  # noqa: E402

BIG_COUNT, BIG_SIZE = 8, 8 << 20
SMALL_COUNT, SMALL_SIZE = 200, 3000
TOTAL = BIG_COUNT * BIG_SIZE + SMALL_COUNT * SMALL_SIZE


def objects(vault, kind):
    return [os.path.join(directory, name)
            for directory, _, names in os.walk(os.path.join(vault, kind)) for name in names]


def make_source(top):
    os.mkdir(top)
    for number in range(BIG_COUNT):
        with open(os.path.join(top, f"big-{number}"), "wb") as file:
            file.write(os.urandom(BIG_SIZE))
    for number in range(SMALL_COUNT):
        with open(os.path.join(top, f"small-{number:03}"), "wb") as file:
            file.write(os.urandom(SMALL_SIZE))


class Process:
    """One `coffer add` of the tree that runs beside the test."""

    def __init__(self, machine):
        self.vault = machine.vault
        self.process = subprocess.Popen(
            [machine.program, "add", "-q", "--segment-size", "4M", "tree"], cwd=machine.directory,
            env=machine.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def wait_for_first_write(self):
        tmp = os.path.join(self.vault, "tmp")
        while self.process.poll() is None and not os.listdir(tmp):
            time.sleep(0.0005)

    def end(self, kill):
        if kill:
            self.process.send_signal(signal.SIGKILL)
        errors = self.process.communicate()[1]
        if not kill and self.process.returncode != OK:
            raise AssertionError(errors.decode(errors="replace"))
        return self.process.returncode


class RandomKillTest(unittest.TestCase):
    binaries = ""
    kills = 20

    def setUp(self):
        self.seed = random.SystemRandom().randrange(1 << 32)
        self.random = random.Random(self.seed)
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.machine = m = Machine(self.binaries, self.holder.name).init()
        m.run("add", "-q", "--stdin-name", "before", stdin=b"acknowledged")
        make_source(m.path("tree"))
        self.pristine = m.path("pristine")
        for name in ("vault", "state"):
            shutil.copytree(m.path(name), os.path.join(self.pristine, name))

    def reset(self):
        for name in ("vault", "state"):
            shutil.rmtree(self.machine.path(name))
            shutil.copytree(os.path.join(self.pristine, name), self.machine.path(name))

    def measure(self):
        """Seconds from an add's first write to its end."""
        process = Process(self.machine)
        process.wait_for_first_write()
        start = time.monotonic()
        process.end(kill=False)
        return time.monotonic() - start

    def phase(self):
        """How far the run had come that was killed."""
        vault = self.machine.vault
        if len(objects(vault, "commits")) > 1:
            return "committed"
        return "published" if objects(vault, "segments") else "writing"

    def expect_whole(self):
        m = self.machine
        m.run("get", "-q", "tree", "-o", "back")
        subprocess.run(["diff", "-r", m.path("tree"), m.path("back")], check=True)
        shutil.rmtree(m.path("back"))

    def one_kill(self, delay):
        m = self.machine
        self.reset()
        process = Process(m)
        process.wait_for_first_write()
        time.sleep(delay)
        process.end(kill=True)
        phase = self.phase()
        kept = sum(os.path.getsize(path) for path in objects(m.vault, "segments"))
        self.assertEqual(m.out("get", "before", "-o", "-"), b"acknowledged")
        m.run("check", "--read-data")
        report = json.loads(m.out("add", "--json", "-q", "--segment-size", "4M", "tree"))
        # What was finished is not stored again, or hardly.
        self.assertLessEqual(report["new_size"], TOTAL - 0.85 * kept)
        self.assertEqual(report["problems"], 0)
        self.expect_whole()
        m.run("check")
        return phase

    def test_a_get_that_is_killed_leaves_whole_files(self):
        m = self.machine
        m.run("add", "-q", "tree")
        wanted = set(os.listdir(m.path("tree")))
        back = m.path("into", "tree")
        unfinished = 0
        for number in range(12):
            os.mkdir(m.path("into"))
            process = subprocess.Popen(
                [m.program, "get", "-q", "tree", "-o", "into"], cwd=m.directory, env=m.environment,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and not os.path.isdir(back):
                time.sleep(0.0005)
            time.sleep(0.02 * number * self.random.random())
            process.kill()
            process.wait()
            there = set(os.listdir(back))
            unfinished += there != wanted
            self.assertLessEqual(there, wanted)
            for name in there:
                with open(os.path.join(back, name), "rb") as file, \
                        open(m.path("tree", name), "rb") as original:
                    self.assertEqual(file.read(), original.read(), f"{name}, seed {self.seed}")
            # What is there does not stand in the way of a second attempt.
            m.run("get", "-q", "tree", "-o", "into", "--overwrite")
            subprocess.run(["diff", "-r", m.path("tree"), back], check=True)
            shutil.rmtree(m.path("into"))
        self.assertGreaterEqual(unfinished, 1)

    def test_kills_at_any_moment_of_a_run(self):
        duration = sorted(self.measure() for _ in range(3) if not self.reset())[1]
        phases = {}
        for number in range(self.kills):
            delay = duration * (number + self.random.random()) / self.kills
            with self.subTest(seed=self.seed, number=number, delay=delay):
                phase = self.one_kill(delay)
                phases[phase] = phases.get(phase, 0) + 1
        print(f"killed {self.kills} adds within {duration:.2f} s: {phases}")
        self.assertGreaterEqual(phases.get("writing", 0), 1, phases)
        self.assertGreaterEqual(phases.get("published", 0), self.kills // 5, phases)


class FaultTest(unittest.TestCase):
    """Calls of the system that fail or are interrupted in whole commands, by strace."""
    binaries = ""

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.machine = m = Machine(self.binaries, self.holder.name).init()
        m.run("add", "-q", "--stdin-name", "before", stdin=b"acknowledged")
        os.mkdir(m.path("tree"))
        for number in range(30):
            with open(m.path("tree", str(number)), "wb") as file:
                file.write(os.urandom(9000))
        with open(m.path("tree", "big"), "wb") as file:
            file.write(os.urandom(9 << 20))

    def injected(self, call, fault, *arguments):
        m = self.machine
        return subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
             f"inject={call}:{fault}", m.program, *arguments],
            cwd=m.directory, env=m.straced(), capture_output=True, check=False)

    def expect_whole(self):
        m = self.machine
        subprocess.run(["diff", "-r", m.path("tree"), m.path("back")], check=True)
        shutil.rmtree(m.path("back"))

    def test_interrupted_calls_are_made_again(self):
        m = self.machine
        # The first reads and opens are those of the dynamic loader, which gives up.
        for call, first in (("read", 20), ("pread64", 20), ("write", 1), ("pwrite64", 1),
                            ("openat", 50), ("fsync", 1), ("flock", 1)):
            with self.subTest(call=call):
                fault = f"error=EINTR:when={first}+3"
                done = self.injected(call, fault, "add", "-q", "tree")
                self.assertEqual(done.returncode, OK, done.stderr)
                done = self.injected(call, fault, "get", "-q", "tree", "-o", "back")
                self.assertEqual(done.returncode, OK, done.stderr)
                self.expect_whole()
                m.run("rm", "-q", "tree")
        m.run("check", "--read-data")

    def test_failing_adds_lose_nothing(self):
        m = self.machine
        for call in ("write", "fsync", "renameat2", "openat", "sync_file_range", "fchmod", "close"):
            for error in ("EIO", "ENOSPC", "EDQUOT") if call == "write" else ("EIO",):
                for number in (1, 2, 5):
                    with self.subTest(call=call, error=error, number=number):
                        done = self.injected(call, f"error={error}:when={number}", "add", "-q",
                                             "tree")
                        m.run("check")
                        self.assertEqual(m.out("get", "before", "-o", "-"), b"acknowledged")
                        if done.returncode == OK:
                            m.run("get", "-q", "tree", "-o", "back")
                            self.expect_whole()
                            m.run("rm", "-q", "tree")
                        names = [name for kind in ("segments", "commits")
                                 for name in objects(m.vault, kind)]
                        self.assertTrue(all(os.path.getsize(name) > 0 for name in names))
        m.run("add", "-q", "tree")
        m.run("check", "--read-data")

    def test_failing_gets_leave_no_half_file(self):
        m = self.machine
        m.run("add", "-q", "tree")
        contents = {}
        for name in os.listdir(m.path("tree")):
            with open(m.path("tree", name), "rb") as file:
                contents[name] = file.read()
        for call in ("pwrite64", "write", "fsync", "linkat", "openat", "pread64", "mkdirat"):
            for number in (1, 3, 8):
                with self.subTest(call=call, number=number):
                    done = self.injected(call, f"error=EIO:when={number}", "get", "-q", "tree",
                                         "-o", "back")
                    back = m.path("back")
                    there = os.listdir(back) if os.path.isdir(back) else []
                    for name in there:
                        with open(os.path.join(back, name), "rb") as file:
                            self.assertEqual(file.read(), contents[name], name)
                    if done.returncode == OK:
                        self.assertEqual(len(there), len(contents))
                    shutil.rmtree(back, ignore_errors=True)


class ManyProcessesTest(unittest.TestCase):
    binaries = ""

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.machine = Machine(self.binaries, self.holder.name).init()
        self.other = Machine(self.binaries, self.holder.name)
        self.other.environment["XDG_STATE_HOME"] = self.other.path("other-state")

    def in_threads(self, works):
        failures = []

        def run(work):
            try:
                work()
            except Exception as error:  # pylint: disable=broad-except
                failures.append(error)
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def names(self, machine):
        return set(machine.out("list", "-0").split(b"\0")) - {b""}

    def test_adds_at_the_same_time(self):
        def adds(machine, name):
            def work():
                for number in range(6):
                    machine.run("add", "-q", "--stdin-name", f"{name}/{number}",
                                stdin=os.urandom(9000))
            return work

        stop = threading.Event()

        def read():
            seen = set()
            while not stop.is_set():
                names = self.names(self.machine)
                self.assertLessEqual(seen, names)  # nothing acknowledged goes away again
                seen = names

        def add_all():
            try:
                self.in_threads([adds(self.machine, "a"), adds(self.machine, "b"),
                                 adds(self.other, "c"), adds(self.other, "d")])
            finally:
                stop.set()
        self.in_threads([add_all, read])
        expected = {f"{name}/{number}".encode() for name in "abcd" for number in range(6)}
        for machine in (self.machine, self.other):
            self.assertEqual(self.names(machine), expected)
        self.machine.run("check", "--read-data")
        # Each commit has a number of its own.
        commits = [json.loads(line) for line in self.machine.out("history", "--json").splitlines()]
        self.assertEqual(len({(commit["writer"], commit["seq"]) for commit in commits}), 24)

    def test_a_reader_never_sees_half_a_commit(self):
        m = self.machine
        os.mkdir(m.path("tree"))
        for number in range(50):
            with open(m.path("tree", str(number)), "wb") as file:
                file.write(os.urandom(2000))
        process = Process(m)
        counts = set()
        while process.process.poll() is None:
            counts.add(len(self.names(self.other)))
        process.end(kill=False)
        counts.add(len(self.names(self.other)))
        self.assertLessEqual(counts, {0, 51})
        self.assertIn(51, counts)

    def test_one_file_by_two_machines_at_the_same_time(self):
        contents = [os.urandom(5000), os.urandom(5000)]
        # The one has not seen the other's when it commits, or else replaces it: nothing is lost.
        self.in_threads([
            lambda: self.machine.run("add", "-q", "--stdin-name", "same", stdin=contents[0]),
            lambda: self.other.run("add", "-q", "--stdin-name", "same", stdin=contents[1])])
        listed = {m.out("list", "-0") for m in (self.machine, self.other)}
        self.assertEqual(len(listed), 1)
        got = {m.out("get", "same", "-o", "-") for m in (self.machine, self.other)}
        self.assertEqual(len(got), 1)
        self.assertIn(got.pop(), contents)
        self.machine.run("check", "--read-data")


if __name__ == "__main__":
    binaries = os.path.abspath(sys.argv.pop(1))
    RandomKillTest.binaries = ManyProcessesTest.binaries = FaultTest.binaries = binaries
    if sys.argv[1:2] == ["--kills"]:
        RandomKillTest.kills = int(sys.argv[2])
        del sys.argv[1:3]
    unittest.main()
