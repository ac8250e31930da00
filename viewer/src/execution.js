// One trace at every step: memory, registers, deferred accesses, transactions. Step 0 is what holds before the first one.

class Execution {
  constructor(trace) {
    this.trace = trace;
    this.steps = trace.steps;
    this.last = trace.steps.length;
    this.threads = trace.threads.map((thread) => thread.name);
    this.locations = this.namesOfLocations();
    this.initial = this.firstValues();
    this.byPo = new Map(this.steps.map((step) => [`${step.thread}\n${step.po}`, step]));
    this.ghosts = this.deferred();
    this.blocks = this.transactions().concat(this.operations());
    this.local = this.localLocations();
    this.rounds = trace.violation && trace.violation.kind === "lasso" ? trace.violation : null;
    this.firstRound = this.rounds ? this.rounds.stem.steps + this.rounds.round.steps : this.last;
  }

  step(n) {
    return n > 0 ? this.steps[n - 1] : null;
  }

  at(thread, po) {
    return this.byPo.get(`${thread}\n${po}`) || null;
  }

  namesOfLocations() {
    const names = new Set((this.trace.memory || []).map((named) => named.name));
    for (const step of this.steps) if (step.location !== null) names.add(step.location);
    for (const helper of this.trace.helpers || []) names.delete(helper);
    return [...names];
  }

  /** The first and the last step of what is shown as one: a call of a base object, or a step alone. */
  unit(n) {
    const step = this.step(n);
    if (!step) return [n, n];
    const first = step.within && step.within < n ? step.within : n;
    const call = this.step(first).call;
    return [first, call && call.last >= n ? Math.min(call.last, this.last) : n];
  }

  /** Memory before the first step. A trace of an older version has it only as far as somebody read it, or nobody wrote. */
  firstValues() {
    const values = new Map();
    const given = this.trace.initial || [];
    if (given.length === 0) {
      const written = new Set(this.steps.filter((step) => step.written !== null).map((step) => step.location));
      for (const named of this.trace.memory) if (!written.has(named.name)) values.set(named.name, named);
      for (const step of this.steps) {
        if (step.source && step.source.from === "initial") {
          values.set(step.location, { value: step.read, shown: step.read_shown });
        }
      }
    }
    for (const named of given) values.set(named.name, named);
    return values;
  }

  /** Every location with its value after step n, who wrote it, and what it held before if step n changed it. */
  memoryAt(n) {
    const memory = new Map();
    for (const name of this.locations) {
      const first = this.initial.get(name);
      memory.set(name, { text: first ? shown(first.value, first.shown) : "?", writer: 0, before: null });
    }
    for (const step of this.steps.slice(0, n)) {
      if (step.written === null || step.location === null) continue;
      const old = memory.get(step.location);
      if (!old) continue;
      const text = shown(step.written, step.written_shown);
      const now = step.n >= this.unit(n)[0];
      memory.set(step.location, { text, writer: this.unit(step.n)[0], before: now ? old.before ?? old.text : null });
    }
    return memory;
  }

  /** For each thread what its methods and transactions keep for themselves after step n: locals, sets and maps. */
  localsAt(n) {
    const threads = new Map(this.threads.map((name) => [name, new Map()]));
    const [from] = this.unit(n);
    for (const change of this.trace.locals || []) {
      if (change.n > n) break;
      const own = threads.get(change.thread);
      if (!own) continue;
      const old = own.get(change.name);
      const fresh = change.n >= from && n > 0;
      own.set(change.name, { text: shown(change.value, change.shown), before: fresh ? (old ? old.text : "") : null });
    }
    return threads;
  }

  /** For each thread its registers after step n; at the end those that the replay found. */
  registersAt(n) {
    const threads = new Map(this.threads.map((name) => [name, new Map()]));
    for (const change of this.trace.changes || []) {
      if (change.n > n) break;
      const own = threads.get(change.thread);
      if (!own) continue;
      const old = own.get(change.name);
      const fresh = change.n === n && n > 0;
      own.set(change.name, { text: shown(change.value, change.shown), before: fresh && old ? old.text : null });
    }
    if ((this.trace.changes || []).length === 0 && n === this.last) {
      for (const thread of this.trace.threads) {
        for (const named of thread.registers) {
          threads.get(thread.name).set(named.name, { text: shown(named.value, named.shown), before: null });
        }
      }
    }
    return threads;
  }

  /** The accesses that a program-later one overtook: where they stood, and the step that performed them, if any. */
  deferred() {
    const ghosts = [];
    const seen = new Set();
    for (const step of this.steps) {
      for (const other of step.overtook || []) {
        const key = `${step.thread}\n${other.po}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const performed = this.at(step.thread, other.po);
        // The further accesses of a base object's call are no steps of their own.
        if (performed && performed.within) continue;
        ghosts.push({ thread: step.thread, ...other, before: step.n, performed: performed ? performed.n : null });
      }
    }
    return ghosts.sort((a, b) => a.before - b.before || a.po - b.po);
  }

  /** The accesses that are deferred after step n. */
  queueAt(n) {
    return this.ghosts.filter((ghost) => ghost.before <= n && (ghost.performed === null || ghost.performed > n));
  }

  transactions() {
    return (this.trace.transactions || []).map((info) => {
      const own = this.steps.filter((step) => step.transaction === info.name);
      const ends = own.filter((step) => /^(commit|abort|returns (committed|aborted))$/.test(step.event || ""));
      // Where ends are no events, a transaction ends with its last step.
      const last = ends.length > 0 ? ends[ends.length - 1].n : own.some((step) => step.event) ? null : info.last;
      const end = info.status === "unfinished" ? null : last;
      return { ...info, sort: "transaction", members: own.map((step) => step.n), end };
    });
  }

  operations() {
    return (this.trace.operations || []).map((info) => {
      const within = (step) => step.thread === info.thread && step.po >= info.po[0] && step.po <= info.po[1];
      return { ...info, sort: "operation", members: this.steps.filter(within).map((step) => step.n), end: info.last };
    });
  }

  /** What is known about each transaction after step n. */
  transactionsAt(n) {
    return this.blocks.filter((block) => block.sort === "transaction").map((block) => {
      if (block.first > n) return { block, state: "not begun", changed: false };
      if (block.end !== null && block.end <= n) return { block, state: block.status, changed: block.end === n };
      return { block, state: "live", changed: block.first === n };
    });
  }

  /** The conflicts of the explanation of which both steps have been performed. */
  conflictsAt(n) {
    const conflicts = this.trace.explanation.conflicts || [];
    return conflicts.filter((conflict) => Math.max(...conflict.steps) <= n);
  }

  /** The locations that only one thread accesses in this execution. */
  localLocations() {
    const users = new Map();
    for (const step of this.steps) {
      if (step.location === null) continue;
      if (!users.has(step.location)) users.set(step.location, new Set());
      users.get(step.location).add(step.thread);
    }
    return new Set([...users].filter(([, threads]) => threads.size === 1).map(([name]) => name));
  }

  isLocal(step) {
    return step.location !== null && this.local.has(step.location);
  }

  sourceLine(number) {
    return (this.trace.program.source.split("\n")[number - 1] || "").trim();
  }

  /** The lines at which threads stand after step n: of their program-latest accesses, of the step itself, and at the end where they wait. */
  linesAt(n) {
    const lines = new Map();
    for (const step of this.steps.slice(0, n)) {
      const other = lines.get(step.thread);
      if (!other || other.po < step.po) lines.set(step.thread, { po: step.po, line: step.line });
    }
    const current = this.step(n);
    if (current) lines.set(current.thread, { line: current.line, current: true });
    const standing = [...lines].map(([thread, { line, current }]) => ({ thread, line, current: Boolean(current) }));
    if (n < this.last) return standing;
    const waiting = this.trace.threads.filter((thread) => thread.end.state === "waiting");
    return standing.concat(waiting.map((thread) => ({ thread: thread.name, line: thread.end.line, waits: true })));
  }

  /** A step in a sentence. */
  sentence(n) {
    const step = this.step(n);
    if (!step) return "Before the first step.";
    const [first] = this.unit(n);
    const shownStep = this.step(first);
    return `Step ${first}: ${step.thread}, ${placeOf(shownStep)}: ${this.effect(shownStep)}.`;
  }

  /** What a step does, in words. */
  effect(step) {
    if (step.kind === "event") return step.event || "event";
    if (step.call) {
      const { text, note } = step.call;
      return `\`${text}\`${answerOf(step)}${note ? `; ${note}` : ""}`;
    }
    const parts = [];
    if (step.read !== null) parts.push(`reads ${step.location} = ${shown(step.read, step.read_shown)}${origin(step)}`);
    if (step.written !== null) {
      const value = shown(step.written, step.written_shown);
      const what = step.rollback ? "rolls back" : "writes";
      parts.push(step.read === null ? `${what} ${step.location} := ${value}` : `${what} ${value}`);
    } else if (step.kind === "read-modify-write") {
      parts.push("writes nothing");
    }
    return parts.join(" and ");
  }

  /** "Performed early / late" about a step. */
  reordering(n) {
    const step = this.step(this.unit(n)[0]);
    if (!step) return [];
    const words = (step.words || []).map((text) => `Performed early: ${text}.`);
    const ghost = this.ghosts.find((other) => other.performed === step.n);
    if (ghost) {
      const by = this.steps.filter((other) => (other.overtook || []).some((o) => o.po === step.po) && other.thread === step.thread);
      const numbers = by.map((other) => other.n);
      words.push(`Performed late: it stands before ${listed(numbers)} in the program.`);
    }
    return words;
  }
}

/** `12`, or `memory:12` if the line comes from a file that the program uses. */
function lineOf({ line, used }) {
  if (!used) return `${line}`;
  const name = used.file.split(/[/:]/).pop().replace(/\.rml$/, "");
  const short = name.length > 10 && name.includes("_") ? name.split("_").map((word) => word.slice(0, 1)).join("") : name;
  return `${short}:${used.line}`;
}

/** `line 12`, or the label of the statement. */
function placeOf(step) {
  return step.label || `line ${lineOf(step)}`;
}

/** What a call of a base object returned, and where that came from. */
function answerOf(step) {
  const { result, from } = step.call;
  if (result === null) return "";
  return ` returns ${result}${from === null ? "" : ` from step ${from}`}`;
}

function listed(numbers) {
  const noun = numbers.length === 1 ? "step" : "steps";
  if (numbers.length <= 2) return `${noun} ${numbers.join(" and ")}`;
  if (numbers.length > 6) return `${noun} ${numbers.slice(0, 5).join(", ")} and ${numbers.length - 5} more`;
  return `${noun} ${numbers.slice(0, -1).join(", ")} and ${numbers[numbers.length - 1]}`;
}

/** Where a value came from. */
function origin(step) {
  if (!step.source) return "";
  switch (step.source.from) {
    case "step":
      return ` from step ${step.source.n}`;
    case "forwarded":
      return ` from its own deferred store at line ${lineOf(step.source)}`;
    default:
      return " (initial value)";
  }
}
