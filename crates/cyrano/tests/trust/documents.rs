//! What the documentation shows is what the tool says.
