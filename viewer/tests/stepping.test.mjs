// Stepping by hand: a real server, and a browser that takes steps on its page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Browser } from "./browser.mjs";
import { CYRANO, Pages } from "./pages.mjs";

let browser;
let pages;
const servers = [];
before(async () => {
  pages = new Pages();
  browser = await Browser.start();
});
after(async () => {
  for (const server of servers) server.kill();
  await browser.stop();
  pages.remove();
});

/** Starts the server and waits for its address. */
function serve(...args) {
  const child = spawn(CYRANO, ["explore", ...args, "--no-open"], { cwd: pages.dir, stdio: ["ignore", "pipe", "inherit"] });
  servers.push(child);
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("the server has ended")));
    child.stdout.once("data", (text) => resolve(String(text).trim()));
  });
}

const text = (page, selector) => page.run((selector) => document.querySelector(selector).textContent, selector);

/** Waits until the page has taken so many steps. */
async function taken(page, words) {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await text(page, "#taken")) === words) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.equal(await text(page, "#taken"), words);
}

/** Clicks the step on offer whose words have all these parts. */
async function click(page, ...parts) {
  const found = await page.run((parts) => {
    const fits = [...document.querySelectorAll(".offer")].filter((offer) => parts.every((part) => offer.textContent.includes(part)));
    if (fits.length === 1) fits[0].click();
    return fits.length;
  }, parts);
  assert.equal(found, 1, `one step has ${parts.join(", ")}`);
}

test("store buffering is stepped through to r1 = r2 = 0, back and forth", async () => {
  const page = await browser.open(await serve("lib:litmus/sb.rml", "--model", "tso"));
  await taken(page, "0 steps taken");
  assert.match(await text(page, "#standing"), /^4 steps can be taken/);
  await click(page, "p0", "reads y = 0", "performed before an earlier access: line 19's store to x");
  await taken(page, "1 step taken");
  assert.equal((await page.values("#registers")).r1, "0");
  assert.match(await text(page, "#queue"), /line 19's store to x/);
  await click(page, "p1", "reads x = 0");
  await taken(page, "2 steps taken");
  await click(page, "p0", "writes x := 1");
  await taken(page, "3 steps taken");
  assert.deepEqual(await page.values("#memory"), { x: "1", y: "0" });
  await page.key("1");
  await taken(page, "4 steps taken");
  assert.deepEqual(await page.values("#memory"), { x: "1", y: "1" });
  assert.match(await text(page, "#standing"), /must never hold.*Outcome: r1 = 0, r2 = 0/);
  assert.equal(await page.run(() => document.querySelectorAll(".row.step").length), 4);
  await page.key("k");
  await taken(page, "3 steps taken, 1 taken back");
  assert.deepEqual(await page.values("#memory"), { x: "1", y: "0" });
  await page.key("Home");
  await taken(page, "0 steps taken, 4 taken back");
  await page.key("ArrowRight");
  await taken(page, "1 step taken, 3 taken back");
  await page.key("End");
  await taken(page, "4 steps taken");
  await page.run(() => document.querySelectorAll("#trail button")[1].click());
  await taken(page, "2 steps taken, 2 taken back");
  await click(page, "p1", "writes y := 1");
  await taken(page, "3 steps taken");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the steps can be saved, and the saved trace replays", async () => {
  const page = await browser.open(await serve("lib:litmus/sb.rml", "--model", "tso"));
  await browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: pages.dir });
  await click(page, "p0", "reads y = 0");
  await taken(page, "1 step taken");
  await page.run(() => document.querySelector("#save").click());
  const saved = () => readdirSync(pages.dir).includes("trace.json");
  for (let tries = 0; tries < 200 && !saved(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 25));
  assert.equal(JSON.parse(readFileSync(join(pages.dir, "trace.json"), "utf8")).steps.length, 1);
  assert.equal(pages.cyrano("replay", "trace.json").status, 0);
  await page.close();
  const { url } = pages.viewed("viewed", readFileSync(join(pages.dir, "trace.json"), "utf8"));
  const viewed = await browser.open(url);
  assert.match(await text(viewed, ".summary"), /unchecked.*steps taken by hand/);
  assert.doesNotMatch((await text(viewed, ".summary")) + (await text(viewed, ".trace-title")), /verified|witness/);
  await viewed.close();
});

test("a program that would like to be markup stays text, and filters stay", async () => {
  pages.file("<img src=x onerror=alert(1)>.rml", 'threads { shared x; local r; thread p { x := 1; r := x; assert r = 2, "<script>alert(2)</script>" } }\n');
  const page = await browser.open(await serve("<img src=x onerror=alert(1)>.rml"));
  await page.run(() => document.querySelector('#filter-locations input[value="x"]').click());
  await page.key("1");
  await taken(page, "1 step taken");
  assert.equal((await page.values("#memory")).x, undefined, "x stays hidden");
  assert.match(await text(page, ".offer-wrong"), /✗ .*<script>/);
  await page.key("1");
  await taken(page, "2 steps taken");
  assert.match(await text(page, "#standing"), /^✗ .*<script>/);
  assert.deepEqual([page.dialogs, page.complaints], [0, []]);
  await page.close();
});

test("a server that has gone is noticed", async () => {
  const page = await browser.open(await serve("lib:litmus/mp.rml", "--model", "pso"));
  const gone = new Promise((resolve) => servers.at(-1).once("close", resolve));
  servers.at(-1).removeAllListeners("exit");
  servers.at(-1).kill();
  await gone;
  await page.key("1");
  for (let tries = 0; tries < 200 && (await page.run(() => document.querySelector(".problem").hidden)); tries += 1) await new Promise((resolve) => setTimeout(resolve, 25));
  assert.match(await text(page, ".problem"), /does not answer/);
  assert.equal(await text(page, "#taken"), "0 steps taken");
  await page.close();
});
