//! Judges versions as the detector does, and holds what one reading of a page gives to all that use it.

mod data;
mod edits;
mod hostile;
mod office;
mod version_and_text;
