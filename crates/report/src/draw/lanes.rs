//! The lane diagram: one column per thread, time downwards.
//!
//! A transaction, or an operation where there are no transactions, is a block in its lane: its name above its first step, a bar along
//! it, a corner at its end. An access that was overtaken stands where the program has it, as deferred, and again where it was
//! performed. What a single thread does before all others (the setup of a test) stands above the lanes. Of long executions, steps
//! that only their own thread sees are folded. Where the lanes would become too narrow, steps are stacked.

mod after;
mod cells;
mod shape;
mod words;

use std::collections::HashSet;

use cyrano_trace::{ReadFrom, Step, Trace, ViolationInfo};

use crate::draw::lasso;
use crate::draw::rows::{Drawing, Row, begins_call};
use crate::style::{Paint, Style, hang, hang_painted, pad, pad_left, width};
pub(crate) use after::conflicts;
use cells::{Cell, Layout, RULE};
pub(crate) use words::{effect, line, place};
use words::{postponed, title};

/// Executions with more steps than this are folded.
const LONG: usize = 60;

/// Fewer steps in a row than this are not worth folding.
const LEAST_FOLDED: usize = 4;

/// A whole trace: the steps, what was reordered, where everybody ended, and why it matters.
pub fn trace_text(trace: &Trace, style: Style) -> String {
    let drawing = Drawing::new(trace);
    let mut out = String::new();
    if let Some(doubt) = trace.doubt() {
        hang_painted(&mut out, Paint::Bad, "  ", &doubt, style);
        out.push('\n');
    }
    if drawing.trace.steps.is_empty() {
        out.push_str("  no access is performed\n");
    } else {
        let rows = drawing.rows();
        let picture = Picture::new(&drawing, &rows, style);
        picture.draw(&mut out, &rows);
    }
    if trace.rounds().is_some_and(|(_, round)| round == 0) {
        out.push_str(lasso::NOTHING_AGAIN);
    }
    after::reorderings(&mut out, &drawing, style);
    shape::shape(&mut out, &drawing, style);
    if !lasso::commands(&mut out, &drawing.trace, style) {
        after::ends(&mut out, &drawing.trace, style);
    }
    after::history(&mut out, trace, style);
    after::why(&mut out, trace, style);
    out
}

struct Picture<'a> {
    drawing: &'a Drawing<'a>,
    style: Style,
    /// The width of step numbers.
    number: usize,
    /// How many steps of the first lane stand above the others.
    setup: usize,
    /// The lanes; none if the steps are stacked.
    layout: Option<Layout>,
    /// The steps that are left out.
    folded: HashSet<usize>,
}

impl<'a> Picture<'a> {
    fn new(drawing: &'a Drawing<'a>, rows: &[Row<'_>], style: Style) -> Self {
        let number = drawing.trace.steps.len().to_string().len();
        let setup = setup(drawing, rows);
        let room = style.columns().saturating_sub(number + 4);
        let layout = Layout::new(drawing, rows, setup, room);
        Self { drawing, style, number, setup, layout, folded: folded(drawing) }
    }

    fn draw(&self, out: &mut String, rows: &[Row<'_>]) {
        let Some(layout) = &self.layout else { return self.stack(out, rows) };
        let is_setup = |row: &Row<'_>| matches!(row, Row::Step { step, .. } if step.n <= self.setup);
        let (above, rows) = rows.split_at(rows.iter().rposition(is_setup).map_or(0, |last| last + 1));
        if !above.is_empty() {
            self.stack(out, above);
            out.push('\n');
        }
        let names = self.drawing.lanes.iter().enumerate().skip(layout.first);
        let names = names.map(|(lane, name)| Cell::plain(name).painted(Paint::Strong).fit(layout.lane(lane)));
        self.line(out, "", &names.map(|cell| cell.show(self.style)).collect::<Vec<_>>());
        let mut open: Vec<Option<usize>> = vec![None; self.drawing.lanes.len()];
        let mut left_out = 0;
        let mut before: Option<&Step> = None;
        for row in rows {
            if matches!(row, Row::Step { step, .. } if self.folded.contains(&step.n)) {
                left_out += 1;
                continue;
            }
            self.fold(out, &mut left_out);
            match row {
                Row::Again => out.push_str(lasso::AGAIN),
                Row::Open { lane, block } => {
                    let label = Cell::plain(&format!("┌ {}", self.drawing.blocks[*block].label));
                    self.cell(out, layout, "", (*lane, label.painted(Paint::Strong)), &open);
                    open[*lane] = Some(*block);
                }
                Row::Call { lane, call } => {
                    let label = format!("{}{}", self.open_bar(&open, *lane), self.drawing.calls[*call].label);
                    self.cell(out, layout, "", (*lane, Cell::plain(&label).painted(Paint::Strong)), &open);
                }
                Row::Deferred { lane, deferred } => {
                    for line in layout.deferred(*lane, deferred, open[*lane].is_some()) {
                        self.cell(out, layout, "", (*lane, line), &open);
                    }
                }
                Row::Step { lane, step, late } => {
                    let (bar, closes) = self.bar(step);
                    if closes || self.drawing.block_of(step).is_none() {
                        open[*lane] = None;
                    }
                    let again =
                        before.is_some_and(|before| before.thread == step.thread && title(before) == title(step));
                    let mut lines = match words::whole(self.drawing, step, *late) {
                        Some(text) => layout.whole(*lane, &text, *late, &bar),
                        None => layout.step(*lane, step, *late, &bar, again),
                    };
                    let notes = self.drawing.notes(step);
                    lines.extend(notes.iter().flat_map(|note| layout.note(*lane, note, &bar)));
                    for (at, line) in lines.into_iter().enumerate() {
                        let number = if at == 0 { step.n.to_string() } else { String::new() };
                        self.cell(out, layout, &number, (*lane, line), &open);
                    }
                    before = Some(step);
                }
            }
        }
        self.fold(out, &mut left_out);
    }

    /// Says how many steps were left out here.
    fn fold(&self, out: &mut String, left_out: &mut usize) {
        if *left_out > 0 {
            let text = format!("  {}  … {left_out} steps that only their own thread sees", pad_left("", self.number));
            out.push_str(&self.style.paint(Paint::Faint, &text));
            out.push('\n');
            *left_out = 0;
        }
    }

    /// A line with one filled cell; the others have the bar of the block that is open in them, if one is.
    fn cell(&self, out: &mut String, layout: &Layout, number: &str, cell: (usize, Cell), open: &[Option<usize>]) {
        let cells = (layout.first..self.drawing.lanes.len()).map(|lane| {
            let bar = if open[lane].is_some() { "┊" } else { "" };
            let own = if lane == cell.0 { cell.1.clone() } else { Cell::plain(bar) };
            own.fit(layout.lane(lane)).show(self.style)
        });
        self.line(out, number, &cells.collect::<Vec<_>>());
    }

    fn line(&self, out: &mut String, number: &str, cells: &[String]) {
        let number = self.style.paint(Paint::Faint, &pad_left(number, self.number));
        out.push_str(format!("  {number}  {}", cells.join(RULE)).trim_end());
        out.push('\n');
    }

    /// What stands before a step: the bar of its block, or the corner at its end, and whether that is it. What is within a call is indented.
    fn bar(&self, step: &Step) -> (String, bool) {
        let block = self.drawing.block_of(step).map(|block| &self.drawing.blocks[block]);
        let last = step.call.as_ref().map_or(step.n, |call| call.last);
        let closes = block.is_some_and(|block| block.finished && (step.n..=last).contains(&block.steps.1));
        let within = self.drawing.call_of(step).is_some() && !begins_call(step);
        let bar = match (block, closes) {
            (Some(_), true) => "└ ",
            (Some(_), false) => "┊ ",
            (None, _) => "",
        };
        (format!("{bar}{}", if within { "  " } else { "" }), closes)
    }

    /// The bar of the block that is open in a lane.
    fn open_bar(&self, open: &[Option<usize>], lane: usize) -> &'static str {
        if open[lane].is_some() { "┊ " } else { "" }
    }

    /// Steps one below the other, each with its thread's name.
    fn stack(&self, out: &mut String, rows: &[Row<'_>]) {
        let lanes = rows.iter().filter_map(Row::lane);
        let name_width = lanes.map(|lane| width(&self.drawing.lanes[lane])).max().unwrap_or(0);
        let lead = |number: &str, lane: usize| {
            let name = pad(&self.drawing.lanes[lane], name_width);
            format!("  {}  {name}  ", pad_left(number, self.number))
        };
        let mut left_out = 0;
        for row in rows {
            if matches!(row, Row::Step { step, .. } if self.folded.contains(&step.n)) {
                left_out += 1;
                continue;
            }
            self.fold(out, &mut left_out);
            match row {
                Row::Again => out.push_str(lasso::AGAIN),
                Row::Open { lane, block } => {
                    out.push_str(&format!("{}┌ {}\n", lead("", *lane), self.drawing.blocks[*block].label));
                }
                Row::Call { lane, call } => {
                    out.push_str(&format!("{}{}\n", lead("", *lane), self.drawing.calls[*call].label));
                }
                Row::Deferred { lane, deferred } => {
                    words::hanging(out, &lead("", *lane), &postponed(deferred), "", self.style);
                }
                Row::Step { lane, step, late } => {
                    let lead = lead(&step.n.to_string(), *lane);
                    let (bar, _) = self.bar(step);
                    let (text, effect) = match words::whole(self.drawing, step, *late) {
                        Some(text) => (text, String::new()),
                        None => (title(step), words::effect_marked(step, *late)),
                    };
                    words::hanging(out, &lead, &format!("{bar}{text}"), &effect, self.style);
                    for note in self.drawing.notes(step) {
                        hang(out, &" ".repeat(width(&lead) + width(&bar) + 2), &note, self.style);
                    }
                }
            }
        }
        self.fold(out, &mut left_out);
    }
}

/// How many steps the first lane takes before all others and then no more: the setup of a test. Two lanes have room for it anyway.
fn setup(drawing: &Drawing<'_>, rows: &[Row<'_>]) -> usize {
    let steps = &drawing.trace.steps;
    let Some(first) = steps.first() else { return 0 };
    let leading = steps.iter().take_while(|step| step.thread == first.thread).count();
    let done = steps[leading..].iter().all(|step| step.thread != first.thread);
    let plain = !rows.iter().any(|row| matches!(row, Row::Deferred { lane: 0, .. } | Row::Again));
    let is_first = drawing.lanes.first() == Some(&first.thread);
    if drawing.lanes.len() > 2 && done && plain && is_first { leading } else { 0 }
}

/// The steps of a long execution that can be left out: in runs of one thread's, none of them overtakes or is overtaken, is read from or
/// reads from another thread's store, or belongs to what the explanation is about.
fn folded(drawing: &Drawing<'_>) -> HashSet<usize> {
    let trace = &drawing.trace;
    if trace.steps.len() <= LONG || matches!(trace.violation, Some(ViolationInfo::Lasso(_))) {
        return HashSet::new();
    }
    let thread = |n: usize| n.checked_sub(1).and_then(|at| trace.steps.get(at)).map(|step| &step.thread);
    let mut kept: HashSet<usize> = HashSet::new();
    for step in &trace.steps {
        if let Some(ReadFrom::Step { n }) = &step.source
            && thread(*n) != Some(&step.thread)
        {
            kept.extend([*n, step.n]);
        }
        if !step.overtook.is_empty() || step.event.is_some() {
            kept.insert(step.n);
        }
        let overtaken = |other: &&Step| other.thread == step.thread && step.overtook.iter().any(|o| o.po == other.po);
        kept.extend(trace.steps.iter().filter(overtaken).map(|other| other.n));
    }
    kept.extend(trace.explanation.conflicts.iter().flat_map(|conflict| [conflict.steps.0, conflict.steps.1]));
    kept.extend(drawing.blocks.iter().flat_map(|block| [block.steps.0, block.steps.1]));
    // The last step of each thread leads to where it stands at the end.
    kept.extend(
        drawing.lanes.iter().filter_map(|lane| trace.steps.iter().rfind(|step| step.thread == *lane)).map(|s| s.n),
    );
    let mut folded = HashSet::new();
    let kept: HashSet<usize> = kept.into_iter().map(|n| drawing.shown(n)).collect();
    let steps: Vec<&Step> = drawing.steps().collect();
    let runs = steps.chunk_by(|a, b| a.thread == b.thread && kept.contains(&a.n) == kept.contains(&b.n));
    for run in runs.filter(|run| run.len() >= LEAST_FOLDED && !kept.contains(&run[0].n)) {
        folded.extend(run.iter().map(|step| step.n));
    }
    folded
}
