#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals at random moments leave nothing behind: no output, no temporary file.

    interrupt_test.py BIN_DIRECTORY

Each test runs as the file system has it, and again with O_TMPFILE refused by a system call filter,
where temporary files have names. The seed of the random moments is printed; COFFER_TEST_SEED sets
it.
"""
import ctypes
import os
import platform
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from terminal import default_signals  # noqa: E402

COFFER = os.path.join(os.path.abspath(sys.argv.pop(1)), "coffer")
SEED = int(os.environ.get("COFFER_TEST_SEED", time.time_ns() % 1000000))
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
STREAM_SIZE = 200_000_000
PIECE = bytes(65536)
TEMPORARY = ".coffer-tmp-"

# <linux/prctl.h>, <linux/seccomp.h>, <linux/bpf_common.h>
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, FAIL = 0x7FFF0000, 0x00050000
LOAD_WORD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
OPENAT = {"x86_64": 257, "aarch64": 56}
O_TMPFILE_BIT = 0o20000000
EOPNOTSUPP = 95


def refuse_unnamed_files():
    """openat() with O_TMPFILE fails from here on, as where a file system does not have it."""
    flags_offset = 16 + 2 * 8  # of the third argument in struct seccomp_data, little endian
    program = [
        (LOAD_WORD, 0, 0, 0),  # the number of the system call
        (JUMP_EQUAL, 0, 3, OPENAT[platform.machine()]),
        (LOAD_WORD, 0, 0, flags_offset),
        (JUMP_SET, 0, 1, O_TMPFILE_BIT),
        (RETURN, 0, 0, FAIL | EOPNOTSUPP),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    filter_program = Program(len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(
            PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot filter system calls")


class Interrupts(unittest.TestCase):
    refuse_unnamed = False

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = directory.name
        cls.random = random.Random(SEED)
        cls.run_coffer("keygen", "--type", "x25519", "-q", "-o", "key.txt")
        cls.recipient = cls.run_coffer("keygen", "-y", "key.txt").decode().strip()

    @classmethod
    def run_coffer(cls, *arguments):
        return subprocess.run([COFFER, *arguments], cwd=cls.directory, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True).stdout

    def start(self, *arguments, **options):
        def prepare():
            default_signals()
            if self.refuse_unnamed:
                refuse_unnamed_files()

        return subprocess.Popen([COFFER, *arguments], cwd=self.directory, stderr=subprocess.PIPE,
                                preexec_fn=prepare, **options)

    def names(self):
        return sorted(os.listdir(self.directory))

    def temporaries(self):
        return [name for name in self.names() if name.startswith(TEMPORARY)]

    def interrupt_stream(self, arguments, pieces, number):
        """Sends the signal after a random number of bytes; returns the temporaries seen before."""
        before = self.names()
        remaining = self.random.randrange(STREAM_SIZE)
        with self.start(*arguments, stdin=subprocess.PIPE) as process:
            for piece in pieces:
                process.stdin.write(piece)
                remaining -= len(piece)
                if remaining < 0:
                    break
            process.stdin.flush()
            seen = self.temporaries()
            process.send_signal(number)
            errors = process.stderr.read()
            self.assertEqual(process.wait(), -number)
            self.assertEqual(errors, b"")
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
        self.assertEqual(self.names(), before)
        return seen

    def check_temporaries(self, seen):
        """Whether this was about what it says: named temporaries only where O_TMPFILE is refused."""
        if self.refuse_unnamed:
            self.assertTrue(seen)

    def test_encrypt_a_stream(self):
        for number in SIGNALS:
            seen = self.interrupt_stream(("encrypt", "-r", self.recipient, "-o", "out"),
                                         (PIECE for _ in range(STREAM_SIZE // len(PIECE) + 1)), number)
            self.check_temporaries(seen)

    def test_decrypt_a_stream(self):
        for number in SIGNALS:
            with subprocess.Popen([COFFER, "encrypt", "-r", self.recipient, "/dev/zero"],
                                  stdout=subprocess.PIPE) as source:
                seen = self.interrupt_stream(("decrypt", "-i", "key.txt", "-o", "out"),
                                             iter(lambda: source.stdout.read(len(PIECE)), b""), number)
                source.terminate()
            self.check_temporaries(seen)

    def interrupt_anywhere(self, arguments, old, new):
        """Small files, so that the signal may come before, within and after the naming."""
        out = os.path.join(self.directory, "out")
        ended_by_signal = 0
        for turn in range(40):
            if old is not None:
                with open(out, "wb") as file:
                    file.write(old)
            before = self.names()
            with self.start(*arguments, stdin=subprocess.DEVNULL) as process:
                # Most of the time goes into starting; a process just made may have no handlers yet.
                time.sleep(self.random.random() * 0.02)
                process.send_signal(SIGNALS[turn % len(SIGNALS)])
                process.stderr.read()
                code = process.wait()
            self.assertIn(code, (0, -SIGNALS[turn % len(SIGNALS)]))
            ended_by_signal += code != 0
            content = None
            if os.path.exists(out):
                with open(out, "rb") as file:
                    content = file.read()
            self.assertTrue(content == old or new(content), f"turn {turn}, seed {SEED}")
            if code == 0:
                self.assertTrue(new(content))
            self.assertEqual(set(self.names()) | {"out"}, set(before) | {"out"})
            if content is not None:
                os.unlink(out)
        return ended_by_signal

    def test_around_the_naming_of_a_new_file(self):
        plaintext = bytes(300000)
        with open(os.path.join(self.directory, "in"), "wb") as file:
            file.write(plaintext)
        self.run_coffer("encrypt", "-r", self.recipient, "-o", "in.age", "in")
        decrypt = ("decrypt", "-i", "key.txt", "-o", "out", "in.age")
        ended = self.interrupt_anywhere(decrypt, None, lambda content: content == plaintext)
        ended += self.interrupt_anywhere(decrypt, b"old", lambda content: content == plaintext)
        self.assertGreater(ended, 0)

    def test_leftovers_of_a_kill_are_swept_by_the_next_run(self):
        before = self.names()
        with self.start("encrypt", "-r", self.recipient, "-o", "out", stdin=subprocess.PIPE) as process:
            for _ in range(10):
                process.stdin.write(PIECE)
            process.stdin.flush()
            while self.refuse_unnamed and not self.temporaries():
                time.sleep(0.01)
            process.kill()
            process.wait()
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
        self.check_temporaries(self.temporaries())
        self.run_coffer("encrypt", "-r", self.recipient, "-o", "next", "key.txt")
        os.unlink(os.path.join(self.directory, "next"))
        self.assertEqual(self.names(), before)


class InterruptsWithNamedTemporaries(Interrupts):
    refuse_unnamed = True


if __name__ == "__main__":
    print(f"seed {SEED}", file=sys.stderr)
    unittest.main()
