#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However long a stream is, encrypting and decrypting it takes little memory.

    memory_test.py BIN_DIRECTORY MEBIBYTES
"""
import os
import subprocess
import sys
import tempfile

COFFER = os.path.join(os.path.abspath(sys.argv[1]), "coffer")
SIZE = int(sys.argv[2]) << 20
LIMIT = 64 << 20
PIECE_SIZE = 1 << 20


def peak(process):
    """The most memory that the process held, in bytes, once it has ended well."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{process.args} ended with {process.returncode}")
    return usage.ru_maxrss * 1024


def round_trip(recipient, key, armor):
    """Encrypts and decrypts zeros, one pipe, and checks what comes out."""
    source = subprocess.Popen(["head", "-c", str(SIZE), "/dev/zero"], stdout=subprocess.PIPE)
    encrypt = subprocess.Popen([COFFER, "encrypt", "-r", recipient, *armor], stdin=source.stdout,
                               stdout=subprocess.PIPE)
    decrypt = subprocess.Popen([COFFER, "decrypt", "-i", key], stdin=encrypt.stdout,
                               stdout=subprocess.PIPE)
    source.stdout.close()
    encrypt.stdout.close()
    count = 0
    zeros = bytes(PIECE_SIZE)
    while piece := decrypt.stdout.read(PIECE_SIZE):
        count += len(piece)
        if piece != zeros[:len(piece)]:
            sys.exit(f"wrong plaintext before byte {count}")
    decrypt.stdout.close()
    if count != SIZE:
        sys.exit(f"{count} bytes came back of {SIZE}")
    source.wait()
    for process in encrypt, decrypt:
        size = peak(process)
        print(f"{' '.join(process.args[1:2] + armor)}: {size / 2**20:.1f} MiB")
        if size >= LIMIT:
            sys.exit(f"that is more than {LIMIT >> 20} MiB")


def main():
    with tempfile.TemporaryDirectory() as directory:
        key = os.path.join(directory, "key.txt")
        subprocess.run([COFFER, "keygen", "--type", "x25519", "-q", "-o", key], check=True)
        recipient = subprocess.run([COFFER, "keygen", "-y", key], stdout=subprocess.PIPE,
                                   check=True).stdout.decode().strip()
        round_trip(recipient, key, [])
        round_trip(recipient, key, ["--armor"])


if __name__ == "__main__":
    main()
