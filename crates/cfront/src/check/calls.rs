//! Every function that is called has a body. Calls are inlined; a cycle of calls is cut off when it is lowered.

use super::Checked;
use crate::source::{Problem, Problems};

/// Reports calls of functions without a body, once for each call.
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
}
