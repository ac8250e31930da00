// A headless Chromium, driven through the DevTools protocol over a pipe: no packages, no port.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const PATIENCE = 20_000;

/** The browser's program: `$CHROMIUM`, or the first one of the usual names. */
export function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH || "").split(":");
  for (const name of NAMES) {
    for (const folder of folders) if (existsSync(join(folder, name))) return join(folder, name);
  }
  throw new Error("no Chromium; install Debian's package `chromium` or set CHROMIUM");
}

export class Browser {
  static async start() {
    const profile = mkdtempSync(join(tmpdir(), "viewer-test-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"];
    const child = spawn(findBrowser(), flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    return new Browser(child, profile);
  }

  constructor(child, profile) {
    Object.assign(this, { child, profile, next: 1, waiting: new Map(), listeners: [] });
    let rest = Buffer.alloc(0);
    child.stdio[4].on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.receive(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    child.stdio[3].on("error", () => {});
  }

  receive(message) {
    const entry = this.waiting.get(message.id);
    if (!entry) return this.listeners.forEach((listener) => listener(message));
    this.waiting.delete(message.id);
    clearTimeout(entry.timer);
    if (message.error) entry.reject(new Error(`${entry.method}: ${message.error.message}`));
    else entry.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), PATIENCE);
      this.waiting.set(id, { resolve, reject, method, timer });
    });
  }

  /** Opens an address; what it complains about and asks for is kept. */
  async open(url, { width = 1280, height = 900, scheme = "light" } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const loaded = page.once("Page.loadEventFired");
    await page.send("Page.navigate", { url });
    await loaded;
    return page;
  }

  async stop() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.send("Browser.close").catch(() => {});
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, complaints: [], requests: [], dialogs: 0 });
    browser.listeners.push((message) => message.sessionId === sessionId && this.hear(message));
    this.hopes = [];
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  hear({ method, params }) {
    this.hopes = this.hopes.filter((hope) => hope.method !== method || (hope.resolve(params), false));
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Page.javascriptDialogOpening") {
      this.dialogs += 1;
      this.send("Page.handleJavaScriptDialog", { accept: false }).catch(() => {});
    }
  }

  once(method) {
    return new Promise((resolve) => this.hopes.push({ method, resolve }));
  }

  /** The value of an expression, or of a function of the page's given JSON arguments. */
  async run(code, ...args) {
    const expression = typeof code === "function" ? `(${code})(...${JSON.stringify(args)})` : code;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  async key(key) {
    const text = key.length === 1 ? key : undefined;
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code: key, text, windowsVirtualKeyCode: CODES[key] });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, windowsVirtualKeyCode: CODES[key] });
  }

  /** What a panel of values shows: name to value. */
  values(selector) {
    return this.run((selector) => Object.fromEntries([...document.querySelectorAll(`${selector} tr[data-name]`)].map((row) => [row.dataset.name, row.querySelector("[data-value]").dataset.value])), selector);
  }

  async screenshot(options = {}) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", ...options });
    return Buffer.from(data, "base64");
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}

const CODES = { ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37, ArrowRight: 39, Home: 36, End: 35, Enter: 13, Tab: 9 };
