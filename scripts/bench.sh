#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times the vault beside restic, borg, a loop over age, and cp with fsync. Installs what is missing,
# builds a release, makes its own data, and runs all of them in turn.
#
#   scripts/bench.sh                                  7 runs, 1024 MiB, 500 small files
#   RUNS=1 BIG_MB=64 SMALL=100 scripts/bench.sh       a short one
#   BENCH_DIR=/mnt/disk scripts/bench.sh              on that file system; default: /tmp
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup --bench > /dev/null
cmake --preset release > /dev/null
cmake --build --preset release --target coffer > /dev/null
exec python3 bench/vault_bench.py build/release/bin
