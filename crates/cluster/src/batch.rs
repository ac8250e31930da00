//! What goes from worker to worker: bytes with an address, never taken apart on the way.

use std::io::Write;

use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};

/// What a batch is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Kind {
    /// States, each with its parent.
    #[default]
    States,
    /// The search is over.
    Stop,
    /// Anything else: what the receiver expects.
    Word,
    /// A checkpoint is wanted at the level of this time.
    Mark,
    /// There is something to do again.
    Wake,
}

/// Some bytes for a worker.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    pub target: usize,
    pub from: usize,
    pub kind: Kind,
    payload: Payload,
    /// Whether it is one: timely leaves empty containers behind.
    full: bool,
}

#[derive(Clone)]
enum Payload {
    Own(Vec<u8>),
    /// Part of what came from the network, followed by padding.
    Received(Bytes, usize),
}

impl Default for Payload {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

const HEAD: usize = 32;

impl Batch {
    pub fn new(kind: Kind, from: usize, target: usize, bytes: Vec<u8>) -> Self {
        Self { target, from, kind, payload: Payload::Own(bytes), full: true }
    }

    pub fn bytes(&self) -> &[u8] {
        match &self.payload {
            Payload::Own(bytes) => bytes,
            Payload::Received(bytes, length) => &bytes[HEAD..HEAD + length],
        }
    }
}

impl Accountable for Batch {
    fn record_count(&self) -> i64 {
        i64::from(self.full)
    }
}

impl ContainerBytes for Batch {
    fn from_bytes(bytes: Bytes) -> Self {
        let number =
            |at: usize| bytes.get(8 * at..).and_then(|part| part.first_chunk()).map_or(0, |n| u64::from_le_bytes(*n));
        let kind = match number(2) {
            0 => Kind::States,
            1 => Kind::Stop,
            3 => Kind::Mark,
            4 => Kind::Wake,
            _ => Kind::Word,
        };
        let (target, from) = (number(0) as usize, number(1) as usize);
        let length = (number(3) as usize).min(bytes.len().saturating_sub(HEAD));
        Self { target, from, kind, payload: Payload::Received(bytes, length), full: true }
    }

    fn length_in_bytes(&self) -> usize {
        HEAD + self.bytes().len().next_multiple_of(8)
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let bytes = self.bytes();
        let head = [self.target as u64, self.from as u64, self.kind as u64, bytes.len() as u64];
        let mut put = |bytes: &[u8]| writer.write_all(bytes).expect("timely writes to memory");
        head.iter().for_each(|number| put(&number.to_le_bytes()));
        put(bytes);
        put(&[0; 8][..bytes.len().next_multiple_of(8) - bytes.len()]);
    }
}

/// Sends every batch to the worker it is for.
pub(crate) struct Route;

impl Distributor<Batch> for Route {
    fn partition<T: Clone, P: Push<Message<T, Batch>>>(&mut self, batch: &mut Batch, time: &T, pushers: &mut [P]) {
        let target = batch.target;
        Message::push_at(batch, time.clone(), &mut pushers[target]);
    }

    fn flush<T: Clone, P: Push<Message<T, Batch>>>(&mut self, _: &T, _: &mut [P]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use timely::bytes::arc::BytesMut;

    #[test]
    fn batches_survive_the_network() {
        let kinds = [Kind::States, Kind::Stop, Kind::Word, Kind::Mark, Kind::Wake];
        for (length, kind) in [0, 1, 8, 1000, 7].into_iter().zip(kinds) {
            let content: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let batch = Batch::new(kind, 3, 5, content.clone());
            let mut bytes = Vec::new();
            batch.into_bytes(&mut bytes);
            assert_eq!(bytes.len(), batch.length_in_bytes());
            let back = Batch::from_bytes(BytesMut::from(bytes).freeze());
            assert_eq!((back.kind, back.from, back.target, back.bytes()), (kind, 3, 5, &content[..]));
        }
    }
}
