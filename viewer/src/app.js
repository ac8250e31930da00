// The page: summary, choice of a trace, the cursor and the keys that move it.

const FOLD_FROM = 300;

class App {
  constructor(root, data) {
    this.root = root;
    this.doc = readDocument(data);
    this.current = 0;
    this.cursor = 0;
    this.pick = (n) => this.moveTo(n);
    this.setTheme(this.preferred());
    this.build();
    this.fromAddress();
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // ---- theme ----

  preferred() {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  setTheme(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    if (this.themeButton) put(this.themeButton, theme === "dark" ? "☀ light" : "☾ dark");
  }

  // ---- parts of the page ----

  build() {
    this.themeButton = el("button", { type: "button", id: "theme", on: { click: () => this.setTheme(this.theme === "dark" ? "light" : "dark") } });
    this.setTheme(this.theme);
    const { tool, note } = this.doc;
    this.stage = el("main", {});
    put(this.root,
      el("header", { class: "top" }, el("h1", {}, document.title), el("span", { class: "tool" }, tool ? `${tool.name} ${tool.version}` : ""), this.themeButton),
      note ? el("p", { class: "note" }, rich(note)) : null,
      this.doc.checks.length > 0 ? summary(this.doc.checks, (trace) => this.choose(trace, true)) : null,
      this.doc.repairs.map((repair) => repairPanel(repair, (trace) => this.choose(trace, true))),
      this.stage);
    if (this.doc.traces.length === 0) put(this.stage, el("p", { class: "none" }, "There is no execution to show."));
    else this.buildStage();
  }

  buildStage() {
    this.lanes = new Lanes({ pick: this.pick, open: (first) => this.toggleFold(first) });
    this.source = new SourcePanel();
    this.why = el("div", {});
    this.heading = el("h2", { class: "trace-title" });
    this.doubt = el("div", {});
    this.said = el("div", { class: "said", role: "status", "aria-live": "polite" });
    this.slider = el("input", { type: "range", min: 0, id: "slider", "aria-label": "Step", on: { input: () => this.moveTo(Number(this.slider.value)) } });
    this.position = el("output", { class: "position", for: "slider" });
    this.filters = el("div", { class: "filters" });
    this.panels = { memory: el("div", {}), registers: el("div", {}), queue: el("div", {}), monitor: el("div", {}) };
    put(this.stage, this.chooser(), this.heading, this.doubt, this.why, this.toolbar(), this.said,
      el("div", { class: "work" }, el("div", { class: "left" }, this.lanes.node, legend()), el("div", { class: "right" }, this.statePanels(), this.sourceSection())));
  }

  chooser() {
    if (this.doc.traces.length < 2) return null;
    this.select = el("select", { id: "trace", on: { change: () => this.choose(Number(this.select.value), false) } },
      this.doc.traces.map(({ title }, at) => el("option", { value: at }, `${at + 1}. ${title}`)));
    return el("p", { class: "chooser" }, el("label", { for: "trace" }, "Execution "), this.select);
  }

  toolbar() {
    const button = (label, title, move) => el("button", { type: "button", title, "aria-label": title, on: { click: move } }, label);
    return el("div", { class: "toolbar", role: "toolbar", "aria-label": "Cursor" },
      button("|◀", "First (Home)", () => this.moveTo(0)),
      button("◀", "Step back (k or arrow up)", () => this.moveTo(this.lanes.next(-1))),
      this.slider,
      button("▶", "Step forward (j or arrow down)", () => this.moveTo(this.lanes.next(1))),
      button("▶|", "Last (End)", () => this.moveTo(this.end())),
      this.position,
      el("details", { class: "filter-box" }, el("summary", {}, "Filter"), this.filters));
  }

  statePanels() {
    const section = (key, title) => el("section", { class: `panel ${key}`, id: key }, el("h3", {}, title), this.panels[key]);
    return el("div", { class: "state" }, section("memory", "Shared memory"), section("registers", "Registers"), section("queue", "Deferred accesses"), section("monitor", "Transactions"));
  }

  sourceSection() {
    this.sourceTitle = el("h3", {});
    return el("section", { class: "panel source-panel" }, this.sourceTitle, this.source.node);
  }

  // ---- a trace ----

  choose(number, scroll) {
    const { trace, title } = this.doc.traces[number];
    this.current = number;
    if (this.select) this.select.value = String(number);
    this.execution = this.makeExecution(trace);
    this.options = this.startOptions();
    put(this.heading, title);
    put(this.doubt, trace.confirmed ? null : el("p", { class: "unconfirmed", role: "alert" }, `NOT CONFIRMED: ${trace.unconfirmed || "nobody has replayed this execution"}`));
    put(this.why, whyPanel(this.execution, this.pick));
    put(this.sourceTitle, trace.program.file);
    this.source.show(this.execution);
    this.buildFilters();
    this.cursor = 0;
    this.lanes.cursor = 0;
    this.lanes.show(this.execution, this.options);
    this.moveTo(0);
    if (scroll) this.heading.scrollIntoView();
  }

  makeExecution(trace) {
    return new Execution(trace);
  }

  startOptions() {
    return { threads: new Set(), locations: new Set(), opened: new Set(), rounds: false, fold: this.execution.last > FOLD_FROM };
  }

  buildFilters() {
    const { execution, options } = this;
    const toggle = (set, name) => (event) => {
      if (event.target.checked) set.delete(name);
      else set.add(name);
      this.refresh();
    };
    const box = (set, name) => el("label", {}, el("input", { type: "checkbox", checked: !set.has(name), value: name, on: { change: toggle(set, name) } }), " ", name);
    const flag = (key, text) => el("label", {}, el("input", { type: "checkbox", id: `option-${key}`, checked: options[key], on: { change: (event) => { options[key] = event.target.checked; this.refresh(); } } }), " ", text);
    put(this.filters,
      el("fieldset", { id: "filter-threads" }, el("legend", {}, "Threads"), execution.threads.map((name) => box(options.threads, name))),
      el("fieldset", { id: "filter-locations" }, el("legend", {}, "Variables"), execution.locations.map((name) => box(options.locations, name))),
      el("fieldset", {}, el("legend", {}, "Steps"), flag("fold", "fold local steps (f)"), execution.rounds ? flag("rounds", "show the round again as often as the trace has it") : null));
  }

  toggleFold(first) {
    const { opened } = this.options;
    if (!opened.delete(first)) opened.add(first);
    this.refresh();
  }

  refresh() {
    this.lanes.show(this.execution, this.options);
    this.moveTo(this.cursor);
  }

  // ---- the cursor ----

  /** The last step that is shown. */
  end() {
    return this.options.rounds ? this.execution.last : this.execution.firstRound;
  }

  moveTo(n) {
    const { execution, options, panels } = this;
    this.cursor = Math.min(Math.max(0, n), this.end());
    this.slider.max = String(this.end());
    this.slider.value = String(this.cursor);
    this.slider.setAttribute("aria-valuetext", execution.sentence(this.cursor));
    put(this.position, `step ${this.cursor} of ${this.end()}`);
    put(this.said, el("p", {}, rich(execution.sentence(this.cursor))), this.reordered());
    put(panels.memory, memoryPanel(execution, this.cursor, options.locations));
    put(panels.registers, registersPanel(execution, this.cursor, options.threads));
    put(panels.queue, queuePanel(execution, this.cursor, this.pick));
    const monitor = monitorPanel(execution, this.cursor, this.end(), this.pick);
    panels.monitor.parentElement.hidden = monitor === null;
    put(panels.monitor, monitor);
    this.lanes.moveTo(this.cursor);
    this.source.mark(execution, this.cursor, this.lanes.names);
  }

  reordered() {
    const words = this.execution.reordering(this.cursor);
    const shownWords = words.slice(0, 3).map((word) => el("p", { class: "reordered" }, "↷ ", rich(word)));
    return words.length > 3 ? [...shownWords, el("p", { class: "reordered" }, `… and ${words.length - 3} more`)] : shownWords;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.execution) return;
    const target = event.target;
    if (target.matches("select, textarea, input[type=text]")) return;
    const onSlider = target === this.slider;
    const moves = {
      j: () => this.moveTo(this.lanes.next(1)),
      k: () => this.moveTo(this.lanes.next(-1)),
      ArrowDown: () => !onSlider && this.moveTo(this.lanes.next(1)),
      ArrowUp: () => !onSlider && this.moveTo(this.lanes.next(-1)),
      ArrowRight: () => !onSlider && this.moveTo(this.lanes.next(1)),
      ArrowLeft: () => !onSlider && this.moveTo(this.lanes.next(-1)),
      Home: () => this.moveTo(0),
      End: () => this.moveTo(this.end()),
      f: () => this.flip("fold"),
      t: () => this.themeButton.click(),
      "]": () => this.switchTrace(1),
      "[": () => this.switchTrace(-1),
      Enter: () => target === this.lanes.node && this.openHere(),
    };
    const move = moves[event.key];
    // What the key did not do here, the browser does: a slider moves itself, a button is pressed.
    if (!move || move() === false) return;
    event.preventDefault();
  }

  flip(key) {
    const box = this.filters.querySelector(`#option-${key}`);
    if (box) box.click();
  }

  switchTrace(direction) {
    const next = this.current + direction;
    if (next >= 0 && next < this.doc.traces.length) this.choose(next, false);
  }

  /** Opens the fold at the cursor. */
  openHere() {
    const row = this.lanes.rows[this.lanes.rowOf.get(this.cursor)];
    if (!row || row.type !== "fold") return false;
    this.toggleFold(row.steps[0].n);
    return true;
  }

  /** `#trace=2&step=5&theme=dark`: where to begin. */
  fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.get("theme") === "dark" || wanted.get("theme") === "light") this.setTheme(wanted.get("theme"));
    if (this.doc.traces.length === 0) return;
    const trace = Number(wanted.get("trace") || 1) - 1;
    this.choose(trace >= 0 && trace < this.doc.traces.length ? Math.floor(trace) : 0, false);
    const step = Math.floor(Number(wanted.get("step")));
    this.moveTo(wanted.has("step") && step >= 0 ? step : this.end());
  }

  /** Paper is light, and there is no scrolling: every row is there. */
  print(all) {
    if (all) this.screenTheme = this.theme;
    this.setTheme(all ? "light" : this.screenTheme);
    if (!this.lanes) return;
    this.lanes.everything = all;
    this.lanes.draw();
  }
}

function legend() {
  const line = (kind, text) => el("span", { class: "key" }, svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, svg("path", { class: `edge ${kind}`, d: "M2,6 L32,6" })), text);
  return el("p", { class: "legend" },
    line("rf", "read from"), line("late", "from its place in the program to where it was performed"), line("forwarded", "own store, not performed yet"),
    el("span", { class: "key" }, "Keys: j k ↑ ↓ Home End, [ ] other execution, f fold, t theme"));
}

function summary(rows, choose) {
  const body = rows.map(({ check, trace }) => {
    const number = (value, text) => el("td", { class: "number-cell" }, value === null || value === undefined ? "–" : text(value));
    const shows = trace === null ? "" : el("button", { type: "button", class: "jump", on: { click: () => choose(trace) } }, check.verdict === "verified" ? "show witness" : "show");
    const why = trace === null && check.explanation ? check.explanation.sentence : null;
    const notes = [check.reason, why].filter(Boolean);
    return el("tr", {},
      el("td", {}, el("span", { class: `verdict ${check.verdict}` }, VERDICT_SIGN[check.verdict] || "", " ", check.verdict)),
      el("td", {}, check.file), el("td", {}, check.test || "–"), el("td", {}, check.model || "–"),
      el("td", {}, check.criterion, check.property ? [" ", el("code", {}, check.property)] : "", notes.map((note) => el("div", { class: "reason" }, rich(note)))),
      number(check.states, (value) => value.toLocaleString("en")), number(check.seconds, (value) => `${value.toFixed(2)} s`),
      el("td", {}, shows));
  });
  const heads = ["verdict", "file", "test", "model", "criterion", "states", "time", "execution"];
  const counts = Object.entries(rows.reduce((all, { check }) => ({ ...all, [check.verdict]: (all[check.verdict] || 0) + 1 }), {}));
  const words = counts.map(([verdict, number]) => `${number} ${verdict}`).join(", ");
  return el("details", { class: "summary", open: rows.length <= 12 }, el("summary", {}, `${plural(rows.length, "check")}: ${words}`),
    el("div", { class: "scroll" }, el("table", { class: "values checks" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, body))));
}

const VERDICT_SIGN = { verified: "✓", violated: "✗", unknown: "?", bounded: "≤", vacuous: "∅", repaired: "✓", "already-correct": "✓", irreparable: "✗" };

/** What fence synthesis found: the change, and for each fence what goes wrong without it. */
function repairPanel({ result, sets, trace }, choose) {
  const parts = [el("h2", {}, `${result.file}, ${result.criterion} on ${result.model}: `, el("span", { class: `verdict ${result.verdict}` }, VERDICT_SIGN[result.verdict] || "", " ", result.verdict))];
  if (result.reason) parts.push(el("p", {}, rich(result.reason)));
  sets.forEach((set, number) => {
    if (sets.length > 1) parts.push(el("h3", {}, `Set ${number + 1}`));
    parts.push(el("ul", { class: "fences" }, set.map(({ fence, traces }) => el("li", {}, el("code", {}, fenceName(fence)), fence.program ? ` (${fence.program})` : "",
      el("ul", {}, (fence.prevents || []).map((words, at) => el("li", {}, "without it: ", rich(words), " ", traces[at] === undefined ? "" : el("button", { type: "button", class: "jump", on: { click: () => choose(traces[at]) } }, "show the counterexample"))))))));
  });
  if (result.diff) parts.push(el("pre", { class: "diff", tabindex: "0", "aria-label": "Change of the source" }, result.diff.split("\n").map((line) => el("span", { class: { "+": "plus", "-": "minus", "@": "hunk" }[line[0]] || "" }, `${line}\n`))));
  if (trace !== null) parts.push(el("p", {}, "No fence prevents this: ", el("button", { type: "button", class: "jump", on: { click: () => choose(trace) } }, "show")));
  return el("section", { class: "repair" }, parts);
}

/** Shows the embedded document. */
function begin(Page) {
  try {
    new Page(document.getElementById("app"), parseExactly(document.getElementById("data").textContent));
  } catch (error) {
    // Data that is not what it claims to be; the console has the details.
    put(document.getElementById("app"), el("p", { class: "note", role: "alert" }, `This document cannot be shown: ${error.message}`));
    throw error;
  }
}
