//! A connection under timely: what a broken one looks like is decided here.
//!
//! Timely panics on its own threads when a connection breaks, and cannot tell a peer that is silent from one that is gone. So it gets
//! sockets that never fail: a [`Link`] puts what timely sends into frames, among which are signs of life, and if something is wrong
//! it notes the [`Fault`], swallows what is sent and gives nothing more to read. Workers look at the faults between steps, and stop.
//!
//! **Invariant:** a connection that ends without an `End` frame is a fault; so is one on which nothing was heard for too long.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use timely::communication::allocator::zero_copy::stream::Stream;

/// How often a sign of life is sent.
const ALIVE: Duration = Duration::from_secs(1);
/// How often a reader that hears nothing looks around.
const LOOK: Duration = Duration::from_millis(250);
/// How long a process that is done may be alone with that.
const PARTING: Duration = Duration::from_secs(2);
/// Bytes of a frame before its content: what it is, and its length.
const HEAD: usize = 5;

const DATA: u8 = 0;
const LIFE: u8 = 1;
const END: u8 = 2;
const LOST: u8 = 3;

/// What all links of a process share.
pub(crate) struct Links {
    hosts: Vec<String>,
    silence: Duration,
    state: Mutex<LinkState>,
    changed: Condvar,
    broken: AtomicBool,
    /// Whether some other process is done.
    left: AtomicBool,
    /// States and bytes of each process, as far as is known.
    progress: Vec<[AtomicU64; 2]>,
    writers: Vec<Option<Mutex<TcpStream>>>,
    finished: AtomicBool,
}

#[derive(Default)]
struct LinkState {
    fault: Option<String>,
    /// Links whose other side has said that it is done.
    ended: usize,
    /// The first process that said so, and when.
    left: Option<(usize, Instant)>,
    /// Links on which this side has said so.
    closed: usize,
    /// Whether all workers of this process are gone.
    idle: bool,
}

/// One end of a connection.
pub(crate) struct Link {
    peer: usize,
    links: Arc<Links>,
    reader: BufReader<TcpStream>,
    /// How much of a frame of data has not been read.
    left: usize,
    ended: bool,
    heard: Instant,
}

/// Unwinds a thread of timely's, silently.
struct Gone;

impl Links {
    /// Prepares sockets; in their place there is `None` for this process.
    pub fn new(hosts: &[String], sockets: &[Option<TcpStream>], silence: Duration) -> std::io::Result<Arc<Self>> {
        let mut writers = Vec::new();
        for socket in sockets {
            let Some(socket) = socket else {
                writers.push(None);
                continue;
            };
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(LOOK))?;
            socket.set_write_timeout(Some(silence))?;
            writers.push(Some(Mutex::new(socket.try_clone()?)));
        }
        let links = Arc::new(Self {
            hosts: hosts.to_vec(),
            silence,
            state: Mutex::default(),
            changed: Condvar::new(),
            broken: AtomicBool::new(false),
            left: AtomicBool::new(false),
            progress: hosts.iter().map(|_| Default::default()).collect(),
            writers,
            finished: AtomicBool::new(false),
        });
        Ok(links)
    }

    /// Sends signs of life until everything is over.
    pub fn keep_alive(&self, own: usize) {
        let mut last = Instant::now();
        while !self.finished.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK.min(ALIVE));
            if last.elapsed() < ALIVE {
                continue;
            }
            last = Instant::now();
            let [states, bytes] = self.progress_of(own);
            let content = [states.to_le_bytes(), bytes.to_le_bytes()].concat();
            for peer in 0..self.writers.len() {
                self.put(peer, LIFE, &content, false);
            }
        }
    }

    /// What is wrong, if something is.
    pub fn fault(&self) -> Option<String> {
        if !self.broken.load(Ordering::Acquire) {
            return None;
        }
        self.lock().fault.clone()
    }

    /// What is wrong while a question is being answered. Processes that are done may leave a little before others have noticed that they
    /// are done themselves, but not earlier.
    pub fn trouble(&self) -> Option<String> {
        if self.left.load(Ordering::Acquire) {
            let left = self.lock().left.filter(|(_, when)| when.elapsed() > PARTING);
            if let Some((peer, _)) = left {
                self.fail(peer, "it ended before the others");
            }
        }
        self.fault()
    }

    /// Notes how far this process is.
    pub fn note_progress(&self, process: usize, progress: [u64; 2]) {
        for (cell, value) in self.progress[process].iter().zip(progress) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    /// States and bytes of a process.
    pub fn progress_of(&self, process: usize) -> [u64; 2] {
        [0, 1].map(|at| self.progress[process][at].load(Ordering::Relaxed))
    }

    /// States and bytes of all processes.
    pub fn progress(&self) -> [u64; 2] {
        let all = (0..self.progress.len()).map(|process| self.progress_of(process));
        all.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    }

    /// The workers of this process are gone.
    pub fn idle(&self) {
        self.lock().idle = true;
        self.changed.notify_all();
    }

    /// Waits until both sides of every link have said that they are done, or something is wrong; then there are no signs of life any more.
    pub fn finish(&self) {
        let peers = self.writers.iter().flatten().count();
        let done = |state: &mut LinkState| state.fault.is_none() && (state.ended < peers || state.closed < peers);
        drop(self.changed.wait_while(self.lock(), done).expect("nobody panics while holding the state"));
        self.finished.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LinkState> {
        self.state.lock().expect("nobody panics while holding the state")
    }

    /// Notes a fault, the first one, and tells the others.
    pub fn fail(&self, peer: usize, why: &str) {
        self.fail_with(Some(peer), format!("process {peer} ({}) was lost: {why}", self.hosts[peer]));
    }

    /// Notes that this process itself cannot go on.
    pub fn fail_with(&self, peer: Option<usize>, text: String) {
        let first = {
            let mut state = self.lock();
            let first = state.fault.is_none();
            state.fault.get_or_insert_with(|| text.clone());
            first
        };
        self.broken.store(true, Ordering::Release);
        self.changed.notify_all();
        if first {
            for other in (0..self.writers.len()).filter(|other| Some(*other) != peer) {
                self.put(other, LOST, text.as_bytes(), false);
            }
        }
    }

    /// Sends a frame. If somebody else is about to send, those that need not be sent are left out.
    fn put(&self, peer: usize, what: u8, content: &[u8], needed: bool) {
        let Some(writer) = &self.writers[peer] else { return };
        let guard = if needed { writer.lock().ok() } else { writer.try_lock().ok() };
        let Some(mut writer) = guard else { return };
        let mut frame = Vec::with_capacity(HEAD + content.len());
        frame.push(what);
        frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
        frame.extend_from_slice(content);
        let sent = writer.write_all(&frame);
        if what == END {
            let _ = writer.shutdown(Shutdown::Write);
        }
        drop(writer);
        if let Err(error) = sent
            && what == DATA
        {
            self.fail(peer, &in_words(&error, self.silence));
        }
    }
}

fn in_words(error: &std::io::Error, silence: Duration) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("it was silent for {} s", silence.as_secs_f64()),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof => {
            "the connection was closed".to_owned()
        }
        _ => error.to_string(),
    }
}

impl Link {
    pub fn new(peer: usize, links: &Arc<Links>, socket: TcpStream) -> Self {
        let reader = BufReader::with_capacity(1 << 16, socket);
        Self { peer, links: Arc::clone(links), reader, left: 0, ended: false, heard: Instant::now() }
    }

    /// Reads something; what cannot be read is a fault, and the end of this thread.
    fn hear(&mut self, buffer: &mut [u8]) -> usize {
        loop {
            match self.reader.read(buffer) {
                Ok(0) => self.lost(&std::io::Error::from(ErrorKind::UnexpectedEof)),
                Ok(count) => {
                    self.heard = Instant::now();
                    return count;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if self.heard.elapsed() > self.links.silence {
                        self.lost(&error);
                    }
                    if self.links.fault().is_some() {
                        self.leave();
                    }
                }
                Err(error) => self.lost(&error),
            }
        }
    }

    fn fill(&mut self, buffer: &mut [u8]) {
        let mut filled = 0;
        while filled < buffer.len() {
            filled += self.hear(&mut buffer[filled..]);
        }
    }

    fn lost(&self, error: &std::io::Error) -> ! {
        self.links.fail(self.peer, &in_words(error, self.links.silence));
        self.leave()
    }

    /// Ends this thread, but not before the workers, for whom timely would spoil the queues.
    fn leave(&self) -> ! {
        let state = self.links.lock();
        drop(self.links.changed.wait_while(state, |state| !state.idle).expect("nobody panics while holding the state"));
        std::panic::resume_unwind(Box::new(Gone))
    }

    /// Reads frames up to the next one with data; false at the end.
    fn next_frame(&mut self) -> bool {
        loop {
            let mut head = [0; HEAD];
            self.fill(&mut head);
            let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
            match head[0] {
                DATA if length > 0 => {
                    self.left = length;
                    return true;
                }
                DATA => {}
                LIFE if length == 16 => {
                    let mut content = [0; 16];
                    self.fill(&mut content);
                    let [states, bytes] =
                        [0, 8].map(|at| content[at..].first_chunk().map_or(0, |number| u64::from_le_bytes(*number)));
                    self.links.note_progress(self.peer, [states, bytes]);
                }
                END => return false,
                LOST if length <= 1 << 12 => {
                    let mut content = vec![0; length];
                    self.fill(&mut content);
                    let why = String::from_utf8_lossy(&content);
                    let text = format!("process {} ({}) stopped: {why}", self.peer, self.links.hosts[self.peer]);
                    self.links.fail_with(Some(self.peer), text);
                    self.leave();
                }
                _ => {
                    self.links.fail(self.peer, "it does not keep to the protocol");
                    self.leave();
                }
            }
        }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if buffer.is_empty() || self.ended {
            return Ok(0);
        }
        if self.left == 0 && !self.next_frame() {
            self.ended = true;
            let mut state = self.links.lock();
            state.ended += 1;
            state.left.get_or_insert((self.peer, Instant::now()));
            drop(state);
            self.links.left.store(true, Ordering::Release);
            self.links.changed.notify_all();
            return Ok(0);
        }
        let wanted = buffer.len().min(self.left);
        let count = self.hear(&mut buffer[..wanted]);
        self.left -= count;
        Ok(count)
    }
}

impl Write for Link {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(u32::MAX as usize);
        if length > 0 && !self.links.broken.load(Ordering::Acquire) {
            self.links.put(self.peer, DATA, &buffer[..length], true);
        }
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self::new(self.peer, &self.links, self.reader.get_ref().try_clone()?))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
        self.reader.get_ref().set_nonblocking(nonblocking)
    }

    fn shutdown(&self, _: Shutdown) -> std::io::Result<()> {
        if !self.links.broken.load(Ordering::Acquire) {
            self.links.put(self.peer, END, &[], true);
        }
        self.links.lock().closed += 1;
        self.links.changed.notify_all();
        Ok(())
    }
}
