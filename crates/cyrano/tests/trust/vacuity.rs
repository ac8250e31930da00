//! Nothing exercised is vacuous, and something exercised is not.
