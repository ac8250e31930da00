//! The relations that cycles are made of, under the names that diy gives them.

use cyrano_ir::FenceSet;

use super::target::{Barrier, Note, Target};

/// Whether an access reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dir {
    /// It reads.
    R,
    /// It writes.
    W,
}

/// A step from one access to the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// A write of one thread is read by another.
    Rfe,
    /// A read of one thread sees a write that comes before one of another thread.
    Fre,
    /// A write of one thread comes before a write of another, to the same location.
    Wse,
    /// The next access of the same thread, with something in between or not.
    Po {
        /// What is in between.
        link: Link,
        /// Whether to the same location.
        same: bool,
        /// The first access.
        from: Dir,
        /// The second access.
        to: Dir,
    },
}

/// What stands between two accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Link {
    /// Nothing.
    None,
    /// `MFENCE`.
    MFence,
    /// `SFENCE`.
    SFence,
    /// `LFENCE`.
    LFence,
    /// A load-load fence.
    LoadLoad,
    /// A load-store fence.
    LoadStore,
    /// A store-load fence.
    StoreLoad,
    /// A store-store fence.
    StoreStore,
    /// The second access's address depends on the first.
    Addr,
    /// The value that the second access writes depends on the first.
    Data,
    /// Whether the second access happens depends on the first.
    Ctrl,
    /// The same, with a machine's instruction in between that waits for the branch: `ISB`, `isync`, `fence.i`.
    CtrlFence(Target),
    /// A barrier of a machine or a language.
    Barrier(Barrier),
}

/// The links with the start of a relation's name and the word in a test's name; barriers have a table of their own.
const LINKS: [(Link, &str, &str); 14] = [
    (Link::None, "Po", "po"),
    (Link::MFence, "MFence", "mfence"),
    (Link::SFence, "SFence", "sfence"),
    (Link::LFence, "LFence", "lfence"),
    (Link::LoadLoad, "LL", "ll"),
    (Link::LoadStore, "LS", "ls"),
    (Link::StoreLoad, "SL", "sl"),
    (Link::StoreStore, "SS", "ss"),
    (Link::Addr, "DpAddr", "addr"),
    (Link::Data, "DpData", "data"),
    (Link::Ctrl, "DpCtrl", "ctrl"),
    (Link::CtrlFence(Target::AArch64), "DpCtrlIsb", "ctrlisb"),
    (Link::CtrlFence(Target::Ppc), "DpCtrlIsync", "ctrlisync"),
    (Link::CtrlFence(Target::Riscv), "DpCtrlFencei", "ctrlfencei"),
];

impl Link {
    fn row(self) -> (&'static str, &'static str) {
        if let Self::Barrier(barrier) = self {
            return (barrier.start(), barrier.word());
        }
        let row = LINKS.iter().find(|(link, ..)| *link == self);
        row.map_or(("", ""), |(_, start, word)| (*start, *word))
    }

    /// The word in a test's name.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// The fence that it is, if it is one.
    pub fn fence(self) -> Option<FenceSet> {
        Some(match self {
            Self::MFence => FenceSet::FULL,
            Self::SFence | Self::StoreStore => FenceSet::SS,
            Self::LFence => FenceSet::LL | FenceSet::LS,
            Self::LoadLoad => FenceSet::LL,
            Self::LoadStore => FenceSet::LS,
            Self::StoreLoad => FenceSet::SL,
            Self::None | Self::Addr | Self::Data | Self::Ctrl | Self::CtrlFence(_) | Self::Barrier(_) => return None,
        })
    }

    /// Whether it is a dependency.
    pub fn is_dependency(self) -> bool {
        matches!(self, Self::Addr | Self::Data | Self::Ctrl | Self::CtrlFence(_))
    }

    /// Whether it can stand between two such accesses.
    fn fits(self, from: Dir, to: Dir) -> bool {
        match self {
            Self::Addr | Self::Ctrl | Self::CtrlFence(_) => from == Dir::R,
            Self::Data => from == Dir::R && to == Dir::W,
            _ => true,
        }
    }
}

impl Relation {
    /// The access that it starts from.
    pub fn from(self) -> Dir {
        match self {
            Self::Rfe | Self::Wse => Dir::W,
            Self::Fre => Dir::R,
            Self::Po { from, .. } => from,
        }
    }

    /// The access that it leads to.
    pub fn to(self) -> Dir {
        match self {
            Self::Rfe => Dir::R,
            Self::Fre | Self::Wse => Dir::W,
            Self::Po { to, .. } => to,
        }
    }

    /// Whether it leads to another thread.
    pub fn is_external(self) -> bool {
        !matches!(self, Self::Po { .. })
    }

    /// Whether it leads to another location.
    pub fn changes_location(self) -> bool {
        matches!(self, Self::Po { same: false, .. })
    }

    /// Communications, and program order to another location.
    pub fn basic() -> Vec<Self> {
        let mut list = vec![Self::Rfe, Self::Fre, Self::Wse];
        list.extend(Self::links(&[Link::None], false));
        list
    }

    /// Program order to the same location.
    pub fn same() -> Vec<Self> {
        Self::links(&[Link::None], true)
    }

    /// The fences of a language.
    pub fn fences(target: Target) -> Vec<Self> {
        let links: Vec<Link> = match target {
            Target::X86 | Target::X86_64 => vec![Link::MFence, Link::SFence, Link::LFence],
            Target::Rml => vec![Link::MFence, Link::LoadLoad, Link::LoadStore, Link::StoreLoad, Link::StoreStore],
            _ => Barrier::all().filter(|barrier| barrier.target() == target).map(Link::Barrier).collect(),
        };
        Self::links(&links, false)
    }

    /// The dependencies of a language.
    pub fn dependencies(target: Target) -> Vec<Self> {
        let mut links = vec![Link::Addr, Link::Data, Link::Ctrl];
        if matches!(target, Target::AArch64 | Target::Riscv | Target::Ppc) {
            links.push(Link::CtrlFence(target));
        }
        Self::links(&links, false)
    }

    fn links(links: &[Link], same: bool) -> Vec<Self> {
        let mut list = Vec::new();
        for link in links {
            for from in [Dir::R, Dir::W] {
                let ends = [Dir::R, Dir::W].into_iter().filter(|to| link.fits(from, *to));
                list.extend(ends.map(|to| Self::Po { link: *link, same, from, to }));
            }
        }
        list
    }

    /// The relation with this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "Rfe" => return Some(Self::Rfe),
            "Fre" => return Some(Self::Fre),
            "Wse" | "Coe" => return Some(Self::Wse),
            _ => {}
        }
        let barriers = Barrier::all().map(|barrier| (Link::Barrier(barrier), barrier.start()));
        let mut links: Vec<(Link, &str)> =
            LINKS.iter().map(|(link, start, _)| (*link, *start)).chain(barriers).collect();
        // The longest name first, so that `Po` does not hide another.
        links.sort_by_key(|(_, start)| std::cmp::Reverse(start.len()));
        let (link, rest) = links.iter().find_map(|(link, start)| Some((*link, name.strip_prefix(start)?)))?;
        let same = match rest.chars().next()? {
            'd' => false,
            's' => true,
            _ => return None,
        };
        let dir = |letter| match letter {
            'R' => Some(Dir::R),
            'W' => Some(Dir::W),
            _ => None,
        };
        let ends: Vec<Dir> = rest[1..].chars().map(dir).collect::<Option<_>>()?;
        let (from, to) = match ends.as_slice() {
            [to] if link.is_dependency() => (Dir::R, *to),
            [from, to] if !link.is_dependency() => (*from, *to),
            _ => return None,
        };
        link.fits(from, to).then_some(Self::Po { link, same, from, to })
    }
}

impl std::fmt::Display for Relation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rfe => f.write_str("Rfe"),
            Self::Fre => f.write_str("Fre"),
            Self::Wse => f.write_str("Wse"),
            Self::Po { link, same, from, to } => {
                let place = if *same { 's' } else { 'd' };
                let start = link.row().0;
                match link.is_dependency() {
                    true => write!(f, "{start}{place}{to:?}"),
                    false => write!(f, "{start}{place}{from:?}{to:?}"),
                }
            }
        }
    }
}

/// A relation with notes on its ends; an end without one takes that of the relation beside it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// The relation.
    pub relation: Relation,
    /// What is said about the accesses at its ends.
    pub notes: Option<[Note; 2]>,
}

impl From<Relation> for Edge {
    fn from(relation: Relation) -> Self {
        Self { relation, notes: None }
    }
}

impl Edge {
    /// The relation with this name, behind which notes may stand: `PodRRAP`, `RfeLA`.
    pub fn parse(name: &str) -> Option<Self> {
        if let Some(relation) = Relation::parse(name) {
            return Some(relation.into());
        }
        (1..name.len()).rev().find_map(|at| {
            let relation = Relation::parse(name.get(..at)?)?;
            Some(Self { relation, notes: Some(Note::pair(&name[at..])?) })
        })
    }
}

impl std::fmt::Display for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.relation.fmt(f)?;
        self.notes.into_iter().flatten().try_for_each(|note| f.write_str(note.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let mut all = Relation::basic();
        all.extend(Relation::same());
        for target in Target::ALL {
            all.extend(Relation::fences(target));
        }
        all.extend(Relation::dependencies(Target::Ppc));
        assert_eq!(all.len(), 7 + 4 + 2 * 12 + 31 * 4 + 20 + 7);
        for relation in all {
            assert_eq!(Relation::parse(&relation.to_string()), Some(relation), "{relation}");
        }
        for wrong in ["", "Po", "PodRX", "PodR", "DpDatadR", "DpAddrdRR", "Rf"] {
            assert_eq!(Relation::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Relation::parse("Coe"), Some(Relation::Wse));
        for name in ["PodRRAP", "RfeLA", "FreAL", "DMB.SYdWWPL", "DpAddrdRPQ", "PodWWRlxRel", "PodWRRlAq", "Rfe"] {
            assert_eq!(Edge::parse(name).map(|edge| edge.to_string()).as_deref(), Some(name));
        }
        for wrong in ["PodRRA", "RfeXX", "AP"] {
            assert_eq!(Edge::parse(wrong), None, "{wrong}");
        }
    }
}
