//! Outputs never destroy inputs, and never change a verdict's exit code.
