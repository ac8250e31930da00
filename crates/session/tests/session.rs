//! A session without a command line: sources from memory, cases, verdicts, traces.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use cyrano_criteria::criterion::Progress;
use cyrano_criteria::table::Claim;
use cyrano_engine::{Counters, Verdict, Watch};
use cyrano_report::CheckReport;
use cyrano_session::frontend::{self, Tests, Wanted};
use cyrano_session::replay::replayed;
use cyrano_session::{Failure, Files, Options, Runner, Selected, Source, Subject, select};

/// Files by name.
struct Memory(BTreeMap<&'static str, &'static str>);

impl Files for Memory {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let text = self.0.get(name).ok_or_else(|| Failure::input(format!("{name}: there is no such file")))?;
        Ok(Source { name: name.to_owned(), text: (*text).to_owned(), dir: None })
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        self.open(name)
    }
}

const SB: &str = "threads { shared x, y; local a, b; \
    thread p { x := 1; a := y; } thread q { y := 1; b := x; } } check never (a = 0 && b = 0) on sc, tso;";

const COUNTER: &str = "#include \"step.h\"\nint n;\nint next(void) { int seen = n; n = seen + STEP; return seen; }\n";

const LITMUS: &str = "X86 SB\n{ x=0; y=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n \
    MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

const CLIENT: &str = "stm s { data g[vars]; local r; read(a) { r := g[a]; return r } write(a, v) { g[a] := v; } \
    end(a) { commit } }\nclient { thread p { tx { write(0, 1); write(1, 1); } } thread q { local a, b; \
    tx { a := read(0); b := read(1); } } } check atomicity;";

fn files() -> Memory {
    let tests = "n = next()\ntest T0 = ( n | n )\n";
    let all = [
        ("sb.rml", SB),
        ("n.c", COUNTER),
        ("n.tests", tests),
        ("step.h", "#define STEP 1\n"),
        ("sb.litmus", LITMUS),
        ("client.rml", CLIENT),
    ];
    Memory(all.into())
}

fn wanted(tests: Tests) -> Wanted {
    Wanted { tests, ..Wanted::default() }
}

/// Every check of a file, each done.
fn checked(file: &str, tests: Tests) -> Vec<CheckReport> {
    let files = files();
    let subjects = Subject::load(&files, file, &[], &wanted(tests), None).expect("it compiles");
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let check = |subject: &Subject| {
        let selected = select(&subject.case, &[], &[], &files).expect("there are checks");
        selected.iter().map(|check| subject.check(&runner, check, &()).expect("an answer")).collect::<Vec<_>>()
    };
    subjects.iter().flat_map(check).collect()
}

fn verdicts(reports: &[CheckReport]) -> Vec<(&str, &str, Verdict)> {
    let model = |report: &CheckReport| report.model.clone().unwrap_or_default().leak() as &str;
    reports.iter().map(|report| (report.criterion.as_str(), model(report), report.verdict)).collect()
}

#[test]
fn every_language_gives_cases() {
    use Verdict::{Verified, Violated};
    let declared = |file| checked(file, Tests::Declared);
    assert_eq!(verdicts(&declared("sb.rml")), [("never", "sc", Verified), ("never", "tso", Violated)]);
    assert_eq!(verdicts(&declared("n.c")), [("observations", "sc", Violated)]);
    assert_eq!(verdicts(&declared("sb.litmus")), [("exists", "sc", Violated)]);
    assert_eq!(verdicts(&declared("client.rml")), [("atomicity", "sc", Violated)]);
}

const TICKETS: &str = include_str!("../../../library/stm/global_ticket.rml");

/// What is going to be asked about progress is asked at once, and each property has its own answer.
#[test]
fn progress_is_asked_once() {
    let files = Memory([("t.rml", TICKETS)].into());
    let subjects = Subject::load(&files, "t.rml", &[], &wanted(Tests::Declared), None).expect("it compiles");
    let selected = select(&subjects[0].case, &[Claim::Progress(&Progress::ALL)], &[], &files).expect("checks");
    let one = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let together = one.clone().expecting(Progress::ALL);
    let mut looked = Vec::new();
    for (alone, runner) in [(true, &one), (false, &together)] {
        let looks = Looks::default();
        let reports: Vec<_> = selected.iter().map(|check| subjects[0].check(runner, check, &looks)).collect();
        let reports: Vec<_> = reports.into_iter().map(|report| report.expect("an answer")).collect();
        let verdicts: Vec<Verdict> = reports.iter().map(|report| report.verdict).collect();
        assert_eq!(verdicts, [Verdict::Violated, Verdict::Verified, Verdict::Verified], "alone: {alone}");
        assert!(reports.iter().all(|report| report.stats.is_some_and(|stats| stats.states == 1_255)));
        looked.push(looks.0.load(Ordering::Relaxed));
    }
    assert!(looked[1] > 0 && looked[0] == 3 * looked[1], "one search instead of three: {looked:?}");
}

/// Counts how often a search says how far it is.
#[derive(Default)]
struct Looks(AtomicUsize);

impl Watch for Looks {
    fn progress(&self, _: Counters) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn traces_replay_from_nothing_but_themselves() {
    let tests = [("n.c", Tests::Declared), ("n.c", Tests::UpTo { calls: 2, sequences: false })];
    for (file, tests) in tests.into_iter().chain([("client.rml", Tests::Declared), ("sb.rml", Tests::Declared)]) {
        let reports = checked(file, tests);
        let traces: Vec<_> = reports.iter().filter_map(|report| report.trace.clone()).collect();
        assert!(!traces.is_empty(), "{file}");
        for trace in traces {
            assert_eq!(replayed(trace.clone()).to_json(), trace.to_json(), "{file}");
        }
    }
}

#[test]
fn tests_are_found_by_name_and_made_by_notation() {
    let files = files();
    let names = |tests: Tests| {
        let cases = frontend::cases(&files, "n.c", &[], &wanted(tests)).map_err(|failure| format!("{failure:?}"))?;
        Ok::<_, String>(cases.iter().filter_map(|case| case.test_name()).collect::<Vec<_>>())
    };
    assert_eq!(names(Tests::Named(vec!["T*".into()])).as_deref(), Ok(&["T0".to_owned()][..]));
    assert!(names(Tests::Named(vec!["T1".into()])).is_err_and(|why| why.contains("did you mean `T0`")));
    assert_eq!(names(Tests::UpTo { calls: 2, sequences: true }).map(|names| names.len()), Ok(3));
    let none = frontend::cases(&files, "sb.rml", &[], &wanted(Tests::Named(vec!["T0".into()])));
    assert!(format!("{none:?}").contains("only C files and algorithms have tests"), "{none:?}");
}

#[test]
fn what_is_not_there_is_nothing_to_check() {
    let files = files();
    let case = frontend::case(&files, "sb.litmus", &[]).expect("it compiles");
    let criterion = Claim::from_name("opacity").expect("it is a criterion");
    let selected = select(&case, &[criterion], &[], &files).expect("nothing is wrong");
    assert!(matches!(&selected[..], [Selected::Nothing { criterion: "opacity", .. }]), "{selected:?}");
    assert!(case.frontend.fences().is_ok(), "a table of instructions has rows for fences");
}

/// Threads that store to one location and look at the next one: two ways to go each, but for one. What is asked of the end holds in no execution.
fn ring(threads: usize) -> String {
    let all: Vec<String> = (0..threads).map(|at| format!("atomic_int* x{at}")).collect();
    let thread = |at: usize| {
        let next = (at + 1) % threads;
        let [store, load] = ["atomic_store_explicit", "atomic_load_explicit"];
        let body =
            format!("{store}(x{at}, 1, memory_order_relaxed);\n  int r = {load}(x{next}, memory_order_relaxed);");
        format!("P{at}({}) {{\n  {body}\n}}\n", all.join(", "))
    };
    let threads: String = (0..threads).map(thread).collect();
    format!("C ring\n{{ }}\n{threads}exists (x0 = -1)\n")
}

/// Where states do not fit a small memory and there are fewer executions, these are looked at.
#[test]
fn few_executions_are_looked_at_instead_of_many_states() {
    for (threads, engine) in [(3, "explore"), (13, "graphs")] {
        let text: &'static str = ring(threads).leak();
        let files = Memory([("ring.litmus", text)].into());
        let subjects = Subject::load(&files, "ring.litmus", &[], &wanted(Tests::Declared), None).expect("it compiles");
        let model = cyrano_memory::named("tso").expect("a model");
        let selected = select(&subjects[0].case, &[], &[model], &files).expect("there are checks");
        let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
        let report = subjects[0].check(&runner, &selected[0], &()).expect("an answer");
        assert_eq!((report.engine.as_deref(), report.verdict), (Some(engine), Verdict::Violated), "{threads} threads");
    }
}
