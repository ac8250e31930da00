//! Models that are written in cat, the language of herd (Alglave, Cousot, Maranget, 2016): axioms about relations between the events of an execution.
//!
//! The language is described in `docs/cat.md`. A text is read (`token`, `parse`), checked and turned into a [`Plan`] (`compile`, `build`), which a [`Judge`]
//! applies to one [`Graph`] after the other.
//!
//! A text may consist of several files (`cyrano_ir::origin`): the first one is the model, the others are those that it includes. So a model is one text, and can
//! travel with a trace.

mod ast;
mod build;
mod compile;
mod eval;
mod explain;
mod graph;
mod matrix;
mod names;
mod parse;
mod plan;
#[cfg(test)]
mod tests;
mod token;

use std::collections::HashSet;
use std::sync::Arc;

use cyrano_ir::{Diagnostic, Span, origin};

pub use eval::Judge;
pub use explain::{Objection, Step};
pub use graph::{Event, Found, Graph, What};
pub use matrix::{Bits, Matrix};
pub use plan::{Axiom, Base, DATA_RACE, Group, HAPPENS_BEFORE, Level, Node, NodeId, Plan, Test, Type};

use ast::Stmt;
use compile::Compiler;
use parse::{MAX_ERRORS, Parsed};

/// A model in cat.
#[derive(Clone, Debug)]
pub struct Cat {
    source: String,
    title: Option<String>,
    plan: Arc<Plan>,
}

/// Models are the same if their texts are.
impl PartialEq for Cat {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Cat {}

impl Cat {
    /// Reads a text; reports everything that is wrong with it.
    pub fn parse(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let files = Files::new(source);
        let mut compiler = Compiler::new(&mut errors);
        compiler.in_prelude = true;
        files.statements(names::PRELUDE, 0, &mut compiler, &mut Vec::new());
        compiler.in_prelude = false;
        let title = files.model(&mut compiler);
        let happens_before = compiler.relation(HAPPENS_BEFORE);
        let plan = std::mem::take(&mut compiler.builder).finish(happens_before);
        if errors.is_empty() && plan.axioms.iter().all(|axiom| axiom.flag) {
            let whole = Span::new(0, source.find('\n').unwrap_or(source.len()));
            let error = Diagnostic::new(whole, "this model demands nothing of an execution", "no condition");
            errors.push(error.with_help("conditions are `acyclic R`, `irreflexive R` and `empty R`"));
        }
        errors.truncate(MAX_ERRORS);
        if errors.is_empty() {
            Ok(Self { source: source.to_owned(), title, plan: Arc::new(plan) })
        } else {
            Err(errors)
        }
    }

    /// The text, with all files that it includes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it calls itself.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The same text with another meaning, for tests that a wrong one is noticed.
    #[must_use]
    pub fn meaning(&self, plan: Plan) -> Self {
        Self { plan: Arc::new(plan), ..self.clone() }
    }

    /// What it says.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// The files that a file includes and that are not built in, in order.
pub fn includes(file: &str) -> Vec<String> {
    let Parsed { stmts, .. } = parse::parse(file, 0, &mut Vec::new());
    let files = stmts.into_iter().filter_map(|stmt| match stmt {
        Stmt::Include { file, .. } if !names::is_built_in(&file) => Some(file),
        _ => None,
    });
    files.collect()
}

/// The files in a text.
struct Files<'s> {
    source: &'s str,
    pieces: Vec<origin::Piece>,
    done: std::cell::RefCell<HashSet<String>>,
}

impl<'s> Files<'s> {
    fn new(source: &'s str) -> Self {
        Self { source, pieces: origin::pieces(source), done: Default::default() }
    }

    /// The first file, and its title.
    fn model(&self, compiler: &mut Compiler<'_>) -> Option<String> {
        let range = self.pieces.first().map_or(0..0, |own| own.range.clone());
        self.statements(&self.source[range.clone()], range.start, compiler, &mut Vec::new())
    }

    /// All statements of a file. A file that was included before is not included again; one that includes itself is an error.
    fn statements(
        &self,
        text: &str,
        offset: usize,
        compiler: &mut Compiler<'_>,
        within: &mut Vec<String>,
    ) -> Option<String> {
        let Parsed { title, stmts } = parse::parse(text, offset, compiler.errors);
        for stmt in &stmts {
            match stmt {
                Stmt::Include { file, span } => self.include(file, *span, compiler, within),
                stmt => compiler.stmt(stmt),
            }
        }
        title
    }

    fn include(&self, file: &str, span: Span, compiler: &mut Compiler<'_>, within: &mut Vec<String>) {
        if names::is_built_in(file) {
            return;
        }
        let piece = self.pieces.iter().find(|piece| piece.file.as_deref() == Some(file));
        let problem = match piece {
            _ if within.iter().any(|outer| outer == file) => "includes itself",
            None => "is not there",
            Some(piece) => {
                if self.done.borrow_mut().insert(file.to_owned()) {
                    within.push(file.to_owned());
                    self.statements(&self.source[piece.range.clone()], piece.range.start, compiler, within);
                    within.pop();
                }
                return;
            }
        };
        compiler.errors.push(Diagnostic::new(span, format!("`{file}` {problem}"), "included here"));
    }
}
