//! Tests of `cyrano_ir::blocks`.

use cyrano_ir::blocks::*;
use cyrano_ir::ids::InstrId;
use cyrano_ir::op::Op;
use cyrano_ir::program::Thread;
use cyrano_ir::program::{Instr, Place};
use cyrano_ir::{Addr, Expr, LocId, RegId, Span};

/// A thread from words: `{`, `!` commit, `}`, `a` access, `c` choice, `?N` perhaps go to N, `>N` go to N, `.` halt.
fn thread(text: &str) -> Thread {
    let reg = Place::Reg(RegId(0));
    let op = |word: &str| match word.split_at(1) {
        ("{", _) => Op::BlockBegin("b".into()),
        ("!", _) => Op::BlockCommit,
        ("}", _) => Op::BlockEnd(vec![]),
        ("a", _) => Op::store(Addr::Fixed(LocId(0)), Expr::Const(1)),
        ("c", _) => Op::Choose { dst: reg.clone(), from: vec![0, 1] },
        (">", to) => Op::Jump(InstrId(to.parse().unwrap())),
        (".", _) => Op::Halt,
        _ => unreachable!("{word}"),
    };
    let words: Vec<&str> = text.split(' ').collect();
    let code = words.iter().enumerate().map(|(pc, word)| match word.strip_prefix('?') {
        Some(to) => Op::Branch {
            cond: Expr::Var(reg.clone()),
            then_to: InstrId(to.parse().unwrap()),
            else_to: InstrId::new(pc + 1),
        },
        None => op(word),
    });
    Thread { code: code.map(|op| Instr { op, span: Span::default() }).collect(), ..Thread::default() }
}

fn check(text: &str, expected: &[(u32, BlockProblem)]) {
    let thread = thread(text);
    let found = Blocks::of(&thread).problems(&thread);
    let expected: Vec<_> = expected.iter().map(|(pc, problem)| (InstrId(*pc), *problem)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn one_commit_on_every_path() {
    check("{ a ! a } .", &[]);
    check("{ a } .", &[]);
    // A loop that tries again until it commits.
    check("{ a ?4 >1 ! } .", &[]);
    // Two ways, each with its own commit point.
    check("{ a ?5 ! >6 ! } .", &[]);
    // Two ends, the first of them in the text before its commit point.
    check("{ a >5 } . ! ?3 a } .", &[]);
}

#[test]
fn what_is_wrong() {
    use BlockProblem::*;
    check("{ a ?4 ! } .", &[(4, NoCommit)]);
    check("{ a ! a ! } .", &[(4, CommitsTwice)]);
    check("{ a ! ?1 } .", &[(2, CommitsTwice)]);
    check("{ ! a } .", &[(1, NothingCommits)]);
    check("{ a c ! } .", &[(3, ChoiceCommits)]);
    check("{ a { a ! } } .", &[(2, Nested), (6, Outside)]);
    check("a ! .", &[(1, Outside)]);
    check("{ a ! .", &[(3, Unfinished)]);
}

#[test]
fn phases() {
    let blocks = Blocks::of(&thread("a { a ! a } a ."));
    let inside: Vec<bool> = (0..8).map(|pc| blocks.inside(InstrId(pc))).collect();
    assert_eq!(inside, [false, false, true, true, true, true, false, false]);
    assert!(blocks.uncommitted(InstrId(3)) && !blocks.uncommitted(InstrId(4)));
}
