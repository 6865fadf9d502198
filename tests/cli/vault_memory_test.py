#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However many files a vault has, its commands take little memory; 128 MiB of it are Argon2id's.

    vault_memory_test.py BIN_DIRECTORY FILES
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from vault_test import Machine  # noqa: E402

COUNT = int(sys.argv[2])
LIMIT = 160 << 20


def make_files(top):
    for number in range(COUNT):
        directory = os.path.join(top, f"{number // 1000:04}")
        if number % 1000 == 0:
            os.makedirs(directory)
        with open(os.path.join(directory, f"photo-{number:07}.jpg"), "wb") as file:
            file.write(b"%d" % number + os.urandom(500))


def check(machine, *arguments):
    """Runs a command and looks at the most memory that it held."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.chdir(machine.directory)
        os.execve(machine.program, [machine.program, *arguments], machine.environment)
    _, status, usage = os.wait4(child, 0)
    size = usage.ru_maxrss * 1024
    print(f"{' '.join(arguments)}: {size / 2**20:.1f} MiB")
    if status != 0:
        sys.exit(f"it ended with {os.waitstatus_to_exitcode(status)}")
    if size > LIMIT:
        sys.exit(f"that is more than {LIMIT >> 20} MiB")


def main():
    with tempfile.TemporaryDirectory() as directory:
        machine = Machine(os.path.abspath(sys.argv[1]), directory).init()
        make_files(machine.path("tree"))
        for arguments in (["add", "-q", "tree"], ["add", "-q", "tree"], ["list"], ["list", "-l"],
                          ["status"], ["history"], ["check", "-q", "--read-data"],
                          ["mv", "-q", "tree", "other"], ["list", "--at", "9999-01-01"],
                          ["get", "-q", "other", "-o", "back"]):
            check(machine, *arguments)
        # One of these merges all that there is into a checkpoint.
        for number in range(14):
            machine.run("add", "-q", "--stdin-name", str(number), stdin=b"x")
        check(machine, "rm", "-q", "other")
        if not os.listdir(os.path.join(machine.vault, "checkpoints")):
            sys.exit("no checkpoint was written")


if __name__ == "__main__":
    main()
