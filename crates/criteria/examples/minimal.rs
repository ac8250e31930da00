use cyrano_criteria::history::*;
use cyrano_criteria::monitor::*;
use std::collections::HashMap;
fn main() {
    for (n, k) in [(2, 1), (2, 2), (3, 1)] {
        for c in Criterion::ALL {
            let size = Size { threads: n, vars: k };
            let m = Monitor::new(c, size).unwrap();
            let al = size.alphabet();
            let mut id: HashMap<State, usize> = HashMap::new();
            let mut st = vec![m.initial()];
            id.insert(m.initial(), 0);
            let mut how: Vec<(usize, Option<Event>)> = vec![(0, None)];
            let mut tr: Vec<Vec<usize>> = vec![];
            let mut i = 0;
            while i < st.len() {
                let mut row = vec![];
                for &e in &al {
                    let mut x = st[i];
                    if m.step(&mut x, e).is_ok() {
                        let l = st.len();
                        let j = *id.entry(x).or_insert(l);
                        if j == l {
                            st.push(x);
                            how.push((i, Some(e)));
                        }
                        row.push(j + 1);
                    } else {
                        row.push(0);
                    }
                }
                tr.push(row);
                i += 1;
            }
            let mut cls = vec![0usize; st.len()];
            let mut cnt = 1;
            loop {
                let mut mp: HashMap<Vec<usize>, usize> = HashMap::new();
                let mut nc = vec![0; st.len()];
                for s in 0..st.len() {
                    let mut key = vec![cls[s]];
                    key.extend(tr[s].iter().map(|&j| if j == 0 { 0 } else { cls[j - 1] + 1 }));
                    let l = mp.len();
                    nc[s] = *mp.entry(key).or_insert(l);
                }
                let c2 = mp.len();
                cls = nc;
                if c2 == cnt {
                    break;
                }
                cnt = c2;
            }
            println!("{n}x{k} {}: {} states, minimal {}", c.name(), st.len(), cnt);
            let hist = |mut s: usize| {
                let mut v = vec![];
                while let Some(e) = how[s].1 {
                    v.push(e.to_string());
                    s = how[s].0;
                }
                v.reverse();
                v.join(", ")
            };
            let mut first: HashMap<usize, usize> = HashMap::new();
            let mut shown = 0;
            for s in 0..st.len() {
                if let Some(&p) = first.get(&cls[s]) {
                    if shown < 6 {
                        shown += 1;
                        println!("  [{}]\n  [{}]\n", hist(p), hist(s));
                    }
                } else {
                    first.insert(cls[s], s);
                }
            }
        }
    }
}
