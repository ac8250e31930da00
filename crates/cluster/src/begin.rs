//! What a worker has when a search begins, and when it ends.

use cyrano_engine::Stop;
use cyrano_explore::{Packing, Summary, Wrong};

use crate::checkpointer::{Checkpointer, States};
use crate::findings::Findings;
use crate::job::Job;
use crate::saved::Piece;
use crate::table::{Partition, RecordId};

/// What a worker begins with.
pub(crate) struct Begin<'s> {
    pub partition: Partition,
    /// How often the search was begun again, and why.
    pub round: u64,
    pub widened: Vec<u32>,
    /// If it goes on from a checkpoint: the time of that, and what this worker had then, which is on the partition.
    pub from: Option<(u64, Piece)>,
    pub checkpointer: Option<Checkpointer<'s>>,
    /// Why it cannot be kept, if it should be.
    pub trouble: Option<String>,
}

impl Begin<'_> {
    /// From the beginning, kept nowhere.
    pub fn new(partition: Partition) -> Self {
        Self { partition, round: 0, widened: Vec::new(), from: None, checkpointer: None, trouble: None }
    }
}

/// What a worker found out.
pub(crate) struct Found<'s> {
    pub partition: Partition,
    /// What the process takes, for one of its workers.
    pub bytes: u64,
    pub round: u64,
    pub summary: Summary,
    /// Where something goes wrong: the time of the level, how, and the record. If an initial state goes wrong at once, there is none.
    pub hit: Option<(u64, Wrong, RecordId)>,
    pub stop: Option<Stop>,
    /// The last level with states.
    pub depth: u64,
    /// The time of the level that was begun last.
    pub time: u64,
    pub checkpointer: Option<Checkpointer<'s>>,
    /// Why no checkpoint can be written.
    pub trouble: Option<String>,
}

/// Keeps what there is at the end. The verdict stands without it, and so does the last checkpoint.
pub(crate) fn conclude(job: &Job, found: &mut Found<'_>, all: &Findings, packing: Option<&Packing<'_>>) {
    let (Some(checkpointer), Some(Ok(part))) = (&mut found.checkpointer, &job.part) else { return };
    let summary = found.summary.clone();
    let states = States { partition: &found.partition, packing };
    let done = if all.is_complete() {
        checkpointer.write_complete(states, all.depth, summary)
    } else {
        all.late_checkpoint(found.round).map_or(Ok(()), |time| checkpointer.write_late(states, time, summary))
    };
    if let Err(error) = done {
        part.remark(format!("{error}; what was kept before is still there"));
    }
}
