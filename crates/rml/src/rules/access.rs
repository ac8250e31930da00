//! The checker for calls of base objects, sets and maps.

use cyrano_ir::Span;

use crate::rules::algorithm::{Checker, Global, count};
use crate::rules::method::Scope;
use crate::syntax::ast::{Access, Name};
use crate::syntax::objects::{LocalKind, ObjectKind, TxLocal};

impl<'a> Checker<'a, '_> {
    /// Checks a call of a base object, a set or a map; `used` says whether its result is.
    pub(crate) fn access(&mut self, access: &'a Access, scope: &Scope<'a>, span: Span, used: bool) {
        access.index.iter().for_each(|index| self.expr(index, scope));
        let global = self.globals.get(access.object.text.as_str()).map(|(global, _)| *global);
        if let (Some(Global::Local(index)), None, None) = (global, &access.index, &access.field)
            && self.algorithm.locals[index].kind != LocalKind::Int
        {
            return self.set_access(index, access, scope, used);
        }
        access.args.iter().for_each(|arg| self.expr(arg, scope));
        let Some(kind) = self.object(access, scope, global) else { return };
        let methods = kind.methods();
        let name = &access.method;
        match methods.iter().find(|(method, _)| *method == name.text) {
            None => {
                let what = format!("method of {}", article(kind.word()));
                self.unknown(&what, name, methods.iter().map(|(method, _)| *method));
            }
            Some((_, arity)) if *arity != access.args.len() => {
                let message = format!("`{}` takes {}, not {}", name.text, count(*arity, "argument"), access.args.len());
                self.complain(name.span, message, "wrong number of arguments", "the base objects are in the reference");
            }
            Some(_) if used && matches!(name.text.as_str(), "write" | "lock" | "unlock") => {
                let message = format!("`{}` returns nothing", name.text);
                self.complain(span, message, "has no result", "let it stand alone");
            }
            Some(_) => {}
        }
    }

    /// The kind of the object that is accessed.
    fn object(&mut self, access: &'a Access, scope: &Scope<'a>, global: Option<Global>) -> Option<ObjectKind> {
        if let Some(field) = &access.field {
            if let Some(index) = &access.index {
                let help = "read the reference first: `st := start[i].read();`, then `st.field.read()`";
                self.complain(index.span, "a field belongs to a reference, which is a local name", "an index", help);
                return None;
            }
            self.name(&access.object, scope);
            let fields = self.algorithm.records.iter().flat_map(|record| &record.fields);
            let found = fields.clone().find(|(name, _)| name.text == field.text);
            if found.is_none() {
                self.unknown("field", field, fields.map(|(name, _)| name.text.as_str()));
            }
            return found.map(|(_, ty)| ty.kind);
        }
        let Some(Global::Shared(index)) = global else {
            let known = self.algorithm.shared.iter().map(|shared| shared.name.text.as_str());
            self.unknown("base object", &access.object, known);
            return None;
        };
        let shared = &self.algorithm.shared[index];
        match (&shared.len, &access.index) {
            (Some(_), None) => {
                let help = format!("write `{}[i].{}(…)`", shared.name.text, access.method.text);
                let message = format!("`{}` is an array", shared.name.text);
                self.complain(access.object.span, message, "has no index", help);
            }
            (None, Some(index)) => {
                let help = format!("write just `{}`", shared.name.text);
                self.complain(index.span, format!("`{}` is not an array", shared.name.text), "an index", help);
            }
            _ => {}
        }
        Some(shared.ty.kind)
    }

    fn set_access(&mut self, set: usize, access: &'a Access, scope: &Scope<'a>, used: bool) {
        let kind = self.algorithm.locals[set].kind;
        let known: &[(&str, usize, bool)] = match kind {
            LocalKind::Map => &[("put", 2, false), ("get", 1, true)],
            _ => &[("add", 1, false)],
        };
        let name = &access.method;
        let Some((_, arity, gives)) = known.iter().find(|(method, ..)| *method == name.text) else {
            let what = if kind == LocalKind::Map { "method of a map" } else { "method of a set" };
            return self.unknown(what, name, known.iter().map(|(method, ..)| *method));
        };
        if access.args.len() != *arity {
            let message = format!("`{}` takes {}, not {}", name.text, count(*arity, "argument"), access.args.len());
            let help = "a pair has parentheses of its own: `add((a, b))`";
            self.complain(name.span, message, "wrong number of arguments", help);
        }
        if *gives != used {
            let message = format!("`{}` returns {}", name.text, if *gives { "a value" } else { "nothing" });
            self.complain(access.span, message, "not here", if *gives { "assign it" } else { "let it stand alone" });
        }
        for arg in &access.args {
            if kind != LocalKind::Set {
                self.expr(arg, scope);
                continue;
            }
            self.set_arity(set, arg.parts().len(), arg.span);
            arg.parts().iter().for_each(|part| self.expr(part, scope));
        }
    }

    /// The set or map with this name.
    pub(crate) fn set(&mut self, name: &Name) -> Option<usize> {
        let locals = &self.algorithm.locals;
        let is_set = |local: &&TxLocal| local.kind != LocalKind::Int;
        let found = locals.iter().position(|local| is_set(&local) && local.name.text == name.text);
        if found.is_none() {
            self.unknown("set or map", name, locals.iter().filter(is_set).map(|local| local.name.text.as_str()));
        }
        found
    }
}

fn article(word: &str) -> String {
    let vowel = word.starts_with(['A', 'E', 'I', 'O', 'U']);
    format!("{} {word}", if vowel { "an" } else { "a" })
}
