//! The checker: names, types, conversions, the rules of `docs/c.md`.
//!
//! Every error of a file is reported, once. [`Reported`] says that the reason for giving up was reported, so that nothing is dropped in
//! silence. Calls are inlined later, so that a cycle of calls is refused here and named.

mod atomic;
mod call;
mod calls;
mod constant;
mod expr;
mod init;
mod intrinsic;
mod operator;
mod stmt;
mod threads;
mod types;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cyrano_ir::suggest::closest;

use crate::ast::{self, Item, Name, Storage, TypeExpr};
use crate::source::{Loc, Problem, Problems, Sources};
use crate::tree::{FuncId, Function, Global, GlobalId, Label, LabelId, Local, LocalId};
use crate::types::{StructId, Type, Types};

pub(crate) use constant::{fold, fold_with};

/// Says that the reason for giving up was reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

/// The result of a step that reports its own errors.
pub(crate) type Fallible<T> = Result<T, Reported>;

/// The checked file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    pub(crate) types: Types,
    pub(crate) globals: Vec<Global>,
    pub(crate) functions: Vec<Function>,
    /// Whether anything is freed.
    pub(crate) frees: bool,
    /// Whether anything is reallocated.
    pub(crate) reallocates: bool,
    /// The functions that are mentioned by calls.
    pub(crate) mentioned: BTreeSet<String>,
    /// Enumerators, for tests.
    pub(crate) constants: BTreeMap<String, i128>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Symbol {
    Type(Type),
    Constant(i128, Type),
    Global(GlobalId),
    Local(LocalId),
    Function(FuncId),
}

/// Checks a file. A struct may turn out to be used as a whole, by `cas` or in a union: then it is one word, and the file is checked again.
pub(crate) fn check(items: &[Item], sources: &Sources, problems: &mut Problems) -> Checked {
    let mut words = BTreeSet::new();
    loop {
        let mut found = problems.clone();
        let (checked, wanted) = check_once(items, sources, &mut found, words.clone());
        if wanted == words {
            *problems = found;
            return checked;
        }
        words = wanted;
    }
}

/// Checks a file in which these structs are words, by their numbers; gives those that have to be.
fn check_once(
    items: &[Item],
    sources: &Sources,
    problems: &mut Problems,
    words: BTreeSet<usize>,
) -> (Checked, BTreeSet<usize>) {
    let mut checker = Checker {
        sources,
        problems,
        out: Checked::default(),
        scopes: vec![Scope::default()],
        current: None,
        defined: HashMap::new(),
        words,
        own: items.iter().filter_map(defines).collect(),
    };
    for item in items {
        match item {
            Item::Decls(decls) => decls.iter().for_each(|decl| checker.global(decl)),
            Item::Function(function) => checker.function(function),
            Item::StaticAssert(cond, text) => drop(checker.static_assert(cond, text)),
        }
    }
    calls::check(&checker.out, checker.problems);
    (checker.out, checker.words)
}

/// The function that an item gives a body.
fn defines(item: &Item) -> Option<&str> {
    match item {
        Item::Function(function) => Some(&function.name.text),
        Item::Decls(_) | Item::StaticAssert(..) => None,
    }
}

/// The names of a block.
#[derive(Default)]
struct Scope {
    symbols: HashMap<String, (Symbol, Loc)>,
    tags: HashMap<String, StructId>,
    enums: HashMap<String, Type>,
}

/// The function that is being checked.
#[derive(Default)]
struct Current {
    name: String,
    returns: Option<Type>,
    locals: Vec<Local>,
    labels: Vec<Label>,
    named: HashMap<String, (LabelId, Option<Loc>, Loc)>,
    gotos: Vec<(LabelId, u32, Vec<u32>, Loc)>,
    calls: Vec<(FuncId, Loc)>,
    position: u32,
    /// The atomic blocks around, and how many there were so far.
    atomic: Vec<u32>,
    atomics: u32,
    loops: u32,
    switches: Vec<Switch>,
    /// For `break`: the loops and switches around.
    breakable: u32,
}

/// The cases of a switch.
#[derive(Default)]
struct Switch {
    cases: Vec<(i128, LabelId)>,
    default: Option<LabelId>,
    ty: Option<Type>,
    /// The atomic blocks around it.
    atomic: Vec<u32>,
}

struct Checker<'c> {
    sources: &'c Sources,
    problems: &'c mut Problems,
    out: Checked,
    scopes: Vec<Scope>,
    current: Option<Current>,
    /// The structs and enums that were defined, by their numbers in the file; none for one with an error.
    defined: HashMap<usize, Option<Type>>,
    /// The structs that are one word because they are used as one.
    words: BTreeSet<usize>,
    /// The functions that the file gives a body, be it further down.
    own: BTreeSet<&'c str>,
}

impl Checker<'_> {
    fn error(&mut self, loc: Loc, message: impl Into<String>, label: impl Into<String>) -> Reported {
        self.problems.add(Problem::new(loc, message, label));
        Reported
    }

    fn report(&mut self, problem: Problem) -> Reported {
        self.problems.add(problem);
        Reported
    }

    fn show(&self, ty: &Type) -> String {
        self.out.types.show(ty)
    }

    /// The function that is being checked; an empty one for constant expressions outside.
    fn current(&mut self) -> &mut Current {
        self.current.get_or_insert_default()
    }

    fn position(&mut self) -> u32 {
        let current = self.current();
        current.position += 1;
        current.position
    }

    fn find(&self, name: &str) -> Option<&(Symbol, Loc)> {
        self.scopes.iter().rev().find_map(|scope| scope.symbols.get(name))
    }

    fn declare(&mut self, name: &Name, symbol: Symbol) {
        let Some(scope) = self.scopes.last_mut() else { return };
        if let Some((_, before)) = scope.symbols.insert(name.text.clone(), (symbol, name.loc)) {
            let problem = Problem::new(name.loc, format!("`{}` is declared twice", name.text), "declared again");
            self.problems.add(problem.with_related(before, "first declared here"));
        }
    }

    /// Reports a name that means nothing, with the closest one that would.
    fn unknown(&mut self, what: &str, name: &str, loc: Loc) -> Reported {
        let header = crate::preprocess::headers::header_of(name);
        let names = self.scopes.iter().flat_map(|scope| scope.symbols.keys().map(String::as_str));
        let guess = closest(name, names);
        let problem = Problem::new(loc, format!("there is no {what} `{name}`"), "unknown name");
        let problem = match header {
            Some(header) => problem.with_help(format!("`{name}` needs #include <{header}>")),
            None => problem.with_guess(guess),
        };
        self.problems.add(problem);
        Reported
    }

    fn global(&mut self, decl: &ast::Decl) {
        let Ok(ty) = self.resolve_for(&decl.ty, decl.name.as_ref()) else { return };
        let Some(name) = &decl.name else { return };
        if decl.storage == Storage::Typedef {
            let same = matches!(self.find(&name.text), Some((Symbol::Type(before), _)) if *before == ty);
            if !same {
                self.declare(name, Symbol::Type(ty));
            }
            return;
        }
        if let TypeExpr::Function { params, .. } = &decl.ty {
            self.prototype(name, ty, params);
            return;
        }
        let known = match self.find(&name.text) {
            Some((Symbol::Global(id), _)) => Some(*id),
            _ => None,
        };
        match known {
            // `extern` declarations and tentative definitions name the same object.
            Some(id) => self.initialise(id, decl),
            None => drop(self.new_global(name, &name.text, ty, decl)),
        }
    }

    /// A new global. Its name is known within its own initialiser, which may contain its address.
    fn new_global(&mut self, name: &Name, shown: &str, ty: Type, decl: &ast::Decl) -> Fallible<()> {
        let ty = self.with_length(ty, decl)?;
        self.complete(&ty, name.loc)?;
        let id = GlobalId(self.out.globals.len());
        self.out.globals.push(Global { name: shown.into(), ty, init: Vec::new(), loc: name.loc });
        self.declare(name, Symbol::Global(id));
        self.initialise(id, decl);
        Ok(())
    }

    fn initialise(&mut self, id: GlobalId, decl: &ast::Decl) {
        let init = self.global_init(decl, &mut self.out.globals[id.0].ty.clone());
        if !init.is_empty() {
            self.out.globals[id.0].init = init;
        }
    }

    /// Declares a function, or finds it again.
    fn prototype(&mut self, name: &Name, returns: Type, params: &[ast::Param]) -> FuncId {
        let types: Vec<_> = params.iter().filter_map(|param| self.resolve_param(&param.ty).ok()).collect();
        let param_names = params.iter().map(|p| p.name.as_ref().map_or(String::new(), |name| name.text.clone()));
        let param_names: Vec<_> = param_names.collect();
        if let Some((Symbol::Function(id), before)) = self.find(&name.text).cloned() {
            let known = &self.out.functions[id.0];
            let differs = known.params != types || known.returns != returns;
            if differs && !intrinsic::is_intrinsic(&name.text) && !(known.body.is_none() && known.params.is_empty()) {
                let problem = Problem::new(name.loc, format!("`{}` is declared in two ways", name.text), "here");
                self.problems.add(problem.with_related(before, "first declared here"));
            }
            let known = &mut self.out.functions[id.0];
            if known.body.is_none() {
                (known.params, known.param_names, known.returns, known.loc) = (types, param_names, returns, name.loc);
            }
            return id;
        }
        let id = FuncId(self.out.functions.len());
        self.out.functions.push(Function {
            name: name.text.clone(),
            returns,
            params: types,
            param_names,
            locals: Vec::new(),
            body: None,
            labels: Vec::new(),
            address: None,
            calls: Vec::new(),
            back_ranges: Vec::new(),
            loc: name.loc,
        });
        self.declare(name, Symbol::Function(id));
        id
    }

    fn function(&mut self, function: &ast::Function) {
        let Ok(returns) = self.resolve(&function.returns) else { return };
        let id = self.prototype(&function.name, returns.clone(), &function.params);
        if self.out.functions[id.0].body.is_some() {
            self.error(function.name.loc, format!("`{}` has two bodies", function.name.text), "defined again");
            return;
        }
        let name = function.name.text.clone();
        self.current = Some(Current { name, returns: Some(returns), ..Current::default() });
        self.scopes.push(Scope::default());
        for param in &function.params {
            let Ok(ty) = self.resolve_param(&param.ty) else { continue };
            match &param.name {
                Some(name) => drop(self.new_local(name, ty)),
                // As in C23: nobody can mention it.
                None => self.current().locals.push(Local { name: String::new(), ty }),
            }
        }
        let body = self.stmt(&function.body);
        self.scopes.pop();
        self.finish_labels();
        let current = self.current.take().unwrap_or_default();
        let made = &mut self.out.functions[id.0];
        made.back_ranges = back_ranges(&current);
        (made.locals, made.labels, made.calls) = (current.locals, current.labels, current.calls);
        made.body = Some(body);
    }

    fn new_local(&mut self, name: &Name, ty: Type) -> LocalId {
        let current = self.current();
        let id = LocalId(current.locals.len());
        current.locals.push(Local { name: name.text.clone(), ty });
        self.declare(name, Symbol::Local(id));
        id
    }
}

/// From every label to the last jump back to it.
fn back_ranges(current: &Current) -> Vec<(u32, u32)> {
    let ranges = current.gotos.iter().map(|(label, position, ..)| (current.labels[label.0].position, *position));
    ranges.filter(|(label, goto)| label < goto).collect()
}
