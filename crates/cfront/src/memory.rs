//! Shared memory: one array of words, objects separated by gaps.
//!
//! Word 0 is never used, so that no object has the address 0. A pointer is [`WORD`] times the index of a word.
//! An object of a type that the program frees has a header word in front, 0 until it is freed.

use std::collections::BTreeMap;

use cyrano_ir::{LocId, Location, Span, Ty, UNDEFINED, WORD};

use crate::addresses::Holder;
use crate::check::{Checked, fold};
use crate::source::{Problem, Problems, Sources};
use crate::types::Type;

/// The most words there may be: addresses fit into the pointer field of a word struct.
pub(crate) const MAX_MEMORY: usize = 1 << 13;

/// The words so far.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) words: Vec<Location>,
    /// How many objects of each name there are.
    counts: BTreeMap<String, usize>,
    gaps: usize,
}

impl Memory {
    /// The memory with all globals, and their addresses.
    pub(crate) fn new(checked: &Checked, sources: &Sources) -> (Self, Vec<i128>) {
        let mut memory = Self { words: Vec::new(), counts: BTreeMap::new(), gaps: 0 };
        memory.gap();
        // Static variables of functions have names like those of variables of calls.
        let statics = checked.globals.iter().filter(|global| global.name.contains('.'));
        memory.counts.extend(statics.map(|global| (global.name.clone(), 1)));
        let mut addresses = Vec::new();
        for (at, global) in checked.globals.iter().enumerate() {
            let first = memory.words.len();
            addresses.push(memory.object(checked, &global.ty, &global.name, 0, sources.span(global.loc)));
            if checked.types.addresses.contains(&Holder::Global(at)) {
                let words = memory.words[first..].iter_mut().filter(|word| word.ty == Ty::Int);
                words.for_each(|word| word.ty = Ty::Pointer);
            }
        }
        for (global, address) in checked.globals.iter().zip(&addresses) {
            for (offset, value) in &global.init {
                let value = fold(value, &checked.types, &|id| addresses.get(id).copied());
                let index = (address / WORD) as usize + *offset as usize;
                if let (Some(word), Some(value)) = (memory.words.get_mut(index), value) {
                    word.init = value;
                }
            }
        }
        (memory, addresses)
    }

    /// Whether the words are more than pointers can address.
    pub(crate) fn is_full(&self) -> bool {
        self.words.len() > MAX_MEMORY
    }

    fn gap(&mut self) {
        let name = format!("gap#{}", self.gaps);
        self.gaps += 1;
        self.words.push(Location { name, init: 0, ty: Ty::Gap, span: Span::default() });
    }

    /// Adds an object with this name and initial value in every word; gives its address.
    pub(crate) fn object(&mut self, checked: &Checked, ty: &Type, name: &str, init: i128, span: Span) -> i128 {
        let address = self.words.len() as i128 * WORD;
        let mut names = Vec::new();
        checked.types.leaves(ty, name, &mut names);
        self.words.extend(names.into_iter().map(|(name, ty)| Location { name, init, ty, span }));
        self.gap();
        address
    }

    /// Adds an object that `malloc` makes; gives the address behind its header.
    pub(crate) fn allocate(&mut self, checked: &Checked, ty: &Type, span: Span) -> i128 {
        let kind = match ty {
            Type::Array(element, _) => checked.types.show(element),
            other => checked.types.show(other),
        };
        let kind = kind.trim_end_matches("_t").replace(' ', "");
        let count = self.counts.entry(kind.clone()).or_default();
        *count += 1;
        let name = format!("{kind}#{count}");
        if has_header(checked, ty) {
            let header = Location { name: format!("{name}.freed"), init: 0, ty: Ty::Int, span };
            self.words.push(header);
        }
        self.object(checked, ty, &name, UNDEFINED, span)
    }

    /// Adds a variable of one call that needs an address.
    pub(crate) fn variable(&mut self, checked: &Checked, ty: &Type, name: &str, init: i128, span: Span) -> i128 {
        let mut count = self.counts.get(name).copied().unwrap_or_default();
        let shown = loop {
            count += 1;
            let shown = if count == 1 { name.to_string() } else { format!("{name}#{count}") };
            if !self.counts.contains_key(&shown) {
                break shown;
            }
        };
        self.counts.insert(name.to_string(), count);
        self.object(checked, ty, &shown, init, span)
    }

    /// The location at a word that belongs to an object.
    pub(crate) fn location(&self, index: i128) -> Option<LocId> {
        let index = usize::try_from(index).ok()?;
        let word = self.words.get(index)?;
        (word.ty != Ty::Gap).then(|| LocId::new(index))
    }
}

/// Reports the global that makes memory too large.
pub(crate) fn check_globals(checked: &Checked, problems: &mut Problems) {
    let mut words = 1;
    for global in &checked.globals {
        words += checked.types.wide_words(&global.ty) + 1;
        if words > MAX_MEMORY as u64 {
            let message = format!("the globals need more than {MAX_MEMORY} words");
            problems.add(Problem::new(global.loc, message, "too much with this one"));
            return;
        }
    }
}

/// Whether objects of the type have a header.
pub(crate) fn has_header(checked: &Checked, ty: &Type) -> bool {
    match ty {
        Type::Array(element, _) => checked.freed.contains(element) || checked.freed.contains(ty),
        _ => checked.freed.contains(ty),
    }
}
