#!/usr/bin/env bash
# Runs Cyrano and Spin alternately on the models beside this script and prints a table; see README.md.
#
#   compare.sh [--quick | --best | --collapse] [--runs N] [MODEL...]
#
#   (nothing)    no reductions on either side; fails unless states and transitions are equal
#   --quick      the same on small instances, one run each: a test of the models
#   --collapse   no reductions, Spin with -DCOLLAPSE
#   --best       each side's reductions on: Cyrano as it comes, Spin with its partial-order reduction
#
# CYRANO names the binary (default: cyrano). Needs spin, gcc and python3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 - "$here" "$@" <<'PY'
import argparse, json, os, re, shutil, statistics, subprocess, sys, tempfile, time

MODELS = ["acquire1", "acquire2", "transaction", "bluetooth", "peterson", "mcs", "philosophers", "mcrt"]
QUICK = {
    "acquire1": [{"N": n, "ROUNDS": r} for n in (1, 2, 3, 4) for r in (1, 2)],
    "acquire2": [{"N": n, "ROUNDS": 2, "LINES": 6} for n in (1, 2, 3)],
    "transaction": [{"N": n, "ROUNDS": r} for n in (1, 2, 3) for r in (1, 2)],
    "bluetooth": [{"N": n, "ROUNDS": r} for n in (2, 3, 4) for r in (1, 2)],
    "peterson": [{"N": n} for n in (2, 3)],
    "mcs": [{"N": n} for n in (1, 2, 3, 4)],
    "philosophers": [{"N": n} for n in (3, 4, 5)],
    "mcrt": [{"N": n, "VARS": v, "OPS": o} for n, v, o in ((1, 2, 2), (2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1), (2, 3, 1))],
}
# Those that change the count of a program of threads under sc. Macro-steps and dead registers stay: they are the grain.
OFF = ["thread-symmetry", "variable-symmetry", "lazy-choices", "timestamps", "movers", "repeated-stores", "dead-loads", "sorted-stores"]
GRAIN = {"dead-registers", "macro-steps"}
DEPTH = 1000000

def fail(message):
    sys.exit(f"compare.sh: {message}")

def run(command, directory):
    """Runs a command; its output, wall seconds, processor seconds and peak resident bytes."""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=directory, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    return child.returncode, text, {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024}

def number(pattern, text, command):
    found = re.search(pattern, text, re.M)
    if not found:
        fail(f"`{command}` did not print `{pattern}`:\n{text}")
    return float(found.group(1))

def build_pan(model, constants, flags, directory):
    start = time.monotonic()
    for command in (
        ["spin", *[f"-D{k}={v}" for k, v in constants.items()], "-a", f"{here}/{model}.pml"],
        ["gcc", "-O3", "-DSAFETY", "-DNOFAIR", *flags, "-w", "-o", "pan", "pan.c"],
    ):
        code, text, _ = run(command, directory)
        if code != 0 or "rror" in text:
            fail(f"{' '.join(command)}:\n{text}")
    return time.monotonic() - start

def run_spin(directory, slots):
    code, text, result = run(["./pan", f"-m{DEPTH}", f"-w{slots}"], directory)
    if code != 0 or number(r"errors: (\d+)", text, "pan") != 0 or "max search depth too small" in text:
        fail(f"pan did not finish its search without errors:\n{text}")
    result["states"] = int(number(r"^ *([\d.e+]+) states, stored", text, "pan"))
    result["transitions"] = int(number(r"^ *([\d.e+]+) transitions", text, "pan"))
    # Small searches have no line of their own for what the states take.
    used = re.search(r"([\d.]+)\s+actual memory usage for states", text)
    result["bytes"] = float(used.group(1)) * 2**20 if used else float("nan")
    result["table"] = number(r"([\d.]+)\s+memory used for hash table", text, "pan") * 2**20
    return result

def run_cyrano(model, constants, off):
    command = [cyrano, "check", f"{here}/{model}.rml", "--criterion", "assertions", "--model", "sc", "--engine", "explore"]
    command += ["--workers", "1", "--quiet", "--format", "json"]
    command += [word for name in off for word in ("--no-reduction", name)]
    command += [word for k, v in constants.items() for word in ("--set", f"{k}={v}")]
    code, text, result = run(command, here)
    try:
        check = json.loads(text)["checks"][0]
    except (ValueError, KeyError, IndexError):
        fail(f"{' '.join(command)} (exit {code}):\n{text}")
    if check["verdict"] != "verified":
        fail(f"{model}: Cyrano says {check['verdict']}: {check['reason']}")
    if off and set(check["reductions"]) != GRAIN:
        fail(f"{model}: reductions in effect are {check['reductions']}")
    result.update(states=check["states"], transitions=check["transitions"], bytes=check["peak_bytes"], table=0)
    return result

def same(runs, what):
    if len({(r["states"], r["transitions"]) for r in runs}) != 1:
        fail(f"{what}: counts differ between runs")
    middle = {key: statistics.median(r[key] for r in runs) for key in ("wall", "cpu", "rss", "bytes", "table")}
    return {**middle, "states": runs[0]["states"], "transitions": runs[0]["transitions"]}

def measure(model, constants, flags, off, runs):
    directory = tempfile.mkdtemp(prefix="cyrano-spin-")
    try:
        built = build_pan(model, constants, flags, directory)
        # A first run, not counted, says how many slots Spin's hash table needs: one or two for each state.
        slots = max(16, run_spin(directory, 22)["states"].bit_length())
        ours, spins = [], []
        for _ in range(runs):
            ours.append(run_cyrano(model, constants, off))
            spins.append(run_spin(directory, slots))
    finally:
        shutil.rmtree(directory)
    return same(ours, f"{model}, Cyrano"), same(spins, f"{model}, Spin"), built

def load():
    return " ".join(f"{x:.2f}" for x in os.getloadavg())

COLUMNS = ["model", "side", "states", "transitions", "wall s", "cpu s", "states/cpu s", "bytes/state", "RSS/state", "cpu ratio", "wall ratio", "load"]

def rows(name, ours, spins, built):
    def line(side, r, cpu, wall, note):
        return [name, side, f"{r['states']}", f"{r['transitions']}", f"{r['wall']:.2f}", f"{r['cpu']:.2f}",
                f"{r['states'] / max(r['cpu'], 1e-3):.0f}", f"{(r['bytes'] + r['table']) / r['states']:.0f}", f"{r['rss'] / r['states']:.0f}", cpu, wall, note]
    # Spin's time over ours: above 1 means that Cyrano is faster.
    cpu, wall = spins["cpu"] / max(ours["cpu"], 1e-3), spins["wall"] / max(ours["wall"], 1e-3)
    return [line("Cyrano", ours, f"{cpu:.2f}", f"{wall:.2f}", load().split()[0]),
            line("Spin", spins, "", "", f"pan built in {built:.1f} s")]

here = sys.argv[1]
parser = argparse.ArgumentParser(prog="compare.sh")
mode = parser.add_mutually_exclusive_group()
for name in ("quick", "best", "collapse"):
    mode.add_argument(f"--{name}", action="store_true")
parser.add_argument("--runs", type=int, default=3)
parser.add_argument("models", nargs="*", metavar="MODEL")
args = parser.parse_args(sys.argv[2:])
if args.runs < 1:
    fail("--runs must be at least 1")
for name in args.models:
    if name not in MODELS:
        fail(f"no model `{name}`; there are {', '.join(MODELS)}")
cyrano = shutil.which(os.environ.get("CYRANO", "cyrano"))
for tool, found in (("cyrano (set CYRANO)", cyrano), ("spin", shutil.which("spin")), ("gcc", shutil.which("gcc"))):
    if not found:
        fail(f"{tool} not found")

flags = [] if args.best else ["-DNOREDUCE"] + (["-DCOLLAPSE"] if args.collapse else [])
off = [] if args.best else OFF
what = "each side's reductions" if args.best else "no reductions" + (", Spin with COLLAPSE" if args.collapse else "")
print(f"{what}; median of {1 if args.quick else args.runs}; {os.cpu_count()} processors; load before: {load()}\n")
if not args.quick:
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
different = []
for name in args.models or MODELS:
    for constants in QUICK[name] if args.quick else [{}]:
        ours, spins, built = measure(name, constants, flags, off, 1 if args.quick else args.runs)
        equal = all(ours[key] == spins[key] for key in ("states", "transitions"))
        label = " ".join([name, *[f"{k}={v}" for k, v in constants.items()]])
        if not args.best and not equal:
            different.append(label)
        if args.quick:
            print(f"{'equal    ' if equal else 'DIFFERENT'} {label}: {ours['states']} and {spins['states']} states, "
                  f"{ours['transitions']} and {spins['transitions']} transitions", flush=True)
        else:
            for row in rows(label, ours, spins, built):
                print("| " + " | ".join(row) + " |", flush=True)
print(f"\nload after: {load()}")
if different:
    fail("counts differ: " + ", ".join(different))
PY
