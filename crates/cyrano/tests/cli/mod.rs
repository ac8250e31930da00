//! Running the binary in a directory of its own.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory with some files, in which commands are run.
pub struct Folder {
    dir: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    /// A directory with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let place = Self { dir: tempfile::tempdir().expect("a temporary directory can be made") };
        for (name, text) in files {
            place.write(name, text.as_bytes());
        }
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("a file can be written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    /// A command that has not been started.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cyrano"));
        command.env("CYRANO_CACHE", "off");
        command.args(words(line)).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env("COLUMNS", "100").env_remove("NO_COLOR").env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs a command line; words with spaces are put in single quotes.
    pub fn run(&self, line: &str) -> Done {
        let output = self.command(line).output().expect("the binary can be run");
        done(&output)
    }
}

/// A finished command's output as text.
pub fn done(output: &Output) -> Done {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    let done =
        Done { code: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) };
    assert!(!done.stderr.contains("panicked") && !done.stderr.contains("internal error"), "{}", done.stderr);
    done
}

/// Parses standard output as JSON.
pub fn json(done: &Done) -> serde_json::Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", done.stdout))
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, piece) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Store buffering, with checks on three models.
pub const SB: &str = "\
threads {
    shared x, y;
    thread p0 { local r1; x := 1; r1 := y }
    thread p1 { local r2; y := 1; r2 := x }
}
observe r1, r2;
check never (r1 = 0 && r2 = 0) on sc, tso;
check exists (r1 = 1 && r2 = 1);
";

/// A counter that two or more threads increment without care.
pub const COUNTER: &str = "\
const N = 2;
threads {
    shared c, done;
    thread w[N] {
        local l, d;
        l := c;
        c := l + 1;
        d := fetch_add(done, 1);
        if d = N - 1 {
            l := c;
            assert l = N, \"an increment was lost\"
        }
    }
}
check assertions;
";

/// Two locks taken in opposite order.
pub const DEADLOCK: &str = "\
threads {
    shared a, b;
    thread p {
        local l;
        atomic { l := a; assume l = 0; a := 1 }
        atomic { l := b; assume l = 0; b := 1 }
        b := 0;
        a := 0
    }
    thread q {
        local l;
        atomic { l := b; assume l = 0; b := 1 }
        atomic { l := a; assume l = 0; a := 1 }
        a := 0;
        b := 0
    }
}
check assertions on sc, tso;
";

/// Neither a check nor an assertion.
pub const NOTHING: &str = "\
threads {
    shared x;
    thread p { x := 1 }
}
";

/// More states than anybody wants to wait for.
pub const ENDLESS: &str = "\
threads {
    shared x[6];
    thread w[6] {
        local l, i;
        loop {
            choose i in 0..5;
            l := x[i];
            x[i] := (l + self + 1) % 1000003;
            assert l >= 0
        }
    }
}
check assertions on sc;
";

/// A transactional memory with one lock, which is released by a plain store: right where stores stay in order.
pub const LOCKED: &str = "\
stm Locked {
    shared lock;
    data g[vars];
    local held, stored[vars], l;

    proc take {
        if held == 0 {
            l := cas(lock, 0, 1);
            if l != 0 then give_up;
            held := 1
        }
    }

    proc give_up { abort }

    read(v) { take; l := g[v]; rfin }

    write(v) {
        take;
        if stored[v] == 0 { g[v] := 1; stored[v] := 1 }
    }

    end {
        if held == 1 { lock := 0; held := 0 }
        foreach u in 0..vars-1 { stored[u] := 0; }
        commit
    }
}
check opacity on sc, pso;
";

/// Thread 1 reads x before and y after the commit of thread 2.
pub const TORN: &str = "\
history memory
1 load x
1 rfin
2 store x
2 store y    # both at once, as it should be
2 commit
1 load y
1 rfin
";
