#!/usr/bin/env bash
# Tests the language server with the client library that editors use, which comes from the npm registry. $CYRANO names the program; without it, it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v node >/dev/null || { echo "node is needed, version 20 or later" >&2; exit 1; }
if [ -z "${CYRANO:-}" ]; then
    cargo build --quiet -p cyrano
    CYRANO="${CARGO_TARGET_DIR:-target}/debug/cyrano"
fi
modules="${CARGO_TARGET_DIR:-target}/editors"
mkdir -p "$modules"
if [ ! -d "$modules/node_modules/vscode-languageserver-protocol" ]; then
    npm install --silent --no-audit --no-fund --prefix "$modules" vscode-languageserver-protocol@3.17.5 || {
        echo "skipped: the editors' client library cannot be installed"
        exit 0
    }
fi
MODULES=$(realpath "$modules") CYRANO=$(realpath "$CYRANO") exec node --test editors/vscode/test.mjs
