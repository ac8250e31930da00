//! Packed states on their way to other processes, whose numbers are others.
//!
//! With its letters a worker tells the worker of another process who gets them what its own process's numbers mean, in order, as much in a letter as that has
//! bytes of states. When the receiver knows all of it, states are sent packed and translated there, number by number; as long as it does not,
//! they are sent plain. So what is told never takes more of the network than states do, however many numbers there are.

use cyrano_checkpoint::record::{self, Records};
use cyrano_explore::store::{Address, ByteKeys, bytes_hash};
use cyrano_explore::{Foreign, Packing, Walker};

/// How much may be told in a small letter.
const LEAST: usize = 1 << 12;
/// Bytes before what is told: which number it starts with, how many bytes it has, and whether states are packed.
const HEAD: usize = 17;

/// What a worker knows about others.
pub(crate) struct Remote<'s> {
    packing: &'s Packing<'s>,
    /// How much each process was told, that is the worker of it who gets this one's letters.
    told: Vec<usize>,
    /// What the numbers of each process mean.
    heard: Vec<Option<Foreign>>,
}

impl<'s> Remote<'s> {
    pub fn new(packing: &'s Packing<'s>, processes: usize) -> Self {
        Self { packing, told: vec![0; processes], heard: (0..processes).map(|_| None).collect() }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.heard.iter().flatten().map(Foreign::bytes).sum()
    }

    /// A letter with packed states, as another process can read it.
    pub fn seal(&mut self, walker: &mut Walker<'_>, target: usize, letter: &[u8]) -> Vec<u8> {
        // All numbers in the letter are among these.
        let learnt = self.packing.learnt();
        let first = self.told[target];
        let mut out = vec![0; HEAD];
        out.reserve(letter.len());
        if first < learnt {
            self.told[target] = self.packing.export(first, letter.len().max(LEAST), &mut out);
        }
        let packed = self.told[target] >= learnt;
        let told = (out.len() - HEAD) as u64;
        out[..8].copy_from_slice(&(first as u64).to_le_bytes());
        out[8..16].copy_from_slice(&told.to_le_bytes());
        out[16] = u8::from(packed);
        if packed {
            out.extend_from_slice(letter);
        } else {
            unpack(walker, letter, &mut out);
        }
        out
    }

    /// Reads such a letter of a worker of that process; `None` if it makes no sense, or there is no room for what it says.
    pub fn open(
        &mut self,
        walker: &mut Walker<'_>,
        process: usize,
        letter: &[u8],
        pending: &mut ByteKeys,
    ) -> Option<()> {
        let (first, rest) = letter.split_first_chunk()?;
        let (told, rest) = rest.split_first_chunk()?;
        let (packed, rest) = rest.split_first()?;
        let told = usize::try_from(u64::from_le_bytes(*told)).ok()?;
        let (told, rest) = rest.split_at_checked(told)?;
        let foreign = self.heard.get_mut(process)?.get_or_insert_with(|| self.packing.foreign());
        walker.hear(foreign, usize::try_from(u64::from_le_bytes(*first)).ok()?, told)?;
        for record in Records(rest) {
            let (parent, state) = record?;
            let found = |state: &[u8]| pending.push_hashed(bytes_hash(state), Address(parent), state);
            if *packed == 0 {
                walker.pack(state, found);
            } else {
                walker.translate(foreign, state, found);
            }
        }
        (!walker.must_give_up()).then_some(())
    }
}

/// Appends the states of a letter in their plain form.
fn unpack(walker: &mut Walker<'_>, letter: &[u8], out: &mut Vec<u8>) {
    let mut plain = Vec::new();
    for (parent, state) in Records(letter).flatten() {
        plain.clear();
        // Whatever has been packed can be unpacked; if it cannot, the walker knows that the search is of no use.
        if walker.unpack(state, &mut plain).is_some() {
            record::push(out, parent, &plain);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cyrano_engine::{Limits, Query, Question};
    use cyrano_explore::{Explore, Space};
    use cyrano_ir::Property;

    use super::*;
    use crate::table::{Common, Partition, RecordId};

    /// A process with many numbers tells them letter by letter: states arrive all the same, plain at first and packed later.
    #[test]
    fn states_arrive_whatever_was_told() {
        let source = "threads { shared x, f; local r; \
            thread p[2] { loop { atomic { r := x; x := (r * 3 + 1) % 3001; } f := 1; f := 0; } } } check assertions on sc;";
        let program = cyrano_rml::compile(source, "a.rml", &[]).expect("it compiles");
        let model = cyrano_memory::named("sc").expect("a model");
        let query = Query::new(&program, &model, Question::Holds(&Property::Assertions)).expect("a question");
        let explore = Explore { ample_sets: false, ..Explore::default() };
        let space = Space::new(query, &explore, &Limits::default()).expect("it has levels");
        let [here, there] = [0, 1].map(|_| space.packing().expect("its states are packed"));
        let (mut sender, mut receiver) = (here.routing_walker(), there.routing_walker());
        let (mut states, mut work) = (BTreeSet::new(), Vec::new());
        sender.initial(|state| work.push(state.to_vec()));
        while let Some(state) = work.pop() {
            if states.insert(state.clone()) {
                sender.expand(&state, |next| work.push(next.to_vec()));
            }
        }
        let (mut out, mut back) = (Remote::new(&here, 2), Remote::new(&there, 2));
        let mut partition = Partition::new(&Common::new(&explore, 1 << 30, 1), 1);
        let (mut packed, mut expected) = (Vec::new(), BTreeSet::new());
        for state in &states {
            let mut letter = Vec::new();
            record::push(&mut letter, RecordId::new(0, 7).0, state);
            let sealed = out.seal(&mut sender, 1, &letter);
            packed.push(sealed[16] == 1);
            let mut pending = ByteKeys::default();
            back.open(&mut receiver, 0, &sealed, &mut pending).expect("it makes sense");
            partition.insert(&mut pending).expect("there is room");
            expected.insert(here.unpack(state).expect("it is one"));
        }
        assert!(!packed[0] && packed[packed.len() - 1] && packed.is_sorted(), "first plain, then packed");
        partition.gather();
        let arrived = (0..partition.len()).filter_map(|number| partition.record(number));
        let plain: BTreeSet<Vec<u8>> = arrived.filter_map(|(state, _)| there.unpack(&state)).collect();
        assert!(states.len() > 3000 && plain == expected && partition.len() == states.len() as u64);
        // What is cut off, or comes without what was told before, is noticed.
        let mut pending = ByteKeys::default();
        assert!(back.open(&mut receiver, 0, &[0; HEAD - 1], &mut pending).is_none());
        let mut stranger = Remote::new(&there, 2);
        let mut letter = Vec::new();
        record::push(&mut letter, RecordId::new(0, 7).0, states.last().expect("there are some"));
        assert!(stranger.open(&mut receiver, 0, &out.seal(&mut sender, 1, &letter), &mut pending).is_none());
        assert!(receiver.must_give_up());
    }
}
