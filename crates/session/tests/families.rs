//! The library's families of any number of threads: what their headers promise, and no wrong claim with two to five threads.

use std::path::{Path, PathBuf};

use cyrano_engine::{Limits, Verdict};
use cyrano_report::CheckReport;
use cyrano_session::frontend::{Threads, Wanted};
use cyrano_session::{Failure, Files, Options, Runner, Source, Subject, certify, select};

/// The files of one folder of the library.
struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let text = std::fs::read_to_string(self.0.join(name)).map_err(Failure::input)?;
        Ok(Source { name: name.to_owned(), text, dir: None })
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        self.open(name)
    }
}

fn folder(name: &str) -> Folder {
    Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library").join(name))
}

/// What the checks of a file give, under these models or those that it names.
fn checked(files: &Folder, name: &str, threads: Threads, models: &[&str]) -> Vec<CheckReport> {
    let wanted = Wanted { threads, ..Wanted::default() };
    let subjects = Subject::load(files, name, &[], &wanted, None).expect("it compiles");
    // Limited by memory, which is the same everywhere.
    let options = Options { workers: Some(1), memory: Some(256 << 20), ..Options::default() };
    let runner = Runner::new(&options, 1);
    let models: Vec<_> = models.iter().map(|name| cyrano_memory::named(name).expect("it is a model")).collect();
    let check = |subject: &Subject| {
        let selected = select(&subject.case, &[], &models, files).expect("there are checks");
        selected.iter().map(|check| subject.check(&runner, check, &()).expect("an answer")).collect::<Vec<_>>()
    };
    subjects.iter().flat_map(check).collect()
}

/// How the reports about one model read in a header.
fn told(reports: &[&CheckReport]) -> String {
    let number = |report: &CheckReport| report.every_number.clone().expect("it is about every number");
    let violated: Vec<_> = reports.iter().filter(|report| report.verdict == Verdict::Violated).collect();
    if let Some(threads) = violated.iter().filter_map(|report| number(report).threads).min() {
        return format!("violated, {threads} threads");
    }
    match reports.iter().find(|report| report.verdict != Verdict::Verified) {
        Some(other) => format!("{} ({:?})", other.verdict.name(), other.reason),
        None => format!("verified, k = {}", reports.iter().map(|report| number(report).k).max().unwrap_or(0)),
    }
}

/// No instance of what is verified for every number of threads is violated.
fn instances(files: &Folder, name: &str, reports: &[CheckReport]) -> usize {
    let mut searched = 0;
    for number in 2..=5 {
        for report in reports.iter().filter(|report| report.verdict == Verdict::Verified) {
            let model = report.model.as_deref().unwrap_or_default();
            for instance in checked(files, name, Threads::Each(number), &[model]) {
                let same = instance.criterion == report.criterion && instance.property == report.property;
                assert!(!same || instance.verdict != Verdict::Violated, "{name} on {model} with {number} of each");
                searched += usize::from(same && instance.verdict == Verdict::Verified);
            }
        }
    }
    searched
}

#[test]
fn headers_are_kept_for_every_number_of_threads() {
    let files = folder("parameterised");
    let (mut verified, mut violated, mut searched) = (0, 0, 0);
    let found =
        std::fs::read_dir(&files.0).expect("the folder can be read").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = found.filter(|path| path.extension().is_some_and(|ending| ending == "rml")).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let reports = checked(&files, &name, Threads::AsWritten, &[]);
        let promises: Vec<(&str, &str)> =
            text.lines().filter_map(|line| line.strip_prefix("//@ ")?.split_once(": ")).collect();
        assert!(!promises.is_empty(), "{name} promises nothing");
        for (model, promise) in promises {
            let own: Vec<&CheckReport> =
                reports.iter().filter(|report| report.model.as_deref() == Some(model)).collect();
            assert_eq!(told(&own), promise, "{name} on {model}");
        }
        let sc =
            |verdict| reports.iter().all(|report| report.model.as_deref() != Some("sc") || report.verdict == verdict);
        verified += usize::from(sc(Verdict::Verified));
        violated += usize::from(sc(Verdict::Violated));
        searched += instances(&files, &name, &reports);
    }
    println!("{verified} verified and {violated} violated under sc; {searched} instances searched");
    assert!(verified >= 10 && violated >= 3 && searched >= 60, "{verified} {violated} {searched}");
}

#[test]
fn blocks_are_atomic_for_every_number_of_threads() {
    let files = folder("atomicity");
    for name in ["acquire1.rml", "locked_counter.rml", "transaction.rml", "bluetooth.rml"] {
        let reports = checked(&files, name, Threads::Any, &["sc", "tso"]);
        let commits: Vec<_> = reports.iter().filter(|report| report.criterion == "commit-atomicity").collect();
        assert_eq!(commits.len(), 2, "{name}");
        assert!(told(&commits).starts_with("verified, k = "), "{name}: {}", told(&commits));
        // What is not decided for every number of threads does not stand in the way.
        assert!(
            reports.iter().all(|report| report.criterion != "atomicity" || report.verdict == Verdict::Unknown),
            "{name}"
        );
    }
    for name in ["bluetooth_bug.rml", "unlocked_counter.rml"] {
        let reports = checked(&files, name, Threads::Any, &["sc"]);
        let commits: Vec<_> = reports.iter().filter(|report| report.criterion == "commit-atomicity").collect();
        assert_eq!(told(&commits), "violated, 2 threads", "{name}");
    }
}

/// Programs whose assertions hold with any number of threads, and that deadlock from some number on.
#[test]
fn deadlocks_are_not_overlooked() {
    let third = "threads { shared n, a; thread w[*] { local r; r := fetch_add(n, 1);
        if r >= 2 { atomic { r := a; assume r == 1; } } } } check assertions on sc;";
    let second = "threads { shared x = 1, y; thread w[*] { local r; r := y;
        atomic { r := x; assume r == 1; } x := (r + 1) % 3; } } check assertions on sc;";
    // Only from six on: too many to be searched, so it must not be called verified.
    let sixth = third.replace("r >= 2", "r >= 5");
    for (source, promise) in [(third, "violated, 3 threads"), (second, "violated, 2 threads"), (&sixth, "bounded")] {
        keeps(source, promise);
    }
}

/// What is said about the first check of a program begins like this.
fn keeps(source: &str, promise: &str) {
    let files = One(source.to_owned());
    let subjects = Subject::load(&files, "one.rml", &[], &Wanted::default(), None).expect("it compiles");
    let runner = Runner::new(&Options { workers: Some(1), ..Options::default() }, 1);
    let selected = select(&subjects[0].case, &[], &[], &files).expect("there are checks");
    let report = subjects[0].check(&runner, &selected[0], &()).expect("an answer");
    let told = told(&[&report]);
    assert!(told.starts_with(promise), "{promise}: {told}\n{source}");
}

/// Counters beside phases, two kinds of members that hand something on, threads in no family: worked out by hand, and the same with instances of up to four members.
#[test]
fn families_by_hand() {
    let programs = [
        ("shared a, b; thread w[*] { local q, r; loop { fetch_add(a, 1); fetch_add(b, 1); q := b; r := a;
            assert r >= 1 && q >= 1; fetch_add(b, -1); fetch_add(a, -1); } }", "assertions", "verified, k = 1"),
        ("shared n, closed; thread w[*] { local q; atomic { q := closed; assume q == 0; fetch_add(n, 1); } W: skip; fetch_add(n, -1); }
            thread c { local q; closed := 1; mfence; atomic { q := n; assume q == 0; } C: skip; }",
            "invariant (c@C == 0 || count(w@W) == 0)", "verified, k = 1"),
        ("shared n, closed; thread w[*] { local q; q := closed; if q == 0 { fetch_add(n, 1); W: skip; fetch_add(n, -1); } }
            thread c { local q; closed := 1; mfence; atomic { q := n; assume q == 0; } C: skip; loop { skip; } }",
            "invariant (c@C == 0 || count(w@W) == 0)", "violated, 2 threads"),
        ("shared t; thread a[*] { local r; loop { atomic { r := t; assume r == 0; t := 1; } A: t := 2; } }
            thread b[*] { local r; loop { atomic { r := t; assume r == 2; t := 3; } B: t := 0; } }",
            "invariant (count(a@A) + count(b@B) <= 1)", "verified, k = 2"),
        ("shared items, free = 2;
            thread p[*] { local r; loop { atomic { r := free; assume r > 0; free := r - 1; } atomic { r := items; items := r + 1; } } }
            thread c[*] { local r; loop { atomic { r := items; assume r > 0; items := r - 1; } atomic { r := free; free := r + 1; } } }",
            "assertions", "verified, k = 3"),
        ("shared phase, done; thread b[*] { local r; atomic { r := phase; assume r == 2; phase := 3; } done := 1; }
            thread a[*] { local r; atomic { r := phase; assume r == 0; phase := 1; } r := done; assert r == 0; phase := 2; }",
            "assertions", "violated, 3 threads"),
        ("shared n, done; thread w[*] { local q; fetch_add(n, 1); q := fetch_add(n, -1); if q == 1 { done := 1; } }
            thread v { local r, q; r := done; if r == 1 { q := n; assert q == 0; } }", "assertions", "violated, 3 threads"),
        ("shared n, x; thread w[*] { local q; q := fetch_add(n, 1); if q == 1 { x := 1; } if q == 2 { q := x; assert q == 1; } }",
            "assertions", "violated, 3 threads"),
        ("shared c = 3; thread w[*] { local q; q := fetch_add(c, -1); assert q > 0; }", "assertions", "violated, 4 threads"),
        ("shared lock, n, m; thread w[*] { local r; loop { atomic a { atomic { r := lock; assume r == 0; lock := 1; } commit;
            r := n; n := (r + 1) % 3; m := (r + 1) % 3; lock := 0; } } }
            thread v[*] { local r, s; loop { atomic b returns r, s { r := n; s := m; commit; } } }",
            "commit-atomicity", "violated, 2 threads"),
    ];
    for (threads, check, promise) in programs {
        keeps(&format!("threads {{ {threads} }} check {check} on sc;"), promise);
    }
}

/// The certificates of what is verified for every number of threads, as texts.
fn certificates(files: &Folder, name: &str, threads: Threads, models: &[&str]) -> Vec<String> {
    let wanted = Wanted { threads, ..Wanted::default() };
    let subjects = Subject::load(files, name, &[], &wanted, None).expect("it compiles");
    let runner = Runner::new(&Options { workers: Some(1), memory: Some(256 << 20), ..Options::default() }, 1);
    let models: Vec<_> = models.iter().map(|name| cyrano_memory::named(name).expect("it is a model")).collect();
    let (subject, mut written) = (&subjects[0], Vec::new());
    for check in select(&subject.case, &[], &models, files).expect("there are checks") {
        let report = subject.check(&runner, &check, &()).expect("an answer");
        let certificate = subject.certificate(&runner, &check, &report, &());
        match certificate {
            Some(Ok(certificate)) => written.push(cyrano_certificate::print(&certificate)),
            Some(Err(why)) => panic!("{name}: {why}"),
            None => assert_ne!(report.verdict, Verdict::Verified),
        }
    }
    written
}

/// Whether a certificate is accepted; `Err` if it is none.
fn accepted(text: &str) -> Result<bool, String> {
    let report = certify("it", text, &Limits::default()).map_err(|why| why.to_string())?;
    Ok(report.checked.is_ok())
}

/// A certificate with other lines and the right sum.
fn tampered(text: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<bool, String> {
    let mut certificate = cyrano_certificate::parse(text).map_err(|why| why.to_string())?;
    let mut lines: Vec<String> = certificate.states.iter().map(|line| line.to_string()).collect();
    change(&mut lines);
    certificate.states = lines.into_iter().map(String::into_boxed_str).collect();
    accepted(&cyrano_certificate::print(&certificate))
}

#[test]
fn certificates_for_every_number_of_threads() {
    let both: &[&str] = &["sc", "tso"];
    let parameterised = [
        "spin_lock",
        "ttas_lock",
        "ticket",
        "semaphore",
        "reader_writer",
        "once",
        "elected",
        "bounded_stack",
        "cas_counter",
    ];
    let parameterised = parameterised.map(|name| ("parameterised", name, Threads::AsWritten, both));
    let atomicity =
        ["acquire1", "locked_counter", "bluetooth"].map(|name| ("atomicity", name, Threads::Any, &both[..1]));
    let mut all = 0;
    for (folder_name, name, threads, models) in parameterised.into_iter().chain(atomicity) {
        for text in certificates(&folder(folder_name), &format!("{name}.rml"), threads, models) {
            assert_eq!(accepted(&text), Ok(true), "{name}");
            all += 1;
            let views = cyrano_certificate::parse(&text).expect("it can be read").states.len();
            for at in [0, views / 2, views - 1] {
                assert_eq!(tampered(&text, |lines| drop(lines.remove(at))), Ok(false), "{name} without view {at}");
            }
            // Every view with another value somewhere in memory, instead of itself.
            let other = |line: &str| line.replacen("\"m\":[0", "\"m\":[1", 1);
            let changed = tampered(&text, |lines| lines.iter_mut().for_each(|line| *line = other(line)));
            assert_ne!(changed, Ok(true), "{name} with another memory");
            let certificate = || cyrano_certificate::parse(&text).expect("it can be read");
            let size = |k: usize| {
                let mut certificate = certificate();
                certificate.every_number.as_mut().expect("it has views").k = k;
                accepted(&cyrano_certificate::print(&certificate))
            };
            assert!([1, 2, 3].iter().filter(|k| size(**k) == Ok(true)).count() == 1, "{name} with another k");
            let mut other = certificate();
            other.origin.source.push_str("\nthreads { }");
            assert_ne!(accepted(&cyrano_certificate::print(&other)), Ok(true), "{name} with another source");
            let mut other = certificate();
            other.program.locations[0].init += 1;
            assert_eq!(accepted(&cyrano_certificate::print(&other)), Ok(false), "{name} with another program");
            let mut one = certificate();
            (one.every_number, one.program.families) = (None, Vec::new());
            assert_ne!(accepted(&cyrano_certificate::print(&one)), Ok(true), "{name} without its family");
        }
    }
    println!("{all} certificates for every number of threads");
    assert!(all >= 28, "{all}");
}

/// Without the elements that follow members a deadlock is not excluded.
#[test]
fn deadlocks_are_part_of_certificates() {
    let texts = certificates(&folder("parameterised"), "semaphore.rml", Threads::AsWritten, &["sc"]);
    let mut certificate = cyrano_certificate::parse(&texts[0]).expect("it can be read");
    let elements = certificate.every_number.as_ref().expect("it has views").elements.clone();
    let mut without = |left: Vec<Box<str>>| {
        certificate.every_number.as_mut().expect("it has views").elements = left;
        accepted(&cyrano_certificate::print(&certificate))
    };
    assert_eq!(without(Vec::new()), Ok(false));
    // One may be missing if another one says less.
    let missed =
        (0..elements.len()).filter(|at| without([&elements[..*at], &elements[at + 1..]].concat()) == Ok(false));
    assert!(missed.count() > 0);
    assert_eq!(without(elements.clone()), Ok(true));
}

struct One(String);

impl Files for One {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        Ok(Source { name: name.to_owned(), text: self.0.clone(), dir: None })
    }

    fn beside(&self, _: &Source, name: &str) -> Result<Source, Failure> {
        Err(Failure::input(name))
    }
}
