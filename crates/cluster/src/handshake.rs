//! How two processes make sure of each other before anything else is said.
//!
//! 1. Both send a greeting: protocol, number of the process, number of processes, a random number, a digest of the configuration.
//! 2. The one that connected proves that it has the key, by an HMAC of both greetings; the other one checks that and does the same. Roles
//!    are part of the codes, so that none can be sent back as one's own.
//! 3. Both send their configuration, with a code, and compare: who differs is told in what.
//!
//! Until step 2 is over the other side may be anybody. Nothing is read that is longer than what is expected, everything has to happen
//! before a deadline, and nothing of what was read is shown to users.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::key::{CODE, Key, digest, random};
use crate::wire::{Reader, Writer};
use crate::{Configuration, Error};

const MAGIC: &[u8; 16] = b"cyrano-cluster 1";
const GREETING: usize = MAGIC.len() + 8 + 2 * CODE;
/// The longest configuration, in bytes.
const LONGEST: u64 = 1 << 20;
const INITIATOR: &str = "initiator";
const ACCEPTOR: &str = "acceptor";

/// What the other side says to a proof.
const WELCOME: u8 = b'+';
const WRONG_KEY: u8 = b'k';
const TAKEN: u8 = b't';

/// What one side brings.
#[derive(Clone)]
pub(crate) struct Side {
    pub process: usize,
    pub processes: usize,
    pub key: Key,
    pub configuration: Configuration,
}

/// Why there is no connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It is no process of a cluster, or it is gone, or too slow.
    Stranger(String),
    /// It has another key.
    Key,
    /// It has the key, but another configuration; this is where they differ.
    Different(String),
    /// It has the key, but a number that is not free.
    Number(String),
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        let text = match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "it hung up".to_owned(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut => "it was too slow".to_owned(),
            _ => error.to_string(),
        };
        Self::Stranger(text)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Stranger(error.to_string())
    }
}

/// A connection that has to be done with the introductions before a deadline.
struct Talk<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl Talk<'_> {
    fn left(&self) -> Result<Option<Duration>, Refusal> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(std::io::Error::from(ErrorKind::TimedOut).into()) } else { Ok(Some(left)) }
    }

    /// Fills a buffer; a peer that sends a byte now and then does not get more time for it.
    fn read(&mut self, buffer: &mut [u8]) -> Result<(), Refusal> {
        let mut filled = 0;
        while filled < buffer.len() {
            self.stream.set_read_timeout(self.left()?)?;
            match self.stream.read(&mut buffer[filled..]) {
                Ok(0) => return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let mut buffer = [0; N];
        self.read(&mut buffer)?;
        Ok(buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.stream.set_write_timeout(self.left()?)?;
        Ok(self.stream.write_all(bytes)?)
    }
}

struct Greeting {
    bytes: Vec<u8>,
    process: usize,
    processes: usize,
}

impl Greeting {
    fn own(side: &Side) -> Result<Self, Refusal> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(side.process as u32).to_le_bytes());
        bytes.extend_from_slice(&(side.processes as u32).to_le_bytes());
        bytes.extend_from_slice(&random::<CODE>()?);
        bytes.extend_from_slice(&digest(&encode(&side.configuration)));
        Ok(Self { bytes, process: side.process, processes: side.processes })
    }

    fn read(talk: &mut Talk<'_>) -> Result<Self, Refusal> {
        let magic: [u8; MAGIC.len()] = talk.array()?;
        if magic != *MAGIC {
            let other = magic.starts_with(b"cyrano-cluster ");
            let text = if other { "it speaks another version of the protocol" } else { "it is no Cyrano process" };
            return Err(Refusal::Stranger(text.to_owned()));
        }
        let rest: [u8; GREETING - MAGIC.len()] = talk.array()?;
        let number = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]) as usize;
        let bytes = [&magic[..], &rest[..]].concat();
        Ok(Self { bytes, process: number(0), processes: number(4) })
    }
}

/// Introduces oneself to the process with this number.
pub(crate) fn initiate(stream: &TcpStream, side: &Side, peer: usize, deadline: Instant) -> Result<(), Refusal> {
    let mut talk = Talk { stream, deadline };
    let own = Greeting::own(side)?;
    talk.write(&own.bytes)?;
    let other = Greeting::read(&mut talk)?;
    let both = [&own.bytes[..], &other.bytes[..]].concat();
    talk.write(&side.key.code(INITIATOR, &both))?;
    if talk.array::<1>()? != [WELCOME] {
        return Err(Refusal::Key);
    }
    let proof: [u8; CODE] = talk.array()?;
    if !side.key.verifies(ACCEPTOR, &both, &proof) {
        return Err(Refusal::Key);
    }
    compare(&mut talk, side, [INITIATOR, ACCEPTOR], &both)?;
    numbers(side, &other, other.process == peer)?;
    match talk.array::<1>()? {
        [WELCOME] => Ok(()),
        [TAKEN] => Err(Refusal::Number(format!("another process has already joined as process {}", side.process))),
        _ => Err(Refusal::Stranger("it does not keep to the protocol".to_owned())),
    }
}

/// Receives somebody who connected; `join` takes a number and says if it was free.
pub(crate) fn accept(
    stream: &TcpStream,
    side: &Side,
    deadline: Instant,
    join: impl FnOnce(usize) -> bool,
) -> Result<usize, Refusal> {
    let mut talk = Talk { stream, deadline };
    let other = Greeting::read(&mut talk)?;
    let own = Greeting::own(side)?;
    talk.write(&own.bytes)?;
    let both = [&other.bytes[..], &own.bytes[..]].concat();
    let proof: [u8; CODE] = talk.array()?;
    if !side.key.verifies(INITIATOR, &both, &proof) {
        // If the answer does not arrive there is nobody to tell.
        let _ = talk.write(&[WRONG_KEY]);
        return Err(Refusal::Key);
    }
    talk.write(&[WELCOME])?;
    talk.write(&side.key.code(ACCEPTOR, &both))?;
    compare(&mut talk, side, [ACCEPTOR, INITIATOR], &both)?;
    numbers(side, &other, other.process > side.process && other.process < side.processes)?;
    if !join(other.process) {
        let _ = talk.write(&[TAKEN]);
        return Err(Refusal::Number(format!("process {} has already joined", other.process)));
    }
    talk.write(&[WELCOME])?;
    Ok(other.process)
}

fn numbers(side: &Side, other: &Greeting, fits: bool) -> Result<(), Refusal> {
    if other.processes != side.processes {
        let text = format!("{} processes here, {} there", side.processes, other.processes);
        return Err(Refusal::Different(text));
    }
    if fits {
        return Ok(());
    }
    Err(Refusal::Number(format!("it says that it is process {}, which does not fit the list of hosts", other.process)))
}

/// Exchanges configurations; roles are one's own and the other's.
fn compare(talk: &mut Talk<'_>, side: &Side, roles: [&str; 2], both: &[u8]) -> Result<(), Refusal> {
    let own = encode(&side.configuration);
    let code = |role: &str, bytes: &[u8]| [role.as_bytes(), b" configuration", both, bytes].concat();
    let mut message = Writer::default();
    message.bytes(&own);
    message.0.extend_from_slice(&side.key.code(roles[0], &code(roles[0], &own)));
    talk.write(&message.0)?;
    let length = u64::from_le_bytes(talk.array()?);
    if length > LONGEST {
        return Err(Refusal::Stranger("it does not keep to the protocol".to_owned()));
    }
    let mut other = vec![0; length as usize];
    talk.read(&mut other)?;
    let proof: [u8; CODE] = talk.array()?;
    if !side.key.verifies(roles[1], &code(roles[1], &other), &proof) {
        return Err(Refusal::Key);
    }
    match difference(&side.configuration, &decode(&other)) {
        None => Ok(()),
        Some(text) => Err(Refusal::Different(text)),
    }
}

fn encode(configuration: &Configuration) -> Vec<u8> {
    let mut writer = Writer::default();
    for (name, value) in configuration {
        writer.bytes(name.as_bytes()).bytes(value.as_bytes());
    }
    writer.0
}

fn decode(bytes: &[u8]) -> Configuration {
    let mut reader = Reader(bytes);
    let mut configuration = Configuration::new();
    while let (Some(name), Some(value)) = (reader.text(), reader.text()) {
        configuration.push((name, value));
    }
    configuration
}

/// Where two configurations differ first.
fn difference(own: &Configuration, other: &Configuration) -> Option<String> {
    let value = |list: &Configuration, name: &str| {
        list.iter().find(|(known, _)| known == name).map_or("nothing".to_owned(), |(_, value)| format!("`{value}`"))
    };
    let names = own.iter().chain(other).map(|(name, _)| name);
    let differs = names.into_iter().find(|name| value(own, name) != value(other, name))?;
    Some(format!("{differs}: {} here, {} there", value(own, differs), value(other, differs)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn side(process: usize, key: &str, options: &str) -> Side {
        let configuration = vec![("version".into(), "1".into()), ("options".into(), options.into())];
        Side { process, processes: 3, key: Key::new(key.as_bytes()).expect("it is long enough"), configuration }
    }

    /// What the acceptor (process 0) and the initiator say.
    fn check(initiator: &Side, free: bool) -> (Result<usize, Refusal>, Result<(), Refusal>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let deadline = Instant::now() + Duration::from_secs(5);
        std::thread::scope(|scope| {
            let accepted = scope.spawn(|| {
                let (stream, _) = listener.accept().expect("somebody connects");
                accept(&stream, &side(0, "the right key 123", "-x"), deadline, |_| free)
            });
            let stream = TcpStream::connect(address).expect("somebody listens");
            let initiated = initiate(&stream, initiator, 0, deadline);
            drop(stream);
            (accepted.join().expect("no panic"), initiated)
        })
    }

    #[test]
    fn friends_get_together_and_others_are_told_why_not() {
        assert_eq!(check(&side(2, "the right key 123", "-x"), true), (Ok(2), Ok(())));
        assert_eq!(check(&side(2, "the wrong key 123", "-x"), true), (Err(Refusal::Key), Err(Refusal::Key)));
        let (here, there) = check(&side(2, "the right key 123", "-y"), true);
        assert_eq!(here, Err(Refusal::Different("options: `-x` here, `-y` there".into())));
        assert_eq!(there, Err(Refusal::Different("options: `-y` here, `-x` there".into())));
        let (here, there) = check(&side(2, "the right key 123", "-x"), false);
        assert!(matches!((here, there), (Err(Refusal::Number(_)), Err(Refusal::Number(_)))));
        let (here, _) = check(&side(0, "the right key 123", "-x"), true);
        assert!(matches!(here, Err(Refusal::Number(_))));
        let (here, _) = check(&side(7, "the right key 123", "-x"), true);
        assert!(matches!(here, Err(Refusal::Number(_))));
    }

    #[test]
    fn a_proof_cannot_be_sent_back() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let deadline = Instant::now() + Duration::from_secs(5);
        std::thread::scope(|scope| {
            // A mirror: whatever arrives goes back.
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().expect("somebody connects");
                let mut greeting = [0; GREETING];
                stream.read_exact(&mut greeting).expect("a greeting");
                stream.write_all(&greeting).expect("it is sent back");
                let mut proof = [0; CODE];
                stream.read_exact(&mut proof).expect("a proof");
                stream.write_all(&[WELCOME]).and_then(|()| stream.write_all(&proof)).expect("it is sent back");
            });
            let stream = TcpStream::connect(address).expect("somebody listens");
            assert_eq!(initiate(&stream, &side(1, "the right key 123", "-x"), 0, deadline), Err(Refusal::Key));
        });
    }
}
