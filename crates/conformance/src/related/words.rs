//! How each model's machine or language marks accesses, and its fences.

use cyrano_ir::{Fence, Tags};
use cyrano_memory::Model;

/// What fits a model. Whatever is picked by a number, weak marks come up more often than strong ones.
pub(super) struct Words {
    loads: Vec<Tags>,
    stores: Vec<Tags>,
    updates: Vec<Tags>,
    fences: Vec<String>,
    /// Whether there are exclusive pairs.
    pub(super) exclusive: bool,
    /// Whether there are critical sections of RCU.
    pub(super) rcu: bool,
}

impl Words {
    /// Those of a model.
    pub(super) fn of(model: &Model) -> Self {
        let (acquire, release, atomic) = (Tags::ACQUIRE, Tags::RELEASE, Tags::ATOMIC);
        let none = Tags::default();
        let marked = |tags: &[Tags]| tags.iter().map(|tags| *tags | atomic).collect::<Vec<_>>();
        let [loads, stores, updates] = match &*model.name {
            "rc11" | "imm" => {
                let mut loads = marked(&[none, none, acquire, acquire, Tags::CONSUME, Tags::SEQ_CST, Tags::SEQ_CST]);
                let mut stores = marked(&[none, none, release, release, Tags::SEQ_CST, Tags::SEQ_CST]);
                loads.push(none);
                stores.push(none);
                [loads, stores, marked(&[none, acquire, release, acquire | release, Tags::SEQ_CST])]
            }
            "lkmm" => {
                let mut loads = marked(&[none, none, none, none, acquire, acquire]);
                let mut stores = marked(&[none, none, none, none, release, release]);
                loads.push(none);
                stores.push(none);
                [loads, stores, marked(&[none, acquire, release, Tags::FULL, Tags::NORETURN])]
            }
            "armv8" => [
                vec![none, none, none, acquire, Tags::ACQUIRE_PC],
                vec![none, none, none, release],
                vec![none, acquire, release, acquire | release, Tags::NORETURN, Tags::NORETURN | release],
            ],
            "power" => [vec![none], vec![none], vec![none]],
            _ => [
                vec![none, none, none, acquire],
                vec![none, none, none, release],
                vec![none, acquire, release, acquire | release],
            ],
        };
        let known = model.known_tags();
        let fitting = |tags: Vec<Tags>| tags.into_iter().map(|tags| tags.without(tags.without(known))).collect();
        Self {
            loads: fitting(loads),
            stores: fitting(stores),
            updates: fitting(updates),
            fences: fences(model),
            exclusive: known.contains(Tags::EXCLUSIVE),
            rcu: model.name == "lkmm",
        }
    }

    pub(super) fn load(&self, pick: u8) -> String {
        shown(of(&self.loads, pick))
    }

    pub(super) fn store(&self, pick: u8) -> String {
        shown(of(&self.stores, pick))
    }

    pub(super) fn update(&self, pick: u8) -> String {
        shown(of(&self.updates, pick))
    }

    /// Whether a read-modify-write with these tags has no result.
    pub(super) fn forgets(&self, pick: u8) -> bool {
        of(&self.updates, pick).contains(Tags::NORETURN)
    }

    /// The tags of a compare-and-swap that fails: those of a load.
    pub(super) fn failed(&self, pick: u8) -> String {
        if pick.is_multiple_of(2) { String::new() } else { format!(" else {{{}}}", of(&self.loads, pick / 2)) }
    }

    /// The tags of an exclusive pair, whose store tells its status or not.
    pub(super) fn pair(&self, pick: u8, status: bool) -> (String, String) {
        let load = of(&self.loads, pick % 16).without(Tags::ACQUIRE_PC) | Tags::EXCLUSIVE;
        let status = if status && pick.is_multiple_of(5) { Tags::SUCCESS } else { Tags::default() };
        (shown(load), shown(of(&self.stores, pick / 16) | Tags::EXCLUSIVE | status))
    }

    pub(super) fn fence(&self, pick: u8) -> &str {
        &self.fences[usize::from(pick) % self.fences.len()]
    }
}

/// The fences of a model; those that it is there for more than once.
fn fences(model: &Model) -> Vec<String> {
    let named = model.cat().map(|cat| cat.plan().fences.clone()).unwrap_or_default();
    let named = named.into_iter().map(|name| name.name());
    let mut all: Vec<String> = named.filter(|name| !name.contains("rcu")).map(str::to_owned).collect();
    let kinds = ["load-load", "load-store", "store-load", "store-store", "store-load store-store"];
    let known = |kind: &&str| {
        let kinds = cyrano_ir::FenceSet::from_name(kind.split(' ').next().unwrap_or_default());
        kinds.is_some_and(|kinds| model.knows(Fence::Kinds(kinds)))
    };
    all.extend(kinds.into_iter().filter(known).map(str::to_owned));
    if model.name == "lkmm" {
        all.extend(["smp_mb", "smp_rmb", "smp_wmb", "synchronize_rcu", "synchronize_rcu"].map(str::to_owned));
    }
    all
}

fn of(tags: &[Tags], pick: u8) -> Tags {
    tags[usize::from(pick) % tags.len()]
}

fn shown(tags: Tags) -> String {
    if tags.is_empty() { String::new() } else { format!(" {{{tags}}}") }
}
