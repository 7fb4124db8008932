//! Records of orders: who gave them, when, what they ask for, and what came of them.

mod author;
mod list;
mod words;
mod writer;

pub use self::author::Author;
pub(crate) use self::author::user_and_machine;
pub use self::list::{AuditRow, EffectRow, list, read};
pub use self::writer::AuditWriter;
