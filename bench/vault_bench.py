#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times coffer's vault beside restic, borg, a loop over age, and cp with fsync.

usage: vault_bench.py BIN_DIR

RUNS (7), BIG_MB (1024), SMALL (500), TOOLS (all, by their first words) and BENCH_DIR (a temporary
directory) come from the environment. All tools work on the same files, in the same run, one after
the other in turn; printed are medians of wall time with the least and the most, and the peak of
resident memory. Caches are warm. A peer that is not installed is named as such.
"""

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PASSPHRASE = "correct horse battery staple"
RUNS = int(os.environ.get("RUNS", "7"))
BIG_MB = int(os.environ.get("BIG_MB", "1024"))
SMALL = int(os.environ.get("SMALL", "500"))


class Measurement:
    """Wall time in seconds, CPU time in seconds, peak resident memory in MiB."""

    def __init__(self, wall, cpu, peak):
        self.wall, self.cpu, self.peak = wall, cpu, peak


def run(command, environment=None):
    """Runs a command to its end and measures it; its output is thrown away."""
    full = dict(os.environ, **(environment or {}))
    path = shutil.which(command[0])
    with open(os.devnull, "r+b") as null, tempfile.TemporaryFile() as errors:
        actions = [(os.POSIX_SPAWN_DUP2, null.fileno(), 0), (os.POSIX_SPAWN_DUP2, null.fileno(), 1),
                   (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
        start = time.monotonic()
        child = os.posix_spawn(path, command, full, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        wall = time.monotonic() - start
        if status != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(command)}: {errors.read().decode(errors='replace')}")
    return Measurement(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def settle():
    """What the last command left to be written is not the next one's cost."""
    os.sync()


class Coffer:
    name = "coffer"

    def __init__(self, work, binaries):
        self.vault = os.path.join(work, "coffer-vault")
        self.program = os.path.join(binaries, "coffer")
        self.environment = {
            "COFFER_VAULT": self.vault, "COFFER_PASSPHRASE_FILE": os.path.join(work, "passphrase"),
            "XDG_STATE_HOME": os.path.join(work, "coffer-state")}

    @staticmethod
    def missing(binaries):
        return None if os.path.exists(os.path.join(binaries, "coffer")) else "not built"

    def call(self, *arguments):
        return run([self.program, *arguments], self.environment)

    def init(self):
        self.call("init", "-q", "--no-recovery")

    def add(self, path, name):
        return self.call("add", "-q", path, "--to", name)

    def get(self, name, target):
        return self.call("get", "-q", name, "-o", target)

    def get_one(self, name, inner, target):
        return self.call("get", "-q", f"{name}/{inner}", "-o", target)

    def list(self):
        return self.call("list")

    def clear(self):
        shutil.rmtree(self.vault, ignore_errors=True)
        shutil.rmtree(self.environment["XDG_STATE_HOME"], ignore_errors=True)


class Restic:
    name = "restic"

    def __init__(self, work, _):
        self.repository = os.path.join(work, "restic")
        self.environment = {
            "RESTIC_REPOSITORY": self.repository,
            "RESTIC_PASSWORD_FILE": os.path.join(work, "passphrase"),
            "RESTIC_CACHE_DIR": os.path.join(work, "restic-cache")}

    @staticmethod
    def missing(_):
        return None if shutil.which("restic") else "not installed"

    def call(self, *arguments):
        return run(["restic", "-q", *arguments], self.environment)

    def init(self):
        self.call("init")

    def add(self, path, name):
        return self.call("backup", "--tag", name, path)

    def get(self, name, target):
        return self.call("restore", "latest", "--tag", name, "--target", target)

    def get_one(self, name, inner, target):
        return self.call("restore", "latest", "--tag", name, "--include", inner, "--target", target)

    def list(self):
        return self.call("ls", "latest")

    def clear(self):
        shutil.rmtree(self.repository, ignore_errors=True)
        shutil.rmtree(self.environment["RESTIC_CACHE_DIR"], ignore_errors=True)


class Borg:
    name = "borg"

    def __init__(self, work, _):
        self.work = work
        self.repository = os.path.join(work, "borg")
        self.environment = {
            "BORG_REPO": self.repository, "BORG_PASSPHRASE": PASSPHRASE,
            "BORG_BASE_DIR": os.path.join(work, "borg-home")}

    @staticmethod
    def missing(_):
        return None if shutil.which("borg") else "not installed"

    def call(self, *arguments):
        return run(["borg", *arguments], self.environment)

    def init(self):
        self.call("init", "-e", "repokey-blake2")

    def add(self, path, name):
        return self.call("create", f"::{name}", path)

    def in_directory(self, target, *arguments):
        os.makedirs(target, exist_ok=True)
        before = os.getcwd()
        os.chdir(target)
        try:
            return self.call("extract", *arguments)
        finally:
            os.chdir(before)

    def get(self, name, target):
        return self.in_directory(target, f"::{name}")

    def get_one(self, name, inner, target):
        return self.in_directory(target, f"::{name}", f"sh:**/{inner}")

    def list(self):
        return self.call("list", "::small")

    def clear(self):
        shutil.rmtree(self.repository, ignore_errors=True)
        shutil.rmtree(self.environment["BORG_BASE_DIR"], ignore_errors=True)


class AgeLoop:
    """One run of age for each file. It syncs nothing."""
    name = "age, one run a file, no fsync"

    def __init__(self, work, _):
        self.store = os.path.join(work, "age")
        self.key = os.path.join(work, "age-key")
        self.loop = ('set -e; mkdir -p "$2"; for f in "$1"/*; do '
                     'age {} -o "$2/$(basename "$f")" "$f"; done')

    @staticmethod
    def missing(_):
        return None if shutil.which("age") and shutil.which("age-keygen") else "not installed"

    def init(self):
        if not os.path.exists(self.key):
            run(["age-keygen", "-o", self.key])
        self.recipient = subprocess.run(["age-keygen", "-y", self.key], check=True,
                                        capture_output=True, text=True).stdout.strip()

    def add(self, path, name):
        store = os.path.join(self.store, name)
        if os.path.isdir(path):
            return run(["sh", "-c", self.loop.format("-r " + self.recipient), "sh", path, store])
        os.makedirs(self.store, exist_ok=True)
        return run(["age", "-r", self.recipient, "-o", store, path])

    def get(self, name, target):
        store = os.path.join(self.store, name)
        if os.path.isdir(store):
            return run(["sh", "-c", self.loop.format("-d -i " + self.key), "sh", store, target])
        return run(["age", "-d", "-i", self.key, "-o", target, store])

    def get_one(self, name, inner, target):
        return run(["age", "-d", "-i", self.key, "-o", target,
                    os.path.join(self.store, name, inner)])

    def list(self):
        return run(["ls", self.store])

    def clear(self):
        shutil.rmtree(self.store, ignore_errors=True)


class CopyAndSync:
    """cp, then fsync of the copy."""
    name = "cp and fsync"

    def __init__(self, work, _):
        self.store = os.path.join(work, "copy")

    @staticmethod
    def missing(_):
        return None

    def init(self):
        os.makedirs(self.store)

    @staticmethod
    def copy(source, target):
        return run(["sh", "-c", 'cp -r "$1" "$2" && find "$2" -type f -exec sync {} +', "sh",
                    source, target])

    def add(self, path, name):
        return self.copy(path, os.path.join(self.store, name))

    def get(self, name, target):
        return self.copy(os.path.join(self.store, name), target)

    def get_one(self, name, inner, target):
        return self.copy(os.path.join(self.store, name, inner), target)

    def list(self):
        return run(["ls", os.path.join(self.store, "small")])

    def clear(self):
        shutil.rmtree(self.store, ignore_errors=True)


TOOLS = (Coffer, Restic, Borg, AgeLoop, CopyAndSync)


def make_data(work):
    """SMALL files of 1 to 16 KiB, and one of BIG_MB MiB; nothing that compresses."""
    draw = random.Random(1)
    small = os.path.join(work, "small")
    os.makedirs(small)
    for i in range(SMALL):
        with open(os.path.join(small, f"file-{i:06}"), "wb") as file:
            file.write(os.urandom(draw.randint(1024, 16 * 1024)))
    big = os.path.join(work, "big")
    with open(big, "wb") as file:
        for _ in range(BIG_MB):
            file.write(os.urandom(1 << 20))
    with open(os.path.join(work, "passphrase"), "w", encoding="ascii") as file:
        file.write(PASSPHRASE + "\n")
    return small, big


def same(original, restored):
    """Whether a restored file or tree has the original's content, wherever the tool put it."""
    name = os.path.basename(original)
    for place in (restored, os.path.join(restored, original.lstrip("/")),
                  os.path.join(restored, name)):
        if os.path.isdir(original) != os.path.isdir(place) or not os.path.exists(place):
            continue
        if subprocess.run(["diff", "-rq", original, place], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0:
            return True
    return False


class Bench:
    def __init__(self, work, binaries):
        self.work, self.binaries = work, binaries
        self.small, self.big = make_data(work)
        self.rows = {}  # (tool, task): measurements

    def keep(self, tool, task, measurement):
        self.rows.setdefault((tool.name, task), []).append(measurement)

    def one_run(self, kind, verify):
        tool = kind(self.work, self.binaries)
        out = os.path.join(self.work, "out")

        def timed(task, action, *arguments):
            settle()
            self.keep(tool, task, action(*arguments))

        def get(task, name, original):
            timed(task, tool.get, name, out)
            if verify and not same(original, out):
                sys.exit(f"{tool.name}: {task} gave something else back")
            shutil.rmtree(out) if os.path.isdir(out) else os.remove(out)

        tool.clear()
        tool.init()
        if kind is Coffer:
            timed("unlock", tool.list)
        timed("add small", tool.add, self.small, "small")
        timed("list", tool.list)
        timed("get one", tool.get_one, "small", "file-000007", out)
        shutil.rmtree(out) if os.path.isdir(out) else os.remove(out)
        get("get small", "small", self.small)
        timed("add big", tool.add, self.big, "big")
        get("get big", "big", self.big)
        tool.clear()

    def limit(self):
        """CPU-seconds of hashing, encrypting and copying the big file, by the cores."""
        coffer = os.path.join(self.binaries, "coffer")
        key = os.path.join(self.work, "limit-key")
        run([coffer, "keygen", "-q", "--type", "x25519", "-o", key])
        parts = (["openssl", "dgst", "-sha256", self.big],
                 [coffer, "encrypt", "-q", "-R", key + ".pub", "-o", "/dev/null", self.big],
                 ["cp", self.big, os.path.join(self.work, "limit-copy")])
        return sum(statistics.median(run(part).cpu for _ in range(3)) for part in parts) / (
            len(os.sched_getaffinity(0)))

    def run(self):
        kinds = []
        wanted = os.environ.get("TOOLS", "").split()
        for kind in TOOLS:
            if wanted and kind.name.split()[0].rstrip(",") not in wanted:
                continue
            reason = kind.missing(self.binaries)
            if reason:
                print(f"{kind.name}: {reason}, left out", file=sys.stderr)
            else:
                kinds.append(kind)
        for number in range(RUNS):
            for kind in kinds:
                self.one_run(kind, verify=number == 0)
        self.report([kind.name for kind in kinds])

    def report(self, names):
        tasks = [("unlock", "unlock, empty vault"), ("add small", f"add {SMALL} small files"),
                 ("get small", f"get {SMALL} small files"), ("list", "list"),
                 ("get one", "get one small file"), ("add big", f"add {BIG_MB} MiB"),
                 ("get big", f"get {BIG_MB} MiB")]
        print(f"medians of {RUNS}, seconds (least and most; peak MiB), on {len(os.sched_getaffinity(0))} cores")
        for task, title in tasks:
            print(f"\n{title}")
            base = None
            for name in names:
                found = self.rows.get((name, task))
                if not found:
                    continue
                walls = [m.wall for m in found]
                wall = statistics.median(walls)
                peak = max(m.peak for m in found)
                base = wall if base is None else base
                spread = f"({min(walls):.3f} to {max(walls):.3f})"
                print(f"  {name:<32} {wall:9.3f}  {spread:<20} {wall / base:7.2f} x  {peak:7.0f} MiB")
        print(f"\nSHA-256, encrypting and copying of {BIG_MB} MiB by CPU time over the cores: "
              f"{self.limit():.3f} s")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    parent = os.environ.get("BENCH_DIR")
    with tempfile.TemporaryDirectory(prefix="coffer-bench-", dir=parent) as work:
        Bench(work, os.path.abspath(sys.argv[1])).run()


if __name__ == "__main__":
    main()
