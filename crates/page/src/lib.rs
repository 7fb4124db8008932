//! The identity of a page and of its owner: the names that every stage shares.
//!
//! * [`CanonicalUrl`]: the normalised URL.
//! * [`PageId`]: 128 bits of its hash.
//! * [`PageIdIndex`]: finds a page's row in a table of millions.
//! * [`Host`]: the authority that answers for it.
//! * [`HostName`]: the unit of politeness.
//! * [`SiteKey`]: the unit of partitioning, budgets and sweeps.
//! * [`Timestamp`].
//!
//! This crate never resolves a name, reads a clock or opens a file.

mod href;
mod id_index;
mod plain;
mod rules;
mod spelling;
mod time;
mod url;

pub use crate::href::{LinkResolver, whatwg_href};
pub use crate::id_index::PageIdIndex;
pub use crate::rules::{UrlRules, UrlTrap};
pub use crate::time::{DAY, HOUR, MINUTE, SECOND, Timestamp};
pub use crate::url::{CanonicalUrl, Host, HostName, PageId, ParsePageIdError, SiteKey, UrlProblem};
