//! How well does a crawler do on a web whose every change is known?
//!
//! [`SimWeb`] is an HTTP/1.1 server on loopback that plays many virtual hosts. Its pages change at known times of an
//! injected virtual clock. There are three sources of pages ([`WebSource`]):
//!
//! * [`SeededConfig`]: hosts and pages made from a seed, changing at known Poisson rates. Same seed, same web.
//! * [`ReplayConfig`]: real pages at their real change times, from a directory of the corpus format, with the real
//!   bytes if the directory has them.
//! * [`ChangeTrace`]: any change times; [`ChangeTrace::built_in`] has a few hundred real ones. The text is generated.
//!
//! Generated text is plain English of our own making (`src/text/phrases`). Its changes are of the kinds that real pages have: a
//! price, an opening hour, a clause of terms, a release.
//!
//! [`HostDials`] set the behaviour of hosts (robots.txt, sitemap, validators, latency), and [`FaultRule`] their faults
//! (errors, resets, slow or endless bodies, redirect loops …). Sitemaps and dates may mislead ([`HostSitemap`],
//! [`PageDates`]). [`Web::get`] answers without a server.
//!
//! Malicious and untested servers are in [`hostile`].
//!
//! Everything served is written to the [`Ledger`]. [`politeness`] and [`freshness`] are computed from it, and never
//! from the crawler's own records. [`Looks`] are what the ledger shows of each page. On the same change times and at
//! the same budget, others are computed: [`round_robin`], [`oracle`], [`clairvoyant`], and a [`trial()`] of any revisit
//! policy that needs no estimator.
//!
//! # The built-in trace
//!
//! `data/built-in.csv.zst` holds real change *times* only: no text, address or name of a page.
//! `examples/draw_built_in.rs` drew it from the corpora (`RECRAWL_CORPORA`): the last 150 days of each of 14 sources,
//! shifted to one start. Per source it takes the pages with the smallest hash of source and address among those that
//! exist in these days, so pages that never change, appear or vanish are there in the proportion of their source. Pages
//! that change daily or faster are thinned out, so that they do not dominate. Hosts are renamed `site-01.test` …, paths
//! `/page-0001` …. It has 805 pages on 25 hosts, 508 of them without changes, and 2,840 changes in all.
//!
//! This crate does not crawl, does not parse robots.txt or HTML, makes no certificates, and does not judge whether a
//! change is meaningful.

mod baseline;
mod blobs;
mod clock;
mod config;
mod connections;
mod corpus;
mod dials;
mod direct;
mod freshness;
mod gate;
pub mod hostile;
mod ledger;
mod looks;
mod politeness;
mod respond;
mod seeded;
mod seeds;
mod server;
mod sitemap;
mod text;
mod trace;
mod trial;
mod web;

pub use crate::baseline::{oracle, round_robin};
pub use crate::clock::{SimwebClock, manual_clock, scaled_clock};
pub use crate::config::SimWebConfig;
pub use crate::corpus::{CorpusError, ReplayConfig};
pub use crate::dials::{
    FaultRule, FaultScope, HostDials, HostRobots, HostSitemap, PageDates, ValidatorSupport, WebFault,
};
pub use crate::direct::{Answer, DirectRequest};
pub use crate::freshness::{Freshness, freshness};
pub use crate::gate::PageGate;
pub use crate::ledger::{Ledger, LedgerEntry, RequestKind, read_ledger, write_ledger};
pub use crate::looks::{LedgerLook, Looks};
pub use crate::politeness::{HostLoad, HostPoliteness, politeness};
pub use crate::seeded::{ChangeRates, HostNames, SeededConfig};
pub use crate::server::SimWeb;
pub use crate::trace::{ChangeTrace, HistoryState, PageHistory, StateContent, TimeWindow, TraceError};
pub use crate::trial::{TrialStart, clairvoyant, trial};
pub use crate::web::{Web, WebSource};
