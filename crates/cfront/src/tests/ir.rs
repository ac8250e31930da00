//! What the lowering makes: small code, spans of statements, the form that engines expect.

use cyrano_ir::{AccessKind, Op, Ty};
use expect_test::{Expect, expect};

use super::{file, program, unit};

fn check(source: &str, tests: &str, expected: &Expect) {
    let text = cyrano_ir::text::print(&program(source, tests));
    let lines: Vec<_> = text.lines().map(|line| line.split(" ; ").next().unwrap_or_default()).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn a_stack_push_is_five_accesses_and_no_copies() {
    let source = "#include <cyrano.h>\n#include <stdlib.h>
typedef struct node { struct node *next; int value; } node_t;
typedef struct { node_t *top; } stack_t;
stack_t s;
void push(stack_t *s, int v) {
    node_t *n = malloc(sizeof(node_t));
    n->value = v;
    do { n->next = s->top; } while (!cas(&s->top, n->next, n));
}";
    check(
        source,
        "p = push(&s, in {0, 1})\ntest T = ( p )\n",
        &expect![[r#"
            program test.T
            location "gap#0": gap = 0
            location s.top: pointer = 0
            location "gap#1": gap = 0
            location "node#1.next": pointer = undefined
            location "node#1.value" = undefined
            location "gap#2": gap = 0
            array memory = "gap#0" of 6
            thread thread1
              register thread1.p1.v = 0
              register %4 = undefined
              register %5 = undefined
              register %6 = undefined
              @0: thread1.p1.v := choose 0, 1
              @1: operation begin p
              @2: store "node#1.value", thread1.p1.v
              @3: %4 := load s.top
              @4: store "node#1.next", %4
              @5: %5 := load "node#1.next"
              @6: %6 := cas s.top, defined(%5), 24
              @7: branch (defined(%6) == %5) then @8 else @3
              @8: operation end
              @9: halt
            observe thread1.p1.v = thread1:thread1.p1.v
        "#]],
    );
}

#[test]
fn spans_point_to_statements_and_calls_of_stubs() {
    let source =
        "#include <cyrano.h>\nlock_t l; int x;\nvoid f(void)\n{\n    lock(&l);\n    x = 1;\n    unlock(&l);\n}\n";
    let program = program(source, "f = f()\ntest T = ( f )\n");
    let text = |op: &dyn Fn(&Op) -> bool| {
        let instr = program.threads[0].code.iter().find(|instr| op(&instr.op)).expect("there is one");
        &source[instr.span.range()]
    };
    assert_eq!(text(&|op| *op == Op::AtomicBegin), "lock(&l);");
    assert_eq!(text(&|op| matches!(op, Op::Assert { .. })), "unlock(&l);");
    let stores = program.threads[0].code.iter().filter(|instr| instr.op.access_kind() == Some(AccessKind::Store));
    let spans: Vec<_> = stores.map(|instr| &source[instr.span.range()]).collect();
    assert_eq!(spans, ["lock(&l);", "x = 1;", "unlock(&l);"]);
}

#[test]
fn memory_has_gaps_and_names() {
    let source = "#include <stdlib.h>\nstruct q { struct n *head; } q; struct n { int v[2]; }; int x;
        void f(void) { q.head = malloc(sizeof(struct n)); q.head->v[0] = 1; free(q.head); }";
    let program = program(source, "f = f()\ntest T = ( f )\n");
    let names: Vec<_> = program.locations.iter().map(|l| if l.ty == Ty::Gap { "-" } else { &l.name }).collect();
    assert_eq!(names, ["-", "q.head", "-", "x", "-", "n#1.freed", "n#1.v[0]", "n#1.v[1]", "-"]);
    assert_eq!(program.arrays[0].name, "memory");
}

#[test]
fn out_parameters_cost_no_access() {
    let source = "_Bool get(int *out) { *out = 3; return 1; }";
    let program = program(source, "g = get(out) -> ok\ntest T = ( g )\n");
    assert!(program.threads[0].code.iter().all(|instr| instr.op.access_kind().is_none()));
    let columns: Vec<_> = program.observed.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(columns, ["thread1.g1.ok", "thread1.g1.out"]);
}

#[test]
fn a_prime_cuts_retry_loops_only() {
    let source = "#include <cyrano.h>\nint x;
        void spin(void) { int i = 0; while (i < 2) i++; while (true) { int o = x; if (cas(&x, o, o + i)) return; } }";
    let unit = unit(source);
    let file = file(&unit, "s = spin()\ntest A = ( s )\ntest B = ( s' )\n");
    let loops = |name: &str| {
        let program = unit.program(file.test(name).expect("declared")).expect("fine");
        let code = &program.threads[0].code;
        let back = |at: usize, to: cyrano_ir::InstrId| usize::from(to.index() <= at);
        let count = code.iter().enumerate().map(|(at, instr)| match &instr.op {
            Op::Jump(to) => back(at, *to),
            Op::Branch { then_to, else_to, .. } => back(at, *then_to) + back(at, *else_to),
            _ => 0,
        });
        (count.sum::<usize>(), code.iter().any(|instr| matches!(instr.op, Op::Assume(_))))
    };
    assert_eq!(loops("A"), (2, false));
    assert_eq!(loops("B"), (1, true));
}
