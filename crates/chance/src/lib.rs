//! Mixing of numbers, and random numbers from seeds. Every bit is pinned: stored hashes, simulated webs and the figures
//! of experiments follow from them. It never asks the system for chance, and no key protects what it mixes.

mod draws;
mod generators;
mod mixing;

pub use self::draws::{Draws, unit};
pub use self::generators::{Lcg, SplitMix64};
pub use self::mixing::{fnv1a, salted_hash, splitmix64, spread, spread_32, spread_128};
