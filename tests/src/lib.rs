//! Does the whole of recrawl do what it promises, seen from outside?
//!
//! The tests beside this crate start the real programs, kill them, feed them what is wrong, and read what they left on
//! disk and what a simulated web says they did. Here is what those tests share: [`programs`] built and found, a
//! [`Process`] that ends with its test, a [`SimulatedWeb`], a [`Crawl`] in a directory of its own with its [`books`],
//! and a [`Browser`].
//!
//! Nothing here is part of recrawl, and nothing here decides whether a test passes.

pub mod books;
mod browser;
mod crawl;
pub mod forgotten;
mod http;
mod mail_server;
pub mod mixed_web;
pub mod monitoring;
pub mod next_build;
mod object_storage;
pub mod operating;
pub mod power_cut;
mod process;
mod receiver;
pub mod recording;
mod registry;
mod search_index;
pub mod services;
pub mod topics;
pub mod traces;
mod web;

pub use crate::browser::{Browser, READABLE, Scheme, Tab};
pub use crate::crawl::Crawl;
pub use crate::http::HttpAnswer;
pub use crate::mail_server::{MailFault, MailServer, MailStep, Reached, ReceivedMail};
pub use crate::object_storage::{BUCKET, Listing, ObjectStorage};
pub use crate::process::{Output, Process, Programs, SOON, programs, wait_for};
pub use crate::receiver::{Reply, Webhook, WebhookReceiver, deserted};
pub use crate::registry::SchemaRegistry;
pub use crate::search_index::{BulkFault, Documents, SearchServer};
pub use crate::web::{SimulatedWeb, authority_files};
pub use corpora::workspace;
pub use stream_testing::KafkaCluster;
