// The page as a whole: keys, filters, looks, other documents, and texts that would like to be markup.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser } from "./browser.mjs";
import { Pages, longTrace, traces } from "./pages.mjs";

let browser;
let pages;
before(async () => {
  pages = new Pages();
  browser = await Browser.start();
});
after(async () => {
  await browser.stop();
  pages.remove();
});

const position = (page) => page.run(() => document.querySelector(".position").textContent);
const text = (page, selector) => page.run((selector) => document.querySelector(selector).textContent, selector);
const count = (page, selector) => page.run((selector) => document.querySelectorAll(selector).length, selector);

test("keys, buttons, the slider and clicks move the cursor", async () => {
  const { url } = pages.made("msn", "check", "lib:datatypes/msn_unfenced.c", "--test", "T0", "--model", "pso");
  const page = await browser.open(url);
  const last = Number((await position(page)).split(" ").pop());
  const after = async (key, step) => {
    await page.key(key);
    assert.equal(await position(page), `step ${step} of ${last}`, key);
  };
  await after("Home", 0);
  await after("j", 1);
  await after("ArrowDown", 2);
  await after("ArrowRight", 3);
  await after("k", 2);
  await after("ArrowUp", 1);
  await after("ArrowLeft", 0);
  await after("k", 0);
  await after("End", last);
  await after("j", last);
  await page.run(() => {
    const slider = document.querySelector("#slider");
    slider.value = "4";
    slider.dispatchEvent(new Event("input"));
  });
  assert.equal(await position(page), `step 4 of ${last}`);
  await page.run(() => document.querySelector('[data-step="7"] .card').click());
  assert.equal(await position(page), `step 7 of ${last}`);
  assert.equal(await page.run(() => document.querySelector(".row.now").dataset.step), "7");
  assert.match(await text(page, ".source-line.current"), /▶ thread1/);
  await page.run(() => document.querySelector("#slider").focus());
  await after("ArrowLeft", 6);
  await after("j", 7);
  await page.close();
});

test("everything can be reached by keyboard, with a visible focus", async () => {
  const { url } = pages.made("mp", "check", "lib:litmus/mp.rml", "--model", "pso");
  const page = await browser.open(url);
  const reached = new Set();
  for (let presses = 0; presses < 30; presses += 1) {
    await page.key("Tab");
    const [name, outline] = await page.run(() => {
      const node = document.activeElement;
      return [node.id || node.className || node.tagName, getComputedStyle(node).outlineStyle];
    });
    if (name === "BODY") break;
    reached.add(name);
    assert.notEqual(outline, "none", `${name} shows that it has the focus`);
  }
  for (const name of ["theme", "slider", "lanes", "source", "jump"]) assert.ok(reached.has(name), `${name} is among ${[...reached]}`);
  await page.close();
});

test("filters hide threads and variables, and local steps fold", async () => {
  const { url, data } = pages.made("msn", "check", "lib:datatypes/msn_unfenced.c", "--test", "T0", "--model", "pso");
  const [trace] = traces(data);
  const page = await browser.open(url, { height: 1600 });
  const toggle = (selector) => page.run((selector) => document.querySelector(selector).click(), selector);
  assert.equal(await count(page, ".row.step"), trace.steps.length);
  await toggle('#filter-threads input[value="thread1"]');
  assert.equal(await count(page, ".row.step"), trace.steps.filter((step) => step.thread !== "thread1").length);
  assert.equal(await count(page, ".lane-head"), 2);
  await toggle('#filter-threads input[value="thread1"]');
  await toggle('#filter-locations input[value="queue.head"]');
  assert.equal(await count(page, ".row.step"), trace.steps.filter((step) => step.location !== "queue.head").length);
  assert.equal((await page.values("#memory"))["queue.head"], undefined);
  await toggle('#filter-locations input[value="queue.head"]');
  assert.equal(await count(page, ".row.step"), trace.steps.length);
  await page.close();
});

test("runs of local steps fold into one row and open again", async () => {
  const { data } = pages.made("mp", "check", "lib:litmus/mp.rml", "--model", "pso");
  const trace = longTrace(traces(data)[0].model, 40);
  for (const step of trace.steps.slice(9, 12)) Object.assign(step, { thread: "p3", location: "own", kind: "store", read: null, written: 1, source: null });
  const { url } = pages.viewed("fold", trace);
  const page = await browser.open(url, { height: 2600 });
  const all = await count(page, ".row.step");
  await page.key("f");
  assert.equal(await count(page, ".row.fold"), 1);
  assert.equal(await count(page, ".row.step"), all - 3);
  await page.key("Home");
  for (let presses = 0; presses < 10; presses += 1) await page.key("j");
  assert.equal(await position(page), "step 12 of 40", "a fold is one stop");
  await page.run(() => document.querySelector(".fold .card").click());
  assert.equal(await count(page, ".row.step"), all);
  await page.close();
});

test("several executions can be switched between", async () => {
  const { url, data } = pages.made("core", "check", "lib:tm-objects/core_mcrt.rml");
  const page = await browser.open(url);
  const number = traces(data).length;
  assert.equal(await count(page, "#trace option"), number);
  await page.key("]");
  assert.equal(await page.run(() => document.querySelector("#trace").value), "1");
  await page.key("[");
  await page.key("[");
  assert.equal(await page.run(() => document.querySelector("#trace").value), "0");
  assert.equal(await count(page, ".checks tbody tr"), data.checks.length);
  await page.run(() => [...document.querySelectorAll(".checks .jump")].pop().click());
  assert.equal(await page.run(() => document.querySelector("#trace").value), String(number - 1));
  await page.close();
});

test("why it is wrong is shown for what it is", async () => {
  const shows = async (command, selector, pattern) => {
    const { url } = pages.made("why", ...command);
    const page = await browser.open(url);
    assert.ok((await count(page, selector)) > 0, `${command[1]} has ${selector}`);
    assert.match(await text(page, ".why"), pattern);
    assert.deepEqual(page.complaints, []);
    await page.close();
  };
  await shows(["check", "lib:stm/tl2_bug_no_lock.rml", "--criterion", "opacity", "--model", "sc"], ".cycle .conflict", /before T\d reads it/);
  await shows(["check", "lib:datatypes/snark_bug.c", "--test", "D0", "--model", "sc"], ".observation .differs", /this execution.*serial 1/s);
  await shows(["check", "lib:litmus/deadlock.rml", "--model", "sc"], ".cycle .conflict", /waits for/);
  await shows(["check", "lib:stm/mcrt.rml", "--criterion", "progress"], ".commands", /again and again/);
  await shows(["check", "lib:atomicity/bluetooth_bug.rml", "--model", "sc"], ".stores .differs", /The serial run/);
  await shows(["check", "lib:litmus/mp.rml", "--model", "pso"], ".facts", /condition/);
});

test("a repair shows its diff, and for each fence what it prevents", async () => {
  const { url, data } = pages.made("fence", "fence", "lib:litmus/mp.rml", "--model", "pso");
  const page = await browser.open(url);
  assert.match(await text(page, ".diff"), /\+.*fence\(/);
  assert.equal(await count(page, ".fences > li"), data.results[0].sets[0].length);
  await page.run(() => document.querySelector(".fences .jump").click());
  assert.match(await text(page, ".trace-title"), /what fence\(.*prevents/);
  assert.ok((await count(page, ".row.step")) > 0);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("older traces are shown, and explanations that are not confirmed are said not to be", async () => {
  const { data } = pages.made("mp", "check", "lib:litmus/mp.rml", "--model", "pso");
  const [trace] = traces(data);
  const { initial, changes, operations, ...old } = trace;
  const other = { ...trace, explanation: { ...trace.explanation, kind: "something-new", words: ["In other words."] } };
  const parted = { memory: [{ location: "x", real: 2, serial: 3 }], handed_on: [], serial_order: [{ thread: trace.steps[0].thread, block: "inc", line: 1, step: 1 }] };
  const atomicity = { ...trace, violation: { kind: "atomicity" }, explanation: { ...trace.explanation, kind: "atomicity", ...parted } };
  const check = async (document, pattern) => {
    const { url } = pages.viewed("other", document);
    const page = await browser.open(url);
    assert.match(await text(page, "#app"), pattern);
    await page.key("Home");
    await page.key("j");
    assert.deepEqual(page.complaints, []);
    await page.close();
  };
  await check(old, /Shared memory/);
  // What the replay does not bear out is not told again.
  await check(other, /NOT CONFIRMED: replaying it fails: the explanation is not as recorded/);
  await check(atomicity, /NOT CONFIRMED/);
});

test("light and dark follow the system and the button, and texts have enough contrast", async () => {
  const { url } = pages.made("msn", "check", "lib:datatypes/msn_unfenced.c", "--test", "T0", "--model", "pso");
  const { url: cycle } = pages.made("tl2", "check", "lib:stm/tl2_bug_no_lock.rml", "--criterion", "opacity", "--model", "sc");
  for (const scheme of ["light", "dark"]) {
    for (const address of [`${url}#step=8`, `${cycle}#step=10`]) {
      const page = await browser.open(address, { scheme });
      const theme = () => page.run(() => document.documentElement.dataset.theme);
      assert.equal(await theme(), scheme);
      assert.deepEqual(await page.run(lowContrast), [], scheme);
      await page.key("t");
      assert.equal(await theme(), scheme === "dark" ? "light" : "dark");
      await page.close();
    }
  }
});

/** Runs in the page: texts whose contrast with what is behind them is below 4.5 (WCAG AA). */
function lowContrast() {
  const rgba = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      // Mixed colours are written `color(srgb r g b / a)`; they are half transparent here, so what is behind them counts.
      const [r, g, b, a = 1] = rgba(color);
      if (!color.startsWith("color(") && a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const low = new Set();
  const walker = document.createTreeWalker(document.getElementById("app"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility()) continue;
    const style = getComputedStyle(parent);
    const color = rgba(parent.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [luminance(color), luminance(behind(parent))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.add(`${parent.tagName}.${parent.className}: ${ratio.toFixed(2)}`);
  }
  return [...low];
}

test("nothing is wider than a phone, and paper has every step", async () => {
  for (const args of [["lib:datatypes/msn_unfenced.c", "--test", "T0", "--model", "pso"], ["lib:stm/tl2_bug_no_lock.rml", "--criterion", "opacity", "--model", "sc"]]) {
    const { url } = pages.made("phone", "check", ...args);
    for (const width of [390, 1280]) {
      const page = await browser.open(url, { width, height: 800 });
      assert.ok((await page.run(() => document.documentElement.scrollWidth)) <= width, `${args[0]} at ${width}`);
      await page.close();
    }
  }
  const { data } = pages.made("mp", "check", "lib:litmus/mp.rml", "--model", "pso");
  const { url } = pages.viewed("paper", longTrace(traces(data)[0].model, 200));
  const page = await browser.open(url, { scheme: "dark" });
  const theme = () => page.run(() => document.documentElement.dataset.theme);
  assert.ok((await count(page, ".row.step")) < 200);
  await page.run(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await count(page, ".row.step"), 200);
  assert.equal(await theme(), "light");
  await page.run(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await theme(), "dark");
  const { data: pdf } = await page.send("Page.printToPDF", {});
  assert.ok(pdf.length > 1000);
  await page.close();
});

test("texts that look like markup stay texts", async () => {
  const image = "<img src=x onerror=\"window.hacked=1\">";
  const script = "</script><script>window.hacked=1</script><!--";
  const name = "<img src=x onerror=window.hacked=1>.rml";
  pages.file(name, `// ${image} ${script}\nthreads { shared x; thread p { x := 1; } }\ncheck never (x = 1);\n`);
  const { url, data } = pages.made("hostile", "check", name);
  const real = await browser.open(url);
  assert.match(await text(real, ".source"), /<\/script><script>/);
  await unharmed(real, name);

  const [trace] = traces(data);
  const evil = JSON.parse(JSON.stringify(trace).replaceAll('"p"', JSON.stringify(image)).replaceAll('"x"', JSON.stringify(script)));
  evil.explanation.sentence = `${image}${script}\u2028`;
  evil.steps[0].text = image;
  const page = await browser.open(pages.viewed("evil", evil).url);
  await page.key("Home");
  await page.key("j");
  assert.match(await text(page, "#memory"), /<\/script>/);
  await unharmed(page, name);
});

async function unharmed(page, name) {
  assert.equal(await page.run(() => window.hacked), undefined);
  assert.equal(page.dialogs, 0);
  assert.equal(await count(page, "img"), 0);
  assert.equal(await count(page, "script"), 2, "only the page's own");
  assert.ok((await text(page, "h1")).includes(name));
  assert.deepEqual(page.complaints, []);
  await page.close();
}
