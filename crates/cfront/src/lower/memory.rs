//! Shared memory: one array of words, objects separated by gaps.
//!
//! Word 0 is never used, so that no object has the address 0. A pointer is [`WORD`] times the index of a word.
//! In a program that frees anything every allocated object has a header in front, which says whether it is freed (`cyrano_ir::guards`).

use std::collections::BTreeMap;

use cyrano_ir::guards::ALIVE;
use cyrano_ir::{ArrayId, LocId, Location, Span, Ty, WORD};

use crate::check::{Checked, fold};
use crate::flow::addresses::Holder;
use crate::lower::lifetimes::ENDED;
use crate::source::{Problem, Problems, Sources};
use crate::tree::Room;
use crate::types::Type;

/// The most words there may be: addresses fit into the pointer field of a word struct.
pub(crate) const MAX_MEMORY: usize = 1 << 13;

/// The headers of allocated objects, in a program that frees any.
pub(crate) const OBJECTS: ArrayId = ArrayId(1);

/// The words so far.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) words: Vec<Location>,
    /// How many objects of each name there are.
    counts: BTreeMap<String, usize>,
    gaps: usize,
    /// What `malloc` makes, if it can be freed.
    pub(crate) objects: Vec<Object>,
    /// Whether each of them has a word in front of its header that says whether it is allocated.
    pub(crate) leaks: bool,
}

/// An allocated object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    /// Where its first word is, behind the header.
    pub(crate) address: i128,
    pub(crate) words: usize,
    /// The thread that allocates it first.
    pub(crate) thread: usize,
}

impl Memory {
    /// The memory with all globals that are there from the start, and their addresses.
    pub(crate) fn new(checked: &Checked, sources: &Sources) -> (Self, Vec<Option<i128>>) {
        let mut memory =
            Self { words: Vec::new(), counts: BTreeMap::new(), gaps: 0, objects: Vec::new(), leaks: false };
        memory.gap();
        // Static variables of functions have names like those of variables of calls.
        let statics = checked.globals.iter().filter(|global| global.name.contains('.'));
        memory.counts.extend(statics.map(|global| (global.name.clone(), 1)));
        let mut addresses = Vec::new();
        for (at, global) in checked.globals.iter().enumerate() {
            let there = global.room == Room::Start;
            addresses.push(there.then(|| memory.room(checked, sources, at, &global.name)));
        }
        for (at, address) in addresses.iter().enumerate() {
            address.iter().for_each(|address| memory.initialise(checked, at, *address, &addresses));
        }
        (memory, addresses)
    }

    /// Words for a global.
    fn room(&mut self, checked: &Checked, sources: &Sources, at: usize, name: &str) -> i128 {
        let global = &checked.globals[at];
        let first = self.words.len();
        let address = self.object(checked, &global.ty, name, 0, sources.span(global.loc));
        if checked.types.addresses.contains(&Holder::Global(at)) {
            let words = self.words[first..].iter_mut().filter(|word| word.ty == Ty::Int);
            words.for_each(|word| word.ty = Ty::Pointer);
        }
        address
    }

    fn initialise(&mut self, checked: &Checked, at: usize, address: i128, addresses: &[Option<i128>]) {
        for (offset, value) in &checked.globals[at].init {
            let value = fold(value, &checked.types, &|id| addresses.get(id).copied().flatten());
            let index = (address / WORD) as usize + *offset as usize;
            if let (Some(word), Some(value)) = (self.words.get_mut(index), value) {
                word.init = value;
            }
        }
    }

    /// Adds a global that is mentioned, by this name; gives its address.
    pub(crate) fn mention(
        &mut self,
        (checked, sources): (&Checked, &Sources),
        at: usize,
        name: &str,
        addresses: &[Option<i128>],
    ) -> i128 {
        let name = self.unused(name);
        let address = self.room(checked, sources, at, &name);
        self.initialise(checked, at, address, addresses);
        address
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
        let inits = checked.types.initial(ty, init);
        self.words.extend(names.into_iter().zip(inits).map(|((name, ty), init)| Location { name, init, ty, span }));
        self.gap();
        address
    }

    /// Adds an object that `malloc` makes in a thread; gives the address behind its header.
    pub(crate) fn allocate(&mut self, checked: &Checked, ty: &Type, thread: usize, init: i128, span: Span) -> i128 {
        let kind = match ty {
            Type::Array(element, _) => checked.types.show(element),
            other => checked.types.show(other),
        };
        let kind = kind.trim_end_matches("_t").replace(' ', "");
        let count = self.counts.entry(kind.clone()).or_default();
        *count += 1;
        let name = format!("{kind}#{count}");
        if self.leaks {
            self.words.push(Location { name: format!("{name}.allocated"), init: 0, ty: Ty::Int, span });
        } else if !checked.frees {
            return self.object(checked, ty, &name, init, span);
        }
        self.words.push(Location { name: format!("{name}.freed"), init: ALIVE, ty: Ty::Header, span });
        let address = self.object(checked, ty, &name, init, span);
        let words = self.words.len() - 1 - (address / WORD) as usize;
        self.objects.push(Object { address, words, thread });
        address
    }

    /// Adds the object of a thread (`lower/threads.rs`), with words for its argument and its function if they are not constants.
    pub(crate) fn thread(&mut self, name: &str, given: bool, span: Span) -> i128 {
        let address = self.words.len() as i128 * WORD;
        let given = if given { &["arg", "function"][..] } else { &[] };
        for word in ["start", "done", "result"].iter().chain(given) {
            let init = if matches!(*word, "start" | "done") { 0 } else { cyrano_ir::UNDEFINED };
            self.words.push(Location { name: format!("{name}.{word}"), init, ty: Ty::Int, span });
        }
        self.gap();
        address
    }

    /// Adds the word that tells of the end of a thread of a test.
    pub(crate) fn end(&mut self, name: &str) -> i128 {
        let address = self.words.len() as i128 * WORD;
        self.words.push(Location { name: format!("{name}.done"), init: 0, ty: Ty::Int, span: Span::default() });
        self.gap();
        address
    }

    /// Adds a variable of one call that needs an address.
    pub(crate) fn variable(&mut self, checked: &Checked, ty: &Type, name: &str, init: i128, span: Span) -> i128 {
        let shown = self.unused(name);
        self.object(checked, ty, &shown, init, span)
    }

    /// Adds such a variable whose end is told in a header; gives the address behind it.
    pub(crate) fn local(&mut self, checked: &Checked, ty: &Type, name: &str, span: Span) -> i128 {
        let name = self.unused(name);
        self.words.push(Location { name: format!("{name}{ENDED}"), init: ALIVE, ty: Ty::Header, span });
        self.object(checked, ty, &name, cyrano_ir::UNDEFINED, span)
    }

    /// This name with a number that it does not have yet.
    fn unused(&mut self, name: &str) -> String {
        let mut count = self.counts.get(name).copied().unwrap_or_default();
        let shown = loop {
            count += 1;
            let shown = if count == 1 { name.to_string() } else { format!("{name}#{count}") };
            if !self.counts.contains_key(&shown) {
                break shown;
            }
        };
        self.counts.insert(name.to_string(), count);
        shown
    }

    /// The location at a word that belongs to an object.
    pub(crate) fn location(&self, index: i128) -> Option<LocId> {
        let index = usize::try_from(index).ok()?;
        let word = self.words.get(index)?;
        (!matches!(word.ty, Ty::Gap | Ty::Header)).then(|| LocId::new(index))
    }

    /// The header at a word.
    pub(crate) fn header(&self, index: i128) -> Option<LocId> {
        let index = usize::try_from(index).ok()?;
        (self.words.get(index)?.ty == Ty::Header).then(|| LocId::new(index))
    }

    /// The element of an array of the program, if it has it.
    pub(crate) fn element(&self, array: ArrayId, index: i128) -> Option<LocId> {
        if array == OBJECTS { self.header(index) } else { self.location(index) }
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
