//! JUnit's XML as Jenkins and its successors read it: a suite for each file, a case for each check.
//!
//! `violated` is a failure, with the execution as its text; `unknown` is an error, for nothing was decided; `bounded` and `vacuous` are
//! skipped, with the reason as their message, for neither is a pass. Verified checks are cases without a child.

use crate::draw::lanes::trace_text;
use crate::exchange::case::{self, Case, Fate};
use crate::exchange::shard::ShardReport;
use crate::exchange::xml::Xml;
use crate::results::fences::FencesReport;
use crate::style::Style;

/// The layout of executions within a failure.
const PLAIN: Style = Style { color: false, width: 100 };

/// Searches for fences as one XML document.
pub fn fences_junit(reports: &[FencesReport]) -> String {
    document(&reports.iter().map(case::of_fences).collect::<Vec<_>>(), None)
}

/// Cases as one XML document.
pub(crate) fn document(cases: &[Case<'_>], shard: Option<&ShardReport>) -> String {
    let mut xml = Xml::new();
    let name = shard.map_or("cyrano".to_owned(), |shard| format!("cyrano, {}", shard.name()));
    open(&mut xml, "testsuites", &name, cases);
    for suite in cases.chunk_by(|a, b| a.file == b.file) {
        open(&mut xml, "testsuite", suite[0].file, suite);
        suite.iter().for_each(|case| one(&mut xml, case));
        xml.close();
    }
    xml.finish()
}

fn open(xml: &mut Xml, element: &'static str, name: &str, cases: &[Case<'_>]) {
    let number = |fates: &[Fate]| cases.iter().filter(|case| fates.contains(&case.fate)).count().to_string();
    let time = seconds(cases.iter().map(|case| case.seconds).sum());
    let (failures, errors) = (number(&[Fate::Failed]), number(&[Fate::Unknown]));
    let (tests, skipped) = (cases.len().to_string(), number(&[Fate::Partial, Fate::Vacuous]));
    let mut attributes =
        vec![("name", name), ("tests", &tests), ("failures", &failures), ("errors", &errors), ("time", &time)];
    if element == "testsuite" {
        attributes.insert(4, ("skipped", &skipped));
    }
    xml.open(element, &attributes);
}

fn one(xml: &mut Xml, case: &Case<'_>) {
    let (name, time) = (case.name(), seconds(case.seconds));
    let attributes = [("name", name.as_str()), ("classname", case.file), ("time", &time)];
    if case.fate == Fate::Passed && case.text.is_none() {
        return xml.empty("testcase", &attributes);
    }
    xml.open("testcase", &attributes);
    let said = if case.sentence.is_empty() { case.verdict.to_owned() } else { case.sentence.clone() };
    match case.fate {
        Fate::Passed => {}
        Fate::Failed => {
            let text = case.trace.map(|trace| trace_text(trace, PLAIN)).unwrap_or_else(|| case.message());
            xml.text("failure", &[("message", &said), ("type", case.rule)], &text);
        }
        Fate::Unknown => xml.text("error", &[("message", &said), ("type", case.verdict)], &case.message()),
        Fate::Partial | Fate::Vacuous => xml.empty("skipped", &[("message", &format!("{}: {said}", case.verdict))]),
    }
    if let Some(text) = case.text {
        xml.text("system-out", &[], text);
    }
    xml.close();
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}
