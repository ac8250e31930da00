// The lane diagram: one lane per thread, time downwards. Only rows near the visible part exist in the page.

const GUTTER = 42;
const MIN_LANE = 150;
const MARGIN = 300;
const SYMBOL = { load: "R", store: "W", "read-modify-write": "RW", event: "★" };
const STATUS = { committed: "✓ committed", aborted: "✗ aborted", unfinished: "… unfinished", finished: "✓", pending: "… unfinished" };

class Lanes {
  /** `pick` is told which step was clicked, `open` which fold. */
  constructor({ pick, open }) {
    this.pick = pick;
    this.open = open;
    this.cursor = 0;
    this.everything = false;
    this.head = el("div", { class: "lane-heads", "aria-hidden": "true" });
    this.canvas = el("div", { class: "canvas" });
    this.node = el(
      "div",
      { class: "lanes", tabindex: "0", role: "listbox", "aria-label": "Steps in memory order", on: { scroll: () => this.later() } },
      this.head,
      this.canvas,
    );
    new ResizeObserver(() => this.draw()).observe(this.node);
    this.canvas.addEventListener("click", (event) => this.clicked(event));
  }

  show(execution, options) {
    this.execution = execution;
    this.names = execution.threads.filter((name) => !options.threads.has(name) && this.hasSteps(name));
    Object.assign(this, rowsOf(execution, options));
    this.conflicts = conflictNumbers(execution);
    this.edges = edgesOf(execution, this.rowOf, this.rows);
    this.stops = this.rows.flatMap((row) => {
      const end = (step) => [execution.unit(step.n)[1]];
      if (row.type === "step") return end(row.step);
      return row.type === "fold" && !row.open ? end(row.steps[row.steps.length - 1]) : [];
    });
    this.draw();
  }

  hasSteps(name) {
    return this.execution.steps.some((step) => step.thread === name);
  }

  /** The next visible step in a direction. */
  next(direction) {
    if (direction > 0) return this.stops.find((n) => n > this.cursor) ?? this.cursor;
    for (let at = this.stops.length - 1; at >= 0; at -= 1) if (this.stops[at] < this.cursor) return this.stops[at];
    return 0;
  }

  moveTo(n) {
    this.cursor = n;
    const row = this.rows[this.rowOf.get(n)];
    const head = this.head.offsetHeight;
    if (n === 0) this.node.scrollTop = 0;
    if (row) {
      const room = this.node.clientHeight - head;
      const above = row.y - 60 < this.node.scrollTop;
      const below = row.y + row.height + 60 > this.node.scrollTop + room;
      if (above || below) this.node.scrollTop = Math.max(0, row.y - room / 3);
    }
    this.draw();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  /** Where lanes stand; if they would be too narrow, the steps are stacked and indented by thread instead. */
  layout() {
    const width = Math.max(this.node.clientWidth, 240) - GUTTER - 6;
    const count = Math.max(1, this.names.length);
    this.stacked = width / count < MIN_LANE;
    this.indent = this.stacked ? Math.min(12, 60 / count) : 0;
    this.lane = this.stacked ? width : width / count;
  }

  place(thread) {
    const number = Math.max(0, this.names.indexOf(thread));
    if (this.stacked) return { left: GUTTER + number * this.indent + 8, width: this.lane - number * this.indent - 26 };
    return { left: GUTTER + number * this.lane + 10, width: this.lane - 26 };
  }

  draw() {
    if (!this.rows) return;
    this.layout();
    this.drawHeads();
    const from = this.everything ? 0 : this.node.scrollTop - MARGIN;
    const to = this.everything ? Infinity : this.node.scrollTop + this.node.clientHeight + MARGIN;
    const first = Math.max(0, this.rowAt(from));
    let last = first;
    while (last < this.rows.length && this.rows[last].y <= to) last += 1;
    this.canvas.style.height = `${this.height + 12}px`;
    const shownRows = this.rows.slice(first, last);
    const nodes = shownRows.flatMap((row) => this.row(row));
    put(this.canvas, this.bands(first, last), nodes, this.drawEdges(first, last));
    const current = this.rowOf.get(this.cursor);
    if (current !== undefined) this.node.setAttribute("aria-activedescendant", `row-${current}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** The row at a height, by bisection. */
  rowAt(y) {
    let [low, high] = [0, this.rows.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.rows[middle].y <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  drawHeads() {
    const names = this.names.map((name, at) => {
      const head = el("span", { class: `lane-head hue-${at % 6}` }, name);
      if (!this.stacked) head.style.width = `${this.lane}px`;
      return head;
    });
    this.head.classList.toggle("stacked", this.stacked);
    put(this.head, el("span", { class: "lane-number" }, "step"), names);
  }

  row(row) {
    const nodes = (row.labels || []).map((block, number) => this.label(block, row.y + number * HEIGHT.label));
    const node = this[row.type](row);
    node.style.top = `${row.y + row.lead}px`;
    return [...nodes, node];
  }

  step(row) {
    const { step } = row;
    const { left, width } = this.place(step.thread);
    const [first, last] = this.execution.unit(step.n);
    const now = this.cursor >= first && this.cursor <= last;
    const classes = ["row", "step", `hue-${this.names.indexOf(step.thread) % 6}`, now && "now", step.n > this.cursor && "future"];
    const badges = (this.conflicts.get(step.n) || []).map((number) => el("span", { class: "badge", title: `conflict ${number}` }, `!${number}`));
    const early = (step.overtook || []).length > 0;
    const late = this.execution.ghosts.some((ghost) => ghost.performed === step.n);
    const card = el(
      "div",
      { class: "card" },
      el("div", { class: "statement" },
        el("span", { class: "kind", title: step.kind }, SYMBOL[step.kind] || "?"),
        this.stacked && el("span", { class: "who" }, step.thread),
        el("code", {}, step.kind === "event" ? step.event : step.call ? step.call.text : step.text),
        early && this.moved("↑", "early", "performed before program-earlier accesses of its thread"),
        late && this.moved("↓", "late", "performed after program-later accesses of its thread"),
        el("span", { class: "line", title: step.used ? `line ${step.used.line} of ${step.used.file}` : `line ${step.line}` }, step.label || `L${lineOf(step)}`)),
      el("div", { class: "effect" },
        badges,
        step.kind === "event" ? (step.text === step.event ? "" : step.text) : briefly(step),
        this.sets(first, last).map((words) => el("span", { class: "sets" }, words))),
    );
    if (step.call && step.call.note) card.title = step.call.note;
    card.style.left = `${left}px`;
    card.style.width = `${width}px`;
    const label = `${this.execution.sentence(step.n)}`;
    return el(
      "div",
      { class: classes.filter(Boolean).join(" "), id: `row-${row.at}`, role: "option", "aria-selected": now ? "true" : "false", "aria-label": label, "data-step": last },
      el("span", { class: "number" }, now ? "▶ " : "", step.n),
      card,
    );
  }

  /** The sets and maps that change in these steps. */
  sets(first, last) {
    const changes = (this.execution.trace.locals || []).filter(({ n, value }) => n >= first && n <= last && value === null);
    return changes.filter(({ shown: words }) => words !== "{}").map(({ name, shown: words }) => `${name} = ${words}`);
  }

  moved(sign, word, title) {
    return el("span", { class: "moved", title }, this.lane > 230 ? `${sign} ${word}` : sign);
  }

  ghost(row) {
    const { ghost } = row;
    const { left, width } = this.place(ghost.thread);
    const fate = ghost.performed === null ? "not performed yet at the end" : `performed as step ${ghost.performed}`;
    const text = `${ghost.kind}${ghost.location === null ? "" : ` ${ghost.location}`}`;
    const card = el("div", { class: "card", title: `line ${lineOf(ghost)}'s ${text} stands here in the program; ${fate}` },
      el("b", {}, ghost.performed === null ? "↷ later" : `↷ step ${ghost.performed}`), `: ${ghost.label || `L${lineOf(ghost)}`} ${text}`);
    card.style.left = `${left}px`;
    card.style.width = `${width}px`;
    return el("div", { class: "row ghost", "data-goto": ghost.performed ?? "" }, card);
  }

  fold(row) {
    const { left, width } = this.place(row.thread);
    const [first, last] = [row.steps[0].n, row.steps[row.steps.length - 1].n];
    const now = !row.open && this.cursor >= first && this.cursor <= last;
    const text = `${row.open ? "▾" : "▸"} ${plural(row.steps.length, "local step")}`;
    const card = el("button", { class: "card", type: "button", "data-fold": first, "aria-expanded": String(row.open), tabindex: "-1" },
      text, this.stacked ? ` of ${row.thread}` : "");
    card.style.left = `${left}px`;
    card.style.width = `${width}px`;
    return el("div", { class: `row fold${now ? " now" : ""}`, id: `row-${row.at}`, role: "option", "aria-selected": now ? "true" : "false" },
      el("span", { class: "number" }, now ? "▶ " : "", `${first}–${last}`), card);
  }

  mark(row) {
    return el("div", { class: "row mark", role: "presentation" }, `↻ ${row.text}`);
  }

  label(block, y) {
    const { left, width } = this.place(block.thread);
    const words = blockWords(block, this.execution);
    const node = el("div", { class: `block-label ${block.sort} ${block.status}`, title: `${block.sort} ${words}` }, words);
    Object.assign(node.style, { top: `${y}px`, left: `${left - 4}px`, width: `${width + 8}px` });
    return node;
  }

  /** Transactions and operations as boxes behind their steps; when stacked, as bars at their side. */
  bands(first, last) {
    return this.blocks.filter((band) => band.first < last && band.last >= first).map((band) => {
      const { left, width } = this.place(band.block.thread);
      const [top, end] = [this.rows[band.first], this.rows[band.last]];
      const inner = band.block.sort === "operation";
      const labels = (top.labels || []).indexOf(band.block) * HEIGHT.label;
      const node = el("div", { class: `band ${band.block.sort} ${band.block.status}${this.stacked ? " bar" : ""}` });
      Object.assign(node.style, {
        top: `${top.y + labels + 1}px`,
        height: `${end.y + end.height - top.y - labels - 2}px`,
        left: `${this.stacked ? left - (inner ? 4 : 8) : left - (inner ? 4 : 8)}px`,
        width: this.stacked ? "4px" : `${width + (inner ? 8 : 16)}px`,
      });
      return node;
    });
  }

  drawEdges(first, last) {
    if (first >= last) return [];
    const top = this.rows[first].y;
    const end = this.rows[last - 1];
    const height = end.y + end.height - top;
    const edges = this.edges.filter((edge) => this.isDrawn(edge, first, last));
    const drawing = svg("svg", { class: "edges", width: "100%", height, "aria-hidden": "true" },
      svg("defs", {}, arrow("head"), arrow("head-now")),
      edges.map((edge) => this.edge(edge, top)));
    drawing.style.top = `${top}px`;
    return [drawing];
  }

  /** Far away edges are left out, unless they belong to the step at the cursor. */
  isDrawn(edge, first, last) {
    const touches = Math.max(edge.from, edge.to) >= first && Math.min(edge.from, edge.to) < last;
    if (!touches) return false;
    const mine = edge.steps.includes(this.cursor);
    if (this.stacked && edge.kind === "rf") return mine;
    return mine || Math.abs(edge.to - edge.from) < 80;
  }

  edge(edge, top) {
    const mine = edge.steps.includes(this.cursor);
    const [a, b] = [this.rows[edge.from], this.rows[edge.to]];
    const [pa, pb] = [this.place(a.thread), this.place(b.thread)];
    const middle = (row) => row.y + row.lead + HEIGHT[row.type] / 2 - top;
    const d = a.thread === b.thread || this.stacked ? bow(pa, pb, middle(a), middle(b), edge) : across(pa, pb, middle(a), middle(b));
    const marker = mine ? "url(#head-now)" : "url(#head)";
    return svg("path", { d, class: `edge ${edge.kind}${mine ? " mine" : ""}`, "marker-end": marker });
  }

  clicked(event) {
    const fold = event.target.closest("[data-fold]");
    if (fold) return this.open(Number(fold.dataset.fold));
    const ghost = event.target.closest("[data-goto]");
    if (ghost && ghost.dataset.goto) return this.pick(Number(ghost.dataset.goto));
    const row = event.target.closest("[data-step]");
    if (row) this.pick(Number(row.dataset.step));
  }
}

/** Reads-from, forwarding, and from where a deferred access stood to where it was performed; between rows. */
function edgesOf(execution, rowOf, rows) {
  const edges = [];
  const ghostRow = new Map();
  rows.forEach((row, at) => row.type === "ghost" && ghostRow.set(`${row.thread}\n${row.ghost.po}`, at));
  const push = (kind, from, to, steps) => {
    if (from !== undefined && to !== undefined && from !== to) edges.push({ kind, from, to, steps });
  };
  for (const step of execution.steps) {
    const source = step.source || {};
    if (source.from === "step") push("rf", rowOf.get(source.n), rowOf.get(step.n), [source.n, step.n]);
    if (source.from === "forwarded") push("forwarded", ghostRow.get(`${step.thread}\n${source.po}`), rowOf.get(step.n), [step.n]);
  }
  for (const ghost of execution.ghosts) {
    if (ghost.performed === null) continue;
    push("late", ghostRow.get(`${ghost.thread}\n${ghost.po}`), rowOf.get(ghost.performed), [ghost.performed]);
  }
  return edges;
}

/** `T2 ✗ aborted, again as T3`; a call of an algorithm with its result: `read(1): 1`. */
function blockWords(block, execution) {
  if (block.result) return `${block.name}: ${block.result}`;
  const after = execution.blocks.find((other) => other.again === block.name && block.sort === "transaction");
  const again = `${block.again ? `, ${block.again} again` : ""}${after ? `, again as ${after.name}` : ""}`;
  return `${block.name} ${STATUS[block.status] || block.status}${again}`;
}

/** For each step the conflicts of the explanation that it takes part in. */
function conflictNumbers(execution) {
  const numbers = new Map();
  (execution.trace.explanation.conflicts || []).forEach((conflict, at) => {
    for (const n of conflict.steps) numbers.set(n, [...(numbers.get(n) || []), at + 1]);
  });
  return numbers;
}

/** What a step does, as shortly as a lane allows. */
function briefly(step) {
  if (step.call) {
    const { result, from, note } = step.call;
    return `${result === null ? "" : `= ${result}`}${from === null ? "" : ` ← step ${from}`}${note ? ` (${note})` : ""}`;
  }
  const value = (number, words) => shown(number, words);
  const from = () => {
    if (!step.source) return "";
    if (step.source.from === "step") return ` ← step ${step.source.n}`;
    return step.source.from === "forwarded" ? ` ← own line ${lineOf(step.source)}` : " ← initial";
  };
  const read = step.read === null ? "" : value(step.read, step.read_shown);
  const written = step.written === null ? "" : value(step.written, step.written_shown);
  if (step.read === null) return `${step.location} := ${written}`;
  if (step.kind === "load") return `${step.location} = ${read}${from()}`;
  return step.written === null ? `${step.location} = ${read}, unchanged${from()}` : `${step.location}: ${read} → ${written}${from()}`;
}

function arrow(id) {
  return svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 9, markerHeight: 9, orient: "auto", class: id }, svg("path", { d: "M0,0 L8,4 L0,8 Z" }));
}

/** From one lane to another. */
function across(a, b, ya, yb) {
  const right = b.left > a.left;
  const xa = right ? a.left + a.width : a.left;
  const xb = right ? b.left : b.left + b.width;
  const pull = Math.max(24, Math.abs(xb - xa) / 2) * (right ? 1 : -1);
  return `M${xa},${ya} C${xa + pull},${ya} ${xb - pull},${yb} ${xb},${yb}`;
}

/** Within a lane, at its right side: reorderings further out than reads. */
function bow(a, b, ya, yb, edge) {
  const [xa, xb] = [a.left + a.width, b.left + b.width];
  const out = Math.max(xa, xb) + (edge.kind === "late" ? 15 : 10);
  return `M${xa},${ya} C${out},${ya} ${out},${ya} ${out},${(ya + yb) / 2} S${out},${yb} ${xb},${yb}`;
}
