//! Errors of simulations.

use thiserror::Error;

/// Why a simulation cannot run, or did not finish.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SimulationError {
    /// The population is empty.
    #[error("the population has no pages; give it at least one")]
    NoPages,
    /// An invalid number of a page.
    #[error("page {page}: {field} is {value}; it must be {expected}")]
    Page {
        /// Position of the page, from 0.
        page: usize,
        field: &'static str,
        value: f64,
        /// The valid values.
        expected: &'static str,
    },
    /// Recorded changes of a page that are out of order.
    #[error(
        "page {page}: change {change} is at day {days}, not after the one before it (day {before_days}); sort them"
    )]
    Unsorted {
        page: usize,
        /// Position of the change among the page's changes, from 0.
        change: usize,
        /// Time of the change.
        days: f64,
        /// Time of the previous change.
        before_days: f64,
    },
    /// A list does not have one entry per page.
    #[error("{pages} pages, but {entries} entries of {what}; give one for each page")]
    Lengths { what: &'static str, pages: usize, entries: usize },
    /// An invalid setting.
    #[error("{field} is {value}; it must be {expected}")]
    Setting {
        field: &'static str,
        value: f64,
        /// The valid values.
        expected: &'static str,
    },
    /// An unknown name.
    #[error("unknown {what} '{name}'; one of: {known}")]
    Unknown {
        /// The kind of thing that it should name.
        what: &'static str,
        name: String,
        known: String,
    },
    /// Settings that do not go together.
    #[error("{0}")]
    Combination(String),
    /// The stages of a simulated crawl failed.
    #[error("the stages of the crawl failed: {0}")]
    Stages(String),
    /// The caller asked to stop.
    #[error("stopped at day {at_days:.2}, before the end")]
    Stopped {
        /// Simulated time reached.
        at_days: f64,
    },
}

impl SimulationError {
    /// Returns a setting that is positive and finite; fails otherwise.
    pub(crate) fn positive(field: &'static str, value: f64) -> Result<f64, SimulationError> {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(SimulationError::Setting { field, value, expected: "a positive, finite number" })
        }
    }

    /// Returns a setting in 0..=1; fails otherwise.
    pub(crate) fn share(field: &'static str, value: f64) -> Result<f64, SimulationError> {
        if (0.0..=1.0).contains(&value) {
            Ok(value)
        } else {
            Err(SimulationError::Setting { field, value, expected: "in 0..=1" })
        }
    }
}
