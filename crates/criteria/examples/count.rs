use cyrano_criteria::history::*;
use cyrano_criteria::monitor::*;
use std::collections::{HashMap, HashSet};
fn main() {
    for (n, k) in [(2, 3), (3, 2)] {
        for c in Criterion::ALL {
            let size = Size { threads: n, vars: k };
            let m = Monitor::new(c, size).unwrap();
            let al = size.alphabet();
            let t0 = std::time::Instant::now();
            let mut seen = HashSet::new();
            seen.insert(m.initial());
            let mut front = vec![m.initial()];
            let mut tr = 0usize;
            let mut bytes = 0;
            let mut buf = vec![];
            let mut level: HashMap<State, u64> = HashMap::new();
            let _ = &mut level;
            while let Some(s) = front.pop() {
                buf.clear();
                m.encode(&s, &mut buf);
                bytes = bytes.max(buf.len());
                for &e in &al {
                    let mut x = s;
                    if m.step(&mut x, e).is_ok() {
                        tr += 1;
                        if seen.insert(x) {
                            front.push(x);
                        }
                    }
                }
                if seen.len() > 20_000_000 {
                    println!("too many");
                    break;
                }
            }
            println!(
                "{n}x{k} {}: {} states, {} transitions, max {} bytes, {:?}",
                c.name(),
                seen.len(),
                tr,
                bytes,
                t0.elapsed()
            );
            if n * k <= 6 {
                let mut lv: HashMap<State, u64> = HashMap::new();
                lv.insert(m.initial(), 1);
                for len in 1..=7 {
                    let mut nx = HashMap::new();
                    for (s, w) in &lv {
                        for &e in &al {
                            let mut x = *s;
                            if m.step(&mut x, e).is_ok() {
                                *nx.entry(x).or_insert(0) += w;
                            }
                        }
                    }
                    lv = nx;
                    println!("  len {len}: {} histories, {} states", lv.values().sum::<u64>(), lv.len());
                    if lv.len() > 1_000_000 {
                        break;
                    }
                }
            }
        }
    }
}
