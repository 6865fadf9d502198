#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a script of commands and compares what they print, to the letter.

    run_script.py BIN_DIRECTORY SCRIPT

A script is text with commands in it. A line that starts with "$ " is a command for bash; lines that
start with "> " continue it. What follows up to the next blank line is what it prints, standard output
and standard error together, and then, if it is not 0, its exit code as "[N]". In expected lines,
"..." alone stands for any number of lines, and a line that ends in " (re)" is a regular expression.
All other lines are words for the reader.

Everything runs in one bash, in an empty directory, with the programs of BIN_DIRECTORY in front of
PATH, no terminal and standard input from /dev/null, and as root without the right to pass by the
modes of files.
"""
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 60
# <linux/prctl.h>, <linux/capability.h>
PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2


class Step:
    def __init__(self, line_number, command):
        self.line_number = line_number
        self.command = command
        self.expected = []
        self.exit_code = 0


def parse(path):
    steps = []
    current = None
    with open(path, encoding="utf-8") as script:
        for number, line in enumerate(script, 1):
            line = line.rstrip("\n")
            if line.startswith("$ "):
                current = Step(number, line[2:])
                steps.append(current)
            elif current is not None and line.startswith("> ") and not current.expected:
                current.command += "\n" + line[2:]
            elif line == "":
                current = None
            elif current is not None:
                code = re.fullmatch(r"\[(\d+)\]", line)
                if code:
                    current.exit_code = int(code.group(1))
                else:
                    current.expected.append(line)
    if not steps:
        sys.exit(f"{path}: no command in it")
    return steps


def matches(expected, actual):
    """Whether the lines agree, "..." being any number of them."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    if expected[0].endswith(" (re)"):
        same = re.fullmatch(expected[0][: -len(" (re)")], actual[0]) is not None
    else:
        same = expected[0] == actual[0]
    return same and matches(expected[1:], actual[1:])


def give_up_privileges():
    """Lets the modes of files count for root too, as they do for everybody else."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH:
            if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "cannot drop a capability")


def run(steps, bin_directory, directory):
    """One bash runs all steps and marks the end of each, so that they share variables and files."""
    marker = "=== end of step"
    program = []
    for step in steps:
        program.append(step.command)
        program.append(f'printf "\\n{marker} %d\\n" $?')
    environment = dict(os.environ)
    environment["PATH"] = bin_directory + ":" + environment["PATH"]
    environment["LC_ALL"] = "C.UTF-8"
    environment["TZ"] = "UTC"
    environment.pop("COFFER_CPU", None)
    shell = subprocess.Popen(
        ["bash", "-c", "\n".join(program)], cwd=directory, env=environment, start_new_session=True,
        preexec_fn=give_up_privileges, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    try:
        output = shell.communicate(timeout=TIMEOUT_SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        output = shell.communicate()[0] + b"\ntimed out\n"
    output = output.decode("utf-8", "backslashreplace")
    parts = re.split(rf"\n{marker} (\d+)\n", output)
    return list(zip(parts[0::2], map(int, parts[1::2])))


def main():
    bin_directory, path = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    steps = parse(path)
    with tempfile.TemporaryDirectory() as directory:
        outcomes = run(steps, bin_directory, directory)
    failures = 0
    if len(outcomes) != len(steps):
        print(f"{path}: {len(steps)} commands, but {len(outcomes)} ended")
        failures += 1
    for step, (output, exit_code) in zip(steps, outcomes):
        actual = output.split("\n")
        if actual and actual[-1] == "":
            actual.pop()
        if matches(step.expected, actual) and exit_code == step.exit_code:
            continue
        failures += 1
        print(f"{path}:{step.line_number}: $ {step.command}")
        print("expected:")
        print("".join(f"    {line}\n" for line in step.expected) + f"    [{step.exit_code}]")
        print("but got:")
        print("".join(f"    {line}\n" for line in actual) + f"    [{exit_code}]")
    if failures:
        sys.exit(1)
    print(f"{len(steps)} commands as expected")


if __name__ == "__main__":
    main()
