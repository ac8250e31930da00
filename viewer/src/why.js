// Why it is wrong: the sentence, and what shows it, by the kind of the explanation.

function whyPanel(execution, pick) {
  const { explanation, violation, threads } = execution.trace;
  const details = {
    cycle: () => [cycleGraph(explanation.conflicts, pick), conflictList(explanation.conflicts, pick)],
    observation: () => observations(explanation),
    deadlock: () => waits(execution, pick),
    lasso: () => ((explanation.rounds || []).length > 0 ? endless(violation, explanation) : lasso(violation, threads)),
  }[explanation.kind];
  const parts = [...(details ? details() : plain(execution, pick)), ...compared(explanation, pick)];
  const words = (explanation.words || []).map((word) => el("p", {}, rich(word)));
  return el("section", { class: "why", "aria-labelledby": "why-title" },
    el("h2", { id: "why-title" }, violation ? "Why it is wrong" : "What it shows"),
    el("p", { class: "sentence" }, rich(explanation.sentence)),
    words,
    el("div", { class: "why-details" }, parts),
    shapeOf(execution, pick));
}

/** The executions that this one stands for: rows between barriers, a lane for each thread. */
function shapeOf(execution, pick) {
  const { shape } = execution.trace;
  if (!shape || !shape.rows.some((row) => row.some(({ thread }) => thread !== row[0].thread))) return null;
  const number = shape.interleavings === null ? "very many" : shape.interleavings.replace(/\B(?=(\d{3})+$)/g, ",");
  const threads = execution.threads.filter((name) => shape.rows.some((row) => row.some(({ thread }) => thread === name)));
  const cell = (row, name) => el("td", {}, row.filter(({ thread }) => thread === name).map(({ text, first }) => el("div", {}, jump(first, text, pick))));
  return el("div", { class: "shape", id: "shape" },
    el("p", {}, `It stands for ${number} executions that end the same: what is above a line is done before what is below it, and the threads interleave as they like between two lines.`),
    el("table", {},
      el("thead", {}, el("tr", {}, threads.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, shape.rows.map((row) => el("tr", {}, threads.map((name) => cell(row, name)))))));
}

/** Any other kind: the condition, where it happens, and the values behind it. */
function plain(execution, pick) {
  const { explanation } = execution.trace;
  const parts = [];
  if (explanation.condition || explanation.line) {
    const facts = [];
    if (explanation.condition) facts.push(fact("condition", el("code", {}, explanation.condition)));
    if (explanation.message) facts.push(fact("message", explanation.message));
    if (explanation.thread) facts.push(fact("thread", explanation.thread));
    if (explanation.line) facts.push(fact("line", explanation.line));
    parts.push(el("dl", { class: "facts" }, facts));
  }
  const values = explanation.values || [];
  if (values.length > 0) parts.push(valueColumns(values));
  if (execution.ghosts.length > 0) parts.push(outOfOrder(execution.ghosts, pick));
  return parts;
}

/** Values side by side. */
function valueColumns(values) {
  const row = (cell) => el("tr", {}, values.map(cell));
  return el("div", { class: "scroll" }, el("table", { class: "values observation" },
    el("thead", {}, row((named) => el("th", { scope: "col" }, named.name))),
    el("tbody", {}, row((named) => el("td", { class: "value" }, shown(named.value, named.shown))))));
}

/** Which accesses were overtaken, with a way to the first step that overtook each. */
function outOfOrder(ghosts, pick) {
  const number = ghosts.length === 1 ? "One access is" : `${ghosts.length} accesses are`;
  const some = ghosts.slice(0, 5).map((ghost) => [jump(ghost.before, `${ghost.thread}, ${placeOf(ghost)}`, pick), " "]);
  return el("p", {}, `${number} overtaken by later ones of the same thread: `, some, ghosts.length > 5 ? "…" : "");
}

function fact(name, value) {
  return [el("dt", {}, name), el("dd", {}, value)];
}

function conflictList(conflicts, pick) {
  return el("ol", { class: "conflicts" }, conflicts.map((conflict) =>
    el("li", {}, conflictWords(conflict), " (", jump(conflict.steps[0], `step ${conflict.steps[0]}`, pick), " and ", jump(conflict.steps[1], `step ${conflict.steps[1]}`, pick), ")")));
}

/** The cycle of transactions: nodes on a circle, each edge with its number in the list and what it is about. */
function cycleGraph(conflicts, pick) {
  const names = [...new Set(conflicts.flatMap((conflict) => [conflict.first, conflict.second]))];
  const flat = names.length === 2;
  const [width, height, rx, ry] = flat ? [380, 170, 140, 0] : [420, 270, 140, 95];
  const [cx, cy] = [width / 2, height / 2];
  const at = names.map((_, number) => {
    const angle = (2 * Math.PI * number) / names.length + (flat ? Math.PI : -Math.PI / 2);
    return { x: cx + rx * Math.cos(angle), y: cy + ry * Math.sin(angle) };
  });
  const edges = conflicts.map((conflict, number) => {
    const [a, b] = [at[names.indexOf(conflict.first)], at[names.indexOf(conflict.second)]];
    return conflictEdge(conflict, number + 1, a, b, pick);
  });
  const nodes = names.map((name, number) => svg("g", { class: "node" },
    svg("circle", { cx: at[number].x, cy: at[number].y, r: 24 }),
    svg("text", { x: at[number].x, y: at[number].y + 5, "text-anchor": "middle" }, name)));
  const title = `Cycle: ${conflicts.map(conflictWords).join("; ")}`;
  return svg("svg", { class: "cycle", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title },
    svg("defs", {}, arrow("cycle-head")), edges, nodes);
}

function conflictEdge(conflict, number, a, b, pick) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  // Bent to its left as seen along the edge, so that an edge and its reverse do not lie on each other.
  const [nx, ny] = [uy, -ux];
  const bend = Math.min(90, length / 3);
  const [mx, my] = [(a.x + b.x) / 2 + nx * bend, (a.y + b.y) / 2 + ny * bend];
  const toward = (p) => {
    const d = Math.hypot(mx - p.x, my - p.y) || 1;
    return [p.x + ((mx - p.x) / d) * 27, p.y + ((my - p.y) / d) * 27];
  };
  const [[sx, sy], [ex, ey]] = [toward(a), toward(b)];
  const [tx, ty] = [(a.x + b.x) / 2 + nx * bend * 0.62, (a.y + b.y) / 2 + ny * bend * 0.62];
  const reason = conflict.reason.replace(/-before-/g, " before ").replace("real-time", "real time");
  const label = `${number}: ${reason}${conflict.variable === null ? "" : ` ${conflict.variable}`}`;
  const below = ny > 0.3;
  return svg("g", { class: "conflict", on: { click: () => pick(conflict.steps[1]) } },
    svg("path", { d: `M${sx},${sy} Q${mx},${my} ${ex},${ey}`, "marker-end": "url(#cycle-head)" }),
    svg("text", { x: tx, y: ty + (below ? 16 : -8), "text-anchor": "middle" }, label));
}

/** The observation beside the serial ones that come closest. */
function observations(explanation) {
  const mine = explanation.values || [];
  if (mine.length === 0) return [];
  const head = el("tr", {}, el("td", {}), mine.map((named) => el("th", { scope: "col" }, named.name)));
  const row = (title, values, mark) => el("tr", {}, el("th", { scope: "row" }, title), values.map((named, at) => {
    const differs = mark && String(named.value) !== String(mine[at].value);
    return el("td", { class: differs ? "differs" : null }, differs ? "≠ " : "", shown(named.value, named.shown));
  }));
  const nearest = (explanation.nearest || []).map((serial, at) => row(`serial ${at + 1}`, serial, true));
  const note = nearest.length === 0 ? "There is no serial execution to compare with." : "Cells marked ≠ are what serial executions have instead.";
  return [el("div", { class: "scroll" }, el("table", { class: "values observation" }, el("thead", {}, head), el("tbody", {}, row("this execution", mine, false), nearest))), el("p", { class: "none" }, note)];
}

/** Who waits where, for which values, and who wrote them. */
function waits(execution, pick) {
  const { trace } = execution;
  const told = trace.explanation.waits || [];
  const waiting = trace.threads.filter((thread) => thread.end.state === "waiting");
  const items = waiting.map((thread) => {
    const reads = (told.find((wait) => wait.thread === thread.name) || { reads: [] }).reads;
    const because = reads.map((read) => el("li", {}, el("code", {}, `${read.name} = ${shown(read.value, read.shown)}`), read.step ? [", written by ", jump(read.step, `${execution.step(read.step).thread} in step ${read.step}`, pick)] : ", since the start"));
    return el("li", {}, el("b", {}, thread.name), ` waits at line ${thread.end.line}: `, el("code", {}, execution.sourceLine(thread.end.line) || thread.end.text), because.length > 0 ? el("ul", {}, because) : "");
  });
  return [waitGraph(execution, told), el("ul", { class: "waits" }, items)];
}

/** Threads that wait for what another one wrote last. */
function waitGraph(execution, told) {
  const edges = [];
  for (const wait of told) {
    for (const read of wait.reads) {
      const writer = read.step ? execution.step(read.step).thread : null;
      if (writer && writer !== wait.thread) edges.push({ first: wait.thread, second: writer, about: read.name });
    }
  }
  if (edges.length === 0) return null;
  const conflicts = edges.map((edge) => ({ ...edge, reason: "waits for", variable: edge.about, steps: [execution.last, execution.last] }));
  return cycleGraph(conflicts, () => {});
}

/** An execution that goes on for ever: who, how, and what the clients call. */
function lasso(info, threads) {
  const rows = threads.map((thread, at) => {
    const stem = info.stem.choices[at] || 0;
    const round = info.round.choices[at] || 0;
    const apart = thread.commands.length === thread.choices.length;
    const before = apart ? thread.commands.slice(0, stem) : thread.commands;
    const again = apart ? thread.commands.slice(stem, stem + round) : [];
    return el("tr", {}, el("th", { scope: "row" }, thread.name), el("td", {}, before.join(", ") || "–"), el("td", {}, again.join(", ") || "–"));
  });
  return [
    el("p", {}, `${plural(info.stem.steps, "step")} first, then a round of ${plural(info.round.steps, "step")} again and again.`),
    table("commands", ["thread", "calls first", "calls in every round"], rows),
  ];
}

/** Threads that never end: what each of them does in a round, and what the one in question looks at. */
function endless(info, explanation) {
  const rows = explanation.rounds.map(({ thread, does, line }) => el("tr", { class: thread === info.thread ? "suspect" : null },
    el("th", { scope: "row" }, thread), el("td", {}, does), el("td", {}, line || "–")));
  const values = explanation.values || [];
  return [
    el("p", {}, `${plural(info.stem.steps, "step")} first, then a round of ${plural(info.round.steps, "step")} again and again.`),
    table("rounds", ["thread", "in every round", "line"], rows),
    values.length > 0 ? valueColumns(values) : null,
  ].filter((part) => part);
}

/** Blocks that did not do what they would have done one at a time: what differs, and the serial order. */
function compared(explanation, pick) {
  const differences = [
    ...(explanation.memory || []).map((at) => ({ name: at.location, ...at })),
    ...(explanation.handed_on || []).map((at) => ({ name: at.register, ...at })),
  ];
  const rows = differences.map(({ name, real, serial }) => {
    const differs = String(real) !== String(serial);
    return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "value" }, shown(real)),
      el("td", { class: differs ? "value differs" : "value" }, differs ? "≠ " : "", shown(serial)));
  });
  const order = (explanation.serial_order || []).map((unit) =>
    el("li", {}, unit.block ? el("code", {}, unit.block) : `line ${unit.line}`, ` of ${unit.thread} (`, jump(unit.step, `step ${unit.step}`, pick), ")"));
  const parts = [];
  if (rows.length > 0) parts.push(table("stores", ["", "this execution", "serial run"], rows));
  if (order.length > 0) parts.push(el("div", {}, el("h3", {}, "The serial run"), el("ol", { class: "conflicts" }, order)));
  return parts;
}
