//! Connections to all other processes: each process listens at its own address and connects to those before it in the list.
//!
//! Everybody who connects is dealt with on a thread of its own and for a few seconds only, so that whoever sends garbage, or nothing, or
//! one byte a second, holds nobody up. Strangers and wrong keys never end a run: what they tried is remembered and told when a process
//! does not come. A process with the right key and another configuration does end it, at once.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::handshake::{Refusal, Side, accept, initiate};
use crate::{Error, Options};

/// How long an introduction may take.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// How many introductions go on at a time; others are turned away.
const GUESTS: usize = 64;
/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(50);

/// What happened on one of the threads.
enum Event {
    Joined(usize, TcpStream),
    /// Somebody was refused, which is worth telling.
    Refused(String),
    /// Somebody is not there yet, which is worth remembering.
    Absent(String),
    /// There is no use in waiting.
    Fatal(String),
}

/// Connects to all other processes: in their order, with `None` for this one.
pub(crate) fn connect(options: &Options, note: &dyn Fn(&str)) -> Result<Vec<Option<TcpStream>>, Error> {
    let processes = options.hosts.len();
    let mut sockets: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
    if processes == 1 {
        return Ok(sockets);
    }
    let side = Side {
        process: options.process,
        processes,
        key: options.key.clone(),
        configuration: options.configuration.clone(),
    };
    let deadline = Instant::now() + options.wait;
    let own = &options.hosts[options.process];
    let listener = bind(own)?;
    let (sender, events) = channel();
    let over = Arc::new(AtomicBool::new(false));
    if options.process + 1 < processes {
        let (side, sender, over) = (side.clone(), sender.clone(), Arc::clone(&over));
        std::thread::spawn(move || listen(&listener, &side, &sender, &over));
    }
    for (peer, host) in options.hosts.iter().enumerate().take(options.process) {
        let (side, sender, over, host) = (side.clone(), sender.clone(), Arc::clone(&over), host.clone());
        std::thread::spawn(move || reach(peer, &host, &side, deadline, &sender, &over));
    }
    let mut refused: Option<String> = None;
    let result = loop {
        let missing: Vec<usize> =
            (0..processes).filter(|at| *at != options.process && sockets[*at].is_none()).collect();
        if missing.is_empty() {
            break Ok(());
        }
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Joined(peer, stream)) => sockets[peer] = Some(stream),
            Ok(Event::Refused(text)) => {
                // A scanner that comes again and again is told about once.
                if refused.as_ref() != Some(&text) {
                    note(&text);
                }
                refused = Some(text);
            }
            Ok(Event::Absent(text)) => refused = Some(text),
            Ok(Event::Fatal(text)) => break Err(Error::new(text)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                break Err(Error::new(absent(options, &missing, refused.as_deref())));
            }
        }
    };
    over.store(true, Ordering::Relaxed);
    result.map(|()| sockets)
}

fn absent(options: &Options, missing: &[usize], refused: Option<&str>) -> String {
    let names: Vec<String> = missing.iter().map(|at| format!("process {at} ({})", options.hosts[*at])).collect();
    let seconds = options.wait.as_secs_f64();
    let last = refused.map(|text| format!("; {text}")).unwrap_or_default();
    format!("{} did not join within {seconds} s{last}", names.join(", "))
}

fn addresses(host: &str) -> Result<Vec<SocketAddr>, std::io::Error> {
    host.to_socket_addrs().map(Iterator::collect)
}

fn bind(own: &str) -> Result<TcpListener, Error> {
    let bound = addresses(own).and_then(|addresses| TcpListener::bind(&addresses[..]));
    let bound = bound.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    bound.map_err(|error| Error::new(format!("cannot listen at {own}, the address of this process: {error}")))
}

/// Receives others until it is over.
fn listen(listener: &TcpListener, side: &Side, sender: &Sender<Event>, over: &AtomicBool) {
    let joined = Arc::new(Mutex::new(vec![false; side.processes]));
    let guests = Arc::new(AtomicUsize::new(0));
    while !over.load(Ordering::Relaxed) {
        let Ok((stream, address)) = listener.accept() else {
            std::thread::sleep(PAUSE.min(Duration::from_millis(10)));
            continue;
        };
        if guests.fetch_add(1, Ordering::Relaxed) >= GUESTS {
            guests.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (side, sender, joined, guests) = (side.clone(), sender.clone(), Arc::clone(&joined), Arc::clone(&guests));
        std::thread::spawn(move || {
            if let Some(event) = receive(stream, address, &side, &joined) {
                // If nobody listens any more, all have joined or the run is over.
                let _ = sender.send(event);
            }
            guests.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Receives one guest.
fn receive(stream: TcpStream, address: SocketAddr, side: &Side, joined: &Mutex<Vec<bool>>) -> Option<Event> {
    let deadline = Instant::now() + INTRODUCTION;
    // Some systems hand down the listener's mode.
    stream.set_nonblocking(false).ok()?;
    let free = |process: usize| {
        let mut joined = joined.lock().expect("nobody panics while holding the list");
        !std::mem::replace(&mut joined[process], true)
    };
    Some(match accept(&stream, side, deadline, free) {
        Ok(peer) => Event::Joined(peer, stream),
        Err(Refusal::Stranger(why)) => Event::Refused(format!("a connection from {} was refused: {why}", address.ip())),
        Err(Refusal::Key) => {
            Event::Refused(format!("a connection from {} was refused: it has another key", address.ip()))
        }
        Err(Refusal::Number(why)) => Event::Refused(format!("a connection from {} was refused: {why}", address.ip())),
        Err(Refusal::Different(what)) => {
            Event::Fatal(format!("the process at {} does something else: {what}", address.ip()))
        }
    })
}

/// Connects to another process, again and again until it is there.
fn reach(peer: usize, host: &str, side: &Side, deadline: Instant, sender: &Sender<Event>, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) && Instant::now() < deadline {
        let attempt = Instant::now() + INTRODUCTION;
        let event = match dial(host, side, peer, attempt.min(deadline)) {
            Ok(stream) => Event::Joined(peer, stream),
            Err(Refusal::Stranger(why)) => {
                // Usually it has not been started yet.
                let _ = sender.send(Event::Absent(format!("process {peer} ({host}) cannot be reached: {why}")));
                std::thread::sleep(PAUSE);
                continue;
            }
            Err(Refusal::Key) => Event::Fatal(format!("process {peer} ({host}) has another key")),
            Err(Refusal::Different(what)) => {
                Event::Fatal(format!("process {peer} ({host}) does something else: {what}"))
            }
            Err(Refusal::Number(why)) => Event::Fatal(format!("process {peer} ({host}) refused this one: {why}")),
        };
        let _ = sender.send(event);
        return;
    }
}

fn dial(host: &str, side: &Side, peer: usize, deadline: Instant) -> Result<TcpStream, Refusal> {
    let mut last = Refusal::Stranger("the host has no address".to_owned());
    for address in addresses(host)? {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return initiate(&stream, side, peer, deadline).map(|()| stream),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}
