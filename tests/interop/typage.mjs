// SPDX-License-Identifier: Apache-2.0
// Runs the age-encryption package of npm for age_matrix.py. Each line of standard input is a request
// in JSON, each line of standard output its answer:
//
//   {"encrypt": IN, "to": OUT, "armor": true, "recipients": ["age1..."]} or "passphrase": "..."
//   {"decrypt": IN, "to": OUT, "identities": ["AGE-SECRET-KEY-1..."]} or "passphrase": "..."
//   {"generate": "x25519"} or "pq"
//
//   node typage.mjs DIRECTORY_WITH_NODE_MODULES
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { webcrypto } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

globalThis.crypto ??= webcrypto; // Node.js 18 does not have it there
const require = createRequire(process.argv[2] + "/");
const age = await import(pathToFileURL(require.resolve("age-encryption")));

async function encrypt(request) {
  const encrypter = new age.Encrypter();
  if (request.passphrase !== undefined) encrypter.setPassphrase(request.passphrase);
  for (const recipient of request.recipients ?? []) encrypter.addRecipient(recipient);
  const file = await encrypter.encrypt(new Uint8Array(readFileSync(request.encrypt)));
  writeFileSync(request.to, request.armor ? age.armor.encode(file) : file);
}

async function decrypt(request) {
  const decrypter = new age.Decrypter();
  if (request.passphrase !== undefined) decrypter.addPassphrase(request.passphrase);
  for (const identity of request.identities ?? []) decrypter.addIdentity(identity);
  let file = new Uint8Array(readFileSync(request.decrypt));
  if (file[0] === 0x2d) file = age.armor.decode(new TextDecoder().decode(file));
  writeFileSync(request.to, await decrypter.decrypt(file));
}

async function answer(request) {
  if (request.generate) {
    const identity = await (request.generate === "pq"
      ? age.generateHybridIdentity()
      : age.generateX25519Identity());
    return { identity, recipient: await age.identityToRecipient(identity) };
  }
  await (request.encrypt ? encrypt(request) : decrypt(request));
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error) };
  }
  console.log(JSON.stringify(reply));
}
