//! Tests of `cyrano_ir::guards`.

use cyrano_ir::access::AccessKind;
use cyrano_ir::expr::EvalError;
use cyrano_ir::ids::LocId;
use cyrano_ir::program::Program;

fn program() -> Program {
    let text = "program test\nlocation x = 0\nlocation g: gap = 0\nlocation h: header = 0\nlocation a = 0\nlocation b = 0\n\
                location i: header = 0\nlocation c = 0\nlocation e: gap = 0\nlocation y = 0\n\
                array words = x of 9\narray objects = x of 9 headers\n\
                thread p\n  @0: store objects[2], 1\n  @1: halt\n";
    let program = cyrano_ir::text::parse(text).expect("the program can be read");
    cyrano_ir::verify(&program).expect("and is well formed");
    assert_eq!(
        cyrano_ir::text::parse(&cyrano_ir::text::print(&program)).as_ref(),
        Ok(&program),
        "it is written as it is read"
    );
    program
}

#[test]
fn an_object_reaches_from_its_header_to_the_next_gap_or_header() {
    let program = program();
    let headers: Vec<_> = (0..9).map(|loc| program.header(LocId(loc)).map(|header| header.0)).collect();
    assert_eq!(headers, [None, None, Some(2), Some(2), Some(2), Some(5), Some(5), None, None]);
    assert!(program.is_tied(LocId(2), LocId(4)) && program.is_tied(LocId(3), LocId(2)));
    assert!(!program.is_tied(LocId(3), LocId(4)) && !program.is_tied(LocId(2), LocId(6)));
    assert!(!program.is_tied(LocId(0), LocId(8)));
}

#[test]
fn stores_to_a_header_are_guarded_and_read_modify_writes_are_not() {
    let program = program();
    assert_eq!(program.guard(LocId(2), AccessKind::Store), Some(LocId(2)));
    assert_eq!(program.guard(LocId(2), AccessKind::Rmw), None);
    assert_eq!(program.guard(LocId(4), AccessKind::Rmw), Some(LocId(2)));
    assert_eq!(program.guard(LocId(8), AccessKind::Load), None);
}

#[test]
fn headers_and_words_are_told_apart() {
    use cyrano_ir::ids::ArrayId;
    let program = program();
    let element = |array, index| program.element(ArrayId(array), index);
    assert_eq!(element(1, 2), Ok(LocId(2)));
    assert_eq!(element(0, 3), Ok(LocId(3)));
    assert!(matches!(element(0, 2), Err(EvalError::BadPointer { .. })));
    for index in [-1, 0, 1, 3, 4, 7, 9] {
        assert_eq!(element(1, index), Err(EvalError::NotAllocated), "{index}");
    }
}
