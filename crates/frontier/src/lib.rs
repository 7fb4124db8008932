//! Which page is fetched next, and what does an answer change?
//!
//! A partition of the scheduler holds the frontier of its sites: packed columns ([`revisit::columns::PageColumns`])
//! that every tick scores, and behind them a record per page ([`ScheduledPage`]) on disk. A tick chooses the best
//! pages: above the price that all partitions share, within the budget, and no faster than each host allows. Policies
//! with their own account of pages ([`revisit::RevisitPolicy`]) replace the scoring but not the gates. A small share of
//! the budget goes to pages drawn at random, to measure freshness. Each request that is handed out has a lease; the
//! life of a request is a state machine of values ([`PageRequest`]).
//!
//! This crate never reads a clock, never reads or writes a table, and never sends a request. The scheduler does, and
//! asks [`Frontier`] for the decisions.

mod ahead;
mod audit;
mod budget;
mod configured;
mod demand;
pub mod explain;
mod fetch_cost;
mod frontier;
mod hint_kinds;
mod host_limit;
mod host_list;
mod host_numbers;
mod hosts;
mod lasting;
mod list_credit;
mod listed_seeds;
mod pace;
mod page_index;
mod page_list;
mod page_marks;
mod page_record;
mod planner;
mod request;
mod rules;
mod siblings;
mod site_room;
mod ties;
mod unseen;

pub use crate::configured::check_names;
pub use crate::frontier::{ChosenPage, Frontier, FrontierTick, HandOut, ListingEffects, SeedRefusal};
pub use crate::host_list::{HostListing, HostReport, HostTally};
pub use crate::hosts::HostSchedule;
pub use crate::listed_seeds::ListedSeeds;
pub use crate::pace::CrawlPace;
pub use crate::page_list::{ListedPage, PageListing, is_selected, may_be_selected};
pub use crate::page_record::{FoundOn, LastFailure, PageSource, ScheduledPage};
pub use crate::request::{AnswerFate, PageRequest, RequestState, WantedReason};
pub use crate::rules::FrontierRules;
pub use crate::unseen::{NextLook, RetryTimes, UnseenPage};
