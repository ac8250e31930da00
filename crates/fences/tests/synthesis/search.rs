//! The search, against a subject whose judge is a table of forbidden reorderings.
//!
//! A thread is a word of `S` and `L` (stores and loads) and `R` (read-modify-writes); position `10 * t + i` of thread `t` is behind
//! its access `i`. A wrong execution is a list of reorderings, and is possible as long as no fence forbids one of them.

use std::collections::BTreeSet;

use cyrano_engine::{Access, Execution, Overtaking, Replayed, StepFacts};
use cyrano_ir::{
    AccessKind, Addr, Change, Expr, FenceSet, Instr, InstrId, LocId, Op, Place, Program, RegId, Register, Span, Thread,
    ThreadId, Ty,
};

use cyrano_fences::{
    Costs, Fence, Judgement, Options, Outcome, Position, Ruling, Suite, Verdict, Wrong, merge, statement, synthesise,
};

/// Thread, overtaken access, overtaking access.
pub(crate) type Reordering = (usize, u32, u32);

pub(crate) struct TableSubject {
    threads: Vec<&'static str>,
    wrong: Vec<Vec<Reordering>>,
    /// What the judge says when no wrong execution is possible.
    otherwise: Judgement<usize>,
    /// With fewer fences than this the judge does not know.
    sure_from: usize,
}

fn kind(letter: char) -> AccessKind {
    match letter {
        'L' => AccessKind::Load,
        'S' => AccessKind::Store,
        _ => AccessKind::Rmw,
    }
}

fn access(letter: char) -> Op {
    let (addr, dst) = (Addr::Fixed(LocId(0)), Place::Reg(RegId(0)));
    match kind(letter) {
        AccessKind::Load => Op::load(dst, addr),
        AccessKind::Store => Op::store(addr, Expr::Const(1)),
        _ => Op::rmw(None, addr, Change::Set(Expr::Const(1))),
    }
}

/// How many fences were inserted, by kind.
fn inserted(program: &Program) -> usize {
    let kinds = |set: FenceSet| FenceSet::KINDS.iter().filter(|(kind, _)| set.contains(*kind)).count();
    let code = program.threads.iter().flat_map(|thread| &thread.code);
    code.map(|instr| if let Op::Fence(set) = &instr.op { kinds(set.pairs()) } else { 0 }).sum()
}

impl TableSubject {
    fn kind(&self, thread: usize, index: u32) -> AccessKind {
        self.threads[thread].chars().nth(index as usize).map(kind).expect("the access exists")
    }

    /// Whether a fence in the program forbids the reordering.
    fn forbidden(&self, program: &Program, (thread, first, second): Reordering) -> bool {
        let mut index = 0;
        program.threads[thread].code.iter().any(|instr| match &instr.op {
            Op::Fence(fence) => {
                let between = index > first && index <= second;
                between && fence.pairs().orders(self.kind(thread, first), self.kind(thread, second))
            }
            op => {
                index += u32::from(op.access_kind().is_some());
                false
            }
        })
    }

    fn execution(&self, number: usize) -> Wrong<usize> {
        let step = |&(thread, first, second): &Reordering| StepFacts {
            access: Access { thread: ThreadId::new(thread), index: second, read: None, written: None },
            kind: self.kind(thread, second),
            instr: InstrId(0),
            loc: LocId(0),
            source: None,
            overtook: vec![Overtaking {
                index: first,
                instr: InstrId(0),
                kind: self.kind(thread, first),
                loc: Some(LocId(0)),
            }],
            said: Vec::new(),
        };
        let steps: Vec<StepFacts> = self.wrong[number].iter().map(step).collect();
        let order = steps.iter().map(|step| step.access).collect();
        let (execution, replayed) =
            (Execution { order, choices: Vec::new(), relations: None }, Replayed { steps, ..Replayed::default() });
        Wrong { execution, replayed, evidence: number }
    }
}

impl TableSubject {
    pub(crate) fn places(&self) -> Vec<Position> {
        let of = |(thread, word): (usize, &&str)| {
            let position = move |i| Position { at: 10 * thread + i, line: i + 1, program: Some(format!("p{thread}")) };
            (0..word.len()).map(position).collect::<Vec<_>>()
        };
        self.threads.iter().enumerate().flat_map(of).collect()
    }

    pub(crate) fn program(&self, fences: &[Fence]) -> Program {
        let thread = |(number, word): (usize, &&str)| {
            let mut code = Vec::new();
            for (i, letter) in word.chars().enumerate() {
                let at = 10 * number + i;
                code.push(Instr { op: access(letter), span: Span::new(at, at + 1) });
                let here = fences.iter().filter(|fence| fence.position.at == at);
                code.extend(here.map(|fence| Instr { op: Op::fence(fence.kind), span: Span::new(at, at) }));
            }
            code.push(Instr { op: Op::Halt, span: Span::default() });
            let register = Register { name: "r".into(), init: 0, ty: Ty::Int };
            Thread { name: format!("p{number}"), registers: vec![register], code }
        };
        Program { threads: self.threads.iter().enumerate().map(thread).collect(), ..Program::default() }
    }

    pub(crate) fn judge_one(&self, program: &Program) -> Judgement<usize> {
        let possible = |wrong: &Vec<Reordering>| !wrong.iter().any(|reordering| self.forbidden(program, *reordering));
        match self.wrong.iter().position(possible) {
            Some(number) => Judgement::Wrong(self.execution(number)),
            None if inserted(program) < self.sure_from => Judgement::Unknown("it has no end".into()),
            None => self.otherwise.clone(),
        }
    }

    pub(crate) fn judge_in_order(&self) -> Judgement<usize> {
        match self.wrong.iter().position(Vec::is_empty) {
            Some(number) => Judgement::Wrong(self.execution(number)),
            None => Judgement::Correct,
        }
    }
}

impl Suite for TableSubject {
    type Evidence = usize;

    fn positions(&self) -> Vec<Position> {
        self.places()
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        Ok(vec![self.program(fences)])
    }

    fn judge(&self, _: &[Fence], programs: &[Program]) -> Ruling<usize> {
        Ruling { program: 0, judgement: self.judge_one(&programs[0]) }
    }

    fn judge_sequentially(&self, _: &[Program], _: usize) -> Judgement<usize> {
        self.judge_in_order()
    }
}

pub(crate) const ALL: Options =
    Options { sets: usize::MAX, costs: Costs::UNIFORM, kinds: FenceSet::FULL, rounds: usize::MAX };

pub(crate) fn subject(threads: &[&'static str], wrong: &[&[Reordering]]) -> TableSubject {
    let wrong = wrong.iter().map(|execution| execution.to_vec()).collect();
    TableSubject { threads: threads.to_vec(), wrong, otherwise: Judgement::Correct, sure_from: 0 }
}

/// A set of fences as text: `0:store-load 10:load-load`.
pub(crate) fn show(fences: &[Fence]) -> String {
    let words: Vec<String> = fences.iter().map(|fence| format!("{}:{}", fence.position.at, fence.kind)).collect();
    words.join(" ")
}

/// All minimal sets; each fence's own counterexample must need it.
fn check(threads: &[&'static str], wrong: &[&[Reordering]], expected: &[&str]) {
    let subject = subject(threads, wrong);
    let outcome = synthesise(&subject, &ALL);
    assert_eq!(outcome.verdict, Verdict::Repaired, "{:?}", outcome.reason);
    assert!(outcome.complete && outcome.minimal);
    let found: BTreeSet<String> = outcome.sets.iter().map(|set| show(&set.fences)).collect();
    assert_eq!(found, expected.iter().map(|set| (*set).to_owned()).collect());
    assert!(outcome.sets.is_sorted_by_key(|set| set.cost));
    proofs_hold(&subject, &outcome);
}

fn proofs_hold(subject: &TableSubject, outcome: &Outcome<usize>) {
    for set in &outcome.sets {
        for (number, counterexample) in set.prevents.iter().enumerate() {
            let mut rest = set.fences.clone();
            let fence = rest.remove(number);
            let counterexample = counterexample.expect("each fence is needed");
            let execution = &subject.wrong[outcome.counterexamples[counterexample].wrong.evidence];
            let possible = |fences: &[Fence]| {
                let program = subject.program(&merge(fences));
                !execution.iter().any(|reordering| subject.forbidden(&program, *reordering))
            };
            assert!(possible(&rest) && !possible(&[rest, vec![fence]].concat()));
        }
    }
}

#[test]
fn store_buffering() {
    check(&["SL", "SL"], &[&[(0, 0, 1)], &[(1, 0, 1)]], &["0:store-load 10:store-load"]);
    check(&["SL", "SL"], &[&[(0, 0, 1), (1, 0, 1)]], &["0:store-load", "10:store-load"]);
}

/// The first counterexample is prevented by both fences of the set, so it proves the need of neither.
#[test]
fn proofs_are_about_one_fence() {
    let wrong: [&[Reordering]; 3] = [&[(0, 0, 1), (1, 0, 1)], &[(0, 0, 1)], &[(1, 0, 1)]];
    check(&["SL", "SL"], &wrong, &["0:store-load 10:store-load"]);
}

#[test]
fn one_fence_for_two_reorderings() {
    let wrong: [&[Reordering]; 2] = [&[(0, 0, 2)], &[(0, 1, 3)]];
    let expected = ["1:store-load", "0:store-load 2:store-load"];
    check(&["SSLL"], &wrong, &expected);
}

#[test]
fn several_kinds_at_one_position() {
    check(&["LSL"], &[&[(0, 0, 2)], &[(0, 1, 2)]], &["0:load-load 1:store-load", "1:load-load 1:store-load"]);
}

#[test]
fn a_read_modify_write_is_both() {
    check(&["SR"], &[&[(0, 0, 1)]], &["0:store-load", "0:store-store"]);
    let all = ["0:load-load", "0:load-store", "0:store-load", "0:store-store"];
    check(&["RR"], &[&[(0, 0, 1)]], &all);
}

/// A single set, as the default options find it.
fn cheapest(threads: &[&'static str], wrong: &[&[Reordering]]) -> String {
    let outcome = synthesise(&subject(threads, wrong), &Options::default());
    assert_eq!(outcome.sets.len(), 1);
    show(&outcome.sets[0].fences)
}

#[test]
fn dear_fences_are_avoided() {
    assert_eq!(cheapest(&["SR"], &[&[(0, 0, 1)]]), "0:store-store");
    assert_eq!(
        cheapest(&["SL", "SS", "LL"], &[&[(0, 0, 1), (1, 0, 1)], &[(0, 0, 1), (2, 0, 1)]]),
        "10:store-store 20:load-load"
    );
}

/// A subject in which a fence is passed as often as the weight of its position says.
struct Weighted<'a>(&'a TableSubject, &'a [u32]);

impl Suite for Weighted<'_> {
    type Evidence = usize;

    fn positions(&self) -> Vec<Position> {
        self.0.positions()
    }

    fn weight(&self, position: &Position) -> u32 {
        self.1[position.at % self.1.len()]
    }

    fn build(&self, fences: &[Fence]) -> Result<Vec<Program>, String> {
        self.0.build(fences)
    }

    fn judge(&self, fences: &[Fence], programs: &[Program]) -> Ruling<usize> {
        self.0.judge(fences, programs)
    }

    fn judge_sequentially(&self, programs: &[Program], number: usize) -> Judgement<usize> {
        self.0.judge_sequentially(programs, number)
    }
}

impl Weighted<'_> {
    /// What the cheapest correct set costs, by trying them all.
    fn least_cost(&self, kind: FenceSet) -> Option<u64> {
        let positions = self.positions();
        let sets = (0..1u32 << positions.len()).map(|chosen| {
            let chosen = positions.iter().enumerate().filter(|(number, _)| chosen >> number & 1 == 1);
            chosen.map(|(_, position)| Fence { position: position.clone(), kind }).collect::<Vec<_>>()
        });
        let correct = sets.filter(|set| matches!(self.0.judge_one(&self.0.program(&merge(set))), Judgement::Correct));
        correct.map(|set| set.iter().map(|fence| u64::from(self.weight(&fence.position))).sum()).min()
    }
}

/// What is passed often is avoided, if need be by more fences, and what is found is what trying all sets finds.
#[test]
fn a_fence_costs_as_often_as_it_is_passed() {
    let wrong: [&[Reordering]; 2] = [&[(0, 0, 2)], &[(0, 1, 3)]];
    let table = subject(&["SSLL", "SLSL"], &wrong);
    let options = Options { kinds: FenceSet::SL, ..ALL };
    let tables: [(&[u32], &str); 4] = [
        (&[1], "1:store-load"),
        (&[1, 9, 1, 1], "0:store-load 2:store-load"),
        (&[2, 3, 2, 7], "1:store-load"),
        (&[5, 1000, 500, 1], "0:store-load 2:store-load"),
    ];
    for (weights, expected) in tables {
        let weighted = Weighted(&table, weights);
        let outcome = synthesise(&weighted, &options);
        assert!(outcome.complete && outcome.minimal && outcome.sets.is_sorted_by_key(|set| set.cost));
        assert_eq!(show(&outcome.sets[0].fences), expected, "{weights:?}");
        assert_eq!(Some(outcome.sets[0].cost), weighted.least_cost(FenceSet::SL), "{weights:?}");
        assert_eq!(outcome.sets.len(), 2, "the minimal sets are the same, whatever they cost");
        proofs_hold(&table, &outcome);
    }
}

/// How it ends if there is nothing to insert.
fn ends(subject: &TableSubject, options: &Options, verdict: Verdict, reason: Option<&str>) {
    let outcome = synthesise(subject, options);
    assert_eq!((outcome.verdict, outcome.reason.as_deref()), (verdict, reason));
    assert!(outcome.sets.is_empty() && !outcome.minimal);
}

#[test]
fn nothing_to_insert() {
    ends(&subject(&["SL"], &[]), &ALL, Verdict::AlreadyCorrect, None);
    let sequential = "it goes wrong under sequential consistency as well";
    ends(&subject(&["SL"], &[&[]]), &ALL, Verdict::Irreparable, Some(sequential));
    let stores = Options { kinds: FenceSet::SS, ..ALL };
    let in_order = "it goes wrong without any reordering that a fence could forbid";
    ends(&subject(&["SL"], &[&[(0, 0, 1)]]), &stores, Verdict::Irreparable, Some(in_order));
    let everywhere = "it goes wrong even with a fence at every position";
    let mut wrong: Vec<Vec<Reordering>> = (0..9).map(|i| vec![(0, i, i + 1)]).collect();
    wrong.push(vec![(1, 0, 1)]);
    let hopeless = TableSubject { wrong, ..subject(&["SSSSSSSSSS", "SL"], &[]) };
    ends(&hopeless, &stores, Verdict::Irreparable, Some(everywhere));
    let unsure = TableSubject { otherwise: Judgement::Unknown("too large".into()), ..subject(&["SL"], &[]) };
    ends(&unsure, &ALL, Verdict::Unknown, Some("too large"));
    let unsure = TableSubject { wrong: vec![vec![(0, 0, 1)]], ..unsure };
    ends(&unsure, &ALL, Verdict::Unknown, Some("too large"));
    let impatient = Options { rounds: 0, ..ALL };
    ends(&subject(&["SL"], &[&[(0, 0, 1)]]), &impatient, Verdict::Unknown, Some("no end after 0 rounds"));
}

/// Where nobody knows about cheap sets, some set is found that is known to be correct, and nothing more is claimed.
#[test]
fn what_is_known_to_be_correct_is_found() {
    let wrong: [&[Reordering]; 2] = [&[(0, 0, 1)], &[(1, 0, 1)]];
    for (sure_from, fences, minimal) in [(2, 2, true), (3, 3, false), (5, 5, false)] {
        let subject = TableSubject { sure_from, ..subject(&["SLL", "SL"], &wrong) };
        let outcome = synthesise(&subject, &Options::default());
        assert_eq!((outcome.verdict, outcome.minimal, outcome.complete), (Verdict::Repaired, minimal, false));
        let set = &outcome.sets[0];
        let program = subject.program(&merge(&set.fences));
        assert!(matches!(subject.judge_one(&program), Judgement::Correct));
        assert_eq!(set.fences.len(), fences, "{}", show(&set.fences));
        // Those that are needed are known to be.
        assert_eq!(set.prevents.iter().flatten().count(), 2);
        let reason = "whether other sets of fences are cheaper is not known: it has no end";
        assert_eq!(outcome.reason.as_deref(), (!minimal).then_some(reason));
    }
    let never = TableSubject { sure_from: 1000, ..subject(&["SLL", "SL"], &wrong) };
    ends(&never, &Options::default(), Verdict::Unknown, Some("it has no end"));
}

#[test]
fn the_number_of_sets_is_limited() {
    let subject = subject(&["SL", "SL"], &[&[(0, 0, 1), (1, 0, 1)]]);
    let outcome = synthesise(&subject, &Options { sets: 1, ..ALL });
    assert_eq!((outcome.sets.len(), outcome.complete), (1, false));
    let outcome = synthesise(&subject, &Options { sets: 3, ..ALL });
    assert_eq!((outcome.sets.len(), outcome.complete), (2, true));
}

#[test]
fn kinds_that_models_keep_are_left_out() {
    let kinds = |names: &[&str]| {
        let models: Vec<_> = names.iter().map(|name| cyrano_memory::named(name).expect("a model")).collect();
        Options::default().for_models(&models).kinds
    };
    assert_eq!(kinds(&["sc"]), FenceSet::NONE);
    assert_eq!(kinds(&["sc", "tso"]), FenceSet::SL);
    assert_eq!(kinds(&["pso"]), FenceSet::SL | FenceSet::SS);
    assert_eq!(kinds(&["tso", "rmo"]), FenceSet::FULL);
}

#[test]
fn fences_at_one_position_are_one_statement() {
    let fence = |at: usize, kind| Fence { position: Position { at, line: 1, program: None }, kind };
    let merged = merge(&[fence(7, FenceSet::LS), fence(3, FenceSet::SS), fence(7, FenceSet::LL)]);
    assert_eq!(merged, [fence(3, FenceSet::SS), fence(7, FenceSet::LL | FenceSet::LS)]);
    assert_eq!(statement(merged[1].kind), "fence(load-load, load-store)");
}
