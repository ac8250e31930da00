//! What comes from outside cannot lie, crash or write to the terminal.
//!
//! A kept specification had no checksum, so one changed digit made a correct program a violated one. Escape sequences in names, messages and lines went to
//! the terminal. A limit on the size of files ended a search without a word, and macros that double took a gigabyte before they were refused. Registers at
//! the end of an execution were those of a thread that had run ahead.

use crate::cli::{self, Done, Folder};

/// Store buffering whose observations are compared with the serial ones.
const OBSERVED: &str = "\
threads {
    shared x, y;
    thread p { local a; operation first { x := 1; a := y } }
    thread q { local b; operation second { y := 1; b := x } }
}
observe a, b;
";

#[test]
fn a_damaged_specification_is_mined_again() {
    let place = Folder::new(&[("q.rml", OBSERVED)]);
    let run = |line: &str| {
        let output = place.command(line).env("CYRANO_CACHE", place.path("cache")).output().expect("it can be run");
        cli::json(&cli::done(&output))["checks"][0].clone()
    };
    let line = "check q.rml --criterion observations --model serial --format json";
    let first = run(line);
    assert_eq!((&first["verdict"], &first["specification"]["cached"]), (&"verified".into(), &false.into()), "{first}");
    assert_eq!(run(line)["specification"]["cached"], true);
    let entry = std::fs::read_dir(place.path("cache")).expect("there is a cache").next().expect("it has an entry");
    let entry = entry.expect("it can be read").path();
    let kept = std::fs::read_to_string(&entry).expect("it is text");
    // The observations stand between the number of them and the program.
    let head = kept.lines().take(5).map(str::len).sum::<usize>() + 5;
    let digits = kept.char_indices().take_while(|(at, _)| *at < head).filter(|(_, c)| c.is_ascii_digit());
    for (at, digit) in digits.collect::<Vec<_>>() {
        let mut damaged = kept.clone();
        damaged.replace_range(at..=at, if digit == '7' { "6" } else { "7" });
        std::fs::write(&entry, &damaged).expect("it can be written");
        let again = run(line);
        assert_eq!(
            (&again["verdict"], &again["specification"]["cached"]),
            (&"verified".into(), &false.into()),
            "{again}"
        );
    }
}

/// Whether nothing in an output would be obeyed by a terminal.
fn is_plain(done: &Done) {
    for text in [&done.stdout, &done.stderr] {
        let hidden = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(hidden), "{text:?}");
    }
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{7f}\r";
    let asserting = format!(
        "threads {{\n    shared x;\n    thread p {{ local l; l := x /* {evil} */ ; assert l = 1, \"{evil}\" }}\n}}\ncheck assertions on sc;\n"
    );
    let broken = format!("threads {{ shared x; // {evil}\n thread p {{ x := {evil} }} }}");
    let litmus = format!("X86 evil\n\"{evil}\"\n{{ x=0; }}\n P0 ;\n MOV [x],$1{evil} ;\nexists (x=1)\n");
    let files = [("a.rml", asserting.as_str()), ("b.rml", broken.as_str()), ("t.litmus", litmus.as_str())];
    let place = Folder::new(&files);
    place.write(&format!("{}.rml", "\u{1b}[31mname"), cli::SB.as_bytes());
    for format in ["text", "json", "sarif"] {
        let done = place.run(&format!("check a.rml --format {format} --color never"));
        assert_eq!(done.code, 1, "{done:?}");
        is_plain(&done);
        is_plain(&place.run(&format!("litmus t.litmus --format {format}")));
        is_plain(&place.run(&format!("check '\u{1b}[31mname.rml' --model tso --format {format}")));
    }
    let done = place.run("check b.rml");
    assert_eq!(done.code, 2);
    is_plain(&done);
    assert!(done.stderr.contains("\\x1b"), "{}", done.stderr);
    is_plain(&place.run("check '\u{1b}[31mnone.rml'"));
    is_plain(&place.run("check a.rml --set '\u{1b}[31m=1'"));
    let done = place.run("check a.rml --svg a.svg --dot a.dot --mermaid a.mmd --save-trace a.json");
    is_plain(&done);
    assert!(done.stdout.contains("\\x1b[2J"), "{}", done.stdout);
    for file in ["a.svg", "a.dot", "a.mmd"] {
        let text = place.read(file);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{file}: {text:?}");
    }
    is_plain(&place.run("replay a.json"));
    is_plain(&place.run("outcomes a.rml --model sc"));
}

#[test]
fn colours_are_our_own() {
    let text = "threads { shared x; thread p { local l; l := x; assert l = 1, \"\u{1b}[32mverified\u{1b}[0m\" } }\ncheck assertions on sc;\n";
    let place = Folder::new(&[("a.rml", text)]);
    let done = place.run("check a.rml --color always");
    assert!(done.stdout.contains("\u{1b}[1;31mviolated\u{1b}[0m"), "{:?}", done.stdout);
    assert!(
        !done.stdout.contains("\u{1b}[32mverified") && done.stdout.contains("\\x1b[32mverified"),
        "{:?}",
        done.stdout
    );
}

#[cfg(unix)]
fn in_shell(place: &Folder, limit: &str, line: &str) -> Done {
    let mut command = std::process::Command::new("sh");
    let script = format!("ulimit {limit}; exec {} {line}", env!("CARGO_BIN_EXE_cyrano"));
    command.arg("-c").arg(script).current_dir(place.path(".")).env("CYRANO_CACHE", "off");
    cli::done(&command.output().expect("there is a shell"))
}

#[cfg(unix)]
#[test]
fn a_limit_on_files_is_a_limit() {
    let place = Folder::new(&[("endless.rml", cli::ENDLESS)]);
    // 512 or 1024 bytes each.
    let line = "check endless.rml --disk d --memory 4 --timeout 60 --quiet";
    let done = in_shell(&place, "-f 2000", line);
    assert_eq!(done.code, 3, "{done:?}");
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("as large as files of this process may be"), "{done:?}");
    let done = in_shell(&place, "-f 4000", &format!("{line} --resume"));
    assert_eq!(done.code, 3, "what was found can be used: {done:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn macros_that_double_are_refused_cheaply() {
    let lines = |line: &dyn Fn(usize) -> String| (1..40).map(line).collect::<String>();
    let doubling = lines(&|n| format!("#define m{n} m{} m{}\n", n - 1, n - 1));
    let calls = lines(&|n| format!("#define f{n}(x) f{}(x x x x)\n", n - 1));
    let wide = format!("#define w(x) {}\n", "x ".repeat(20_000));
    let nested = (0..6).fold("1".to_owned(), |inner, _| format!("w({inner})"));
    let bombs = [
        format!("#define m0 1\n{doubling}int a = m39;\n"),
        format!("#define f0(x) x\n{calls}int a = f39(1);\n"),
        format!("{wide}int a = {nested};\n"),
    ];
    for bomb in bombs {
        let place = Folder::new(&[("bomb.c", &bomb), ("bomb.tests", "")]);
        // Far less than what the tokens would take; most of it is the program itself and its threads.
        let done = in_shell(&place, "-v 400000", "check bomb.c");
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.stderr.contains("macros expand to too many tokens"), "{}", done.stderr);
    }
}

#[test]
fn registers_at_the_end_are_those_of_the_position() {
    let text = "\
threads {
    shared x, y;
    thread p {
        local a, b;
        a := x;
        b := 1;
        assert a = 1;
        b := 2;
        y := 1;
        b := 3
    }
    thread q {
        local c;
        c := 7;
        x := 1;
        c := 8
    }
}
check assertions on sc, tso;
";
    let place = Folder::new(&[("a.rml", text)]);
    let done = place.run("check a.rml --model sc --save-trace t.json");
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("p: at line 7, `assert a = 1`; a = 0, b = 1\n"), "{}", done.stdout);
    assert!(done.stdout.contains("q: at line 15, `x := 1`; c = 7\n"), "{}", done.stdout);
    // The registers of the last step are the same.
    let trace: serde_json::Value = serde_json::from_str(&place.read("t.json")).expect("it is JSON");
    let changes = trace["changes"].as_array().expect("there are changes");
    let last = |thread: &str, name: &str| {
        let mut own = changes.iter().filter(|change| change["thread"] == thread && change["name"] == name);
        own.next_back().map(|change| change["value"].clone())
    };
    assert_eq!((last("p", "b"), last("q", "c")), (Some(1.into()), Some(7.into())), "{changes:?}");
    assert_eq!(place.run("replay t.json").code, 0);
}

#[test]
fn fences_for_litmus_tests_are_those_of_relations() {
    let place = Folder::new(&[(
        "sb.litmus",
        "X86 SB\n{ x=0; y=0; }\n P0         | P1         ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n",
    )]);
    assert_eq!(place.run("litmus sb.litmus").code, 0);
    let done = place.run("fence sb.litmus --model tso");
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.stderr.contains("use cat:tso"), "{}", done.stderr);
    let done = place.run("fence sb.litmus --model cat:tso");
    assert_eq!((done.code, done.stdout.matches("MFENCE").count() >= 2), (0, true), "{done:?}");
}
