//! Loaded data that decides nothing does not make a search bounded.
