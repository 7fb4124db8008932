//! Which pages wait for which requests?
//!
//! The frontier is every known page with its place among those waiting, its host's gate, and the budget they share. A
//! request's life is a state machine of values ([`PageRequest`]).
//!
//! This crate never reads a clock, never reads or writes a table, and never sends a request: the scheduler does, and asks
//! here what.

mod page_record;
mod request;

pub use crate::page_record::ScheduledPage;
pub use crate::request::{AnswerFate, PageRequest, RequestState, RetryTimes, Wanted};
