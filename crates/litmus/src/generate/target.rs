//! The languages that tests are made in, and what each has besides plain accesses: barriers, and notes on accesses.

/// A language of tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// herd's format, X86.
    X86,
    /// herd's format, X86_64.
    X86_64,
    /// herd's format, AArch64.
    AArch64,
    /// herd's format, RISCV.
    Riscv,
    /// herd's format, PPC.
    Ppc,
    /// herd's format, C with C11's atomics.
    C,
    /// herd's format, C with the Linux kernel's functions.
    Kernel,
    /// The native language.
    Rml,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::X86, Self::X86_64, Self::AArch64, Self::Riscv, Self::Ppc, Self::C, Self::Kernel, Self::Rml];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86 => "X86",
            Self::X86_64 => "X86_64",
            Self::AArch64 => "AArch64",
            Self::Riscv => "RISCV",
            Self::Ppc => "PPC",
            Self::C => "C11",
            Self::Kernel => "the kernel's C",
            Self::Rml => "the native language",
        }
    }

    /// Whether a dependency can be written in it.
    pub fn has_dependencies(self) -> bool {
        !matches!(self, Self::X86 | Self::X86_64)
    }
}

/// A barrier of a machine or a language, by its place in a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Barrier(u8);

/// The barriers: who has it, the start of a relation's name, the word in a test's name, how it is written.
const BARRIERS: [(Target, &str, &str, &str); 31] = [
    (Target::AArch64, "DMB.SY", "dmb.sy", "DMB SY"),
    (Target::AArch64, "DMB.LD", "dmb.ld", "DMB LD"),
    (Target::AArch64, "DMB.ST", "dmb.st", "DMB ST"),
    (Target::AArch64, "DSB.SY", "dsb.sy", "DSB SY"),
    (Target::AArch64, "DSB.LD", "dsb.ld", "DSB LD"),
    (Target::AArch64, "DSB.ST", "dsb.st", "DSB ST"),
    (Target::AArch64, "ISB", "isb", "ISB"),
    (Target::Riscv, "Fence.rw.rw", "fence.rw.rw", "fence rw,rw"),
    (Target::Riscv, "Fence.rw.w", "fence.rw.w", "fence rw,w"),
    (Target::Riscv, "Fence.rw.r", "fence.rw.r", "fence rw,r"),
    (Target::Riscv, "Fence.r.rw", "fence.r.rw", "fence r,rw"),
    (Target::Riscv, "Fence.r.r", "fence.r.r", "fence r,r"),
    (Target::Riscv, "Fence.r.w", "fence.r.w", "fence r,w"),
    (Target::Riscv, "Fence.w.rw", "fence.w.rw", "fence w,rw"),
    (Target::Riscv, "Fence.w.w", "fence.w.w", "fence w,w"),
    (Target::Riscv, "Fence.w.r", "fence.w.r", "fence w,r"),
    (Target::Riscv, "Fence.tso", "fence.tso", "fence.tso"),
    (Target::Riscv, "Fence.i", "fence.i", "fence.i"),
    (Target::Ppc, "Sync", "sync", "sync"),
    (Target::Ppc, "LwSync", "lwsync", "lwsync"),
    (Target::Ppc, "Eieio", "eieio", "eieio"),
    (Target::Ppc, "ISync", "isync", "isync"),
    (Target::C, "FenceAcq", "fence.acq", "atomic_thread_fence(memory_order_acquire);"),
    (Target::C, "FenceRel", "fence.rel", "atomic_thread_fence(memory_order_release);"),
    (Target::C, "FenceAcqRel", "fence.acqrel", "atomic_thread_fence(memory_order_acq_rel);"),
    (Target::C, "FenceSc", "fence.sc", "atomic_thread_fence(memory_order_seq_cst);"),
    (Target::Kernel, "Mb", "mb", "smp_mb();"),
    (Target::Kernel, "Rmb", "rmb", "smp_rmb();"),
    (Target::Kernel, "Wmb", "wmb", "smp_wmb();"),
    (Target::Kernel, "Sync-rcu", "sync-rcu", "synchronize_rcu();"),
    (Target::Kernel, "Barrier", "barrier", "barrier();"),
];

impl Barrier {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..BARRIERS.len()).map(|number| Self(number as u8))
    }

    fn row(self) -> (Target, &'static str, &'static str, &'static str) {
        BARRIERS[usize::from(self.0)]
    }

    /// Who has it.
    pub fn target(self) -> Target {
        self.row().0
    }

    /// The start of a relation's name.
    pub fn start(self) -> &'static str {
        self.row().1
    }

    /// The word in a test's name.
    pub fn word(self) -> &'static str {
        self.row().2
    }

    /// How it is written.
    pub fn line(self) -> &'static str {
        self.row().3
    }
}

/// What is said about an access, by its place in a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Note(u8);

/// The notes: their spelling in a relation's name, and how each language that has it writes a load and a store; nothing where it has none.
type Row = (&'static str, &'static [(Target, &'static str, &'static str)]);

const NOTES: [Row; 10] = [
    (
        "P",
        &[
            (Target::X86, "", ""),
            (Target::X86_64, "", ""),
            (Target::AArch64, "LDR", "STR"),
            (Target::Riscv, "lw", "sw"),
            (Target::Ppc, "lwz", "stw"),
            (Target::C, "relaxed", "relaxed"),
            (Target::Kernel, "READ_ONCE", "WRITE_ONCE"),
            (Target::Rml, "", ""),
        ],
    ),
    (
        "A",
        &[
            (Target::AArch64, "LDAR", ""),
            (Target::Riscv, "lw.aq", ""),
            (Target::C, "acquire", ""),
            (Target::Kernel, "smp_load_acquire", ""),
        ],
    ),
    (
        "L",
        &[
            (Target::AArch64, "", "STLR"),
            (Target::Riscv, "", "sw.rl"),
            (Target::C, "", "release"),
            (Target::Kernel, "", "smp_store_release"),
        ],
    ),
    ("Q", &[(Target::AArch64, "LDAPR", "")]),
    ("Aq", &[(Target::Riscv, "lw.aq", "")]),
    ("Rl", &[(Target::Riscv, "", "sw.rl")]),
    ("Rlx", &[(Target::C, "relaxed", "relaxed")]),
    ("Acq", &[(Target::C, "acquire", "")]),
    ("Rel", &[(Target::C, "", "release")]),
    ("Sc", &[(Target::C, "seq_cst", "seq_cst")]),
];

impl Note {
    /// An access about which nothing is said.
    pub const PLAIN: Self = Self(0);

    /// The notes that two ends of a relation have, written one behind the other.
    pub(crate) fn pair(text: &str) -> Option<[Self; 2]> {
        let of = |text: &str| NOTES.iter().position(|(name, _)| *name == text).map(|at| Self(at as u8));
        let split = |at: usize| Some([of(text.get(..at)?)?, of(text.get(at..)?)?]);
        (1..text.len()).find_map(split)
    }

    /// The notes of a language's loads or stores, each once, but for the one that says nothing.
    pub(crate) fn of(target: Target, load: bool) -> Vec<Self> {
        let mut words: Vec<&str> = Self::PLAIN.written(target, load).into_iter().collect();
        let mut notes = Vec::new();
        for note in (1..NOTES.len()).map(|at| Self(at as u8)) {
            if let Ok(word) = note.written(target, load)
                && !words.contains(&word)
            {
                words.push(word);
                notes.push(note);
            }
        }
        notes
    }

    /// Its spelling.
    pub fn name(self) -> &'static str {
        NOTES[usize::from(self.0)].0
    }

    /// How a language writes a load and a store like this.
    pub(crate) fn written(self, target: Target, load: bool) -> Result<&'static str, String> {
        let row = NOTES[usize::from(self.0)].1.iter().find(|(known, ..)| *known == target);
        let word = row.map(|(_, read, write)| if load { *read } else { *write });
        let plain = self == Self::PLAIN;
        word.filter(|word| plain || !word.is_empty()).ok_or_else(|| {
            format!("{} has no {} `{}`", target.name(), if load { "load" } else { "store" }, self.name())
        })
    }
}
