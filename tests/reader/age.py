# SPDX-License-Identifier: Apache-2.0
"""Files of age-encryption.org/v1, as far as objects of a vault need them."""

import re

import recipient
from errors import Damaged, NotForUs, require
from primitives import hkdf, hmac_sha256, seal, unseal

_VERSION = b"age-encryption.org/v1\n"
_CHUNK = 65536


def _line(data, at):
    end = data.find(b"\n", at)
    require(end >= 0, "the header ends within a line")
    return data[at:end], end + 1


def parse_header(data):
    """([(type, arguments, body)], MAC, what the MAC is of, size of the header)"""
    require(data.startswith(_VERSION), "not an age file of version 1")
    at, stanzas = len(_VERSION), []
    while not data.startswith(b"---", at):
        line, at = _line(data, at)
        require(re.fullmatch(rb"->( [!-~]+)+", line) is not None, "a malformed stanza")
        words, body = line.decode().split(" ")[1:], ""
        while True:
            line, at = _line(data, at)
            require(len(line) <= 64 and re.fullmatch(rb"[A-Za-z0-9+/]*", line) is not None,
                    "a malformed body of a stanza")
            body += line.decode()
            if len(line) < 64:
                break
        stanzas.append((words[0], words[1:], recipient.from_unpadded_base64(body)))
    require(stanzas, "a header without stanzas")
    covered = data[:at + 3]
    line, at = _line(data, at)
    require(re.fullmatch(rb"--- [A-Za-z0-9+/]{43}", line) is not None, "a malformed last line")
    return stanzas, recipient.from_unpadded_base64(line[4:].decode()), covered, at


def _header_mac(file_key, covered):
    return hmac_sha256(hkdf(file_key, b"", b"header"), covered)


def check_header(file_key, data):
    """The size of the header, whose MAC must be right under `file_key`."""
    _, mac, covered, size = parse_header(data)
    require(mac == _header_mac(file_key, covered), "the header's MAC is wrong")
    return size


def open_header(data, identity):
    """(file key, size of the header) of a file with exactly one stanza, ours."""
    stanzas = parse_header(data)[0]
    require(len(stanzas) == 1 and stanzas[0][0] == recipient.STANZA_TYPE,
            "not exactly one stanza of the vault's type")
    file_key = identity.unwrap(*stanzas[0][1:])
    require(len(file_key) == 16, "the file key has another size")
    return file_key, check_header(file_key, data)


def _nonce(counter, last):
    return counter.to_bytes(11, "big") + bytes([last])


def open_payload(file_key, payload):
    """The plaintext of nonce and chunks."""
    require(len(payload) >= 16 + 16, "the payload is too short")
    key = hkdf(file_key, payload[:16], b"payload")
    sealed, out = payload[16:], []
    count = -(-len(sealed) // (_CHUNK + 16))
    for i in range(count):
        chunk = sealed[i * (_CHUNK + 16):(i + 1) * (_CHUNK + 16)]
        last = i == count - 1
        require(len(chunk) > 16 or count == 1, "the last chunk is empty")
        try:
            out.append(unseal(key, _nonce(i, last), chunk))
        except NotForUs:
            raise Damaged(f"chunk {i} of the payload does not open") from None
    return b"".join(out)


def seal_file(file_key, stanzas, nonce, plaintext):
    """The file. Stanzas as parse_header gives them."""
    header = _VERSION
    for kind, arguments, body in stanzas:
        text = recipient.unpadded_base64(body)
        lines = [text[at:at + 64] for at in range(0, len(text) + 1, 64)]
        header += (" ".join(["->", kind, *arguments]) + "\n" + "\n".join(lines) + "\n").encode()
    header += b"---"
    mac = recipient.unpadded_base64(_header_mac(file_key, header))
    key = hkdf(file_key, nonce, b"payload")
    chunks = [plaintext[at:at + _CHUNK] for at in range(0, len(plaintext), _CHUNK)] or [b""]
    sealed = [seal(key, _nonce(i, i == len(chunks) - 1), c) for i, c in enumerate(chunks)]
    return header + b" " + mac.encode() + b"\n" + nonce + b"".join(sealed)
