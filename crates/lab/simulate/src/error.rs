//! What is wrong with what a simulation was given.

use thiserror::Error;

/// Why a simulation cannot run, or did not finish.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SimulationError {
    /// There is nothing to simulate.
    #[error("the population has no pages; give it at least one")]
    NoPages,
    /// A number of a page that cannot be worked with.
    #[error("page {page}: {field} is {value}; it must be {expected}")]
    Page {
        /// Position of the page, from 0.
        page: usize,
        /// Which number.
        field: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// Recorded changes of a page that are not in order.
    #[error(
        "page {page}: change {change} is at day {days}, not after the one before it (day {before_days}); sort them"
    )]
    Unsorted {
        /// Position of the page, from 0.
        page: usize,
        /// Position of the change among the page's changes, from 0.
        change: usize,
        /// When it was.
        days: f64,
        /// When the one before it was.
        before_days: f64,
    },
    /// Two things that have to have one entry for each page do not.
    #[error("{pages} pages, but {entries} entries of {what}; there must be one for each page")]
    Lengths {
        /// Of what there are too few or too many.
        what: &'static str,
        /// Pages.
        pages: usize,
        /// Entries.
        entries: usize,
    },
    /// A setting that cannot be worked with.
    #[error("{field} is {value}; it must be {expected}")]
    Setting {
        /// Which one.
        field: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A name that means nothing here.
    #[error("unknown {what} '{name}'; one of: {known}")]
    Unknown {
        /// What it should name.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A combination that has no meaning.
    #[error("{0}")]
    Combination(String),
    /// The caller asked to stop.
    #[error("stopped at day {at_days:.2}, before the end")]
    Stopped {
        /// How far the simulation had come.
        at_days: f64,
    },
}

impl SimulationError {
    /// Passes on a setting that is positive and finite.
    pub(crate) fn positive(field: &'static str, value: f64) -> Result<f64, SimulationError> {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(SimulationError::Setting { field, value, expected: "a positive, finite number" })
        }
    }

    /// Passes on a setting in 0..=1.
    pub(crate) fn share(field: &'static str, value: f64) -> Result<f64, SimulationError> {
        if (0.0..=1.0).contains(&value) {
            Ok(value)
        } else {
            Err(SimulationError::Setting { field, value, expected: "in 0..=1" })
        }
    }
}
