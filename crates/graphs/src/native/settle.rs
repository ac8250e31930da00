//! Has threads run that have to: those that were told something since they said what they ask for.

use crate::graph::{Graph, Kind};
use crate::models::consistency::Consistency;
use crate::native::tape::{Asked, Request, Tape};
use crate::rows::INITIAL;

/// Lets threads that nobody has begun be so, has the others run that have to, and writes down what memory holds where they made it.
pub(crate) fn settle<M: Consistency<W, Tape>, const W: usize>(graph: &mut Graph<'_, W, Tape>, model: &M) {
    if graph.full {
        return;
    }
    for thread in 1..graph.runners.len() {
        let is_there = graph.spawned(thread) != INITIAL;
        let tape = &mut graph.runners[thread];
        match tape.asked() {
            Asked::Unborn if is_there => tape.ask(Asked::Unknown),
            Asked::Unborn => {}
            _ if !is_there => tape.clear(),
            _ => {}
        }
    }
    let is_to_run = |tape: &Tape| matches!(tape.asked(), Asked::Unknown);
    if !graph.runners.iter().any(is_to_run) {
        return;
    }
    let desk = graph.code[0].clone();
    let mut machine = desk.machine.borrow_mut();
    let scene = machine.scene();
    scene.words = W;
    scene.known.clear();
    scene.known.resize(graph.runners.len() * W, 0);
    for thread in (0..graph.runners.len()).filter(|thread| is_to_run(&graph.runners[*thread])) {
        scene.known[thread * W..][..W].copy_from_slice(&model.known(graph, thread).words());
    }
    std::mem::swap(&mut scene.tapes, &mut graph.runners);
    let anew = !scene.is_played();
    if anew {
        scene.begin();
    }
    scene.sources.resize(graph.events.len(), INITIAL);
    scene.played.resize(graph.events.len(), None);
    for thread in 0..scene.tapes.len() {
        for at in scene.position(thread)..scene.tapes[thread].len() {
            let event = scene.tapes[thread].event(at).unwrap_or_default();
            scene.played[usize::from(event)] = None;
            scene.sources[usize::from(event)] = match graph.event(event).kind {
                Kind::Read(from) => from,
                _ => INITIAL,
            };
        }
    }
    machine.run(anew);
    let scene = machine.scene();
    std::mem::swap(&mut scene.tapes, &mut graph.runners);
    if anew {
        bring(graph);
    }
    scene.made.drain(..).for_each(|(loc, value)| graph.set_initial(loc, i128::from(value)));
}

/// Brings the graph to what was written in this run ([`crate::native::scene`]).
fn bring<const W: usize>(graph: &mut Graph<'_, W, Tape>) {
    for thread in 0..graph.runners.len() {
        for at in 0..graph.runners[thread].len() {
            let tape = &graph.runners[thread];
            let step = tape.step(at);
            let value = match step.asked {
                Asked::For(Request::Load(..)) => step.value,
                Asked::For(Request::Store(.., value)) | Asked::Half(.., value) => value,
                _ => continue,
            };
            graph.set_value(tape.event(at).unwrap_or_default(), i128::from(value));
        }
    }
}
