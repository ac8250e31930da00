//! Views as certificates: another program, with other steps, accepts what is proven, refuses it with a view less, and refuses what broken saturations write.

use cyrano_certificate::{Certificate, EveryNumber, Found, Origin, check, parse, print, print_element, print_view};
use cyrano_engine::{Limits, Query, Question};
use cyrano_memory::Model;

use super::{Asked, Instance, compile};
use crate::{Crowd, Fault, one_of_each};

/// The certificate of views of size `k`, if there are some to write.
pub(super) fn written(
    source: &str,
    asked: Asked,
    model: &Model,
    k: usize,
    fault: Option<Fault>,
) -> Option<Certificate> {
    let family = compile(source, None);
    let one = one_of_each(&family);
    let property = &asked.of(&family);
    let query = Query::new(&one, model, Question::Holds(property)).expect("the question makes sense");
    let limits = Limits::default().with_looks(8);
    let crowd = Crowd::certifying(query, &family.families, &limits).unwrap_or_else(|why| panic!("{why}\n{source}"));
    let written = fault.into_iter().fold(crowd, Crowd::with_fault).written(k, &limits, &()).ok()?;
    let lines = written.views.iter().map(|view| print_view(view).into_boxed_str()).collect();
    let element = |(followed, others): &(_, Vec<_>)| print_element(followed, others).into_boxed_str();
    let elements = written.elements.iter().map(element).collect();
    let every_number = Some(EveryNumber { k, counters: written.counters, elements });
    let (found, states) = (Found::default(), (lines, written.forgets));
    let certificate = Certificate::new(Origin::default(), (&family, property), None, model, found, states);
    let certificate = Certificate { every_number, ..certificate };
    Some(parse(&print(&certificate)).unwrap_or_else(|why| panic!("it cannot be read: {why}\n{source}")))
}

/// Whether a certificate is accepted, and why not.
pub(super) fn checked(certificate: &Certificate) -> Result<(), String> {
    check(certificate, &Limits::default()).map(drop).map_err(|refused| refused.reason)
}

/// Says whether what was found has a certificate; `Err` if that is accepted or refused wrongly.
pub(super) fn certified(
    source: &str,
    (asked, model): (Asked, &Model),
    found: &crate::Found,
    instances: &[Instance],
) -> Result<bool, String> {
    let Some(certificate) = written(source, asked, model, found.k, None) else { return Ok(false) };
    let dead = instances.iter().any(|instance| instance.dead) && found.can_wait;
    let wrong = instances.iter().any(|instance| instance.wrong);
    match checked(&certificate) {
        Ok(()) if dead || wrong => return Err("a certificate of what an instance violates is accepted".to_owned()),
        Ok(()) => {}
        Err(why) if why.contains("nothing was exercised") => return Ok(false),
        // With a counter that grows for ever, few members have no end of states either.
        Err(why) if why.contains("too many states") || why.contains("runs for too long") => return Ok(false),
        Err(why) if why.contains("deadlock") && (dead || !found.deadlock_free) => return Ok(false),
        Err(why) => return Err(format!("a certificate is refused: {why}")),
    }
    for at in [0, certificate.states.len() / 2, certificate.states.len() - 1] {
        let mut less = certificate.clone();
        less.states.remove(at);
        if checked(&less).is_ok() {
            return Err(format!("a certificate without {} is accepted", certificate.states[at]));
        }
    }
    Ok(true)
}

/// What only counts is looked at anew.
#[test]
fn counters_are_not_believed() {
    let model = super::model("sc");
    let source = "threads { shared c, x; thread w[*] { local q; loop { fetch_add(c, 1); q := c; assert q > 0; fetch_add(c, -1); } } }";
    let certificate = written(source, Asked::Assertions, &model, 1, None).expect("it is proven");
    assert_eq!(checked(&certificate), Ok(()));
    let every = certificate.every_number.clone().expect("it has views");
    assert_eq!(every.counters.len(), 1);
    let with = |change: &dyn Fn(&mut EveryNumber)| {
        let mut every = every.clone();
        change(&mut every);
        checked(&Certificate { every_number: Some(every), ..certificate.clone() })
    };
    assert!(with(&|every| every.counters[0].1 = 0).is_err_and(|why| why.contains("does not only count")));
    assert!(with(&|every| every.counters.clear()).is_err_and(|why| why.contains("leads out")));
    assert!(with(&|every| every.k = 2).is_err());
    // A loop in a section takes away more than once, and an index is more than a comparison.
    for more in ["atomic { while q > 0 { fetch_add(c, -1); q := c; } }", "assert a[q] == 0;"] {
        let other = source.replace("fetch_add(c, -1); } }", &format!("{more} }} }}"));
        let other = other.replace("local q;", "local q, a[4];");
        let program = compile(&other, None);
        let checks = certificate.program.checks.clone();
        let changed = cyrano_ir::Program { checks, ..program.untold() };
        let changed = Certificate { program: changed, ..certificate.clone() };
        assert!(checked(&changed).is_err_and(|why| why.contains("does not only count")), "{other}");
    }
}

/// What broken saturations write is no proof.
#[test]
fn broken_saturations_are_refused() {
    let sources = [
        "threads { shared lock, busy; thread w[*] { local r; loop { atomic { r := lock; assume r == 0; } lock := 1;
            r := busy; assert r == 0; busy := 1; busy := 0; lock := 0; } } }",
        "threads { shared n; thread w[*] { local r; atomic { r := n; assume r < 3; n := r + 1; } assert r < 2; } }",
        "threads { shared c, x; thread w[*] { local q; loop { fetch_add(c, 1); q := c; assert q > 0; fetch_add(c, -1); } }
            thread v { local q; loop { atomic { q := c; assume q == 1; x := 1; } x := 0; } } }",
    ];
    let refused = |sources: &[&str], asked: Asked, fault: Fault| {
        let written = |source: &&str| {
            (1..=2).filter_map(|k| written(source, asked, &super::model("sc"), k, Some(fault))).collect::<Vec<_>>()
        };
        let all: Vec<Certificate> = sources.iter().flat_map(written).collect();
        assert!(all.iter().any(|certificate| checked(certificate).is_err()), "{fault:?}: {} written", all.len());
    };
    for fault in [Fault::NoExtraMember, Fault::NoTwins, Fault::HeavyMembers] {
        refused(&sources, Asked::Assertions, fault);
    }
    for fault in [Fault::NoExtraMember, Fault::NoTwins, Fault::NoComparison] {
        refused(&BLOCKS, Asked::Blocks, fault);
    }
}

/// Blocks that are atomic, or nearly.
const BLOCKS: [&str; 5] = [
    "threads { shared lock, n; thread w[*] { local r; loop { atomic a { atomic { r := lock; assume r == 0; lock := 1; }
        commit; r := n; n := (r + 1) % 3; lock := 0; } } } }",
    "threads { shared n; thread w[*] { local r; loop { atomic a { r := n; n := (r + 1) % 3; commit; } } } }",
    "threads { shared n, m; thread w[*] { local r; loop { atomic a returns r { r := n; commit; } } }
        thread v { atomic b { m := 1; commit; n := 1; } } }",
    "threads { shared c, x; thread w[*] { local q; loop { atomic a { fetch_add(c, 1); commit; q := fetch_add(c, -1);
        if q == 1 { x := 1; } } x := 0; } } }",
    "threads { shared c, x, y; thread w[*] { local q, s; loop { atomic a returns s { fetch_add(c, 1); s := x; commit;
        q := fetch_add(c, -1); if q == 1 { y := 1; } } } } }",
];

/// The serial run of a view is looked at, whatever the file says about it.
#[test]
fn serial_runs_of_views_are_not_believed() {
    let model = super::model("sc");
    let certificate = written(BLOCKS[0], Asked::Blocks, &model, 2, None).expect("it is proven");
    assert_eq!(checked(&certificate), Ok(()));
    let with = |change: &dyn Fn(&str) -> String| {
        let states = certificate.states.iter().map(|line| change(line).into_boxed_str()).collect();
        checked(&Certificate { states, ..certificate.clone() })
    };
    let cut = |line: &str| line.split(",\"ser\"").next().map_or_else(String::new, |line| format!("{line}}}"));
    assert!(with(&cut).is_err_and(|why| why.contains("serial run")));
    assert!(with(&|line| line.replace("\"in\":1", "\"in\":0")).is_err());
    assert!(with(&|line| line.replace("\"in\":1", "\"in\":4")).is_err_and(|why| why.contains("knows more")));
    assert!(with(&|line| line.replace("\"ser\":{\"m\":[0,1]", "\"ser\":{\"m\":[0,2]")).is_err());
    let every = certificate.every_number.clone().expect("it has views");
    // What a block hands on of a counter is compared, and so not only with constants.
    let counting = (1..=2).find_map(|k| written(BLOCKS[4], Asked::Blocks, &model, k, None)).expect("it is proven");
    assert_eq!(checked(&counting), Ok(()));
    let program = compile(&BLOCKS[4].replace("returns s", "returns q"), None);
    let program = cyrano_ir::Program { checks: counting.program.checks.clone(), ..program.untold() };
    let handed = Certificate { program, ..counting };
    assert!(checked(&handed).is_err_and(|why| why.contains("does not only count")));
    for k in [1, 3] {
        let every_number = Some(EveryNumber { k, ..every.clone() });
        assert!(checked(&Certificate { every_number, ..certificate.clone() }).is_err(), "{k}");
    }
}
