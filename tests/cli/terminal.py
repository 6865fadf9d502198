# SPDX-License-Identifier: Apache-2.0
"""A program on a pseudo-terminal, for tests."""
import errno
import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time

TIMEOUT_SECONDS = 120


def default_signals():
    """What a background job of a shell has ignored, and what Python ignores, is not inherited."""
    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE:
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """Runs `command` in a session of its own whose terminal this is.

    stdin, stdout, stderr: "terminal" or what subprocess takes. With controlling=False the session
    has no terminal, whatever the streams are.
    """

    def __init__(self, command, stdin="terminal", stdout="terminal", stderr="terminal",
                 controlling=True, **options):
        self.master, self.slave = pty.openpty()
        self.seen = b""  # all that was shown
        self.position = 0  # up to where expect() has looked

        def stream(value):
            return self.slave if value == "terminal" else value

        def take_terminal():
            default_signals()
            if controlling:
                fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, stdin=stream(stdin), stdout=stream(stdout), stderr=stream(stderr),
            start_new_session=True, preexec_fn=take_terminal, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in self.process.stdin, self.process.stdout, self.process.stderr:
            if pipe is not None:
                pipe.close()
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds):
        """Takes in what is shown within `seconds`; returns whether there was anything."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            self.seen += os.read(self.master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        return True

    def expect(self, text):
        """Waits until `text` is shown, behind what was expected before."""
        text = text.encode()
        end = time.monotonic() + TIMEOUT_SECONDS
        while self.seen.find(text, self.position) < 0:
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} is not shown, but {self.seen!r}")
            if not self.read(0.05) and self.process.poll() is not None and not self.read(0.05):
                raise AssertionError(f"ended without showing {text!r}, but {self.seen!r}")
        self.position = self.seen.find(text, self.position) + len(text)

    def type(self, text):
        os.write(self.master, text.encode())

    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def wait(self):
        """The exit code, or minus the signal, once all that was shown is read."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"does not end; it showed {self.seen!r}")
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.returncode

    def shown(self):
        """What a reader of the terminal sees: erased lines are gone, line ends are \\n."""
        text = self.seen.replace(b"\r\r\n", b"\r\n")
        lines = [b""]
        for part in text.replace(b"\x1b[F", b"\0up\0").replace(b"\x1b[K", b"\0erase\0").split(b"\0"):
            if part == b"up":
                lines.pop()
            elif part == b"erase":
                lines[-1] = b""
            else:
                rows = part.split(b"\r\n")
                lines[-1] += rows[0]
                lines += rows[1:]
        return b"\n".join(line.split(b"\r")[-1] for line in lines)


def signal_name(number):
    return signal.Signals(number).name
