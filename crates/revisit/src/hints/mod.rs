//! Statements of others about changes: sitemaps, feeds, pings. They are evidence, not truth.
//!
//! [`HintRecord`] counts how often the hints of a host were right. A page that a hint names has probably changed
//! ([`hazard_of`]); one that a list covers and does not name has probably not ([`silence`]). [`NewsRate`] gives the
//! worth of the next look at a list. [`HintedPages`] keeps all this beside the columns, for the scheduler and the
//! simulator alike.

mod news;
mod received;
mod record;
pub mod silence;
mod value;

pub use self::news::NewsRate;
pub use self::received::{HintedPages, List, ListSubject, Received};
pub use self::record::{FEED, HintCounts, HintNumber, HintRecord, KINDS, PING, SITEMAP, WEBSUB, comes_from_lists};
pub use self::silence::{ListedDate, Statement};
pub use self::value::{CERTAIN, hazard_of, value_with_hints};
