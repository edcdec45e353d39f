//! The `stampede` binary.
fn main() {}
