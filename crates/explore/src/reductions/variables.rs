//! Variable symmetry (reduction `variable-symmetry`), for criteria that treat all transactional variables alike.
//!
//! Where a memory treats its variables alike, renaming them turns executions into executions, and of the states that differ
//! only by such a renaming one is stored. A memory that visits its variables in a fixed order, to lock them say, does not
//! treat them alike; most do that, so this is found out for each program, and for most it is not used.
//!
//! **Argument.** A permutation of the variables is extended to an automorphism of the program (`cyrano_ir::automorphisms`). So a step of a
//! state, renamed, is a step of the renamed state: every instruction does the same to the renamed places. The dispatch of a command is not
//! renamed; threads do not rest in it, because `macro-steps` is on, and the number of the command is dead afterwards.
//!
//! Witnesses are rebuilt without renaming.

use cyrano_ir::automorphisms::Renaming;

use crate::semantics::machine::Machine;
use crate::semantics::state::{Data, State};

/// The most variables whose renamings are all tried.
pub(crate) const MOST_VARIABLES: u8 = 3;

impl Machine<'_> {
    /// The state with its variables renamed; false if a thread rests where the renaming says nothing.
    pub(crate) fn rename_variables(&self, renaming: &Renaming, state: &State, out: &mut State) -> bool {
        out.clone_from(state);
        for (from, to) in renaming.locations.iter().enumerate() {
            out.memory[*to] = state.memory[from];
        }
        for (t, lane) in renaming.threads.iter().enumerate() {
            let base = self.threads[t].base;
            for (from, to) in lane.registers.iter().enumerate() {
                out.regs[base + to] = state.regs[base + from];
                if self.loads_wait {
                    out.pending[base + to] = state.pending[base + from];
                }
            }
            let thread = &mut out.threads[t];
            let Some(pc) = lane.code[thread.pc as usize] else { return false };
            thread.pc = pc;
            for entry in &mut thread.queue {
                entry.loc = renaming.locations[entry.loc as usize] as u32;
                if entry.instr != 0 {
                    let Some(instr) = lane.code[entry.instr as usize] else { return false };
                    entry.instr = instr;
                }
                if let Data::Waiting(captured) = &mut entry.data {
                    captured.iter_mut().for_each(|(reg, _)| *reg = lane.registers[*reg as usize] as u32);
                }
            }
        }
        if let (Some(monitor), Some(remembered)) = (&self.monitor, &state.monitor) {
            let threads: Vec<u8> = (0..monitor.size().threads).collect();
            out.monitor = Some(monitor.permute(remembered, &threads, &renaming.variables));
        }
        if self.sorts {
            out.threads.iter_mut().for_each(|thread| crate::reductions::canonicalise::sort_stores(&mut thread.queue));
        }
        true
    }
}
