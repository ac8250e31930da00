//! A page for one user on this machine: HTTP on the loopback interface, one request for each connection.
//!
//! **Invariants:** nothing is answered but a request that carries the token, which is random and part of every address, and whose `Host` and
//! `Origin` are this server's own, so that no page from elsewhere can reach it through the browser (DNS rebinding). Heads, bodies,
//! times and connections are bounded. Whatever arrives is answered, with a status of 4xx where it must be, and the server goes on.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cyrano_session::Failure;

/// The longest head of a request, and how many lines it may have.
const MOST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;

/// The longest body.
pub const MOST_BODY: usize = 128 << 10;

/// How many bytes of a refused request are read so that the other side can read the answer.
const MOST_DRAINED: usize = 4 << 20;

/// How long a request may take to arrive, and an answer to leave.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many connections there may be at a time; more are closed.
const MOST_CONNECTIONS: usize = 64;

/// How often in a row a connection may fail to come about, and the time in between.
const MOST_FAILURES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// A request with the right token.
#[derive(Debug)]
pub struct Request {
    /// `GET` or `POST`.
    pub post: bool,
    /// What comes behind the token.
    pub path: String,
    /// The body.
    pub body: String,
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub content: &'static str,
    /// The body.
    pub body: String,
}

impl Response {
    /// What was asked for.
    pub fn ok(content: &'static str, body: String) -> Self {
        Self { status: 200, content, body }
    }

    /// An answer that is none.
    pub fn refusal(status: u16, why: impl Into<String>) -> Self {
        Self { status, content: "text/plain; charset=utf-8", body: why.into() }
    }
}

/// A server that has its port.
pub struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
    connections: AtomicUsize,
}

impl Server {
    /// Takes a port, any one if it is 0, and makes up a token.
    pub fn bind(port: u16) -> Result<Self, Failure> {
        let unable =
            |error: std::io::Error| Failure::input(format!("port {port} of 127.0.0.1 cannot be used: {error}"));
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(unable)?;
        let port = listener.local_addr().map_err(unable)?.port();
        let mut random = [0u8; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Failure::input(format!("this machine gives no random numbers: {error}")))?;
        let token = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { listener, port, token, connections: AtomicUsize::new(0) })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers requests until the process ends.
    pub fn run(&self, answer: &(dyn Fn(&Request) -> Response + Sync)) -> Result<(), Failure> {
        std::thread::scope(|scope| {
            let mut failures = 0;
            loop {
                let stream = match self.listener.accept() {
                    Ok((stream, _)) => stream,
                    Err(_) if failures < MOST_FAILURES => {
                        failures += 1;
                        std::thread::sleep(PAUSE);
                        continue;
                    }
                    Err(error) => return Err(Failure::input(format!("no more connections: {error}"))),
                };
                failures = 0;
                if self.connections.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                    self.connections.fetch_sub(1, Ordering::SeqCst);
                    continue;
                }
                let work = move || {
                    // A connection that fails concerns nobody else.
                    let _ = self.serve(stream, answer);
                    self.connections.fetch_sub(1, Ordering::SeqCst);
                };
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    self.connections.fetch_sub(1, Ordering::SeqCst);
                }
            }
        })
    }

    /// One connection.
    fn serve(&self, mut stream: TcpStream, answer: &(dyn Fn(&Request) -> Response + Sync)) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let deadline = Instant::now() + PATIENCE;
        let (response, read_all) = match self.receive(&mut stream, deadline) {
            Ok(request) => {
                let result = catch_unwind(AssertUnwindSafe(|| answer(&request)));
                (result.unwrap_or_else(|_| Response::refusal(500, "A fault of Cyrano; the terminal has more.")), true)
            }
            Err(Unreceived::Refused(response)) => (response, false),
            Err(Unreceived::Gone) => return Ok(()),
        };
        stream.write_all(&encode(&response))?;
        stream.shutdown(Shutdown::Write)?;
        if !read_all {
            drain(&mut stream, deadline);
        }
        Ok(())
    }

    /// Reads a request and looks whether it may be answered.
    fn receive(&self, stream: &mut TcpStream, deadline: Instant) -> Result<Request, Unreceived> {
        let mut bytes = Vec::new();
        let (head, length) = loop {
            if let Some(found) = self.head(&bytes)? {
                break found;
            }
            if bytes.len() > MOST_HEAD {
                return Err(refused(431, "The head of the request is too long."));
            }
            read_some(stream, &mut bytes, deadline)?;
        };
        let Head { post, path, body } = head;
        while bytes.len() < length + body {
            read_some(stream, &mut bytes, deadline)?;
        }
        let body = std::str::from_utf8(&bytes[length..length + body]).map_err(|_| refused(400, "Not text."))?;
        Ok(Request { post, path, body: body.to_owned() })
    }

    /// The head of a request and its length, if there is all of it.
    fn head(&self, bytes: &[u8]) -> Result<Option<(Head, usize)>, Unreceived> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(refused(431, "Too many headers.")),
            Err(error) => return Err(refused(400, format!("Not a request: {error}."))),
        };
        self.admit(&parsed).map(|head| Some((head, length)))
    }

    fn admit(&self, parsed: &httparse::Request<'_, '_>) -> Result<Head, Unreceived> {
        let values = |name: &str| {
            let same = parsed.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            same.map(|header| String::from_utf8_lossy(header.value).trim().to_owned()).collect::<Vec<_>>()
        };
        let own = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let is_own = |host: &str| own.iter().any(|name| name.eq_ignore_ascii_case(host));
        let origin_is_own = |origin: &String| origin.strip_prefix("http://").is_some_and(is_own);
        if !matches!(values("host").as_slice(), [host] if is_own(host)) {
            return Err(refused(403, "This server is reached as 127.0.0.1 only."));
        }
        if !values("origin").iter().all(origin_is_own) {
            return Err(refused(403, "This server is for its own page only."));
        }
        let target = parsed.path.unwrap_or_default();
        let (token, path) = target.strip_prefix('/').and_then(|rest| rest.split_once('/')).unwrap_or_default();
        if !same(token, &self.token) {
            return Err(refused(403, "The token in the address is wrong; the terminal has the right one."));
        }
        let post = match parsed.method {
            Some("GET") => false,
            Some("POST") => true,
            _ => return Err(refused(405, "GET and POST are all there is.")),
        };
        if !values("transfer-encoding").is_empty() {
            return Err(refused(411, "The length of the body has to be given."));
        }
        let body = match values("content-length").as_slice() {
            [] => Some(0),
            [length] if length.bytes().all(|byte| byte.is_ascii_digit()) => length.parse().ok().or(Some(usize::MAX)),
            _ => None,
        };
        match body {
            None => Err(refused(400, "The length of the body is no number.")),
            Some(length) if length > MOST_BODY => Err(refused(413, "The body is too long.")),
            Some(body) => Ok(Head { post, path: path.to_owned(), body }),
        }
    }
}

struct Head {
    post: bool,
    path: String,
    body: usize,
}

/// Why there is no request to answer.
enum Unreceived {
    Refused(Response),
    /// The other side has closed the connection, or takes too long.
    Gone,
}

fn refused(status: u16, why: impl Into<String>) -> Unreceived {
    Unreceived::Refused(Response::refusal(status, why))
}

fn read_some(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> Result<(), Unreceived> {
    let mut buffer = [0; 4096];
    let late = Instant::now() >= deadline;
    match stream.read(&mut buffer) {
        Ok(0) | Err(_) => Err(Unreceived::Gone),
        Ok(_) if late => Err(refused(408, "The request takes too long.")),
        Ok(number) => {
            bytes.extend_from_slice(&buffer[..number]);
            Ok(())
        }
    }
}

/// Reads on for a while: closing with bytes unread would take the answer back.
fn drain(stream: &mut TcpStream, deadline: Instant) {
    let mut buffer = [0; 4096];
    let mut left = MOST_DRAINED;
    while left > 0 && Instant::now() < deadline {
        match stream.read(&mut buffer) {
            Ok(number) if number > 0 => left = left.saturating_sub(number),
            _ => return,
        }
    }
}

/// Whether two tokens are the same, in a time that tells nothing about where they differ.
fn same(one: &str, other: &str) -> bool {
    let differ = one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differ == 0
}

fn encode(response: &Response) -> Vec<u8> {
    let Response { status, content, body } = response;
    let reason = if *status == 200 { "OK" } else { "Refused" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content}\r\nContent-Length: {length}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: frame-ancestors 'none'\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_random_and_compared_as_a_whole() {
        let [one, other] = [0, 0].map(|port| Server::bind(port).expect("a port is free").token);
        assert!(one.len() == 32 && one != other && same(&one, &one));
        assert!(!same(&one, &other) && !same(&one, &one[1..]) && !same("", &one) && !same(&format!("{one}0"), &one));
    }
}
