//! The promises in the headers of `library/c11`: every program, and every mistake that can be built into it, has the verdict that its header says.
//!
//! `//@ MODEL [MACRO …] [CRITERION]: VERDICT` is about the file with these macros defined. `violated` is about the worst of the checks, as the exit code is.

mod cli;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use cli::Folder;

struct Promise {
    file: String,
    arguments: String,
    code: i32,
}

#[test]
fn programs_keep_their_promises() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/c11");
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    files.sort();
    let promises: Vec<Promise> = files.iter().flat_map(|path| promises(path)).collect();
    assert!(promises.len() > 100, "{} promises", promises.len());
    let (next, place) = (AtomicUsize::new(0), Folder::new(&[]));
    let broken = std::thread::scope(|scope| {
        let work = || {
            let mut broken = Vec::new();
            while let Some(promise) = promises.get(next.fetch_add(1, Ordering::Relaxed)) {
                let file = folder.join(&promise.file);
                let done = place.run(&format!(
                    "check '{}' {} --workers 1 --memory 1024 -q",
                    file.display(),
                    promise.arguments
                ));
                if done.code != promise.code {
                    broken.push(format!("{} {}: exit {}\n{}", promise.file, promise.arguments, done.code, done.stderr));
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
            "unknown" => 3,
            "bounded" => 4,
            other => panic!("{name}: `{other}` is no verdict"),
        };
        Promise { file: name.clone(), arguments, code }
    };
    lines.map(promise).collect()
}
