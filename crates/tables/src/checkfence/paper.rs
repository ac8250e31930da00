//! The figures of CheckFence, Fig. 10 (a), as printed: inclusion checks under `relaxed`, zChaff 2004/11/15 on a Pentium 4 at 3 GHz.
//!
//! The time for lazy unrolling is not in them (section 4.4).
//! `Saa` is not defined in the paper; we read it as `( a | a )`.

/// A printed number, which may be an upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Printed {
    /// This number.
    Is(f64),
    /// `<` this number.
    Below(f64),
}

use Printed::{Below, Is};

/// One row of the figure.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The implementation, `library/datatypes/{implementation}.c`.
    pub implementation: &'static str,
    /// The test, by its name in Fig. 8.
    pub test: &'static str,
    /// Instructions, loads and stores of the unrolled code.
    pub unrolled: [u32; 3],
    /// Seconds to make the formula.
    pub encode_seconds: f64,
    /// Variables and clauses of the formula.
    pub cnf: [u32; 2],
    /// Megabytes of the solver.
    pub solver_megabytes: Printed,
    /// Seconds of the solver.
    pub solver_seconds: Printed,
    /// Seconds in all.
    pub total_seconds: f64,
}

/// All rows in the order of the figure.
pub const ROWS: &[Row] = &[
    row("ms2", "T0", [142, 13, 20], 0.1, [433, 5077], Below(1.0), Below(0.1), 0.1),
    row("ms2", "T1", [256, 25, 33], 0.6, [1266, 40_454], Is(4.0), Is(0.2), 0.8),
    row("ms2", "T53", [346, 33, 47], 2.0, [2445, 125_831], Is(12.0), Is(1.9), 3.9),
    row("ms2", "T54", [346, 33, 47], 1.8, [2378, 125_745], Is(12.0), Is(5.1), 6.9),
    row("ms2", "T55", [346, 33, 47], 1.6, [2331, 125_788], Is(12.0), Is(7.2), 8.7),
    row("ms2", "T56", [346, 33, 47], 1.6, [2304, 123_660], Is(12.0), Is(3.3), 4.9),
    row("ms2", "Ti2", [301, 29, 40], 0.8, [1409, 42_418], Is(4.0), Is(0.2), 1.0),
    row("ms2", "Ti3", [370, 37, 46], 1.7, [2116, 90_066], Is(12.0), Is(0.7), 2.4),
    row("ms2", "Tpc2", [256, 25, 33], 0.7, [1294, 41_553], Is(4.0), Is(0.1), 0.8),
    row("ms2", "Tpc3", [370, 37, 46], 2.4, [2591, 142_742], Is(15.0), Is(1.6), 4.0),
    row("ms2", "Tpc4", [484, 49, 59], 7.4, [4324, 342_446], Is(47.0), Is(12.0), 19.4),
    row("ms2", "Tpc5", [598, 61, 72], 16.4, [6493, 677_390], Is(94.0), Is(91.6), 108.0),
    row("ms2", "Tpc6", [712, 73, 85], 35.0, [9098, 1_178_842], Is(186.0), Is(367.0), 402.0),
    row("msn", "T0", [214, 22, 14], 0.2, [1004, 12_151], Is(1.0), Below(0.1), 0.2),
    row("msn", "T1", [1000, 115, 55], 22.0, [14_848, 1_597_115], Is(189.0), Is(314.0), 336.0),
    row("msn", "T53", [966, 107, 57], 22.0, [14_536, 1_426_104], Is(188.0), Is(105.0), 127.0),
    row("msn", "Ti2", [843, 93, 48], 8.5, [10_407, 709_416], Is(94.0), Is(7.2), 15.7),
    row("msn", "Ti3", [1086, 122, 60], 25.6, [16_344, 1_633_713], Is(190.0), Is(35.4), 61.0),
    row("msn", "Tpc2", [454, 48, 27], 1.4, [3496, 126_013], Is(12.0), Is(0.7), 2.0),
    row("msn", "Tpc3", [694, 74, 40], 5.4, [7638, 468_274], Is(48.0), Is(6.5), 11.9),
    row("msn", "Tpc4", [934, 100, 53], 16.4, [12_979, 1_165_993], Is(186.0), Is(74.0), 90.4),
    row("msn", "Tpc5", [1174, 126, 66], 42.0, [19_679, 2_347_472], Is(372.0), Is(455.0), 497.0),
    row("msn", "Tpc6", [1414, 152, 79], 130.0, [27_747, 4_133_783], Is(610.0), Is(1930.0), 2060.0),
    row("lazylist", "Sac", [254, 29, 23], 0.5, [1396, 24_658], Is(2.0), Below(0.1), 0.5),
    row("lazylist", "Sar", [435, 56, 39], 4.0, [4521, 210_799], Is(24.0), Is(0.8), 4.8),
    row("lazylist", "Sacr", [505, 65, 39], 5.2, [5435, 280_223], Is(47.0), Is(0.7), 5.9),
    row("lazylist", "Saa", [543, 69, 48], 8.7, [7120, 424_579], Is(80.0), Is(2.1), 10.8),
    row("lazylist", "Saacr", [747, 97, 58], 11.7, [9233, 504_304], Is(81.0), Is(3.5), 15.2),
    row("lazylist", "Sacr2", [1071, 141, 81], 16.3, [14_364, 555_692], Is(93.0), Is(11.6), 27.9),
    row("lazylist", "Sarr", [842, 114, 67], 103.0, [15_941, 1_731_774], Is(318.0), Is(47.3), 150.3),
    row("lazylist", "S1", [821, 107, 56], 18.2, [13_610, 1_201_727], Is(186.0), Is(66.4), 84.6),
    row("lazylist", "Saaarr", [1183, 158, 93], 93.6, [23_474, 1_945_051], Is(321.0), Is(86.4), 180.0),
    row("harris", "Sac", [406, 34, 14], 0.4, [1882, 25_456], Is(2.0), Below(0.1), 0.5),
    row("harris", "Sar", [575, 51, 18], 1.4, [3670, 85_824], Is(12.0), Is(0.1), 1.6),
    row("harris", "Saa", [896, 77, 28], 5.2, [8629, 333_128], Is(48.0), Is(1.0), 6.3),
    row("harris", "Sacr", [1349, 125, 32], 28.0, [16_411, 1_157_264], Is(187.0), Is(6.9), 34.9),
    row("snark", "Da", [760, 77, 51], 4.1, [5229, 230_292], Is(24.0), Is(0.8), 4.9),
    row("snark", "D0", [810, 89, 65], 19.9, [9254, 1_075_792], Is(121.0), Is(9.3), 29.2),
    row("snark", "Db", [980, 107, 75], 47.4, [12_278, 1_815_494], Is(191.0), Is(49.6), 97.0),
    row("snark", "Dm", [748, 77, 57], 8.1, [8086, 698_752], Is(62.0), Is(28.7), 36.8),
    row("snark", "Dq", [748, 77, 57], 7.0, [8015, 710_252], Is(62.0), Is(123.0), 130.0),
];

#[allow(clippy::too_many_arguments)] // one per column of the figure
const fn row(
    implementation: &'static str,
    test: &'static str,
    unrolled: [u32; 3],
    encode_seconds: f64,
    cnf: [u32; 2],
    solver_megabytes: Printed,
    solver_seconds: Printed,
    total_seconds: f64,
) -> Row {
    Row { implementation, test, unrolled, encode_seconds, cnf, solver_megabytes, solver_seconds, total_seconds }
}

/// What the paper prints about the fences of an implementation, and why ours differ.
pub const FENCES: &[(&str, &str, &[&str])] = &[
    ("ms2", "not printed", &[]),
    ("msn", "2 store-store, 5 load-load (Fig. 9)", &[]),
    ("lazylist", "not printed", &[]),
    (
        "harris",
        "not printed",
        &[
            "The store-store fence between the two cas of remove is not needed by the tests that the paper ran on harris; Saacr and Sacr2 need it.",
        ],
    ),
    (
        "snark",
        "not printed",
        &[
            "The correction looks at the hat again before it reports an empty deque, which needs a load-load fence on each side.",
        ],
    ),
];
