//! bad_input.
