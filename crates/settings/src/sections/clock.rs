//! The section `[clock]`.

use crate::form::{Number, Optional};

section! {
    /// Virtual time, for replays: virtual time = origin + speed × (real time − anchor).
    clock: Clock {
        /// Virtual seconds per real second.
        speed: f64 = Number(0.001, 1_000_000_000.0),
        /// Virtual time at the anchor, in Unix seconds.
        origin: Option<f64> = Optional(UNIX_SECONDS),
        /// Real time at which virtual time equals the origin, in Unix seconds. The same for all processes.
        anchor: Option<f64> = Optional(UNIX_SECONDS),
    }
}

/// Up to the end of the year 9999.
const UNIX_SECONDS: Number = Number(0.0, 253_402_300_799.0);
