#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of coffer's vaults, made from docs/format alone.

    reader.py list VAULT [--all] KEY       paths with their current versions, a line of JSON each;
                                           with --all every live version
    reader.py extract VAULT DEST KEY       data of files, directories and symbolic links
    reader.py identity --seed HEX          the identity of the seed
    reader.py make VAULT --seed HEX --vault-id HEX [--passphrase-file F] [--large]
                                           a small vault, the same for the same seed and id

KEY is --seed HEX, or --passphrase-file F (without its last line feed), which takes minutes.
What is wrong with a vault goes to standard error; the exit status is 1 if there is anything.
"""
import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import maker  # noqa: E402
import recipient  # noqa: E402
from entries import DIRECTORY, FILE, SYMLINK  # noqa: E402
from errors import Damaged, NewerNeeded, NotForUs  # noqa: E402
from keyfile import KeyFile  # noqa: E402
from state import by_path  # noqa: E402
from vault import Vault  # noqa: E402


def passphrase(path):
    with open(path, "rb") as file:
        secret = file.read()
    return secret[:-1] if secret.endswith(b"\n") else secret


def seed_of(arguments):
    if arguments.seed:
        return bytes.fromhex(arguments.seed)
    folder = os.path.join(arguments.vault, "keys")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            try:
                return KeyFile(file.read()).open(passphrase(arguments.passphrase_file))
            except NotForUs:
                pass
    raise NotForUs("the passphrase opens no key file")


def listed(version, versions):
    entry = version.entry
    return {"path": entry.path.hex(), "kind": entry.kind, "mode": entry.mode, "size": entry.size,
            "mtime": list(entry.modified), "target": entry.target and entry.target.hex(),
            "hash": entry.hash and entry.hash.hex(), "commit": version.commit.hex(),
            "index": version.index, "versions": len(versions), "unknown": entry.unknown}


def list_vault(vault, arguments):
    for versions in by_path(vault.live).values():
        for version in versions if arguments.all else versions[:1]:
            print(json.dumps(listed(version, versions)))


def extract(vault, arguments):
    destination = os.fsencode(arguments.destination)
    os.mkdir(destination)  # a new one: nothing in it leads elsewhere
    links = []
    for path, versions in by_path(vault.live).items():
        entry, place = versions[0].entry, os.path.join(destination, path)
        try:
            if entry.unknown:
                raise NewerNeeded(", ".join(entry.unknown))
            if entry.kind == DIRECTORY:
                os.makedirs(place, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if entry.kind == FILE:
                content = vault.content(versions[0])
                with open(place, "xb") as file:
                    file.write(content)
            elif entry.kind == SYMLINK:
                links.append((entry.target, place))
        except (Damaged, NewerNeeded, OSError) as error:
            vault.reports.append(f"{path!r}: {error}")
    for target, place in links:  # last, so that no file is written through one
        os.symlink(target, place)


def parsed_arguments():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("list", "extract", "identity", "make"):
        command = commands.add_parser(name)
        if name != "identity":
            command.add_argument("vault")
        if name == "extract":
            command.add_argument("destination")
        command.add_argument("--seed", required=name in ("identity", "make"))
        command.add_argument("--passphrase-file")
        command.add_argument("--vault-id", required=name == "make")
        command.add_argument("--all", action="store_true")
        command.add_argument("--large", action="store_true")
    return parser.parse_args()


def run(arguments):
    if arguments.command == "identity":
        print(recipient.Identity(bytes.fromhex(arguments.seed)).text)
        return 0
    if arguments.command == "make":
        secret = arguments.passphrase_file and passphrase(arguments.passphrase_file)
        maker.make(arguments.vault, bytes.fromhex(arguments.seed),
                   bytes.fromhex(arguments.vault_id), secret, arguments.large)
        return 0
    vault = Vault(arguments.vault, seed_of(arguments))
    {"list": list_vault, "extract": extract}[arguments.command](vault, arguments)
    for report in vault.reports:
        print(f"reader: {report}", file=sys.stderr)
    return 1 if vault.reports else 0


def main():
    try:
        return run(parsed_arguments())
    except (Damaged, NewerNeeded, NotForUs, OSError) as error:
        print(f"reader: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
