//! What travels between the stages, and in which bytes?
//!
//! `schemas/*.avsc` at the top of the repository are the contract; the structs here are written by hand and held to
//! them by tests. A record value is an Avro *single object*: `C3 01`, the schema's fingerprint, the datum ([`Codec`]).
//! [`Message`] puts a struct and its schema together, also for the state records of other crates
//! ([`impl_message!`]). What other versions of the program write is resolved by the [`schemas`] they tell. [`topics`] is
//! the catalogue of topics, [`Keyed`] says under which key a message travels, [`body`] packs the bodies of pages.
//!
//! This crate never talks to a broker or a schema registry, and no bytes make it panic.

mod codec;
mod compatibility;
mod encoded;
mod error;
mod events;
mod fingerprint;
mod fixed;
mod frontier;
mod keys;
mod look;
mod operate;
mod outcome;
mod parts;
mod resolution;
mod shape;
mod union;
mod writer;

pub mod body;
pub mod schemas;
pub mod topics;

pub use crate::codec::{Codec, Message};
pub use crate::encoded::Encoded;
pub use crate::error::DecodeError;
pub use crate::events::SchedulerEvent;
pub use crate::fingerprint::Fingerprint;
pub use crate::fixed::{Band, Digest, Sha1, page_id};
pub use crate::frontier::{
    ChangeHint, Command, CommandKind, Demand, HintKind, Link, MirrorLetter, MirrorSaying, PageBand, PageLinks,
    SweepForecast,
};
pub use crate::keys::Keyed;
pub use crate::look::{
    ChangeBelief, ChangeEstimate, Exchange, FetchReason, FetchRequest, FetchResult, Hop, Look, LookJudgement,
    PageObservation, Validators, Verdict,
};
pub use crate::operate::{ContentKind, DeadLetter, PageChange, PageContent};
pub use crate::outcome::{ContentEvidence, FetchOutcome, HostTrouble, OutcomeMeaning, RetryRule};

/// The word that stands for a unit variant on the wire, such as `not_modified`; for people and for state records.
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
