#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes example.json: the bytes of the section "An example" of docs/format/vault.md.

    example.py > example.json
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import cbor  # noqa: E402
import recipient  # noqa: E402
import records  # noqa: E402
import segments  # noqa: E402
from entries import FILE, SYMLINK, Entry, content_hash  # noqa: E402
from items import padded_size, writer_key  # noqa: E402
from primitives import hkdf, hmac_sha256, kt128, sha256  # noqa: E402
from vault import vault_file  # noqa: E402

SEED, VAULT_ID, WRITER = bytes(range(32)), bytes(range(0xA0, 0xB0)), bytes(range(0xB0, 0xC0))
PADDED = (2, 9, 100, 127, 128, 129, 255, 256, 257, 1000, 1025, 65535, 65537, 1000000, 16777217)
MADE, STARTED = (1700000000, 123456789), (1699999999, 0)


def commit():
    return records.Commit(VAULT_ID, WRITER, 1, MADE, STARTED, entries=[
        Entry(b"a", FILE, 0o644, (1000, 1000), (-1, 999999999), size=3, hash=content_hash(b"abc"),
              data=b"abc"),
        Entry(b"b", SYMLINK, 0o777, (1000, 1000), (0, 0), target=b"a")])


def checkpoint():
    one = commit()
    covered = records.Covered(bytes(range(0x20, 0x40)), WRITER, 1, MADE, STARTED, 22690,
                              bytes(range(0x50, 0x60)))
    return records.Checkpoint(VAULT_ID, 0, (1700000100, 0), [covered], [(WRITER, 1)], [], [],
                              [(0, i, entry) for i, entry in enumerate(one.entries)], [])


def record(magic, item, key):
    body = cbor.encode(item)
    plain = records.frame(magic, body, key, padding=False)
    padded = records.frame(magic, body, key)
    return {"diagnostic": cbor.diagnostic(item), "body": body.hex(), "mac": plain[-32:].hex(),
            "size": len(plain), "padded_size": len(padded), "plaintext": padded.hex()}


def segment():
    pieces = [b"abc", b"defgh"]
    plain, offsets, body = segments.make_segment(pieces, WRITER, SEED, VAULT_ID)
    key = writer_key(SEED, VAULT_ID, WRITER, 0)
    return {"pieces": [p.hex() for p in pieces], "hashes": [kt128(p).hex() for p in pieces],
            "offsets": offsets, "index": body.hex(),
            "diagnostic": cbor.diagnostic(cbor.decode(body)),
            "mac": hmac_sha256(key, body).hex(), "trailer": plain[-24:].hex(),
            "size": 8 + len(body) + 32 + 24, "padded_size": len(plain), "plaintext": plain.hex()}


def example():
    keys = {"coffer_vault": hkdf(SEED, VAULT_ID, b"coffer/vault/v1"),
            "writer": writer_key(SEED, VAULT_ID, WRITER, 0),
            "checkpoint": records.checkpoint_key(SEED, VAULT_ID)}
    vault = vault_file(VAULT_ID, recipient.Identity(SEED).ek, SEED)
    two = [kt128(b"abc"), kt128(b"defgh")]
    return {
        "seed": SEED.hex(), "vault_id": VAULT_ID.hex(), "writer": WRITER.hex(),
        "keys": {name: key.hex() for name, key in keys.items()},
        "coffer_vault": {"head": vault[:36].hex(), "checksum": vault[-64:-32].hex(),
                         "mac": vault[-32:].hex(), "sha256": sha256(vault).hex()},
        "commit": record(records.COMMIT_MAGIC, commit().item(), keys["writer"]),
        "checkpoint": record(records.CHECKPOINT_MAGIC, checkpoint().item(), keys["checkpoint"]),
        "segment": segment(),
        "content_hash": {"nothing": content_hash().hex(), "joined": b"".join(two).hex(),
                         "of_joined": content_hash(joined=b"".join(two)).hex()},
        "padded_sizes": [[size, padded_size(size)] for size in PADDED]}


def text():
    """A line for each pair of padded_sizes, to be read by people."""
    plain = json.dumps(example(), indent=1)
    return re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", plain)


if __name__ == "__main__":
    print(text())
