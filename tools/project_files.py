# SPDX-License-Identifier: Apache-2.0
"""The files of the project, for the checkers in this folder."""

import os
import re
import subprocess

_NOT_OURS = {".git", ".cache", "build"}


def list_files(root):
    """Paths relative to `root`, sorted: what git tracks or would, else all but build folders."""
    try:
        # Only where `root` itself is the top of a repository, not merely inside one.
        top = _git(root, "rev-parse", "--show-toplevel").strip()
        if os.path.realpath(top) == os.path.realpath(root):
            names = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
            found = set(names.split("\0")) - {""}
            return sorted(n for n in found if os.path.isfile(os.path.join(root, n)))
    except (OSError, subprocess.CalledProcessError):
        pass  # no git, or not a repository: a source archive
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [s for s in subfolders if s not in _NOT_OURS]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def _git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def read_text(root, path):
    """The text of a file, or None if it is not UTF-8."""
    with open(os.path.join(root, path), "rb") as file:
        content = file.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def cmake_calls(text):
    """Yields (command, [arguments]) of the simple calls in a CMake file, comments left out."""
    text = re.sub(r"#[^\n]*", "", text)
    for match in re.finditer(r"(?m)^\s*(\w+)\s*\(([^()]*)\)", text):
        yield match.group(1).lower(), match.group(2).replace('"', " ").split()
