//! Execution graphs here and in GenMC, side by side: programs of our own in both languages, how many executions there are, and how many a second.
//!
//! `cargo build --release -p cyrano && cargo bench -p cyrano-benches --bench graphs`, with `GENMC=FILE` for GenMC's binary; without it only our numbers are printed.
//! `CYRANO=FILE` takes another binary of ours. Different counts fail the benchmark; times do not, for they depend on the machine.

use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// An access of a thread to a location by its number.
#[derive(Clone, Copy)]
enum Op {
    Load(usize),
    /// Stores a number.
    Store(usize, u32),
    /// Stores the sum of the last two loads.
    StoreSum(usize),
    /// Adds one.
    Add(usize),
}

/// A program that only makes these accesses, all of them with the same orders.
struct Shape {
    name: String,
    locations: usize,
    initial: u32,
    /// The orders of loads, stores and updates.
    orders: [&'static str; 3],
    threads: Vec<Vec<Op>>,
}

const RELAXED: [&str; 3] = ["relaxed"; 3];
const ORDERED: [&str; 3] = ["acquire", "release", "acq_rel"];
const STRONG: [&str; 3] = ["seq_cst"; 3];

/// Two threads that add to each other's numbers.
fn fibonacci(rounds: usize) -> Shape {
    let thread = |own: usize| [Op::Load(own), Op::Load(1 - own), Op::StoreSum(own)].repeat(rounds);
    shape(format!("fibonacci {rounds}"), (2, 1), ORDERED, vec![thread(0), thread(1)])
}

/// Threads that add one to the same location.
fn increments(threads: usize) -> Shape {
    shape(format!("increments {threads}"), (1, 0), RELAXED, vec![vec![Op::Add(0)]; threads])
}

/// Store buffering in a ring of threads.
fn ring(threads: usize, orders: [&'static str; 3], name: &str) -> Shape {
    let thread = |at: usize| vec![Op::Store(at, 1), Op::Load((at + 1) % threads)];
    shape(format!("{name} {threads}"), (threads, 0), orders, (0..threads).map(thread).collect())
}

/// Threads that store twice to one location, and one that looks at it.
fn stores(threads: u32, looks: usize) -> Shape {
    let thread = |at: u32| vec![Op::Store(0, 2 * at + 1), Op::Store(0, 2 * at + 2)];
    let threads = (0..threads).map(thread).chain([vec![Op::Load(0); looks]]).collect();
    shape(format!("stores, {looks} loads"), (1, 0), RELAXED, threads)
}

fn shape(name: String, (locations, initial): (usize, u32), orders: [&'static str; 3], threads: Vec<Vec<Op>>) -> Shape {
    Shape { name, locations, initial, orders, threads }
}

impl Shape {
    /// The body of a thread; `address` writes a location as an argument.
    fn body(&self, thread: &[Op], address: impl Fn(usize) -> String) -> String {
        let [load, store, update] = self.orders;
        let mut loads = 0;
        let mut lines = String::new();
        for op in thread {
            let line = match *op {
                Op::Load(at) => {
                    loads += 1;
                    format!("int r{loads} = atomic_load_explicit({}, memory_order_{load});", address(at))
                }
                Op::Store(at, value) => {
                    format!("atomic_store_explicit({}, {value}, memory_order_{store});", address(at))
                }
                Op::StoreSum(at) => {
                    let sum = format!("r{} + r{loads}", loads - 1);
                    format!("atomic_store_explicit({}, {sum}, memory_order_{store});", address(at))
                }
                Op::Add(at) => format!("atomic_fetch_add_explicit({}, 1, memory_order_{update});", address(at)),
            };
            lines.push_str(&format!("  {line}\n"));
        }
        lines
    }

    /// In the litmus format.
    fn litmus(&self) -> String {
        let all = |each: &dyn Fn(usize) -> String, between: &str| {
            (0..self.locations).map(each).collect::<Vec<_>>().join(between)
        };
        let initial = all(&|at| format!("x{at} = {};", self.initial), " ");
        let parameters = all(&|at| format!("atomic_int* x{at}"), ", ");
        let mut text = format!("C shape\n{{ {initial} }}\n");
        for (number, thread) in self.threads.iter().enumerate() {
            let body = self.body(thread, |at| format!("x{at}"));
            text.push_str(&format!("P{number}({parameters}) {{\n{body}}}\n"));
        }
        // Something that never holds, so that all executions are looked at.
        text + "exists (x0 = -1)\n"
    }

    /// As a C program.
    fn program(&self) -> String {
        let mut text = String::from("#include <pthread.h>\n#include <stdatomic.h>\n");
        (0..self.locations).for_each(|at| text.push_str(&format!("atomic_int x{at} = {};\n", self.initial)));
        let mut main = String::from("int main(void)\n{\n");
        for (number, thread) in self.threads.iter().enumerate() {
            let body = self.body(thread, |at| format!("&x{at}"));
            text.push_str(&format!("void *p{number}(void *unused)\n{{\n{body}  return 0;\n}}\n"));
            main.push_str(&format!("  pthread_t t{number};\n  pthread_create(&t{number}, 0, p{number}, 0);\n"));
        }
        text + &main + "  return 0;\n}\n"
    }
}

/// How many executions there are, and how many seconds it took to find them.
struct Found {
    executions: u64,
    seconds: f64,
}

fn main() {
    let genmc = std::env::var_os("GENMC").map(PathBuf::from);
    if genmc.is_none() {
        println!("GENMC is not set: only Cyrano is measured");
    }
    let folder = std::env::temp_dir().join(format!("cyrano-graphs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let shapes = [
        fibonacci(5),
        fibonacci(6),
        increments(7),
        increments(8),
        ring(17, RELAXED, "ring"),
        ring(12, STRONG, "strong ring"),
        stores(4, 3),
    ];
    println!("{:<18} {:>10} {:>10} {:>10} {:>8} {:>6}", "", "executions", "cyrano/s", "genmc/s", "ratio", "two");
    let different = shapes.iter().filter(|shape| !compare(shape, &folder, genmc.as_deref())).count();
    // What was written is not needed any more; a folder that stays behind harms nobody.
    let _ = std::fs::remove_dir_all(&folder);
    if different > 0 {
        eprintln!("{different} programs have other numbers of executions");
        exit(1);
    }
}

/// Prints a line; says whether the counts are the same.
fn compare(shape: &Shape, folder: &Path, genmc: Option<&Path>) -> bool {
    let litmus = folder.join("shape.litmus");
    std::fs::write(&litmus, shape.litmus()).expect("it can be written");
    let (one, two) = (ours(&litmus, 1), ours(&litmus, 2));
    let theirs = genmc.map(|genmc| {
        let program = folder.join("shape.c");
        std::fs::write(&program, shape.program()).expect("it can be written");
        theirs(genmc, &program)
    });
    let rate = |found: &Found| found.executions as f64 / found.seconds;
    let (peer, ratio) = theirs.as_ref().map_or_else(
        || ("-".to_owned(), "-".to_owned()),
        |theirs| (format!("{:.0}", rate(theirs)), format!("{:.2}", rate(&one) / rate(theirs))),
    );
    let (speed, both) = (rate(&one), rate(&two) / rate(&one));
    println!("{:<18} {:>10} {speed:>10.0} {peer:>10} {ratio:>8} {both:>6.2}", shape.name, one.executions);
    let others = theirs.map(|theirs| theirs.executions);
    one.executions == two.executions && others.is_none_or(|others| others == one.executions)
}

fn ours(litmus: &Path, workers: usize) -> Found {
    let mut command = Command::new(cyrano());
    command.args(["check", "--engine", "graphs", "--model", "rc11", "--no-reduction", "thread-symmetry"]);
    command.args(["--format", "json", "--workers"]);
    let output = command.arg(workers.to_string()).arg(litmus).output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |name: &str| text.split_once(&format!("\"{name}\": ")).map(|(_, rest)| leading(rest));
    let (Some(executions), Some(seconds)) = (number("executions"), number("seconds")) else {
        eprintln!("no executions: {text}{}", String::from_utf8_lossy(&output.stderr));
        exit(2)
    };
    Found { executions: executions as u64, seconds }
}

/// GenMC counts executions and tells its time in words. Symmetry is switched off: here, too, executions of equal threads count one by one.
fn theirs(genmc: &Path, program: &Path) -> Found {
    let output = Command::new(genmc)
        .args(["--rc11", "--disable-sr", "--disable-estimation"])
        .arg(program)
        .output()
        .expect("GenMC runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let after = |words: &str| text.split_once(words).map(|(_, rest)| leading(rest.trim_start()));
    let (Some(executions), Some(seconds)) = (after("complete executions explored:"), after("wall-clock time:")) else {
        eprintln!("no executions: {text}{}", String::from_utf8_lossy(&output.stderr));
        exit(2)
    };
    Found { executions: executions as u64, seconds: seconds.max(0.01) }
}

/// The number at the beginning.
fn leading(text: &str) -> f64 {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().unwrap_or(0.0)
}

/// The binary: what `CYRANO` names, or the one beside this benchmark.
fn cyrano() -> PathBuf {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("cyrano"));
    let named = std::env::var_os("CYRANO").map(PathBuf::from);
    named.or_else(beside).filter(|path| path.is_file()).unwrap_or_else(|| {
        eprintln!("there is no binary to measure; `cargo build --release -p cyrano` makes one");
        exit(2)
    })
}
