//! Cases in data files, in the manner of rustc's UI tests.
//!
//! A line `//= name words…` begins a case; what stands before the first is a comment. Of a file `x.c` the expected results lie in `x.out`, under
//! the same marks. All differences are listed at once; `UPDATE_EXPECT=1` writes what was found.

use std::path::Path;

/// One case of a file.
pub struct Case {
    /// Its name.
    pub name: String,
    /// What else its mark says.
    pub words: Vec<String>,
    /// The lines up to the next mark.
    pub text: String,
}

/// The cases of a file.
fn cases(text: &str) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(mark) = line.strip_prefix("//= ") {
            let mut words = mark.split_whitespace().map(str::to_owned);
            let name = words.next().unwrap_or_default();
            found.push(Case { name, words: words.collect(), text: String::new() });
        } else if let Some(case) = found.last_mut() {
            case.text += line;
            case.text.push('\n');
        }
    }
    found
}

/// Runs every case of a folder's files with this ending, and compares what each shows. Gives the number of cases.
pub fn run(folder: &Path, ending: &str, show: &dyn Fn(&Case) -> String) -> usize {
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("there are cases").flatten().map(|e| e.path()).collect();
    paths.sort();
    let (mut count, mut different) = (0, Vec::new());
    for path in paths.iter().filter(|path| path.extension().is_some_and(|found| found == ending)) {
        let beside = path.with_extension("out");
        let known = cases(&std::fs::read_to_string(&beside).unwrap_or_default());
        let all = cases(&std::fs::read_to_string(path).expect("readable"));
        let (mut whole, before) = (String::new(), different.len());
        for gone in known.iter().filter(|known| all.iter().all(|case| case.name != known.name)) {
            different.push(format!("{}: there is no case {} any more", path.display(), gone.name));
        }
        for case in all {
            let found = show(&case);
            let expected = known.iter().find(|known| known.name == case.name).map_or("", |known| &known.text);
            if found != expected {
                different.push(format!(
                    "{}: {}\n--- expected\n{expected}--- found\n{found}",
                    path.display(),
                    case.name
                ));
            }
            whole += &format!("//= {}\n{found}", case.name);
            count += 1;
        }
        if different.len() > before && std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&beside, whole).expect("writable");
            different.truncate(before);
        }
    }
    assert!(different.is_empty(), "{} cases differ:\n{}", different.len(), different.join("\n"));
    count
}
