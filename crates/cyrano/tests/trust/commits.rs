//! Commits return when they return: others may come between the last access of a commit and its return.
//!
//! The explorer took both for one step, so a lock that is given back before the commit returns was `verified` in the order of commits.

use super::verdicts;

/// A lock that is given back by the statements in the place of `{end}`.
fn locked(end: &str) -> String {
    format!(
        "stm waiting {{
    shared lock, other;
    data g[vars];
    local mine, r;
    proc acquire {{
        if mine == 0 {{
            atomic {{ r := lock; assume r == 0; lock := 1; }}
            mine := 1;
        }}
    }}
    read(a)     {{ acquire; r := g[a]; return r }}
    write(a, v) {{ acquire; g[a] := v; }}
    end         {{ acquire; {end} commit }}
}}
check serializability order by commit;
check opacity;
"
    )
}

#[test]
fn a_lock_that_is_given_back_first_does_not_order_returns() {
    for end in ["lock := 0; mine := 0;", "mine := 0; lock := 0;", "mine := 0; lock := 0; r := other;"] {
        for options in ["", "--no-reduction macro-steps", "--no-reduction lazy-choices"] {
            let options = format!("--set ops=1 --set vars=1 {options}");
            let (found, code) = verdicts("lock.rml", &locked(end), &options);
            assert_eq!((found, code), (vec!["violated".to_owned(), "verified".to_owned()], 1), "{end} {options}");
        }
    }
}
