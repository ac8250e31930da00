//! Cells of the lane diagram and the widths of its lanes.
//!
//! Effects stand beside the statements if there is room in all lanes, else below them. Lanes that need little leave their room to
//! the others.

use cyrano_trace::Step;

use super::words::{clip, effect_marked, postponed, title, two_lines, whole};
use crate::draw::rows::{Deferred, Drawing, Row};
use crate::style::{Paint, Style, pad, width, wrap};

/// Between two lanes.
pub(super) const RULE: &str = " │ ";

/// A lane that needs more than it gets is not worth having below this.
const MIN_LANE: usize = 26;

/// Between a statement and the effect beside it.
const BETWEEN: usize = 2;

/// How far an effect below its statement is indented.
const INDENT: usize = 2;

/// The content of a cell: pieces of text, some painted.
#[derive(Clone)]
pub(super) struct Cell(Vec<(String, Option<Paint>)>);

impl Cell {
    pub(super) fn plain(text: &str) -> Self {
        Self(vec![(text.to_owned(), None)])
    }

    pub(super) fn painted(mut self, paint: Paint) -> Self {
        self.0.iter_mut().for_each(|piece| piece.1 = Some(paint));
        self
    }

    fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| width(text)).sum()
    }

    /// Fills it up to this width; what is wider is cut off.
    pub(super) fn fit(mut self, columns: usize) -> Self {
        let mut left = columns;
        for (text, _) in &mut self.0 {
            *text = clip(text, left);
            left -= width(text);
        }
        self.0.push((" ".repeat(left), None));
        self
    }

    pub(super) fn show(&self, style: Style) -> String {
        let piece = |(text, paint): &(String, Option<Paint>)| match paint {
            Some(paint) => style.paint(*paint, text),
            None => text.clone(),
        };
        self.0.iter().map(piece).collect()
    }
}

/// How wide the lanes are and where effects stand.
pub(super) struct Layout {
    /// The first lane that is drawn.
    pub(super) first: usize,
    /// The width of each lane.
    lanes: Vec<usize>,
    /// Where effects start within each lane, if they stand beside the statements.
    beside: Option<Vec<usize>>,
    /// Whether steps are parts of calls; then an effect that fits stands beside its statement.
    in_calls: bool,
}

impl Layout {
    /// The lanes within this many columns, without those whose steps all belong to the setup; none if there is no room.
    pub(super) fn new(drawing: &Drawing<'_>, rows: &[Row<'_>], setup: usize, room: usize) -> Option<Self> {
        let first = usize::from(setup > 0);
        let (count, in_calls) = (drawing.lanes.len(), !drawing.calls.is_empty());
        let bar = if drawing.blocks.is_empty() { 0 } else { 2 } + if drawing.calls.is_empty() { 0 } else { 2 };
        let names = drawing.lanes.iter().map(|name| width(name));
        let mut needed: Vec<Needed> = names.map(|name| Needed { name, ..Needed::default() }).collect();
        for row in rows {
            match row {
                Row::Again => {}
                Row::Open { lane, block } => needed[*lane].label(width(&drawing.blocks[*block].label) + 2),
                Row::Call { lane, call } => needed[*lane].label(width(&drawing.calls[*call].label) + 2),
                Row::Deferred { lane, deferred } => needed[*lane].label(width(&postponed(deferred)) + bar),
                Row::Step { lane, step, late } => {
                    if let Some(whole) = whole(drawing, step, *late) {
                        needed[*lane].label(width(&whole) + bar);
                        continue;
                    }
                    needed[*lane].step(width(&title(step)) + bar, width(&effect_marked(step, *late)));
                }
            }
        }
        let room = room.saturating_sub((count - first).saturating_sub(1) * width(RULE));
        let beside: Vec<usize> = needed.iter().map(Needed::beside).collect();
        if beside[first..].iter().sum::<usize>() <= room {
            let starts = needed.iter().map(|needed| needed.title + BETWEEN).collect();
            return Some(Self { first, lanes: beside, beside: Some(starts), in_calls });
        }
        let below: Vec<usize> = match drawing.calls.is_empty() {
            true => needed.iter().map(|needed| needed.below(bar)).collect(),
            false => beside,
        };
        let mut lanes = vec![0; first];
        lanes.extend(shares(&below[first..], room));
        let narrow = (first..count).any(|lane| lanes[lane] < below[lane].min(MIN_LANE));
        (!narrow).then_some(Self { first, lanes, beside: None, in_calls })
    }

    pub(super) fn lane(&self, lane: usize) -> usize {
        self.lanes[lane]
    }

    /// A step; `again` if the line before has the same statement.
    pub(super) fn step(&self, lane: usize, step: &Step, late: bool, bar: &str, again: bool) -> Vec<Cell> {
        let columns = self.lanes[lane];
        let title = title(step);
        let painted = |text: &str| match late {
            true => Cell::plain(text).painted(Paint::Unsure),
            false => Cell::plain(text).painted(Paint::Strong),
        };
        let effect = effect_marked(step, late);
        let one_line = width(bar) + width(&title) + BETWEEN + width(&effect);
        if self.in_calls && self.beside.is_none() && !effect.is_empty() && one_line <= columns {
            return vec![Cell::plain(&format!("{bar}{title}{}", " ".repeat(BETWEEN))).and(painted(&effect))];
        }
        if let Some(starts) = &self.beside {
            let left = Cell::plain(&pad(&format!("{bar}{title}"), starts[lane]));
            return vec![left.and(painted(&effect))];
        }
        let further = &self.further(bar);
        let mut lines: Vec<Cell> = Vec::new();
        if !again || effect.is_empty() {
            let room = columns.saturating_sub(width(bar));
            lines.extend(
                two_lines(&title, room)
                    .iter()
                    .enumerate()
                    .map(|(at, line)| Cell::plain(&format!("{}{line}", if at == 0 { bar } else { further }))),
            );
        }
        let room = columns.saturating_sub(width(bar) + INDENT);
        for line in wrap(&effect, room).iter().filter(|line| !line.is_empty()) {
            let bar = if lines.is_empty() { bar } else { further };
            lines.push(Cell::plain(&format!("{bar}{}", " ".repeat(INDENT))).and(painted(line)));
        }
        lines
    }

    /// What stands before the further lines of a step.
    fn further(&self, bar: &str) -> String {
        if bar.starts_with('┊') { bar.to_owned() } else { " ".repeat(width(bar)) }
    }

    /// A step that is one line, and what is to be said below it.
    pub(super) fn whole(&self, lane: usize, text: &str, late: bool, bar: &str) -> Vec<Cell> {
        let room = self.lanes[lane].saturating_sub(width(bar));
        let paint = |cell: Cell| if late { cell.painted(Paint::Unsure) } else { cell };
        let lines = two_lines(text, room);
        let bars = std::iter::once(bar.to_owned()).chain(std::iter::repeat(self.further(bar)));
        lines.iter().zip(bars).map(|(line, bar)| Cell::plain(&bar).and(paint(Cell::plain(line)))).collect()
    }

    /// What is to be said below a step.
    pub(super) fn note(&self, lane: usize, note: &str, bar: &str) -> Vec<Cell> {
        let bar = format!("{}{}", self.further(bar), " ".repeat(INDENT));
        let lines = wrap(note, self.lanes[lane].saturating_sub(width(&bar)));
        lines.iter().map(|line| Cell::plain(&bar).and(Cell::plain(line).painted(Paint::Faint))).collect()
    }

    /// An access that is deferred.
    pub(super) fn deferred(&self, lane: usize, deferred: &Deferred, in_block: bool) -> Vec<Cell> {
        let bar = if in_block { "┊ " } else { "" };
        let room = self.lanes[lane].saturating_sub(width(bar));
        let lines = two_lines(&postponed(deferred), room);
        let cell = |(at, line): (usize, &String)| {
            let line = if at == 0 { line.clone() } else { format!("  {line}") };
            Cell::plain(bar).and(Cell::plain(&line).painted(Paint::Unsure))
        };
        lines
            .iter()
            .enumerate()
            .map(cell)
            .map(|cell| if cell.width() > self.lanes[lane] { cell.fit(self.lanes[lane]) } else { cell })
            .collect()
    }
}

/// What a lane needs.
#[derive(Default)]
struct Needed {
    name: usize,
    label: usize,
    title: usize,
    effect: usize,
}

impl Needed {
    fn label(&mut self, columns: usize) {
        self.label = self.label.max(columns);
    }

    fn step(&mut self, title: usize, effect: usize) {
        self.title = self.title.max(title);
        self.effect = self.effect.max(effect);
    }

    fn beside(&self) -> usize {
        (self.title + BETWEEN + self.effect).max(self.label).max(self.name)
    }

    fn below(&self, bar: usize) -> usize {
        self.title.max(self.effect + bar + INDENT).max(self.label).max(self.name)
    }
}

/// The room shared out: nobody gets more than needed, and what is short is short for the neediest.
fn shares(needed: &[usize], room: usize) -> Vec<usize> {
    let mut shares = vec![0; needed.len()];
    let mut order: Vec<usize> = (0..needed.len()).collect();
    order.sort_by_key(|lane| needed[*lane]);
    let mut left = room;
    for (done, lane) in order.iter().enumerate() {
        let fair = left / (needed.len() - done);
        shares[*lane] = needed[*lane].min(fair);
        left -= shares[*lane];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn room_is_shared_by_need() {
        assert_eq!(shares(&[10, 10], 40), [10, 10]);
        assert_eq!(shares(&[10, 50, 20], 60), [10, 30, 20]);
        assert_eq!(shares(&[50, 50], 60), [30, 30]);
        assert!(shares(&[], 60).is_empty());
    }
}
