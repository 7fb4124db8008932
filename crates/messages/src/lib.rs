//! What travels between the stages, and in which bytes?
//!
//! `schemas/*.avsc` at the top of the repository are the contract; the structs here are written by hand and held to
//! them by tests. A record value is an Avro *single object*: `C3 01`, the schema's fingerprint, the datum ([`Codec`]).
//! [`Message`] puts a struct and its schema together, also for the state records of other crates
//! ([`impl_message!`]). [`topics`] is the catalogue of topics, [`body`] the packing of page bodies.
//!
//! This crate never talks to a broker or a schema registry, and no bytes make it panic.

mod codec;
mod error;
mod fixed;
mod frontier;
mod look;
mod operate;
mod shape;
mod writer;

pub mod body;
pub mod topics;

pub use crate::codec::{Codec, Fingerprint, Message};
pub use crate::error::DecodeError;
pub use crate::fixed::{Digest, Sha1, page_id};
pub use crate::frontier::{
    CellForecast, ChangeHint, Command, CommandKind, Demand, GroupForecast, HintKind, Link, MirrorLetter, MirrorSaying,
    PageBand, PageLinks, SchedulerEvent, SweepForecast,
};
pub use crate::look::{
    ChangeEstimate, Exchange, FetchOutcome, FetchReason, FetchRequest, FetchResult, Hop, PageObservation, Verdict,
};
pub use crate::operate::{ContentKind, DeadLetter, PageChange, PageContent};

/// The word that stands for a unit variant on the wire, such as `not_modified`; for people and for state records.
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
