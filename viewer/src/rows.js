// Which rows the lanes have: steps, folded runs of steps, places where deferred accesses stood, and where a round begins.

const HEIGHT = { step: 46, ghost: 24, fold: 26, mark: 26, label: 20 };

/**
 * The rows of an execution, top to bottom, each with `y` and `height`.
 * `options`: hidden threads and locations (sets), `fold`, the folds that were opened (set of first steps), `rounds`.
 */
function rowsOf(execution, options) {
  const rows = [];
  const visible = visibleSteps(execution, options);
  const ghosts = ghostsBefore(execution, options);
  let run = null;
  const flush = () => {
    if (run) rows.push(...closeRun(run, options));
    run = null;
  };
  for (const step of visible) {
    const above = ghosts.get(step.n) || [];
    const begins = execution.rounds && step.n === execution.rounds.stem.steps + 1;
    const foldable = options.fold && execution.isLocal(step) && above.length === 0 && !begins;
    if (!foldable || (run && run[0].thread !== step.thread)) flush();
    if (begins) rows.push({ type: "mark", text: "again and again:" });
    for (const ghost of above) rows.push({ type: "ghost", ghost, thread: ghost.thread });
    if (foldable) (run = run || []).push(step);
    else rows.push({ type: "step", step, thread: step.thread });
  }
  flush();
  return { ...placed(rows, execution), rows };
}

function visibleSteps(execution, options) {
  let steps = execution.steps;
  if (execution.rounds && !options.rounds) {
    steps = steps.slice(0, execution.firstRound);
  }
  const shownLocation = (step) => step.location === null || !options.locations.has(step.location);
  const first = (step) => execution.unit(step.n)[0] === step.n;
  return steps.filter((step) => first(step) && !options.threads.has(step.thread) && shownLocation(step));
}

/** Deferred accesses by the visible step above which they stood. */
function ghostsBefore(execution, options) {
  const before = new Map();
  for (const ghost of execution.ghosts) {
    if (options.threads.has(ghost.thread) || (ghost.location !== null && options.locations.has(ghost.location))) continue;
    if (!before.has(ghost.before)) before.set(ghost.before, []);
    before.get(ghost.before).push(ghost);
  }
  return before;
}

/** A run of local steps: one row, unless it is short or was opened. */
function closeRun(run, options) {
  const steps = run.map((step) => ({ type: "step", step, thread: step.thread }));
  if (run.length < 2) return steps;
  const open = options.opened.has(run[0].n);
  const fold = { type: "fold", steps: run, thread: run[0].thread, open };
  return open ? [fold, ...steps] : [fold];
}

/** Gives every row its place; labels of blocks stand above the first row of each. */
function placed(rows, execution) {
  const rowOf = new Map();
  rows.forEach((row, at) => {
    const put = (step) => {
      for (let n = step.n; n <= execution.unit(step.n)[1]; n += 1) rowOf.set(n, at);
    };
    if (row.type === "step") put(row.step);
    if (row.type === "fold" && !row.open) row.steps.forEach(put);
  });
  const blocks = [];
  for (const block of execution.blocks) {
    const own = block.members.map((n) => rowOf.get(n)).filter((at) => at !== undefined);
    if (own.length === 0) continue;
    let first = own.reduce((a, b) => Math.min(a, b));
    while (first > 0 && belongs(block, rows[first - 1])) first -= 1;
    blocks.push({ block, first, last: own.reduce((a, b) => Math.max(a, b)) });
    const row = rows[first];
    (row.labels = row.labels || []).push(block);
  }
  let y = 0;
  rows.forEach((row, at) => {
    row.at = at;
    row.y = y;
    row.lead = (row.labels || []).length * HEIGHT.label;
    row.height = HEIGHT[row.type] + row.lead;
    y += row.height;
  });
  return { rowOf, blocks, height: y };
}

/** Whether a row is the place of a deferred access that is one of a block's own. */
function belongs(block, { type, ghost }) {
  if (type !== "ghost" || ghost.thread !== block.thread) return false;
  if (block.sort === "operation") return ghost.po >= block.po[0] && ghost.po <= block.po[1];
  return ghost.performed !== null && block.members.includes(ghost.performed);
}
