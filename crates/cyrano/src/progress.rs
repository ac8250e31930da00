//! How a run is getting on, on standard error: a spinner on a terminal, a line a second otherwise if asked for.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cyrano_engine::{Counters, Watch};
use cyrano_session::{Failure, Runner};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

use crate::args::{OutputArgs, RunArgs};
use crate::console;

/// What moves on the terminal now.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Takes what moves off the terminal, for good.
pub fn clear() {
    // An interrupt may come while somebody holds it; then that one draws or clears it.
    if let Ok(bar) = SHOWN.try_lock()
        && let Some(bar) = &*bar
    {
        bar.finish_and_clear();
    }
}

/// Does every job and shows how that is getting on; `states` is how many a result took.
pub fn map<T: Sync, R: Send>(
    runner: &Runner,
    jobs: &[T],
    (run, output): (&RunArgs, &OutputArgs),
    states: fn(&R) -> u64,
    work: impl Fn(&T, &dyn Watch) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let meter = Meter::new(jobs.len(), run, output);
    let results = runner.map(jobs, |at, job| {
        let result = work(job, &JobWatch { meter: &meter, job: at });
        meter.done(at, result.as_ref().map_or(0, states));
        result
    });
    meter.finish();
    results
}

/// The sum over all jobs that are running.
struct Meter {
    show: Show,
    state: Mutex<MeterState>,
}

enum Show {
    Nothing,
    Lines,
    Spinner(ProgressBar),
}

struct MeterState {
    start: Instant,
    shown: Option<Instant>,
    jobs: Vec<(Counters, bool)>,
}

/// One job's view of the meter.
struct JobWatch<'a> {
    meter: &'a Meter,
    job: usize,
}

impl Meter {
    /// A meter for this many jobs.
    fn new(jobs: usize, run: &RunArgs, output: &OutputArgs) -> Self {
        let terminal = std::io::stderr().is_terminal() && !console::is_dumb();
        let show = if output.quiet || !(terminal || run.progress) {
            Show::Nothing
        } else if terminal {
            Show::Spinner(spinner())
        } else {
            Show::Lines
        };
        let state = MeterState { start: Instant::now(), shown: None, jobs: vec![(Counters::default(), false); jobs] };
        Self { show, state: Mutex::new(state) }
    }

    /// Notes that a job has ended.
    fn done(&self, job: usize, states: u64) {
        let mut state = self.state.lock().expect("nobody panics while holding the meter");
        state.jobs[job] = (Counters { states, ..Counters::default() }, true);
        self.draw(&mut state, true);
    }

    /// Removes the spinner.
    fn finish(&self) {
        if let Show::Spinner(bar) = &self.show {
            bar.finish_and_clear();
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    fn draw(&self, state: &mut MeterState, now: bool) {
        let pause = match self.show {
            Show::Nothing => return,
            Show::Lines => Duration::from_secs(1),
            Show::Spinner(_) => Duration::from_millis(100),
        };
        if !now && state.shown.is_some_and(|shown| shown.elapsed() < pause) {
            return;
        }
        state.shown = Some(Instant::now());
        let text = state.text();
        match &self.show {
            Show::Spinner(bar) => bar.set_message(text),
            _ => console::error(&text),
        }
    }
}

impl Watch for JobWatch<'_> {
    fn progress(&self, progress: Counters) {
        let mut state = self.meter.state.lock().expect("nobody panics while holding the meter");
        state.jobs[self.job].0 = progress;
        self.meter.draw(&mut state, false);
    }
}

impl MeterState {
    fn text(&self) -> String {
        let sum = |field: fn(&Counters) -> u64| self.jobs.iter().map(|(progress, _)| field(progress)).sum::<u64>();
        let done = self.jobs.iter().filter(|(_, done)| *done).count();
        let states = sum(|p| p.states);
        let rate = states as f64 / self.start.elapsed().as_secs_f64().max(0.001);
        let shares = self.jobs.iter().filter_map(|(progress, _)| progress.share);
        let share = shares.fold(None, |sum: Option<(f64, u32)>, share| {
            let (sum, count) = sum.unwrap_or_default();
            Some((sum + share, count + 1))
        });
        let share = share.map_or_else(String::new, |(sum, count)| {
            let share = sum / f64::from(count);
            let whole = whole(states, share).map_or_else(String::new, |whole| format!(" of {whole} executions"));
            format!(", about {:.0} %{whole} done", 100.0 * share)
        });
        format!(
            "{done}/{} checks, {} states, {} states/s, frontier {}, {}{share}",
            self.jobs.len(),
            HumanCount(states),
            HumanCount(rate as u64),
            HumanCount(sum(|p| p.frontier)),
            HumanBytes(sum(|p| p.bytes)),
        )
    }
}

/// How many there will be, in two digits, if so many are this part of them (Knuth: "Estimating the efficiency of backtrack programs", 1975); not if too little
/// is done to tell.
fn whole(done: u64, share: f64) -> Option<String> {
    let estimate = done as f64 / share;
    if !(estimate.is_finite() && share >= 0.001) {
        return None;
    }
    let digits = 10f64.powf((estimate.max(1.0).log10().floor() - 1.0).max(0.0));
    let (rounded, unit) = match (estimate / digits).round() * digits {
        few if few < 1e6 => return Some(format!("about {}", HumanCount(few as u64))),
        many if many < 1e9 => (many / 1e6, "million"),
        many if many < 1e12 => (many / 1e9, "billion"),
        many => (many / 1e12, "trillion"),
    };
    Some(if rounded < 10.0 { format!("about {rounded:.1} {unit}") } else { format!("about {rounded:.0} {unit}") })
}

/// A line that is cut to the width of the terminal.
fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let template = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    bar.set_style(template.expect("the template is a constant and well-formed"));
    bar.enable_steady_tick(Duration::from_millis(100));
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn what_is_to_come_is_told_in_two_digits() {
        let told = |done, share| whole(done, share).unwrap_or_default();
        assert_eq!(told(525_630, 0.438), "about 1.2 million");
        assert_eq!(told(12, 1.0), "about 12");
        assert_eq!(told(4_321, 0.1), "about 43,000");
        assert_eq!(told(999_999, 1.0), "about 1.0 million");
        assert_eq!(told(15_000_000, 0.001), "about 15 billion");
        assert_eq!(told(5, 0.0), "");
        assert_eq!(told(5, 0.000_001), "");
    }
}
