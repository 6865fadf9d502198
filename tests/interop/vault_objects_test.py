#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every object of a vault opens with another age client and our plugin.

usage: vault_objects_test.py BIN_DIR AGE
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))
from vault_test import Machine  # noqa: E402


class VaultObjectsTest(unittest.TestCase):
    binaries = ""
    age = ""

    def opened(self, machine, path):
        # age looks for the plugin on PATH.
        environment = dict(os.environ, PATH=self.binaries + os.pathsep + os.environ["PATH"])
        done = subprocess.run([self.age, "-d", "-i", machine.path("identity"), path],
                              env=environment, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_object_opens(self):
        with tempfile.TemporaryDirectory() as directory:
            m = Machine(self.binaries, directory).init()
            contents = [os.urandom(9000) for _ in range(17)]
            for number, content in enumerate(contents):
                m.run("add", "-q", "--stdin-name", f"file-{number:02}", stdin=content)
            m.run("key", "export", "--identity", m.path("identity"))
            counts = {}
            stored = b""
            for kind in ("segments", "commits", "checkpoints"):
                for parent, _, names in os.walk(os.path.join(m.vault, kind)):
                    for name in names:
                        plaintext = self.opened(m, os.path.join(parent, name))
                        counts[kind] = counts.get(kind, 0) + 1
                        if kind == "segments":
                            self.assertEqual(plaintext[-24:-16], b"cofsegm1")
                            stored += plaintext[:9000]
                        else:
                            magic = b"cofcomm1" if kind == "commits" else b"cofchkp1"
                            self.assertEqual(plaintext[:8], magic)
            self.assertEqual(counts, {"segments": 17, "commits": 17, "checkpoints": 1})
            for content in contents:
                self.assertIn(content, stored)


if __name__ == "__main__":
    VaultObjectsTest.binaries = os.path.abspath(sys.argv[1])
    VaultObjectsTest.age = sys.argv[2]
    del sys.argv[1:3]
    unittest.main()
