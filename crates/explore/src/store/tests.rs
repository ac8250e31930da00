//! The store against plain maps: several workers, new shapes, memory limits, fingerprints.

use std::collections::{HashMap, HashSet};

use super::*;

fn store(state_bytes: Option<usize>) -> Store {
    Store::new(state_bytes, &Explore::default(), 2)
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn put_in<K: Keys>(store: &mut Store, keys: &mut K, writer: &mut Writer) {
    while !store.insert(keys, writer) {
        store.settle(writer);
        assert!(store.make_room::<K>(u64::MAX, 2));
    }
    store.settle(writer);
}

/// Every record of some spans.
fn records(store: &Store, spans: &[Span]) -> Vec<Address> {
    let mut all = Vec::new();
    for span in spans.iter().map(|span| &span.range) {
        let mut at = Address(span.start);
        while at.0 < span.end {
            all.push(at);
            at = store.after(at);
        }
    }
    all
}

/// Inserts pseudo-random states with many repetitions and compares with a plain map.
#[test]
fn agrees_with_a_plain_map() {
    let mut store = store(None);
    let mut plain: HashMap<Vec<u8>, u64> = HashMap::new();
    let (mut keys, mut writer, mut random) = (ByteKeys::default(), Writer::default(), Random(1));
    for round in 0..200_000u64 {
        let seed = random.next();
        let length = 1 + (seed % 40) as usize;
        let byte = (seed >> 20) as u8 % 64;
        let bytes: Vec<u8> = (0..length).map(|i| byte ^ (i as u8 % 3) ^ ((seed >> 40) as u8 % 32)).collect();
        let fresh = plain.len() as u64;
        plain.entry(bytes.clone()).or_insert(fresh);
        keys.push(Address(round & 0xffff), |out| out.extend(&bytes));
        if keys.len() >= BATCH {
            put_in(&mut store, &mut keys, &mut writer);
        }
    }
    put_in(&mut store, &mut keys, &mut writer);
    assert_eq!(store.len(), plain.len() as u64);
    for (order, record) in records(&store, &writer.take_spans()).into_iter().enumerate() {
        assert_eq!(plain.remove(store.state(record)), Some(order as u64), "spans keep the order of discovery");
    }
    assert!(plain.is_empty());
}

/// Several workers insert overlapping sets; each state is kept once, with a parent that somebody gave it.
#[test]
fn workers_agree_on_one_record_for_each_state() {
    const WORKERS: u64 = 4;
    let mut store = store(Some(6));
    let mut writers: Vec<Writer> = (0..WORKERS).map(|_| Writer::default()).collect();
    let mut expected = HashSet::new();
    assert!(store.make_room::<WordKeys<1>>(u64::MAX, 2));
    for round in 0..6u64 {
        let word = |worker: u64, i: u64| (i * 7 + worker * 1000 + round * 5000) % 60_000 * 0x1_0001;
        std::thread::scope(|scope| {
            for (worker, writer) in (0..WORKERS).zip(&mut writers) {
                let store = &store;
                scope.spawn(move || {
                    let mut keys = WordKeys::<1>::new(6);
                    for i in 0..400 {
                        keys.push(Address(worker), [word(worker, i)]);
                    }
                    assert!(store.insert(&mut keys, writer));
                    store.settle(writer);
                });
            }
        });
        expected.extend((0..WORKERS).flat_map(|worker| (0..400).map(move |i| word(worker, i))));
        assert_eq!(store.len() as usize, expected.len());
        assert!(store.make_room::<WordKeys<1>>(u64::MAX, 2));
    }
    let spans: Vec<_> = writers.iter_mut().flat_map(Writer::take_spans).collect();
    let all = records(&store, &spans);
    assert_eq!(all.len(), expected.len());
    let words: HashSet<u64> = all.iter().map(|record| store.words::<1>(*record)[0]).collect();
    assert_eq!(words, expected);
    assert!(all.iter().all(|record| store.parent(*record).0 < WORKERS));
}

/// States keep their addresses, parents and identity when they get another form.
#[test]
fn a_new_shape_keeps_records() {
    let mut store = store(Some(3));
    let mut writer = Writer::default();
    let mut keys = WordKeys::<1>::new(3);
    (0..40_000).for_each(|i| keys.push(Address(i / 2), [i]));
    put_in(&mut store, &mut keys, &mut writer);
    store.reshape::<WordKeys<2>>(9, |from, to| {
        to.fill(0);
        to[6..9].copy_from_slice(from);
    });
    let spans = writer.take_spans();
    for (i, record) in records(&store, &spans).into_iter().enumerate() {
        let i = i as u64;
        assert_eq!((store.words::<2>(record), store.parent(record)), ([i << 48, i >> 16], Address(i / 2)));
    }
    let mut keys = WordKeys::<2>::new(9);
    (0..50_000).for_each(|i| keys.push(Address(7), [i << 48, i >> 16]));
    put_in(&mut store, &mut keys, &mut writer);
    assert_eq!(store.len(), 50_000);
}

/// When there is no memory for more slots, those that there are get fuller, and then there is no room.
#[test]
fn memory_is_kept() {
    let mut store = store(Some(4));
    let (mut writer, limit) = (Writer::default(), 400_000);
    let mut keys = WordKeys::<1>::new(4);
    (0..100_000).for_each(|i| keys.push(Address::NONE, [i]));
    while !store.insert(&mut keys, &mut writer) {
        store.settle(&mut writer);
        if !store.make_room::<WordKeys<1>>(limit, 1) {
            break;
        }
    }
    assert!(store.is_crowded() && store.len() > 10_000, "{} states", store.len());
    assert!(store.bytes() <= limit + limit / 10, "{} bytes", store.bytes());
}

/// Fingerprints keep only the levels under way, and find the same states again.
#[test]
fn fingerprints_forget_levels() {
    let mut store = Store::new(Some(8), &Explore { fingerprints: true, ..Explore::default() }, 2);
    let mut writers = [Writer::default()];
    let mut sizes = Vec::new();
    for level in 0..5 {
        let mut keys = WordKeys::<1>::new(8);
        (0..30_000).for_each(|i| keys.push(Address::NONE, [level * 20_000 + i]));
        put_in(&mut store, &mut keys, &mut writers[0]);
        sizes.push(records(&store, &writers[0].take_spans()).len());
        store.next_level(writers.iter_mut());
    }
    assert_eq!(sizes, [30_000, 20_000, 20_000, 20_000, 20_000]);
    assert_eq!(store.len(), 110_000);
    assert!(store.bytes() < 262_144 * 8 + 110_000 * 8, "{} bytes", store.bytes());
}

/// What workers have not counted yet fits the table, however many there are.
#[test]
fn many_workers_do_not_fill_the_table() {
    const WORKERS: usize = 200;
    let mut store = Store::<5>::new(Some(8), &Explore::default(), WORKERS);
    let mut writers: Vec<Writer> = (0..WORKERS).map(|_| Writer::default()).collect();
    let (mut keys, mut state) = (WordKeys::<1>::new(8), 0);
    for _ in 0..8 {
        for worker in 0..WORKERS {
            // Just not enough to be counted.
            (0..COUNT_EVERY - 1).for_each(|i| keys.push(Address::NONE, [state + i]));
            while !store.insert(&mut keys, &mut writers[worker]) {
                writers.iter_mut().for_each(|writer| store.settle(writer));
                assert!(store.make_room::<WordKeys<1>>(u64::MAX, 1));
            }
            state += COUNT_EVERY - 1;
        }
        let used = store.slots.iter().filter(|slot| slot.load(Ordering::Relaxed) != EMPTY).count();
        assert!(used as u64 == state && used * 16 <= store.slots.len() * FULL, "{used} of {}", store.slots.len());
    }
    writers.iter_mut().for_each(|writer| store.settle(writer));
    assert_eq!(store.len(), state);
}

/// Numbers of more bytes can stand for where a state was found from, and spans count records.
#[test]
fn wide_parents_and_numbered_spans() {
    let mut store = Store::<7>::new(None, &Explore::default(), 1);
    let (mut keys, mut writer) = (ByteKeys::default(), Writer::default());
    let parent = |i: u64| Address((1 << 56) - 1 - i);
    for i in 0..30_000u64 {
        let state = i.to_le_bytes();
        keys.push_hashed(bytes_hash(&state), parent(i), &state);
    }
    while !store.insert(&mut keys, &mut writer) {
        store.settle(&mut writer);
        assert!(store.make_room::<ByteKeys>(u64::MAX, 1));
    }
    let spans = writer.take_spans();
    assert!(spans.len() > 10 && writer.written() == 30_000);
    for span in spans {
        let mut at = Address(span.range.start);
        let mut number = span.first;
        while at.0 < span.range.end {
            assert_eq!((store.state(at), store.parent(at)), (&number.to_le_bytes()[..], parent(number)));
            (at, number) = (store.after(at), number + 1);
        }
    }
}
