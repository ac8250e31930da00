//! A memory model of one's own: stores wait in a buffer that their own thread cannot read (IBM 370), beside sc and tso.
//!
//! `cargo run --example own_model`

use cyrano::{Session, Verdict};

const IBM370: &str = "
model ibm370
summary Stores are buffered, and a thread cannot read its own buffer.
keep different: load-load, load-store, store-store
keep same: all
forward: no
dependencies: none
";

/// Each thread reads what it has written itself before it looks at the other variable.
const FORWARDED: &str = "
threads {
  shared x, y;
  local a, b, c, d;
  thread p { x := 1; a := x; b := y; }
  thread q { y := 1; c := y; d := x; }
}
check never (a = 1 && b = 0 && c = 1 && d = 0);
";

fn main() -> Result<(), cyrano::Failure> {
    let session = Session::new().file("forwarded.rml", FORWARDED).file("ibm370.model", IBM370);
    for name in ["sc", "ibm370.model", "tso"] {
        let model = session.model(name)?;
        for check in session.check_on("forwarded.rml", &[], std::slice::from_ref(&model))? {
            println!("{:<8} {}", model.name, check.verdict.name());
            // Only who reads from its own buffer can be this fast.
            assert_eq!(check.verdict, if name == "tso" { Verdict::Violated } else { Verdict::Verified });
        }
    }
    // Where the models differ, and what repairs the weaker one.
    let repaired = session.fences("forwarded.rml", &session.model("tso")?)?;
    assert_eq!(repaired.report.verdict, "repaired");
    println!("{}", repaired.report.diff.unwrap_or_default());
    Ok(())
}
