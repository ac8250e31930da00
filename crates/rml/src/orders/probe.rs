//! What only shows when a method is lowered: every method once, whether or not a client calls it, and whether each order applies.

use cyrano_ir::Diagnostic;

use crate::clients::named::ThreadPlan;
use crate::clients::space::{ClientSpace, Values};
use crate::lower::assemble::{Maker, all_clients, pair};
use crate::report::{Fallible, Reported, Reports};
use crate::syntax::objects::OrderDecl;

impl Maker<'_> {
    /// Lowers every method once, so that what no client calls is checked as well, and looks whether each order applies.
    pub(crate) fn probe(&self, reports: &mut Reports) -> Fallible<()> {
        let constants = self.constants(1, 1, reports)?;
        let span = self.algorithm.name.span;
        let locs = if self.algorithm.is_memory() { constants.locs(span, reports)? } else { 1 };
        let space = ClientSpace {
            threads: 1,
            txns: 1..=1,
            ops: 2..=2,
            locs: u8::try_from(locs.min(2)).unwrap_or(1),
            values: Values::Distinct,
            retry: 0,
        };
        let plan = all_clients("probe".to_owned(), &space, span, Vec::new());
        let plan = if self.algorithm.is_memory() { plan } else { plan.of_threads(vec![ThreadPlan::EachMethod(span)]) };
        let test = self.test(&plan, reports)?;
        let mut failed = Ok(());
        for order in &self.algorithm.orders {
            let declared = test.layout.resolve(&[pair(order)]);
            let Some((forward, backward)) = declared.first().map(|order| test.layout.applies(*order)) else { continue };
            if !forward {
                failed = Err(self.never_applies(order, backward, reports));
            }
        }
        failed
    }

    fn never_applies(&self, order: &OrderDecl, backward: bool, reports: &mut Reports) -> Reported {
        let (first, second) = (&order.first.text, &order.second.text);
        if !backward {
            let message = format!("`{first} < {second}` never applies");
            let label = match order.each {
                true => "no loop contains both of them in one call",
                false => "the two never stand in one call",
            };
            return reports.complain(order.span, message, label, "remove it, or order other labels");
        }
        let opposite = |other: &&OrderDecl| other.first.text == *second && other.second.text == *first;
        let message = format!("cyclic order: `{second}` stands before `{first}` in the text");
        let mut diagnostic = Diagnostic::new(order.span, message, "an order follows the text");
        match self.algorithm.orders.iter().find(opposite) {
            Some(other) if other.span != order.span => {
                diagnostic = diagnostic.with_related(other.span, "and this is the opposite");
            }
            _ => {
                let mut spans = Vec::new();
                self.algorithm.walk(&mut |stmt| {
                    spans.extend(stmt.label.iter().filter(|label| label.text == *second).map(|label| label.span));
                });
                for span in spans {
                    diagnostic = diagnostic.with_related(span, format!("`{second}` is here"));
                }
            }
        }
        reports.add(diagnostic.with_help(format!("write `{second} < {first}`, or remove it")))
    }
}
