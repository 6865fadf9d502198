# SPDX-License-Identifier: Apache-2.0
"""Items of CBOR with the form that is asked for, and what all records of a vault share."""

from errors import require
from primitives import hkdf

MAX_PATH = 1 << 20
MAX_UNKNOWN_NESTING = 4


def uint(item, limit=1 << 64, what="a number"):
    require(type(item) is int and 0 <= item < limit, f"{what} out of range")
    return item


def octets(item, size=None, what="a byte string"):
    require(type(item) is bytes and size in (None, len(item)), f"{what} of another form")
    return item


def array(item, count=None, least=0):
    require(type(item) is list and len(item) >= least and count in (None, len(item)),
            "an array of another form")
    return item


def flag(item):
    require(type(item) is bool, "neither true nor false")
    return item


def ident(item):
    return octets(item, 32, "an id")


def time(items):
    """(seconds, nanoseconds), the two items of the group."""
    seconds, nanoseconds = items
    require(type(seconds) is int and -(1 << 63) <= seconds < 1 << 63, "seconds out of range")
    return seconds, uint(nanoseconds, 10 ** 9, "nanoseconds")


def ascending(items, what, key=lambda item: item):
    keys = [key(item) for item in items]
    require(all(a < b for a, b in zip(keys, keys[1:])), f"{what} do not ascend")
    return items


def path(item):
    octets(item, what="a path")
    require(0 < len(item) <= MAX_PATH and b"\0" not in item and
            not {b"", b".", b".."} & set(item.split(b"/")), "a path that is not one")
    return item


def nesting(item):
    """How many arrays and maps stand within each other, `item` counted."""
    if type(item) not in (list, dict):
        return 0
    parts = item if type(item) is list else item.values()
    return 1 + max(map(nesting, parts), default=0)


class Fields:
    """A map of a record, whose keys are asked for one by one."""

    def __init__(self, item, what):
        require(type(item) is dict, f"{what} is not a map")
        self.map, self.what, self.asked = item, what, set()

    def need(self, key):
        require(key in self.map, f"{self.what} lacks key {key}")
        return self.get(key)

    def get(self, key):
        self.asked.add(key)
        return self.map.get(key)

    def has(self, key):
        return key in self.map

    def optional(self, key, parse):
        item = self.get(key)
        return None if item is None else parse(item)

    def rest(self):
        """(critical keys that are unknown, the ignorable ones with their values)"""
        others = {key: value for key, value in self.map.items() if key not in self.asked}
        require(all(nesting(value) <= MAX_UNKNOWN_NESTING for value in others.values()),
                "the value of an unknown key is nested too deep")
        return ([f"key {key} of {self.what}" for key in others if key < 128],
                {key: value for key, value in others.items() if key >= 128})


def number(item):
    """What stays below 2^32: users, groups, and the numbers in refs and of segments."""
    return uint(item, 1 << 32)


def ref(item):
    array(item, 2)
    return number(item[0]), number(item[1])


def parse_refs(item, least=1):
    return ascending([ref(part) for part in array(item, least=least)], "refs")


def resolved(refs, commits):
    """Refs as versions: (commit id, index)."""
    require(all(commit < len(commits) for commit, _ in refs), "a ref outside the table")
    return [(commits[commit], index) for commit, index in refs]


def parse_vector(item):
    pairs = [(octets(pair[0], 16, "a writer"), uint(pair[1])) for pair in
             (array(pair, 2) for pair in array(item))]
    return ascending(pairs, "writers of a vector", lambda pair: pair[0])


def padded_size(size):
    e = size.bit_length() - 1
    z = e - e.bit_length()
    return -(-size >> z) << z if z > 0 else size


def padded(plain, padding):
    return plain + bytes(padded_size(len(plain)) - len(plain)) if padding else plain


def writer_key(seed, vault_id, writer, capability):
    return hkdf(seed, vault_id, b"coffer/writer/v1" + writer + bytes([capability]))


def origin(f):
    return (octets(f.need(0), 16, "a vault id"), octets(f.need(1), 16, "a writer"),
            uint(f.need(2), 256, "a capability"))


def unknown_capability(capability):
    return [f"capability {capability}"] if capability else []
