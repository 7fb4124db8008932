//! Rules for pages: which parts, words and numbers an operator wants to know of. No learning can find this out.
//!
//! A [`WatchRule`] names pages, the parts of them that count or do not, and [`Trigger`]s: words and numbers whose
//! coming is the news. [`WatchRules`] finds the rule of a page. [`WatchMemory`] keeps the sights of a rule at the last
//! look, so that a trigger fires when its condition becomes true and not at every look.
//!
//! ```
//! use settings::Rule;
//! use watch::{WatchMemory, WatchRule};
//! let text = Rule {
//!     pages: vec!["shop.test/lamp".to_owned()],
//!     watch: vec![".price".to_owned()],
//!     trigger: vec!["price below 20".to_owned()],
//!     ..Rule::default()
//! };
//! let rule = WatchRule::new(text).expect("the rule is right");
//! let mut memory = WatchMemory::default();
//! let mut look = |html: &str| {
//!     let body = document::Body::new(html.as_bytes(), Some("text/html"), None);
//!     rule.look(&body.with_selection(rule.selection()).blocks(), &mut memory)
//! };
//! assert!(look("<p>Only <b class=price>24,90 €</b>").is_empty());
//! assert_eq!(look("<p>Only <b class=price>19,90 €</b>"), ["price below 20"]);
//! assert!(look("<p>Only <b class=price>18,90 €</b>").is_empty());
//! ```
//!
//! This crate never fetches, never judges whether a version differs, and keeps nothing.

mod conditions;
mod configured;
mod fold;
#[cfg(test)]
mod history_tests;
mod memory;
mod memory_codec;
mod passages;
mod phrase;
mod readings;
mod rule;
mod seen;
mod seen_blocks;
mod sight;
mod stock;
mod subjects;
mod trigger;
mod value;
mod wording;

pub use crate::configured::{check_rules, configured, saved};
pub use crate::memory::{MemoryDecodeError, WatchMemory};
pub use crate::rule::{WatchRule, WatchRules};
pub use crate::sight::Sight;
pub use crate::subjects::{RuleLook, Shown, SubjectNews};
pub use crate::trigger::Trigger;
pub use crate::value::{LastValue, Value, WatchedValue};
