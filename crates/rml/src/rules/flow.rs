//! Index variables never depend on what a load returned.
//!
//! Checked on the lowered code, where procedures are inlined, and without regard to the order of statements: a local that
//! receives a loaded value anywhere in the thread counts as loaded everywhere. Control flow does not count.
//! The diagnostic retraces the shortest flow.

use std::collections::{HashMap, VecDeque};

use cyrano_ir::{Addr, Diagnostic, Expr as IrExpr, Op, Place, RegId, Span, Thread};

use crate::lower::thread::{LoweredThread, Shared};
use crate::report::Reports;
use crate::resolve::names::{Names, Shape};
use crate::syntax::ast::VarKind;

/// Longer flows are cut: their beginning and the first steps say enough.
const MAX_STEPS: usize = 6;

/// How a register came to depend on a load.
#[derive(Clone, Copy)]
struct Cause {
    instr: usize,
    /// The register that the value came from; none for a load.
    from: Option<RegId>,
}

/// Reports every index variable of a thread that depends on a load.
pub(crate) fn check_flow(lowered: &LoweredThread, shared: &Shared<'_, '_>, reports: &mut Reports) {
    let names = shared.names;
    let is_index = |var| names.var(var).kind == VarKind::Index;
    let mut indices: Vec<_> = lowered.homes.iter().filter(|(var, _)| is_index(**var)).map(|(_, home)| *home).collect();
    if indices.is_empty() {
        return;
    }
    indices.sort();
    let flow = Flow { thread: &lowered.thread, bases: bases(lowered, names) };
    let causes = flow.causes();
    for index in indices {
        if causes.contains_key(&index) {
            reports.add(flow.retrace(index, &causes, shared));
        }
    }
}

/// For every register the first element of its array, or itself: an array counts as one variable.
fn bases(lowered: &LoweredThread, names: &Names<'_>) -> Vec<RegId> {
    let mut bases: Vec<_> = (0..lowered.thread.registers.len()).map(RegId::new).collect();
    for (var, home) in &lowered.homes {
        if let Shape::Array(len) = names.var(*var).shape {
            bases[home.index()..home.index() + len as usize].fill(*home);
        }
    }
    bases
}

struct Flow<'t> {
    thread: &'t Thread,
    bases: Vec<RegId>,
}

impl Flow<'_> {
    /// Breadth first from the loads.
    fn causes(&self) -> HashMap<RegId, Cause> {
        let mut causes = HashMap::new();
        let mut edges: HashMap<RegId, Vec<(RegId, usize)>> = HashMap::new();
        let mut pending = VecDeque::new();
        for (instr, code) in self.thread.code.iter().enumerate() {
            let Some(dst) = code.op.dst().map(|dst| self.base(dst)) else { continue };
            if code.op.access_kind().is_some() {
                causes.entry(dst).or_insert_with(|| {
                    pending.push_back(dst);
                    Cause { instr, from: None }
                });
            } else if let Op::Assign { value, .. } = &code.op {
                self.for_each_register(value, &mut |from| edges.entry(from).or_default().push((dst, instr)));
            }
        }
        while let Some(from) = pending.pop_front() {
            for (dst, instr) in edges.get(&from).into_iter().flatten() {
                causes.entry(*dst).or_insert_with(|| {
                    pending.push_back(*dst);
                    Cause { instr: *instr, from: Some(from) }
                });
            }
        }
        causes
    }

    fn base(&self, place: &Place) -> RegId {
        let (Place::Reg(register) | Place::Elem { base: register, .. }) = place;
        self.bases[register.index()]
    }

    fn for_each_register(&self, expr: &IrExpr<Place>, visit: &mut dyn FnMut(RegId)) {
        expr.for_each_var(&mut |place| {
            visit(self.base(place));
            if let Place::Elem { index, .. } = place {
                self.for_each_register(index, visit);
            }
        });
    }

    fn retrace(&self, index: RegId, causes: &HashMap<RegId, Cause>, shared: &Shared<'_, '_>) -> Diagnostic {
        let steps = std::iter::successors(Some(index), |register| causes.get(register).and_then(|cause| cause.from));
        let mut steps =
            steps.filter_map(|register| causes.get(&register).map(|cause| self.step(register, *cause, shared)));
        let (span, label) = steps.next().unwrap_or_default();
        let message = format!("index variable `{}` depends on a load", self.thread.registers[index.index()].name);
        let mut diagnostic = Diagnostic::new(span, message, label);
        for (span, text) in steps.take(MAX_STEPS) {
            diagnostic = diagnostic.with_related(span, text);
        }
        diagnostic.with_help("declare it as `local`, or compute it from constants and other index variables")
    }

    fn step(&self, register: RegId, cause: Cause, shared: &Shared<'_, '_>) -> (Span, String) {
        let name = |register: RegId| {
            let name = self.thread.registers[register.index()].name.as_str();
            // A procedure's local reads `%proc.local`, which the user knows without the mark.
            let name = if name.contains('.') { name.trim_start_matches('%') } else { name };
            // The name of an array's first element stands for the array.
            name.strip_suffix("[0]").unwrap_or(name)
        };
        let instr = &self.thread.code[cause.instr];
        let text = match (cause.from, instr.op.addr()) {
            (Some(from), _) => format!("`{}` gets its value from `{}`", name(register), name(from)),
            (None, Some(Addr::Fixed(loc))) => {
                format!("`{}` is loaded from `{}`", name(register), shared.locations[loc.index()].name)
            }
            (None, Some(Addr::Indexed { array, .. })) => {
                format!("`{}` is loaded from `{}`", name(register), shared.arrays[array.index()].name)
            }
            (None, None) => format!("`{}` is loaded", name(register)),
        };
        (instr.span, text)
    }
}
