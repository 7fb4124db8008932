//! Which page is fetched next, and what does an answer change?
//!
//! A partition of the scheduler holds the frontier of its sites: packed columns ([`revisit::columns::PageColumns`]) that
//! every tick scores anew, and behind them a record per page ([`ScheduledPage`]) on disk. A tick chooses the best pages:
//! above the price that all partitions share, within the budget, one host at a time no faster than it allows. Policies
//! that keep their own account of pages ([`revisit::RevisitPolicy`]) take the place of the scoring, not of the gates. A
//! small part of the budget goes to pages drawn at random, to measure what all this comes to. What is handed out is under
//! lease; the life of a request is a state machine of values ([`PageRequest`]).
//!
//! This crate never reads a clock, never reads or writes a table, and never sends a request: the scheduler does, and asks
//! [`Frontier`] what.

mod ahead;
mod audit;
mod budget;
mod demand;
pub mod explain;
mod frontier;
mod hint_record;
mod hints;
mod hosts;
mod page_index;
mod page_record;
mod planner;
mod request;
mod rules;
mod siblings;
mod ties;

pub use crate::frontier::{Choice, Frontier, HandOut, Tick};
pub use crate::hosts::HostSchedule;
pub use crate::page_record::ScheduledPage;
pub use crate::request::{AnswerFate, PageRequest, RequestState, RetryTimes, Wanted};
pub use crate::rules::Rules;
