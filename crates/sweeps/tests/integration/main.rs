//! The model of sweeps and their places.

mod model;
mod places;
mod removal;
