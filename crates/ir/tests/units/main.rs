//! The parts of the IR, one by one.

mod automorphisms;
mod blocks;
mod blocks_serial;
mod clocks;
mod exchange;
mod guards;
mod liveness;
mod names;
mod pairs;
mod regset;
mod taint;
