//! Converts fetch results to web archives.
//!
//! The format is WARC 1.1 ([ISO 28500:2017], cited as "WARC" with its sections). [`WarcRecord`] is one record with its
//! bytes. [`capture`] makes the records of a fetch result. [`Originals`] remembers the earlier records that revisits
//! refer to. [`CaptureIndex`] says where in a file they are, under keys of [`surt`].
//!
//! Bodies are stored as recrawl has them: unpacked and not chunked. Headers on their transfer are renamed with the
//! prefix `X-Crawler-`, as other crawlers do, and Content-Length gives the stored length ([`stored_head`]). Records and
//! their ids depend only on the results and their positions on the log: exporting a result twice gives the same bytes.
//!
//! The crate `warc` of crates.io compresses whole files, while WARC requires a gzip member per record, and it has no
//! digests. So the format is implemented here.
//!
//! This crate never opens a file, and keeps no body from one result to the next.
//!
//! [ISO 28500:2017]: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/

mod capture;
mod head;
mod index;
mod originals;
mod read;
mod record;
mod surt;

pub use crate::capture::{LogPosition, capture, metadata_record};
pub use crate::head::{header_lines, stored_head};
pub use crate::index::{CaptureIndex, RecordPlace};
pub use crate::originals::Originals;
pub use crate::read::index_of;
pub use crate::record::{RecordId, WarcRecord, WarcRecordKind};
pub use crate::surt::surt;
