//! The call graph: calls are inlined, so that it has no cycle and every function that is called has a body.

use super::Checked;
use crate::source::{Loc, Problem, Problems};
use crate::tree::FuncId;

/// Reports calls of functions without a body, and every cycle of calls once.
pub(super) fn check(checked: &Checked, problems: &mut Problems) {
    for function in &checked.functions {
        for (callee, loc) in &function.calls {
            let callee = &checked.functions[callee.0];
            if callee.body.is_none() {
                let problem = Problem::new(*loc, format!("the function `{}` has no body", callee.name), "called here");
                problems.add(problem.with_related(callee.loc, "only declared here"));
            }
        }
    }
    let mut search = CallCycles { checked, done: vec![false; checked.functions.len()], path: Vec::new() };
    for index in 0..checked.functions.len() {
        search.visit(FuncId(index), Loc::default(), problems);
    }
}

/// A depth-first search; the path holds every function with the place of the call that led to it.
struct CallCycles<'c> {
    checked: &'c Checked,
    done: Vec<bool>,
    path: Vec<(FuncId, Loc)>,
}

impl CallCycles<'_> {
    fn visit(&mut self, func: FuncId, called: Loc, problems: &mut Problems) {
        if let Some(start) = self.path.iter().position(|(on_path, _)| *on_path == func) {
            self.report(start, called, problems);
            return;
        }
        if self.done[func.0] {
            return;
        }
        self.path.push((func, called));
        for (callee, loc) in &self.checked.functions[func.0].calls {
            self.visit(*callee, *loc, problems);
        }
        self.path.pop();
        self.done[func.0] = true;
    }

    fn report(&self, start: usize, closing: Loc, problems: &mut Problems) {
        let name = |func: FuncId| self.checked.functions[func.0].name.as_str();
        let cycle = &self.path[start..];
        let mut names: Vec<_> = cycle.iter().map(|(func, _)| name(*func)).collect();
        names.push(name(cycle[0].0));
        let message = format!("`{}` is recursive: {}", names[0], names.join(" calls "));
        let mut problem = Problem::new(closing, message, "this call closes the cycle");
        for (func, loc) in cycle.iter().skip(1) {
            problem = problem.with_related(*loc, format!("`{}` is called here", name(*func)));
        }
        problems.add(problem.with_help("calls are inlined; write a loop"));
    }
}
