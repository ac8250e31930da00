//! Those who should not join, those who disturb, and those who go away.

mod local;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cyrano_cluster::{ClusterSearch, Error, Key};
use cyrano_engine::{Answer, Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Property, TxCriterion};
use local::{Cluster, free, library};

/// Asks whether a transactional memory is opaque: a second or so for one machine.
fn ask(search: &ClusterSearch, threads: i128) -> Answer {
    let set = [("threads".to_owned(), threads), ("vars".to_owned(), 2)];
    let program = cyrano_rml::compile(&library("stm/tl2.rml"), "tl2", &set).expect("the library compiles");
    let model = cyrano_memory::named("sc").expect("a model");
    let property = Property::Transactions(TxCriterion::Opacity);
    let query = Query { program: &program, model: &model, question: Question::Holds(&property) };
    search.ask(query, &Limits::default(), &())
}

fn message<T>(result: &Result<T, Error>) -> String {
    result.as_ref().err().map(ToString::to_string).unwrap_or_default()
}

fn short() -> Cluster {
    Cluster { processes: 2, wait: Duration::from_secs(3), ..Cluster::default() }
}

#[test]
fn another_key_is_refused_on_both_sides() {
    let change = |process: usize, options: &mut cyrano_cluster::Options| {
        if process == 1 {
            options.key = Key::new(b"another key, long enough").expect("it is long enough");
        }
    };
    let results = short().run_with(change, |_| ());
    assert!(message(&results[0]).contains("another key"), "{results:?}");
    assert!(message(&results[0]).contains("process 1") && message(&results[0]).contains("did not join"), "{results:?}");
    assert!(message(&results[1]).contains("process 0") && message(&results[1]).contains("another key"), "{results:?}");
}

#[test]
fn another_configuration_is_refused_with_the_difference_and_at_once() {
    let change = |process: usize, options: &mut cyrano_cluster::Options| {
        let arguments = if process == 1 { "--model tso" } else { "--model sc" };
        options.configuration.push(("arguments".into(), arguments.into()));
    };
    let start = Instant::now();
    let results = Cluster { processes: 2, ..Cluster::default() }.run_with(change, |_| ());
    assert!(message(&results[0]).contains("arguments: `--model sc` here, `--model tso` there"), "{results:?}");
    assert!(message(&results[1]).contains("arguments: `--model tso` here, `--model sc` there"), "{results:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
    let version = |process: usize, options: &mut cyrano_cluster::Options| {
        options.configuration[0].1 = process.to_string();
    };
    let results = short().run_with(version, |_| ());
    assert!(results.iter().all(|result| message(result).contains("version: ")), "{results:?}");
    let workers = |process: usize, options: &mut cyrano_cluster::Options| options.workers = process + 1;
    let results = short().run_with(workers, |_| ());
    assert!(results.iter().all(|result| message(result).contains("workers: ")), "{results:?}");
}

#[test]
fn a_process_that_does_not_come_is_named() {
    let hosts = free(2);
    let cluster = short();
    let result = ClusterSearch::join(&Explore::default(), cluster.options(&hosts, 0), &|_| {}).map(|_| ());
    assert!(message(&result).contains(&format!("process 1 ({}) did not join", hosts[1])), "{result:?}");
    let result = ClusterSearch::join(&Explore::default(), cluster.options(&hosts, 1), &|_| {}).map(|_| ());
    assert!(message(&result).contains(&format!("process 0 ({}) did not join", hosts[0])), "{result:?}");
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let mut hosts = free(2);
    hosts[0] = listener.local_addr().expect("it is bound").to_string();
    let result = ClusterSearch::join(&Explore::default(), short().options(&hosts, 0), &|_| {}).map(|_| ());
    assert!(message(&result).contains("cannot listen"), "{result:?}");
}

/// What somebody who does not belong to the cluster does with a connection, until it is told to stop.
type Stranger = fn(TcpStream, &AtomicBool);

fn garbage(mut stream: TcpStream, _: &AtomicBool) {
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let _ = stream.write_all(&[0xff; 100_000]);
}

fn half_open(stream: TcpStream, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stream);
}

fn slow(mut stream: TcpStream, over: &AtomicBool) {
    for byte in b"cyrano-cluster 1".iter().cycle() {
        if over.load(Ordering::Relaxed) || stream.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A proper greeting, from an old recording; there is no key behind it.
fn recorded(mut stream: TcpStream, _: &AtomicBool) {
    let mut greeting = b"cyrano-cluster 1".to_vec();
    greeting.extend_from_slice(&1u32.to_le_bytes());
    greeting.extend_from_slice(&2u32.to_le_bytes());
    greeting.extend_from_slice(&[7; 64]);
    let _ = stream.write_all(&greeting).and_then(|()| stream.write_all(&[0; 32]));
    let _ = stream.read_to_end(&mut Vec::new());
}

/// A run completes although strangers connect to process 0 all the time, before and after process 1 does.
fn check(strangers: &[Stranger], told: &str) {
    let cluster = Cluster { processes: 2, ..Cluster::default() };
    let hosts = free(2);
    let over = AtomicBool::new(false);
    let notes = Mutex::new(String::new());
    std::thread::scope(|scope| {
        let zero = scope.spawn(|| {
            let note = |text: &str| notes.lock().expect("no panic").push_str(text);
            let search = ClusterSearch::join(&Explore::default(), cluster.options(&hosts, 0), &note);
            search.map(|search| ask(&search, 2).verdict)
        });
        for stranger in strangers.iter().cycle().take(40) {
            let (hosts, over) = (&hosts, &over);
            scope.spawn(move || {
                for _ in 0..100 {
                    match TcpStream::connect(&hosts[0]) {
                        Ok(stream) => return stranger(stream, over),
                        Err(_) => std::thread::sleep(Duration::from_millis(10)),
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(1000));
        let one = ClusterSearch::join(&Explore::default(), cluster.options(&hosts, 1), &|_| {});
        assert_eq!(one.map(|search| ask(&search, 2).verdict), Ok(Verdict::Verified));
        assert_eq!(zero.join().expect("no panic"), Ok(Verdict::Verified));
        over.store(true, Ordering::Relaxed);
    });
    let notes = notes.into_inner().expect("no panic");
    assert!(notes.contains(told), "{notes}");
}

#[test]
fn garbage_does_not_disturb() {
    check(&[garbage], "no Cyrano process");
}

#[test]
fn half_open_connections_do_not_disturb() {
    check(&[half_open], "");
}

#[test]
fn slow_strangers_do_not_disturb() {
    check(&[slow, half_open, garbage], "no Cyrano process");
}

#[test]
fn greetings_without_a_key_do_not_disturb() {
    check(&[recorded], "another key");
}

#[test]
fn a_process_that_goes_away_stops_the_others() {
    let start = Instant::now();
    let results = Cluster::default().run(|search| {
        if search.process() == 1 {
            // It leaves without asking what the others ask.
            return (None, None);
        }
        let answer = ask(search, 2);
        (answer.reason, search.fault())
    });
    let results: Vec<_> = results.into_iter().map(|result| result.expect("the cluster comes together")).collect();
    for (reason, fault) in [&results[0], &results[2]] {
        let (reason, fault) = (reason.clone().unwrap_or_default(), fault.clone().unwrap_or_default());
        assert!(reason.contains("process 1") && fault.contains("process 1"), "{results:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn other_questions_are_noticed() {
    let results =
        Cluster { processes: 2, ..Cluster::default() }.run(|search| ask(search, 1 + search.process() as i128));
    for result in results {
        let answer = result.expect("the cluster comes together");
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert!(
            answer.reason.as_deref().is_some_and(|reason| reason.contains("asks another question")),
            "{:?}",
            answer.reason
        );
    }
}
