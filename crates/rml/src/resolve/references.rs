//! Whatever is used as a reference is one: it comes from `new`, or is a negative number for none.
//!
//! References are numbers, and so are transactions, locations and values. A field of a record that was never made would read as 0; so what
//! may be used as a reference and come from elsewhere is an error. `infer` knows what may be copied where.

use crate::report::{Fallible, Reported, Reports};
use crate::resolve::constants::Constants;
use crate::resolve::infer::Inference;
use crate::syntax::ast::{Access, Name};
use crate::syntax::objects::*;

/// Reports for each kind of records what is used as a reference to it and need not be one.
pub(crate) fn check(algorithm: &Algorithm, constants: &Constants, reports: &mut Reports) -> Fallible<()> {
    let mut inference = Inference::new(algorithm, constants);
    let mut done = Ok(());
    for record in &algorithm.records {
        let Some(field) = record.fields.first().and_then(|(field, _)| inference.fields.get(field.text.as_str())) else {
            continue;
        };
        let key = field.key;
        let Some(what) = inference.classes.no_reference(key) else { continue };
        let Some(access) = first_access(algorithm, record) else { continue };
        let (name, object) = (&record.name.text, &access.object.text);
        let message = format!("`{object}` is used as a reference to a `{name}`, and what is used so may be {what}");
        let help = format!("only `new {name}(…)` makes references; for none write a negative number");
        done = Err(reports.complain(access.object.span, message, "need not be a reference", help));
    }
    done.map_err(|_: Reported| Reported)
}

/// The access of a field of these records that shows the fault: one of `tx`, or else the first one.
fn first_access<'a>(algorithm: &'a Algorithm, record: &Record) -> Option<&'a Access> {
    let mut found: Vec<&'a Access> = Vec::new();
    algorithm.walk(&mut |stmt| {
        let Some(access) = stmt.access() else { return };
        let own = |field: &Name| record.fields.iter().any(|(known, _)| known.text == field.text);
        if access.field.as_ref().is_some_and(own) {
            found.push(access);
        }
    });
    found.iter().find(|access| access.object.text == "tx").or(found.first()).copied()
}
