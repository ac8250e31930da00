//! The machine that measures: processors, load.

use super::spin;

/// Processors of this machine.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What all tables have in common.
pub fn describe(runs: usize) -> anyhow::Result<String> {
    let processors = processors();
    Ok(format!("\nProcessors: {processors}, {}. {}. Medians of {runs} runs.\n", processor(), spin::version()?))
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or("of unknown make").trim().to_owned()
}

/// The load averages of 1, 5 and 15 minutes.
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    if words.len() == 3 { words.join(" ") } else { "unknown".to_owned() }
}
