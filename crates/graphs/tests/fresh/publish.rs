//! Random data types whose calls publish objects in every way there is: in loops, two at once, one in another, by an element of an array, by a swap that fails, by a copy that
//! another thread makes; and write into them again afterwards.

use cyrano_ir::Program;
use proptest::prelude::*;

/// What a call does to its objects `n` and `m`; `{}` is where an order goes.
#[derive(Clone, Debug)]
pub struct Publishes {
    /// Whether the fields are atomic.
    fields: (bool, bool),
    /// What stands before the loop, in it, and behind it.
    parts: [Vec<String>; 3],
    /// When the loop ends.
    until: &'static str,
    /// What the calls that look do.
    looks: Vec<String>,
    client: &'static str,
}

/// A statement of the call that publishes.
fn own() -> impl Strategy<Value = String> {
    let field = || prop::sample::select(vec!["n->value", "n->value", "m->value"]);
    let value = || prop::sample::select(vec!["1", "2", "a"]);
    let order = || prop::sample::select(vec!["release", "release", "relaxed"]);
    let word = || prop::sample::select(vec!["top", "top", "last", "table[a]"]);
    let object = || prop::sample::select(vec!["n", "n", "m"]);
    prop_oneof![
        6 => (field(), value()).prop_map(|(field, value)| format!("{field} = {value};")),
        3 => (word(), object(), order()).prop_map(|(word, object, order)| {
            format!("atomic_store_explicit(&{word}, {object}, memory_order_{order});")
        }),
        1 => (object(), object()).prop_map(|(one, other)| format!("{one}->next = {other};")),
        1 => Just("n->next = first;".to_owned()),
        3 => Just("r = atomic_load_explicit(&go, memory_order_acquire);".to_owned()),
        1 => field().prop_map(|field| format!("r = {field};")),
        1 => Just("first = atomic_load_explicit(&top, memory_order_acquire);".to_owned()),
        2 => (word(), object(), order()).prop_map(|(word, object, order)| format!(
            "r = atomic_compare_exchange_strong_explicit(&{word}, &first, {object}, memory_order_{order}, memory_order_relaxed);"
        )),
    ]
}

/// A statement of a call that looks.
fn look() -> impl Strategy<Value = String> {
    let word = || prop::sample::select(vec!["top", "top", "last", "table[0]", "table[1]"]);
    let order = || prop::sample::select(vec!["acquire", "acquire", "relaxed"]);
    prop_oneof![
        3 => (word(), order()).prop_map(|(word, order)| format!("p = atomic_load_explicit(&{word}, memory_order_{order});")),
        3 => Just("if (p) r = 4 * r + p->value;".to_owned()),
        1 => Just("if (p && p->next) r = 4 * r + p->next->value;".to_owned()),
        2 => Just("atomic_store_explicit(&go, 1, memory_order_release);".to_owned()),
        1 => (word(), prop::sample::select(vec!["release", "relaxed"])).prop_map(|(word, order)| {
            format!("atomic_store_explicit(&{word}, p, memory_order_{order});")
        }),
        1 => Just("if (p) p->value = 3;".to_owned()),
    ]
}

pub fn publishes() -> impl Strategy<Value = Publishes> {
    let fields = prop::sample::select(vec![(false, false), (true, true), (false, true), (true, false)]);
    let part = |most: usize| prop::collection::vec(own(), 0..most);
    let until = prop::sample::select(vec!["!r", "!r", "r == 0 && first == 0"]);
    let client = prop::sample::select(vec!["( f | g )", "( f | g )", "( f | g | h )", "( f | f | g )", "f ( f | g )"]);
    let looks = (prop::collection::vec(look(), 2..5), prop::collection::vec(look(), 1..3));
    (fields, (part(3), prop::collection::vec(own(), 1..4), part(2)), until, looks, client).prop_map(
        |(fields, (before, within, behind), until, (g, h), client)| {
            let looks = vec![g.join("\n    "), h.join("\n    ")];
            Publishes { fields, parts: [before, within, behind], until, looks, client }
        },
    )
}

impl Publishes {
    /// What is always there: each call begins with fields that hold something, and `g` looks at what was published.
    pub fn source(&self) -> String {
        let next = if self.fields.0 { "_Atomic(struct node *)" } else { "struct node *" };
        let value = if self.fields.1 { "atomic_int" } else { "int" };
        let [before, within, behind] = self.parts.each_ref().map(|part| part.join("\n        "));
        let (until, g, h) = (self.until, &self.looks[0], &self.looks[1]);
        format!(
            "#include <stdatomic.h>
#include <stdlib.h>
typedef struct node {{ {next} next; {value} value; }} node_t;
_Atomic(node_t *) top;
_Atomic(node_t *) last;
_Atomic(node_t *) table[2];
atomic_int go;
int f(int a)
{{
    node_t *n = malloc(sizeof *n);
    node_t *m = malloc(sizeof *m);
    node_t *first = 0;
    int r = 0;
    n->next = 0;
    n->value = 0;
    m->next = 0;
    m->value = 0;
    {before}
    do {{
        {within}
    }} while ({until});
    {behind}
    return r;
}}
int g(void)
{{
    int r = 0;
    node_t *p = atomic_load_explicit(&top, memory_order_acquire);
    {g}
    return r;
}}
int h(void)
{{
    int r = 0;
    node_t *p = 0;
    {h}
    return r;
}}
"
        )
    }

    pub fn program(&self) -> Program {
        compiled(&self.source(), self.client)
    }

    pub fn shown(&self) -> String {
        format!("{}\n{}", self.client, self.source())
    }
}

/// A client of a data type whose calls are `f`, `g` and `h`.
pub fn compiled(source: &str, client: &str) -> Program {
    let unit = cyrano_cfront::parse(source, "type.c", &|_| None).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
    let file = cyrano_cfront::tests("f = f(in {0, 1})\ng = g()\nh = h()\n", &unit).expect("tests");
    unit.program(&file.by_notation(client).expect("a notation").expect("a client"))
        .unwrap_or_else(|why| panic!("{why:?}\n{source}"))
}
