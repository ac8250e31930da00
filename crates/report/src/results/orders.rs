//! What a search for orders says about those that an algorithm declares already (a part of `cyrano.fences/1`).

use serde::Serialize;

use crate::style::{Style, hang};

/// The declared orders of an algorithm.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OrdersReport {
    /// The clients that it was judged by.
    pub tests: Vec<String>,
    /// Each of them, with the orders that were found in place.
    pub declared: Vec<DeclaredOrder>,
    /// As many as can be dropped together, the others kept; none if that is not known.
    pub droppable: Option<Vec<String>>,
    /// Why something is not known.
    pub reason: Option<String>,
}

/// A declared order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DeclaredOrder {
    /// As it is written: `R03 < R04`.
    pub order: String,
    /// Its line.
    pub line: usize,
    /// Whether it alone can be dropped, if that is known.
    pub superfluous: Option<bool>,
    /// What goes wrong without it alone, in words, if it is needed.
    pub prevents: Option<String>,
}

/// The part of a text report; `details` asks for what the needed ones prevent.
pub(crate) fn orders_text(out: &mut String, report: &OrdersReport, details: bool, style: Style) {
    hang(out, "  ", &format!("Judged by {}.", report.tests.join(", ")), style);
    match report.droppable.as_deref() {
        _ if report.declared.is_empty() => hang(out, "  ", "No order is declared.", style),
        None => hang(out, "  ", "Which declared orders are superfluous is not known.", style),
        Some([]) => hang(out, "  ", "Every declared order is needed.", style),
        Some(orders) => {
            let all =
                if orders.len() == report.declared.len() { "All declared orders" } else { "Declared orders that" };
            let together = if orders.len() > 1 { " together" } else { "" };
            let words = format!("{all} can be dropped{together}: {}", orders.join(", "));
            hang(out, "  ", &words, style);
        }
    }
    let listed = |order: &&DeclaredOrder| report.droppable.as_ref().is_none_or(|set| !set.contains(&order.order));
    for order in report.declared.iter().filter(listed) {
        match order.superfluous {
            Some(true) => {
                let words = format!("{} can be dropped on its own, but not together with these", order.order);
                hang(out, "  ", &words, style);
            }
            Some(false) if details => {
                hang(out, "  ", &format!("{} is needed", order.order), style);
                if let Some(words) = &order.prevents {
                    hang(out, "    without it: ", words, style);
                }
            }
            Some(false) => hang(out, "  ", &format!("{} is needed", order.order), style),
            None => {}
        }
    }
    if let Some(reason) = &report.reason {
        hang(out, "  ", reason, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str, superfluous: Option<bool>) -> DeclaredOrder {
        let prevents = (superfluous == Some(false)).then(|| "P: it goes wrong".to_owned());
        DeclaredOrder { order: name.to_owned(), line: 1, superfluous, prevents }
    }

    #[track_caller]
    fn check(declared: Vec<DeclaredOrder>, droppable: Option<&[&str]>, expected: &str) {
        let droppable = droppable.map(|orders| orders.iter().map(|order| (*order).to_owned()).collect());
        let mut out = String::new();
        let tests = vec!["P".to_owned(), "Q".to_owned()];
        let report = OrdersReport { tests, declared, droppable, reason: None };
        orders_text(&mut out, &report, true, Style { color: false, width: 100 });
        assert_eq!(out, format!("  Judged by P, Q.\n{expected}"));
    }

    #[test]
    fn every_case_in_words() {
        check(vec![], Some(&[]), "  No order is declared.\n");
        let (a, b, c) = (order("A < B", Some(true)), order("C < D", Some(false)), order("E < F", Some(true)));
        check(vec![a.clone()], Some(&["A < B"]), "  All declared orders can be dropped: A < B\n");
        let needed = "  C < D is needed\n    without it: P: it goes wrong\n";
        check(vec![b.clone()], Some(&[]), &format!("  Every declared order is needed.\n{needed}"));
        let alone = "  E < F can be dropped on its own, but not together with these\n";
        let first = "  Declared orders that can be dropped: A < B\n";
        check(vec![a, b, c], Some(&["A < B"]), &format!("{first}{needed}{alone}"));
        check(vec![order("A < B", None)], None, "  Which declared orders are superfluous is not known.\n");
    }
}
