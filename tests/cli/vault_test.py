#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The vault from outside: round trips, exit codes, two readers, and a vault of format 1.

usage: vault_test.py BIN_DIR
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "vault-1")
READER = os.path.join(HERE, "..", "reader", "reader.py")
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

OK, FAILED, USAGE, PARTIAL, NO_KEY, DAMAGED = range(6)


class Machine:
    """A home directory and a vault that coffer is called with."""

    def __init__(self, binaries, directory, vault=None, passphrase=None):
        self.program = os.path.join(binaries, "coffer")
        self.directory = directory
        self.vault = vault or os.path.join(directory, "vault")
        self.passphrase = passphrase or os.path.join(directory, "passphrase")
        if passphrase is None:
            with open(self.passphrase, "w", encoding="ascii") as file:
                file.write("correct horse battery staple\n")
        self.environment = dict(
            os.environ, HOME=directory, XDG_STATE_HOME=os.path.join(directory, "state"),
            COFFER_VAULT=self.vault, COFFER_PASSPHRASE_FILE=self.passphrase, TZ="UTC0")

    def straced(self):
        """The environment for a run under strace, where LeakSanitizer cannot look."""
        return dict(self.environment, LSAN_OPTIONS="detect_leaks=0")

    def run(self, *arguments, code=OK, stdin=b"", **environment):
        done = subprocess.run([self.program, *arguments], input=stdin, capture_output=True,
                              check=False, cwd=self.directory,
                              env=dict(self.environment, **environment))
        if done.returncode != code:
            raise AssertionError(f"{arguments}: exit {done.returncode}, not {code}\n"
                                 f"{done.stdout.decode(errors='replace')}"
                                 f"{done.stderr.decode(errors='replace')}")
        return done

    def out(self, *arguments, **options):
        return self.run(*arguments, **options).stdout

    def init(self):
        self.run("init", "-q", "--no-recovery")
        return self

    def path(self, *parts):
        return os.path.join(self.directory, *parts)


def make_tree(top):
    """Files of the sizes and kinds that trees have."""
    os.makedirs(os.path.join(top, "a", "empty"))
    sizes = {"nothing": 0, "one": 1, "a/chunk": 65536, "a/odd": 70001, "big": (9 << 20) + 17}
    for name, size in sizes.items():
        with open(os.path.join(top, name), "wb") as file:
            file.write(os.urandom(size))
    with open(os.path.join(top, "sparse"), "wb") as file:
        file.write(b"front")
        file.seek(5 << 20)
        file.write(b"end")
        file.truncate(6 << 20)
    with open(os.path.join(top.encode(), b"bytes \xff\n\x1b[31m"), "wb") as file:
        file.write(b"a name of raw bytes")
    os.symlink("../outside", os.path.join(top, "link"))
    os.link(os.path.join(top, "one"), os.path.join(top, "a", "twin"))
    os.chmod(os.path.join(top, "one"), 0o640)
    os.utime(os.path.join(top, "nothing"), ns=(-1, -1_500_000_000))
    os.utime(os.path.join(top, "a"), ns=(1, 1_000_000_007))


def describe(top):
    """What a restored tree has to be: kind, mode, time, content of each name."""
    found = {}
    top = os.fsencode(top)
    for directory, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(directory, name)
            stat = os.lstat(path)
            content = None
            if os.path.islink(path):
                content = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, top)] = (stat.st_mode, stat.st_mtime_ns, content)
    return found


def seed_of(identity):
    """The 32 bytes of an AGE-PLUGIN-COFFER- identity, in hexadecimal."""
    data = identity.strip().lower().rpartition("1")[2][:-6]
    bits = "".join(f"{BECH32.index(c):05b}" for c in data)
    return int(bits[:256], 2).to_bytes(32, "big").hex()


class VaultTest(unittest.TestCase):
    binaries = ""

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.machine = Machine(self.binaries, self.holder.name)

    def lines(self, *arguments, **options):
        return self.machine.out(*arguments, **options).decode().splitlines()

    def test_a_tree_comes_back_as_it_was(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        m.run("add", "tree")
        m.run("get", "tree", "-o", "back")
        self.assertEqual(describe(m.path("tree")), describe(m.path("back")))
        self.assertEqual(os.stat(m.path("back/one")).st_ino, os.stat(m.path("back/a/twin")).st_ino)
        self.assertLess(os.stat(m.path("back/sparse")).st_blocks * 512, 1 << 20)
        os.mkdir(m.path("into"))
        m.run("get", "tree/a", "-o", "into")
        self.assertEqual(describe(m.path("tree/a")), describe(m.path("into/a")))
        with open(m.path("tree/big"), "rb") as file:
            self.assertEqual(m.out("get", "tree/big", "-o", "-"), file.read())
        with open(m.path("tree/sparse"), "rb") as file:
            self.assertEqual(m.out("get", "tree/sparse", "-o", "-"), file.read())
        m.run("check", "--read-data")
        m.run("check", "--no-key")

    def test_names_are_escaped_and_exact(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        m.run("add", "tree")
        self.assertIn(rb'"tree/bytes \xff\n\x1b[31m"', m.out("list").split(b"\n"))
        self.assertIn(b"tree/bytes \xff\n\x1b[31m", m.out("list", "-0").split(b"\0"))
        names = [json.loads(line) for line in self.lines("list", "--json")]
        self.assertIn((b"tree/bytes \xff\n\x1b[31m").hex(), [n.get("name_hex") for n in names])

    def test_what_is_unchanged_is_not_stored_again(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        m.run("add", "tree")
        before = len(os.listdir(os.path.join(m.vault, "commits")))
        report = json.loads(m.out("add", "tree", "--json"))
        self.assertEqual((report["added"], report["problems"], report["new_size"]), (0, 0, 0))
        self.assertEqual(len(os.listdir(os.path.join(m.vault, "commits"))), before)
        os.rename(m.path("tree/big"), m.path("tree/large"))
        report = json.loads(m.out("add", "tree", "--json"))
        self.assertEqual(report["new_size"], 0)

    def test_a_dry_run_says_what_add_does(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        would = json.loads(m.out("add", "-n", "tree", "--json"))
        self.assertEqual(m.out("list"), b"")
        done = json.loads(m.out("add", "tree", "--json"))
        self.assertEqual(would["added"], done["added"])
        self.assertEqual(json.loads(m.out("add", "-n", "tree", "--json"))["added"], 0)

    def test_what_standard_input_fails_at_is_named_and_the_rest_goes_on(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        directory = os.open(m.path("tree"), os.O_RDONLY)  # of which a read fails
        done = subprocess.run([m.program, "add", "-q", "tree", "--stdin-name", "stream"],
                              stdin=directory, capture_output=True, check=False,
                              cwd=m.directory, env=m.environment)
        os.close(directory)
        self.assertEqual(done.returncode, PARTIAL, done.stderr)
        self.assertIn(b"stream", done.stderr)
        self.assertIn(b"tree/big", m.out("list"))
        self.assertNotIn(b"stream", m.out("list"))

    def test_links_at_the_destination_are_not_followed(self):
        m = self.machine.init()
        os.makedirs(m.path("tree", "sub"))
        with open(m.path("tree", "sub", "file"), "wb") as file:
            file.write(b"content")
        m.run("add", "-q", "tree")
        os.mkdir(m.path("outside"))
        os.makedirs(m.path("one"))
        os.symlink("../outside", m.path("one", "tree"))
        os.makedirs(m.path("two", "tree"))
        os.symlink("../../outside", m.path("two", "tree", "sub"))
        for destination in ("one", "two"):
            for flags in ([], ["--overwrite"]):
                m.run("get", "tree", "-o", destination, *flags, code=PARTIAL)
                self.assertEqual(os.listdir(m.path("outside")), [])
        # The destination itself may be reached through one.
        os.symlink("outside", m.path("link"))
        m.run("get", "tree", "-o", "link")
        self.assertTrue(os.path.exists(m.path("outside", "tree", "sub", "file")))

    def test_a_note_is_one_object(self):
        m = self.machine.init()
        m.run("add", "--stdin-name", "notes/today", stdin=b"remember")
        self.assertEqual(m.out("get", "notes/today", "-o", "-"), b"remember")
        segments = [f for _, _, files in os.walk(os.path.join(m.vault, "segments")) for f in files]
        self.assertEqual(segments, [])

    def test_removing_and_moving(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        m.run("add", "tree")
        m.run("rm", "tree/a", "nowhere", code=FAILED)
        self.assertIn("tree/a", self.lines("list"))
        m.run("rm", ".", code=USAGE)
        m.run("rm", "--dry-run", "tree/a")
        self.assertIn("tree/a", self.lines("list"))
        m.run("rm", "tree/a")
        self.assertFalse([n for n in self.lines("list") if n.startswith("tree/a")])
        m.run("mv", "tree", "tree/inside", code=USAGE)
        m.run("mv", "tree/one", "tree/big", code=FAILED)
        m.run("mv", "tree", "wood")
        self.assertEqual([n for n in self.lines("list") if not n.lstrip('"').startswith("wood")],
                         [])
        m.run("get", "wood/one", "-o", "one")
        with open(m.path("one"), "rb") as a, open(m.path("tree/one"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        history = [json.loads(line) for line in self.lines("history", "--json")]
        self.assertEqual(len(history), 3)
        first = history[-1]["commit"]
        self.assertIn("tree/a/twin", self.lines("list", "--at", first))
        m.run("get", "tree/a", "--at", first[:12], "-o", "old")
        self.assertEqual(describe(m.path("tree/a")), describe(m.path("old")))
        m.run("pin", first[:10])
        self.assertTrue(json.loads(self.lines("history", "--json")[-1])["pinned"])
        m.run("check")

    def test_exit_codes(self):
        m = self.machine
        m.run("list", code=FAILED)
        m.init()
        m.run("init", "-q", "--no-recovery", code=FAILED)
        m.run("add", code=USAGE)
        m.run("list", "--no-such-option", code=USAGE)
        with open(m.path("wrong"), "w", encoding="ascii") as file:
            file.write("wrong\n")
        m.run("list", code=NO_KEY, COFFER_PASSPHRASE_FILE=m.path("wrong"))
        os.mkdir(m.path("tree"))
        with open(m.path("tree/there"), "w", encoding="ascii") as file:
            file.write("x")
        m.run("add", "tree", "not-there", code=PARTIAL)
        self.assertIn("tree/there", self.lines("list"))
        m.run("get", "tree/there", "no-such", code=FAILED)
        m.run("get", "tree/there", "-o", "got")
        self.assertIn(b"--overwrite", m.run("get", "tree/there", "-o", "got", code=PARTIAL).stderr)
        m.run("get", "tree/there", "-o", "got", "--overwrite")
        self.assertIn(b"COMMAND", m.run("--help").stdout + b"COMMAND")

    def test_each_command_has_help(self):
        for command in ("init", "add", "list", "get", "rm", "mv", "history", "pin", "check",
                        "passwd", "recover", "status", "key add", "key list", "key export"):
            text = self.machine.out(*command.split(), "--help")
            self.assertIn(b"Exit status", text, command)
            self.assertIn(b"--vault", text, command)

    def test_passphrases(self):
        m = self.machine
        m.run("init", "-q", "--recovery-file", "code")
        self.assertEqual(os.stat(m.path("code")).st_mode & 0o777, 0o600)
        m.run("add", "--stdin-name", "n", stdin=b"data")
        with open(m.path("new"), "w", encoding="ascii") as file:
            file.write("another passphrase\n")
        m.run("passwd", "-q", "--new-passphrase-file", "new")
        m.run("list", code=NO_KEY)
        m.run("list", COFFER_PASSPHRASE_FILE=m.path("new"))
        m.run("list", COFFER_PASSPHRASE_FILE=m.path("code"))
        with open(m.path("code"), encoding="ascii") as file:
            typed = file.read().upper().replace("-", " ")
        with open(m.path("typed"), "w", encoding="ascii") as file:
            file.write(typed)
        m.run("recover", "-q", "--passphrase-file", "typed", "--new-passphrase-file",
              m.passphrase)
        m.run("list")
        m.run("list", code=NO_KEY, COFFER_PASSPHRASE_FILE=m.path("new"))
        m.run("key", "add", "-q", "laptop", "--new-passphrase-file", "new")
        self.assertEqual(len(self.lines("key", "list")), 2)
        m.run("list", COFFER_PASSPHRASE_FILE=m.path("new"))
        m.run("key", "export", "elsewhere.key")
        for name in os.listdir(os.path.join(m.vault, "keys")):
            os.remove(os.path.join(m.vault, "keys", name))
        m.run("list", code=NO_KEY)
        m.run("list", "--key", "elsewhere.key")
        m.run("passwd", "-q", "--key", "elsewhere.key", "--new-passphrase-file", "new")
        m.run("list", "--key", "elsewhere.key", code=NO_KEY)
        m.run("list", "--key", "elsewhere.key", COFFER_PASSPHRASE_FILE=m.path("new"))
        m.run("list", "--passphrase-fd", "9", code=FAILED)
        m.run("list", "--passphrase-fd", "0", "--passphrase-file", "new", code=FAILED)

    def test_a_key_file_kept_elsewhere(self):
        m = self.machine
        key = m.path("owner.key")
        m.run("init", "-q", "--no-recovery", COFFER_KEY=key)
        self.assertEqual(os.listdir(os.path.join(m.vault, "keys")), [])
        self.assertEqual(os.stat(key).st_mode & 0o777, 0o600)
        m.run("list", code=NO_KEY)
        m.run("add", "-q", "--stdin-name", "a", "--key", key, stdin=b"content")
        self.assertEqual(m.out("get", "a", "-o", "-", COFFER_KEY=key), b"content")
        # A key that is there is not written over.
        m.vault = m.environment["COFFER_VAULT"] = m.path("another")
        m.run("init", "-q", "--no-recovery", COFFER_KEY=key, code=FAILED)

    def test_two_machines_see_each_other(self):
        m = self.machine.init()
        other = self.holder.name + "/state-2"
        m.run("add", "--stdin-name", "shared", stdin=b"from the first")
        m.run("add", "--stdin-name", "second", stdin=b"2", XDG_STATE_HOME=other)
        self.assertEqual(sorted(self.lines("list")), ["second", "shared"])
        writers = {json.loads(line)["writer"] for line in self.lines("list", "--json")}
        self.assertEqual(len(writers), 2)

    def test_many_commits_make_a_checkpoint(self):
        m = self.machine.init()
        for number in range(17):
            m.run("add", "--stdin-name", f"note-{number:02}", stdin=b"%d" % number)
        self.assertEqual(len(os.listdir(os.path.join(m.vault, "checkpoints"))), 1)
        self.assertEqual(self.lines("list"), [f"note-{number:02}" for number in range(17)])
        status = json.loads(m.out("status", "--json"))
        self.assertEqual((status["commits"], status["uncovered_commits"]), (17, 1))
        m.run("check")

    def test_a_removed_commit_is_missed(self):
        m = self.machine.init()
        for number in range(3):
            m.run("add", "--stdin-name", f"note-{number}", stdin=b"x")
        newest = json.loads(self.lines("history", "--json")[0])["commit"]
        os.remove(os.path.join(m.vault, "commits", newest))
        m.run("list", code=DAMAGED)
        self.assertIn(b"missing", m.run("check", code=DAMAGED).stdout)
        # A machine that never saw it cannot know.
        m.run("list", XDG_STATE_HOME=m.path("fresh"))

    def test_another_recipient_is_noticed_before_anything_is_written(self):
        m = self.machine.init()
        with tempfile.TemporaryDirectory() as directory:
            stranger = Machine(self.binaries, directory).init()
            with open(os.path.join(stranger.vault, "coffer-vault"), "rb") as file:
                planted = bytearray(file.read())
        path = os.path.join(m.vault, "coffer-vault")
        with open(path, "rb") as file:
            original = file.read()
        planted[20:36] = original[20:36]  # the same vault id
        os.chmod(path, 0o644)
        import hashlib  # the checksum anybody can make
        planted[16884:16916] = hashlib.sha256(planted[:16884]).digest()
        with open(path, "wb") as file:
            file.write(planted)
        m.run("add", "--stdin-name", "secret", stdin=b"for me alone", code=DAMAGED)
        self.assertEqual(os.listdir(os.path.join(m.vault, "commits")), [])

    def test_the_second_reader_agrees(self):
        m = self.machine.init()
        make_tree(m.path("tree"))
        os.remove(m.path("tree/big"))  # plain Python is slow
        os.remove(m.path("tree/sparse"))
        m.run("add", "tree")
        m.run("rm", "tree/a/odd")
        m.run("add", "--stdin-name", "tree/one", stdin=b"newer")
        m.run("key", "export", "--identity", "identity")
        with open(m.path("identity"), encoding="ascii") as file:
            seed = seed_of(file.read())
        done = subprocess.run([sys.executable, READER, "list", m.vault, "--seed", seed],
                              capture_output=True, check=True, text=True)
        theirs = {bytes.fromhex(line["path"]): line["hash"]
                  for line in map(json.loads, done.stdout.splitlines())}
        ours = {}
        for line in map(json.loads, self.lines("list", "--json")):
            name = (line["name"].encode() if "name" in line else bytes.fromhex(line["name_hex"]))
            ours[name] = line.get("hash")
        self.assertEqual(ours, theirs)

    def test_a_vault_of_format_1(self):
        m = Machine(self.binaries, self.holder.name, vault=GOLDEN,
                    passphrase=GOLDEN + ".passphrase")
        names = [line.split("  ")[-1] for line in self.golden(m, "list", "-l")]
        self.assertEqual(names, [
            "docs", "docs/a.txt (2 versions)", "docs/a.txt@b0b1b2b3:2", "docs/hollow",
            "docs/moved", "docs/sparse", "late", "link -> docs/a.txt", "null", "pipe", "twin-1",
            "twin-2", '"\\xff not utf-8"'])
        m.run("check", "--read-data")
        m.run("get", "docs", "late", "twin-1", "-o", self.holder.name)
        subprocess.run([sys.executable, READER, "extract", GOLDEN, m.path("python"), "--seed",
                        bytes(range(32)).hex()], check=True, capture_output=True)
        for name in ("docs/a.txt", "docs/moved", "docs/sparse", "docs/hollow", "late", "twin-1"):
            with open(m.path(name), "rb") as a, open(m.path("python", name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    @staticmethod
    def golden(machine, *arguments):
        return machine.out(*arguments).decode().splitlines()


if __name__ == "__main__":
    VaultTest.binaries = os.path.abspath(sys.argv.pop(1))
    unittest.main()
