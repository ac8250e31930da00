//! `algorithm` files: transactional memories over base objects, with labelled statements and declared orders (Lesani and Palsberg,
//! *Proving Non-opacity*, sections 3 to 5), their clients, and all clients of a size.
//!
//! A file is parsed (`syntax`), what is wrong whatever the client is is reported (`rules::algorithm`), and for each client one program is made
//! (`lower::assemble`): constants, shared memory (`lower::memory`), the threads with all methods inlined and all loops unrolled
//! (`clients`, `expand`), and the orders that it asks for (`orders`). `docs/algorithms.md` is the reference.
//!
//! **Invariants:** every error of a file is reported, once; a program's threads have no jump back, but for those that go on
//! for ever (`endless`); every program passes [`cyrano_ir::verify()`].

use std::sync::OnceLock;

use cyrano_ir::{FinalVar, InstrId, Program, Property, Span};

use crate::CompileError;
pub use crate::clients::space::{ClientSpace, Values};
use crate::lower::executed::BEFORE;
pub use crate::orders::layout::{Mode, OrderPair};
use crate::report::Reports;
use crate::syntax::lexer::lex;
use crate::syntax::parser::has_algorithm;

/// A program to check: an algorithm with one client, or with all clients of a size.
#[derive(Clone, Debug)]
pub struct Test {
    /// The client's name, or `clients-2x1x3` for all clients of 2 threads with 1 transaction of 3 operations each.
    pub name: String,
    /// The program, with its checks and its own orders.
    pub program: Program,
    /// The size, if it is about all clients of one.
    pub clients: Option<ClientSpace>,
    pub(crate) layout: crate::orders::layout::Layout,
    /// The program as a machine runs it, once somebody has asked for it.
    pub(crate) words: OnceLock<Option<Program>>,
}

impl Test {
    /// The program as a machine runs it, from the source and the constants that the test was made of: base objects are words of memory, whose accesses a
    /// model reorders on its own. Registers and results are those of the test. None if its objects are more than words.
    pub fn in_words(&self, source: &str, set: &[(String, i128)]) -> Option<&Program> {
        self.words.get_or_init(|| in_words(&self.program.name, source, set, &self.name)).as_ref()
    }

    /// Whether a property asks which of two statements was executed first: words of memory cannot tell.
    pub fn asks_for_order(&self, property: &Property) -> bool {
        let Property::Final { cond, .. } = property else { return false };
        let mut found = false;
        cond.for_each_var(&mut |var| {
            if let FinalVar::Reg(thread, register) = var {
                let known = &self.program.threads[thread.index()].registers[register.index()].name;
                found |= known.starts_with(BEFORE);
            }
        });
        found
    }

    /// The same program with other declared orders.
    pub fn with_orders(&self, declared: &[OrderPair]) -> Program {
        let orders = self.layout.orders(&self.program, declared);
        Program { orders, ..self.program.clone() }
    }

    /// The pairs of accesses that stay in order in a mode with these declared orders, if what stands between them is executed. What an
    /// execution keeps in order hangs on its values, too (axiom 9); this much can be told before.
    pub fn kept(&self, mode: Mode, declared: &[OrderPair]) -> cyrano_ir::OwnOrder {
        self.layout.kept(&self.program, mode, &self.layout.resolve(declared))
    }

    /// For each thread the instructions that a label stands for.
    pub fn labelled(&self, label: &str) -> Vec<Vec<InstrId>> {
        let Some(number) = self.layout.labels.iter().position(|known| known == label) else {
            return vec![Vec::new(); self.program.threads.len()];
        };
        let here = |mark: &crate::lower::build::Mark| mark.context.labels.iter().any(|label| *label as usize == number);
        let of_thread = |marks: &Vec<crate::lower::build::Mark>| {
            let found = marks.iter().enumerate().filter(|(_, mark)| here(mark));
            found.map(|(at, _)| InstrId::new(at)).collect()
        };
        self.layout.marks.iter().map(of_thread).collect()
    }

    /// The labels that stand for an instruction of a thread, outermost first.
    pub fn labels_at(&self, thread: usize, instr: InstrId) -> Vec<&str> {
        let mark = self.layout.marks.get(thread).and_then(|marks| marks.get(instr.index()));
        let labels = mark.into_iter().flat_map(|mark| &mark.context.labels);
        labels.filter_map(|label| Some(self.layout.labels.get(*label as usize)?.as_str())).collect()
    }
}

/// What order synthesis needs to know about a file.
#[derive(Clone, Debug)]
pub struct Orders {
    /// The labels with where they stand, in the order of the text.
    pub labels: Vec<(String, Span)>,
    /// The declared orders with where they stand.
    pub declared: Vec<(OrderPair, Span)>,
    /// The brace that closes the algorithm: further orders can be declared before it.
    pub end: Span,
}

/// Whether the source has an `algorithm` block, by its tokens.
pub fn is_algorithm(source: &str) -> bool {
    if source.len() > crate::MAX_SOURCE || !source.contains("algorithm") {
        return false;
    }
    has_algorithm(source, &lex(source, &mut Reports::default()))
}

/// Parses, checks and lowers everything in a file: a test for each client that some check is about (for every client, if there is no
/// check), and one for each size of clients. `set` gives constants other values than the source does, and `threads`, `txns`, `ops`,
/// `locs` and `retry` to the sizes.
pub fn tests(name: &str, source: &str, set: &[(String, i128)]) -> Result<Vec<Test>, CompileError> {
    let (file, mut reports) = read(source)?;
    crate::lower::assemble::check_set(&file, set)?;
    let tests = crate::lower::assemble::tests(name, &file, set, &mut reports);
    finish(reports)?;
    Ok(tests)
}

fn in_words(name: &str, source: &str, set: &[(String, i128)], test: &str) -> Option<Program> {
    let (file, mut reports) = read(source).ok()?;
    let program = crate::lower::assemble::in_words(name, &file, set, test, &mut reports).ok()?;
    program.filter(|_| reports.is_empty())
}

/// The labels and declared orders of a file.
pub fn orders(source: &str) -> Result<Orders, CompileError> {
    let (file, reports) = read(source)?;
    finish(reports)?;
    Ok(crate::lower::assemble::orders(&file))
}

fn read(source: &str) -> Result<(crate::syntax::ast::File, Reports), CompileError> {
    crate::check_size(source)?;
    let mut reports = Reports::default();
    let mut file = crate::syntax::parser::parse(source, &mut reports);
    if reports.is_empty() {
        crate::rules::executed::find(&mut file);
        crate::rules::algorithm::check(&file, &mut reports);
    }
    if !reports.is_empty() {
        return Err(CompileError::Diagnostics(reports.finish()));
    }
    Ok((file, reports))
}

fn finish(reports: Reports) -> Result<(), CompileError> {
    if reports.is_empty() { Ok(()) } else { Err(CompileError::Diagnostics(reports.finish())) }
}
