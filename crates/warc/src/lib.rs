//! What is a fetch result in a web archive?
//!
//! Web archives are WARC files, version 1.1 ([ISO 28500:2017], cited as "WARC" with its sections). [`Record`] is one of
//! their records with its bytes, [`capture`] makes the records of a fetch result, and [`Originals`] is what it needs to
//! know of earlier ones: which copy of a page a "not modified" speaks of.
//!
//! A body is stored as recrawl has it, unpacked and without chunks; headers that spoke of how it travelled are kept under
//! names that begin with `X-Crawler-`, as other crawlers do, and Content-Length says what is stored ([`stored_head`]).
//! Everything is a function of the results and where they lie on the log, ids included: exported twice, a result gives
//! the same bytes.
//!
//! The crate `warc` of crates.io packs whole files where every record must be a gzip member of its own, and knows no
//! digests, so the format is written here.
//!
//! It never reads an archive, never opens a file, and keeps no body from one result to the next.
//!
//! [ISO 28500:2017]: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/

mod capture;
mod head;
mod originals;
mod record;

pub use crate::capture::{Place, capture};
pub use crate::head::{header_lines, stored_head};
pub use crate::originals::Originals;
pub use crate::record::{Kind, Record, RecordId};
