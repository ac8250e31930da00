//! `cyrano certify`: a certificate is checked, from nothing but itself.

use cyrano_engine::Limits;
use cyrano_report::{certify_json, certify_text};
use cyrano_session::{Failure, VERSION, certify};

use crate::args::CertifyArgs;
use crate::outputs::Outputs;
use crate::{interrupt, source};

/// Runs the command.
pub fn run(args: &CertifyArgs) -> Result<u8, Failure> {
    let file = source::certificate(&args.certificate)?;
    let limits = Limits { cancel: interrupt::install()?, ..Limits::default() }.with_timeout(args.timeout);
    let report = certify(&file.name, &file.text, &limits)?;
    let outputs = Outputs::new(&args.output);
    outputs.plain(
        &args.output,
        || certify_json(&report, VERSION),
        |details, style| certify_text(&report, details, style),
    );
    Ok(outputs.exit(report.exit_code()))
}
