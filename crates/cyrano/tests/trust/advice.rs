//! Advice names an engine that was asked and can.
