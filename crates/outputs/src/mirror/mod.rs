//! Keeps a search index, or a directory of files, equal to the current copies.
//!
//! The id of a page is its id in the index, so whatever is sent twice replaces itself. [`IndexSender`] collects [`PageUpdate`]s
//! in a [`Batch`], sends one batch at a time until the index has it, and then notes how far it came ([`MirrorNote`]). A sender that
//! was killed sends its last batch again.
//!
//! There is one file for each engine: the bodies of its requests and the meaning of its answers, in functions without I/O, and a
//! [`SearchIndex`] that exchanges them by a [`WebServer`].

mod address;
mod batch;
mod markdown;
mod meilisearch;
mod note;
mod opensearch;
mod search_index;
mod sender;
mod set_aside;
mod solr;
mod typesense;
mod web_server;

pub use self::address::{Engine, MirrorAddress};
pub use self::batch::{Batch, PageUpdate};
pub use self::markdown::MarkdownDirectory;
pub use self::meilisearch::Meilisearch;
pub use self::note::{CopyPlace, MirrorNote};
pub use self::opensearch::OpenSearch;
pub use self::search_index::{Fate, Rebuild, SearchIndex};
pub use self::sender::{IndexSender, Manner};
pub use self::solr::Solr;
pub use self::typesense::Typesense;
pub use self::web_server::WebServer;
