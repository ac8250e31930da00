//! Certificates that somebody has tampered with are refused, or are still proofs.
//!
//! What decides is not the check. Where the program, the model and the claim are as they were, every state that the explorer reached is reachable, so a set that is
//! accepted has them all; where they are not, the explorer is asked about the new claim, with all of its reductions.

use std::cell::RefCell;
use std::collections::BTreeMap;

use cyrano_certificate::{Certificate, check, parse, parse_state, print, print_state};
use cyrano_conformance::certified::certificate;
use cyrano_conformance::compare::model;
use cyrano_conformance::{limits, pinned};
use cyrano_engine::configuration::{Deferred, Operands, Product, Value};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, Quantifier, TxCriterion, text, verify};
use proptest::prelude::*;

const PETERSON: &str = include_str!("../../../../library/litmus/peterson_fenced.rml");
const GLOBAL_LOCK: &str = include_str!("../../../../library/stm/global_lock.rml");

const LOADS: &str = "threads { shared x, y, z; local r, s, t;
    thread p { x := 1; fence(store-store); y := 1 }
    thread q { r := y; s := x + 0; t := r + s; z := t; assert t <= 2 } }
    check never (q.r = 3);";

const SECTIONS: &str = "threads { shared lock, n; local r;
    thread p[2] { atomic { r := lock; assume r = 0; lock := 1 } r := n; n := r + 1; fence(store-store); lock := 0 } }
    check always (n = 2);";

const TESTS: &str = "threads { shared x; local r;
    thread p { operation a { x := 1 } operation b { r := x } }
    thread q { operation a { x := 2 } operation b { r := x } }
    observe p.r, q.r; } check assertions;";

const BLOCKS: &str = "threads { shared m, d; local r;
    thread p[2] { loop { choose r in 0..1;
        atomic add returns r { atomic { r := m; assume r = 0; m := 1 } commit; r := d; d := 1 - r; m := 0 } } } }
    check commit-atomicity;";

/// Certificates to tamper with.
fn originals() -> Vec<Certificate> {
    let compile = |source: &str, set: &[(String, i128)]| cyrano_rml::compile(source, "a", set).expect("it compiles");
    let of = |program: &Program, property: &Property, name: &str| {
        let written = certificate((program, property), &model(name), 10_000, &limits(20.0, 3));
        written.unwrap_or_else(|why| panic!("{} on {name}: {why}", program.name))
    };
    let peterson = compile(PETERSON, &[]);
    let loads = compile(LOADS, &[]);
    let sections = compile(SECTIONS, &[]);
    let lock = compile(GLOBAL_LOCK, &[("threads".into(), 2), ("vars".into(), 1)]);
    let blocks = compile(BLOCKS, &[]);
    let serial = model("serial");
    let tests = compile(TESTS, &[]);
    let query = Query::new(&tests, &serial, Question::Outcomes).expect("a question");
    let allowed = Explore::default().ask(query, &limits(20.0, 3), &()).outcomes;
    vec![
        of(&peterson, &Property::Assertions, "tso"),
        of(&peterson, &Property::Assertions, "pso"),
        of(&loads, &Property::Assertions, "rmo"),
        of(&loads, &loads.checks[0].property, "rmo"),
        of(&sections, &Property::Assertions, "tso"),
        of(&sections, &sections.checks[0].property, "tso"),
        of(&lock, &Property::Transactions(TxCriterion::Opacity), "sc"),
        of(&tests, &Property::Observations(allowed), "sc"),
        of(&blocks, &Property::CommitAtomicity, "sc"),
        of(&blocks, &Property::CommitAtomicity, "tso"),
    ]
}

/// Random numbers for one mutant.
#[derive(Clone, Copy)]
struct Luck([u32; 4]);

impl Luck {
    /// One of so many; nothing of none.
    fn pick(self, which: usize, of: usize) -> Option<usize> {
        (of > 0).then(|| self.0[which] as usize % of)
    }

    fn number(self, which: usize) -> i128 {
        i128::from(self.0[which] % 5) - 1
    }
}

/// Another value than this one.
fn other(value: i128, luck: Luck) -> i128 {
    let new = luck.number(3);
    if new == value { new + 1 } else { new }
}

/// Changes something in a state; nothing if it has no such thing.
type Change = fn(&mut Product, Luck) -> Option<()>;

const CHANGES: [(&str, Change); 16] = [
    ("a value in memory", |state, luck| {
        let at = luck.pick(1, state.at.memory.len())?;
        state.at.memory[at] = other(state.at.memory[at], luck);
        Some(())
    }),
    ("a register", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.registers.len())?;
        let Value::Known(value) = lane.registers[at] else { return None };
        lane.registers[at] = Value::Known(other(value, luck));
        Some(())
    }),
    ("a register is forgotten", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.registers.len())?;
        (lane.registers[at] != Value::Forgotten).then(|| lane.registers[at] = Value::Forgotten)
    }),
    ("a forgotten register comes back", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.registers.len())?;
        (lane.registers[at] == Value::Forgotten).then(|| lane.registers[at] = Value::Known(luck.number(3)))
    }),
    ("a program counter", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        lane.pc.0 = lane.pc.0.wrapping_add(1 + luck.0[2] % 3);
        Some(())
    }),
    ("an entry is lost", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        luck.pick(2, lane.queue.len()).map(|at| _ = lane.queue.remove(at))
    }),
    ("entries change places", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.queue.len().saturating_sub(1))?;
        lane.queue.swap(at, at + 1);
        Some(())
    }),
    ("an operand", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.queue.len())?;
        let Deferred::Op(entry) = &mut lane.queue[at] else { return None };
        let Operands::Known(values) = &mut entry.operands else { return None };
        values.first_mut().map(|value| *value = other(*value, luck))
    }),
    ("a section ends elsewhere", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.queue.len())?;
        let Deferred::Op(entry) = &mut lane.queue[at] else { return None };
        entry.chained = !entry.chained;
        Some(())
    }),
    ("a transaction ends elsewhere", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.queue.len())?;
        let Deferred::Op(entry) = &mut lane.queue[at] else { return None };
        entry.stale = !entry.stale;
        Some(())
    }),
    ("a fence", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        let at = luck.pick(2, lane.queue.len())?;
        let Deferred::Fence(kinds) = &mut lane.queue[at] else { return None };
        let new = cyrano_ir::FenceSet::from_bits(luck.0[3] as u8);
        (new != *kinds).then(|| *kinds = new)
    }),
    ("memory of the serial run", |state, luck| {
        let way = state.serial.as_mut()?.ways.first_mut()?;
        let at = luck.pick(1, way.memory.len())?;
        way.memory[at] = other(way.memory[at], luck);
        Some(())
    }),
    ("a thread of the serial run", |state, luck| {
        let way = state.serial.as_mut()?.ways.first_mut()?;
        let copy = luck.pick(1, way.threads.len()).map(|at| &mut way.threads[at])?;
        match luck.0[2] % 3 {
            0 => copy.pc.0 = copy.pc.0.wrapping_add(1),
            1 if copy.owed.is_empty() => copy.owed.push((copy.pc, vec![luck.number(3)])),
            1 => _ = copy.owed.pop(),
            _ => {
                let Value::Known(value) = copy.registers.first_mut()? else { return None };
                *value = other(*value, luck);
            }
        }
        Some(())
    }),
    ("a choice of the serial run", |state, luck| {
        let chosen = &mut state.serial.as_mut()?.chosen;
        let at = luck.pick(1, chosen.len())?;
        chosen[at].pop().is_none().then(|| chosen[at].push(luck.number(3)));
        Some(())
    }),
    ("a mark of a unit", |state, luck| {
        let lane = luck.pick(1, state.at.threads.len()).map(|at| &mut state.at.threads[at])?;
        match lane.queue.iter().position(|deferred| matches!(deferred, Deferred::Mark(_))) {
            Some(at) if luck.0[2] % 2 == 0 => _ = lane.queue.remove(at),
            _ => {
                state.serial.as_ref()?;
                lane.latest_done = !lane.latest_done;
            }
        }
        Some(())
    }),
    ("the monitor", |state, luck| {
        let at = luck.pick(1, state.monitor.len())?;
        state.monitor[at] ^= 1 << (luck.0[2] % 8);
        Some(())
    }),
];

/// Changes to anything but the states.
type Rewrite = fn(&mut Certificate, Luck) -> Option<()>;

const REWRITES: [(&str, Rewrite); 6] = [
    ("the model", |certificate, luck| {
        let models = cyrano_memory::all();
        let new = &models[luck.pick(0, models.len())?];
        certificate.program.checks[0].models = vec![new.name.clone()];
        (new.name != certificate.model.name).then(|| certificate.model = new.clone())
    }),
    ("the claim", |certificate, luck| {
        let allowed = (0..=luck.0[1] % 3).map(|row| vec![luck.number(2) + i128::from(row); 2]).collect();
        let new = match (luck.0[0] % 4, &certificate.program.checks[0].property) {
            (0, Property::Assertions) => Property::Observations(allowed),
            (1, Property::Final { cond, text, .. }) => {
                Property::Final { quantifier: Quantifier::Never, cond: cond.clone(), text: text.clone() }
            }
            (2, Property::Final { cond, text, .. }) => {
                Property::Final { quantifier: Quantifier::Always, cond: cond.clone(), text: text.clone() }
            }
            (_, Property::Observations(old)) => {
                let mut new = old.clone();
                new.extend(allowed);
                luck.pick(3, new.len() + 1).and_then(|at| new.iter().nth(at).cloned()).map(|row| new.remove(&row));
                Property::Observations(new)
            }
            (_, Property::Transactions(_)) => Property::Transactions(TxCriterion::StrictSerializability),
            _ => Property::Assertions,
        };
        (new != certificate.program.checks[0].property).then(|| certificate.program.checks[0].property = new)
    }),
    ("the program", |certificate, luck| {
        let mut source = text::print(&certificate.program).into_bytes();
        // What stands behind a semicolon says where in the source something is, and changes nothing.
        let line = |at: usize| source[..at].iter().rev().take_while(|byte| **byte != b'\n');
        let says = |at: &usize| source[*at].is_ascii_digit() && !line(*at).any(|byte| *byte == b';');
        let digits: Vec<usize> = (0..source.len()).filter(says).collect();
        let at = digits[luck.pick(0, digits.len())?];
        let new = b'0' + (luck.0[1] % 4) as u8;
        (new != source[at]).then(|| source[at] = new)?;
        let changed = text::parse(std::str::from_utf8(&source).ok()?).ok()?;
        verify(&changed).is_ok().then(|| certificate.program = changed)
    }),
    ("an initial value", |certificate, luck| {
        let locations = &mut certificate.program.locations;
        let at = luck.pick(0, locations.len())?;
        locations[at].init = other(locations[at].init, luck);
        Some(())
    }),
    ("what is forgotten", |certificate, luck| {
        let rows = luck.pick(0, certificate.forgets.len()).map(|at| &mut certificate.forgets[at])?;
        let row = luck.pick(1, rows.len()).map(|at| &mut rows[at].1)?;
        match luck.0[2] % 2 {
            0 => row.push(cyrano_ir::RegId(luck.0[3] % 4)),
            _ => _ = row.pop(),
        }
        Some(())
    }),
    ("all states", |certificate, _| {
        certificate.states.clear();
        Some(())
    }),
];

/// The kinds of mutants: a state is lost; a state changes; a state is added; something else changes.
fn mutate(original: &Certificate, kind: usize, luck: Luck) -> Option<(String, Certificate)> {
    let mut mutant = original.clone();
    let at = luck.pick(0, mutant.states.len())?;
    if kind == 0 {
        mutant.states.remove(at);
        return Some(("a state is lost".into(), mutant));
    }
    let (kind, rewrites) = (kind - 1, REWRITES.len());
    if kind < rewrites {
        let (what, rewrite) = REWRITES[kind];
        rewrite(&mut mutant, luck)?;
        return Some((what.into(), mutant));
    }
    let kind = kind - rewrites;
    let (what, change) = CHANGES[kind / 2 % CHANGES.len()];
    let mut state = parse_state(&mutant.states[at]).expect("a state");
    change(&mut state, luck)?;
    let line = print_state(&state).into_boxed_str();
    if kind % 2 == 0 {
        mutant.states[at] = line;
        return Some((format!("{what}, changed"), mutant));
    }
    mutant.states.push(line);
    Some((format!("{what}, added"), mutant))
}

/// Whether an accepted mutant is a proof.
fn is_proof(original: &Certificate, mutant: &Certificate) -> Result<(), String> {
    let same = original.program == mutant.program && original.model == mutant.model;
    if same && original.forgets == mutant.forgets {
        let missing = original.states.iter().find(|state| mutant.states.binary_search(state).is_err());
        return missing.map_or(Ok(()), |state| Err(format!("it has lost {state}")));
    }
    let property = mutant.property().expect("a claim");
    if let Property::Observations(allowed) = property {
        let serial = model("serial");
        let query = Query::new(&mutant.program, &serial, Question::Outcomes).map_err(|why| why.to_string())?;
        let outcomes = Explore::default().ask(query, &limits(20.0, 3), &()).outcomes;
        if !allowed.is_subset(&outcomes) {
            return Err("it allows what is not serial".into());
        }
    }
    let query = Query::new(&mutant.program, &mutant.model, Question::Holds(property)).map_err(|why| why.to_string())?;
    let answer = Explore::default().ask(query, &limits(20.0, 3), &());
    match answer.verdict {
        Verdict::Verified => Ok(()),
        // That one transaction does all that is asked for is not for states to say.
        Verdict::Vacuous if matches!(property, Property::Transactions(_)) => Ok(()),
        verdict => Err(format!("the explorer says {} ({:?})", verdict.name(), answer.reason)),
    }
}

#[test]
fn mutants_are_refused_or_proofs() {
    let originals = originals();
    for original in &originals {
        check(original, &limits(20.0, 3)).unwrap_or_else(|why| panic!("{why:#?}"));
    }
    // For each kind how many were no certificates, refused, accepted.
    let tally: RefCell<BTreeMap<String, [usize; 3]>> = RefCell::default();
    let kinds = 1 + REWRITES.len() + 2 * CHANGES.len();
    let strategy = (0..originals.len(), 0..kinds, any::<[u32; 4]>());
    let cases = if pinned::long() { 200_000 } else { 6_000 };
    let result = pinned::runner(cases, file!()).run(&strategy, |(at, kind, luck)| {
        let original = &originals[at];
        let Some((what, mutant)) = mutate(original, kind, Luck(luck)) else { return Ok(()) };
        let fate = match parse(&print(&mutant)) {
            Err(_) => 0,
            Ok(read) => match check(&read, &limits(20.0, 3)) {
                Err(refused) => {
                    prop_assert!(!refused.reason.is_empty() && refused.stopped.is_none());
                    1
                }
                Ok(_) => {
                    let proof = is_proof(original, &read);
                    prop_assert!(proof.is_ok(), "{what}: accepted, but {}", proof.unwrap_err());
                    2
                }
            },
        };
        tally.borrow_mut().entry(what).or_default()[fate] += 1;
        Ok(())
    });
    result.unwrap_or_else(|why| panic!("{why}"));
    let tally = tally.into_inner();
    let sum = |fate: usize| tally.values().map(|fates| fates[fate]).sum::<usize>();
    assert!(tally.len() >= 20 && sum(1) >= 1500, "{tally:#?}");
    // What has lost a state proves nothing any more; what is added may do no harm.
    for (what, [_, refused, accepted]) in &tally {
        let harmless = what.ends_with("added")
            || ["the program", "the claim", "the model", "an initial value", "what is forgotten"]
                .contains(&what.as_str());
        assert!(*accepted == 0 || harmless, "{what}: {accepted} accepted");
        assert!(*refused > 0 || harmless || tally[what][0] > 0, "{what}: none refused");
    }
}

/// Texts that nobody would take for a certificate, and some that one might: an error each, never a panic.
#[test]
fn bad_files_are_errors() {
    let originals = originals();
    let strategy = (0..originals.len(), any::<[u32; 4]>(), 0..4usize);
    let texts: Vec<String> = originals.iter().map(print).collect();
    let result = pinned::runner(1_500, file!()).run(&strategy, |(at, luck, kind)| {
        let mut bytes = texts[at].clone().into_bytes();
        let place = luck[0] as usize % bytes.len();
        match kind {
            0 => bytes.truncate(place),
            1 => bytes[place] = luck[1] as u8 & 0x7f,
            2 => _ = bytes.splice(place..place, std::iter::repeat_n(b'[', 1 << (luck[1] % 16))),
            _ => {
                let to = (place + luck[1] as usize % 40).min(bytes.len());
                bytes.drain(place..to);
            }
        }
        let Ok(mutant) = std::str::from_utf8(&bytes) else { return Ok(()) };
        let cut = mutant.len() + 1 >= texts[at].len() && texts[at].starts_with(mutant);
        prop_assert!(mutant == texts[at] || cut || parse(mutant).is_err(), "a damaged file was read");
        Ok(())
    });
    result.unwrap_or_else(|why| panic!("{why}"));
    for text in ["", "\n", "{}", "null", "[[[[", "{\"schema\":\"cyrano.certificate/2\"}"] {
        assert!(parse(text).is_err(), "{text}");
    }
    for number in ["99999999999999999999999999999999999999999", "-1", "1e400", "\"x\"", "[]", "{}"] {
        let text = texts[0].replacen("\"m\":[0,", &format!("\"m\":[{number},"), 1);
        assert!(parse(&text).is_err(), "{number}");
    }
}
