//! Programs with verdicts worked out by hand, each after one way to get fairness wrong.

/// What it is about, a program, and whether it terminates under `sc`, `tso`, `pso` and `rmo`: one letter each, `v` if it does.
pub const NASTY: &[(&str, &str, &str)] = &[
    // What is deferred is performed some day.
    (
        "the store of a thread that has ended arrives",
        "shared x; local r; thread p { x := 1; } thread q { loop { r := x; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "the store of a thread that goes on without memory arrives",
        "shared x; local r; thread p { x := 1; loop { progress; } } thread q { loop { r := x; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "the oldest store is performed, not always another one",
        "shared x, y; local r; thread p { x := 1; loop { y := 1; r := fetch_add(y, 0); progress; } } thread q { loop { r := x; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "the oldest of each thread, not of some thread",
        "shared x, y; local r; thread p { x := 1; loop { progress; } } thread q { loop { y := 1; fence; progress; } } thread s { loop { r := x; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "a thread sees its own deferred store",
        "shared x; local r; thread p { x := 1; loop { r := x; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "a read-modify-write waits for the buffer, which empties",
        "shared x, y; local r; thread p { x := 1; y := 1; r := exchange(x, 2); } thread q { loop { r := x; if r = 2 { break; } } }",
        "vvvv",
    ),
    // A thread that can go on does.
    (
        "a local loop is not stopped",
        "shared x; local r; thread p { loop { r := x; if r = 1 { break; } } } thread q { r := 2; while r > 0 { r := r - 1; } x := 1; }",
        "vvvv",
    ),
    (
        "nor does it stop others",
        "shared x; local r; thread p { loop { progress; } } thread q { x := 1; x := 2; } thread s { loop { r := x; if r = 2 { break; } } }",
        "vvvv",
    ),
    (
        "performing stores is no step of the program",
        "shared x, y; local r; thread p { x := 1; y := 1; } thread q { loop { r := y; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "a section that stays open is entered",
        "shared x; local r; thread p { x := 1; loop { progress; } } thread q { atomic { r := x; assume r = 1; } }",
        "vvvv",
    ),
    (
        "a section that closes again and again need not be entered",
        "shared x; local r; thread p { loop { x := 1; fence; x := 0; fence; progress; } } thread q { atomic { r := x; assume r = 1; } }",
        "xxxx",
    ),
    (
        "nor a spin that looks at the wrong moments",
        "shared x; local r; thread p { loop { x := 1; fence; x := 0; fence; progress; } } thread q { loop { r := x; if r = 1 { break; } } }",
        "xxxx",
    ),
    (
        "a section that is open twice in each round still closes",
        "shared x; local r; thread p { loop { x := 1; fence; x := 2; fence; x := 0; fence; progress; } } thread q { atomic { r := x; assume r != 0; } }",
        "xxxx",
    ),
    (
        "a section that is open whatever happens is entered",
        "shared x; local r; thread p { loop { x := 1; fence; x := 2; fence; progress; } } thread q { atomic { r := x; assume r != 3; } }",
        "vvvv",
    ),
    (
        "two sections keep each other closed",
        "shared x = 1, y = 1; local r; thread p { atomic { r := x; assume r = 0; y := 0; } } thread q { atomic { r := y; assume r = 0; x := 0; } }",
        "xxxx",
    ),
    (
        "a closed section whose key comes late",
        "shared x; local r, s; thread p { r := 0; while r < 2 { r := r + 1; } x := 1; } thread q { atomic { s := x; assume s = 1; } }",
        "vvvv",
    ),
    // Choices are against the thread.
    (
        "a choice that is never taken",
        "shared x; local r; thread p { loop { choose r in 0..1; if r = 1 { break; } } }",
        "xxxx",
    ),
    (
        "a choice that an assumption takes",
        "shared x; local r; thread p { loop { choose r in 0..1; assume r = 1; if r = 1 { break; } } }",
        "vvvv",
    ),
    (
        "a choice in a section that can wait instead",
        "shared x; local r, s; thread p { atomic { choose r in 0..1; s := x; assume s = r; } }",
        "vvvv",
    ),
    // Executions that are dropped do not exist.
    (
        "a spin beside an assumption that fails",
        "shared x; local r; thread p { r := x; assume r = 1; } thread q { loop { r := 1; } }",
        "vvvv",
    ),
    (
        "a spin beside an assumption that may hold",
        "shared x, y; local r; thread p { r := x; assume r = 1; } thread q { x := 1; loop { r := y; if r = 1 { break; } } }",
        "xxxx",
    ),
    (
        "a thread that waits beside one whose assumption fails",
        "shared x; local r; thread p { r := x; assume r = 1; } thread q { atomic { r := x; assume r = 1; } }",
        "vvvv",
    ),
    // Sections that do not end.
    (
        "a section that loops until somebody else acts",
        "shared x; local r; thread p { atomic { r := 0; while r = 0 { r := x; } } } thread q { x := 1; }",
        "xxxx",
    ),
    (
        "a section that loops until it has acted itself",
        "shared x; local r; thread p { atomic { r := 0; while r < 2 { x := r + 1; r := x; } } } thread q { x := 1; }",
        "vvvv",
    ),
    (
        "a section that chooses until it is satisfied",
        "shared x; local r; thread p { atomic { r := 0; while r = 0 { choose r in 0..1; } } }",
        "xxxx",
    ),
    (
        "a section that loops if a store is late",
        "shared x, go; local r; thread p { x := 1; go := 1; } thread q { loop { r := go; if r = 1 { break; } } atomic { r := 0; while r = 0 { r := x; } } }",
        "vvxx",
    ),
    // Waiting in circles.
    (
        "after you",
        "shared f[2]; local r; thread p[2] { f[self] := 1; loop { r := f[1 - self]; if r = 0 { break; } } f[self] := 0; }",
        "xxxx",
    ),
    (
        "after you, politely",
        "shared f[2]; local r; thread p[2] { loop { f[self] := 1; fence; r := f[1 - self]; if r = 0 { break; } f[self] := 0; fence; } f[self] := 0; }",
        "xxxx",
    ),
    (
        "taking turns",
        "shared turn; local r; thread p[2] { foreach k in 0..1 { loop { r := turn; if r = self { break; } } turn := 1 - self; } }",
        "vvvv",
    ),
    (
        "taking turns for ever",
        "shared turn; local r; thread p[2] { loop { loop { r := turn; if r = self { break; } } progress; turn := 1 - self; } }",
        "vvvv",
    ),
    (
        "taking turns with one that leaves",
        "shared turn; local r; thread p[2] { loop { loop { r := turn; if r = self { break; } } progress; if self = 1 { return; } turn := 1 - self; } }",
        "xxxx",
    ),
    (
        "store buffering decides who waits",
        "shared x, y; local r; thread p { x := 1; r := y; if r = 0 { loop { r := y; if r = 2 { break; } } } } thread q { y := 1; r := x; if r = 1 { y := 2; } }",
        "vxxx",
    ),
    (
        "both may miss the other one",
        "shared x, y, z; local r; thread p { x := 1; r := y; if r = 0 { loop { r := z; if r = 1 { break; } } } } thread q { y := 1; r := x; if r = 1 { z := 1; } }",
        "vxxx",
    ),
    (
        "a flag before its data",
        "shared x, y; local r; thread p { x := 1; y := 1; } thread q { loop { r := y; if r = 1 { break; } } r := x; if r = 0 { loop { r := 1; } } }",
        "vvxx",
    ),
    (
        "a flag behind its data, by a fence",
        "shared x, y; local r; thread p { x := 1; fence(store-store); y := 1; } thread q { loop { r := y; if r = 1 { break; } } r := x; if r = 0 { loop { r := 1; } } }",
        "vvvv",
    ),
    (
        "a late store takes back what was given",
        "shared x, y; local r; thread p { x := 0; y := 1; } thread q { loop { r := y; if r = 1 { break; } } x := 1; fence; loop { r := x; if r = 1 { break; } } }",
        "vvxx",
    ),
    // Marks.
    ("a mark is passed once", "shared x; local r; thread p { progress; loop { r := x; if r = 1 { break; } } }", "xxxx"),
    (
        "a mark that is never reached is no excuse",
        "shared x; local r; thread p { loop { r := x; if r = 1 { progress; } } }",
        "xxxx",
    ),
    (
        "a mark of another thread is none of ours",
        "shared x; local r; thread p { loop { progress; } } thread q { loop { r := x; if r = 1 { break; } } }",
        "xxxx",
    ),
    ("a thread with marks may end", "shared x; local r; thread p { foreach k in 0..1 { progress; } }", "vvvv"),
    (
        "a thread with marks may be blocked",
        "shared x; local r; thread p { loop { progress; atomic { r := x; assume r = 0; x := 1; } } }",
        "xxxx",
    ),
    (
        "a mark passed only while another thread helps",
        "shared x; local r; thread p { loop { atomic { r := x; assume r = 1; x := 0; } progress; } } thread q { loop { atomic { r := x; assume r = 0; x := 1; } progress; } }",
        "vvvv",
    ),
    (
        "a mark passed only if another thread chooses to help",
        "shared x; local r, s; thread p { loop { loop { r := x; if r = 1 { break; } } progress; x := 0; fence; } } thread q { loop { choose s in 0..1; if s = 1 { x := 1; fence; } progress; } }",
        "xxxx",
    ),
    // What a thread remembers.
    (
        "a loop that counts without end or effect on others",
        "shared x; local r, s; thread p { loop { s := (s + 1) % 3; r := x; if r = 1 && s = 0 { break; } } } thread q { x := 1; }",
        "vvvv",
    ),
    (
        "a loop that looks at every second value",
        "shared x; local r, s; thread p { loop { r := x; s := x; if r != s { break; } } } thread q { foreach k in 0..2 { x := 1; x := 0; } }",
        "xxxx",
    ),
    (
        "two loops with one way in",
        "shared x, y; local r, s; thread p { loop { r := x; loop { s := y; if s = 0 { break; } } if r = 1 { break; } } } thread q { y := 1; x := 1; y := 0; }",
        "vvvv",
    ),
    // What is hard to show.
    (
        "an empty section on the way to a spin",
        "shared x; local r; thread p { atomic { skip; } loop { r := x; if r = 1 { break; } } }",
        "xxxx",
    ),
    ("empty sections for ever", "shared x; local r; thread p { loop { atomic { r := 1 - r; } } }", "xxxx"),
    (
        "empty sections with choices for ever",
        "shared x; local r; thread p { loop { atomic { choose r in 0..1; } if r = 1 { break; } } }",
        "xxxx",
    ),
    (
        "a round that begins with what another instruction deferred",
        "shared x; local r; thread p { x := 1; loop { x := 1; choose r in 0..1; if r = 1 { break; } } }",
        "xxxx",
    ),
    (
        "a round that begins with more than is deferred in it",
        "shared x, y; local r; thread p { x := 1; x := 2; x := 1; loop { x := 1; r := y; if r = 1 { break; } } }",
        "xxxx",
    ),
];
