//! `cyrano lsp`: what editors ask about texts that are open in them, by the Language Server Protocol on standard input and output.
//!
//! **Invariants:** a text is what the editor says it is, not what the file holds; nobody waits for a check: checks run in a thread of their own and are told when they
//! end; a request that fails gets an error, and the server goes on.

mod answers;
mod checks;
mod documents;
mod places;

use std::collections::BTreeSet;
use std::time::Duration;

use cyrano_session::Failure;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification as _,
    PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{
    CodeLensRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest, ExecuteCommand, GotoDefinition,
    HoverRequest, InlayHintRefreshRequest, InlayHintRequest, PrepareRenameRequest, References, Rename, Request as _,
};
use lsp_types::{
    CodeLensOptions, CompletionOptions, ExecuteCommandOptions, HoverProviderCapability, InitializeParams, OneOf,
    PositionEncodingKind, PublishDiagnosticsParams, RenameOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use serde_json::{Value, json};

use documents::Documents;
use places::Encoding;

/// How long nothing may be typed before a text is looked at.
const PAUSE: Duration = Duration::from_millis(120);

/// A server for one editor.
struct Server {
    connection: Connection,
    documents: Documents,
    encoding: Encoding,
    /// Texts that have changed since they were looked at.
    changed: BTreeSet<String>,
    checks: checks::Checks,
    requests: i32,
}

/// Runs the command: until the editor says that it is over.
pub fn run() -> Result<u8, Failure> {
    let (connection, threads) = Connection::stdio();
    serve(connection)?;
    threads.join().map_err(|error| Failure::input(format!("the editor's end is gone: {error}")))?;
    Ok(0)
}

/// Serves one editor at the other end of a connection.
fn serve(connection: Connection) -> Result<(), Failure> {
    let broken = |error: &dyn std::fmt::Display| Failure::input(format!("the editor's end is gone: {error}"));
    let (id, params) = connection.initialize_start().map_err(|error| broken(&error))?;
    let params: InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let encoding = Encoding::of(&params);
    let told = json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "cyrano", "version": cyrano_session::VERSION },
    });
    connection.initialize_finish(id, told).map_err(|error| broken(&error))?;
    let checks = checks::Checks::default();
    let server =
        Server { connection, documents: Documents::default(), encoding, changed: BTreeSet::new(), checks, requests: 0 };
    server.listen().map_err(|error| broken(&error))
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        completion_provider: Some(CompletionOptions::default()),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: checks::COMMANDS.iter().map(|command| (*command).to_owned()).collect(),
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// Why a connection ends otherwise than it should.
type Broken = Box<dyn std::error::Error + Send + Sync>;

impl Server {
    fn listen(mut self) -> Result<(), Broken> {
        loop {
            let done = self.checks.done();
            crossbeam_channel::select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if self.connection.handle_shutdown(&request)? {
                            return Ok(());
                        }
                        self.answer(request)?;
                    }
                    Ok(Message::Notification(notification)) => self.note(notification),
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(()),
                },
                recv(done) -> result => if let Ok(result) = result {
                    let text = self.checks.keep(result);
                    self.tell(ShowMessage::METHOD, &ShowMessageParams { typ: lsp_types::MessageType::INFO, message: text })?;
                    self.ask(InlayHintRefreshRequest::METHOD, Value::Null)?;
                },
                default(PAUSE) => self.look()?,
            }
        }
    }

    /// What changes texts.
    fn note(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default().to_owned();
        let text = match method.as_str() {
            DidOpenTextDocument::METHOD => params["textDocument"]["text"].as_str(),
            DidChangeTextDocument::METHOD => {
                params["contentChanges"].as_array().and_then(|changes| changes.last()?["text"].as_str())
            }
            _ => None,
        };
        if let Some(text) = text {
            self.documents.put(&uri, text.to_owned());
        } else if method == DidCloseTextDocument::METHOD {
            self.documents.remove(&uri);
        } else if method != DidSaveTextDocument::METHOD {
            return;
        }
        // What one text says may depend on another.
        self.changed.extend(self.documents.open());
        self.changed.insert(uri);
    }

    /// Looks at what has changed, and says what is wrong with it.
    fn look(&mut self) -> Result<(), Broken> {
        for uri in std::mem::take(&mut self.changed) {
            let found = if self.documents.text(&uri).is_some() {
                answers::diagnostics(&self.documents, &uri, self.encoding)
            } else {
                Vec::new()
            };
            let Ok(uri) = uri.parse::<Uri>() else { continue };
            self.tell(PublishDiagnostics::METHOD, &PublishDiagnosticsParams::new(uri, found, None))?;
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Result<(), Broken> {
        let Request { id, method, params } = request;
        let response = match self.value(&method, &params) {
            Ok(value) => Response::new_ok(id, value),
            Err((code, why)) => Response::new_err(id, code as i32, why),
        };
        Ok(self.connection.sender.send(response.into())?)
    }

    fn value(&mut self, method: &str, params: &Value) -> Result<Value, (ErrorCode, String)> {
        if method == ExecuteCommand::METHOD {
            return self.checks.start(&self.documents, params).map_err(|why| (ErrorCode::InvalidParams, why));
        }
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let text = self.documents.text(uri);
        let text = text.ok_or_else(|| (ErrorCode::InvalidParams, format!("{uri} is not open")))?;
        let at = places::offset(text, &params["position"], self.encoding);
        let names = answers::Names { uri, text, encoding: self.encoding };
        Ok(match method {
            HoverRequest::METHOD => names.hover(at, &self.checks),
            GotoDefinition::METHOD => names.definition(at),
            References::METHOD => names.references(at),
            DocumentHighlightRequest::METHOD => names.highlights(at),
            DocumentSymbolRequest::METHOD => names.symbols(),
            PrepareRenameRequest::METHOD => names.can_rename(at),
            Rename::METHOD => {
                let new = params["newName"].as_str().unwrap_or_default();
                names.rename(at, new).map_err(|why| (ErrorCode::RequestFailed, why))?
            }
            Completion::METHOD => names.completion(at),
            CodeLensRequest::METHOD => checks::lenses(uri, text, self.encoding),
            InlayHintRequest::METHOD => self.checks.hints(uri, text, self.encoding),
            _ => return Err((ErrorCode::MethodNotFound, format!("`{method}` is not answered"))),
        })
    }

    fn tell(&self, method: &str, params: &impl serde::Serialize) -> Result<(), Broken> {
        Ok(self.connection.sender.send(Notification::new(method.to_owned(), params).into())?)
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<(), Broken> {
        self.requests += 1;
        Ok(self
            .connection
            .sender
            .send(Request::new(RequestId::from(self.requests), method.to_owned(), params).into())?)
    }
}

#[cfg(test)]
mod tests;
