#!/bin/sh
# Validates SARIF logs with the official JSON schema, which the crate serde-sarif ships.
# Needs cargo, python3 with the package jsonschema, and for the first run the registry.
# Usage: scripts/validate-sarif.sh LOG.sarif…
set -eu

VERSION=0.8.0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src"
: > "$dir/src/lib.rs"
cat > "$dir/Cargo.toml" <<TOML
[package]
name = "schema"
version = "0.0.0"
edition = "2021"
[dependencies]
serde-sarif = "=$VERSION"
TOML
cargo fetch --quiet --manifest-path "$dir/Cargo.toml"
schema=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -path "*serde-sarif-$VERSION/src/schema.json" | head -n 1)
[ -n "$schema" ] || { echo "the schema is not where it was expected" >&2; exit 2; }

python3 - "$schema" "$@" <<'PYTHON'
import json, sys
import jsonschema

schema = json.load(open(sys.argv[1], encoding="utf-8"))
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
wrong = 0
for name in sys.argv[2:]:
    errors = list(validator.iter_errors(json.load(open(name, encoding="utf-8"))))
    print(f"{name}: {'valid' if not errors else f'{len(errors)} errors'}")
    for error in errors[:10]:
        print(f"  {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    wrong += bool(errors)
sys.exit(1 if wrong else 0)
PYTHON
