//! Which clients of an algorithm differ by names only: may threads, locations or values be exchanged without changing anything?
//!
//! Every name, parameter, result, object, key and element gets a class (`classes`), and what is copied, passed, stored, returned or compared
//! for equality is in one class. Where a class is of transactions (`tx`), locations, values or references (`new`), this is all that the
//! algorithm may do with it, besides finding an element of an array, a set or a map by it; then a renaming of that kind turns
//! executions into executions. The verdict is about the text: an algorithm may be symmetric although it is not found to be.
//!
//! **Invariant:** what is said to be interchangeable is. Each operation that is not known to commute with a renaming spoils its kind.

use cyrano_ir::{Interchangeable, Method as TmMethod};

use crate::clients::named::space_values;
use crate::clients::space::{ClientSpace, Values};
use crate::lower::memory::Memory;
use crate::report::Reports;
use crate::resolve::classes::{Kind, Kinds};
use crate::resolve::constants::Constants;
use crate::resolve::infer::Inference;
use crate::syntax::ast::Expr;
use crate::syntax::objects::*;

/// What the clients of a size may exchange.
pub(crate) fn interchangeable(
    algorithm: &Algorithm,
    constants: &Constants,
    memory: &Memory,
    (space, initial): (&ClientSpace, &[i128]),
) -> Interchangeable {
    let names = Names::new(space, initial);
    let inference = Inference::new(algorithm, constants);
    let mut judge =
        Judge { algorithm, constants, memory, names: &names, spoiled: inference.classes.spoiled(), inference };
    let mut spoiled = judge.judge();
    if initial.iter().any(|value| *value != initial[0]) {
        spoiled.add(Kind::Location);
    }
    let values_move = space.values == Values::Distinct;
    let threads = !spoiled.has(Kind::Transaction) && !spoiled.has(Kind::Reference);
    Interchangeable {
        threads: threads && !(values_move && spoiled.has(Kind::Value)),
        locations: !spoiled.has(Kind::Location),
        values: if values_move || spoiled.has(Kind::Value) { Vec::new() } else { names.values },
    }
}

/// The names of each kind that renamings exchange, ascending.
struct Names {
    transactions: Vec<i128>,
    locations: Vec<i128>,
    values: Vec<i128>,
}

impl Names {
    fn new(space: &ClientSpace, initial: &[i128]) -> Self {
        let transactions = i128::try_from(space.transactions()).unwrap_or(i128::MAX);
        let values = space_values(space).into_iter().filter(|value| *value > 0 && !initial.contains(value));
        Self {
            transactions: (1..=transactions).collect(),
            locations: (0..i128::from(space.locs)).collect(),
            values: values.collect(),
        }
    }

    /// None for references: how many there are is not known here.
    fn of(&self, kind: Kind) -> Option<&[i128]> {
        match kind {
            Kind::Transaction => Some(&self.transactions),
            Kind::Location => Some(&self.locations),
            Kind::Value => Some(&self.values),
            Kind::Reference => None,
        }
    }
}

/// Decides by the classes and by what is in memory at the beginning.
struct Judge<'a> {
    algorithm: &'a Algorithm,
    constants: &'a Constants,
    memory: &'a Memory,
    names: &'a Names,
    inference: Inference<'a>,
    spoiled: Kinds,
}

impl Judge<'_> {
    /// The kinds that may not be renamed.
    fn judge(&mut self) -> Kinds {
        self.replies();
        self.arrays();
        self.sets();
        self.domains();
        self.first_records();
        self.spoiled
    }

    /// What writes and commits return goes into the history, and there it is no name of anything but a value.
    fn replies(&mut self) {
        for method in [TmMethod::Write, TmMethod::Commit] {
            let Some(result) = self.inference.results.get(method.name()).copied() else { continue };
            for kind in self.inference.classes.kinds(result).iter().filter(|kind| *kind != Kind::Value) {
                self.spoiled.add(kind);
            }
        }
    }

    /// What has an element for each name has room for all of them, and they are equal at the beginning.
    fn arrays(&mut self) {
        for shared in self.algorithm.shared.iter() {
            let (Some(len), Some(holder)) = (&shared.len, self.inference.shared.get(shared.name.text.as_str())) else {
                continue;
            };
            for kind in self.inference.classes.kinds(holder.key).iter() {
                if !self.has_room(kind, self.eval(len)) || !self.is_uniform(kind, &shared.init) {
                    self.spoiled.add(kind);
                }
            }
        }
    }

    fn sets(&mut self) {
        let locs = self.constants.get("locs");
        for local in &self.algorithm.locals {
            let Some(holder) = self.inference.sets.get(local.name.text.as_str()) else { continue };
            let keys = local.len.as_ref().map_or(locs, |len| self.eval(len));
            for kind in self.inference.classes.kinds(holder.key).iter() {
                if !self.has_room(kind, keys) {
                    self.spoiled.add(kind);
                }
            }
        }
    }

    fn eval(&self, expr: &Expr) -> Option<i128> {
        self.constants.eval(expr, &mut Reports::default()).ok()
    }

    fn has_room(&self, kind: Kind, len: Option<i128>) -> bool {
        let (Some(names), Some(len)) = (self.names.of(kind), len) else { return false };
        names.iter().all(|name| *name < len)
    }

    /// Whether all names of a kind begin with equal elements; new records are equal up to the renaming of references.
    fn is_uniform(&self, kind: Kind, init: &Option<Init>) -> bool {
        let Some(Init::List { values, .. }) = init else { return true };
        // The last value stands for the elements behind it as well.
        let element = |name: &i128| {
            let position = usize::try_from(*name).unwrap_or(usize::MAX).min(values.len().saturating_sub(1));
            values.get(position).and_then(|value| self.eval(value))
        };
        let elements: Vec<_> = self.names.of(kind).unwrap_or_default().iter().map(element).collect();
        elements.iter().all(|element| element.is_some() && *element == elements[0])
    }

    /// What a basic register may return when a read meets a write: all names of its kind, or none.
    fn domains(&mut self) {
        let shared = self.inference.shared.iter().map(|(name, holder)| (self.memory.shared.get(*name), holder));
        let fields = self.inference.fields.iter().map(|(name, holder)| (self.memory.fields.get(*name), holder));
        let objects: Vec<_> = shared.chain(fields).map(|(object, holder)| (object.copied(), holder.value)).collect();
        for (object, class) in objects {
            let Some(domain) = object.map(|object| &self.memory.objects[object].domain) else { continue };
            for kind in self.inference.classes.kinds(class).iter() {
                let closed = match self.names.of(kind) {
                    Some(names) => {
                        let there = names.iter().filter(|name| domain.contains(name)).count();
                        there == 0 || there == names.len()
                    }
                    None => domain.iter().all(|value| *value < 0),
                };
                if !closed {
                    self.spoiled.add(kind);
                }
            }
        }
    }

    /// Elements that begin with a record each are renamed together with their records.
    fn first_records(&mut self) {
        if !self.spoiled.has(Kind::Reference) {
            return;
        }
        for shared in self.algorithm.shared.iter().filter(|shared| matches!(shared.init, Some(Init::New(..)))) {
            let Some(holder) = self.inference.shared.get(shared.name.text.as_str()) else { continue };
            for kind in self.inference.classes.kinds(holder.key).iter() {
                self.spoiled.add(kind);
            }
        }
    }
}
