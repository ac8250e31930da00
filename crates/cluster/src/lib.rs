//! The explicit-state search on several machines.
//!
//! Every process runs the same command. States are exchanged over `timely` dataflow: each belongs to one process, by its
//! hash. Levels of the breadth-first search are timestamps, so that nobody starts a level before all states of it have
//! arrived, the first violation has the fewest steps, and timely's progress tracking knows when the search is over ([`mod@mailbox`],
//! [`mod@search`]). With each state goes the place of the one it was found from, so that the way to a violation is put together by asking
//! owners one after the other ([`mod@gather`]).
//!
//! **States are packed where steps can be remembered**, in numbers that only one process understands; owners, files and ways back are made of what
//! they mean ([`mod@remote`], [`mod@log`]).
//!
//! **One table per process**, which is the explorer's ([`mod@table`]): its workers insert into it without locks and take what is to be expanded from one
//! another ([`mod@levels`]); only what belongs to other processes is sent. See docs/decisions/0011-timely.md for the measurements.
//!
//! **Connections are ours** ([`mod@connect`]): timely gets them only after both sides have shown that they have the same key and do the
//! same thing ([`mod@handshake`]), and it gets them in a form that cannot break under it ([`mod@link`]).
//!
//! **A run can be resumed** if each process keeps its part of the states in a directory ([`mod@checkpointer`], [`mod@part`]); the processes then agree on
//! the newest level that all of them have ([`mod@agree`]).
//!
//! Verdict, states, transitions, depth and length of a trace are those of `cyrano_explore` without ample sets; after a violation, states
//! and transitions are those that were looked at by then. This crate prints nothing; its files are those of `cyrano_checkpoint`.

mod agree;
mod batch;
mod begin;
mod checkpointer;
mod connect;
mod findings;
mod gather;
mod handshake;
pub mod hosts;
mod info;
mod job;
mod key;
mod levels;
mod link;
mod log;
mod mailbox;
mod part;
mod remote;
mod saved;
mod search;
mod sent;
mod table;
mod wire;
mod workers;

use std::fmt::{Display, Formatter};
use std::sync::Mutex;
use std::time::Duration;

use cyrano_engine::{Answer, Cause, Engine, Limits, Query, Refusal, Stop, Subject, Verdict, Watch};
use cyrano_explore::{Explore, Space};

use job::Job;
use part::Part;
use table::RecordId;
use workers::Workers;

pub use cyrano_checkpoint::Settings;
pub use info::{Info, Level, info};
pub use key::Key;

/// What all processes must have in common, by name. It is told to others who have the key, so that they can say what differs.
pub type Configuration = Vec<(String, String)>;

/// Why a cluster does not come together or does not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    text: String,
    /// Whether it was refused what was asked for, rather than lost on the way.
    refused: bool,
    /// The limit that was reached before the search could go on, if that is all.
    stop: Option<Stop>,
}

impl Error {
    pub(crate) fn new(text: String) -> Self {
        Self { text, refused: false, stop: None }
    }

    pub(crate) fn stopped(stop: Stop) -> Self {
        Self { text: stop.reason().to_owned(), refused: false, stop: Some(stop) }
    }

    /// The same with something else to say, unless it is a refusal or a limit.
    pub(crate) fn and(self, more: &str) -> Self {
        if self.refused || self.stop.is_some() { self } else { Self::new(format!("{}; {more}", self.text)) }
    }

    pub(crate) fn refusal(text: String) -> Self {
        Self { text, refused: true, stop: None }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(f)
    }
}

impl std::error::Error for Error {}

/// A cluster, as one of its processes sees it.
#[derive(Clone)]
pub struct Options {
    /// The addresses of all processes, `host:port`.
    pub hosts: Vec<String>,
    /// Which of them is this one.
    pub process: usize,
    /// The key that all of them share.
    pub key: Key,
    /// What all of them must have in common.
    pub configuration: Configuration,
    /// Threads of each process.
    pub workers: usize,
    /// How long to wait for the others to join.
    pub wait: Duration,
    /// How long another process may be silent before it counts as lost.
    pub silence: Duration,
}

/// The explorer, on all processes of a cluster. Every process asks the same questions in the same order and gets the same answers.
pub struct ClusterSearch {
    explore: Explore,
    workers: Mutex<Workers>,
    process: usize,
    hosts: Vec<String>,
    /// How many workers a process has.
    threads: usize,
}

impl ClusterSearch {
    /// Joins the cluster: returns when all processes are there. `note` gets remarks for the user.
    pub fn join(explore: &Explore, mut options: Options, note: &dyn Fn(&str)) -> Result<Self, Error> {
        let processes = options.hosts.len();
        if options.process >= processes {
            let text = format!("there are {processes} hosts, numbered from 0: there is no process {}", options.process);
            return Err(Error::new(text));
        }
        options.workers = options.workers.max(1);
        if processes * options.workers > RecordId::WORKERS {
            let text = format!(
                "{processes} processes with {} workers each: {} is the limit",
                options.workers,
                RecordId::WORKERS
            );
            return Err(Error::new(text));
        }
        options.configuration.push(("workers".to_owned(), options.workers.to_string()));
        let explore = Explore { ample_sets: false, stubborn_sets: false, fingerprints: false, ..explore.clone() };
        let sockets = connect::connect(&options, note)?;
        let workers = Mutex::new(Workers::new(&options, sockets)?);
        Ok(Self { explore, workers, process: options.process, threads: options.workers, hosts: options.hosts })
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.process
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.hosts.len()
    }

    /// Why the cluster cannot go on, if it cannot.
    pub fn fault(&self) -> Option<String> {
        self.workers.lock().map_or_else(|_| Some("a worker failed".to_owned()), |workers| workers.fault())
    }

    /// What users should know beside an answer.
    pub fn remarks(&self) -> Vec<String> {
        self.workers.lock().map_or_else(|_| Vec::new(), |workers| workers.remarks())
    }

    /// Answers a query, kept in a directory if one is given. A process or a disk that fails makes it `unknown`; an error is a refusal, which all
    /// processes get: a directory that cannot be used, or no checkpoint that all of them have.
    pub fn run(
        &self,
        query: Query<'_>,
        limits: &Limits,
        watch: &dyn Watch,
        settings: Option<&Settings>,
    ) -> Result<Answer, Error> {
        if Space::new(query, &self.explore, limits).is_none() {
            let why = Refusal::NotJudged(Subject::Levels);
            return Ok(Answer::new(Verdict::Unknown, Some(Cause::Refused(why))));
        }
        let part = settings.map(|settings| {
            let identity = self.identity(query, limits);
            Part::open(settings, self.process, self.threads, identity).map_err(|error| error.to_string())
        });
        let job = Job::new(query, &self.explore, limits, part);
        let answer = match self.workers.lock() {
            Ok(mut workers) => workers.work(job, watch),
            Err(_) => Err(Error::new("a worker failed".to_owned())),
        };
        match answer {
            Err(Error { stop: Some(stop), .. }) => Ok(Answer::new(Verdict::Unknown, Some(stop.into()))),
            Err(error) if !error.refused => {
                Ok(Answer::new(Verdict::Unknown, Some(Cause::Trouble(format!("no verdict: {error}")))))
            }
            answer => answer,
        }
    }

    /// What must be the same when a search is resumed. Addresses may be others: hosts come and go.
    fn identity(&self, query: Query<'_>, limits: &Limits) -> Vec<(String, String)> {
        let mut identity = cyrano_checkpoint::heading::identity(query, &self.explore, limits);
        for (name, number) in [("processes", self.hosts.len()), ("process", self.process), ("workers", self.threads)] {
            identity.push((name.to_owned(), number.to_string()));
        }
        identity
    }
}

impl Engine for ClusterSearch {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn supports(&self, query: &Query<'_>) -> Result<(), Refusal> {
        self.explore.supports(query)
    }

    fn ask(&self, query: Query<'_>, limits: &Limits, watch: &dyn Watch) -> Answer {
        let answer = self.run(query, limits, watch, None);
        answer.unwrap_or_else(|error| Answer::new(Verdict::Unknown, Some(Cause::Trouble(error.to_string()))))
    }
}
