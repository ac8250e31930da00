//! The executions that one execution stands for (Lesani and Palsberg, Fig. 3).

use serde::{Deserialize, Serialize};

/// A set of executions: each thread does what stands in its lane from top to bottom; every row is done before the next one begins, and within
/// a row the threads interleave as they like.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Shape {
    /// The rows.
    pub rows: Vec<Vec<Segment>>,
    /// How many executions there are, step by step; null if there are too many to count.
    pub interleavings: Option<String>,
}

/// What a thread does in a row: a call, a part of one, or an access outside of calls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// The thread's name.
    pub thread: String,
    /// `write(1, 1): ok`, `read(1).R03–R04`.
    pub text: String,
    /// Its first step.
    pub first: usize,
    /// Its last step.
    pub last: usize,
}
