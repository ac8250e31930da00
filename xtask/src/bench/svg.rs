//! Just enough SVG for plots. Colours are classes, so that one file is readable on light and on dark pages: the picture brings its own
//! background, which follows the reader's preference together with everything else.

use std::fmt::Write;

const STYLE: &str = "\
    .page{fill:#ffffff} .grid{stroke:#d8dee4} .axis{stroke:#6e7781} text{fill:#1f2328} text.faint{fill:#59636e}\n\
    .cyrano{stroke:#0b5cad;fill:#0b5cad} .spin{stroke:#b04a00;fill:#b04a00}\n\
    text.cyrano,text.spin{stroke:none} .line{fill:none;stroke-width:2} .dashed{stroke-dasharray:6 4} .hollow{fill:#ffffff} .lead{stroke:#8c959f;stroke-dasharray:1 3}\n\
    @media (prefers-color-scheme:dark){\n\
    .page{fill:#0d1117} .grid{stroke:#2b323b} .axis{stroke:#8b949e} text{fill:#e6edf3} text.faint{fill:#9aa4af}\n\
    .cyrano{stroke:#6cb6ff;fill:#6cb6ff} .spin{stroke:#f0a050;fill:#f0a050} .line{fill:none} .hollow{fill:#0d1117}}\n";

/// A picture in the making.
pub struct Svg {
    out: String,
}

/// How a text stands to its place.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Svg {
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n"
        );
        let _ = writeln!(out, "<title>{}</title>\n<style>\n{STYLE}</style>", escape(title));
        let _ = writeln!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
        Self { out }
    }

    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ =
            writeln!(self.out, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.out, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }

    pub fn dot(&mut self, class: &str, (x, y): (f64, f64)) {
        let _ = writeln!(self.out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
    }

    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let (anchor, words) = (anchor.word(), escape(words));
        let _ = writeln!(
            self.out,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    }

    pub fn finish(mut self) -> String {
        self.out += "</svg>\n";
        self.out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
