//! Where is a document read whose reader cannot be bounded from inside? In a process of its own, with limits.
//!
//! [`ConfinedReader`] starts a process for each document. That gives up everything it has but its standard input and output
//! ([`run`]), reads one document, answers and ends. So a document that takes its process over can say something wrong of itself, and
//! of nothing else. What is late, dies or grows too large is compared by its digest ([`document::NotRead`]).
//!
//! This crate knows no format. Programs name the function that reads ([`run`]), and the program to start ([`ConfinedReader::new`]).

mod child;
#[cfg(target_os = "linux")]
mod confinement;
mod exchange;
mod reader;

pub use crate::child::{ReadDocument, run};
pub use crate::reader::ConfinedReader;

/// The longest that a document may take, from its start to its answer.
pub const MAX_TIME: std::time::Duration = std::time::Duration::from_secs(2);
/// The most bytes that a process may allocate.
pub const MAX_MEMORY_BYTES: u64 = 256 << 20;
/// The most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 8 << 20;
