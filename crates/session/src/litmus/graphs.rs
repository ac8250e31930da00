//! Executions of litmus tests as graphs of events: those that a model allows and that its condition is about, or one that it forbids and why.
//!
//! They come from the reference's own enumeration. A model that reorders pairs has no relations to show; `sc`, `tso` and `pso` are shown as the models about
//! relations that agree with them.

use std::collections::BTreeSet;

use cyrano_engine::Limits;
use cyrano_interp::{Drawn, Seen};
use cyrano_ir::{Program, Tags};
use cyrano_litmus::ast::Quantifier;
use cyrano_memory::Model;
use cyrano_memory::cat::{Event, Matrix, Objection, Step, What};
use cyrano_report::{GraphEdge, GraphEvent, GraphObjection, GraphReport};

use crate::case::Case;

/// No more executions of one test are shown.
const MOST: usize = 50;

/// The graphs of a test, and what a reader has to know about them.
pub(crate) struct Graphs {
    /// The graphs.
    pub graphs: Vec<GraphReport>,
    /// A remark.
    pub note: Option<String>,
}

/// The model about relations that says the same.
pub(crate) fn twin(model: &Model) -> Option<Model> {
    if model.cat().is_some() {
        return Some(model.clone());
    }
    let built_in = cyrano_memory::named(&model.name).as_ref() == Some(model);
    built_in.then(|| cyrano_memory::named(&format!("cat:{}", model.name))).flatten()
}

/// The executions in which a test's proposition holds; if it is claimed of all, those in which it does not.
pub(crate) fn of_litmus(case: &Case, model: &Model, limits: &Limits) -> Graphs {
    let none = |note: String| Graphs { graphs: Vec::new(), note: Some(note) };
    let Some(test) = &case.litmus else { return none("no litmus test".to_owned()) };
    let wants = test.condition.quantifier != Quantifier::Forall;
    let wanted = |outcome: Vec<i128>| {
        let judged = test.judge(&BTreeSet::from([outcome]));
        judged.is_ok_and(|judged| if wants { judged.positive > 0 } else { judged.negative > 0 })
    };
    of_outcomes(case, model, limits, &wanted)
}

/// The executions that end in such an outcome; one that is forbidden if there are none.
pub(crate) fn of_outcomes(case: &Case, model: &Model, limits: &Limits, wanted: &dyn Fn(Vec<i128>) -> bool) -> Graphs {
    let none = |note: String| Graphs { graphs: Vec::new(), note: Some(note) };
    let Some(related) = twin(model) else {
        return none(format!("{} is not about relations, so there are no graphs", model.name));
    };
    let Some(cat) = related.cat() else { return none("there are no graphs".to_owned()) };
    let case = case.for_question(None, &related);
    let program = &case.program;
    match cyrano_interp::executions(program, cat, limits, wanted, MOST) {
        Err(stop) => none(format!("no graphs: {}", cyrano_engine::Cause::from(stop))),
        Ok(Seen::Allowed(drawn, more)) => {
            let graphs = drawn.iter().map(|drawn| report(program, drawn, None)).collect();
            Graphs { graphs, note: more.then(|| format!("there are more than {MOST} such executions")) }
        }
        Ok(Seen::Forbidden(None)) => none("no execution ends like that, whatever the model".to_owned()),
        Ok(Seen::Forbidden(Some(told))) => {
            let (drawn, objection) = &*told;
            Graphs { graphs: vec![report(program, drawn, Some((&related.name, objection)))], note: None }
        }
    }
}

fn report(program: &Program, drawn: &Drawn, objection: Option<(&str, &Objection)>) -> GraphReport {
    let graph = &drawn.graph;
    let ids = letters(&graph.events);
    let edge = |relation: &str, (from, to): (usize, usize)| GraphEdge {
        relation: relation.to_owned(),
        from: ids[from].clone(),
        to: ids[to].clone(),
    };
    let fr = graph.rf.inverse().seq(&graph.co).diff(&graph.amo);
    let next = |relation: &Matrix| relation.diff(&relation.seq(&graph.co));
    let rmw = graph.amo.union(&graph.lxsx);
    let relations = [
        ("po", graph.po.diff(&graph.po.seq(&graph.po))),
        ("rf", graph.rf.clone()),
        ("co", next(&graph.co)),
        ("fr", next(&fr)),
        ("rmw", rmw),
        ("addr", graph.addr.clone()),
        ("data", graph.data.clone()),
        ("ctrl", graph.ctrl.diff(&graph.ctrl.seq(&graph.po))),
    ];
    let mut edges = Vec::new();
    for (name, relation) in &relations {
        // What memory holds at first comes before everything; only who reads it is worth an edge.
        let told = relation.iter().filter(|(from, _)| graph.events[*from].thread.is_some() || *name == "rf");
        edges.extend(told.map(|pair| edge(name, pair)));
    }
    let forbidden = objection.map(|(model, objection)| {
        let step = |step: &Step| edge(step.relation, (step.from, step.to));
        let (axiom, cycle) = (objection.axiom.clone(), objection.steps.iter().map(step).collect());
        GraphObjection { model: model.to_owned(), axiom, cycle }
    });
    let events = graph.events.iter().zip(&ids).zip(&drawn.values).filter_map(|((event, id), value)| {
        let thread = event.thread?.index();
        Some(GraphEvent { id: id.clone(), thread, text: text(program, event, *value) })
    });
    let threads = program.threads.iter().map(|thread| thread.name.clone()).collect();
    GraphReport { threads, events: events.collect(), edges, forbidden }
}

/// `a`, `b`, …, `z`, `aa`, …; what memory holds at first is `init`.
fn letters(events: &[Event]) -> Vec<String> {
    let mut number = 0;
    let own = events.iter().map(|event| {
        if event.thread.is_none() {
            return "init".to_owned();
        }
        let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
        let name = match number / 26 {
            0 => letter(number).to_string(),
            more => format!("{}{}", letter(more - 1), letter(number)),
        };
        number += 1;
        name
    });
    own.collect()
}

fn text(program: &Program, event: &Event, value: i128) -> String {
    let kind = match event.what {
        What::Read => "R",
        What::Write => "W",
        What::Fence(fence) => return fence.to_string(),
    };
    let place = event.loc.map(|loc| program.location(loc).name.clone()).unwrap_or_default();
    let tags: Vec<&str> =
        Tags::ALL.into_iter().filter(|(tag, _)| event.tags.meets(*tag)).map(|(_, word)| word).collect();
    let tags = if tags.is_empty() { String::new() } else { format!("[{}]", tags.join(",")) };
    format!("{kind}{tags} {place}={value}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::Litmus;
    use crate::source::Source;

    fn graphs(text: &str, model: &str) -> Graphs {
        let source = Source { name: "t.litmus".to_owned(), text: text.to_owned(), dir: None };
        let litmus = Litmus::new(source);
        let case = litmus.case().expect("it compiles");
        of_litmus(case, &cyrano_memory::named(model).expect("this is a named model"), &Limits::default())
    }

    const MP: &str = "AArch64 MP
{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }
 P0          | P1          ;
 MOV W0,#1   | LDR W0,[X1] ;
 STR W0,[X1] | LDR W2,[X3] ;
 MOV W2,#1   | ;
 STR W2,[X3] | ;
exists (1:X0=1 /\\ 1:X2=0)
";

    #[test]
    fn what_is_allowed_is_shown_with_its_relations() {
        let shown = graphs(MP, "armv8");
        assert_eq!((shown.graphs.len(), shown.note), (1, None));
        let graph = &shown.graphs[0];
        let pairs: Vec<String> =
            graph.edges.iter().map(|edge| format!("{} {}{}", edge.relation, edge.from, edge.to)).collect();
        assert_eq!(pairs, ["po ab", "po cd", "rf initd", "rf bc", "fr da"]);
        assert_eq!(graph.forbidden, None);
    }

    #[test]
    fn what_is_forbidden_is_shown_with_the_cycle() {
        let shown = graphs(MP, "tso");
        let why = shown.graphs[0].forbidden.as_ref().expect("tso forbids it");
        assert_eq!(why.sentence(), "forbidden by axiom tso of cat:tso: a -po-> b -rf-> c -po-> d -fr-> a");
        assert!(graphs(MP, "rmo").note.is_some_and(|note| note.contains("not about relations")));
    }
}
