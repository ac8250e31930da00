// A session of an editor with `cyrano lsp`, by the client library that editors use, over standard input and output. $CYRANO names the program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// Installed by test.sh, outside of the sources.
const require = createRequire(`${process.env.MODULES}/`);
const rpc = require("vscode-jsonrpc/node");
const lsp = require("vscode-languageserver-protocol");

const text = `threads {
  shared x, y; local a, b;
  thread p { x := 1; a := y }
  thread q { y := 1; b := x }
}
check never (a = 0 && b = 0) on sc, tso;
`;

test("an editor's session", async () => {
  const server = spawn(process.env.CYRANO, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const waiting = [];
  const told = [];
  connection.onNotification((method, params) => {
    const at = waiting.findIndex((one) => one.method === method);
    if (at < 0) told.push({ method, params });
    else waiting.splice(at, 1)[0].resolve(params);
  });
  connection.onRequest(() => null);
  const next = (method) => {
    const at = told.findIndex((one) => one.method === method);
    if (at >= 0) return told.splice(at, 1)[0].params;
    return new Promise((resolve) => waiting.push({ method, resolve }));
  };
  connection.listen();
  const general = { positionEncodings: ["utf-16"] };
  const offered = await connection.sendRequest(lsp.InitializeRequest.type, { processId: null, rootUri: null, capabilities: { general } });
  assert.equal(offered.serverInfo.name, "cyrano");
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  const uri = "file:///tmp/sb.rml";
  const open = { textDocument: { uri, languageId: "rml", version: 1, text } };
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, open);
  assert.deepEqual((await next("textDocument/publishDiagnostics")).diagnostics, []);
  const textDocument = { uri };
  const definition = await connection.sendRequest(lsp.DefinitionRequest.type, { textDocument, position: { line: 2, character: 13 } });
  assert.equal(definition.range.start.line, 1);
  const [lens] = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument });
  await connection.sendRequest(lsp.ExecuteCommandRequest.type, lens.command);
  assert.equal((await next("window/showMessage")).message, "sb.rml: 1 verified, 1 violated");
  const range = { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } };
  const [hint] = await connection.sendRequest(lsp.InlayHintRequest.type, { textDocument, range });
  assert.equal(hint.label, "sc: verified, tso: violated");
  await connection.sendRequest(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
  const code = await new Promise((resolve) => server.on("exit", resolve));
  assert.equal(code, 0);
  connection.dispose();
});

test("grammars are well-formed and know every keyword", () => {
  const here = new URL(".", import.meta.url);
  const known = JSON.parse(readFileSync(new URL("package.json", here), "utf8")).contributes.grammars;
  for (const { path } of known) {
    const grammar = JSON.parse(readFileSync(new URL(path, here), "utf8"));
    const expressions = grammar.patterns.flatMap((pattern) => [pattern.match, pattern.begin, pattern.end]).filter(Boolean);
    expressions.forEach((expression) => new RegExp(expression, "u"));
  }
  const rml = readFileSync(new URL("syntaxes/rml.tmLanguage.json", here), "utf8");
  const tokens = readFileSync(new URL("../../crates/rml/src/syntax/token.rs", here), "utf8");
  const words = [...tokens.matchAll(/= "([a-z_]+)"/g)].map((found) => found[1]);
  assert.ok(words.length > 50);
  const missing = words.filter((word) => !new RegExp(`[(|]${word}[|)]`).test(rml));
  assert.deepEqual(missing, []);
});
