#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What happens between coffer and a terminal: prompts, refusals, progress, signals.

    terminal_test.py BIN_DIRECTORY
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from terminal import TIMEOUT_SECONDS, Terminal, signal_name  # noqa: E402

COFFER = os.path.join(os.path.abspath(sys.argv.pop(1)), "coffer")

NEW_PROMPT = "Enter passphrase (leave empty to autogenerate a secure one): "
CONFIRM_PROMPT = "Confirm passphrase: "
PROMPT = "Enter passphrase: "
REFUSAL = b"coffer: error: refusing to output binary to the terminal; "

# "opened\n", and the identity of RFC 7748's Alice, with the passphrase "password" and a work factor
# so small that it takes no time.
FAST_FILE = """\
-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBadTdJVEo0TGNGcFBXRFZo
Z3o2L3BBIDIKbmFlQUNTdjJxMzF1S2gzSjdBTUpiZXZNclFXR2JpOFZXc0x3UlM1
WlJycwotLS0gaGxsWlpRckhyek4rdVJGZUttcDJ4cWxuL3NUTjVhb0JpbU5UbCtM
VXlXRQovRqDzfYOGcio0u20jkWDm2BZIwmtcD0QXcI/OG0VBaJiWuCeP64s=
-----END AGE ENCRYPTED FILE-----
"""
FAST_IDENTITY = """\
-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBnT1hnVzFLWkNTY0NDVWZW
OW4wM29BIDIKYU43Ym5sYjdIaHBiNDhtVGxSMlZDRXljdlRtWnNld3FSVWNpT1JS
cFBtZwotLS0gM05ick5idUNISXNXbzN0VXptS2N2cXFrZEw2RUxHT3F1RzRNdXkx
ZGJqMAo/oD/7nDoji82469IDGrpPjne4NJu/riJWMLDctZtjS20itcUmTY3sUrrj
/YV3RcGgLToF9iLa/JVAd5M6vOc3+xH4pIkgi8Pk41ztls9vB3+xRIaPocWpZN9Z
M3dEDz+rlE4+ZEjB7TzAJw==
-----END AGE ENCRYPTED FILE-----
"""
RECIPIENT = "age1s5s0qzvfxzn4gayt0hwtg0hhtgxm7wsdycup4a8t5j5ca25mfe4qt4hs7q"
IDENTITY = "AGE-SECRET-KEY-1WURK6ZNNRZJH60QKC9E9RVNXGH05CTU8A0QFJ243WLA628DE9S4QRFH26J"


class TerminalTest(unittest.TestCase):
    # Else a slow machine would show progress where nobody expects it.
    quiet = ["--quiet"]

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.write("key.txt", IDENTITY + "\n")
        self.write("fast.age", FAST_FILE)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def run_coffer(self, *arguments, stdin=b""):
        """Without a terminal; must succeed."""
        return subprocess.run([COFFER, *arguments], cwd=self.directory, input=stdin, check=True,
                              capture_output=True).stdout

    def start(self, *arguments, **options):
        return Terminal([COFFER, *arguments, *self.quiet], cwd=self.directory, **options)

    def encrypted(self, plaintext):
        self.write("made.age", self.run_coffer("encrypt", "-r", RECIPIENT, stdin=plaintext))
        return "made.age"

    def answer(self, terminal, prompt, text):
        """Answers a prompt, which must not echo."""
        terminal.expect(prompt)
        self.assertFalse(terminal.echoes())
        terminal.type(text + "\n")


class Prompts(TerminalTest):
    def test_new_passphrase_is_asked_for_twice_and_then_once(self):
        secret = "pass wörd \t"
        self.write("in", "plaintext")
        with open(self.path("in"), "rb") as stdin, open(self.path("out"), "wb") as stdout, \
                open(self.path("errors"), "wb") as stderr:
            with self.start("encrypt", "-p", stdin=stdin, stdout=stdout, stderr=stderr) as terminal:
                self.answer(terminal, NEW_PROMPT, secret)
                self.answer(terminal, CONFIRM_PROMPT, secret)
                self.assertEqual(terminal.wait(), 0)
                self.assertTrue(terminal.echoes())
                self.assertNotIn(secret.strip().encode(), terminal.seen)
                self.assertEqual(terminal.shown(), b"")
        self.assertEqual(self.read("errors"), b"")
        self.assertTrue(self.read("out").startswith(b"age-encryption.org/v1\n-> scrypt "))

        with open(self.path("out"), "rb") as stdin:
            with self.start("decrypt", stdin=stdin, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE) as terminal:
                self.answer(terminal, PROMPT, secret)
                out, errors = terminal.process.communicate()
                self.assertEqual((terminal.wait(), out, errors), (0, b"plaintext", b""))
                self.assertEqual(terminal.shown(), b"")

    def test_empty_new_passphrase_is_replaced_by_a_code_that_is_shown(self):
        with self.start("encrypt", "-p", "-o", "out", "key.txt") as terminal:
            self.answer(terminal, NEW_PROMPT, "")
            self.assertEqual(terminal.wait(), 0)
            shown = terminal.shown().decode()
        code = re.fullmatch(r'coffer: using autogenerated passphrase "([0-9a-z]{4}(-[0-9a-z]{4}){6})"\n',
                            shown)
        self.assertIsNotNone(code, shown)
        with self.start("decrypt", "-o", "again", "out") as terminal:
            self.answer(terminal, PROMPT, code[1])
            self.assertEqual(terminal.wait(), 0)
            self.assertEqual(terminal.shown(), b"")
        self.assertEqual(self.read("again"), self.read("key.txt"))

    def test_mismatch(self):
        with self.start("encrypt", "-p", "-o", "out", "key.txt") as terminal:
            self.answer(terminal, NEW_PROMPT, "one")
            self.answer(terminal, CONFIRM_PROMPT, "other")
            self.assertEqual(terminal.wait(), 1)
            self.assertEqual(terminal.shown(), b"coffer: error: passphrases didn't match\n")
        self.assertFalse(self.exists("out"))

    def test_one_try(self):
        for answer, message in (("wrong", "incorrect passphrase"),
                                ("", "passphrase can't be empty"),
                                ("\x04", "the terminal was closed at the prompt"),
                                ("x" * 4000 + "y" * 200, "the line is too long")):
            with self.subTest(answer), \
                    self.start("decrypt", "-o", "out", "fast.age", stderr=subprocess.PIPE) as terminal:
                self.answer(terminal, PROMPT, answer)
                errors = terminal.process.communicate()[1].decode()
                self.assertEqual((terminal.wait(), errors), (1, f"coffer: error: {message}\n"))
                self.assertTrue(terminal.echoes())
                self.assertEqual(terminal.shown(), b"")
            self.assertFalse(self.exists("out"))

    def test_editing_at_the_prompt(self):
        with self.start("decrypt", "fast.age", stdout=subprocess.PIPE) as terminal:
            self.answer(terminal, PROMPT, "nonsense\x15passwordé\x7f\x7f")
            out = terminal.process.communicate()[0]
            self.assertEqual((terminal.wait(), out), (0, b"opened\n"))

    def test_encrypted_identity_file_names_itself(self):
        self.write("my keys", FAST_IDENTITY)
        made = self.encrypted(b"content")
        with self.start("decrypt", "-i", "my keys", made, stdout=subprocess.PIPE) as terminal:
            self.answer(terminal, 'Enter passphrase for identity file "my keys": ', "password")
            out = terminal.process.communicate()[0]
            self.assertEqual((terminal.wait(), out), (0, b"content"))

    def test_other_sources_leave_the_terminal_alone(self):
        self.write("passphrase", "password")
        with self.start("decrypt", "--passphrase-file", "passphrase", "-o", "out",
                        "fast.age") as terminal:
            self.assertEqual((terminal.wait(), terminal.seen), (0, b""))
        self.assertEqual(self.read("out"), b"opened\n")

    def test_passphrase_command_can_ask_by_itself(self):
        command = 'printf "who? " >&2; read -r x; echo "$x"'
        with self.start("decrypt", "--passphrase-command", command, "-o", "out",
                        "fast.age") as terminal:
            terminal.expect("who? ")
            terminal.type("password\n")
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.read("out"), b"opened\n")

    def test_standard_input_serves_where_there_is_no_other_terminal(self):
        with self.start("decrypt", "-o", "out", "fast.age", controlling=False) as terminal:
            self.answer(terminal, PROMPT, "password")
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.read("out"), b"opened\n")

    def test_no_terminal_at_all(self):
        for arguments in (("decrypt", "fast.age"), ("encrypt", "-p", "-o", "out", "fast.age")):
            with self.start(*arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            controlling=False) as terminal:
                errors = terminal.process.communicate()[1].decode()
                self.assertEqual(terminal.wait(), 1)
                self.assertRegex(errors, r"^coffer: error: standard input is not a terminal, and "
                                         r"/dev/tty is not available: [^\n]*; give the passphrase with "
                                         r"--passphrase-file, --passphrase-fd or --passphrase-command\n$")
                self.assertEqual(terminal.seen, b"")
        self.assertFalse(self.exists("out"))


class SignalsAtAPrompt(TerminalTest):
    def check(self, number, send, *arguments, prompt):
        with self.subTest(signal_name(number)), self.start(*arguments) as terminal:
            terminal.expect(prompt)
            self.assertFalse(terminal.echoes())
            send(terminal)
            self.assertEqual(terminal.wait(), -number)
            self.assertTrue(terminal.echoes())
            self.assertNotIn(b"coffer:", terminal.seen)
        self.assertFalse(self.exists("out"))

    def test_they_end_the_program_and_restore_the_echo(self):
        decrypt = ("decrypt", "-o", "out", "fast.age")
        for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
            self.check(number, lambda t: t.signal(number), *decrypt, prompt=PROMPT)
        self.check(signal.SIGINT, lambda t: t.type("secret\x03"), *decrypt, prompt=PROMPT)
        self.check(signal.SIGQUIT, lambda t: t.type("secret\x1c"), *decrypt, prompt=PROMPT)
        encrypt = ("encrypt", "-p", "-o", "out", "fast.age")
        self.check(signal.SIGINT, lambda t: t.type("\x03"), *encrypt, prompt=NEW_PROMPT)

    def test_second_prompt(self):
        with self.start("encrypt", "-p", "-o", "out", "fast.age") as terminal:
            self.answer(terminal, NEW_PROMPT, "secret")
            terminal.expect(CONFIRM_PROMPT)
            terminal.type("\x03")
            self.assertEqual(terminal.wait(), -signal.SIGINT)
            self.assertTrue(terminal.echoes())
        self.assertFalse(self.exists("out"))


class OutputToATerminal(TerminalTest):
    def decrypt(self, plaintext, *arguments):
        with self.start("decrypt", "-i", "key.txt", *arguments, self.encrypted(plaintext)) as terminal:
            return terminal.wait(), terminal.seen

    def test_encrypt(self):
        with self.start("encrypt", "-r", RECIPIENT, "key.txt") as terminal:
            self.assertEqual(terminal.wait(), 1)
            self.assertEqual(terminal.shown(),
                             REFUSAL + b"use -a for text, or -o - to do it anyway\n")
        with self.start("encrypt", "-a", "-r", RECIPIENT, "key.txt") as terminal:
            self.assertEqual(terminal.wait(), 0)
            pem = terminal.shown()
        self.assertEqual(self.run_coffer("decrypt", "-i", "key.txt", stdin=pem), self.read("key.txt"))
        with self.start("encrypt", "-r", RECIPIENT, "-o", "-", "key.txt") as terminal:
            self.assertEqual(terminal.wait(), 0)
            self.assertTrue(terminal.seen.startswith(b"age-encryption.org/v1\r\n-> X25519 "))

    def test_refusal_comes_before_any_prompt(self):
        with self.start("encrypt", "-p", "key.txt") as terminal:
            self.assertEqual(terminal.wait(), 1)
            self.assertTrue(terminal.seen.startswith(REFUSAL))

    def test_text_is_shown(self):
        for text in b"", b"one line", b"two\nlines\n", "tab\tänd ümlaut € 🔑\n".encode():
            self.assertEqual(self.decrypt(text), (0, text.replace(b"\n", b"\r\n")))

    def test_control_characters_are_refused(self):
        refusal = REFUSAL + b"use -o FILE, or -o - to do it anyway\r\n"
        for bad in b"\x1b[2J", b"\0", b"\a", b"\b", b"\x7f", b"\x1f", b"\xc2\x9b", b"\xc2\x80", b"\x0b":
            for plaintext in bad, b"a" * 65535 + bad, bad + b"a" * 65536:
                self.assertEqual(self.decrypt(plaintext), (1, refusal))
            self.assertEqual(self.decrypt(bad, "-o", "-"), (0, bad))

    def test_what_is_not_utf_8_is_refused(self):
        refusal = REFUSAL + b"use -o FILE, or -o - to do it anyway\r\n"
        for bad in b"latin \xfc", b"\x9b2J", b"cut \xe2\x82", b"\xe2\x82\n", b"\xff\xfea\0":
            self.assertEqual(self.decrypt(bad), (1, refusal))

    def test_damage_is_found_before_anything_is_shown(self):
        made = self.read(self.encrypted(b"text\n" * 30000))
        self.write("bad.age", made[:-1])
        with self.start("decrypt", "-i", "key.txt", "bad.age") as terminal:
            self.assertEqual(terminal.wait(), 1)
            self.assertTrue(terminal.seen.startswith(b"coffer: error: damaged payload: chunk 2 "))

    def test_more_text_than_anybody_reads(self):
        code, shown = self.decrypt(b"text\n" * (13 << 20))
        self.assertEqual(code, 1)
        self.assertEqual(shown, b"coffer: error: refusing to output more than 64 MiB to the "
                                b"terminal; use -o - to do it anyway\r\n")

    def test_new_key_shows_its_public_side_once(self):
        with self.start("keygen", "--type", "x25519") as terminal:
            self.assertEqual(terminal.wait(), 0)
            self.assertEqual(terminal.seen.count(b"age1"), 1)


class InputFromATerminal(TerminalTest):
    def test_pasted_armor_comes_before_the_prompt(self):
        with self.start("decrypt", "-o", "out") as terminal:
            terminal.type(FAST_FILE)
            self.answer(terminal, PROMPT, "password")
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.read("out"), b"opened\n")

    def test_pasted_armor_and_text_to_the_same_terminal(self):
        with self.start("decrypt") as terminal:
            terminal.type(FAST_FILE)
            self.answer(terminal, PROMPT, "password")
            self.assertEqual(terminal.wait(), 0)
            self.assertTrue(terminal.shown().endswith(b"-----END AGE ENCRYPTED FILE-----\nopened\n"))

    def test_end_of_input(self):
        with self.start("decrypt", "-i", "key.txt") as terminal:
            terminal.type("not an age file\n\x04")
            self.assertEqual(terminal.wait(), 1)
            self.assertIn(b"coffer: error: invalid header: line 1: this is not an age file",
                          terminal.seen)

    def test_typed_plaintext(self):
        with self.start("encrypt", "-r", RECIPIENT, "-o", "out") as terminal:
            terminal.type("typed\n\x04")
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.run_coffer("decrypt", "-i", "key.txt", "out"), b"typed\n")


class ProgressLine(TerminalTest):
    """It is shown after a second, so that each of these takes more than one."""

    quiet = []
    ERASE = b"\r\x1b[K"

    def start_pipe(self, *options, stderr="terminal"):
        return self.start("encrypt", "-r", RECIPIENT, *options, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=stderr)

    def test_from_a_pipe(self):
        begin = time.monotonic()
        with self.start_pipe() as shown, self.start_pipe("--quiet") as quiet, \
                self.start_pipe(stderr=subprocess.PIPE) as redirected:
            while not shown.read(0.1):
                self.assertLess(time.monotonic(), begin + TIMEOUT_SECONDS)
                for terminal in shown, quiet, redirected:
                    terminal.process.stdin.write(bytes(65536))
                    terminal.process.stdin.flush()
            self.assertGreaterEqual(time.monotonic(), begin + 1)
            errors = redirected.process.communicate()[1]
            for terminal in shown, quiet, redirected:
                terminal.process.stdin.close()
                self.assertEqual(terminal.wait(), 0)
            self.assertRegex(shown.seen, rb"^(\r\x1b\[K[0-9.]+ [KM]iB, [0-9.]+ [KM]?i?B/s)+\r\x1b\[K$")
            self.assertEqual(shown.shown(), b"")
            self.assertEqual(quiet.seen, b"")
            self.assertEqual(redirected.seen, b"")
            self.assertEqual(errors, b"")

    def test_from_a_file_with_percent_and_time_left(self):
        self.write("zeros", bytes(4 << 20))
        self.run_coffer("encrypt", "-r", RECIPIENT, "-o", "zeros.age", "zeros")
        for arguments in (("encrypt", "-r", RECIPIENT, "zeros"), ("decrypt", "-i", "key.txt", "zeros.age")):
            with self.start(*arguments, stdout=subprocess.PIPE) as terminal:
                size = len(terminal.process.stdout.read1(1))  # it has begun
                time.sleep(1.5)
                size += len(terminal.process.communicate()[0])
                self.assertEqual(terminal.wait(), 0)
                self.assertGreaterEqual(size, 4 << 20)
                self.assertRegex(terminal.seen, rb"\r\x1b\[K[0-9.]+ [KM]iB of 4\.0 MiB, \d+ %, "
                                                rb"[0-9.]+ [KM]iB/s, \d+ s left")
                self.assertTrue(terminal.seen.endswith(self.ERASE))

    def test_failure_is_told_on_a_fresh_line(self):
        with self.start("decrypt", "-i", "key.txt", stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE) as terminal:
            made = self.read(self.encrypted(bytes(200000)))
            terminal.process.stdin.write(made[:140000])
            terminal.process.stdin.flush()
            terminal.process.stdout.read1(1)
            time.sleep(1.2)
            terminal.process.communicate(made[140000:-1])
            self.assertEqual(terminal.wait(), 1)
            self.assertIn(b"KiB/s", terminal.seen)
            self.assertRegex(terminal.shown(), rb"^coffer: error: damaged payload: chunk 3 [^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
