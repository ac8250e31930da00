//! All programs of a source text, judged together with one set of fences of a machine, and of stronger accesses, after another.
//!
//! The programs are compiled once with a fence at every place that makes a difference. A set is a choice among these: what is not chosen becomes a jump to the next
//! instruction, so that an execution, and what it violates, means the same in all of them and can be replayed with another set.
//! What is found is written into the text and compiled; whatever is not the program that was verified, jumps aside, is judged once more, and so is what was taken for correct because
//! it is so with less.
//!
//! **Invariant:** a set that is reported was verified on what the text with it compiles to.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use cyrano_engine::{Execution, Query, Question, Violation};
use cyrano_ir::{Fence as Barrier, FenceSet, InstrId, Op, Program, Property};
use cyrano_memory::Model;

use super::retag::{Retag, is_same_code, replaced, retags};
use super::text::from_now;
use super::{Ask, Trouble, judge};
use crate::edits::{Editable, Offer};
use crate::fence::{Fence, Position};
use crate::machines::{MachineFence, language_fences, machine_fences};
use crate::places::{Places, inserted};
use crate::shape::same_but_for_fences;
use crate::suite::Judgement;
use crate::text::{FenceText, Stronger};
use crate::turns::Turns;

/// A stronger way to write an access, and what it does.
type Way = (Stronger, Vec<Retag>);

/// So much distaste weighs as much as one unit of cost.
const TASTE: u32 = 1 << 8;

/// How many seconds each test gets before the others have their turn again: wrong sets are refused quickly, and every turn starts from nothing.
const SLICES: [Option<u64>; 3] = [Some(2), Some(20), None];

/// What is said of a source that nothing can be done about.
const NOTHING: &str = "there is nothing to try: its language has no fence of this model's, or no place for one, and no access could be stronger";

/// One change of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// A fence.
    Fence {
        /// Where.
        position: Position,
        /// Which.
        fence: MachineFence,
    },
    /// A stronger access.
    Order {
        /// What is written, and instead of what.
        way: Stronger,
        /// The line that it is in, from 1.
        line: usize,
        /// The thread that it is in.
        program: Option<String>,
    },
}

/// A counterexample.
pub struct Seen<T> {
    program: usize,
    property: Property,
    violation: Option<Violation>,
    execution: Execution,
    /// What is told about it, if there is an execution.
    pub trace: Option<T>,
}

/// A source text, the edits that it can have, and what is to hold of its programs.
pub struct Machine<'a, A: Ask> {
    asker: &'a A,
    text: &'a str,
    model: &'a Model,
    language: &'static dyn FenceText,
    /// The edits, by their numbers.
    pub edits: Vec<Edit>,
    offers: Vec<Offer>,
    retags: Vec<Vec<Retag>>,
    charts: Vec<Program>,
    turns: Turns<Vec<usize>>,
    /// The programs that were verified with a set, as they are.
    verified: RefCell<BTreeSet<(usize, Vec<usize>)>>,
    trouble: RefCell<Option<Trouble>>,
}

impl<'a, A: Ask> Machine<'a, A> {
    /// The text of a source whose programs are to be correct on a model about relations, where blocks run as often as these weights say.
    pub fn new(
        asker: &'a A,
        text: &'a str,
        model: &'a Model,
        language: &'static dyn FenceText,
        weights: &BTreeMap<String, u32>,
    ) -> Result<Self, Trouble> {
        let (offers, edits, retags, charts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let turns = Turns::new(asker.programs().len());
        let (verified, trouble) = (RefCell::default(), RefCell::new(None));
        let mut machine =
            Self { asker, text, model, language, edits, offers, retags, charts, turns, verified, trouble };
        machine.offer_fences(weights)?;
        machine.offer_orders();
        if machine.edits.is_empty() {
            return Err(Trouble::Nowhere(NOTHING));
        }
        Ok(machine)
    }

    /// What the search could not carry.
    pub fn finish(self) -> Result<(), Trouble> {
        self.trouble.into_inner().map_or(Ok(()), Err)
    }

    /// What an edit costs.
    pub fn cost(&self, edit: usize) -> u64 {
        u64::from(self.offers[edit].cost / TASTE)
    }

    /// The text with some edits.
    pub fn written(&self, set: &[usize]) -> String {
        let edits = || set.iter().map(|edit| &self.edits[*edit]);
        let ways: Vec<&Stronger> =
            edits().filter_map(|edit| if let Edit::Order { way, .. } = edit { Some(way) } else { None }).collect();
        let shifted = |at: usize| {
            let before = ways.iter().filter(|way| way.range.end <= at);
            before.fold(at, |at, way| at + way.text.len() - way.range.len())
        };
        let placed = edits().filter_map(|edit| match edit {
            Edit::Fence { position, fence } => {
                let position = Position { at: shifted(position.at), ..position.clone() };
                Some((position, self.language.statement(self.text, fence.fence)?))
            }
            Edit::Order { .. } => None,
        });
        let mut placed: Vec<(Position, String)> = placed.collect();
        placed.sort();
        self.language.write(&replaced(self.text, &ways), &placed).text
    }

    /// The fences of the machine; those of the language, if it is mapped to the machine.
    fn fences(&self) -> Vec<MachineFence> {
        if self.asker.maps_orders() { language_fences(self.model) } else { machine_fences(self.model) }
    }

    /// Finds places for the fences of the model that the language can write, and compiles the charts.
    fn offer_fences(&mut self, weights: &BTreeMap<String, u32>) -> Result<(), Trouble> {
        let statement = |fence: &MachineFence| self.language.statement(self.text, fence.fence);
        let fences: Vec<MachineFence> = self.fences().into_iter().filter(|fence| statement(fence).is_some()).collect();
        self.charts = self.asker.programs().into_iter().cloned().collect();
        let Some(strongest) = fences.last().and_then(statement) else { return Ok(()) };
        let places = self.places(&strongest)?;
        self.charts = self.build_at(&places.positions, &strongest).map_err(Trouble::Untrusted)?;
        for position in &places.positions {
            let weight = position.program.as_ref().and_then(|block| weights.get(block)).copied().unwrap_or(1);
            let first = self.edits.len();
            for (number, fence) in fences.iter().enumerate() {
                let at_least = fences.iter().enumerate().filter(|(_, other)| other.is_at_least(*fence));
                let kind = fence.fence.kinds().unwrap_or(FenceSet::FULL);
                let distaste = self.language.distaste(self.text, &Fence { position: position.clone(), kind });
                let cost =
                    fence.cost.saturating_mul(weight).saturating_mul(TASTE).saturating_add(distaste.min(TASTE / 16));
                let at_least = at_least.map(|(other, _)| first + other).collect();
                debug_assert_eq!(self.edits.len(), first + number);
                self.offers.push(Offer { slot: first, cost, at_least });
                self.edits.push(Edit::Fence { position: position.clone(), fence: *fence });
                self.retags.push(Vec::new());
            }
        }
        Ok(())
    }

    fn places(&self, statement: &str) -> Result<Places, Trouble> {
        let compiles = |text: &str| self.asker.compile(text).is_some();
        let faithful = |patched: &crate::source::Patched| {
            let Some(programs) = self.asker.compile(&patched.text) else { return false };
            let same = |(plain, program): (&Program, Program)| {
                same_but_for_fences(plain, &patched.with_original_spans(program))
            };
            self.asker.programs().into_iter().zip(programs).all(same)
        };
        let positions = self.language.positions_for(self.text, statement, &compiles, &faithful);
        if let Some(why) = self.language.nowhere().filter(|_| positions.is_empty()) {
            return Err(Trouble::Nowhere(why));
        }
        Places::of(positions, |positions| self.build_at(positions, statement)).map_err(Trouble::Untrusted)
    }

    /// The programs with a statement at each of these positions, with the spans of the original.
    fn build_at(&self, positions: &[Position], statement: &str) -> Result<Vec<Program>, String> {
        let placed: Vec<_> = positions.iter().map(|position| (position.clone(), statement.to_owned())).collect();
        let patched = self.language.write(self.text, &placed);
        let programs = self.asker.compile(&patched.text).ok_or("the source with fences does not compile")?;
        Ok(programs.into_iter().map(|program| patched.with_original_spans(program)).collect())
    }

    /// Finds accesses that could be stronger.
    fn offer_orders(&mut self) {
        let plain: Vec<Program> = self.asker.programs().into_iter().cloned().collect();
        let mut accesses = BTreeMap::new();
        for thread in plain.iter().flat_map(|program| &program.threads) {
            for instr in thread.code.iter().filter(|instr| instr.op.access().is_some()) {
                accesses
                    .entry((instr.span.start as usize, instr.span.end as usize))
                    .or_insert_with(|| thread.name.clone());
            }
        }
        let language = cyrano_memory::named("rc11").filter(|_| self.asker.maps_orders());
        let known = language.as_ref().unwrap_or(self.model).known_tags();
        let mut offered = BTreeSet::new();
        for ((start, end), thread) in accesses {
            let ways = self.language.stronger(self.text, start..end);
            let fitting = ways.into_iter().filter_map(|way| {
                let programs = self.asker.compile(&replaced(self.text, &[&way]))?;
                let retags = retags(&plain, &programs)?;
                retags.iter().all(|retag| retag.is_known(known)).then_some((way, retags))
            });
            // What stands at one place is written in one way; a statement of C may have several such places.
            let mut all: BTreeMap<(usize, usize), Vec<Way>> = BTreeMap::new();
            for (way, retags) in fitting.filter(|(way, _)| !offered.contains(&way.range.start)) {
                all.entry((way.range.start, way.range.end)).or_default().push((way, retags));
            }
            offered.extend(all.keys().map(|(start, _)| *start));
            for fitting in all.into_values() {
                self.offer_ways(&fitting, (start, &thread));
            }
        }
    }

    /// Offers the ways to write what stands at one place.
    fn offer_ways(&mut self, fitting: &[(Stronger, Vec<Retag>)], (start, thread): (usize, &str)) {
        let first = self.edits.len();
        for (way, retags) in fitting {
            let at_least = fitting.iter().enumerate().filter(|(_, (other, _))| other.order.is_at_least(way.order));
            let at_least = at_least.map(|(other, _)| first + other).collect();
            self.offers.push(Offer { slot: first, cost: way.order.cost() * TASTE, at_least });
            let line = 1 + self.text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
            self.edits.push(Edit::Order { way: way.clone(), line, program: Some(thread.to_owned()) });
            self.retags.push(retags.clone());
        }
    }

    /// A program with some edits.
    fn edited(&self, number: usize, set: &[usize]) -> Program {
        let mut program = self.charts[number].clone();
        for edit in set {
            self.retags[*edit]
                .iter()
                .filter(|retag| retag.program == number)
                .for_each(|retag| retag.apply(&mut program));
        }
        let fence_at = |at: usize| {
            let found = set.iter().filter_map(|edit| match &self.edits[*edit] {
                Edit::Fence { position, fence } if position.at == at => Some(fence.fence),
                _ => None,
            });
            { found }.next()
        };
        for thread in &mut program.threads {
            for (pc, instr) in thread.code.iter_mut().enumerate() {
                if let Some(at) = inserted(instr) {
                    let jump = || Op::Jump(InstrId::new(pc + 1));
                    instr.op = fence_at(at).map_or_else(jump, |fence: Barrier| Op::Fence(fence));
                }
            }
        }
        program
    }

    /// Judges programs with a set, but for those that are verified.
    fn judge_programs(
        &self,
        programs: &[Program],
        set: &[usize],
        turns: &Turns<Vec<usize>>,
        is_verified: impl Fn(usize) -> bool,
    ) -> Judgement<Seen<A::Trace>> {
        let slices = if programs.len() > 1 { &SLICES[..] } else { &[None] };
        let within = |known: &Vec<usize>| {
            known.iter().all(|edit| self.offers[*edit].at_least.iter().any(|more| set.contains(more)))
        };
        let ruling = turns.judge(slices, programs, within, |seconds, number| {
            if is_verified(number) {
                return (Judgement::Correct, set.to_vec());
            }
            let until = seconds.map(from_now);
            let what = |_: &Property| {
                self.asker.name(number).map_or("a check".to_owned(), |test| format!("the check of {test}"))
            };
            let put = |_: usize, query: Query<'_>| self.asker.ask(number, query, until);
            let form = |_: &Property| self.asker.compiled(&programs[number]);
            let judged = judge(self.asker, number, self.model, form, what, put, &self.trouble);
            if matches!(judged, Judgement::Correct) {
                self.verified.borrow_mut().insert((number, set.to_vec()));
            }
            let seen = judged.map(|execution, _, fault| Seen {
                program: number,
                property: fault.property,
                violation: fault.violation,
                execution: execution.clone(),
                trace: fault.trace,
            });
            (seen, set.to_vec())
        });
        ruling.judgement
    }
}

impl<A: Ask> Editable for Machine<'_, A> {
    type Wrong = Seen<A::Trace>;

    fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn judge(&self, set: &[usize]) -> Judgement<Seen<A::Trace>> {
        let programs: Vec<Program> = (0..self.charts.len()).map(|number| self.edited(number, set)).collect();
        self.judge_programs(&programs, set, &self.turns, |_| false)
    }

    fn check_again(&self, set: &[usize]) -> Judgement<Seen<A::Trace>> {
        let Some(programs) = self.asker.compile(&self.written(set)) else {
            return Judgement::Unknown("the repaired source does not compile".to_owned());
        };
        let is_verified = |number: usize| {
            let asked = self.verified.borrow().contains(&(number, set.to_vec()));
            asked && is_same_code(&self.edited(number, set), &programs[number])
        };
        match self.judge_programs(&programs, set, &Turns::new(programs.len()), is_verified) {
            Judgement::Wrong(_) => {
                let why = "the repaired source goes wrong, although the repaired program does not".to_owned();
                *self.trouble.borrow_mut() = Some(Trouble::Untrusted(why.clone()));
                Judgement::Unknown(why)
            }
            other => other,
        }
    }

    fn allows(&self, wrong: &Seen<A::Trace>, set: &[usize]) -> bool {
        if wrong.trace.is_none() {
            return true;
        }
        let program = self.edited(wrong.program, set);
        let program = self.asker.compiled(&program);
        let query = Query::new(&program, self.model, Question::Holds(&wrong.property));
        query.is_ok_and(|query| self.asker.confirms(query, wrong.violation.as_ref(), &wrong.execution))
    }
}
