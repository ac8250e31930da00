//! The library's algorithms.

use super::*;

#[test]
fn show() {
    let env = |n: &str| std::env::var(n).unwrap_or_default();
    let secs: u64 = env("SECS").parse().unwrap_or(5);
    let sets: Vec<(String, i64)> = env("SETS").split(' ').filter_map(|s| { let (a, b) = s.split_once('=')?; Some((a.to_owned(), b.parse().ok()?)) }).collect();
    for name in env("FILES").split(' ') {
        let path = format!("{}/../../library/tm-objects/{name}.rml", env!("CARGO_MANIFEST_DIR"));
        let Ok(source) = std::fs::read_to_string(path) else { continue };
        let source = if env("REPL").is_empty() { source } else { let (a, b) = env("REPL").split_once("=>").map(|(a,b)|(a.to_owned(),b.to_owned())).unwrap(); source.replace(&a, &b) };
        let got = match compile("x", &source, &sets) { Ok(t) => t, Err(e) => { eprintln!("{name}: {e:#?}"); continue } };
        for test in got {
            let p = &test.program;
            if !test.name.contains(&env("TEST")) { continue }
            for check in &p.checks {
              for model in env("MODELS").split(' ') {
                let start = std::time::Instant::now();
                let model = cyrano_memory::named(model).expect("a model");
                let without = p.without_calls();
                let program = if matches!(check.property, Property::Final{..}) { &without } else { p };
                if let Err(r) = Explore::default().supports(program, &model) { eprintln!("{r:?}"); continue }
                let query = Query { program, model: &model, question: Question::Holds(&check.property) };
                let limits = Limits::default().with_timeout(Some(std::time::Duration::from_secs(secs)));
                let a = Explore::default().ask(query, &limits, &());
                eprintln!("{name} {} {} {}: {:?} {} states {:?}", test.name, check.property.criterion(), model.name, a.verdict, a.stats.states, start.elapsed());
              }
            }
        }
    }
}
