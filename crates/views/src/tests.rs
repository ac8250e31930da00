//! No wrong claim: random families of threads, whose instances are searched with the whole step function.

mod certificates;
mod programs;
mod random;

use cyrano_engine::{Limits, Query, Question};
use cyrano_explore::members::{Members, MembersWalker, Noted, Whole};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;
use rustc_hash::FxHashSet;

use crate::{Crowd, End, Fault, Found, Refuted, View, one_of_each};

/// A family program, and its instance with so many members of each family.
fn compile(source: &str, members: Option<usize>) -> Program {
    let threads = members.map_or(cyrano_rml::Threads::AsWritten, |n| cyrano_rml::Threads::Each(n as u32));
    let compiled = cyrano_rml::compile_sized(source, "test", &[], threads);
    compiled.unwrap_or_else(|error| panic!("{error:?}\n{source}")).program
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("it is a named model")
}

/// What is asked about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Assertions,
    Blocks,
    /// The invariant that it claims.
    Invariant,
}

impl Asked {
    fn of(self, program: &Program) -> Property {
        match self {
            Self::Assertions => Property::Assertions,
            Self::Blocks => Property::CommitAtomicity,
            Self::Invariant => program.checks[0].property.clone(),
        }
    }
}

/// The views of size `k`.
fn views(source: &str, asked: Asked, model: &Model, k: usize, fault: Option<Fault>) -> (Found, Vec<View>) {
    let family = compile(source, None);
    let one = one_of_each(&family);
    let property = &asked.of(&family);
    let query = Query::new(&one, model, Question::Holds(property)).expect("the question makes sense");
    // A limit of work, so that tests do the same everywhere.
    let limits = Limits::default().with_looks(8);
    let crowd = Crowd::new(query, &family.families, &limits).unwrap_or_else(|why| panic!("{why}\n{source}"));
    let crowd = fault.into_iter().fold(crowd, Crowd::with_fault);
    let (found, views) = crowd.views(k, &limits, &());
    if found.end == End::Proven && found.noted == Noted::default() {
        let checked = crowd.check(k, &views, &Limits::default());
        let is_bug = fault.is_some_and(|fault| fault != Fault::Alone);
        assert!(is_bug || checked.is_ok(), "{checked:?} for k = {k}\n{source}");
    }
    (found, views)
}

/// What the independent check says about views of size `k`, where `change` has been at work.
fn checked(
    source: &str,
    asked: Asked,
    k: usize,
    fault: Option<Fault>,
    change: impl Fn(&mut Vec<View>),
) -> Option<Refuted> {
    let family = compile(source, None);
    let (one, model) = (one_of_each(&family), model("sc"));
    let property = &asked.of(&family);
    let query = Query::new(&one, &model, Question::Holds(property)).expect("the question makes sense");
    let crowd = Crowd::new(query, &family.families, &Limits::default()).unwrap_or_else(|why| panic!("{why}"));
    let crowd = fault.into_iter().fold(crowd, Crowd::with_fault);
    let (found, mut views) = crowd.views(k, &Limits::default(), &());
    assert_eq!(found.end, End::Proven);
    change(&mut views);
    crowd.check(k, &views, &Limits::default()).err()
}

/// What an instance does.
struct Instance {
    /// Its states, each with the number of members in blocks.
    states: Vec<View>,
    wrong: bool,
    /// Whether it has a deadlock.
    dead: bool,
    /// How many members it has.
    members: usize,
}

/// All states of the instance with `n` members of each family, if they are not too many.
fn instance(source: &str, asked: Asked, model: &Model, (n, k): (usize, usize), most: usize) -> Option<Instance> {
    let family = compile(source, None);
    let program = compile(source, Some(n));
    let property = &asked.of(&program);
    let query = Query::new(&program, model, Question::Holds(property)).expect("the question makes sense");
    let named = |name: &str| family.families.iter().position(|f| name.strip_prefix(&f.name).is_some_and(is_index));
    let families = program.threads.iter().map(|thread| named(&thread.name)).collect();
    let members = Members::new(query, families, &Limits::default());
    let mut walker = members.walker(k - 1);
    let Whole { states, wrong, dead } = walker.reachable(most)?;
    let states = states.into_iter().map(|(global, members)| counted(&mut walker, property, global, members)).collect();
    Some(Instance { states, wrong, dead, members: n * family.families.len() })
}

fn is_index(rest: &str) -> bool {
    rest.starts_with('[')
}

fn counted(
    walker: &mut MembersWalker<'_>,
    property: &Property,
    mut global: Vec<u8>,
    members: Vec<(usize, Vec<u8>)>,
) -> View {
    let blocks = *property == Property::CommitAtomicity;
    let inside = members.iter().filter(|(family, member)| blocks && !walker.is_outside(*family, member)).count();
    global.push(inside as u8);
    (global, members)
}

/// The views of size `k` of a state; numbers of members in blocks from `cap` on are one.
fn views_of((global, members): &View, k: usize, cap: u8) -> Vec<View> {
    let mut global = global.clone();
    let inside = global.last_mut().expect("a global part has this number");
    *inside = (*inside).min(cap);
    let mut all: Vec<Vec<(usize, Vec<u8>)>> = vec![Vec::new()];
    for _ in 0..k {
        let longer = |chosen: &Vec<(usize, Vec<u8>)>| {
            let left = members.iter().filter(|member| {
                let count = |all: &[(usize, Vec<u8>)]| all.iter().filter(|other| other == member).count();
                count(chosen) < count(members) && chosen.last().is_none_or(|last| last <= *member)
            });
            left.map(|member| [chosen.clone(), vec![member.clone()]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
        all.sort();
        all.dedup();
    }
    all.into_iter().map(|members| (global.clone(), members)).collect()
}

/// Complains if an instance has a view that is missing, or goes wrong though it was proven that none does. What was compared.
fn compare(found: &Found, views: &FxHashSet<View>, instance: &Instance) -> Result<usize, String> {
    if found.end != End::Proven || found.noted.bounded {
        return Ok(0);
    }
    if instance.wrong {
        return Err(format!("views of k = {} prove what an instance violates", found.k));
    }
    if found.deadlock_free && instance.dead && instance.members > found.k {
        return Err(format!("a deadlock that views of k = {} exclude", found.k));
    }
    let mut compared = 0;
    for state in &instance.states {
        for view in views_of(state, found.k, found.k as u8 + 1) {
            compared += 1;
            if !views.contains(&view) {
                return Err(format!("a view of k = {} is missing: {view:?}", found.k));
            }
        }
    }
    Ok(compared)
}
