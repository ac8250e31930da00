//! States as bytes.
//!
//! **Invariant:** two states have the same bytes exactly when no continuation can tell them apart by a register that is live,
//! memory, program counters or queues. Every number is a zigzag variable-length integer, so that the small values of typical
//! programs take one byte. It is shifted by one, so that the undefined value, which is the smallest of all, takes one byte as well.
//!
//! *Dead registers* (reduction `dead-registers`): a register that is not live before a thread's next instruction is left out and
//! comes back as 0. It is sound because liveness says that on every path the register is written before it is read;
//! registers that a deferred entry needs were captured in the entry when it was issued.

use cyrano_ir::{AccessKind, FenceSet};

use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, Entry, State, Value, What};

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, value: i128) {
    let mut bits = (((value << 1) ^ (value >> 127)) as u128).wrapping_add(1);
    // Numbers of more than 64 bits are rare, and arithmetic on words is faster.
    while bits > u128::from(u64::MAX) {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    let mut bits = bits as u64;
    while bits >= 0x80 {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}

/// Takes a number off the front.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> i128 {
    let mut bits = 0u64;
    let mut shift = 0;
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        bits |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return unfold(bits.into());
        }
        if shift == WORD_BITS {
            break;
        }
    }
    let mut bits = u128::from(bits);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        bits |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return unfold(bits);
        }
        shift += 7;
    }
}

/// How many bits of a number are gathered in a word: whole groups of seven.
const WORD_BITS: u32 = 63;

/// The number behind shifted zigzag bits.
#[inline]
fn unfold(bits: u128) -> i128 {
    let bits = bits.wrapping_sub(1);
    (bits >> 1) as i128 ^ -((bits & 1) as i128)
}

impl Machine<'_> {
    /// Appends the bytes of a state.
    pub fn encode(&self, state: &State, out: &mut Vec<u8>) {
        for value in &state.memory {
            put(out, *value);
        }
        if self.model.reordering().serial {
            put(out, state.running.into());
        }
        for t in 0..state.threads.len() {
            self.encode_thread(state, t, out);
        }
        self.encode_criterion(state, out);
        if let Some(shadow) = &state.shadow {
            self.encode_shadow(shadow, state, out);
        }
    }

    /// Appends the bytes of what criteria keep that hear what happens.
    pub fn encode_criterion(&self, state: &State, out: &mut Vec<u8>) {
        if let (Some(monitor), Some(remembered)) = (&self.monitor, &state.monitor) {
            monitor.encode(remembered, out);
        }
        if self.spec.is_some() {
            put(out, state.spec.into());
        }
        if let (Some(values), Some(heard)) = (&self.values, &state.heard) {
            values.encode(heard, out);
        }
    }

    /// Appends the bytes of one thread's part.
    pub fn encode_thread(&self, state: &State, t: usize, out: &mut Vec<u8>) {
        let (thread, info) = (&state.threads[t], &self.threads[t]);
        put(out, thread.pc.into());
        if self.keeps_deeds() {
            put(out, thread.did.into());
        }
        for reg in &info.live[thread.pc as usize] {
            let at = info.base + *reg as usize;
            if self.loads_wait {
                put(out, state.pending[at].into());
                put(out, if state.pending[at] == 0 { state.regs[at] } else { 0 });
            } else {
                put(out, state.regs[at]);
            }
        }
        put(out, thread.queue.len() as i128);
        for entry in &thread.queue {
            put_entry(out, entry);
        }
    }

    /// Reads one thread's part back; its registers are 0 before.
    pub fn decode_thread(&self, input: &mut &[u8], t: usize, state: &mut State) {
        let (thread, info) = (&mut state.threads[t], &self.threads[t]);
        thread.pc = take(input) as u32;
        thread.issued = 0;
        if self.keeps_deeds() {
            thread.did = take(input) as u8;
        }
        for reg in &info.live[thread.pc as usize] {
            let at = info.base + *reg as usize;
            if self.loads_wait {
                state.pending[at] = take(input) as u16;
            }
            state.regs[at] = take(input);
        }
        let entries = take(input);
        thread.queue.clear();
        thread.queue.extend((0..entries).map(|_| take_entry(input)));
    }

    /// Passes over one thread's part.
    pub fn skip_thread(&self, input: &mut &[u8], t: usize) {
        let pc = take(input) as usize;
        let registers = self.threads[t].live[pc].len() * if self.loads_wait { 2 } else { 1 };
        let numbers = registers + usize::from(self.keeps_deeds());
        for _ in 0..numbers {
            take(input);
        }
        for _ in 0..take(input) {
            take_entry(input);
        }
    }

    /// Reads a state back.
    pub fn decode(&self, mut bytes: &[u8], state: &mut State) {
        let input = &mut bytes;
        for value in &mut state.memory {
            *value = take(input);
        }
        state.running = if self.model.reordering().serial { take(input) as u16 } else { 0 };
        state.regs.fill(0);
        state.pending.fill(0);
        for t in 0..state.threads.len() {
            self.decode_thread(input, t, state);
        }
        if let Some(monitor) = &self.monitor {
            let (remembered, length) = monitor.decode(input).expect("a stored state has its monitor's");
            state.monitor = Some(remembered);
            *input = &input[length..];
        }
        state.spec = if self.spec.is_some() { take(input) as u32 } else { 0 };
        if let (Some(values), Some(heard)) = (&self.values, &mut state.heard) {
            values.decode(input, heard);
        }
        self.decode_shadow(input, state);
        debug_assert!(input.is_empty(), "a state has trailing bytes");
    }
}

const STALE: u8 = 0x10;
const SPARE: u8 = 0x20;
const FENCE: u8 = 5;
const WAITING: u8 = 0x40;
const CHAINED: u8 = 0x80;

pub(crate) fn put_entry(out: &mut Vec<u8>, entry: &Entry) {
    let tag = match entry.what {
        What::Access(kind) => kind as u8,
        What::Assign => 3,
        What::Assert => 4,
        What::Begin => 6,
        What::Commit => 7,
        What::End => 8,
        What::Fence(set) => {
            out.extend([FENCE, set.bits()]);
            return;
        }
    } | if entry.spare { SPARE } else { 0 }
        | if entry.stale { STALE } else { 0 };
    let flags = if entry.chained { CHAINED } else { 0 } | if entry.known() { 0 } else { WAITING };
    out.push(tag | flags);
    put(out, entry.loc.into());
    put(out, entry.instr.into());
    match &entry.data {
        Data::Known(first, second) => {
            if entry.what != What::Access(AccessKind::Load) {
                put(out, *first);
            }
            if entry.what == What::Access(AccessKind::Rmw) {
                put(out, *second);
            }
        }
        Data::Waiting(captured) => {
            put(out, captured.len() as i128);
            for (reg, value) in captured {
                put(out, i128::from(*reg));
                match value {
                    Value::Known(value) => {
                        out.push(0);
                        put(out, *value);
                    }
                    Value::Pending(at) => {
                        out.push(1);
                        put(out, i128::from(*at));
                    }
                }
            }
        }
    }
}

fn take_entry(input: &mut &[u8]) -> Entry {
    let byte = input[0];
    *input = &input[1..];
    let what = match byte & !(WAITING | CHAINED | SPARE | STALE) {
        0 => What::Access(AccessKind::Load),
        1 => What::Access(AccessKind::Store),
        2 => What::Access(AccessKind::Rmw),
        3 => What::Assign,
        4 => What::Assert,
        6 => What::Begin,
        7 => What::Commit,
        8 => What::End,
        _ => {
            let set = FenceSet::from_bits(input[0]);
            *input = &input[1..];
            return Entry::new(What::Fence(set), 0, 0, Data::NONE);
        }
    };
    let mut entry = Entry::new(what, 0, 0, Data::NONE);
    entry.chained = byte & CHAINED != 0;
    entry.spare = byte & SPARE != 0;
    entry.stale = byte & STALE != 0;
    entry.loc = take(input) as u32;
    entry.instr = take(input) as u32;
    entry.data = if byte & WAITING != 0 {
        let captured = take(input);
        Data::Waiting((0..captured).map(|_| take_captured(input)).collect())
    } else {
        let first = if what == What::Access(AccessKind::Load) { 0 } else { take(input) };
        let second = if what == What::Access(AccessKind::Rmw) { take(input) } else { 0 };
        Data::Known(first, second)
    };
    entry
}

fn take_captured(input: &mut &[u8]) -> (u32, Value) {
    let reg = take(input) as u32;
    let pending = input[0] != 0;
    *input = &input[1..];
    let number = take(input);
    (reg, if pending { Value::Pending(number as u16) } else { Value::Known(number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive() {
        let mut bytes = Vec::new();
        let numbers = [
            0,
            1,
            -1,
            63,
            64,
            -64,
            -65,
            1 << 40,
            1 << 62,
            (1 << 63) - 1,
            1 << 63,
            -1 << 63,
            1 << 64,
            i128::MAX,
            i128::MIN,
            i128::MIN + 1,
        ];
        for number in numbers {
            put(&mut bytes, number);
        }
        let mut input = &bytes[..];
        for number in numbers {
            assert_eq!(take(&mut input), number);
        }
        assert!(input.is_empty());
    }

    #[test]
    fn entries_survive() {
        let entry = |what, data| Entry { chained: true, spare: true, stale: true, ..Entry::new(what, 7, 3, data) };
        let waiting = Data::Waiting(vec![(2, Value::Known(-5)), (900, Value::Pending(3))]);
        let entries = [
            entry(What::Access(AccessKind::Load), Data::NONE),
            entry(What::Access(AccessKind::Store), Data::Known(-9, 0)),
            entry(What::Access(AccessKind::Rmw), Data::Known(1, 2)),
            entry(What::Access(AccessKind::Store), waiting.clone()),
            entry(What::Assign, waiting.clone()),
            entry(What::Assert, waiting),
        ];
        let mut bytes = Vec::new();
        entries.iter().for_each(|e| put_entry(&mut bytes, e));
        let mut input = &bytes[..];
        for entry in entries {
            assert_eq!(take_entry(&mut input), entry);
        }
    }
}
