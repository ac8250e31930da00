//! The file of a certificate, schema `cyrano.certificate/1`.
//!
//! One JSON object in each line: a heading that has everything but the states, then the states ([`mod@crate::state`]), then the sum of all bytes before it.
//! The sum finds files that were cut off or damaged by accident; against intent the check itself is the protection.
//!
//! Fields are added freely; a change of meaning needs a new schema number.

use std::collections::BTreeMap;
use std::fmt;

use cyrano_engine::configuration::Forgets;
use cyrano_ir::{InstrId, LocId, Program, Property, RegId, text, verify};
use cyrano_memory::Model;
use cyrano_trace::{ModelInfo, TestInfo};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Certificate, EveryNumber, Found, MOST_STATES, Origin, Reference, every, sorted, state};

/// The name of this schema.
pub const SCHEMA: &str = "cyrano.certificate/1";

/// Why a text is no certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadFile {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for BadFile {}

#[derive(Serialize, Deserialize)]
struct Heading {
    schema: String,
    tool: Tool,
    /// What is claimed, in words; the program's text says it exactly.
    criterion: String,
    file: String,
    source: String,
    #[serde(with = "numbers")]
    set: BTreeMap<String, i128>,
    test: Option<TestInfo>,
    model: ModelInfo,
    /// The program in its text form; its one check is the claim.
    program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference_source: Option<SourceInfo>,
    /// The sum of `program` and `reference`.
    hash: String,
    found: FoundInfo,
    forgets: Vec<Vec<(u32, Vec<u32>)>>,
    states: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every_number: Option<EveryInfo>,
}

/// For every number of threads: the size of views, and the variables that only count, each with the value from which on it is not known exactly.
#[derive(Serialize, Deserialize)]
struct EveryInfo {
    k: usize,
    counters: Vec<(u32, i64)>,
    /// How many elements stand behind the views.
    elements: usize,
}

/// The source of a reference.
#[derive(Serialize, Deserialize)]
struct SourceInfo {
    file: String,
    source: String,
    #[serde(with = "numbers")]
    set: BTreeMap<String, i128>,
    test: Option<TestInfo>,
}

/// What every version of a heading has.
#[derive(Deserialize)]
struct Version {
    schema: String,
}

#[derive(Serialize, Deserialize)]
struct Tool {
    name: String,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct FoundInfo {
    engine: String,
    seconds: f64,
    states: u64,
    seconds_to_write: f64,
}

#[derive(Serialize, Deserialize)]
struct Sum {
    sum: String,
}

/// The values of constants.
mod numbers {
    use std::collections::BTreeMap;

    use cyrano_trace::number;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Value(#[serde(with = "number")] i128);

    pub fn serialize<S: Serializer>(values: &BTreeMap<String, i128>, serializer: S) -> Result<S::Ok, S::Error> {
        let values: BTreeMap<&String, Value> = values.iter().map(|(name, value)| (name, Value(*value))).collect();
        values.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, i128>, D::Error> {
        let values = BTreeMap::<String, Value>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|(name, value)| (name, value.0)).collect())
    }
}

fn sum(texts: &[&str]) -> String {
    let mut sum = Sha256::new();
    texts.iter().for_each(|text| sum.update(text.as_bytes()));
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a certificate.
pub fn print(certificate: &Certificate) -> String {
    let Certificate { origin, program, reference, model, found, forgets, states, every_number } = certificate;
    let program = text::print(program);
    let reference_source = reference.as_ref().and_then(|reference| reference.origin.as_ref()).map(source_info);
    let reference = reference.as_ref().map(|reference| text::print(&reference.program));
    let rows = |of: &Vec<(InstrId, Vec<RegId>)>| {
        of.iter().map(|(pc, registers)| (pc.0, registers.iter().map(|register| register.0).collect())).collect()
    };
    let heading = Heading {
        schema: SCHEMA.into(),
        tool: Tool { name: "cyrano".into(), version: origin.version.clone() },
        criterion: certificate.criterion().to_owned(),
        file: origin.file.clone(),
        source: origin.source.clone(),
        set: origin.set.iter().cloned().collect(),
        test: origin.test.clone(),
        model: ModelInfo::from(model),
        hash: sum(&[&program, reference.as_deref().unwrap_or_default()]),
        program,
        reference,
        reference_source,
        found: FoundInfo {
            engine: found.engine.clone(),
            seconds: found.seconds,
            states: found.states,
            seconds_to_write: found.seconds_to_write,
        },
        forgets: forgets.iter().map(rows).collect(),
        states: states.len(),
        every_number: every_number.as_ref().map(|every| EveryInfo {
            k: every.k,
            counters: every
                .counters
                .iter()
                .map(|(loc, cap)| (loc.0, i64::try_from(*cap).unwrap_or(i64::MAX)))
                .collect(),
            elements: every.elements.len(),
        }),
    };
    let mut text = serde_json::to_string(&heading).expect("a heading has nothing that JSON does not");
    text.push('\n');
    for state in states.iter().chain(every_number.iter().flat_map(|every| &every.elements)) {
        text.push_str(state);
        text.push('\n');
    }
    let sum = serde_json::to_string(&Sum { sum: sum(&[&text]) }).expect("a sum is a string");
    text + &sum + "\n"
}

/// Reads a certificate. Every state in it is one of its program.
pub fn parse(text: &str) -> Result<Certificate, BadFile> {
    let bad = |line: usize, message: String| BadFile { line, message };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let other = serde_json::from_str::<Version>(first).ok().filter(|version| version.schema != SCHEMA);
    if let Some(Version { schema }) = other {
        return Err(bad(1, format!("the schema is `{schema}`; this version reads `{SCHEMA}`")));
    }
    let heading: Heading = serde_json::from_str(first)
        .map_err(|error| bad(1, format!("this is no certificate: {error}; `cyrano check --certificate` writes one")))?;
    let elements = heading.every_number.as_ref().map_or(0, |every| every.elements);
    let last = heading.states.checked_add(elements).and_then(|lines| lines.checked_add(2));
    if heading.states > MOST_STATES || elements > MOST_STATES {
        return Err(bad(1, format!("{} states; at most {MOST_STATES} are read", heading.states)));
    }
    let program = read_program(&heading.program, "program").map_err(|why| bad(1, why))?;
    let reference = heading.reference.as_deref().map(|text| read_program(text, "reference")).transpose();
    let reference = reference.map_err(|why| bad(1, why))?;
    if sum(&[&heading.program, heading.reference.as_deref().unwrap_or_default()]) != heading.hash {
        return Err(bad(1, "the program is not the one that the certificate was written for: its hash differs".into()));
    }
    let model = model(&heading).map_err(|why| bad(1, why))?;
    let forgets = forgets(&program, &heading.forgets).map_err(|why| bad(1, why))?;
    let mut every_number = every_number(&program, heading.every_number).map_err(|why| bad(1, why))?;
    let mut states = Vec::with_capacity(heading.states.min(1 << 16));
    for (at, line) in lines.by_ref().take(heading.states).enumerate() {
        let line = again(line, &program, every_number.as_ref()).map_err(|why| bad(at + 2, why))?;
        states.push(line.into_boxed_str());
    }
    for (at, line) in lines.by_ref().take(elements).enumerate() {
        let line = every::element_fits(line, &program).map_err(|why| bad(at + heading.states + 2, why))?;
        every_number.iter_mut().for_each(|every| every.elements.push(line.clone().into_boxed_str()));
    }
    let end = lines.next();
    let expected =
        || bad(last.unwrap_or(usize::MAX), "the file ends too early, or has other states than its heading says".into());
    let end = end.filter(|_| lines.next().is_none()).ok_or_else(expected)?;
    let claimed: Sum = serde_json::from_str(end).map_err(|_| expected())?;
    // The last line is a part of the text, so its distance from the beginning is how long all before it is.
    let before = end.as_ptr() as usize - text.as_ptr() as usize;
    if claimed.sum != sum(&[&text[..before]]) {
        return Err(bad(states.len() + elements + 2, "the sum is wrong: the file was changed or damaged".into()));
    }
    let version = heading.tool.version;
    let reference = reference.map(|program| {
        let origin = heading.reference_source.map(|of| origin(of, &version));
        Reference { program, origin }
    });
    let own = SourceInfo { file: heading.file, source: heading.source, set: heading.set, test: heading.test };
    let FoundInfo { engine, seconds, states: visited, seconds_to_write } = heading.found;
    let found = Found { engine, seconds, states: visited, seconds_to_write };
    let states = sorted(states);
    let origin = origin(own, &version);
    let certificate = Certificate { origin, program, reference, model, found, forgets, states, every_number };
    one_claim(&certificate, &heading.criterion).map_err(|why| bad(1, why))?;
    Ok(certificate)
}

/// One thing is claimed, the one that the heading names.
fn one_claim(certificate: &Certificate, named: &str) -> Result<(), String> {
    let ([check], true) = (&certificate.program.checks[..], certificate.criterion() == named) else {
        return Err("the program has to have one check, the one that `criterion` names".into());
    };
    if certificate.reference.is_some() && !matches!(check.property, Property::Observations(_)) {
        return Err("only observations are compared with those of a reference".into());
    }
    if check.models == [certificate.model.name.clone()] {
        Ok(())
    } else {
        Err(format!("the check is not about {}", certificate.model.name))
    }
}

fn source_info(of: &Origin) -> SourceInfo {
    let Origin { file, source, set, test, .. } = of.clone();
    SourceInfo { file, source, set: set.into_iter().collect(), test }
}

fn origin(of: SourceInfo, version: &str) -> Origin {
    let SourceInfo { file, source, set, test } = of;
    Origin { file, source, set: set.into_iter().collect(), test, version: version.to_owned() }
}

/// The line of a state or a view of the program, as we write it.
fn again(line: &str, program: &Program, every: Option<&EveryNumber>) -> Result<String, String> {
    if let Some(every) = every {
        let view = state::parse_view(line)?;
        every::fits(&view, program, every.k)?;
        return Ok(state::print_view(&view));
    }
    let state = state::parse(line)?;
    state.at.fits(program)?;
    state.serial.iter().try_for_each(|serial| serial.fits(program))?;
    Ok(state::print(&state))
}

fn every_number(program: &Program, info: Option<EveryInfo>) -> Result<Option<EveryNumber>, String> {
    if info.is_some() == program.families.is_empty() {
        return Err("there are views exactly where there are families of any number of threads".into());
    }
    let Some(EveryInfo { k, counters, .. }) = info else { return Ok(None) };
    if !(1..=every::LARGEST).contains(&k) {
        return Err(format!("views have 1 to {} members", every::LARGEST));
    }
    let counters = counters.into_iter().map(|(loc, cap)| (LocId(loc), cap.into())).collect();
    Ok(Some(EveryNumber { k, counters, elements: Vec::new() }))
}

fn read_program(source: &str, what: &str) -> Result<Program, String> {
    let program = text::parse(source).map_err(|error| format!("the {what} cannot be read: {error}"))?;
    match verify(&program) {
        Ok(()) => Ok(program),
        Err(errors) => {
            let first = errors.first().map(ToString::to_string).unwrap_or_default();
            Err(format!("the {what} makes no sense: {first}"))
        }
    }
}

/// The model, with the parameters that its name stands for, if it is a built-in one.
fn model(heading: &Heading) -> Result<Model, String> {
    let model = Model::try_from(&heading.model).map_err(|error| error.to_string())?;
    match cyrano_memory::named(&model.name) {
        Some(named) if named.definition != model.definition => {
            Err(format!("the model `{}` does not have that model's parameters", model.name))
        }
        _ => Ok(model),
    }
}

fn forgets(program: &Program, rows: &[Vec<(u32, Vec<u32>)>]) -> Result<Forgets, String> {
    let ascending = |row: &Vec<(u32, Vec<u32>)>| row.windows(2).all(|pair| pair[0].0 < pair[1].0);
    if rows.len() != program.threads.len() || !rows.iter().all(ascending) {
        return Err("what is forgotten is not said for every thread, in the order of its instructions".into());
    }
    let row = |row: &Vec<(u32, Vec<u32>)>| {
        row.iter().map(|(pc, registers)| (InstrId(*pc), registers.iter().copied().map(RegId).collect())).collect()
    };
    Ok(rows.iter().map(row).collect())
}
