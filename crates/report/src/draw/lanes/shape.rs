//! The executions that one execution stands for, as lanes with barriers across (Lesani and Palsberg, Fig. 3).

use cyrano_trace::Segment;

use super::words::{clip, two_lines};
use crate::draw::rows::Drawing;
use crate::style::{Paint, Style, count, hang, pad, width};

/// Between two lanes, in a row and in a barrier.
const RULES: (&str, &str) = (" │ ", "─┼─");

/// The picture, if there is one and it says more than the steps: a single row, or one of single threads, does not.
pub(super) fn shape(out: &mut String, drawing: &Drawing<'_>, style: Style) {
    let Some(shape) = &drawing.trace.shape else { return };
    let several = |row: &Vec<Segment>| row.windows(2).any(|pair| pair[0].thread != pair[1].thread);
    if !shape.rows.iter().any(several) {
        return;
    }
    let number = shape.interleavings.as_ref().and_then(|number| number.parse().ok()).map(count);
    let number = number.or(shape.interleavings.clone()).unwrap_or("very many".to_owned());
    let words = format!(
        "It stands for {number} executions that end the same: what is above a line is done before what is below it, \
         and the threads interleave as they like between two lines."
    );
    out.push('\n');
    hang(out, "", &words, style);
    out.push('\n');
    let lanes = widths(drawing, shape.rows.iter().flatten(), style);
    let line = |cells: Vec<String>, rule: &str| format!("  {}", cells.join(rule)).trim_end().to_owned() + "\n";
    let names = drawing.lanes.iter().zip(&lanes);
    let names = names.map(|(name, columns)| style.paint(Paint::Strong, &pad(&clip(name, *columns), *columns)));
    out.push_str(&line(names.collect(), RULES.0));
    for row in &shape.rows {
        out.push_str(&line(lanes.iter().map(|columns| "─".repeat(*columns)).collect(), RULES.1));
        let cells = drawing.lanes.iter().zip(&lanes).map(|(name, columns)| {
            let own = row.iter().filter(|segment| segment.thread == *name);
            own.flat_map(|segment| two_lines(&segment.text, *columns)).collect::<Vec<String>>()
        });
        let cells: Vec<Vec<String>> = cells.collect();
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let cell =
                |(lines, columns): (&Vec<String>, &usize)| pad(lines.get(at).map_or("", String::as_str), *columns);
            out.push_str(&line(cells.iter().zip(&lanes).map(cell).collect(), RULES.0));
        }
    }
}

/// The widths of the lanes: as much as they need, or an equal share.
fn widths<'a>(drawing: &Drawing<'_>, segments: impl Iterator<Item = &'a Segment> + Clone, style: Style) -> Vec<usize> {
    let count = drawing.lanes.len().max(1);
    let share = style.columns().saturating_sub(2 + (count - 1) * width(RULES.0)) / count;
    let needed = |name: &String| {
        let own = segments.clone().filter(|segment| segment.thread == *name);
        own.map(|segment| width(&segment.text)).chain([width(name)]).max().unwrap_or(0)
    };
    drawing.lanes.iter().map(|name| needed(name).min(share)).collect()
}
