//! C in; diagnostics, programs and what they do out.

mod addresses;
mod cases;
mod common;
mod library;
mod notation;
mod robust;
mod ui;
