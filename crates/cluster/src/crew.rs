//! The workers of a process: threads that live as long as the connections, and take one question after the other.

use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cyrano_engine::{Answer, Engine, Progress, Stats, Stop, Watch};
use cyrano_explore::{Space, Summary, Wrong};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely::communication::allocator::{Allocator, ProcessBuilder, Thread};
use timely::communication::initialize::Hooks;
use timely::worker::Worker;

use crate::gather::{consult, path};
use crate::job::Job;
use crate::link::{Link, Links};
use crate::search::{Found, Here, search};
use crate::table::Place;
use crate::wire::{Reader, Writer};
use crate::{Error, Options};

/// How often somebody who waits for an answer tells how far the search is.
const TELL: Duration = Duration::from_millis(100);

/// The workers of a process.
pub(crate) struct Crew {
    links: Arc<Links>,
    jobs: Vec<Sender<Arc<Job>>>,
    answers: Receiver<Result<Option<Answer>, Error>>,
    threads: Vec<JoinHandle<()>>,
    alive: Option<JoinHandle<()>>,
    guard: Option<CommsGuard>,
}

/// What makes an allocator on the thread that uses it.
type Build = Box<dyn FnOnce() -> Allocator + Send>;

impl Crew {
    pub fn new(options: &Options, sockets: Vec<Option<TcpStream>>) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::new(format!("the connections cannot be used: {error}"));
        let links = Links::new(&options.hosts, &sockets, options.silence).map_err(failed)?;
        let (builders, guard) = builders(options, &links, sockets).map_err(failed)?;
        let counts: Arc<Vec<[AtomicU64; 2]>> = Arc::new((0..options.workers).map(|_| Default::default()).collect());
        let (sender, answers) = channel();
        let (mut jobs, mut threads) = (Vec::new(), Vec::new());
        for (local, build) in builders.into_iter().enumerate() {
            let (job_sender, job_receiver) = channel();
            jobs.push(job_sender);
            let mate = Mate {
                local,
                process: options.process,
                workers: options.workers,
                hosts: options.hosts.clone(),
                links: Arc::clone(&links),
                counts: Arc::clone(&counts),
                sender: sender.clone(),
            };
            threads.push(std::thread::spawn(move || mate.serve(build, &job_receiver)));
        }
        let (heart, process) = (Arc::clone(&links), options.process);
        let alive = Some(std::thread::spawn(move || heart.keep_alive(process)));
        Ok(Self { links, jobs, answers, threads, alive, guard })
    }

    pub fn fault(&self) -> Option<String> {
        self.links.fault()
    }

    /// Has a question answered.
    pub fn work(&mut self, job: Job, watch: &dyn Watch) -> Result<Answer, Error> {
        let started = Instant::now();
        let job = Arc::new(job);
        for sender in &self.jobs {
            sender.send(Arc::clone(&job)).map_err(|_| self.gone())?;
        }
        let (mut answer, mut missing) = (None, self.jobs.len());
        while missing > 0 {
            match self.answers.recv_timeout(TELL) {
                Ok(Ok(found)) => {
                    answer = answer.or(found);
                    missing -= 1;
                }
                Ok(Err(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {
                    let [states, bytes] = self.links.progress();
                    watch.progress(Progress { states, bytes, ..Progress::default() });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
            }
        }
        let mut answer = answer.ok_or_else(|| self.gone())?;
        answer.stats.seconds = started.elapsed().as_secs_f64();
        Ok(answer)
    }

    fn gone(&self) -> Error {
        Error::new(self.fault().unwrap_or_else(|| "a worker failed".to_owned()))
    }
}

impl Drop for Crew {
    /// Says goodbye: workers end, then the connections, when the others are done too.
    fn drop(&mut self) {
        self.jobs.clear();
        for thread in self.threads.drain(..) {
            // What went wrong in it has been told.
            let _ = thread.join();
        }
        self.links.idle();
        self.links.finish();
        // Its threads end by themselves; after a fault, waiting for them would be a panic.
        std::mem::forget(self.guard.take());
        self.alive.take().map(JoinHandle::join);
    }
}

/// What each worker is made from, and what keeps timely's threads.
fn builders(
    options: &Options,
    links: &Arc<Links>,
    sockets: Vec<Option<TcpStream>>,
) -> std::io::Result<(Vec<Build>, Option<CommsGuard>)> {
    let hooks = Hooks::default();
    if options.workers == 1 && options.hosts.len() == 1 {
        return Ok((vec![Box::new(|| Allocator::Thread(Thread::default()))], None));
    }
    let inside = ProcessBuilder::new_typed_vector(options.workers, hooks.refill.clone(), None);
    if options.hosts.len() == 1 {
        let build = |builder: ProcessBuilder| -> Build { Box::new(move || Allocator::Process(builder.build())) };
        return Ok((inside.into_iter().map(build).collect(), None));
    }
    let link = |(peer, socket): (usize, Option<TcpStream>)| socket.map(|socket| Link::new(peer, links, socket));
    let sockets: Vec<Option<Link>> = sockets.into_iter().enumerate().map(link).collect();
    let (builders, guard) =
        initialize_networking_from_sockets(inside, sockets, options.process, options.workers, hooks)?;
    let builders = builders.into_iter().map(|builder| -> Build { Box::new(move || Allocator::Tcp(builder.build())) });
    Ok((builders.collect(), Some(guard)))
}

/// One of the workers.
struct Mate {
    local: usize,
    process: usize,
    workers: usize,
    hosts: Vec<String>,
    links: Arc<Links>,
    counts: Arc<Vec<[AtomicU64; 2]>>,
    sender: Sender<Result<Option<Answer>, Error>>,
}

impl Mate {
    fn serve(&self, build: Build, jobs: &Receiver<Arc<Job>>) {
        let mut worker = Worker::new(WorkerConfig::default(), build(), Some(Instant::now()));
        while let Ok(job) = jobs.recv() {
            let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&mut worker, &job))).unwrap_or_else(|_| {
                self.links.fail_with(None, "a worker failed".to_owned());
                Err(Error::new("a worker failed".to_owned()))
            });
            let failed = answer.is_err();
            // If nobody waits for it, the run is over.
            if self.sender.send(answer).is_err() || failed {
                return;
            }
        }
    }

    /// Answers a question together with all others; worker 0 of each process has the answer.
    fn answer(&self, worker: &mut Worker, job: &Job) -> Result<Option<Answer>, Error> {
        self.agree(worker, job)?;
        let mut space = Space::new(job.query(), &job.explore, &job.limits)
            .ok_or_else(|| Error::new("there is no space for this question".to_owned()))?;
        loop {
            let here = Here { links: &self.links, process: self.process, counts: &self.counts, local: self.local };
            let found = search(worker, job, &space, &here)?;
            let own = Findings::of(&found).encode();
            let all = consult(worker, &self.links, own, |words| Findings::join(words).encode())?;
            let all = Findings::decode(&all).ok_or_else(|| Error::new("findings cannot be read".to_owned()))?;
            // A hit among states that were ranked too closely is none.
            if let Some(wider) = space.wider(&all.summary, &job.limits) {
                space = wider;
                continue;
            }
            if all.wrong_start {
                // There is no path to it, and nothing to search for: any machine finds it at once.
                return Ok((self.local == 0).then(|| job.explore.ask(job.query(), &job.limits, &())));
            }
            let states = match all.hit {
                Some((_, _, place)) => path(worker, &self.links, &found.table, place)?,
                None => Vec::new(),
            };
            return Ok((self.local == 0).then(|| all.answer(&space, job, &states)));
        }
    }

    /// Makes sure that all processes ask the same.
    fn agree(&self, worker: &mut Worker, job: &Job) -> Result<(), Error> {
        let workers = self.workers;
        let decision = consult(worker, &self.links, job.digest().to_vec(), |words| {
            let other = words.iter().position(|word| *word != words[0]);
            let mut decision = Writer::default();
            decision.number(other.map_or(u64::MAX, |worker| (worker / workers) as u64));
            decision.0
        })?;
        match Reader(&decision).number() {
            Some(u64::MAX) => Ok(()),
            other => {
                let process = other.unwrap_or_default() as usize;
                let host = self.hosts.get(process).map_or("?", String::as_str);
                Err(Error::new(format!("process {process} ({host}) asks another question than process 0")))
            }
        }
    }
}

/// What was found out, as workers tell each other.
#[derive(Default)]
struct Findings {
    summary: Summary,
    hit: Option<(u64, Wrong, Place)>,
    wrong_start: bool,
    stop: Option<Stop>,
    states: u64,
    bytes: u64,
    depth: u64,
}

const STOPS: [Stop; 4] = [Stop::Timeout, Stop::Memory, Stop::Cancelled, Stop::Size];

impl Findings {
    fn of(found: &Found) -> Self {
        Self {
            summary: found.summary.clone(),
            hit: found.hit,
            wrong_start: found.wrong_start,
            stop: found.stop,
            states: found.table.len(),
            bytes: found.table.bytes(),
            depth: found.depth,
        }
    }

    /// What all found out together. Of several violations the one with the fewest steps counts.
    fn join(words: &[Vec<u8>]) -> Self {
        let mut all = Self::default();
        for one in words.iter().filter_map(|word| Self::decode(word)) {
            all.summary.absorb(one.summary);
            all.hit = all.hit.into_iter().chain(one.hit).min();
            all.wrong_start |= one.wrong_start;
            all.stop = all.stop.or(one.stop);
            all.states += one.states;
            all.bytes += one.bytes;
            all.depth = all.depth.max(one.depth);
        }
        all
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        let Summary { transitions, ended, outcomes, notes, limited } = &self.summary;
        out.number(*transitions).number(u64::from(*ended)).number(u64::from(*notes));
        let (thread, pc) = limited.map_or((u64::MAX, 0), |(thread, pc)| (thread as u64, u64::from(pc)));
        out.number(thread).number(pc);
        let (level, wrong, place) = self.hit.unwrap_or((u64::MAX, Wrong::Here, Place::NONE));
        out.number(level).number(u64::from(wrong == Wrong::InStep)).number(place.0);
        out.number(u64::from(self.wrong_start));
        out.number(
            self.stop.and_then(|stop| STOPS.iter().position(|known| *known == stop)).map_or(0, |at| at as u64 + 1),
        );
        out.number(self.states).number(self.bytes).number(self.depth);
        for outcome in outcomes {
            let bytes: Vec<u8> = outcome.iter().flat_map(|value| value.to_le_bytes()).collect();
            out.bytes(&bytes);
        }
        out.0
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader(bytes);
        let mut next = || input.number();
        let (transitions, ended, notes) = (next()?, next()? != 0, next()? as u32);
        let (thread, pc) = (next()?, next()? as u32);
        let limited = (thread != u64::MAX).then_some((thread as usize, pc));
        let (level, in_step, place) = (next()?, next()? != 0, Place(next()?));
        let wrong = if in_step { Wrong::InStep } else { Wrong::Here };
        let hit = (level != u64::MAX).then_some((level, wrong, place));
        let wrong_start = next()? != 0;
        let stop = (next()? as usize).checked_sub(1).and_then(|at| STOPS.get(at).copied());
        let (states, bytes, depth) = (next()?, next()?, next()?);
        let mut summary = Summary { transitions, ended, notes, limited, ..Summary::default() };
        while let Some(outcome) = input.bytes() {
            let values = outcome.as_chunks::<8>().0.iter().map(|value| i64::from_le_bytes(*value));
            summary.outcomes.insert(values.collect());
        }
        Some(Self { summary, hit, wrong_start, stop, states, bytes, depth })
    }

    fn answer(&self, space: &Space<'_>, job: &Job, path: &[Vec<u8>]) -> Answer {
        let stats = Stats { states: self.states, depth: self.depth, peak_bytes: self.bytes, ..Stats::default() };
        let too_large = self.hit.is_none() && self.summary.must_give_up();
        let stop = if too_large { Some(Stop::Size) } else { self.stop };
        let wrong = self.hit.map(|(_, wrong, _)| wrong);
        space.answer(path, wrong, &self.summary, stop, stats, &job.limits)
    }
}
