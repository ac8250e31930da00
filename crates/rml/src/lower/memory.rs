//! The base objects in shared memory.
//!
//! Every object or array of objects is one shared array; so is every field of a record, indexed by the record's number. Records that
//! exist from the beginning come first, then one for each place of `new` (a place is executed at most once).
//! A basic register that can be accessed concurrently has helpers: how many writes are under way and, where writes may clash, whether
//! those under way have.
//! One that is only ever written by `new` cannot, so it has none.
//! As words of a machine's memory such registers have flags instead, one for each thread that says whether its write is under way (`words`).

use std::collections::{HashMap, HashSet};

use cyrano_ir::{ArrayId, Diagnostic, LocId, Location, Program, SharedArray, Span, Ty};

use crate::report::{Fallible, Reports};
use crate::resolve::constants::{Constants, MAX_ARRAY, size};
use crate::syntax::objects::*;

/// How many words of memory all base objects together may take.
const MAX_WORDS: usize = 200_000;

/// A base object, an array of them, or a field of a record.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    pub(crate) array: ArrayId,
    pub(crate) helpers: Option<Helpers>,
    /// As a word of a machine's memory, for each thread whether it is writing.
    pub(crate) writing: Vec<ArrayId>,
    /// What a read that meets a write may return.
    pub(crate) domain: Vec<i128>,
}

/// The helpers of a basic register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Helpers {
    pub(crate) writers: ArrayId,
    pub(crate) clash: Option<ArrayId>,
}

#[derive(Clone, Debug)]
struct Array {
    name: String,
    init: Vec<i128>,
    scalar: bool,
    span: Span,
    /// The record that it is a field of.
    record: Option<usize>,
    ty: Ty,
}

/// A kind of records.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    pub(crate) fields: Vec<usize>,
    /// How many there are.
    pub(crate) count: i128,
}

/// All of shared memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// As words of a machine's memory, for so many threads.
    words: Option<usize>,
    pub(crate) objects: Vec<Object>,
    /// The objects that were declared as `shared`, by name, and fields, by name.
    pub(crate) shared: HashMap<String, usize>,
    pub(crate) fields: HashMap<String, usize>,
    pub(crate) records: HashMap<String, Records>,
    arrays: Vec<Array>,
}

/// What clients may write: none if it depends on what they read.
pub(crate) type Written = Option<Vec<i128>>;

impl Memory {
    /// Lays out the objects of an algorithm.
    pub(crate) fn new(
        algorithm: &Algorithm,
        constants: &Constants,
        (written, words): (&Written, Option<usize>),
        reports: &mut Reports,
    ) -> Fallible<Self> {
        let mut memory = Self { words, ..Self::default() };
        let (stored, fields_stored) = stored(algorithm);
        for (number, record) in algorithm.records.iter().enumerate() {
            let first = memory.objects.len();
            memory.records.insert(record.name.text.clone(), Records { fields: Vec::new(), count: 0 });
            for (field, ty) in &record.fields {
                let array = Array {
                    name: format!("{}.{}", record.name.text, field.text),
                    init: Vec::new(),
                    scalar: false,
                    span: field.span,
                    record: Some(number),
                    ty: Ty::Int,
                };
                let concurrent = fields_stored.contains(field.text.as_str());
                let object = memory.object(ty, array, concurrent);
                memory.fields.insert(field.text.clone(), object);
            }
            let fields = (first..memory.objects.len()).collect();
            memory.records.insert(record.name.text.clone(), Records { fields, count: 0 });
        }
        for shared in &algorithm.shared {
            let len = match &shared.len {
                Some(len) => size(constants.eval(len, reports)?, MAX_ARRAY, len.span, reports)?,
                None => 1,
            };
            let words: usize = memory.arrays.iter().map(|array| array.init.len()).sum();
            if words > MAX_WORDS {
                let message = format!("the base objects need more than {MAX_WORDS} words");
                return Err(reports.add(Diagnostic::new(shared.name.span, message, "the limit is reached here")));
            }
            let init = memory.initial(shared, len as usize, constants, reports)?;
            let name = shared.name.text.clone();
            let array =
                Array { name, init, scalar: shared.len.is_none(), span: shared.name.span, record: None, ty: Ty::Int };
            let object = memory.object(&shared.ty, array, stored.contains(shared.name.text.as_str()));
            memory.shared.insert(shared.name.text.clone(), object);
        }
        memory.domains(algorithm, constants, written, reports)?;
        Ok(memory)
    }

    fn object(&mut self, ty: &ObjectType, array: Array, written: bool) -> usize {
        let helped = ty.kind == ObjectKind::BasicRegister && ty.policy != Policy::Atomic && written;
        let helpers = (helped && self.words.is_none()).then(|| Helpers {
            writers: self.helper(&array, "writers"),
            clash: (ty.policy == Policy::Arbitrary).then(|| self.helper(&array, "clash")),
        });
        let threads = self.words.filter(|_| helped).unwrap_or(0);
        let writing = (1..=threads).map(|thread| self.helper(&array, &format!("written by t{thread}"))).collect();
        self.arrays.push(array);
        let array = ArrayId::new(self.arrays.len() - 1);
        self.objects.push(Object { kind: ty.kind, array, helpers, writing, domain: Vec::new() });
        self.objects.len() - 1
    }

    fn helper(&mut self, of: &Array, what: &str) -> ArrayId {
        self.arrays.push(Array { name: format!("{}.{what}", of.name), init: vec![0; of.init.len()], ..of.clone() });
        ArrayId::new(self.arrays.len() - 1)
    }

    fn initial(
        &mut self,
        shared: &Shared,
        len: usize,
        constants: &Constants,
        reports: &mut Reports,
    ) -> Fallible<Vec<i128>> {
        match &shared.init {
            None => Ok(vec![0; len]),
            Some(Init::New(record, args)) => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(constants.eval(arg, reports)?);
                }
                Ok((0..len).map(|_| self.first_record(&record.text, &values)).collect())
            }
            Some(init) => initial_values(&format!("`{}`", shared.name.text), init, len, constants, reports),
        }
    }

    /// A record that exists from the beginning.
    fn first_record(&mut self, record: &str, values: &[i128]) -> i128 {
        let Some(records) = self.records.get_mut(record) else { return 0 };
        let number = records.count;
        records.count += 1;
        for (field, value) in records.fields.iter().zip(values) {
            let array = self.objects[*field].array;
            self.arrays[array.index()].init.push(*value);
        }
        number
    }

    /// The number of a new record.
    pub(crate) fn new_record(&mut self, record: &str) -> i128 {
        let Some(records) = self.records.get_mut(record) else { return 0 };
        records.count += 1;
        records.count - 1
    }

    /// What an element of an object holds at the beginning.
    pub(crate) fn first_value(&self, object: usize, element: usize) -> i128 {
        let init = &self.arrays[self.objects[object].array.index()].init;
        init.get(element).copied().unwrap_or(0)
    }

    /// So many flags that tell of the order of accesses.
    pub(crate) fn flags(&mut self, number: usize) -> ArrayId {
        let init = vec![0; number];
        let span = Span::default();
        self.arrays.push(Array {
            name: "%before".to_owned(),
            init,
            scalar: false,
            span,
            record: None,
            ty: Ty::Witness,
        });
        ArrayId::new(self.arrays.len() - 1)
    }

    /// Makes room for records that come and go.
    pub(crate) fn reserve(&mut self, more: i128) {
        self.records.values_mut().for_each(|records| records.count += more);
    }

    /// What each basic register may return when a read meets a write: any value at all, the paper says. That is whatever it holds at
    /// the beginning, what the client writes, and one value that is neither and stands for all others. So a value that other clients of a
    /// size write, and this one does not, is one of those, and a client is judged alike on its own and among others.
    fn domains(
        &mut self,
        algorithm: &Algorithm,
        constants: &Constants,
        written: &Written,
        reports: &mut Reports,
    ) -> Fallible<()> {
        let shared = algorithm.shared.iter().map(|shared| (&shared.name, &shared.ty, &self.shared));
        let fields = algorithm.records.iter().flat_map(|record| &record.fields);
        let fields = fields.map(|(name, ty)| (name, &**ty, &self.fields));
        let all: Vec<_> =
            shared.chain(fields).filter_map(|(name, ty, of)| Some((name, ty, *of.get(&name.text)?))).collect();
        for (name, ty, index) in all {
            let object = &self.objects[index];
            if object.helpers.is_none() && object.writing.is_empty() {
                continue;
            }
            let mut domain = match (&ty.domain, written) {
                (Some((first, last)), _) => {
                    let (first, last) = (constants.eval(first, reports)?, constants.eval(last, reports)?);
                    (first..=last.min(first.saturating_add(1000))).collect()
                }
                (None, Some(written)) => {
                    let mut domain = self.arrays[object.array.index()].init.clone();
                    domain.extend(written);
                    let other = domain.iter().max().map_or(0, |largest| largest.saturating_add(1));
                    domain.push(other.max(0));
                    domain
                }
                (None, None) => {
                    let message = format!("what `{}` may hold depends on what the client reads", name.text);
                    let help = "say which values it may hold: `of 0..3`";
                    return Err(reports.complain(name.span, message, "a basic register without a domain", help));
                }
            };
            domain.sort_unstable();
            domain.dedup();
            if domain.len() < 2 {
                return Err(vacuous(name.span, &name.text, &domain, reports));
            }
            self.objects[index].domain = domain;
        }
        Ok(())
    }

    /// The locations and arrays of the program; which locations are helpers, each with its object.
    pub(crate) fn finish(&self, algorithm: &Algorithm, program: &mut Program) -> Vec<(LocId, LocId)> {
        for array in &self.arrays {
            let mut init = array.init.clone();
            if let Some(record) = array.record {
                let name = &algorithm.records[record].name.text;
                let count = self.records.get(name).map_or(0, |records| records.count);
                init.resize(usize::try_from(count).unwrap_or(0).max(1), 0);
            }
            let base = LocId::new(program.locations.len());
            let len = u32::try_from(init.len()).unwrap_or(u32::MAX);
            program.arrays.push(SharedArray { name: array.name.clone(), base, len, headers: false });
            for (index, value) in init.into_iter().enumerate() {
                let name = if array.scalar { array.name.clone() } else { format!("{}[{index}]", array.name) };
                program.locations.push(Location { name, init: value, ty: array.ty, span: array.span });
            }
        }
        let mut helpers = Vec::new();
        for object in &self.objects {
            let counted = object.helpers.map(|Helpers { writers, clash }| [Some(writers), clash]);
            let helping = counted.into_iter().flatten().flatten().chain(object.writing.iter().copied());
            for helper in helping {
                let (of, helper) = (&program.arrays[object.array.index()], &program.arrays[helper.index()]);
                helpers.extend((0..of.len).map(|at| (LocId(helper.base.0 + at), LocId(of.base.0 + at))));
            }
        }
        helpers
    }
}

/// The values of an initialiser that makes no records, one for each of so many elements of this.
pub(crate) fn initial_values(
    what: &str,
    init: &Init,
    len: usize,
    constants: &Constants,
    reports: &mut Reports,
) -> Fallible<Vec<i128>> {
    let (values, fill, span) = match init {
        Init::Value(value) => return Ok(vec![constants.eval(value, reports)?; len]),
        Init::List { values, fill, span } => (values, *fill, *span),
        Init::New(name, _) => {
            let help = "write a value, or one for each element: `{1, 0 ..}`";
            return Err(reports.complain(name.span, format!("{what} holds values"), "no value", help));
        }
    };
    let mut list = Vec::new();
    for value in values {
        list.push(constants.eval(value, reports)?);
    }
    if let (true, Some(last)) = (fill && list.len() <= len, list.last().copied()) {
        list.resize(len, last);
    }
    if list.len() == len {
        return Ok(list);
    }
    let message = format!("{what} has {len} elements, {} values are given", list.len());
    let help = "write `..` behind the last value to repeat it: `{1, 0 ..}`";
    Err(reports.complain(span, message, "wrong number of values", help))
}

fn vacuous(span: Span, name: &str, domain: &[i128], reports: &mut Reports) -> crate::report::Reported {
    let only = domain.first().map_or("nothing".to_owned(), i128::to_string);
    let message = format!("a read of `{name}` that meets a write may return any value, and there is only {only}");
    let help = "give the register a larger domain (`of 0..3`), or make it `atomic`";
    reports.complain(span, message, "this policy would make the check vacuous", help)
}

/// Whether writes of some basic register that overlap leave any value: more than words do.
pub(crate) fn clashes(algorithm: &Algorithm) -> bool {
    let (stored, fields_stored) = stored(algorithm);
    let is_one = |ty: &ObjectType| ty.kind == ObjectKind::BasicRegister && ty.policy == Policy::Arbitrary;
    let shared = algorithm.shared.iter().any(|shared| is_one(&shared.ty) && stored.contains(shared.name.text.as_str()));
    let fields = algorithm.records.iter().flat_map(|record| &record.fields);
    shared || fields.into_iter().any(|(name, ty)| is_one(ty) && fields_stored.contains(name.text.as_str()))
}

/// The names of the objects, and of the fields, that are written by statements.
fn stored(algorithm: &Algorithm) -> (HashSet<&str>, HashSet<&str>) {
    let (mut objects, mut fields) = (HashSet::new(), HashSet::new());
    algorithm.walk(&mut |stmt| {
        let Some(access) = stmt.access() else { return };
        if access.method.text == "write" {
            match &access.field {
                Some(field) => fields.insert(field.text.as_str()),
                None => objects.insert(access.object.text.as_str()),
            };
        }
    });
    (objects, fields)
}
