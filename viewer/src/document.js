// From the embedded JSON to what the page shows. Nothing here touches the page.

/** Numbers of 64 bits do not fit JavaScript's; those that may be too large are read as text. */
function parseExactly(text) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  const isLarge = (found) => found.length > 15 && /^-?\d+$/.test(found);
  return JSON.parse(text.replace(token, (found) => (isLarge(found) ? `"${found}"` : found)));
}

/** A value for people; null is one that a deferred load has yet to provide. */
function shown(value, words) {
  if (words !== null && words !== undefined) return words;
  if (value === null || value === undefined) return "not yet loaded";
  return String(value);
}

/** One of Cyrano's JSON objects as rows of a summary, results of fence synthesis, and traces. */
function readDocument(data) {
  const doc = { schema: data.schema, tool: data.tool, checks: [], repairs: [], traces: [], note: null };
  switch (data.schema) {
    case "cyrano.trace/1":
    case "cyrano.trace/2":
      addCheck(doc, checkOf(data));
      break;
    case "cyrano.replay/1":
      addCheck(doc, checkOf(data.trace));
      doc.note = data.confirmed ? `Replayed${data.against ? ` against ${data.against}` : ""} and confirmed.` : `NOT CONFIRMED: ${data.reason}`;
      break;
    case "cyrano.stepping/1":
      addTrace(doc, data.trace, `${data.trace.program.test ? `${data.trace.program.test.name} of ` : ""}${data.trace.program.file} on ${data.trace.model.name}`);
      break;
    case "cyrano.fences/1":
      for (const result of data.results) addRepair(doc, result);
      break;
    default:
      for (const check of data.checks || []) addCheck(doc, check);
  }
  return doc;
}

/** A trace on its own is one check without costs; steps that somebody took by hand are no check. */
function checkOf(trace) {
  const byHand = !trace.violation && trace.explanation.kind === "steps";
  return {
    file: trace.program.file,
    test: trace.program.test ? trace.program.test.name : null,
    model: trace.model.name,
    criterion: byHand ? "steps taken by hand" : trace.property.criterion,
    property: trace.property.condition,
    verdict: trace.violation ? "violated" : byHand ? "unchecked" : "verified",
    trace,
    explanation: trace.explanation,
  };
}

function titleOf(check) {
  const test = check.test ? `${check.test}: ` : "";
  const condition = check.property ? ` (${check.property})` : "";
  return `${test}${check.criterion}${condition}`;
}

function addCheck(doc, check) {
  const row = { check, trace: null };
  if (check.trace) {
    const what = { verified: ": witness", unchecked: "" }[check.verdict] ?? `: ${check.verdict}`;
    row.trace = addTrace(doc, check.trace, `${check.file}, ${titleOf(check)} on ${check.model}${what}`);
  }
  doc.checks.push(row);
}

function addTrace(doc, trace, title) {
  doc.traces.push({ trace, title });
  return doc.traces.length - 1;
}

function addRepair(doc, result) {
  const sets = result.sets.map((set, number) =>
    set.map((fence) => {
      const prevents = fence.counterexamples || [];
      const title = (trace) => `${result.file} on ${result.model}: what ${fenceName(fence)} prevents (${titleOf(checkOf(trace))})`;
      return { fence, traces: number === 0 ? prevents.map((trace) => addTrace(doc, trace, title(trace))) : [] };
    }),
  );
  const title = `${result.file}, ${result.criterion} on ${result.model}: ${result.verdict}`;
  const trace = result.trace ? addTrace(doc, result.trace, title) : null;
  doc.repairs.push({ result, sets, trace });
}

function fenceName(fence) {
  if (fence.order) return `order ${fence.order}`;
  return `fence(${fence.kind}) ${fence.where} line ${fence.line}`;
}
