//! An execution as a picture of events: one column for each thread, program order downwards, labelled arrows for the relations.
//!
//! What forbids an execution is drawn thick and in a colour of its own. The layout does not depend on the font, as in `svg`.

use std::collections::HashMap;

use crate::draw::graph_dot::{FORBIDS, color};
use crate::draw::svg::{CHAR, INK, MARGIN, Svg, number};
use crate::results::graphs::{GraphEdge, GraphReport};
use crate::style::{width, wrap};

const ROW: f64 = 64.0;
const BOX: f64 = 26.0;
const GAP: f64 = 130.0;
const PAD: f64 = 10.0;

/// The graph as one SVG document.
pub fn graph_svg(title: &str, graph: &GraphReport) -> String {
    let plan = Plan::new(graph);
    let chars = ((plan.width - 2.0 * MARGIN) / CHAR) as usize;
    let heading = wrap(title, chars);
    let sentence = graph.forbidden.as_ref().map(|why| why.sentence()).unwrap_or_default();
    let why = if sentence.is_empty() { Vec::new() } else { wrap(&sentence, chars) };
    let top = MARGIN + 16.0 * heading.len() as f64;
    let height = top + plan.height + 16.0 * why.len() as f64 + 2.0 * MARGIN;
    let mut svg = Svg::open(plan.width, height, top, &[title, &sentence], &heads(graph));
    for (at, line) in heading.iter().enumerate() {
        svg.words(MARGIN, MARGIN + 12.0 + 16.0 * at as f64 - top, line, INK, true);
    }
    plan.draw(&mut svg);
    for (at, line) in why.iter().enumerate() {
        svg.words(MARGIN, plan.height + 16.0 * (at + 1) as f64, line, FORBIDS, true);
    }
    svg.xml.finish()
}

/// The heads of arrows: a name and a colour for each relation.
fn heads(graph: &GraphReport) -> Vec<(String, &'static str)> {
    let mut heads = vec![("forbids".to_owned(), FORBIDS)];
    for edge in graph.all_edges() {
        let head = (head(&edge.relation), color(&edge.relation));
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    heads
}

fn head(relation: &str) -> String {
    relation.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// Where everything goes; heights count from below the heading.
struct Plan<'a> {
    graph: &'a GraphReport,
    /// The left edge and the width of each column.
    columns: Vec<(f64, f64)>,
    /// The column and the middle of the box of each event.
    places: HashMap<&'a str, (usize, f64)>,
    width: f64,
    height: f64,
}

impl<'a> Plan<'a> {
    fn new(graph: &'a GraphReport) -> Self {
        let (mut x, mut columns, mut places) = (MARGIN + 50.0, Vec::new(), HashMap::new());
        let mut rows = 0;
        for (thread, name) in graph.threads.iter().enumerate() {
            let mut chars = width(name);
            for (row, event) in graph.column(thread).enumerate() {
                chars = chars.max(width(&event.text) + width(&event.id) + 2);
                places.insert(event.id.as_str(), (thread, 64.0 + ROW * row as f64));
                rows = rows.max(row + 1);
            }
            let wide = chars as f64 * CHAR + 2.0 * PAD;
            columns.push((x, wide));
            x += wide + GAP;
        }
        let (width, height) = ((x - GAP + 50.0 + MARGIN).max(460.0), 44.0 + ROW * rows as f64);
        Self { graph, columns, places, width, height }
    }

    fn draw(&self, svg: &mut Svg) {
        for (name, (x, wide)) in self.graph.threads.iter().zip(&self.columns) {
            svg.words(*x, 22.0, name, INK, true);
            svg.line((*x, 30.0), (x + wide, 30.0), INK);
        }
        // Boxes hide arrows that pass behind them; labels come last, so that no arrow crosses them out.
        let drawn: Vec<_> = self.graph.all_edges().into_iter().filter_map(|edge| self.edge(svg, &edge)).collect();
        for event in &self.graph.events {
            let Some((column, y)) = self.places.get(event.id.as_str()) else { continue };
            let (x, wide) = self.columns[*column];
            svg.frame((x, y - BOX / 2.0), (wide, BOX), "#f6f8fa", INK, None);
            svg.words(x + PAD, y + 4.0, &format!("{}: {}", event.id, event.text), INK, true);
        }
        for (text, at, color, strong) in drawn {
            let wide = width(&text) as f64 * CHAR;
            svg.frame((at.0 - wide / 2.0 - 2.0, at.1 - 8.0), (wide + 4.0, 14.0), "#ffffff", "none", None);
            svg.words(at.0 - wide / 2.0, at.1 + 3.0, &text, color, strong);
        }
    }

    /// Draws an arrow; its label and where that goes.
    fn edge(&self, svg: &mut Svg, edge: &GraphEdge) -> Option<(String, (f64, f64), &'static str, bool)> {
        let to = *self.places.get(edge.to.as_str())?;
        let forbids = self.graph.is_objected(edge);
        let color = if forbids { FORBIDS } else { color(&edge.relation) };
        let points = match self.places.get(edge.from.as_str()) {
            Some(from) => self.between(*from, to, &edge.relation),
            None => {
                // What memory holds at first comes from above, beside program order.
                let (x, y) = (self.columns[to.0].0 + 10.0, to.1 - BOX / 2.0);
                [(x, y - 24.0), (x, y - 16.0), (x, y - 8.0), (x, y)]
            }
        };
        let [a, b, c, d] = points;
        let text = |(x, y): (f64, f64)| format!("{} {}", number(x), number(y));
        let path = format!("M {} C {}, {}, {}", text(a), text(b), text(c), text(d));
        let head = if forbids { "forbids".to_owned() } else { head(&edge.relation) };
        let dashes = matches!(edge.relation.as_str(), "fr" | "fr^-1").then_some("6 3");
        svg.weighted(&path, color, &head, dashes, if forbids { "2.2" } else { "1.4" });
        // Near the start, where arrows between two columns do not cross yet.
        Some((edge.relation.clone(), along(points, 0.3), color, forbids))
    }

    /// The four points of a curve from one box to another.
    fn between(&self, (a, y1): (usize, f64), (b, y2): (usize, f64), relation: &str) -> [(f64, f64); 4] {
        let ((left, wide), (left2, wide2)) = (self.columns[a], self.columns[b]);
        if a == b {
            if relation == "po" || relation == "rmw" && (y1 - y2).abs() <= ROW {
                let x = left + wide / 2.0;
                let (y1, y2) = (y1 + BOX / 2.0, y2 - BOX / 2.0);
                return [(x, y1), (x, y1 + 8.0), (x, y2 - 8.0), (x, y2)];
            }
            // Communication within a thread goes around on the right, dependencies on the left.
            let right = matches!(relation, "rf" | "co" | "fr");
            let edge = if right { left + wide } else { left };
            let out = if right { edge + 48.0 } else { edge - 48.0 };
            return [(edge, y1), (out, y1), (out, y2), (edge, y2)];
        }
        let (x1, x2) = if a < b { (left + wide, left2) } else { (left, left2 + wide2) };
        let bend = (x2 - x1) * 0.35;
        // Past other columns it goes between the rows.
        let sag = if a.abs_diff(b) > 1 { ROW * 0.7 } else { 0.0 };
        [(x1, y1), (x1 + bend, y1 + sag), (x2 - bend, y2 + sag), (x2, y2)]
    }
}

/// The point of a curve at this part of its way.
fn along([a, b, c, d]: [(f64, f64); 4], t: f64) -> (f64, f64) {
    let s = 1.0 - t;
    let mix =
        |a: f64, b: f64, c: f64, d: f64| s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d;
    (mix(a.0, b.0, c.0, d.0), mix(a.1, b.1, c.1, d.1))
}
