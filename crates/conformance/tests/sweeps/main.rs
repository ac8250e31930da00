//! A sweep over all clients of a size blames exactly the clients that are wrong: each of them is written down, checked on its own, and
//! the two sets are compared, for mutants of small memories and of the library's, in every mode.

mod memories;

use std::collections::BTreeSet;

use cyrano_conformance::limits;
use cyrano_criteria::values::Call;
use cyrano_engine::values::Calls;
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::confirm;
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;
use cyrano_rml::algorithm::tests;
use memories::{MEMORIES, Memory};

/// The calls of each thread of a client, transaction by transaction.
type Client = Calls;

/// How large clients are: operations of each transaction, and transactions of each thread.
#[derive(Clone, Copy)]
struct Size {
    txns: usize,
    ops: usize,
    locs: u8,
}

fn model(name: &str) -> Model {
    cyrano_memory::named(name).expect("a model")
}

/// All programs of one thread; every write has its own value.
fn programs(thread: usize, size: Size) -> Vec<Vec<Vec<Call>>> {
    let mut all: Vec<Vec<Vec<Call>>> = vec![vec![]];
    for txn in 0..size.txns {
        let mut transactions: Vec<Vec<Call>> = vec![vec![]];
        for op in 0..size.ops {
            let value = (thread * size.txns * size.ops + txn * size.ops + op + 1) as i128;
            let calls = (0..size.locs).flat_map(|loc| [Call::Read(loc), Call::Write(loc, value)]);
            let calls: Vec<Call> = calls.collect();
            let longer =
                |begun: &Vec<Call>| calls.iter().map(|call| [&begun[..], &[*call]].concat()).collect::<Vec<_>>();
            transactions = transactions.iter().flat_map(longer).collect();
        }
        transactions.iter_mut().for_each(|calls| calls.push(Call::Commit));
        let longer = |begun: &Vec<Vec<Call>>| {
            transactions.iter().map(|calls| [&begun[..], std::slice::from_ref(calls)].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// A client as it is written; `spell` writes a location.
fn written(name: &str, client: &Client, spell: &dyn Fn(u8) -> String) -> String {
    let call = |call: &Call| match call {
        Call::Read(loc) => format!("read({});", spell(*loc)),
        Call::Write(loc, value) => format!("write({}, {value});", spell(*loc)),
        Call::Commit => "commit();".to_owned(),
    };
    let transaction = |calls: &Vec<Call>| format!("tx {{ {} }}", calls.iter().map(call).collect::<Vec<_>>().join(" "));
    let thread = |transactions: &Vec<Vec<Call>>| {
        format!("thread {{ {} }}", transactions.iter().map(transaction).collect::<Vec<_>>().join(" "))
    };
    format!("client {name} {{ {} }}\n", client.iter().map(thread).collect::<Vec<_>>().join(" "))
}

/// Whether a thread begins with these calls; what an aborted transaction would still have called does not matter.
fn begins(program: &[Vec<Call>], made: &[Vec<Call>]) -> bool {
    made.len() <= program.len() && made.iter().zip(program).all(|(made, all)| all.starts_with(made))
}

fn ask(program: &Program, model: &Model, explore: &Explore) -> cyrano_engine::Answer {
    let property = Property::Transactions(TxCriterion::Opacity);
    let query = Query::new(program, model, Question::Holds(&property)).expect("a question");
    let answer = explore.ask(query, &limits(60.0, 2), &());
    if let (Some(violation), Some(execution)) = (&answer.violation, &answer.execution) {
        confirm(program, model, &property, Some(violation), execution).expect("the violation is replayed");
    }
    answer
}

/// The calls that went wrong in a sweep.
fn sweep(source: &str, size: Size, model: &Model) -> BTreeSet<Client> {
    let Size { txns, ops, locs } = size;
    let text = format!("{source}\ncheck opacity for clients threads 2, txns {txns}, ops {ops}, locs {locs};");
    let compiled = tests("sweep", &text, &[]).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let program = &compiled[0].program;
    let told = Explore { client_programs: true, client_symmetry: false, ..Explore::default() };
    let answer = ask(program, model, &told);
    let judged = matches!(answer.verdict, Verdict::Verified | Verdict::Violated | Verdict::Vacuous);
    assert!(judged && (answer.reason.is_none() || answer.verdict == Verdict::Vacuous), "{:?}", answer.reason);
    let plain = ask(program, model, &Explore::default()).verdict;
    assert_eq!(plain == Verdict::Violated, !answer.clients.is_empty(), "the verdict and the clients\n{source}");
    answer.clients
}

/// Whether a client, spelled like this, is wrong.
fn is_wrong(source: &str, client: &Client, model: &Model, spell: &dyn Fn(u8) -> String) -> bool {
    let text = format!("{source}\n{}check opacity;", written("P", client, spell));
    let compiled = tests("named", &text, &[]).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let answer = ask(&compiled[0].program, model, &Explore::default());
    match answer.verdict {
        // Nothing commits, and nothing is wrong.
        Verdict::Verified | Verdict::Vacuous => false,
        Verdict::Violated => true,
        other => panic!("{other:?} {:?}\n{text}", answer.reason),
    }
}

/// Compares the sweep with each client; how many of them are wrong, and how many there are.
fn compare(name: &str, source: &str, size: Size, mode: &str) -> (usize, usize) {
    let model = model(mode);
    let found = sweep(source, size, &model);
    let (first, second) = (programs(0, size), programs(1, size));
    let clients = first.iter().flat_map(|a| second.iter().map(move |b| vec![a.clone(), b.clone()]));
    let (mut wrong, mut compared) = (0, 0);
    for client in clients {
        let blamed = found.iter().any(|made| made.iter().zip(&client).all(|(made, own)| begins(own, made)));
        let named = is_wrong(source, &client, &model, &|loc| loc.to_string());
        assert_eq!(blamed, named, "{name} on {mode}: the sweep says {blamed} of {client:?}\n{source}");
        wrong += usize::from(named);
        compared += 1;
    }
    (wrong, compared)
}

/// All mutants of a memory, each with its number.
fn mutants(memory: &Memory) -> Vec<String> {
    let mutate = |edits: &&[(&str, &str)]| {
        edits.iter().fold(memory.text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{}: `{from}`", memory.name);
            text.replace(from, to)
        })
    };
    memory.mutants.iter().map(mutate).collect()
}

/// Sizes with 16 clients, all of which are compared: two operations on one location, and one on each of two.
const SIZES: [Size; 2] = [Size { txns: 1, ops: 2, locs: 1 }, Size { txns: 1, ops: 1, locs: 2 }];

/// Compares all clients of these sizes, for every mutant.
fn compare_all(mode: &str, sizes: &[Size]) {
    let (mut some, mut wrong, mut compared, mut number) = (0, 0, 0, 0);
    for memory in MEMORIES {
        for mutant in mutants(memory) {
            let of_size = |size: &Size| compare(memory.name, &mutant, *size, mode);
            let (bad, all) = sizes.iter().map(of_size).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
            number += 1;
            some += usize::from(bad > 0);
            wrong += bad;
            compared += all;
        }
    }
    assert!(number >= 20 && some >= 5 && wrong < compared, "{number} mutants, {some} wrong, {wrong} of {compared}");
}

#[test]
fn a_sweep_blames_the_clients_that_are_wrong_in_order() {
    compare_all("inorder", &SIZES);
    compare_all("inorder", &[Size { txns: 2, ops: 1, locs: 1 }]);
}

#[test]
fn a_sweep_blames_the_clients_that_are_wrong_out_of_order() {
    compare_all("declared", &SIZES);
}

#[test]
fn a_sweep_blames_the_clients_that_are_wrong_by_the_letter() {
    compare_all("literal", &SIZES);
}
