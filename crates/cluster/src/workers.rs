//! The workers of a process: threads that live as long as the connections, and take one question after the other.

use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cyrano_engine::{Answer, Counters, Watch};
use cyrano_explore::{Packing, Space};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely::communication::allocator::{Allocator, ProcessBuilder, Thread};
use timely::communication::initialize::Hooks;
use timely::worker::Worker as Timely;

use crate::agree::{Beginning, Circle};
use crate::begin::{Begin, conclude};
use crate::checkpointer::{Checkpointer, States};
use crate::findings::Findings;
use crate::gather::{consult, path};
use crate::job::Job;
use crate::link::{Link, Links};
use crate::log::{self, Log, Trouble, Whose};
use crate::part::Part;
use crate::saved::Piece;
use crate::search::{Here, search};
use crate::table::{Partition, RecordId};
use crate::{Error, Options};

/// How often somebody who waits for an answer tells how far the search is.
const TELL: Duration = Duration::from_millis(100);

/// The workers of a process.
pub(crate) struct Workers {
    links: Arc<Links>,
    jobs: Vec<Sender<Arc<Job>>>,
    answers: Receiver<Result<Option<Answer>, Error>>,
    threads: Vec<JoinHandle<()>>,
    alive: Option<JoinHandle<()>>,
    guard: Option<CommsGuard>,
    remarks: Vec<String>,
}

/// What makes an allocator on the thread that uses it.
type Build = Box<dyn FnOnce() -> Allocator + Send>;

impl Workers {
    pub fn new(options: &Options, sockets: Vec<Option<TcpStream>>) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::new(format!("the connections cannot be used: {error}"));
        let links = Links::new(&options.hosts, &sockets, options.silence).map_err(failed)?;
        let (builders, guard) = builders(options, &links, sockets).map_err(failed)?;
        let counts: Arc<Vec<AtomicU64>> = Arc::new((0..options.workers).map(|_| Default::default()).collect());
        let (sender, answers) = channel();
        let (mut jobs, mut threads) = (Vec::new(), Vec::new());
        for (local, build) in builders.into_iter().enumerate() {
            let (job_sender, job_receiver) = channel();
            jobs.push(job_sender);
            let worker = Worker {
                local,
                process: options.process,
                workers: options.workers,
                hosts: options.hosts.clone(),
                links: Arc::clone(&links),
                counts: Arc::clone(&counts),
                sender: sender.clone(),
            };
            threads.push(std::thread::spawn(move || worker.serve(build, &job_receiver)));
        }
        let (heart, process) = (Arc::clone(&links), options.process);
        let alive = Some(std::thread::spawn(move || heart.keep_alive(process)));
        Ok(Self { links, jobs, answers, threads, alive, guard, remarks: Vec::new() })
    }

    pub fn fault(&self) -> Option<String> {
        self.links.fault()
    }

    /// What users should know beside an answer.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// Has a question answered.
    pub fn work(&mut self, job: Job, watch: &dyn Watch) -> Result<Answer, Error> {
        let started = Instant::now();
        let job = Arc::new(job);
        let answer = self.wait(&job, watch);
        let Some(Ok(part)) = &job.part else {
            return answer.map(|answer| with_seconds(answer, started.elapsed().as_secs_f64()));
        };
        self.remarks = part.remarks();
        match answer {
            Ok(answer) => Ok(with_seconds(answer, part.seconds())),
            Err(error) if part.has_checkpoint() => Err(error.and("--resume goes on from the last checkpoint")),
            Err(error) => Err(error),
        }
    }

    /// Gives the question to all workers, and waits for what they say.
    fn wait(&self, job: &Arc<Job>, watch: &dyn Watch) -> Result<Answer, Error> {
        for sender in &self.jobs {
            sender.send(Arc::clone(job)).map_err(|_| self.gone())?;
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
                    watch.progress(Counters { states, bytes, ..Counters::default() });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
            }
        }
        answer.ok_or_else(|| self.gone())
    }

    fn gone(&self) -> Error {
        Error::new(self.fault().unwrap_or_else(|| "a worker failed".to_owned()))
    }
}

impl Drop for Workers {
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

fn with_seconds(mut answer: Answer, seconds: f64) -> Answer {
    answer.stats.seconds = seconds;
    answer
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
struct Worker {
    local: usize,
    process: usize,
    workers: usize,
    hosts: Vec<String>,
    links: Arc<Links>,
    counts: Arc<Vec<AtomicU64>>,
    sender: Sender<Result<Option<Answer>, Error>>,
}

impl Worker {
    fn serve(&self, build: Build, jobs: &Receiver<Arc<Job>>) {
        let mut worker = Timely::new(WorkerConfig::default(), build(), Some(Instant::now()));
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
    fn answer(&self, worker: &mut Timely, job: &Job) -> Result<Option<Answer>, Error> {
        let circle = Circle { links: &self.links, hosts: &self.hosts, workers: self.workers };
        circle.same_question(worker, &job.digest())?;
        let mut begin = match &job.part {
            None => Begin::new(self.partition(worker, job, 0)),
            Some(part) => {
                let beginning = circle.beginning(worker, part)?;
                self.begin(worker, &circle, job, beginning)?
            }
        };
        let mut space = self.space(job, &begin)?;
        loop {
            let here = Here { links: &self.links, process: self.process, counts: &self.counts, local: self.local };
            let packing = job.packing(&space, begin.round);
            let mut found = search(worker, job, &space, packing.as_ref(), &here, begin)?;
            found.trouble = found.trouble.map(|text| format!("{}: {text}", circle.name_of(worker.index())));
            let own = Findings::of(&found).encode();
            let all = consult(worker, &self.links, own, |words| Findings::join(words).encode())?;
            let all = Findings::decode(&all).ok_or_else(|| Error::new("findings cannot be read".to_owned()))?;
            // A hit among states that were ranked too closely is none.
            if let Some(wider) = space.wider(&all.summary, &job.limits) {
                let round = found.round;
                drop((found, packing));
                begin = self.again(worker, job, round, &all);
                space = wider;
                continue;
            }
            let states = States { partition: &found.partition, packing: packing.as_ref() };
            let states = match all.hit {
                Some((_, _, place)) if place != RecordId::NONE => path(worker, &self.links, states, place)?,
                _ => Vec::new(),
            };
            conclude(job, &mut found, &all, packing.as_ref());
            return Ok((self.local == 0).then(|| all.answer(&space, job, &states)));
        }
    }

    /// The place of a worker's states in the table of its process.
    fn partition(&self, worker: &Timely, job: &Job, round: u64) -> Partition {
        Partition::new(&job.common(round, self.workers), worker.index())
    }

    /// The space to search: timestamps may have to be further apart than they were at first.
    fn space<'j>(&self, job: &'j Job, begin: &Begin<'_>) -> Result<Space<'j>, Error> {
        let space = Space::new(job.query(), &job.explore, &job.limits);
        let space = space.ok_or_else(|| Error::new("there is no space for this question".to_owned()))?;
        let wider = space.widened(&begin.widened, &job.limits);
        wider.ok_or_else(|| Error::refusal("the checkpoint makes no sense: `widened`".to_owned()))
    }

    /// Begins a search that is kept, from a checkpoint if that is what was agreed on.
    fn begin<'j>(
        &self,
        worker: &mut Timely,
        circle: &Circle<'_>,
        job: &'j Job,
        beginning: Beginning,
    ) -> Result<Begin<'j>, Error> {
        let Some(Ok(part)) = &job.part else { return Err(Error::new("there is no directory".to_owned())) };
        let round = beginning.from.map_or(0, |moment| moment.round);
        let mut begin = Begin::new(self.partition(worker, job, round));
        let mut piece = None;
        if let Some(moment) = beginning.from {
            let whose = Whose { process: self.process, processes: self.hosts.len(), peers: worker.peers() };
            let read = self.read(part, &mut begin, beginning, job, whose);
            let (trouble, found) = match read {
                Ok(found) => (None, Some(found)),
                Err(trouble) => (Some(trouble), None),
            };
            circle.all_have_read(worker, trouble)?;
            begin.round = moment.round;
            piece = found;
        }
        let opened = part.begin(beginning.run, beginning.from).and_then(|()| match &piece {
            Some(piece) => Log::reopen(part.dir(), begin.round, self.local, piece),
            None => Log::create(part.dir(), begin.round, self.local),
        });
        let place = (worker.index(), self.local);
        match opened {
            Ok(log) => begin.checkpointer = Some(Checkpointer::new(part, log, place, begin.round, beginning.from)),
            Err(error) => begin.trouble = Some(error.to_string()),
        }
        begin.from = beginning.from.map(|moment| moment.time).zip(piece);
        Ok(begin)
    }

    /// Reads the states of this worker at the agreed moment.
    fn read(
        &self,
        part: &Part,
        begin: &mut Begin<'_>,
        beginning: Beginning,
        job: &Job,
        whose: Whose,
    ) -> Result<Piece, Trouble> {
        let saved = beginning.from.and_then(|moment| part.saved(moment));
        let piece = saved.and_then(|saved| Some((saved, saved.pieces.get(self.local)?)));
        let none = || cyrano_checkpoint::Error::NoCheckpoint(part.dir().to_owned());
        let (saved, piece) = piece.ok_or_else(none)?;
        begin.widened.clone_from(&saved.heading.widened);
        let path = log::path(part.dir(), saved.stamp.moment.round, self.local);
        let damaged = |error: Error| cyrano_checkpoint::Error::damaged(part.dir(), error.to_string());
        let space = self.space(job, begin).map_err(damaged)?;
        let packing = job.packing(&space, saved.stamp.moment.round);
        let mut packer = packing.as_ref().map(Packing::routing_walker);
        log::load(path, piece, &mut begin.partition, whose, &job.limits, packer.as_mut())?;
        Ok(piece.clone())
    }

    /// Begins again, with timestamps further apart.
    fn again<'j>(&self, worker: &Timely, job: &'j Job, round: u64, all: &Findings) -> Begin<'j> {
        let mut begin = Begin::new(self.partition(worker, job, round + 1));
        begin.round = round + 1;
        if let Some(Ok(part)) = &job.part {
            let last = all.written[0];
            let opened = part.widen(round, all.summary.notes, last);
            match opened.and_then(|()| Log::create(part.dir(), begin.round, self.local)) {
                Ok(log) => {
                    begin.checkpointer =
                        Some(Checkpointer::new(part, log, (worker.index(), self.local), begin.round, last))
                }
                Err(error) => begin.trouble = Some(error.to_string()),
            }
        }
        begin
    }
}
