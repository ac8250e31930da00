//! One thread's part of a search: it expands blocks of the frontier and puts the successors of their states into the table.

use std::time::Instant;

use cyrano_checkpoint::files::Block;
use cyrano_checkpoint::record::Records;
use cyrano_checkpoint::{Error, Result};
use cyrano_explore::store::{BATCH, ByteKeys, Keys, Writer};
use cyrano_explore::{Walker, Wrong};

use crate::log::{NO_PARENT, senseless};
use crate::store::{Store, push};

/// A worker.
pub(crate) struct Worker<'s> {
    pub walker: Walker<'s>,
    /// States that wait for their insertion.
    pub keys: ByteKeys,
    pub writer: Writer,
    /// When it last looked at limits, in this round.
    pub looked: Option<Instant>,
    payload: Vec<u8>,
    /// Whether the table has no room.
    crowded: bool,
    /// Where something goes wrong.
    pub hit: Option<(Wrong, u64)>,
    pub error: Option<Error>,
}

impl<'s> Worker<'s> {
    pub fn new(walker: Walker<'s>) -> Self {
        let (keys, writer) = (ByteKeys::default(), Writer::default());
        Self { walker, keys, writer, looked: None, payload: Vec::new(), crowded: false, hit: None, error: None }
    }

    /// Finds the initial states; says if one of them goes wrong at once.
    pub fn seed(&mut self, store: &Store) -> Result<Option<Wrong>> {
        let mut longest = 0;
        let wrong = self.walker.initial(|state| {
            longest = longest.max(state.len());
            push(&mut self.keys, NO_PARENT, state);
        });
        fits(store, longest).map(|()| wrong)
    }

    /// Expands a block, to its end unless something goes wrong. Where the table has no room, states wait.
    pub fn expand(&mut self, store: &Store, block: &Block) {
        self.crowded = false;
        self.error = self.expand_all(store, block).err();
    }

    fn expand_all(&mut self, store: &Store, block: &Block) -> Result<()> {
        let Self { walker, keys, writer, payload, crowded, hit, .. } = self;
        let mut longest = 0;
        store.reader.payload(block, payload)?;
        for (number, record) in (block.first..).zip(Records(payload)) {
            let (_, state) = record.ok_or_else(|| senseless(&store.reader, block))?;
            let wrong = walker.expand(state, |next| {
                longest = longest.max(next.len());
                push(keys, number, next);
            });
            fits(store, longest)?;
            if let Some(wrong) = wrong {
                *hit = Some((wrong, number));
                break;
            }
            if keys.len() >= BATCH && !*crowded {
                *crowded = !store.insert(keys, writer);
            }
        }
        Ok(())
    }

    /// Whether it cannot go on.
    pub fn is_over(&self) -> bool {
        self.crowded || self.error.is_some() || self.hit.is_some() || self.walker.must_give_up()
    }
}

/// An error if a state is too long for the chunks of the table, which are small where there is little memory.
pub(crate) fn fits(store: &Store, longest: usize) -> Result<()> {
    if longest <= store.longest() {
        return Ok(());
    }
    Err(Error::Unsupported(format!("a state of {longest} bytes does not fit into so little memory")))
}
