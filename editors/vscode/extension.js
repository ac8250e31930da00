// Starts `cyrano lsp` and shows its pages. What a text means is the server's business alone.
"use strict";

const fs = require("node:fs");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The languages that are Cyrano's own; C is everybody's. */
const OWN = ["rml", "cat", "cyrano-tests", "litmus", "cyrano-model"];

let client;

/** Whether a C file has tests, which stand beside it. */
function hasTests(uri) {
  return uri.scheme === "file" && fs.existsSync(uri.fsPath.replace(/\.c$/, ".tests"));
}

async function activate(context) {
  const settings = vscode.workspace.getConfiguration("cyrano");
  const command = settings.get("path", "cyrano");
  const all = settings.get("c", false);
  const wanted = (document) => document.languageId !== "c" || all || hasTests(document.uri);
  const quiet = (document, next, nothing) => (wanted(document) ? next(document) : nothing);
  client = new LanguageClient("cyrano", "Cyrano", { command, args: ["lsp"] }, {
    documentSelector: [...OWN, "c"].map((language) => ({ language })),
    middleware: {
      didOpen: (document, next) => quiet(document, next, Promise.resolve()),
      provideCodeLenses: (document, token, next) => (wanted(document) ? next(document, token) : []),
      executeCommand: async (name, words, next) => {
        const answer = await next(name, words);
        if (answer && typeof answer.html === "string") {
          const panel = vscode.window.createWebviewPanel("cyrano", "Cyrano", vscode.ViewColumn.Beside, { enableScripts: true });
          panel.webview.html = answer.html;
        }
        return answer;
      },
    },
  });
  const show = () => {
    const editor = vscode.window.activeTextEditor;
    return editor && vscode.commands.executeCommand("cyrano.show", editor.document.uri.toString());
  };
  context.subscriptions.push(vscode.commands.registerCommand("cyrano.showExecutions", show), client);
  try {
    await client.start();
  } catch (error) {
    const help = "Install it, or name it in the setting `cyrano.path`.";
    vscode.window.showErrorMessage(`\`${command} lsp\` cannot be started. ${help} (${error.message})`);
  }
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
