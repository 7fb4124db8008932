//! How well does a crawler do on a web whose every change is known?
//!
//! [`SimWeb`] is an HTTP/1.1 server on loopback that plays many virtual hosts. Its pages change at known moments of a
//! virtual clock that it is handed. Three sources of pages ([`Source`]):
//!
//! * [`SeededConfig`]: hosts and pages made from a seed, changing at known Poisson rates. Same seed, same web.
//! * [`ReplayConfig`]: real pages at their real change times, from a directory of the corpus format, with the real
//!   bytes where the directory has them.
//! * [`Trace`]: any change times; [`Trace::built_in`] carries a few hundred real ones. The text is generated.
//!
//! How hosts behave is dialled by [`HostDials`] (robots.txt, validators, latency) and [`FaultRule`] (errors, resets,
//! slow or endless bodies, redirect loops …).
//!
//! How a web goes wrong that means harm, or was never tested, is in [`hostile`].
//!
//! Everything served is written to the [`Ledger`]. From it, and never from the crawler's own books, follow
//! [`politeness`], [`freshness`], and, on the same change times at the same budget, the baselines [`round_robin`] and
//! [`oracle`].
//!
//! # The built-in trace
//!
//! `data/built-in.csv.zst` holds real change *times* only: no text, address or name of a page. `examples/draw_built_in.rs`
//! drew it from the corpora (`RECRAWL_CORPORA`): the last 150 days of each of 14 sources, shifted to one start; per source
//! the pages with the smallest hash of source and address among those that exist in these days, so that pages which never
//! change, appear or go are there in the proportion of their source; pages that change daily or faster only thinly, so
//! that they do not drown the rest. Hosts are renamed `site-01.test` …, paths `/page-0001` …. 805 pages on 25 hosts, of
//! which 508 never change, and 2,840 changes in all.
//!
//! This crate does not crawl, does not parse robots.txt or HTML, speaks no TLS, and does not judge whether a change
//! means anything.

mod baseline;
mod blobs;
mod chance;
mod clock;
mod corpus;
mod dials;
mod freshness;
pub mod hostile;
mod ledger;
mod politeness;
mod respond;
mod seeded;
mod server;
mod text;
mod trace;
mod web;

pub use crate::baseline::{oracle, round_robin};
pub use crate::clock::{WebClock, manual_clock, scaled_clock};
pub use crate::corpus::{CorpusError, ReplayConfig};
pub use crate::dials::{Fault, FaultRule, FaultScope, HostDials, Robots, Validators};
pub use crate::freshness::{Freshness, freshness};
pub use crate::ledger::{Ledger, LedgerEntry, RequestKind, read_ledger, write_ledger};
pub use crate::politeness::{HostPoliteness, Politeness, politeness};
pub use crate::seeded::{ChangeRates, HostNames, SeededConfig};
pub use crate::server::{SimWeb, SimWebConfig};
pub use crate::trace::{Content, PageHistory, PageState, Trace, TraceError, Window};
pub use crate::web::{Source, Web};
