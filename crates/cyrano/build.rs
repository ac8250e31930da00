//! Rebuilds the binary when the embedded library changes, which the compiler alone would not notice.

fn main() {
    println!("cargo:rerun-if-changed=../../library");
    println!("cargo:rerun-if-changed=build.rs");
}
