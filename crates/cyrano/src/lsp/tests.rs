//! Sessions of an editor, over a connection in memory.

use super::*;

/// An editor with one text open.
struct Editor {
    connection: Connection,
    server: std::thread::JoinHandle<()>,
    uri: String,
    number: i32,
    notes: Vec<Notification>,
}

impl Editor {
    fn new(name: &str, text: &str) -> Self {
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || serve(other).expect("the editor does not go away"));
        let uri = format!("file:///{name}");
        let mut editor = Self { connection, server, uri, number: 0, notes: Vec::new() };
        let told = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(told["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", json!({}));
        let document = json!({ "uri": editor.uri, "languageId": "rml", "version": 1, "text": text });
        editor.tell(DidOpenTextDocument::METHOD, json!({ "textDocument": document }));
        editor
    }

    fn tell(&self, method: &str, params: Value) {
        let note = Notification { method: method.to_owned(), params };
        self.connection.sender.send(note.into()).expect("the server is there");
    }

    /// What the server says next.
    fn hear(&mut self) -> Message {
        self.connection.receiver.recv_timeout(Duration::from_secs(120)).expect("the server says something")
    }

    /// The answer to a request; what is told in between is kept.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.response(method, params).response_result.expect("it is answered")
    }

    fn response(&mut self, method: &str, params: Value) -> Response {
        self.number += 1;
        let request = Request { id: RequestId::from(self.number), method: method.to_owned(), params };
        self.connection.sender.send(request.into()).expect("the server is there");
        loop {
            match self.hear() {
                Message::Response(response) => return response,
                Message::Notification(note) => self.notes.push(note),
                Message::Request(_) => {}
            }
        }
    }

    /// The next notification of a kind.
    fn noted(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notes.iter().position(|note| note.method == method) {
                return self.notes.remove(at).params;
            }
            if let Message::Notification(note) = self.hear() {
                self.notes.push(note);
            }
        }
    }

    /// A question about a place in the text.
    fn at(&mut self, method: &str, line: u32, character: u32, more: Value) -> Response {
        let mut params = json!({
            "textDocument": { "uri": self.uri }, "position": { "line": line, "character": character },
        });
        if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
            params.extend(more);
        }
        self.response(method, params)
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.server.join().expect("the server ends well");
    }
}

const SB: &str = "threads {\n  shared x, y; local a, b;\n  thread p { x := 1; a := y }\n  thread q { y := 1; b := x }\n}\ncheck never (a = 0 && b = 0) on sc, tso;\n";

#[test]
fn mistakes_are_told_while_one_types() {
    let mut editor = Editor::new("sb.rml", SB);
    assert_eq!(editor.noted(PublishDiagnostics::METHOD)["diagnostics"], json!([]));
    let uri = editor.uri.clone();
    let change =
        |text: String| json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": text }] });
    editor.tell(DidChangeTextDocument::METHOD, change(SB.replace("a := y", "a := z")));
    let wrong = editor.noted(PublishDiagnostics::METHOD);
    assert_eq!(wrong["diagnostics"][0]["range"]["start"], json!({ "line": 2, "character": 26 }), "{wrong}");
    assert!(wrong["diagnostics"][0]["message"].as_str().is_some_and(|text| text.contains("unknown name `z`")));
    editor.tell(DidChangeTextDocument::METHOD, change(SB.replace("on sc, tso", "on sc, tos")));
    let wrong = editor.noted(PublishDiagnostics::METHOD);
    assert!(wrong["diagnostics"][0]["message"].as_str().is_some_and(|text| text.contains("Did you mean `tso`?")));
    editor.tell(DidChangeTextDocument::METHOD, change(SB.to_owned()));
    assert_eq!(editor.noted(PublishDiagnostics::METHOD)["diagnostics"], json!([]));
    editor.end();
}

#[test]
fn names_are_found_and_changed() {
    let mut editor = Editor::new("sb.rml", SB);
    let result = |response: Response| response.response_result.unwrap_or_default();
    let declared = result(editor.at(GotoDefinition::METHOD, 3, 26, json!({})));
    assert_eq!(declared["range"]["start"], json!({ "line": 1, "character": 9 }));
    let found = result(editor.at(References::METHOD, 2, 13, json!({ "context": { "includeDeclaration": true } })));
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let hover = result(editor.at(HoverRequest::METHOD, 2, 13, json!({})));
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("shared x")), "{hover}");
    let hover = result(editor.at(HoverRequest::METHOD, 5, 37, json!({})));
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.starts_with("**tso**")), "{hover}");
    let changes = result(editor.at(Rename::METHOD, 2, 13, json!({ "newName": "flag" })));
    assert_eq!(changes["changes"][&editor.uri].as_array().map(Vec::len), Some(3));
    for (name, why) in [("y", "stands for something else"), ("while", "is a keyword"), ("1x", "is not a name")] {
        let refused =
            editor.at(Rename::METHOD, 2, 13, json!({ "newName": name })).response_result.expect_err("it is refused");
        assert!(refused.message.contains(why), "{refused:?}");
    }
    let offered = result(editor.at(Completion::METHOD, 2, 13, json!({})));
    let labels: Vec<&str> =
        offered.as_array().into_iter().flatten().filter_map(|item| item["label"].as_str()).collect();
    assert!(["x", "a", "while"].iter().all(|name| labels.contains(name)), "{labels:?}");
    let offered = result(editor.at(Completion::METHOD, 5, 32, json!({})));
    assert!(offered.to_string().contains("\"rc11\"") && !offered.to_string().contains("\"while\""));
    assert_eq!(result(editor.at(DocumentSymbolRequest::METHOD, 0, 0, json!({}))).as_array().map(Vec::len), Some(6));
    editor.end();
}

#[test]
fn checks_are_run_and_their_verdicts_stand_beside_them() {
    let mut editor = Editor::new("sb.rml", SB);
    let uri = editor.uri.clone();
    let lenses = editor.at(CodeLensRequest::METHOD, 0, 0, json!({})).response_result.unwrap_or_default();
    assert_eq!(lenses[0]["range"]["start"]["line"], 5, "{lenses}");
    let (command, arguments) = (&lenses[0]["command"]["command"], &lenses[0]["command"]["arguments"]);
    editor.ask(ExecuteCommand::METHOD, json!({ "command": command, "arguments": arguments }));
    let told = editor.noted(ShowMessage::METHOD);
    assert_eq!(told["message"], "sb.rml: 1 verified, 1 violated");
    let hints = editor.at(InlayHintRequest::METHOD, 0, 0, json!({})).response_result.unwrap_or_default();
    assert_eq!(hints[0]["label"], "sc: verified, tso: violated");
    let hover = editor.at(HoverRequest::METHOD, 5, 1, json!({})).response_result.unwrap_or_default();
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("by explore")), "{hover}");
    let page = editor.ask(ExecuteCommand::METHOD, json!({ "command": "cyrano.show", "arguments": [uri] }));
    assert!(page["html"].as_str().is_some_and(|html| html.starts_with("<!")));
    // A text that has changed since has no verdicts.
    let change =
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": format!("\n{SB}") }] });
    editor.tell(DidChangeTextDocument::METHOD, change);
    assert_eq!(editor.at(InlayHintRequest::METHOD, 0, 0, json!({})).response_result.unwrap_or_default(), json!([]));
    editor.end();
}

#[test]
fn what_cannot_be_answered_is_an_error_and_no_end() {
    let mut editor = Editor::new("sb.rml", SB);
    assert!(
        editor
            .response("workspace/unheardOf", json!({ "textDocument": { "uri": "file:///sb.rml" } }))
            .response_result
            .is_err()
    );
    assert!(
        editor
            .response(HoverRequest::METHOD, json!({ "textDocument": { "uri": "file:///other.rml" } }))
            .response_result
            .is_err()
    );
    assert!(
        editor
            .response(ExecuteCommand::METHOD, json!({ "command": "rm", "arguments": ["file:///sb.rml"] }))
            .response_result
            .is_err()
    );
    editor.end();
}
