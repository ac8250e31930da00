//! Certificates: written for what was verified, and checked from nothing but themselves.
//!
//! **Invariant:** what is accepted was found out by `cyrano_certificate::check` alone. Here it is only seen to that the source in the file is the source of the
//! program in the file.

use std::collections::BTreeMap;
use std::time::Instant;

use cyrano_certificate::{
    Certificate, EveryNumber, Found, MOST_STATES, Origin, Reference, Refused, check, parse, print_element, print_state,
    print_view, provable, provable_for_all,
};
use cyrano_criteria::table::Claim;
use cyrano_engine::configuration::{Forgets, Product};
use cyrano_engine::{Limits, Query, Question, Verdict, Watch};
use cyrano_ir::{Program, Property, text};
use cyrano_memory::Model;
use cyrano_report::{CertifyReport, CheckReport};
use cyrano_trace::TestInfo;
use cyrano_views::one_of_each;

use crate::VERSION;
use crate::atomicity::Atomicity;
use crate::case::Case;
use crate::failure::Failure;
use crate::frontend::{self, Saved, Threads, Wanted};
use crate::run::Runner;
use crate::select::Selected;
use crate::source::Source;
use crate::subject::Subject;

impl Subject {
    /// The certificate of a verdict, or why there is none; nothing for other verdicts than `verified`.
    pub fn certificate(
        &self,
        runner: &Runner,
        selected: &Selected,
        report: &CheckReport,
        watch: &dyn Watch,
    ) -> Option<Result<Certificate, String>> {
        (report.verdict == Verdict::Verified).then(|| {
            if let Selected::Run(Claim::Atomicity, model) = selected {
                let (case, specification) = self.atomicity().parts();
                let reference = specification.reference.as_ref();
                let reference = reference.map(|of| Reference { program: of.program.clone(), origin: None });
                let property = specification.property(runner, case, watch)?;
                return certificate(runner, case, (&property, model), reference, report, watch);
            }
            let (property, model) = self.property(runner, selected, watch)?;
            let reference = self.specification.reference.as_ref();
            let reference = reference.filter(|_| matches!(property, Property::Observations(_)));
            let reference = reference.map(|of| Reference { program: of.program.clone(), origin: Some(origin(of)) });
            certificate(runner, &self.case, (&property, model), reference, report, watch)
        })
    }
}

/// Whether there are states to write down, under this model; `Err` says why not.
fn has_states(model: &Model) -> Result<(), String> {
    if model.cat().is_some() {
        return Err(format!(
            "`{}` is a model about relations between events, which judges whole executions and has no states in between; \
             sc, tso, pso, rmo and models of `keep` have them",
            model.name
        ));
    }
    Ok(())
}

fn certificate(
    runner: &Runner,
    case: &Case,
    (property, model): (&Property, &Model),
    reference: Option<Reference>,
    report: &CheckReport,
    watch: &dyn Watch,
) -> Result<Certificate, String> {
    has_states(model)?;
    let case = &*case.for_question(Some(property), model);
    let started = Instant::now();
    let (states, every_number) = match report.every_number.as_ref().filter(|_| !case.program.families.is_empty()) {
        Some(every) => views(runner, case, (property, model), every.k, watch)?,
        None => (states(runner, case, (property, model), watch)?, None),
    };
    let stats = report.stats.unwrap_or_default();
    let found = Found {
        engine: report.engine.clone().unwrap_or_default(),
        seconds: stats.seconds,
        states: stats.states,
        seconds_to_write: started.elapsed().as_secs_f64(),
    };
    let certificate = Certificate::new(origin(case), (&case.program, property), reference, model, found, states);
    Ok(Certificate { every_number, ..certificate })
}

/// The source of a case.
fn origin(case: &Case) -> Origin {
    Origin {
        file: case.source.name.clone(),
        source: case.source.text.clone(),
        set: case.set.clone(),
        test: case.test.clone(),
        version: VERSION.to_owned(),
    }
}

/// States or views as lines, and what is forgotten in them.
type Lines = (Vec<Box<str>>, Forgets);

fn states(
    runner: &Runner,
    case: &Case,
    (property, model): (&Property, &Model),
    watch: &dyn Watch,
) -> Result<Lines, String> {
    provable(&case.program, property)?;
    let query = Query::new(&case.program, model, Question::Holds(property)).map_err(|why| why.to_string())?;
    let mut states: Vec<Box<str>> = Vec::new();
    let mut take = |state: &Product| {
        states.push(print_state(state).into_boxed_str());
        states.last().map_or(0, |line| line.len()) + size_of::<Box<str>>()
    };
    let (forgets, _) = runner.reachable(query, MOST_STATES, watch, &mut take).map_err(|why| why.to_string())?;
    Ok((states, forgets))
}

/// The views of a family of any number of threads.
fn views(
    runner: &Runner,
    case: &Case,
    (property, model): (&Property, &Model),
    k: usize,
    watch: &dyn Watch,
) -> Result<(Lines, Option<EveryNumber>), String> {
    provable_for_all(&case.program, property)?;
    let one = one_of_each(&case.program);
    let query = Query::new(&one, model, Question::Holds(property)).map_err(|why| why.to_string())?;
    let written = runner.written_views(query, &case.program.families, k, watch)?;
    if written.views.len().max(written.elements.len()) > MOST_STATES {
        return Err(format!("there are more than {MOST_STATES} views, which is the most that is written"));
    }
    let lines = written.views.iter().map(|view| print_view(view).into_boxed_str()).collect();
    let element = |(followed, others): &(_, Vec<_>)| print_element(followed, others).into_boxed_str();
    let elements = written.elements.iter().map(element).collect();
    Ok(((lines, written.forgets), Some(EveryNumber { k, counters: written.counters, elements })))
}

/// Checks the text of a certificate; `Err` if it is none.
pub fn certify(name: &str, text: &str, limits: &Limits) -> Result<CertifyReport, Failure> {
    let certificate = parse(text).map_err(|why| Failure::input(format!("{name}: {why}")))?;
    let started = Instant::now();
    let checked = own_source(&certificate).and_then(|()| check(&certificate, limits));
    let seconds = started.elapsed().as_secs_f64();
    Ok(report(name, &certificate, checked, seconds))
}

fn report(
    name: &str,
    certificate: &Certificate,
    checked: Result<cyrano_certificate::Checked, Box<Refused>>,
    seconds: f64,
) -> CertifyReport {
    let property = certificate.property();
    let condition = match property {
        Some(Property::Final { text, .. }) => Some(text.clone()),
        _ => None,
    };
    CertifyReport {
        name: name.to_owned(),
        file: certificate.origin.file.clone(),
        test: certificate.origin.test.as_ref().map(|test| test.name.clone()),
        set: certificate.origin.set.clone(),
        criterion: certificate.criterion().to_owned(),
        condition,
        model: certificate.model.name.clone(),
        reference: certificate.reference.as_ref().and_then(|of| of.origin.as_ref()).map(|origin| origin.file.clone()),
        built_in: cyrano_memory::named(&certificate.model.name).is_some(),
        monitored: matches!(property, Some(Property::Transactions(_))),
        states: certificate.states.len(),
        every_number: certificate.every_number.as_ref().map(|every| every.k),
        found: certificate.found.clone(),
        checked,
        seconds,
    }
}

/// The sources that a certificate has are those of its programs, and what is claimed about final states is claimed there.
fn own_source(certificate: &Certificate) -> Result<(), Box<Refused>> {
    let property = certificate.property().ok_or_else(|| refused("it claims nothing"))?;
    let compiled = compiled(&certificate.origin, !certificate.program.families.is_empty());
    if compiled.is_empty() {
        return Err(refused("the source in the certificate does not compile"));
    }
    let same = |case: &Case| {
        let question = case.for_question(Some(property), &certificate.model);
        bare(&question.program) == bare(&certificate.program)
    };
    let unlike = || refused("the program in the certificate is not what its source says");
    let Some(reference) = &certificate.reference else {
        let case = compiled.into_iter().find(same).ok_or_else(unlike)?;
        let declared = case.program.checks.iter().any(|check| check.property == *property);
        let of_states = matches!(property, Property::Final { .. } | Property::Invariant(_));
        return if declared || !of_states {
            Ok(())
        } else {
            Err(refused("the source does not claim what the certificate proves"))
        };
    };
    let Some(origin) = &reference.origin else {
        let blocks = compiled.iter().map(Atomicity::new).find(|blocks| same(blocks.parts().0)).ok_or_else(unlike)?;
        let (case, specification) = blocks.parts();
        return own_reference(reference, case, specification.reference.as_slice());
    };
    let case = compiled.into_iter().find(same).ok_or_else(unlike)?;
    let test = |test: &Option<TestInfo>| test.as_ref().map(|test| (test.name.clone(), test.tests.clone()));
    if test(&origin.test) != test(&case.test) || origin.set != case.set_of_reference() {
        return Err(refused("the reference in the certificate is for another test"));
    }
    own_reference(reference, &case, &self::compiled(origin, false))
}

/// What the observations of a case are compared with is one of these programs.
fn own_reference(reference: &Reference, case: &Case, compiled: &[Case]) -> Result<(), Box<Refused>> {
    match compiled.iter().find(|other| bare(&other.program) == bare(&reference.program)) {
        Some(other) if case.observes_like(other) => Ok(()),
        Some(_) => Err(refused("the reference in the certificate observes something else")),
        None => Err(refused("the reference in the certificate is not what its source says")),
    }
}

fn refused(reason: &str) -> Box<Refused> {
    Box::new(Refused { reason: reason.to_owned(), ..Refused::default() })
}

/// A program without its checks.
fn bare(program: &Program) -> String {
    text::print(&Program { checks: Vec::new(), ..program.clone().untold() })
}

/// What a source compiles to. What was wanted of families with a constant for their size is not in a certificate: one of the two it was.
fn compiled(origin: &Origin, has_families: bool) -> Vec<Case> {
    let Origin { file, source, set, test, .. } = origin;
    let source = Source { name: file.clone(), text: source.clone(), dir: None };
    let none = BTreeMap::new();
    let files = Saved(test.as_ref().map_or(&none, |test| &test.includes));
    let frontend = frontend::of(&source);
    let any = Wanted { threads: Threads::Any, ..Wanted::default() };
    let anew = has_families.then(|| frontend.cases(&source, set, &any, &files).ok().and_then(|mut cases| cases.pop()));
    [frontend.again(&source, set, test.as_ref(), &files).ok(), anew.flatten()].into_iter().flatten().collect()
}
