//! Whatever is wrong, recrawl says what and where, does not panic, and goes on where it can.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod disk;
mod kafka;
mod operator;
mod records;

use simweb::SeededConfig;
use tests::SimulatedWeb;

fn small_web() -> SimulatedWeb {
    SimulatedWeb::start(SeededConfig { hosts: 6, pages_per_host: 5, ..SeededConfig::default() }, 1.0, |_| ())
}
