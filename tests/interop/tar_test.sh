#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# This project's source tree goes through tar, coffer, age and tar, and through age and coffer.
#
#   tar_test.sh BIN_DIRECTORY SOURCE_DIRECTORY
set -euo pipefail
PATH=$(cd "$1" && pwd):$PATH
source_directory=$(cd "$2" && pwd)

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
mkdir there back
coffer keygen --type x25519 -q -o key.txt
recipient=$(age-keygen -y key.txt)
left_out=(--exclude=.git --exclude=build)

tar -C "$source_directory" "${left_out[@]}" -cf - . |
  coffer encrypt -r "$recipient" | age -d -i key.txt | tar -C there -xf -
diff -r "${left_out[@]}" "$source_directory" there

tar -C there -cf - . | age -a -r "$recipient" | coffer decrypt -i key.txt | tar -C back -xf -
diff -r there back
[[ -f back/README.md ]]
