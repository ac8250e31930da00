//! What the search needs of a model, read off its text: for models that nobody has looked at by hand.
//!
//! The search ([`crate::search`]) finds every execution, and each once, if
//! 1. `po | rf` has no cycle;
//! 2. what is left of an execution is one, if events go that nothing before them by `po | rf` is left of (a *beginning*);
//! 3. an execution stays one if an event is added in the maximal way, which reads from the last write or is the last write.
//!
//! The first is a condition that the text has to have: `acyclic` of something that `po` and `rf` are part of. The other two follow from the form of the conditions, each of
//! which demands that some relation has no cycle, or nothing in it. What is needed is known of each expression ([`Facts`]):
//!
//! - It *shrinks*: a beginning has nothing in it that the whole has not. Then a beginning is allowed if the whole is. So do `po`, `rf`, `co` and all that is put together
//!   of them without `\` and `~`; and a difference if what is taken away *stays*: what it has of the events that are left it still has when others are gone.
//! - It leads *forward*: each pair is a path of `po`, `rf`, `co`, `fr`, or goes from an initial write to an event that is none. No such path leaves an event that was just added,
//!   for nothing comes after it in its thread, nobody reads from it, no write is behind it or behind what it reads from; and none leads to an initial write. So no cycle goes
//!   through it.
//! - It is *kept*: if an event is added in the maximal way, nothing is new between the others. What is put together of paths that lead forward is, as no path goes through the
//!   new event.
//!
//! A cycle after an event was added is then one that was there before. One condition of another kind is known: that nothing comes between the halves of a read-modify-write
//! (`empty rmw & (fr ; co)`). A read that is added reads from the last write, and its write is added right after it, so that nothing is between.
//!
//! What is not seen to hold is refused, with the condition that stands in the way. The arguments for idle iterations, equal threads and stale waits are about the models that
//! they name, and these reductions are not used here.

use cyrano_memory::cat::{Base, Node, NodeId, Plan, Test};

/// What is known of an expression. All of it holds of nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Facts {
    /// A beginning has nothing in it that the whole has not.
    shrinks: bool,
    /// A beginning has all in it that the whole has of its events.
    stays: bool,
    /// If an event is added in the maximal way, nothing is new between the others.
    kept: bool,
    /// Each pair of two events leads forward.
    forward: bool,
    /// Each pair leads forward, and is none of an event with itself but for a cycle.
    strict: bool,
    /// Each pair of two events is a path of `po` and `rf`.
    causal: bool,
    /// Each pair is one of `fr`.
    fr: bool,
    /// Each pair is one of `fr` and then a path that leads forward.
    passed: bool,
    /// Each pair is the halves of a read-modify-write.
    halves: bool,
    /// Of a set: whether it has initial writes only, none, or all.
    initial: bool,
    later: bool,
    all_initial: bool,
}

impl Facts {
    /// Of what has nothing in it.
    const ALL: Self = Self {
        shrinks: true,
        stays: true,
        kept: true,
        forward: true,
        strict: true,
        causal: true,
        fr: true,
        passed: true,
        halves: true,
        initial: true,
        later: true,
        all_initial: false,
    };

    /// Of what is known of events and does not change.
    const FIXED: Self = Self {
        shrinks: true,
        stays: true,
        kept: true,
        forward: false,
        strict: false,
        causal: false,
        fr: false,
        passed: false,
        halves: false,
        initial: false,
        later: false,
        all_initial: false,
    };

    /// How it changes as events come and go, if it changes as two others do.
    fn changes(self, shrinks: bool, stays: bool, kept: bool) -> Self {
        Self { shrinks, stays, kept, ..self }
    }

    fn union(self, other: Self) -> Self {
        Self {
            shrinks: self.shrinks && other.shrinks,
            stays: self.stays && other.stays,
            kept: self.kept && other.kept,
            forward: self.forward && other.forward,
            strict: self.strict && other.strict,
            causal: self.causal && other.causal,
            fr: self.fr && other.fr,
            passed: self.passed && other.passed,
            halves: self.halves && other.halves,
            initial: self.initial && other.initial,
            later: self.later && other.later,
            all_initial: self.all_initial || other.all_initial,
        }
    }

    fn inter(self, other: Self) -> Self {
        Self {
            shrinks: self.shrinks && other.shrinks,
            stays: self.stays && other.stays,
            kept: self.kept && other.kept,
            forward: self.forward || other.forward,
            strict: self.strict || other.strict,
            causal: self.causal || other.causal,
            fr: self.fr || other.fr,
            passed: self.passed || other.passed,
            halves: self.halves || other.halves,
            initial: self.initial || other.initial,
            later: self.later || other.later,
            all_initial: self.all_initial && other.all_initial,
        }
    }

    fn diff(self, other: Self, is_identity: bool) -> Self {
        Self {
            strict: self.strict || self.forward && is_identity,
            later: self.later || other.all_initial,
            all_initial: self.all_initial && other.later,
            ..self.changes(self.shrinks && other.stays, self.stays && other.shrinks, self.kept && other.shrinks)
        }
    }

    fn complement(self) -> Self {
        let changes = Self::FIXED.changes(self.stays, self.shrinks, self.shrinks);
        Self { later: self.all_initial, all_initial: self.later, ..changes }
    }

    fn seq(self, other: Self) -> Self {
        let forward = self.forward && other.forward;
        // Whatever is before what is left by `po` and `rf` is left, too.
        let stays = self.stays && other.stays && other.causal;
        let changes =
            Self::FIXED.changes(self.shrinks && other.shrinks, stays, stays || self.kept && other.kept && forward);
        Self {
            forward,
            strict: forward && (self.strict || other.strict),
            causal: self.causal && other.causal,
            passed: self.fr && other.strict || self.passed && other.forward,
            ..changes
        }
    }

    /// Any number of times; or at most once, or at least once.
    fn repeated(self, closes: bool, optional: bool) -> Self {
        let stays = self.stays && (self.causal || !closes);
        Self {
            fr: self.fr && !closes && !optional,
            passed: self.passed && !closes && !optional,
            halves: self.halves && !closes && !optional,
            strict: self.strict && !optional,
            ..self.changes(self.shrinks, stays, stays || self.kept && (self.forward || !closes))
        }
    }

    fn inverse(self) -> Self {
        Self::FIXED.changes(self.shrinks, self.stays, self.kept)
    }

    /// All pairs of two sets.
    fn product(self, other: Self) -> Self {
        let forward = self.initial && other.later;
        let changes =
            Self::FIXED.changes(self.shrinks && other.shrinks, self.stays && other.stays, self.kept && other.kept);
        Self { forward, strict: forward, ..changes }
    }

    /// Each of a set with itself.
    fn diagonal(self) -> Self {
        Self { forward: true, causal: true, ..Self::FIXED.changes(self.shrinks, self.stays, self.kept) }
    }

    /// Where pairs begin, or where they end.
    fn side(self, is_end: bool) -> Self {
        let stays = is_end && self.stays && self.causal;
        Self { later: is_end && self.strict, ..Self::FIXED.changes(self.shrinks, stays, stays) }
    }

    fn base(base: Base) -> Self {
        let fixed = Self::FIXED;
        match base {
            Base::Initial => Self { initial: true, all_initial: true, ..fixed },
            Base::Events | Base::Writes => Self { all_initial: true, ..fixed },
            Base::Reads | Base::Fences | Base::Rmws | Base::Tagged(_) | Base::Named(_) => Self { later: true, ..fixed },
            Base::Kinds(_) | Base::Ordering(_) => Self { later: true, ..fixed },
            // A write that was not the last one may be after others are gone.
            Base::Final => fixed.changes(false, true, true),
            Base::Identity => Self { forward: true, causal: true, ..fixed },
            Base::ProgramOrder | Base::ReadsFrom => Self { forward: true, strict: true, causal: true, ..fixed },
            Base::Coherence => Self { forward: true, strict: true, ..fixed },
            Base::Amo | Base::Exclusive => Self { forward: true, strict: true, causal: true, halves: true, ..fixed },
            Base::SameLocation | Base::SameThread => fixed,
            // What graphs do not keep.
            Base::Address
            | Base::Data
            | Base::DirectAddress
            | Base::DirectData
            | Base::Control
            | Base::Compared
            | Base::RcuSection => fixed.changes(false, false, false),
        }
    }
}

/// Why the search is not known to be right for a model.
pub(crate) fn obstacle(plan: &Plan) -> Option<String> {
    let conditions = || plan.axioms.iter().filter(|axiom| !axiom.flag);
    let facts = all_facts(plan);
    let bad = conditions().find_map(|axiom| {
        let Facts { shrinks, kept, strict, halves, passed, .. } = facts[axiom.of as usize];
        let fits = match axiom.test {
            Test::Acyclic | Test::Irreflexive => kept && strict,
            Test::Empty => kept && halves && passed,
        };
        let name = &axiom.name;
        match (axiom.negated, shrinks, fits) {
            (true, ..) => Some(format!("`{name}` demands a cycle, or that there is something")),
            (_, false, _) => Some(format!("`{name}` may forbid the beginning of an execution that it allows")),
            (_, _, false) => Some(format!("`{name}` may forbid to read what was written last, or to write last")),
            _ => None,
        }
    });
    let promises = conditions().any(|axiom| match (axiom.test, plan.nodes[axiom.of as usize]) {
        _ if axiom.negated => false,
        (Test::Acyclic, _) => covers(plan, axiom.of),
        (Test::Irreflexive, Node::Plus(of)) => covers(plan, of),
        _ => false,
    });
    bad.or_else(|| (!promises).then(|| "it has no condition like `acyclic po | rf`".to_owned()))
}

/// Whether `po` and `rf` are part of a relation, or of what it closes.
fn covers(plan: &Plan, of: NodeId) -> bool {
    let (mut po, mut rf) = (false, false);
    let (mut todo, mut seen) = (vec![of], vec![false; plan.nodes.len()]);
    while let Some(node) = todo.pop() {
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        match plan.nodes[node as usize] {
            Node::Base(Base::ProgramOrder) => po = true,
            Node::Base(Base::ReadsFrom) => rf = true,
            Node::Union(a, b) => todo.extend([a, b]),
            Node::Plus(a) | Node::Star(a) | Node::Optional(a) => todo.push(a),
            _ => {}
        }
    }
    po && rf
}

/// What is known of each expression. Of recursive definitions everything is assumed that what follows from it does not contradict: they are computed from nothing, of which
/// everything holds, in rounds that keep it.
fn all_facts(plan: &Plan) -> Vec<Facts> {
    let mut facts = vec![Facts::ALL; plan.nodes.len()];
    let inverse = rf_inverse(plan);
    loop {
        let before = facts.clone();
        for (at, node) in plan.nodes.iter().enumerate() {
            facts[at] = of(plan, *node, inverse, &facts);
        }
        if facts == before {
            return facts;
        }
    }
}

fn of(plan: &Plan, node: Node, rf_inverse: Node, facts: &[Facts]) -> Facts {
    let of = |node: NodeId| facts[node as usize];
    let is = |node: NodeId, base: Base| plan.nodes[node as usize] == Node::Base(base);
    match node {
        Node::Base(base) => Facts::base(base),
        Node::Empty(_) => Facts::ALL,
        Node::Union(a, b) => of(a).union(of(b)),
        Node::Inter(a, b) => of(a).inter(of(b)),
        Node::Diff(a, b) => of(a).diff(of(b), is(b, Base::Identity)),
        Node::Complement(a) => of(a).complement(),
        // The write that a read sees stays as long as the read does.
        Node::Seq(a, b) if plan.nodes[a as usize] == rf_inverse && is(b, Base::Coherence) => {
            Facts { forward: true, strict: true, fr: true, ..Facts::FIXED }
        }
        Node::Seq(a, b) => of(a).seq(of(b)),
        Node::Inverse(a) => of(a).inverse(),
        Node::Optional(a) => of(a).repeated(false, true),
        Node::Plus(a) => of(a).repeated(true, false),
        Node::Star(a) => of(a).repeated(true, true),
        Node::Product(a, b) => of(a).product(of(b)),
        Node::Diagonal(a) => of(a).diagonal(),
        Node::Domain(a) => of(a).side(false),
        Node::Range(a) => of(a).side(true),
        Node::Sofar(group, number) | Node::Fixpoint(group, number) => {
            of(plan.groups[group as usize].bodies[number as usize])
        }
    }
}

fn rf_inverse(plan: &Plan) -> Node {
    let rf = plan.nodes.iter().position(|node| *node == Node::Base(Base::ReadsFrom));
    rf.map_or(Node::Empty(cyrano_memory::cat::Type::Relation), |rf| Node::Inverse(rf as NodeId))
}
