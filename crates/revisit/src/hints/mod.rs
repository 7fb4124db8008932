//! Statements of others about changes: sitemaps, feeds, pings. They are evidence, not truth.
//!
//! [`HintRecord`] is how often the hints of a host were right. A page that a hint names has probably changed
//! ([`hazard_of`]); one that a list covers and does not name has probably not ([`silence`]). [`NewsRate`] says what the
//! next look at a list is worth. [`HintedPages`] keeps all this beside the columns, for the scheduler and the simulator
//! alike.

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
