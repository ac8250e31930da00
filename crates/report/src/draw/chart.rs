//! Points on logarithmic axes, as papers show how costs grow (CheckFence, Fig. 10b).
//!
//! Panels stand side by side, each with decades as grid lines. A series has a colour and a shape of its own, so that colour is never the only signal;
//! what is compared with it has the same shape, hollow. No script, no style sheet, nothing from outside.

use crate::exchange::xml::Xml;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 48.0;
const GAP: f64 = 84.0;
const BELOW: f64 = 96.0;
const RADIUS: f64 = 4.5;

const INK: &str = "#1b1f24";
const GRID: &str = "#d1d9e0";
const COLOURS: [&str; 6] = ["#0b5cad", "#a3211a", "#1a7f37", "#8250df", "#9a6700", "#59636e"];

/// A drawing of points.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The drawings side by side.
    pub panels: Vec<Panel>,
    /// What hollow points are.
    pub hollow: String,
}

/// One drawing.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What the axes are.
    pub axes: [String; 2],
    /// The points.
    pub series: Vec<Series>,
}

/// Points of one kind; none is drawn that has a coordinate which is not positive.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Ours.
    pub filled: Vec<(f64, f64)>,
    /// What they are compared with.
    pub hollow: Vec<(f64, f64)>,
}

/// The chart as one SVG document.
pub fn chart_svg(chart: &Chart) -> String {
    let width = LEFT + chart.panels.len() as f64 * (WIDTH + GAP);
    let height = TOP + HEIGHT + BELOW;
    let mut xml = Xml::new();
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("width", &number(width)),
        ("height", &number(height)),
        ("viewBox", &format!("0 0 {} {}", number(width), number(height))),
        ("role", "img"),
        ("font-family", "DejaVu Sans, Helvetica, Arial, sans-serif"),
        ("font-size", "12"),
    ];
    xml.open("svg", &attributes);
    xml.text("title", &[], &chart.title);
    xml.empty("rect", &[("width", "100%"), ("height", "100%"), ("fill", "#ffffff")]);
    words(&mut xml, (LEFT, 22.0), "start", &chart.title);
    for (at, panel) in chart.panels.iter().enumerate() {
        draw(&mut xml, panel, LEFT + at as f64 * (WIDTH + GAP));
    }
    legend(&mut xml, chart, height - 16.0);
    xml.finish()
}

fn draw(xml: &mut Xml, panel: &Panel, left: f64) {
    let points = || panel.series.iter().flat_map(|series| series.filled.iter().chain(&series.hollow)).filter(is_drawn);
    let axes = [Axis::of(points().map(|point| point.0)), Axis::of(points().map(|point| point.1))];
    let x = |value: f64| left + axes[0].place(value) * WIDTH;
    let y = |value: f64| TOP + HEIGHT - axes[1].place(value) * HEIGHT;
    for decade in axes[0].from..=axes[0].to {
        let at = x(10f64.powi(decade));
        line(xml, (at, TOP), (at, TOP + HEIGHT));
        words(xml, (at, TOP + HEIGHT + 18.0), "middle", &power(decade));
    }
    for decade in axes[1].from..=axes[1].to {
        let at = y(10f64.powi(decade));
        line(xml, (left, at), (left + WIDTH, at));
        words(xml, (left - 8.0, at + 4.0), "end", &power(decade));
    }
    words(xml, (left + WIDTH / 2.0, TOP + HEIGHT + 38.0), "middle", &panel.axes[0]);
    words(xml, (left, TOP - 8.0), "start", &panel.axes[1]);
    for (kind, series) in panel.series.iter().enumerate() {
        let hollow = series.hollow.iter().map(|point| (point, false));
        let filled = series.filled.iter().map(|point| (point, true));
        for (point, filled) in hollow.chain(filled).filter(|(point, _)| is_drawn(point)) {
            mark(xml, kind, (x(point.0), y(point.1)), filled);
        }
    }
}

/// The decades that an axis shows.
struct Axis {
    from: i32,
    to: i32,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for decade in values.map(f64::log10) {
            (from, to) = (from.min(decade.floor()), to.max(decade.ceil()));
        }
        let from = if from.is_finite() { from as i32 } else { 0 };
        Self { from, to: (if to.is_finite() { to as i32 } else { 1 }).max(from + 1) }
    }

    /// Where a value stands, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value.log10() - f64::from(self.from)) / f64::from(self.to - self.from)
    }
}

fn is_drawn(point: &&(f64, f64)) -> bool {
    point.0 > 0.0 && point.1 > 0.0
}

/// One point: circle, square, triangle, diamond, triangle upside down, cross.
fn mark(xml: &mut Xml, kind: usize, (x, y): (f64, f64), filled: bool) {
    let r = RADIUS;
    let at = |dx: f64, dy: f64| format!("{},{}", number(x + dx * r), number(y + dy * r));
    let corners: &[(f64, f64)] = match kind % COLOURS.len() {
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        4 => &[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
        5 => &[(-1.0, -1.0), (0.0, 0.0), (1.0, -1.0), (0.0, 0.0), (1.0, 1.0), (0.0, 0.0), (-1.0, 1.0), (0.0, 0.0)],
        _ => &[],
    };
    let colour = COLOURS[kind % COLOURS.len()];
    let look = [("fill", if filled { colour } else { "none" }), ("stroke", colour), ("stroke-width", "1.4")];
    if corners.is_empty() {
        let (x, y) = (number(x), number(y));
        xml.empty("circle", &[&[("cx", x.as_str()), ("cy", &y), ("r", &number(r))], &look[..]].concat());
    } else {
        let points: Vec<String> = corners.iter().map(|(dx, dy)| at(*dx, *dy)).collect();
        xml.empty("polygon", &[&[("points", points.join(" ").as_str())], &look[..]].concat());
    }
}

fn legend(xml: &mut Xml, chart: &Chart, y: f64) {
    let mut x = LEFT;
    for (kind, series) in chart.panels.iter().take(1).flat_map(|panel| panel.series.iter().enumerate()) {
        mark(xml, kind, (x, y - 4.0), true);
        words(xml, (x + 10.0, y), "start", &series.name);
        x += 34.0 + 7.0 * series.name.len() as f64;
    }
    words(xml, (x, y), "start", &chart.hollow);
}

fn words(xml: &mut Xml, (x, y): (f64, f64), anchor: &str, text: &str) {
    let (x, y) = (number(x), number(y));
    xml.text("text", &[("x", &x), ("y", &y), ("fill", INK), ("text-anchor", anchor)], text);
}

fn line(xml: &mut Xml, from: (f64, f64), to: (f64, f64)) {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
    xml.empty("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("stroke", GRID)]);
}

fn power(decade: i32) -> String {
    match u32::try_from(decade) {
        Ok(decade) => crate::count(10u64.saturating_pow(decade)),
        Err(_) => format!("{:.*}", decade.unsigned_abs() as usize, 10f64.powi(decade)),
    }
}

fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_stands_where_its_logarithms_say() {
        let series =
            Series { name: "a < b".into(), filled: vec![(10.0, 0.1), (1000.0, 0.0)], hollow: vec![(100.0, 10.0)] };
        let panel = Panel { axes: ["x".into(), "y".into()], series: vec![series] };
        let svg = chart_svg(&Chart { title: "t".into(), panels: vec![panel], hollow: "paper".into() });
        // Both axes go over whole decades: x from 10 to 100, y from 0.1 to 10; the point with a 0 is left out.
        let circles: Vec<&str> = svg.lines().filter(|line| line.contains("<circle")).collect();
        assert_eq!(circles.len(), 3, "{svg}");
        assert!(circles[0].contains("cx=\"464\" cy=\"48\"") && circles[0].contains("fill=\"none\""), "{}", circles[0]);
        assert!(circles[1].contains("cx=\"64\" cy=\"348\""), "{}", circles[1]);
        assert!(svg.contains("a &lt; b"), "{svg}");
        assert_eq!([-4, -1, 0, 3].map(power), ["0.0001", "0.1", "1", "1,000"]);
    }
}
