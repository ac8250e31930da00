//! A device that fails, lies, or has too little memory gives no wrong verdict; and bugs in the kernels are noticed.

mod common;

use common::{FEW_TAGS, Instance, case, facts, host, search, tiny};
use cyrano_engine::{Cause, Stop, Verdict};
use cyrano_gpu::{Settings, cuda};
use sha2::{Digest, Sha256};

const PETERSON: Instance = ("benches/spin/peterson.rml", "sc", &[("N", 3)]);

#[test]
fn a_device_that_is_lost_gives_no_verdict() {
    let case = case(PETERSON);
    let mut failed = 0;
    for after in [0, 1, 2, 5, 10, 30, 100] {
        let Some(mut device) = host(2) else { return };
        device.fails_after = Some(after);
        let (answer, _) = search(&case, tiny(), device).expect("it is for devices");
        assert_eq!(answer.verdict, Verdict::Unknown, "after {after} launches");
        assert!(
            matches!(&answer.reason, Some(Cause::Trouble(why)) if why.contains("unplugged")),
            "{:?}",
            answer.reason
        );
        failed += 1;
    }
    assert_eq!(failed, 7);
}

#[test]
fn a_table_that_was_spoilt_gives_no_verdict() {
    let case = case(PETERSON);
    let (mut unknown, mut right) = (0, 0);
    let expected = facts(&case.expected());
    for after in 0..40 {
        let Some(mut device) = host(1) else { return };
        (device.fails_after, device.lies) = (Some(3 * after), true);
        let settings = Settings { states: 1 << 16, chunk: 200, ..Settings::default() };
        let (answer, _) = search(&case, settings, device).expect("it is for devices");
        match answer.verdict {
            Verdict::Unknown => unknown += 1,
            _ => {
                // The table was made anew after it was spoilt.
                assert_eq!(facts(&answer), expected);
                right += 1;
            }
        }
    }
    assert!(unknown > 20, "{unknown} unknown, {right} right");
}

#[test]
fn too_little_memory_is_refused_in_time() {
    let case = case(("benches/spin/philosophers.rml", "sc", &[("N", 8)]));
    for memory in [1 << 18, 5 << 19, 3 << 20] {
        let Some(device) = host(2) else { return };
        let settings = Settings { memory: Some(memory), ..tiny() };
        let (answer, _) = search(&case, settings, device).expect("it is for devices");
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert_eq!(answer.reason.as_ref().and_then(Cause::stop), Some(Stop::Memory), "{:?}", answer.reason);
    }
}

/// Deliberate bugs in the kernels: states with the same tag are taken for the same; states are not expanded again.
#[test]
fn bugs_are_noticed() {
    let case = case(PETERSON);
    let expected = facts(&case.expected());
    for fault in [256, 512, 1024] {
        let Some(device) = host(2) else { return };
        let (answer, _) =
            search(&case, Settings { faults: fault | FEW_TAGS, ..tiny() }, device).expect("it is for devices");
        assert_ne!(facts(&answer), expected, "fault {fault}");
    }
}

#[test]
fn a_machine_without_a_driver_says_so() {
    match cuda::count() {
        Ok(count) => println!("skipped: there are {count} devices"),
        Err(trouble) => {
            let text = trouble.to_string();
            assert!(text.starts_with("--gpu needs a CUDA device: "), "{text}");
            assert_eq!(cuda::Cuda::open(0).err(), Some(trouble));
        }
    }
}

/// The PTX is made from the source that is here: `kernels/ptx.sh` makes it anew.
#[test]
fn the_ptx_belongs_to_the_source() {
    let digest = Sha256::digest(cuda::SOURCE.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    for (words, text) in cuda::PTX {
        assert_eq!(text.lines().next(), Some(format!("// search.cu {digest}").as_str()), "search_{words}.ptx");
        assert!(text.contains(&format!(".entry expand_{words}(")), "search_{words}.ptx");
    }
}
