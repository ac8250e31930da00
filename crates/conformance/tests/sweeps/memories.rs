//! Small transactional memories, and what can be wrong with them.

/// A memory and its mutants: each a list of replacements, the first one of none.
pub struct Memory {
    pub name: &'static str,
    pub text: &'static str,
    pub mutants: &'static [&'static [(&'static str, &'static str)]],
}

pub const MEMORIES: &[Memory] = &[
    Memory {
        name: "direct",
        text: "algorithm Direct(locs = 2) {
    shared r: AtomicRegister[locs] = 0, l: TryLock[locs];
    txlocal uset: Map;
    method read(i) {
        R01: if (i in uset) { R02: v := r[i].read(); R03: return v; }
        R04: got := l[i].tryLock();
        R05: if (!got) { R06: return abort(); }
        R07: v := r[i].read();
        R08: uset.put(i, v);
        R09: return v;
    }
    method write(i, v) {
        W01: if (i not in uset) {
            W02: got := l[i].tryLock();
            W03: if (!got) { W04: return abort(); }
            W05: old := r[i].read();
            W06: uset.put(i, old);
        }
        W07: r[i].write(v);
        W08: return ok;
    }
    method commit() { C01: foreach (i in uset) { C02: l[i].unlock(); } C03: return committed; }
    method abort() {
        A01: foreach (i -> old in uset) { A02: r[i].write(old); A03: l[i].unlock(); }
        A04: return aborted;
    }
}",
        mutants: &[
            &[],
            &[("R05: if (!got) { R06: return abort(); }", "")],
            &[
                ("W03: if (!got) { W04: return abort(); }", ""),
                ("A03: l[i].unlock();", ""),
                ("C02: l[i].unlock();", ""),
            ],
            &[("A02: r[i].write(old); ", "")],
            &[("A02: r[i].write(old); A03: l[i].unlock();", "A03: l[i].unlock(); A02: r[i].write(old);")],
            &[
                ("R04: got := l[i].tryLock();\n        R05: if (!got) { R06: return abort(); }\n", ""),
                ("R08: uset.put(i, v);", ""),
            ],
        ],
    },
    Memory {
        name: "two slots",
        text: "algorithm Slots(locs = 2) {
    shared a: AtomicRegister[locs + 1] = 0;
    txlocal n: int = 0, seen: Map;
    method read(i) {
        R01: v := a[i].read();
        R02: w := a[2].read();
        R03: if (w != 0) { R04: return aborted; }
        R05: return v;
    }
    method write(i, v) {
        W01: old := a[i].read();
        W02: got := a[2].read();
        W03: if (got != 0) { W04: return aborted; }
        W05: a[i].write(v);
        W06: seen.put(i, old);
        W07: return ok;
    }
    method commit() { C01: n := 1; C02: return committed; }
}",
        mutants: &[
            &[],
            &[("W05: a[i].write(v);", "W05: a[2].write(1); W08: a[i].write(v); W09: a[2].write(0);")],
            &[("W05: a[i].write(v);", "W05: a[i].write(v); W08: a[2].write(1);")],
            &[("W05: a[i].write(v);", "W05: a[2].write(1); W08: a[i].write(v);")],
            &[("R02: w := a[2].read();", "R02: w := a[1].read();")],
            &[(
                "R01: v := a[i].read();\n        R02: w := a[2].read();",
                "R02: w := a[2].read();\n        R01: v := a[i].read();",
            )],
        ],
    },
    Memory {
        name: "buffer",
        text: "algorithm Buffer(locs = 2) {
    shared r: AtomicRegister[locs] = 0, g: TryLock, c: AtomicRegister = 0;
    txlocal w: Map, s: int = 0, begun: int = 0;
    method read(i) {
        R01: if (i in w) { R02: v := w.get(i); R03: return v; }
        R04: if (begun == 0) { R05: s := c.read(); R06: begun := 1; }
        R07: v := r[i].read();
        R08: now := c.read();
        R09: if (now != s) { R10: return aborted; }
        R11: held := g.read();
        R12: if (held) { R13: return aborted; }
        R14: return v;
    }
    method write(i, v) { W01: w.put(i, v); W02: return ok; }
    method commit() {
        C01: got := g.tryLock();
        C02: if (!got) { C03: return aborted; }
        C04: now := c.read();
        C05: if (begun == 1 && now != s) { C06: g.unlock(); C07: return aborted; }
        C08: c.write(now + 1);
        C09: foreach (i -> v in w) { C10: r[i].write(v); }
        C11: g.unlock();
        C12: return committed;
    }
    order R07 < R08, R07 < R11, R05 < R07, C08 < C10, R08 < R11;
}",
        mutants: &[
            &[],
            &[("order R07 < R08, R07 < R11, R05 < R07, C08 < C10, R08 < R11;", "")],
            &[("R07 < R08, ", "")],
            &[("R05 < R07, ", "")],
            &[("R09: if (now != s) { R10: return aborted; }", "")],
            &[("R12: if (held) { R13: return aborted; }", "")],
            &[("C05: if (begun == 1 && now != s) { C06: g.unlock(); C07: return aborted; }", "")],
            &[("C08: c.write(now + 1);\n", ""), (", C08 < C10", "")],
        ],
    },
    Memory {
        name: "unguarded",
        text: "algorithm Unguarded(locs = 2) {
    shared r: BasicRegister[locs] = 0, c: AtomicRegister[locs] = 0, l: TryLock[locs];
    txlocal w: Map;
    method read(i) {
        R01: if (i in w) { R02: v := w.get(i); R03: return v; }
        R04: before := c[i].read();
        R05: v := r[i].read();
        R06: after := c[i].read();
        R07: held := l[i].read();
        R08: if (held || before != after) { R09: return aborted; }
        R10: return v;
    }
    method write(i, v) { W01: w.put(i, v); W02: return ok; }
    method commit() {
        C01: foreach (i -> v in w) {
            C02: got := l[i].tryLock();
            C03: if (got) { C04: n := c[i].read(); C05: r[i].write(v); C06: c[i].write(n + 1); C07: l[i].unlock(); }
        }
        C08: return committed;
    }
    order R04 < R05, R05 < R06, R05 < R07, R06 < R07;
}",
        mutants: &[
            &[],
            &[("order R04 < R05, R05 < R06, R05 < R07, R06 < R07;", "")],
            &[("R08: if (held || before != after) { R09: return aborted; }", "")],
            &[("held || ", "")],
            &[(" || before != after", "")],
        ],
    },
    Memory {
        name: "table",
        text: "algorithm Table(locs = 2) {
    shared p: AtomicRegister[locs] = {0, 1}, a: AtomicRegister[locs] = 0, b: AtomicRegister[locs] = 0;
    txlocal m: Map, t: Set;
    method read(i) {
        R01: m.put(i, 7);
        R02: k := p[i].read();
        R03: x := a[k].read();
        R04: y := b[i].read();
        R05: m.put(1, x);
        R06: z := m.get(i);
        R07: if (z == 7 && x != y) { R08: return aborted; }
        R09: if (x != y) { R10: return aborted; }
        R11: return x;
    }
    method write(i, v) {
        W01: t.add(i);
        W02: k := p[i].read();
        W03: a[k].write(v);
        W04: b[i].write(v);
        W05: a[0].read();
        W06: return ok;
    }
    method commit() { C01: foreach (k in t) { C02: x := a[k].read(); } C03: return committed; }
}",
        mutants: &[
            &[],
            &[("W03: a[k].write(v);\n        W04: b[i].write(v);", "W04: b[i].write(v);\n        W03: a[k].write(v);")],
            &[("R09: if (x != y) { R10: return aborted; }", "")],
            &[("p: AtomicRegister[locs] = {0, 1}", "p: AtomicRegister[locs] = {0, 0}")],
            &[("p: AtomicRegister[locs] = {0, 1}", "p: AtomicRegister[locs] = {1, 0}")],
        ],
    },
];
