//! Changes and fetches for other programs: a source, an encoder, and a sink.
//!
//! | source | encoder | sink |
//! |---|---|---|
//! | [`source`] follows a topic from a cursor on | [`encoder`]: JSON lines, Parquet, WARC, templates, feeds | [`sink`]: stdout, numbered files in a directory or a bucket, a web server, a program |
//!
//! [`mirror`] keeps a search index equal to the current copies. [`record`] says how changes and fetches are published. [`Progress`](progress::Progress) notes how far an output came,
//! beside what it writes, so that it goes on there after any end. Flags of an output stand with the output, for every
//! command that has it.

pub mod delivery;
pub mod encoder;
pub mod mirror;
pub mod numbers;
pub mod progress;
pub mod record;
mod retry;
pub mod schema_registry;
pub mod sink;
pub mod source;
pub mod stdout;
mod web_client;
