//! Names of tests in the manner of diy: the shape, then what stands on its steps within threads.

use super::cycle::Cycle;
use super::relation::{Link, Relation};
use super::target::Note;

/// Shapes with their names, as cycles of plain program order.
const SHAPES: [(&str, &str); 28] = [
    ("SB", "PodWR Fre PodWR Fre"),
    ("MP", "PodWW Rfe PodRR Fre"),
    ("LB", "PodRW Rfe PodRW Rfe"),
    ("S", "PodWW Rfe PodRW Wse"),
    ("R", "PodWW Wse PodWR Fre"),
    ("2+2W", "PodWW Wse PodWW Wse"),
    ("WRC", "Rfe PodRW Rfe PodRR Fre"),
    ("RWC", "Rfe PodRR Fre PodWR Fre"),
    ("WWC", "Rfe PodRW Rfe PodRW Wse"),
    ("WRW+WR", "Rfe PodRW Wse PodWR Fre"),
    ("WRR+2W", "Rfe PodRR Fre PodWW Wse"),
    ("WRW+2W", "Rfe PodRW Wse PodWW Wse"),
    ("IRIW", "Rfe PodRR Fre Rfe PodRR Fre"),
    ("IRRWIW", "Rfe PodRR Fre Rfe PodRW Wse"),
    ("IRWIW", "Rfe PodRW Wse Rfe PodRW Wse"),
    ("W+RWC", "PodWW Rfe PodRR Fre PodWR Fre"),
    ("ISA2", "PodWW Rfe PodRW Rfe PodRR Fre"),
    ("3.SB", "PodWR Fre PodWR Fre PodWR Fre"),
    ("3.LB", "PodRW Rfe PodRW Rfe PodRW Rfe"),
    ("3.2W", "PodWW Wse PodWW Wse PodWW Wse"),
    ("Z6.0", "PodWW Rfe PodRW Wse PodWR Fre"),
    ("Z6.1", "PodWW Wse PodWW Rfe PodRW Wse"),
    ("Z6.2", "PodWW Rfe PodRW Rfe PodRW Wse"),
    ("Z6.3", "PodWW Wse PodWW Rfe PodRR Fre"),
    ("Z6.4", "PodWW Wse PodWR Fre PodWR Fre"),
    ("Z6.5", "PodWW Wse PodWW Wse PodWR Fre"),
    ("CoRR", "Rfe PosRR Fre"),
    ("CoRW", "Rfe PosRW Wse"),
];

impl Cycle {
    /// The test's name: `SB`, `SB+mfences`, `MP+sfence+po`. Cycles of shapes that have none are named by their relations.
    pub fn name(&self) -> String {
        let rotations: Vec<Self> = (0..self.relations().len()).map(|start| self.rotated(start)).collect();
        let mut best: Option<String> = None;
        for rotation in &rotations {
            let plain: Vec<String> =
                rotation.relations().into_iter().map(|relation| plain(relation).to_string()).collect();
            let plain = plain.join(" ");
            let Some((shape, _)) = SHAPES.iter().find(|(_, relations)| *relations == plain) else { continue };
            let name = decorated(shape, rotation);
            if best.as_ref().is_none_or(|best| name < *best) {
                best = Some(name);
            }
        }
        best.unwrap_or_else(|| self.to_string().replace(' ', "-").to_lowercase())
    }
}

fn plain(relation: Relation) -> Relation {
    match relation {
        Relation::Po { same, from, to, .. } => Relation::Po { link: Link::None, same, from, to },
        other => other,
    }
}

fn decorated(shape: &str, cycle: &Cycle) -> String {
    let links = cycle.relations().into_iter().enumerate().filter_map(|(at, relation)| match relation {
        Relation::Po { link, .. } => Some(word(link, [cycle.note(at), cycle.note(at + 1)])),
        _ => None,
    });
    let words: Vec<String> = links.collect();
    if words.iter().all(|word| *word == Link::None.word()) {
        return shape.to_owned();
    }
    match words.as_slice() {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|word| word == first) => format!("{shape}+{first}s"),
        words => format!("{shape}+{}", words.join("+")),
    }
}

/// What stands on a step, and what is said about its ends: `po`, `popl`, `dmb.sy`.
fn word(link: Link, notes: [Note; 2]) -> String {
    let plain = notes.iter().all(|note| *note == Note::PLAIN);
    let notes: String =
        if plain { String::new() } else { notes.iter().map(|note| note.name().to_lowercase()).collect() };
    format!("{}{notes}", link.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_the_names_of_the_field() {
        let check = |text: &str, name: &str| {
            assert_eq!(Cycle::parse(text).map(|cycle| cycle.name()).as_deref(), Ok(name), "{text}");
        };
        for (name, text) in SHAPES {
            check(text, name);
        }
        check("Fre PodWW Rfe PodRR", "MP");
        check("MFencedWR Fre MFencedWR Fre", "SB+mfences");
        check("SSdWW Rfe DpAddrdR Fre", "MP+ss+addr");
        check("PodWWPL RfeLA PodRRAP Fre", "MP+popl+poap");
        check("DMB.SYdWW Rfe DpCtrlIsbdR Fre", "MP+dmb.sy+ctrlisb");
        check("PodWR Fre MFencedWR Fre", "SB+mfence+po");
        check("MFencedWR Fre PodWR Fre", "SB+mfence+po");
        check("PosWR Fre PodWR Fre PodWR Fre", "podwr-fre-podwr-fre-poswr-fre");
    }
}
