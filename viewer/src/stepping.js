// Stepping by hand: the page of a server that offers the steps enabled at each state. Every place it shows is an ordinary trace of the steps so far.

const MOST_KEPT = 500;

class SteppingApp extends App {
  constructor(root, data) {
    super(root, data);
    // The steps chosen, of which the first `taken` have been taken; the rest can be taken again.
    this.chosen = [];
    this.taken = 0;
    this.kept = new Map();
    this.keep(data);
    this.showPlace(data);
  }

  buildStage() {
    this.offers = el("ol", { class: "offers", id: "offers" });
    this.standing = el("p", { class: "standing", id: "standing", role: "status", "aria-live": "polite" });
    this.trail = el("ol", { class: "trail", id: "trail" });
    this.problem = el("p", { class: "note problem", role: "alert", hidden: true });
    super.buildStage();
    this.stage.prepend(el("section", { class: "stepping", "aria-label": "Steps" },
      el("div", { class: "stepping-offers" }, this.standing, this.offers),
      el("div", { class: "stepping-trail" }, el("h3", {}, "Steps taken"), this.trail)), this.problem);
    this.stage.prepend(this.heading, this.bar);
    put(this.stage.querySelector(".legend .key:last-child"), "Keys: 1–9 take a step, k ↑ back, j ↓ forth, Home restart, f fold, t theme");
  }

  toolbar() {
    const button = (id, label, title, move) => el("button", { type: "button", id, title, "aria-label": title, on: { click: move } }, label);
    this.restartButton = button("restart", "|◀ restart", "Back to the start (Home)", () => this.goTo(0));
    this.backButton = button("back", "◀ back", "Take the last step back (k or arrow up)", () => this.goTo(this.taken - 1));
    this.forthButton = button("forth", "forth ▶", "Take the step again (j or arrow down)", () => this.goTo(this.taken + 1));
    this.count = el("output", { class: "position", id: "taken" });
    this.bar = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Steps" },
      this.restartButton, this.backButton, this.forthButton, this.count,
      button("save", "save trace", "Save the steps so far as a trace, for cyrano replay", () => this.save()),
      el("details", { class: "filter-box" }, el("summary", {}, "Filter"), this.filters));
    return this.bar;
  }

  /** The trace ends here, so its last registers are those of this place. */
  makeExecution(trace) {
    const execution = new Execution(trace);
    const { registers, path } = this.place;
    const before = this.kept.get(path.slice(0, -1).join(" "));
    const atStep = execution.registersAt.bind(execution);
    execution.registersAt = (n) => (n < execution.last ? atStep(n) : placeRegisters(registers, path.length > 0 && before ? before.registers : []));
    return execution;
  }

  /** What is hidden stays hidden. */
  startOptions() {
    return this.options || super.startOptions();
  }

  // ---- places ----

  path(number) {
    return this.chosen.slice(0, number).map((step) => step.number).join(" ");
  }

  keep(place) {
    if (this.kept.size >= MOST_KEPT) this.kept.delete(this.kept.keys().next().value);
    this.kept.set(place.path.join(" "), place);
  }

  async ask(what, path) {
    const answer = await fetch(what, { method: "POST", body: path, cache: "no-store" });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text;
  }

  /** Takes an enabled step; what had been taken back is forgotten, unless it is the same step. */
  take(number) {
    const step = this.place.enabled[number];
    if (!step || this.busy) return;
    const next = this.chosen[this.taken];
    if (!next || next.number !== number) this.chosen = [...this.chosen.slice(0, this.taken), { number, words: wordsOf(step, this.execution) }];
    this.goTo(this.taken + 1);
  }

  /** Goes to the place after so many of the chosen steps. */
  async goTo(number) {
    if (this.busy || number < 0 || number > this.chosen.length) return;
    this.busy = true;
    this.stage.setAttribute("aria-busy", "true");
    try {
      const path = this.path(number);
      if (!this.kept.has(path)) this.keep(parseExactly(await this.ask("state", path)));
      this.taken = number;
      this.problem.hidden = true;
      this.showPlace(this.kept.get(path));
    } catch (error) {
      this.complain(error);
    } finally {
      this.busy = false;
      this.stage.removeAttribute("aria-busy");
    }
  }

  complain(error) {
    const gone = error instanceof TypeError ? "The server does not answer; is cyrano explore still running?" : error.message;
    put(this.problem, gone);
    this.problem.hidden = false;
  }

  async save() {
    try {
      const text = await this.ask("trace", this.path(this.taken));
      const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      el("a", { href: address, download: "trace.json" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (error) {
      this.complain(error);
    }
  }

  // ---- what is shown ----

  showPlace(place) {
    const focused = this.offers.contains(document.activeElement);
    this.place = place;
    this.doc = readDocument(place);
    this.choose(0, false);
    this.moveTo(this.end());
    this.why.hidden = place.trace.explanation.kind === "steps";
    put(this.offers, place.enabled.map((step, number) => this.offer(step, number)));
    put(this.standing, standing(place));
    put(this.trail, this.chosen.map((step, at) => this.trailed(step, at)));
    put(this.count, `${plural(this.taken, "step")} taken${this.chosen.length > this.taken ? `, ${this.chosen.length - this.taken} taken back` : ""}`);
    this.backButton.disabled = this.restartButton.disabled = this.taken === 0;
    this.forthButton.disabled = this.taken === this.chosen.length;
    const first = this.offers.querySelector("button");
    if (focused) (first || this.backButton).focus({ preventScroll: true });
  }

  offer(step, number) {
    const key = number < 9 ? String(number + 1) : "";
    const hue = this.execution.threads.indexOf(step.thread) % 6;
    return el("li", {}, el("button", { type: "button", class: `offer hue-${hue}${step.wrong ? " wrong" : ""}`, "data-number": number, on: { click: () => this.take(number) } },
      el("kbd", {}, key), el("b", { class: "offer-thread" }, step.thread),
      el("span", { class: "offer-what" }, chosenWords(step).map((words) => el("span", { class: "offer-line" }, rich(words))),
        step.steps.filter((access) => !access.within).map((access) => this.offered(access)),
        step.wrong ? el("span", { class: "offer-line offer-wrong" }, "✗ ", rich(step.wrong)) : null)));
  }

  /** One access of a step on offer. */
  offered(access) {
    const early = (access.overtook || []).map((other) => `${placeOf(other)}'s ${other.kind}${other.location === null ? "" : ` ${other.kind === "store" ? "to" : "of"} ${other.location}`}`);
    return [
      el("span", { class: "offer-line" }, el("span", { class: "line" }, `${access.label || `L${access.line}`} `), access.call ? null : [el("code", {}, access.text), " "], el("span", { class: "effect" }, rich(effectOf(access, this.execution)))),
      early.length > 0 ? el("span", { class: "offer-line offer-early" }, `↑ performed before an earlier access: ${early.join(", ")}`) : null,
    ];
  }

  trailed(step, at) {
    const here = at + 1 === this.taken;
    const state = at < this.taken ? "" : " undone";
    return el("li", { class: `trail-step${state}` }, el("button", { type: "button", class: "jump", "aria-current": here ? "step" : null, on: { click: () => this.goTo(at + 1) } }, rich(step.words)), at < this.taken ? "" : " (taken back)");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("select, textarea, input[type=text]")) return;
    const back = () => this.goTo(this.taken - 1);
    const forth = () => this.goTo(this.taken + 1);
    const moves = {
      j: forth, ArrowDown: forth, ArrowRight: forth,
      k: back, ArrowUp: back, ArrowLeft: back,
      Home: () => this.goTo(0), End: () => this.goTo(this.chosen.length),
      f: () => this.flip("fold"), t: () => this.themeButton.click(),
      Enter: () => event.target === this.lanes.node && this.openHere(),
    };
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    const move = digit > 0 ? () => this.take(digit - 1) : moves[event.key];
    // What the key did not do here, the browser does: a button is pressed.
    if (!move || move() === false) return;
    event.preventDefault();
  }

  /** `#theme=dark` is all that an address says here. */
  fromAddress() {
    const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
    if (theme === "dark" || theme === "light") this.setTheme(theme);
  }
}

/** The registers of a place; those that were different in the place before are marked. */
function placeRegisters(now, before) {
  const old = new Map(before.map(({ thread, values }) => [thread, new Map(values.map((named) => [named.name, shown(named.value, named.shown)]))]));
  return new Map(now.map(({ thread, values }) => [thread, new Map(values.map((named) => {
    const text = shown(named.value, named.shown);
    const then = old.get(thread)?.get(named.name);
    return [named.name, { text, before: then !== undefined && then !== text ? then : null }];
  }))]));
}

/** What a step on offer does to memory. */
function effectOf(access, execution) {
  return access.kind === "event" ? `★ ${execution.effect(access)}` : execution.effect(access);
}

/** The choices of a step, in words. */
function chosenWords(step) {
  if (step.commands.length > 0) return step.commands.map((command) => `chooses \`${command}\``);
  if (step.choices.length > 0) return [`chooses ${step.choices.join(", ")} at line ${step.line}${step.text ? `: \`${step.text}\`` : ""}`];
  return step.steps.length > 0 ? [] : [`runs on from line ${step.line}`];
}

/** A step in a line. */
function wordsOf(step, execution) {
  const accesses = step.steps.filter((access) => !access.within).map((access) => `${placeOf(access)}: ${execution.effect(access)}${(access.overtook || []).length > 0 ? " (early)" : ""}`);
  return `${step.thread}, ${[...chosenWords(step), ...accesses].join("; ")}`;
}

/** How things stand. */
function standing(place) {
  const words = {
    open: () => `${plural(place.enabled.length + place.left_out, "step")} can be taken${place.left_out > 0 ? `, of which the first ${place.enabled.length} are shown` : ""}:`,
    done: () => "■ Every thread has run to its end.",
    wrong: () => `✗ ${place.trace.explanation.sentence}`,
    stuck: () => "No step can be taken: a thread stands at a condition that does not hold, so this is no execution of the program.",
  }[place.state]();
  const outcome = place.outcome.length > 0 ? ` Outcome: ${place.outcome.map(({ name, value }) => `${name} = ${shown(value)}`).join(", ")}.` : "";
  const bounded = place.bounded ? " A thread has deferred as many accesses as it may; it goes on once some are performed." : "";
  return [rich(words), outcome, bounded];
}
