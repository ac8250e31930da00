//! Whether a model allows a graph.

use cyrano_memory::cat::{Base, Judge, Node, NodeId, Plan};

use crate::graph::Graph;

/// Whoever says whether a graph is consistent.
pub(crate) trait Consistency {
    /// Whether the model allows it.
    fn allows(&mut self, graph: &Graph<'_>) -> bool;

    /// The flags that a graph raises which it allows.
    fn flags(&mut self, graph: &Graph<'_>) -> Vec<String>;
}

/// Any model in cat, through the evaluator.
pub(crate) struct ByAxioms<'p> {
    judge: Judge<'p>,
    /// Whether the model knows races, and so is told what synchronises.
    races: bool,
}

impl<'p> ByAxioms<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { judge: Judge::new(plan), races: plan.data_race().is_some() }
    }
}

impl Consistency for ByAxioms<'_> {
    fn allows(&mut self, graph: &Graph<'_>) -> bool {
        self.judge.allows(&graph.for_model(self.races, |_| true).0)
    }

    fn flags(&mut self, graph: &Graph<'_>) -> Vec<String> {
        if self.allows(graph) { self.judge.flags().map(str::to_owned).collect() } else { Vec::new() }
    }
}

/// What a model asks for that graphs do not keep. Exclusive pairs are no such thing: programs that have them are refused.
pub(crate) fn unknown_base(plan: &Plan) -> Option<&'static str> {
    let mut seen = vec![false; plan.nodes.len()];
    let mut todo: Vec<NodeId> = plan.axioms.iter().map(|axiom| axiom.of).collect();
    while let Some(node) = todo.pop() {
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        match plan.nodes[node as usize] {
            Node::Base(
                Base::Address | Base::Data | Base::DirectAddress | Base::DirectData | Base::Control | Base::Compared,
            ) => return Some("dependencies"),
            Node::Base(Base::RcuSection) => return Some("critical sections of RCU"),
            Node::Fixpoint(group, _) | Node::Sofar(group, _) => todo.extend(&plan.groups[group as usize].bodies),
            other => todo.extend(other.operands()),
        }
    }
    None
}
