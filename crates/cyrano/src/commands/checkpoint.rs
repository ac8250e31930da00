//! `cyrano checkpoint info`.

use cyrano_disk::{Executions, Info};
use indicatif::{HumanBytes, HumanCount};

use super::cluster_checkpoint;
use crate::args::InfoArgs;
use crate::console;
use cyrano_session::Failure;

/// Options of the explorer that most users leave alone are not shown.
pub(super) const SHOWN: [&str; 5] = ["version", "program", "model", "check", "deferred"];

/// Says what is in a checkpoint, of one process or of a cluster.
pub fn info(args: &InfoArgs) -> Result<u8, Failure> {
    let parts = cyrano_cluster::info(&args.dir).map_err(Failure::input)?;
    let told = if !parts.is_empty() {
        cluster_checkpoint::text(&parts)
    } else if let Some(kept) = cyrano_disk::executions(&args.dir).map_err(Failure::input)? {
        executions_text(&kept)
    } else {
        text(&cyrano_disk::info(&args.dir).map_err(Failure::input)?)
    };
    console::print(&told)?;
    Ok(0)
}

fn text(info: &Info) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| row(&mut out, name, value);
    for (name, value) in
        info.about.iter().chain(info.identity.iter().filter(|(name, _)| SHOWN.contains(&name.as_str())))
    {
        line(name, value);
    }
    line("search", info.more.end);
    line("states", &HumanCount(info.states).to_string());
    line("transitions", &HumanCount(info.transitions).to_string());
    line("depth", &info.more.depth.to_string());
    line("frontier", &HumanCount(info.frontier).to_string());
    line("time", &format!("{:.1} s", info.seconds));
    line("written", &moment(info.time));
    line("size", &format!("{}, {} sorted runs", HumanBytes(info.bytes), info.more.runs));
    out
}

/// What is left of a search on execution graphs.
fn executions_text(kept: &Executions) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| row(&mut out, name, value);
    let shown = |name: &str| SHOWN.contains(&name) || name == "iterations";
    for (name, value) in kept.about.iter().chain(kept.identity.iter().filter(|(name, _)| shown(name))) {
        line(name, value);
    }
    let progress = &kept.progress;
    line("search", if progress.parts.is_empty() { "complete" } else { "not complete" });
    line("executions", &HumanCount(progress.counts.executions).to_string());
    line("blocked", &HumanCount(progress.counts.blocked).to_string());
    line("done", &format!("about {:.1} %", 100.0 * progress.share));
    line("parts left", &HumanCount(progress.parts.len() as u64).to_string());
    line("time", &format!("{:.1} s", kept.seconds));
    line("written", &moment(kept.time));
    out
}

/// A name and what it stands for.
pub(super) fn row(out: &mut String, name: &str, value: &str) {
    out.push_str(&format!("{name:<12} {value}\n"));
}

/// A time since 1970 as a date, in UTC.
pub(super) fn moment(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years from March on, in eras of 400 years, so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_dates() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(951_868_799), "2000-02-29 23:59:59 UTC");
        assert_eq!(moment(951_868_800), "2000-03-01 00:00:00 UTC");
        assert_eq!(moment(1_767_225_599), "2025-12-31 23:59:59 UTC");
        assert_eq!(moment(4_107_542_400), "2100-03-01 00:00:00 UTC");
    }
}
