# SPDX-License-Identifier: Apache-2.0
"""Key files: docs/format/keyfile.md."""

import struct

from argon2 import argon2id
from errors import NewerNeeded, NotForUs, require
from primitives import hkdf, seal, sha256, unseal

MAGIC = b"coffer key v1\r\n\x1a"
_SIZE, _SLOT_SIZE = 212, 72
_FLOOR, _CEILING = (65536, 3, 4), (1048576, 16, 16)


class Slot:
    def __init__(self, data):
        self.head, self.salt, self.sealed = data[:8], data[8:24], data[24:]
        self.kdf, self.lanes, self.passes, self.memory = struct.unpack(">BBHI", self.head)

    def costs(self):
        return self.memory, self.passes, self.lanes


def slot_key(secret, index, slot, vault_id):
    """(tag, key)"""
    tag = argon2id(secret, slot.salt, slot.passes, slot.memory, slot.lanes, 32)
    info = b"coffer/slot/v1" + bytes([index]) + slot.head + vault_id
    return tag, hkdf(tag, b"", info)


class KeyFile:
    def __init__(self, data, floor=_FLOOR):
        """`floor` is lower in tests alone."""
        require(len(data) >= 20 and data[:16] == MAGIC, "not a key file, or damaged")
        if data[16:20] != b"\0\1\0\0":
            raise NewerNeeded("a key file of another version")
        require(len(data) == _SIZE, "the key file has another size")
        require(sha256(data[:180]) == data[180:], "the key file's checksum is wrong")
        self.vault_id = data[20:36]
        self.slots = [Slot(data[at:at + _SLOT_SIZE]) for at in (36, 36 + _SLOT_SIZE)]
        if any(slot.kdf != 1 for slot in self.slots):
            raise NewerNeeded("a key file with another function for passphrases")
        for slot in self.slots:
            for cost, low, high in zip(slot.costs(), floor, _CEILING):
                require(low <= cost <= high, "costs outside the limits")
            require(slot.memory >= 8 * slot.lanes, "less memory than the lanes need")

    def open(self, secret):
        """The seed. The first slot that opens counts."""
        for index, slot in enumerate(self.slots):
            try:
                return unseal(slot_key(secret, index, slot, self.vault_id)[1], bytes(12),
                              slot.sealed)
            except NotForUs:
                pass
        raise NotForUs("wrong passphrase or recovery code")


def make(seed, vault_id, secrets, salts, costs=_FLOOR):
    """The bytes of a key file with two slots."""
    memory, passes, lanes = costs
    data = MAGIC + struct.pack(">HH", 1, 0) + vault_id
    for index, (secret, salt) in enumerate(zip(secrets, salts)):
        head = struct.pack(">BBHI", 1, lanes, passes, memory)
        slot = Slot(head + salt + bytes(48))
        sealed = seal(slot_key(secret, index, slot, vault_id)[1], bytes(12), seed)
        data += head + salt + sealed
    return data + sha256(data)


def name(nickname, data):
    return f"{nickname}-{sha256(data).hex()[:16]}.key"
