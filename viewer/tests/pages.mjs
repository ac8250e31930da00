// Pages to test, written by the program itself.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const CYRANO = process.env.CYRANO || "target/debug/cyrano";

export class Pages {
  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), "viewer-pages-"));
  }

  remove() {
    rmSync(this.dir, { recursive: true, force: true });
  }

  cyrano(...args) {
    const { status, stderr, error } = spawnSync(CYRANO, args, { cwd: this.dir, encoding: "utf8", maxBuffer: 1 << 28 });
    if (error) throw error;
    return { status, stderr };
  }

  /** Writes a file of the user's. */
  file(name, text) {
    writeFileSync(join(this.dir, name), text);
    return name;
  }

  /** The page of `check` or `fence`, and what is in it. */
  made(name, command, ...args) {
    const { status, stderr } = this.cyrano(command, ...args, "--quiet", "--html", `${name}.html`);
    if (status !== 0 && status !== 1) throw new Error(`cyrano ${command} ${args.join(" ")}: exit code ${status}: ${stderr}`);
    return this.page(name);
  }

  /** The page of a document. */
  viewed(name, document) {
    this.file(`${name}.json`, typeof document === "string" ? document : JSON.stringify(document));
    const { status, stderr } = this.cyrano("view", `${name}.json`, "-o", `${name}.html`, "--no-open");
    // A document that is made up is shown, and said not to be confirmed.
    if (status !== 0 && !stderr.includes("NOT CONFIRMED")) throw new Error(stderr);
    return this.page(name);
  }

  page(name) {
    const path = join(this.dir, `${name}.html`);
    return { url: pathToFileURL(path).href, data: embedded(readFileSync(path, "utf8")) };
  }
}

/** The document in a page. */
export function embedded(html) {
  const start = html.indexOf('id="data">') + 'id="data">'.length;
  return JSON.parse(html.slice(start, html.indexOf("</script>", start)));
}

/** The traces of a document. */
export function traces(data) {
  if (data.schema === "cyrano.trace/2") return [data];
  return data.checks.map((check) => check.trace).filter(Boolean);
}

/** A value as the page writes it. */
export function written(value, shown) {
  if (shown !== undefined && shown !== null) return shown;
  if (value === null) return "not yet loaded";
  return String(value);
}

/** A trace of many steps, in the shape of a real one: threads store, load each other's stores, and reorder. */
export function longTrace(model, count) {
  const threads = ["p0", "p1", "p2", "p3"];
  const locations = ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];
  const source = Array.from({ length: 200 }, (_, line) => `line ${line + 1} of a long program;`).join("\n");
  const memory = new Map(locations.map((name) => [name, { value: 0, n: 0 }]));
  const po = new Map(threads.map((name) => [name, 0]));
  const steps = [];
  const changes = threads.map((thread) => ({ n: 0, thread, name: "r", value: 0 }));
  for (let n = 1; n <= count; n += 1) {
    const thread = threads[Math.floor(n / 3) % threads.length];
    const location = locations[(n * 7) % locations.length];
    const store = n % 2 === 0;
    const place = po.get(thread);
    po.set(thread, place + 1);
    const step = { n, thread, po: place, kind: store ? "store" : "load", location, event: null, rollback: false, transaction: null, read: null, written: null, source: null, line: (n % 200) + 1, column: 1, text: store ? `${location} := ${n}` : `r := ${location}`, overtook: [], words: [] };
    const held = memory.get(location);
    if (store) {
      step.written = n;
      memory.set(location, { value: n, n });
    } else {
      step.read = held.value;
      step.source = held.n === 0 ? { from: "initial" } : { from: "step", n: held.n };
      changes.push({ n, thread, name: "r", value: held.value });
    }
    steps.push(step);
  }
  const named = (value) => [...memory].map(([name, held]) => ({ name, value: value(held) }));
  const registers = new Map(changes.map((change) => [change.thread, change.value]));
  return {
    schema: "cyrano.trace/2",
    confirmed: true,
    tool: { name: "cyrano", version: "0" },
    model,
    program: { file: "long.rml", source, set: {} },
    property: { criterion: "never", condition: "x0 = 1" },
    violation: { kind: "final-state" },
    steps,
    threads: threads.map((name) => ({ name, choices: [], commands: [], end: { state: "done" }, registers: [{ name: "r", value: registers.get(name) }] })),
    transactions: [],
    initial: named(() => 0),
    changes,
    memory: named((held) => held.value),
    explanation: { kind: "final-state", sentence: "The final state satisfies `x0 = 1`.", thread: null, line: null, condition: "x0 = 1", message: null, values: [] },
  };
}
