//! The promises in the headers of `library/c11` and `tests/programs`: every program, and every mistake that can be built into it, has the verdict that its header says.
//! The library's are algorithms; the others are small programs about what people do with threads, and about what the language has.
//!
//! `//@ MODEL [MACRO …] [CRITERION]: VERDICT` is about the file with these macros defined. `violated` is about the worst of the checks, as the exit code is.

mod cli;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use cli::{Folder, json};

struct Promise {
    path: PathBuf,
    arguments: String,
    code: i32,
}

#[test]
fn programs_keep_their_promises() {
    let folders = ["../../library/c11", "tests/programs"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("the folder is there"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    files.sort();
    let promises: Vec<Promise> = files.iter().flat_map(|path| promises(path)).collect();
    assert!(promises.len() > 220, "{} promises", promises.len());
    let (next, place) = (AtomicUsize::new(0), Folder::new(&[]));
    let broken = std::thread::scope(|scope| {
        let work = || {
            let mut broken = Vec::new();
            while let Some(promise) = promises.get(next.fetch_add(1, Ordering::Relaxed)) {
                let asked =
                    format!("check '{}' {} --workers 1 --memory 1024 -q", promise.path.display(), promise.arguments);
                let done = place.run(&asked);
                if done.code != promise.code {
                    broken.push(format!("{asked}: exit {}\n{}", done.code, done.stderr));
                }
            }
            broken
        };
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("it does not panic")).collect::<Vec<_>>()
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What the header of a file promises.
fn promises(path: &Path) -> Vec<Promise> {
    let text = std::fs::read_to_string(path).expect("a text");
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix("//@ ")?.split_once(": "));
    // Where its tests stand is no promise.
    let lines = lines.filter(|(asked, _)| *asked != "tests");
    let promise = |(asked, verdict): (&str, &str)| {
        let mut words = asked.split(' ');
        let mut arguments = format!("--model {}", words.next().expect("a model"));
        for word in words {
            let is_macro = word.starts_with(|c: char| c.is_ascii_uppercase());
            arguments += &if is_macro { format!(" -D {word}") } else { format!(" --criterion {word}") };
        }
        let code = match verdict {
            "verified" => 0,
            "violated" => 1,
            "refused" => 2,
            "unknown" => 3,
            "bounded" => 4,
            other => panic!("{name}: `{other}` is no verdict"),
        };
        Promise { path: path.to_owned(), arguments, code }
    };
    lines.map(promise).collect()
}

/// Mistakes in orders, and the models under which they are mended.
const MENDED: [(&str, &str, &str); 14] = [
    ("publish.c", "RELAXED_PUBLISH", "rc11"),
    ("publish.c", "RELAXED_PUBLISH", "armv8"),
    ("publish.c", "RELAXED_PUBLISH", "power"),
    ("publish.c", "RELAXED_PUBLISH", "riscv"),
    ("publish.c", "RELAXED_FOLLOW", "rc11"),
    ("peterson.c", "TURN_IS_STORED", "tso"),
    ("ttas.c", "RELAXED_RELEASE", "rc11"),
    ("ticket.c", "RELAXED_UNLOCK", "armv8"),
    ("mcs.c", "RELAXED_TAIL", "rc11"),
    ("clh.c", "RELAXED_TAIL", "power"),
    ("double_checked.c", "RELAXED", "rc11"),
    ("once.c", "RELAXED_LOOK", "rc11"),
    ("seqlock.c", "NO_FENCE", "rc11"),
    ("spsc_ring.c", "RELAXED_TAIL", "rc11"),
];

/// What `fence` writes is correct, and wrong without any of its changes.
#[test]
fn mistakes_in_orders_are_mended() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/c11");
    for (name, mistake, model) in MENDED {
        let original = std::fs::read_to_string(library.join(name)).expect("a text");
        let place = Folder::new(&[("wrong.c", &original)]);
        let asked = format!("-D {mistake} --model {model} --workers 1 --memory 1024");
        let check = |text: &str| {
            place.write("it.c", text.as_bytes());
            place.run(&format!("check it.c {asked} -q")).code
        };
        let done = place.run(&format!("fence wrong.c {asked} --write fixed.c --format json"));
        let report = json(&done);
        let result = &report["results"][0];
        let found = (check(&original), &result["verdict"], &result["minimal"]);
        assert_eq!(found, (1, &"repaired".into(), &true.into()), "{name} {mistake} {model}: {}", done.stderr);
        let fixed = place.read("fixed.c");
        // Deadlocks are not looked for under models about relations, nor is every loop followed to its end.
        assert!([0, 4].contains(&check(&fixed)), "{name} {mistake} {model}\n{fixed}");
        for less in without_one(&original, &fixed) {
            assert_eq!(check(&less), 1, "{name} {mistake} {model}\n{less}");
        }
    }
}

/// The second text without one of the changes that make it of the first: a line that is new, or another.
fn without_one(original: &str, fixed: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (original.lines().collect(), fixed.lines().collect());
    let (mut at, mut found) = (0, Vec::new());
    for (line, text) in new.iter().enumerate() {
        if old.get(at) == Some(text) {
            at += 1;
            continue;
        }
        let mut less = new.clone();
        if new.get(line + 1).is_some_and(|next| old.get(at) == Some(next)) {
            less.remove(line);
        } else {
            less[line] = old[at];
            at += 1;
        }
        found.push(less.join("\n") + "\n");
    }
    assert!(!found.is_empty(), "nothing was changed");
    found
}
