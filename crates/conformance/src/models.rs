//! Random memory models: every combination of parameters that a model file may have.

use cyrano_memory::Model;
use proptest::prelude::*;

/// The kinds of pairs of accesses.
pub const KINDS: [&str; 4] = ["load-load", "load-store", "store-load", "store-store"];
const CAS: [&str; 5] = ["load-cas", "store-cas", "cas-load", "cas-store", "cas-cas"];
const DEPENDENCIES: [&str; 4] = ["data", "address", "control", "control-stores"];

/// A model that a user may write down. Half of them are serial.
pub fn model() -> impl Strategy<Value = Model> {
    let parameters = (0..16u8, 0..16u8, any::<bool>(), 0..16u8, any::<bool>(), prop::option::of(0..32u8));
    parameters.prop_filter_map("it makes sense", |(different, same, forward, dependencies, serial, cas)| {
        let cas = cas.map(|pairs| format!("keep cas: {}\n", or_none(&CAS, pairs))).unwrap_or_default();
        let text = text(different, same, forward, dependencies, serial) + &cas;
        cyrano_memory::file::parse(&text, "random").ok()
    })
}

/// The model file. Load-store and store-store to one address are always kept.
pub fn text(different: u8, same: u8, forward: bool, dependencies: u8, serial: bool) -> String {
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let [different, same] = [different, same | 0b1010].map(|kinds| or_none(&KINDS, kinds));
    let (dependencies, forward, serial) = (or_none(&DEPENDENCIES, dependencies), yes(forward), yes(serial));
    format!(
        "keep different: {different}\nkeep same: {same}\nforward: {forward}\ndependencies: {dependencies}\nserial: {serial}\n"
    )
}

fn or_none(words: &[&str], bits: u8) -> String {
    if bits == 0 { "none".to_owned() } else { chosen(words, bits, ", ") }
}

/// The words whose bits are set.
pub fn chosen(words: &[&str], bits: u8, between: &str) -> String {
    let chosen = words.iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0);
    chosen.map(|(_, word)| *word).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_that_forwards_is_a_model() {
        for different in 0..16 {
            for same in 0..16 {
                for (kept, serial) in (0..16).flat_map(|kept| [(kept, false), (kept, true)]) {
                    let text = text(different, same, true, kept, serial);
                    assert!(cyrano_memory::file::parse(&text, "m").is_ok(), "{text}");
                }
            }
        }
    }
}
