//! Questions about a crawl and orders to it, wherever it is: in a data directory, over Kafka, or behind a port.
//!
//! [`state::open`] finds the component that answers questions, and [`Crawl::find`] the destination of orders. An
//! [`Order`] has one form, whether it comes from the command line or over HTTP.

mod access;
pub mod audit;
mod client;
mod crawl;
pub mod dead_letters;
pub mod http;
mod listed_seeds;
mod noted_preset;
mod order;
mod page_report;
mod rule_sets;
mod sender;
pub mod state;

pub use self::access::{
    ADDRESS_FILE, Access, AccessFiles, TOKEN_FILE, configured_forms_key, configured_token, new_token, token_in,
};
pub use self::audit::{AuditWriter, Author};
pub use self::crawl::{Crawl, back_up_at, check_health, status_at};
pub use self::listed_seeds::{LIST_FILE, note_list};
pub use self::noted_preset::{note_preset, noted_preset};
pub use self::order::{NamedSource, Order};
pub use self::page_report::{
    ExplanationParts, FocusReport, PageParts, PageReport, SpamReport, not_known, places_passed_over,
};
pub use self::rule_sets::{NewRules, RuleSets};
pub use self::sender::OrderSender;
pub use self::state::{CrawlState, Inspection, has_crawl};
