//! A plot of growth: two panels, time and memory, against the size; the vertical axes are logarithmic.
//!
//! Lines have their names at their ends, in their colours; names that would overlap are moved apart.

use super::svg::{Anchor, Svg};

const HEIGHT: f64 = 330.0;
const PANEL: f64 = 460.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 46.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 126.0;

/// The least distance of two names.
const LEADING: f64 = 15.0;

/// One line of a plot.
#[derive(Debug)]
pub struct Line {
    pub name: &'static str,
    /// The class of its colour.
    pub class: &'static str,
    pub dashed: bool,
    /// Size, seconds and bytes.
    pub points: Vec<(u32, f64, f64)>,
}

/// What a panel shows.
struct Panel {
    title: &'static str,
    value: fn(&(u32, f64, f64)) -> f64,
    show: fn(f64) -> String,
}

const PANELS: [Panel; 2] = [
    Panel { title: "processor time", value: |point| point.1.max(1e-4), show: show_seconds },
    Panel { title: "peak resident memory", value: |point| point.2 / (1024.0 * 1024.0), show: show_mib },
];

/// The plot as an SVG document; lines without points are left out.
pub fn draw(title: &str, size: &str, lines: &[Line]) -> String {
    let lines: Vec<&Line> = lines.iter().filter(|line| !line.points.is_empty()).collect();
    let mut svg = Svg::new(2.0 * PANEL, HEIGHT, title);
    svg.text("", (LEFT, 22.0), Anchor::Start, title);
    for (at, panel) in PANELS.iter().enumerate() {
        panel.draw(&mut svg, at as f64 * PANEL, size, &lines);
    }
    svg.finish()
}

impl Panel {
    fn draw(&self, svg: &mut Svg, from: f64, size: &str, lines: &[&Line]) {
        let axes = Axes::new(from, lines, self.value);
        svg.text("faint", (axes.left, TOP - 14.0), Anchor::Start, self.title);
        for exponent in axes.low..=axes.high {
            let value = 10f64.powi(exponent);
            let y = axes.y(value);
            svg.line("grid", (axes.left, y), (axes.right, y));
            svg.text("faint", (axes.left - 8.0, y + 4.0), Anchor::End, &(self.show)(value));
        }
        for at in axes.first..=axes.last {
            svg.text("faint", (axes.x(at), axes.bottom + 18.0), Anchor::Middle, &at.to_string());
        }
        svg.line("axis", (axes.left, axes.bottom), (axes.right, axes.bottom));
        let middle = (axes.left + axes.right) / 2.0;
        svg.text("faint", (middle, axes.bottom + 36.0), Anchor::Middle, size);
        for line in lines {
            let points: Vec<(f64, f64)> = line.points.iter().map(|p| (axes.x(p.0), axes.y((self.value)(p)))).collect();
            let (dashes, dot) = if line.dashed { (" dashed", " hollow") } else { ("", "") };
            svg.polyline(&format!("{} line{dashes}", line.class), &points);
            for point in points {
                svg.dot(&format!("{}{dot}", line.class), point);
            }
        }
        self.names(svg, &axes, lines);
    }

    /// Names right of the panel, with a thin line to ends that are elsewhere.
    fn names(&self, svg: &mut Svg, axes: &Axes, lines: &[&Line]) {
        let ends = lines.iter().filter_map(|line| Some((*line, line.points.last()?)));
        let mut ends: Vec<_> = ends.map(|(line, end)| (line, (axes.x(end.0), axes.y((self.value)(end))))).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let places = apart(&wanted, TOP, axes.bottom);
        for ((line, (x, y)), place) in ends.into_iter().zip(places) {
            let near = (axes.right + 12.0, place);
            svg.line("lead", (x + 5.0, y), (near.0 - 3.0, place));
            svg.text(line.class, (near.0, place + 4.0), Anchor::Start, line.name);
        }
    }
}

/// Moves places (sorted) apart until neighbours do not overlap, within the bounds.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for at in 1..places.len() {
        places[at] = places[at].max(places[at - 1] + LEADING);
    }
    let mut limit = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(limit).max(top);
        limit = *place - LEADING;
    }
    places
}

/// Where values are in a panel. Decades are whole.
struct Axes {
    left: f64,
    right: f64,
    bottom: f64,
    first: u32,
    last: u32,
    low: i32,
    high: i32,
}

impl Axes {
    fn new(from: f64, lines: &[&Line], value: fn(&(u32, f64, f64)) -> f64) -> Self {
        let points = || lines.iter().flat_map(|line| &line.points);
        let logs = || points().map(|point| value(point).log10());
        let low = logs().fold(f64::INFINITY, f64::min).floor();
        let high = logs().fold(f64::NEG_INFINITY, f64::max).ceil();
        Self {
            left: from + LEFT,
            right: from + PANEL - RIGHT,
            bottom: HEIGHT - BOTTOM,
            first: points().map(|point| point.0).min().unwrap_or(0),
            last: points().map(|point| point.0).max().unwrap_or(1),
            low: low as i32,
            high: (high as i32).max(low as i32 + 1),
        }
    }

    fn x(&self, size: u32) -> f64 {
        let part = f64::from(size - self.first) / f64::from((self.last - self.first).max(1));
        self.left + 8.0 + part * (self.right - self.left - 16.0)
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.bottom - part * (self.bottom - TOP)
    }
}

fn show_seconds(value: f64) -> String {
    if value < 0.9e-3 {
        format!("{:.1} ms", value * 1e3)
    } else if value < 0.9 {
        format!("{:.0} ms", value * 1e3)
    } else {
        format!("{value:.0} s")
    }
}

fn show_mib(value: f64) -> String {
    if value < 0.9 { format!("{value:.1} MiB") } else { format!("{value:.0} MiB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_overlap() {
        let places = apart(&[60.0, 61.0, 62.0, 280.0, 281.0], 58.0, 284.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LEADING - 1e-9), "{places:?}");
        assert!(places.iter().all(|place| (58.0..=284.0).contains(place)), "{places:?}");
        assert_eq!(apart(&[100.0, 200.0], 58.0, 284.0), [100.0, 200.0]);
    }

    #[test]
    fn decades_are_evenly_spaced() {
        let line = Line { name: "a", class: "cyrano", dashed: false, points: vec![(2, 0.02, 3e6), (4, 20.0, 4e8)] };
        let axes = Axes::new(0.0, &[&line], PANELS[0].value);
        assert_eq!((axes.low, axes.high, axes.first, axes.last), (-2, 2, 2, 4));
        assert!((axes.y(0.1) - axes.y(1.0) - (axes.y(1.0) - axes.y(10.0))).abs() < 1e-9);
        assert!((axes.x(3) - (axes.x(2) + axes.x(4)) / 2.0).abs() < 1e-9);
        assert_eq!(["0.1 ms", "10 ms", "1 s"], [1e-4, 1e-2, 1.0].map(show_seconds).each_ref().map(String::as_str));
        assert!(draw("a < b", "threads", &[line]).contains("a &lt; b"));
    }
}
