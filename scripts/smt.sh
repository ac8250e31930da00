#!/bin/sh
# Asks Z3 and cvc5 about SMT-LIB 2 scripts and prints a line for each: FILE SOLVER ANSWER.
# The solvers are Python packages; they are installed from the registry into a folder of their own (target/smt, or $SMT_SOLVERS) where
# they are missing. Exit code 77: they cannot be had here.
# Usage: scripts/smt.sh FILE.smt2…
set -eu

Z3=z3-solver==5.4.0.0
CVC5=cvc5==1.4.2
solvers=${SMT_SOLVERS:-${CARGO_TARGET_DIR:-$(dirname "$0")/../target}/smt}
cannot() { echo "$1" >&2; exit 77; }
command -v python3 >/dev/null || cannot "python3 is needed for Z3 and cvc5"
if ! "$solvers/bin/python" -c 'import cvc5, z3' 2>/dev/null; then
    python3 -m venv "$solvers" || cannot "python3 cannot make a virtual environment"
    "$solvers/bin/python" -m pip install --quiet --retries 1 --disable-pip-version-check "$Z3" "$CVC5" \
        || cannot "Z3 and cvc5 cannot be installed from the registry"
fi

exec "$solvers/bin/python" - "$solvers/bin/z3" "$@" <<'PYTHON'
import subprocess, sys
import cvc5


def ask_z3(path):
    return subprocess.run([sys.argv[1], path], capture_output=True, text=True, check=False).stdout


def ask_cvc5(path):
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, parser.getSymbolManager()))
    return said


for path in sys.argv[2:]:
    for name, ask in [("z3", ask_z3), ("cvc5", ask_cvc5)]:
        print(path, name, " ".join(ask(path).split()), flush=True)
PYTHON
