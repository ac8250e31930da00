//! A trace as a picture for papers and slides: thread lanes from left to right, time downwards.
//!
//! Operations of memory are boxes with their source lines, transactions are frames around them, an arrow leads from each store to the
//! loads that took their value from it, and a dashed one from where an access stands in the program to where it was performed.
//! No script, no style sheet, nothing from outside; every text has its length written beside it, so that the layout
//! does not depend on the font. Colour is never the only signal: kinds of lines differ too.

use std::collections::HashMap;

use cyrano_trace::{ReadFrom, Step, Trace};

use crate::draw::lanes::{effect, place};
use crate::draw::rows::{Deferred, Drawing, Row, one_line, statement};
use crate::exchange::xml::Xml;
use crate::style::{width, wrap};

/// Font size and the width of one character.
const FONT: f64 = 11.0;
pub(super) const CHAR: f64 = 6.6;

/// The longest line of text in a lane, in characters.
const MOST_CHARS: usize = 46;

pub(super) const MARGIN: f64 = 16.0;
const NUMBERS: f64 = 30.0;
const GAP: f64 = 44.0;
const PAD: f64 = 8.0;

pub(super) const INK: &str = "#1b1f24";
const FAINT: &str = "#59636e";
const READ: &str = "#0b5cad";
const LATE: &str = "#a3211a";

/// The trace as one SVG document.
pub fn trace_svg(trace: &Trace) -> String {
    let drawing = Drawing::new(trace);
    let rows = drawing.rows();
    let plan = Plan::new(&drawing, &rows);
    let chars = ((plan.width - 2.0 * MARGIN) / CHAR) as usize;
    let heading = wrap(&one_line(&drawing.heading()), chars);
    let why = wrap(&one_line(&format!("Why: {}", trace.explanation.sentence)), chars);
    let top = MARGIN + 16.0 * heading.len() as f64;
    let bottom = top + plan.height;
    let height = bottom + 26.0 + 15.0 * why.len() as f64 + 22.0 + MARGIN;
    let heads = [("read".to_owned(), READ), ("late".to_owned(), LATE)];
    let told = [&*one_line(&drawing.heading()), &trace.explanation.sentence];
    let mut svg = Svg::open(plan.width, height, top, &told, &heads);
    for (at, line) in heading.iter().enumerate() {
        svg.words(MARGIN, MARGIN + 12.0 + 16.0 * at as f64 - top, line, INK, true);
    }
    plan.draw(&mut svg, &rows);
    let mut y = plan.height + 26.0;
    for line in &why {
        svg.words(MARGIN, y, line, INK, false);
        y += 15.0;
    }
    svg.words(MARGIN, y + 8.0, "solid arrow: read from · dashed arrow: performed late", FAINT, false);
    svg.xml.finish()
}

/// Where everything goes; heights count from below the heading.
struct Plan<'a> {
    drawing: &'a Drawing<'a>,
    /// The left edge and the width of each lane.
    lanes: Vec<(f64, f64)>,
    /// The upper edge of each row.
    tops: Vec<f64>,
    width: f64,
    height: f64,
}

impl<'a> Plan<'a> {
    fn new(drawing: &'a Drawing<'a>, rows: &[Row<'_>]) -> Self {
        let mut chars: Vec<usize> = drawing.lanes.iter().map(|name| width(name).max(14)).collect();
        for row in rows {
            let (lane, longest) = match row {
                Row::Again => continue,
                Row::Open { lane, block } => (*lane, width(&drawing.blocks[*block].label)),
                Row::Call { lane, call } => (*lane, width(&drawing.calls[*call].label)),
                Row::Deferred { lane, deferred } => (*lane, width(&postponed(deferred))),
                Row::Step { lane, step, .. } => (*lane, width(&title(step)).max(width(&effect(step)))),
            };
            if let Some(chars) = chars.get_mut(lane) {
                *chars = (*chars).max(longest.min(MOST_CHARS));
            }
        }
        let mut x = MARGIN + NUMBERS;
        let mut lanes = Vec::new();
        for chars in chars {
            let wide = chars as f64 * CHAR + 2.0 * PAD;
            lanes.push((x, wide));
            x += wide + GAP;
        }
        let mut y = 34.0;
        let mut tops = Vec::new();
        for row in rows {
            tops.push(y);
            y += match row {
                Row::Again | Row::Open { .. } | Row::Call { .. } => 20.0,
                Row::Deferred { .. } => 26.0,
                Row::Step { .. } => 42.0,
            };
        }
        Self { drawing, lanes, tops, width: (x - GAP + MARGIN).max(420.0), height: y }
    }

    fn draw(&self, svg: &mut Svg, rows: &[Row<'_>]) {
        for (name, (x, wide)) in self.drawing.lanes.iter().zip(&self.lanes) {
            svg.words(*x, 20.0, &clip(&one_line(name)), INK, true);
            svg.line((*x, 26.0), (x + wide, 26.0), INK);
        }
        self.frames(svg, rows);
        let mut boxes: HashMap<usize, (usize, f64)> = HashMap::new();
        let mut waiting: Vec<(usize, f64, Option<usize>)> = Vec::new();
        for (row, y) in rows.iter().zip(&self.tops) {
            match row {
                Row::Again => svg.words(MARGIN, y + 14.0, "again and again:", INK, true),
                Row::Open { lane, block } => {
                    let label = clip(&self.drawing.blocks[*block].label);
                    svg.words(self.lanes[*lane].0 + PAD, y + 14.0, &label, FAINT, true);
                }
                Row::Call { lane, call } => {
                    let label = clip(&self.drawing.calls[*call].label);
                    svg.words(self.lanes[*lane].0 + PAD, y + 14.0, &label, INK, true);
                }
                Row::Deferred { lane, deferred } => {
                    let (x, wide) = self.lanes[*lane];
                    svg.frame((x, y + 2.0), (wide, 20.0), "none", LATE, Some("3 3"));
                    svg.words(x + PAD, y + 16.0, &clip(&postponed(deferred)), LATE, false);
                    waiting.push((*lane, y + 12.0, deferred.performed));
                }
                Row::Step { lane, step, late } => {
                    let (x, wide) = self.lanes[*lane];
                    let (edge, fill) = if *late { (LATE, "#fff4f2") } else { (INK, "#f6f8fa") };
                    svg.frame((x, y + 2.0), (wide, 36.0), fill, edge, None);
                    svg.words(MARGIN, y + 17.0, &step.n.to_string(), FAINT, false);
                    svg.words(x + PAD, y + 16.0, &clip(&title(step)), FAINT, false);
                    svg.words(x + PAD, y + 31.0, &clip(&effect(step)), INK, true);
                    boxes.insert(step.n, (*lane, y + 20.0));
                }
            }
        }
        for row in rows {
            let Row::Step { step, .. } = row else { continue };
            let Some(ReadFrom::Step { n }) = &step.source else { continue };
            let n = step.call.as_ref().map_or(Some(*n), |call| call.from);
            let from = n.map(|n| self.drawing.shown(n)).and_then(|n| boxes.get(&n));
            if let (Some(from), Some(to)) = (from, boxes.get(&step.n)) {
                svg.arrow(&self.between(*from, *to), READ, "read", None);
            }
        }
        for (lane, y, performed) in waiting {
            let (x, out) = (self.lanes[lane].0, self.lanes[lane].0 - 24.0);
            let path = match performed.and_then(|n| boxes.get(&n)) {
                Some((_, end)) => format!("M {x:.1} {y:.1} C {out:.1} {y:.1}, {out:.1} {end:.1}, {x:.1} {end:.1}"),
                // It is still to come when the execution stops.
                None => format!(
                    "M {x:.1} {y:.1} C {out:.1} {y:.1}, {out:.1} {y:.1}, {out:.1} {:.1} V {:.1}",
                    y + 14.0,
                    self.height
                ),
            };
            svg.arrow(&path, LATE, "late", Some("5 3"));
        }
    }

    /// Frames around blocks: finished ones solid, aborted ones dashed, unfinished ones dotted.
    fn frames(&self, svg: &mut Svg, rows: &[Row<'_>]) {
        for (at, row) in rows.iter().enumerate() {
            let Row::Open { lane, block } = row else { continue };
            let block = &self.drawing.blocks[*block];
            let Some(last) = rows.iter().rposition(|row| matches!(row, Row::Step { step, .. } if block.has(step)))
            else {
                continue;
            };
            let dashes = match (block.finished, block.aborted) {
                (true, false) => None,
                (true, true) => Some("7 4"),
                (false, _) => Some("1 3"),
            };
            let (x, wide) = self.lanes[*lane];
            let (top, bottom) = (self.tops[at], self.tops[last] + 42.0);
            svg.frame((x - 5.0, top), (wide + 10.0, bottom - top), "#fbfcfd", FAINT, dashes);
        }
    }

    /// The path of an arrow from one box to another.
    fn between(&self, from: (usize, f64), to: (usize, f64)) -> String {
        let ((a, y1), (b, y2)) = (from, to);
        let (left, right) = (|lane: usize| self.lanes[lane].0, |lane: usize| self.lanes[lane].0 + self.lanes[lane].1);
        let (x1, x2, c1, c2) = match a.cmp(&b) {
            std::cmp::Ordering::Less => (right(a), left(b), right(a) + GAP * 0.6, left(b) - GAP * 0.6),
            std::cmp::Ordering::Greater => (left(a), right(b), left(a) - GAP * 0.6, right(b) + GAP * 0.6),
            std::cmp::Ordering::Equal => (right(a), right(a), right(a) + 24.0, right(a) + 24.0),
        };
        format!("M {x1:.1} {y1:.1} C {c1:.1} {y1:.1}, {c2:.1} {y2:.1}, {x2:.1} {y2:.1}")
    }
}

pub(super) struct Svg {
    pub(super) xml: Xml,
    /// What is added to every height.
    top: f64,
}

impl Svg {
    /// A document with a title and a description, and with heads for arrows.
    pub(super) fn open(
        width: f64,
        height: f64,
        top: f64,
        [title, desc]: &[&str; 2],
        heads: &[(String, &'static str)],
    ) -> Self {
        let mut svg = Self { xml: Xml::new(), top };
        let (w, h) = (number(width), number(height));
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("width", &w),
            ("height", &h),
            ("viewBox", &format!("0 0 {w} {h}")),
            ("role", "img"),
            ("font-family", "DejaVu Sans Mono, Menlo, Consolas, monospace"),
            ("font-size", &number(FONT)),
        ];
        svg.xml.open("svg", &attributes);
        svg.xml.text("title", &[], title);
        svg.xml.text("desc", &[], desc);
        svg.arrow_heads(heads);
        svg.xml.empty("rect", &[("width", "100%"), ("height", "100%"), ("fill", "#ffffff")]);
        svg
    }

    fn arrow_heads(&mut self, heads: &[(String, &'static str)]) {
        self.xml.open("defs", &[]);
        for (id, color) in heads {
            let attributes = [
                ("id", id.as_str()),
                ("viewBox", "0 0 8 8"),
                ("refX", "7"),
                ("refY", "4"),
                ("markerWidth", "7"),
                ("markerHeight", "7"),
                ("orient", "auto"),
            ];
            self.xml.open("marker", &attributes);
            self.xml.empty("path", &[("d", "M 0 0 L 8 4 L 0 8 z"), ("fill", color)]);
            self.xml.close();
        }
        self.xml.close();
    }

    pub(super) fn words(&mut self, x: f64, y: f64, text: &str, color: &str, strong: bool) {
        if text.is_empty() {
            return;
        }
        let length = number(width(text) as f64 * CHAR);
        let (x, y) = (number(x), number(y + self.top));
        let weight = if strong { "bold" } else { "normal" };
        let attributes = [
            ("x", x.as_str()),
            ("y", &y),
            ("fill", color),
            ("font-weight", weight),
            ("textLength", &length),
            ("lengthAdjust", "spacingAndGlyphs"),
            ("xml:space", "preserve"),
        ];
        self.xml.text("text", &attributes, text);
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str) {
        let (x1, y1) = (number(from.0), number(from.1 + self.top));
        let (x2, y2) = (number(to.0), number(to.1 + self.top));
        self.xml.empty("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("stroke", color)]);
    }

    pub(super) fn frame(&mut self, at: (f64, f64), size: (f64, f64), fill: &str, stroke: &str, dashes: Option<&str>) {
        let (x, y) = (number(at.0), number(at.1 + self.top));
        let (w, h) = (number(size.0), number(size.1));
        let mut attributes = vec![
            ("x", x.as_str()),
            ("y", &y),
            ("width", &w),
            ("height", &h),
            ("rx", "4"),
            ("fill", fill),
            ("stroke", stroke),
        ];
        attributes.extend(dashes.map(|dashes| ("stroke-dasharray", dashes)));
        self.xml.empty("rect", &attributes);
    }

    fn arrow(&mut self, path: &str, color: &str, head: &str, dashes: Option<&str>) {
        self.weighted(path, color, head, dashes, "1.4");
    }

    /// An arrow whose line is this thick.
    pub(super) fn weighted(&mut self, path: &str, color: &str, head: &str, dashes: Option<&str>, weight: &str) {
        let shift = format!("translate(0 {})", number(self.top));
        let head = format!("url(#{head})");
        let mut attributes = vec![
            ("d", path),
            ("transform", shift.as_str()),
            ("fill", "none"),
            ("stroke", color),
            ("stroke-width", weight),
            ("marker-end", &head),
        ];
        attributes.extend(dashes.map(|dashes| ("stroke-dasharray", dashes)));
        self.xml.empty("path", &attributes);
    }
}

fn postponed(deferred: &Deferred) -> String {
    let until = deferred.performed.map_or("not performed".to_owned(), |n| format!("until {n}"));
    format!("{}: {} … {until}", deferred.place, one_line(&deferred.text))
}

fn title(step: &Step) -> String {
    one_line(&format!("{}: {}", place(step), statement(step)))
}

fn clip(text: &str) -> String {
    let text = one_line(text);
    if width(&text) <= MOST_CHARS {
        return text;
    }
    text.chars().take(MOST_CHARS - 1).chain(['…']).collect()
}

/// A coordinate without needless digits.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
