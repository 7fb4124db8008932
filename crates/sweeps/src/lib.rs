//! When do pages change together?

mod place;

pub use crate::place::Place;
