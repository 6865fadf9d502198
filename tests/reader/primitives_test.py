#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader's cryptography against public vectors.

The corpora lie in COFFER_VECTORS, else in COFFER_VECTORS_DIR, which the build sets, else beside the
source directory in shared/vectors.
"""
import gzip
import hashlib
import json
import os
import sys
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import age  # noqa: E402
import drbg  # noqa: E402
import frodo  # noqa: E402
import mlkem  # noqa: E402
import recipient  # noqa: E402
from argon2 import argon2id  # noqa: E402
from errors import Damaged, NotForUs  # noqa: E402
from primitives import (chacha20_stream, hkdf, kt128, poly1305, seal,  # noqa: E402
                        turboshake128, unseal, x25519)

SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
VECTORS = (os.environ.get("COFFER_VECTORS") or os.environ.get("COFFER_VECTORS_DIR") or
           os.path.join(SOURCE, "..", "shared", "vectors"))


def corpus(*path):
    with open(os.path.join(VECTORS, *path), "rb") as file:
        return file.read()


def wycheproof(name):
    for group in json.loads(corpus("wycheproof", name))["testGroups"]:
        for test in group["tests"]:
            yield group, test


def pattern(size):
    """ptn(size) of RFC 9861 section 5."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


class Symmetric(unittest.TestCase):
    def test_chacha20_rfc_8439_2_4_2(self):
        nonce = bytes.fromhex("000000000000004a00000000")
        stream = chacha20_stream(bytes(range(32)), nonce, 1, 114)
        self.assertEqual(stream[:32].hex(), "224f51f3401bd9e12fde276fb8631ded"
                                            "8c131f823d2c06e27e4fcaec9ef3cf78")

    def test_poly1305_rfc_8439_2_5_2(self):
        key = bytes.fromhex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b")
        self.assertEqual(poly1305(key, b"Cryptographic Forum Research Group").hex(),
                         "a8061dc1305136c6c22b8baf0c0127a9")

    def test_aead(self):
        for group, test in wycheproof("chacha20_poly1305_test.json"):
            if group["ivSize"] != 96:
                continue
            key, iv, aad, message, ciphertext, tag = [
                bytes.fromhex(test[name]) for name in ("key", "iv", "aad", "msg", "ct", "tag")]
            if test["result"] == "valid":
                self.assertEqual(seal(key, iv, message, aad), ciphertext + tag, test["tcId"])
                self.assertEqual(unseal(key, iv, ciphertext + tag, aad), message)
            else:
                with self.assertRaises(NotForUs):
                    unseal(key, iv, ciphertext + tag, aad)

    def test_many_blocks_are_blocks_one_by_one(self):
        key, nonce = bytes(range(32)), bytes(range(12))
        whole = chacha20_stream(key, nonce, 7, 64 * 5 + 3)
        parts = b"".join(chacha20_stream(key, nonce, 7 + i, 64) for i in range(6))
        self.assertEqual(whole, parts[:len(whole)])

    def test_hkdf(self):
        for _, test in wycheproof("hkdf_sha256_test.json"):
            if test["result"] == "valid":
                ikm, salt, info = [bytes.fromhex(test[name]) for name in ("ikm", "salt", "info")]
                self.assertEqual(hkdf(ikm, salt, info, test["size"]).hex(), test["okm"])

    def test_turboshake128_rfc_9861(self):
        for message, domain, size, end in [
                (b"", 0x1F, 10032,
                 "a3b9b0385900ce761f22aed548e754da10a5242d62e8c658e3f3a923a7555607"),
                (pattern(17 ** 2), 0x1F, 32,
                 "96c77c279e0126f7fc07c9b07f5cdae1e0be60bdbe10620040e75d7223a624d2"),
                (b"\xff\xff\xff", 0x01, 32,
                 "bf323f940494e88ee1c540fe660be8a0c93f43d15ec006998462fa994eed5dab")]:
            self.assertEqual(turboshake128(message, domain, size)[-32:].hex(), end)

    def test_kt128_rfc_9861(self):
        for message, customization, digest in [
                (b"", b"", "1ac2d450fc3b4205d19da7bfca1b37513c0803577ac7167f06fe2ce1f0ef39e5"),
                (pattern(17), b"",
                 "6bf75fa2239198db4772e36478f8e19b0f371205f6a9a93a273f51df37122888"),
                (pattern(17 ** 5), b"",
                 "844d610933b1b9963cbdeb5ae3b6b05cc7cbd67ceedf883eb678a0a8e0371682"),
                (b"\xff" * 7, pattern(41 ** 3),
                 "75d2f86a2e644566726b4fbcfc5657b9dbcf070c7b0dca06450ab291d7443bcf"),
                (pattern(8191), b"",
                 "1b577636f723643e990cc7d6a659837436fd6a103626600eb8301cd1dbe553d6"),
                (pattern(8192), b"",
                 "48f256f6772f9edfb6a8b661ec92dc93b95ebd05a08a17b39ae3490870c926c3"),
                (pattern(8192), pattern(8189),
                 "3ed12f70fb05ddb58689510ab3e4d23c6c6033849aa01e1d8c220a297fedcd0b"),
                (pattern(8192), pattern(8190),
                 "6a7c1b6a5cd0d8c9ca943a4a216cc64604559a2ea45f78570a15253d67ba00ae")]:
            self.assertEqual(kt128(message, customization).hex(), digest)

    def test_argon2id_rfc_9106_5_3(self):
        tag = argon2id(b"\1" * 32, b"\2" * 16, 3, 32, 4, 32, b"\3" * 8, b"\4" * 12)
        self.assertEqual(tag.hex(),
                         "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659")


class KeyExchange(unittest.TestCase):
    def test_x25519(self):
        for _, test in wycheproof("x25519_test.json"):
            self.assertEqual(x25519(bytes.fromhex(test["private"]),
                                    bytes.fromhex(test["public"])).hex(), test["shared"])

    def test_mlkem_acvp(self):
        for folder in ("ML-KEM-keyGen-FIPS203", "ML-KEM-encapDecap-FIPS203"):
            prompt, expected = [json.loads(gzip.decompress(corpus("acvp", folder, name)))
                                for name in ("prompt.json.gz", "expectedResults.json.gz")]
            answers = {test["tcId"]: test for group in expected["testGroups"]
                       for test in group["tests"]}
            checked = 0
            for group in prompt["testGroups"]:
                if group["parameterSet"] != "ML-KEM-768":
                    continue
                for test in group["tests"]:
                    self.check_acvp(group, test, answers[test["tcId"]])
                    checked += 1
            self.assertGreaterEqual(checked, 25)

    def check_acvp(self, group, test, answer):
        values = {name: bytes.fromhex(value) for name, value in {**group, **test}.items()
                  if name in ("d", "z", "ek", "m", "dk", "c")}
        if "d" in values:
            got = dict(zip(("ek", "dk"), mlkem.key_pair(values["d"], values["z"])))
        elif "m" in values:
            got = dict(zip(("k", "c"), mlkem.encapsulate(values["ek"], values["m"])))
        else:
            got = {"k": mlkem.decapsulate(values["dk"], values["c"])}
        for name, value in got.items():
            self.assertEqual(value.hex().upper(), answer[name])

    def test_mlkem_moduli(self):
        for _, test in wycheproof("mlkem_768_encaps_test.json"):
            ek = bytes.fromhex(test["ek"])
            if len(ek) == mlkem.EK_SIZE:
                self.assertEqual(mlkem.is_reduced(ek), test["result"] == "valid", test["tcId"])

    def test_frodo(self):
        text = corpus("frodokem", "frodokem_kat.vec").decode()
        section = text.split("[FrodoKEM-976-SHAKE]\n")[1].split("\n[")[0]
        vectors = [dict(line.split(" = ") for line in block.splitlines())
                   for block in section.strip().split("\n\n")]

        def short(data):
            return hashlib.shake_256(data).hexdigest(16)
        for vector in vectors[:4]:
            random = drbg.Drbg(bytes.fromhex(vector["Seed"]))
            seeds = random.draw(88)
            pk, sk = frodo.key_pair(seeds[:24], seeds[24:72], seeds[72:])
            self.assertEqual((short(pk), short(sk)), (vector["PK"], vector["SK"]))
            seeds = random.draw(72)
            secret, ciphertext = frodo.encapsulate(pk, seeds[:24], seeds[24:])
            self.assertEqual((secret.hex().upper(), short(ciphertext)),
                             (vector["SS"], vector["CT"]))
            self.assertEqual(frodo.decapsulate(sk, ciphertext), secret)
            # Rejection is the hash of the ciphertext as received and s.
            for at in (0, 15616, len(ciphertext) - 1):
                changed = bytearray(ciphertext)
                changed[at] ^= 1
                self.assertEqual(frodo.decapsulate(sk, bytes(changed)),
                                 hashlib.shake_256(bytes(changed) + sk[:24]).digest(24))

    def test_aes_fips_197(self):
        self.assertEqual(drbg.aes256(bytes(range(32)),
                                     bytes.fromhex("00112233445566778899aabbccddeeff")).hex(),
                         "8ea2b7ca516745bfeafc49904b496089")

    def test_xwing_and_the_key_schedule(self):
        vectors = [v for v in json.loads(corpus("hpke", "hpke-pq.json"))
                   if (v["kem_id"], v["kdf_id"], v["aead_id"], v["mode"]) == (25722, 1, 3, 0)]
        self.assertTrue(vectors)
        for v in vectors:
            pair = recipient.XWing(bytes.fromhex(v["skRm"]))
            self.assertEqual(pair.public_key.hex(), v["pkRm"])
            secret = pair.decapsulate(bytes.fromhex(v["enc"]))
            self.assertEqual(secret.hex(), v["shared_secret"])
            self.assertEqual(recipient.xwing_encapsulate(pair.public_key,
                                                         bytes.fromhex(v["ikmE"])),
                             (secret, bytes.fromhex(v["enc"])))
            key, nonce = recipient.hpke_keys(secret, bytes.fromhex(v["suite_id"]),
                                             bytes.fromhex(v["info"]))
            self.assertEqual((key.hex(), nonce.hex()), (v["key"], v["base_nonce"]))


class Age(unittest.TestCase):
    def test_cctv(self):
        """With the file key that a vector names: its stanzas are not opened here."""
        seen = {"success": 0, "HMAC failure": 0, "payload failure": 0}
        for name in sorted(os.listdir(os.path.join(VECTORS, "cctv-age"))):
            head, _, data = corpus("cctv-age", name).partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
            if fields.get("armored") == "yes" or fields["expect"] not in seen:
                continue
            if "compressed" in fields:
                data = zlib.decompress(data)
            file_key = bytes.fromhex(fields["file key"])
            with self.subTest(name):
                self.check_cctv(file_key, data, fields)
            seen[fields["expect"]] += 1
        self.assertTrue(all(seen.values()), seen)

    def check_cctv(self, file_key, data, fields):
        if fields["expect"] == "HMAC failure":
            with self.assertRaisesRegex(Damaged, "MAC"):
                age.check_header(file_key, data)
            return
        size = age.check_header(file_key, data)
        if fields["expect"] == "success":
            plaintext = age.open_payload(file_key, data[size:])
            self.assertEqual(hashlib.sha256(plaintext).hexdigest(), fields["payload"])
        else:
            with self.assertRaises(Damaged):
                age.open_payload(file_key, data[size:])

    def test_a_header_written_is_the_header_read(self):
        data = corpus("cctv-age", "x25519").partition(b"\n\n")[2]
        stanzas, _, _, size = age.parse_header(data)
        file_key, nonce = b"YELLOW SUBMARINE", data[size:size + 16]
        plaintext = age.open_payload(file_key, data[size:])
        self.assertEqual(age.seal_file(file_key, stanzas, nonce, plaintext), data)

    def test_malformed_headers(self):
        for name in ("header_crlf", "hmac_extra_space", "hmac_missing", "hmac_no_space",
                     "hmac_not_canonical", "hmac_trailing_space", "hmac_truncated",
                     "stanza_bad_start", "stanza_base64_padding", "stanza_empty_argument",
                     "stanza_invalid_character", "stanza_long_line", "stanza_missing_body",
                     "stanza_missing_final_line", "stanza_no_arguments", "stanza_not_canonical",
                     "stanza_spurious_cr", "version_unsupported"):
            with self.subTest(name), self.assertRaises(Damaged):
                age.parse_header(corpus("cctv-age", name).partition(b"\n\n")[2])


if __name__ == "__main__":
    unittest.main()
