#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges files between coffer and another implementation of the age format, in both directions.

    age_matrix.py KEYS BIN_DIRECTORY cli PROGRAM        age or rage; PROGRAM-keygen is beside it
    age_matrix.py KEYS BIN_DIRECTORY npm DIRECTORY NODE age-encryption in DIRECTORY/node_modules

KEYS is x25519, with passphrases beside it; pq for age1pq, ML-KEM-768 with X25519; or coffer for
age1coffer, which other programs understand by way of age-plugin-coffer in BIN_DIRECTORY.
An exchange is one file that one side writes and the other opens. Their number is asserted, so that
none can get lost.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from terminal import Terminal  # noqa: E402

SIZES = 0, 1, 65535, 65536, 65537, 131072, 10 * 1024 * 1024 + 1
FORMATS = "binary", "armor", "armor with CRLF"
PASSPHRASE = "pässwörd – пароль 密码 🔑"
EXPECTED_EXCHANGES = {("cli", "x25519"): 54, ("cli", "pq"): 50, ("cli", "coffer"): 48,
                      ("npm", "x25519"): 48, ("npm", "pq"): 46}
RECIPIENT_STARTS = {"x25519": "age1", "pq": "age1pq1", "coffer": "age1coffer1"}


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed with {result.returncode}: {result.stderr.decode()}")
    return result.stdout.decode()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def secret_line(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip().split("\n")[-1]


class Coffer:
    def __init__(self, bin_directory):
        self.name = "coffer"
        self.program = os.path.join(bin_directory, "coffer")

    def keygen(self, path, keys):
        run(self.program, "keygen", "--type", keys, "-q", "-o", path)
        return run(self.program, "keygen", "-y", path).strip()

    def encrypt(self, source, target, recipients, armor=False):
        flags = [flag for recipient in recipients for flag in ("-r", recipient)]
        run(self.program, "encrypt", *flags, *(["-a"] if armor else []), "-o", target, source)

    def encrypt_with(self, flag, path, source, target):
        run(self.program, "encrypt", flag, path, "-o", target, source)

    def decrypt(self, source, target, identity):
        run(self.program, "decrypt", "-i", identity, "-o", target, source)

    def encrypt_passphrase(self, source, target):
        run(self.program, "encrypt", "-p", "--passphrase-command", f"printf %s '{PASSPHRASE}'", "-o",
            target, source)

    def decrypt_passphrase(self, source, target, identity=None):
        flags = ["-i", identity] if identity else []
        run(self.program, "decrypt", *flags, "--passphrase-command", f"echo '{PASSPHRASE}'", "-o",
            target, source)


class CommandLinePeer:
    """age, or rage, which takes the same flags; both ask for passphrases at the terminal only."""

    def __init__(self, program):
        self.program = shutil.which(program)
        if self.program is None:
            sys.exit(f"there is no {program}")
        self.name = run(self.program, "--version").strip()

    def close(self):
        pass

    def keygen(self, path, keys):
        run(self.program + "-keygen", *(["-pq"] if keys == "pq" else []), "-o", path)
        with open(path, encoding="utf-8") as file:
            return file.read().split("# public key: ")[1].split("\n")[0]

    def encrypt(self, source, target, recipients, armor=False):
        flags = [flag for recipient in recipients for flag in ("-r", recipient)]
        run(self.program, "-e", *flags, *(["-a"] if armor else []), "-o", target, source)

    def encrypt_with(self, flag, path, source, target):
        run(self.program, "-e", flag, path, "-o", target, source)

    def decrypt(self, source, target, identity):
        # Not with -o: age 1.1.1 and rage make no file where the plaintext is empty.
        with open(target, "wb") as file:
            subprocess.run([self.program, "-d", "-i", identity, source], stdout=file, check=True)

    def at_terminal(self, prompt_count, *arguments):
        # Otherwise rage would look for a pinentry program.
        environment = {**os.environ, "PINENTRY_PROGRAM": ""}
        with Terminal([self.program, *arguments], env=environment) as terminal:
            for _ in range(prompt_count):
                terminal.expect("assphrase")
                terminal.expect(": ")
                terminal.type(PASSPHRASE + "\n")
            if terminal.wait() != 0:
                sys.exit(f"{self.program} {' '.join(arguments)} failed: {terminal.seen.decode()}")

    def encrypt_passphrase(self, source, target):
        self.at_terminal(2, "-p", "-o", target, source)

    def decrypt_passphrase(self, source, target, identity=None):
        flags = ["-i", identity] if identity else []
        self.at_terminal(1, "-d", *flags, "-o", target, source)


class NpmPeer:
    def __init__(self, directory, node):
        package = os.path.join(directory, "node_modules", "age-encryption", "package.json")
        with open(package, encoding="utf-8") as file:
            self.name = "age-encryption " + json.load(file)["version"]
        self.process = subprocess.Popen([node, os.path.join(HERE, "typage.mjs"), directory],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        reply = json.loads(line) if line else {"error": "it ended"}
        if "error" in reply:
            sys.exit(f"{self.name}: {request}: {reply['error']}")
        return reply

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"{self.name} ended with {self.process.returncode}")

    def keygen(self, path, keys):
        key = self.ask(generate=keys)
        write(path, key["identity"] + "\n")
        return key["recipient"]

    def encrypt(self, source, target, recipients, armor=False):
        self.ask(encrypt=source, to=target, recipients=recipients, armor=armor)

    def decrypt(self, source, target, identity):
        self.ask(decrypt=source, to=target, identities=[secret_line(identity)])

    def encrypt_passphrase(self, source, target):
        self.ask(encrypt=source, to=target, passphrase=PASSPHRASE)

    def decrypt_passphrase(self, source, target):
        self.ask(decrypt=source, to=target, passphrase=PASSPHRASE)


class Matrix:
    def __init__(self, keys, coffer, peer, directory):
        self.key_type = keys
        self.coffer = coffer
        self.peer = peer
        self.directory = directory
        self.exchanges = 0
        self.keys = {tool: self.path(f"{i}.txt") for i, tool in enumerate((coffer, peer))}
        makers = {tool: coffer if keys == "coffer" else tool for tool in self.keys}
        self.recipients = {tool: makers[tool].keygen(path, keys) for tool, path in self.keys.items()}
        for tool, recipient in self.recipients.items():
            if not recipient.startswith(RECIPIENT_STARTS[keys]):
                sys.exit(f"{tool.name} made another type of key than {keys}: {recipient}")
        self.text = self.plaintext(1000)

    def path(self, name):
        return os.path.join(self.directory, name)

    def plaintext(self, size):
        path = self.path(f"plaintext-{size}")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(random.Random(size).randbytes(size))
        return path

    def directions(self):
        return (self.coffer, self.peer), (self.peer, self.coffer)

    def exchange(self, what, writer, reader, plaintext, write_file, read_file):
        encrypted, decrypted = self.path("encrypted"), self.path("decrypted")
        write_file(encrypted)
        read_file(encrypted, decrypted)
        with open(plaintext, "rb") as wanted, open(decrypted, "rb") as got:
            if wanted.read() != got.read():
                sys.exit(f"{what}: what {writer.name} wrote is something else to {reader.name}")
        os.unlink(encrypted)
        os.unlink(decrypted)
        self.exchanges += 1

    def sizes_and_formats(self):
        for size in SIZES:
            for file_format in FORMATS:
                for writer, reader in self.directions():
                    plaintext = self.plaintext(size)

                    def write_file(path):
                        writer.encrypt(plaintext, path, [self.recipients[reader]],
                                       armor=file_format != "binary")
                        if file_format == "armor with CRLF":
                            with open(path, "rb") as file:
                                lines = file.read()
                            with open(path, "wb") as file:
                                file.write(lines.replace(b"\n", b"\r\n"))

                    self.exchange(f"{size} bytes, {file_format}", writer, reader, plaintext, write_file,
                                  lambda path, out: reader.decrypt(path, out, self.keys[reader]))

    def several_recipients(self):
        for writer, reader in self.directions():
            for key in self.keys.values():
                self.exchange(
                    "two recipients", writer, reader, self.text,
                    lambda path: writer.encrypt(self.text, path, list(self.recipients.values())),
                    lambda path, out: reader.decrypt(path, out, key))

    def passphrases(self):
        for writer, reader in self.directions():
            self.exchange("passphrase", writer, reader, self.text,
                          lambda path: writer.encrypt_passphrase(self.text, path), reader.decrypt_passphrase)

    def key_files(self):
        """Each side encrypts with files that the other made, or that both must understand alike."""
        recipients = write(self.path("recipients"), "# those of both\r\n\r\n" +
                           "\r\n".join(self.recipients.values()))
        for writer, reader in self.directions():
            for flag, path in (("-R", recipients), ("-i", self.keys[reader])):
                if flag == "-R" and self.key_type == "coffer":
                    continue  # age takes no lines of more than 8 KiB there
                self.exchange(f"{flag} {path}", writer, reader, self.text,
                              lambda out: writer.encrypt_with(flag, path, self.text, out),
                              lambda file, out: reader.decrypt(file, out, self.keys[reader]))

    def encrypted_identity_files(self):
        for writer, reader in self.directions():
            encrypted_key = self.path(f"encrypted by {writer.name}")
            writer.encrypt_passphrase(self.keys[writer], encrypted_key)
            self.exchange(
                "encrypted identity file", writer, reader, self.text,
                lambda path: writer.encrypt(self.text, path, [self.recipients[writer]]),
                lambda path, out: reader.decrypt_passphrase(path, out, identity=encrypted_key))


def main():
    keys, bin_directory, kind, place = sys.argv[1], os.path.abspath(sys.argv[2]), *sys.argv[3:5]
    os.environ["PATH"] = bin_directory + os.pathsep + os.environ["PATH"]
    if kind == "cli":
        peer = CommandLinePeer(place)
    else:
        peer = NpmPeer(os.path.abspath(place), sys.argv[5])
    with tempfile.TemporaryDirectory() as directory:
        matrix = Matrix(keys, Coffer(bin_directory), peer, directory)
        matrix.sizes_and_formats()
        matrix.several_recipients()
        if keys == "x25519":
            matrix.passphrases()
        if kind == "cli":
            matrix.key_files()
        if kind == "cli" and keys == "x25519":
            matrix.encrypted_identity_files()
    peer.close()
    expected = EXPECTED_EXCHANGES[kind, keys]
    if matrix.exchanges != expected:
        sys.exit(f"{matrix.exchanges} exchanges instead of {expected}")
    print(f"{matrix.exchanges} exchanges of {keys} with {peer.name}")


if __name__ == "__main__":
    main()
