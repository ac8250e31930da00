//! x
use super::super::{Mode, OrderPair, orders};
use super::*;
#[test]
fn scratch() {
    for (file, models) in [("core_mcrt_fixed", ["declared"].as_slice()), ("core_mcrt_repaired", &["declared", "literal"])] {
    let path = format!("{}/../../library/tm-objects/{file}.rml", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("a file");
    let declared: Vec<OrderPair> = orders(&source).unwrap().declared.into_iter().map(|d| d.0).collect();
    let tests = tests(&source);
    for t in &tests { eprintln!("{} candidates {:?}", t.name, t.candidates(Mode::Declared, &declared).iter().map(|p| format!("{}<{}{}", p.first, p.second, p.each)).collect::<Vec<_>>()); }
    for t in &tests {
        for model in models {
        if file == "core_mcrt_fixed" { continue }
            let start = std::time::Instant::now();
            if *model == "literal" && t.clients.is_some() { continue }
    let model = cyrano_memory::named(model).expect("a model");
    let without = t.program.without_calls();
    let program = if t.clients.is_some() { &t.program } else { &without };
    let limits = Limits::default().with_timeout(Some(std::time::Duration::from_secs(60)));
    let question = Question::Holds(&t.program.checks[0].property);
    let a = Explore::default().ask(Query { program, model: &model, question }, &limits, &());
            eprintln!("{} {}: {:?} {} {:?}", t.name, model.name, a.verdict, a.stats.states, start.elapsed());
        }
    }
    }
}
