//! What comes from outside cannot lie, crash or write to the terminal.
