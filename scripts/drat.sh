#!/bin/sh
# Has proofs of `cyrano export --dimacs DIR --proof` checked by `rate`, a checker of DRAT proofs that knows neither Cyrano nor the solver, and prints a line for
# each: PROOF ANSWER. It comes from the package registry, into a folder of its own (target/drat, or $DRAT_CHECKER), where it is missing.
# Exit code 77: it cannot be had here.
# Usage: scripts/drat.sh PROOF.drat… (NAME.cnf stands beside NAME.drat)
set -eu

RATE=0.3.0
tools=${DRAT_CHECKER:-${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/drat}
cannot() { echo "$1" >&2; exit 77; }
if ! [ -x "$tools/bin/rate" ]; then
    command -v cargo >/dev/null || cannot "cargo is needed to install rate"
    cargo install --quiet rate --version "$RATE" --locked --root "$tools" --target-dir "$tools/build" >&2 \
        || cannot "rate cannot be installed from the registry"
    rm -rf "$tools/build"
fi

for proof in "$@"; do
    said=$("$tools/bin/rate" --skip-unit-deletions "${proof%.drat}.cnf" "$proof" 2>/dev/null | grep '^s ' || echo "s FAILED")
    echo "$proof ${said#s }"
done
