//! Declarations of the C library that a file brings along: what a preprocessor that ran before has left of system headers.
//!
//! Such a file declares `pthread_mutex_t` as some C library has it, and functions without bodies. The headers that come with Cyrano take their
//! place: they are read before the file, with macros of their own, and what the file declares again is left out, together with the
//! private types of that library, which only serve it. What remains and mentions one of these is reported like any other unknown type.

use std::collections::BTreeSet;

use crate::ast::{Decl, Expr, ExprKind, Init, InitItem, Item, Storage, TypeExpr};
use crate::source::{Loc, Sources};

/// The headers that give names with these beginnings their meaning.
const FAMILIES: [(&str, &str); 12] = [
    ("pthread_", "pthread.h"),
    ("sem_", "semaphore.h"),
    ("mtx_", "threads.h"),
    ("cnd_", "threads.h"),
    ("thrd_", "threads.h"),
    ("tss_", "threads.h"),
    ("call_once", "threads.h"),
    ("__VERIFIER_xchg_await_", "nidhugg.h"),
    ("strlen", "string.h"),
    ("strcmp", "string.h"),
    ("strncmp", "string.h"),
    ("strcpy", "string.h"),
];

/// What begins the names that C reserves for a library.
const PRIVATE: &str = "__";

/// The type that compilers have for the arguments of functions that take any number of them.
const VARIABLE_ARGUMENTS: &str = "__builtin_va_list";

/// What begins the names of the functions that exchange bytes.
const SWAPS: &str = "__bswap_";

/// The headers whose functions the file declares without including them.
pub(crate) fn headers(items: &[Item], sources: &Sources) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut included = BTreeSet::new();
    for item in items {
        for decl in declared(item) {
            let Some(name) = &decl.name else { continue };
            let family = FAMILIES.iter().find(|(family, _)| name.text.starts_with(family));
            let function = matches!(decl.ty, TypeExpr::Function { .. });
            let Some((_, header)) = family.filter(|_| function) else { continue };
            match sources.is_stub(decl.loc) {
                true => included.insert(*header),
                false => found.insert(*header),
            };
        }
    }
    let own: BTreeSet<_> = items.iter().filter_map(defined).collect();
    let taken = |header: &&str| {
        FAMILIES.iter().any(|(family, of)| of == header && own.iter().any(|name| name.starts_with(family)))
    };
    found.retain(|header| !included.contains(header) && !taken(header));
    found
}

/// The items of a file behind those headers, without what the headers have.
pub(crate) fn without_repeated(items: Vec<Item>, sources: &Sources) -> Vec<Item> {
    let mut names = Names { gone: BTreeSet::from([VARIABLE_ARGUMENTS.to_owned()]), ..Names::default() };
    for item in &items {
        if let Item::Function(function) = item
            && sources.is_stub(function.name.loc)
        {
            names.known.insert(function.name.text.clone());
        }
        for decl in declared(item).iter().filter(|decl| sources.is_stub(decl.loc)) {
            names.known.extend(decl.name.as_ref().map(|name| name.text.clone()));
            names.known.extend(tag(&decl.ty).map(str::to_owned));
        }
    }
    let mut made = Vec::new();
    let mut read = BTreeSet::new();
    for item in items {
        // A header may be read before the file and by it.
        let at = place(&item);
        if sources.is_stub(at) && !read.insert((sources.name(at).to_owned(), at.span)) {
            continue;
        }
        match item {
            Item::Decls(decls) if decls.iter().all(|decl| !sources.is_stub(decl.loc)) => {
                let kept: Vec<_> = decls.into_iter().filter(|decl| names.keeps(decl)).collect();
                let kept: Vec<_> = kept.into_iter().map(|decl| plain(decl, &names.known)).collect();
                made.extend((!kept.is_empty()).then_some(Item::Decls(kept)));
            }
            // Functions of a compiler that only the library's headers use.
            Item::Function(function) if function.name.text.starts_with(SWAPS) => {}
            item => made.push(item),
        }
    }
    made
}

fn place(item: &Item) -> Loc {
    match item {
        Item::Decls(decls) => decls.first().map(|decl| decl.loc).unwrap_or_default(),
        Item::Function(function) => function.name.loc,
        Item::StaticAssert(cond, _) => cond.loc,
    }
}

fn declared(item: &Item) -> &[Decl] {
    match item {
        Item::Decls(decls) => decls,
        Item::Function(_) | Item::StaticAssert(..) => &[],
    }
}

fn defined(item: &Item) -> Option<&str> {
    match item {
        Item::Function(function) => Some(&function.name.text),
        Item::Decls(_) | Item::StaticAssert(..) => None,
    }
}

/// Whether a header may declare it, too: a type, or a function without a body.
fn repeats(decl: &Decl) -> bool {
    decl.storage == Storage::Typedef || matches!(decl.ty, TypeExpr::Function { .. })
}

fn tag(ty: &TypeExpr) -> Option<&str> {
    match ty {
        TypeExpr::Struct(spec) => spec.tag.as_ref().map(|tag| tag.text.as_str()),
        _ => None,
    }
}

/// What is left out of a file.
#[derive(Default)]
struct Names {
    /// What the headers declare; names and tags.
    known: BTreeSet<String>,
    /// What nobody declares any more.
    gone: BTreeSet<String>,
}

impl Names {
    /// Whether a declaration stays.
    fn keeps(&mut self, decl: &Decl) -> bool {
        let name = decl.name.as_ref().map(|name| name.text.as_str());
        if name.is_some() && !repeats(decl) {
            return true;
        }
        let tag = tag(&decl.ty);
        if name.or(tag).is_some_and(|name| self.known.contains(name)) {
            return false;
        }
        // A library's own union is laid out by bytes.
        let private = [name, tag].into_iter().flatten().any(|name| name.starts_with(PRIVATE));
        if !(private && has_union(&decl.ty) || self.mentioned(&decl.ty)) {
            return true;
        }
        self.gone.extend([name, tag].into_iter().flatten().map(str::to_owned));
        false
    }

    /// Whether a type mentions what is gone.
    fn mentioned(&self, ty: &TypeExpr) -> bool {
        match ty {
            TypeExpr::Named(name) => self.gone.contains(&name.text),
            TypeExpr::Struct(spec) => {
                let tag = spec.tag.as_ref().is_some_and(|tag| self.gone.contains(&tag.text));
                tag || spec.fields.iter().flatten().any(|field| self.mentioned(&field.ty))
            }
            TypeExpr::Pointer(inner) | TypeExpr::Atomic(inner) | TypeExpr::Array(inner, _) => self.mentioned(inner),
            TypeExpr::Function { returns, params } => {
                self.mentioned(returns) || params.iter().any(|param| self.mentioned(&param.ty))
            }
            TypeExpr::Void
            | TypeExpr::Bool
            | TypeExpr::Int(_)
            | TypeExpr::Enum(_)
            | TypeExpr::TypeOf(_)
            | TypeExpr::Error => false,
        }
    }
}

fn has_union(ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::Struct(spec) => spec.union || spec.fields.iter().flatten().any(|field| has_union(&field.ty)),
        TypeExpr::Array(inner, _) => has_union(inner),
        _ => false,
    }
}

/// A variable of a type of the headers, with an initial value that is one of theirs: the expansion of `PTHREAD_MUTEX_INITIALIZER` and its kin.
fn plain(mut decl: Decl, types: &BTreeSet<String>) -> Decl {
    let opaque = matches!(&decl.ty, TypeExpr::Named(name) if types.contains(&name.text));
    if let (true, Some(init)) = (opaque, &decl.init)
        && let Some(recursive) = initial(init)
    {
        let loc = decl.loc;
        let kind = match recursive {
            true => ExprKind::Name("__cyrano_recursive".into()),
            false => zero(),
        };
        let mut items = vec![item(zero(), loc)];
        if recursive {
            items.push(item(kind, loc));
        }
        decl.init = Some(Init::List(items, loc));
    }
    decl
}

fn zero() -> ExprKind {
    ExprKind::Int { value: 0, unsigned: false, long: false, decimal: true }
}

fn item(kind: ExprKind, loc: Loc) -> InitItem {
    InitItem { designators: Vec::new(), init: Init::Expr(Expr { kind, loc }) }
}

/// Whether an initial value of a library's own is that of a recursive mutex; none if it is neither that nor 0.
fn initial(init: &Init) -> Option<bool> {
    match init {
        Init::Expr(Expr { kind: ExprKind::Int { value: 0, .. }, .. }) => Some(false),
        Init::Expr(Expr { kind: ExprKind::Name(name), .. }) => match name.as_str() {
            "PTHREAD_MUTEX_TIMED_NP"
            | "PTHREAD_MUTEX_NORMAL"
            | "PTHREAD_MUTEX_DEFAULT"
            | "PTHREAD_MUTEX_ADAPTIVE_NP" => Some(false),
            "PTHREAD_MUTEX_RECURSIVE_NP" | "PTHREAD_MUTEX_RECURSIVE" => Some(true),
            _ => None,
        },
        Init::Expr(_) => None,
        Init::List(items, _) => items.iter().try_fold(false, |recursive, item| Some(recursive | initial(&item.init)?)),
    }
}
