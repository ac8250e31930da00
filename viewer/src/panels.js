// What holds at the cursor: memory, registers, deferred accesses, transactions, and the source.

function memoryPanel(execution, n, hidden) {
  const memory = execution.memoryAt(n);
  const rows = execution.locations.filter((name) => !hidden.has(name)).map((name) => {
    const { text, writer, before } = memory.get(name);
    return valueRow(name, text, before, writer === 0 ? "start" : String(writer));
  });
  if (rows.length === 0) return el("p", { class: "none" }, "No shared memory.");
  return table("memory", ["location", "value", "step"], rows);
}

function valueRow(name, text, before, since) {
  const changed = before !== null;
  const value = changed ? [el("span", { class: "old" }, before), el("span", { class: "arrow" }, " → "), el("b", {}, text)] : text;
  return el("tr", { class: changed ? "changed" : null, "data-name": name },
    el("th", { scope: "row" }, changed ? el("span", { class: "dot", title: "changed by this step" }, "● ") : "", name),
    el("td", { class: "value", "data-value": text }, value),
    since === null ? null : el("td", { class: "since" }, since));
}

function table(name, heads, rows) {
  return el("table", { class: `values ${name}` },
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows));
}

function registersPanel(execution, n, hidden) {
  const threads = execution.registersAt(n);
  const parts = [];
  execution.threads.forEach((thread) => {
    const own = [...threads.get(thread)];
    if (hidden.has(thread) || own.length === 0) return;
    const rows = own.map(([name, { text, before }]) => valueRow(name, text, before, null));
    parts.push(el("div", { class: "registers-of", "data-thread": thread }, el("h4", {}, thread), table("registers", ["register", "value"], rows)));
  });
  const locals = execution.localsAt(n);
  execution.threads.forEach((thread) => {
    const own = [...locals.get(thread)];
    if (hidden.has(thread) || own.length === 0) return;
    const rows = own.map(([name, { text, before }]) => valueRow(name, text, before, null));
    parts.push(el("div", { class: "locals-of", "data-thread": thread }, el("h4", {}, `${thread}, locals and sets`), table("registers", ["name", "value"], rows)));
  });
  if (parts.length > 0) return el("div", { class: "registers-all" }, parts);
  const old = (execution.trace.changes || []).length === 0 && execution.trace.threads.some((thread) => thread.registers.length > 0);
  return el("p", { class: "none" }, old ? "This trace has registers for its end only; go to the last step." : "No registers to tell about.");
}

function queuePanel(execution, n, pick) {
  const queue = execution.queueAt(n);
  if (queue.length === 0) return el("p", { class: "none" }, "Nothing is deferred: every thread has performed its accesses in the order of the program.");
  return el("ol", { class: "deferred" }, queue.map((ghost) => {
    const what = `${ghost.thread}: ${placeOf(ghost)}'s ${ghost.kind}${ghost.location === null ? "" : ` ${ghost.kind === "store" ? "to" : "of"} ${ghost.location}`}`;
    if (ghost.performed === null) return el("li", {}, `${what}, not performed ${execution.trace.explanation.kind === "steps" ? "yet" : "in this execution"}`);
    return el("li", {}, `${what}, `, jump(ghost.performed, `performed as step ${ghost.performed}`, pick));
  }));
}

/** A button that moves the cursor. */
function jump(n, text, pick) {
  return el("button", { type: "button", class: "jump", on: { click: () => pick(n) } }, text);
}

const STATE_SIGN = { "not begun": "○", live: "◐", committed: "✓", aborted: "✗", unfinished: "…" };

function monitorPanel(execution, n, end, pick) {
  const transactions = execution.transactionsAt(n).filter(({ block }) => block.first <= end);
  if (transactions.length === 0) return null;
  const all = execution.trace.explanation.conflicts || [];
  const known = execution.conflictsAt(n);
  const rows = transactions.map(({ block, state, changed }) =>
    el("tr", { class: changed ? "changed" : null },
      el("th", { scope: "row" }, block.name),
      el("td", {}, block.thread),
      el("td", { class: `fate ${state.replace(" ", "-")}` }, `${STATE_SIGN[state] || ""} ${state}`)));
  const parts = [table("monitor", ["transaction", "thread", "state"], rows)];
  if (all.length > 0) {
    const done = known.length === all.length ? ": the cycle is closed" : "";
    parts.push(el("p", {}, `${known.length} of ${plural(all.length, "conflict")} of the cycle so far${done}.`));
    parts.push(el("ul", {}, known.map((conflict) => el("li", {}, conflictWords(conflict), " ", "(steps ", jump(conflict.steps[0], String(conflict.steps[0]), pick), ", ", jump(conflict.steps[1], String(conflict.steps[1]), pick), ")"))));
  }
  return el("div", {}, parts);
}

const REASONS = {
  "read-before-write": (c) => `${c.first} reads ${c.variable} before ${c.second} writes it`,
  "write-before-read": (c) => `${c.first} writes ${c.variable} before ${c.second} reads it`,
  "write-before-write": (c) => `${c.first} writes ${c.variable} before ${c.second} does`,
  "real-time": (c) => `${c.first} ends before ${c.second} begins`,
};

function conflictWords(conflict) {
  const words = REASONS[conflict.reason];
  return words ? words(conflict) : `${conflict.first} before ${conflict.second}: ${conflict.reason}`;
}

/** The source text; the lines on which the threads stand are marked with their names. */
class SourcePanel {
  constructor() {
    this.node = el("div", { class: "source", tabindex: "0", role: "region", "aria-label": "Source" });
    this.marked = [];
  }

  show(execution) {
    const text = execution.trace.program.source;
    // Behind a line `//@file NAME` the lines are those of a file that the program uses.
    let number = 0;
    this.lines = text.split("\n").map((line) =>
      el("div", { class: "source-line" }, el("span", { class: "no" }, line.startsWith("//@file ") ? (number = 0, "") : ++number), el("span", { class: "chips" }), el("code", {}, line || " ")));
    this.marked = [];
    put(this.node, this.lines);
  }

  mark(execution, n, names) {
    for (const line of this.marked) {
      line.className = "source-line";
      line.querySelector(".chips").replaceChildren();
    }
    this.marked = [];
    for (const { thread, line: number, current, waits } of execution.linesAt(n)) {
      const line = this.lines[number - 1];
      if (!line) continue;
      this.marked.push(line);
      line.classList.add("stands");
      if (current) line.classList.add("current");
      const hue = Math.max(0, names.indexOf(thread)) % 6;
      line.querySelector(".chips").append(el("span", { class: `chip hue-${hue}` }, current ? "▶ " : "", thread, waits ? " waits" : ""));
      if (current) this.reveal(line);
    }
  }

  reveal(line) {
    const at = line.offsetTop;
    const inside = at > this.node.scrollTop + 20 && at < this.node.scrollTop + this.node.clientHeight - 40;
    if (!inside) this.node.scrollTop = Math.max(0, at - this.node.clientHeight / 2);
  }
}
