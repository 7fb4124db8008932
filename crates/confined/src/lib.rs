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

/// The processor time that a document may take, in seconds. It does not depend on what else a machine does.
#[cfg(target_os = "linux")]
const MAX_CPU_S: u64 = 2;
/// The longest that the answer to a document is waited for. It is several times the processor time, which decides on a busy
/// machine, too.
pub const MAX_WAIT: std::time::Duration = std::time::Duration::from_secs(10);
/// The most bytes that a process may allocate.
pub const MAX_MEMORY_BYTES: u64 = 256 << 20;
/// The most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 8 << 20;
