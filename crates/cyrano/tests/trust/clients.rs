//! Sweeps over clients blame exactly the clients that are wrong.
