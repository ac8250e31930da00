#!/usr/bin/env bash
# Tests the report page in a headless Chromium, installed from Debian's packages where it is missing.
# $CYRANO names the program that writes the pages; without it, it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v chromium chromium-browser google-chrome >/dev/null && [ -z "${CHROMIUM:-}" ]; then
    apt-get update -qq && apt-get install -y -qq chromium >/dev/null
fi
command -v node >/dev/null || { echo "node is needed, version 20 or later" >&2; exit 1; }
if [ -z "${CYRANO:-}" ]; then
    cargo build --quiet -p cyrano
    CYRANO="${CARGO_TARGET_DIR:-target}/debug/cyrano"
fi
CYRANO=$(realpath "$CYRANO") exec node --test viewer/tests/*.test.mjs
