//! The messages between the stages, and their encoding.
//!
//! The contract is `schemas/*.avsc` at the top of the repository. The structs here are written by hand, and tests
//! compare them with the schemas.
//!
//! * A record value is an Avro *single object*: `C3 01`, the schema's fingerprint, the datum ([`Codec`]).
//! * [`Message`] connects a struct with its schema. [`impl_message!`] implements it, also for the state records of
//!   other crates.
//! * [`schemas`] is the registry of schemas that other versions of the program publish.
//! * [`topics`] lists the topics, and [`Keyed`] gives the record key of a message.
//! * [`body`] packs the bodies of pages.
//!
//! This crate never talks to a broker or a schema registry, and no input makes it panic.

mod change_form;
mod change_line;
mod codec;
mod compatibility;
mod confluent;
mod encoded;
mod error;
mod events;
mod fingerprint;
mod fixed;
mod focus;
mod frontier;
mod keys;
mod look;
mod operate;
mod outcome;
mod parts;
mod question;
mod rank;
mod removal;
mod report;
mod request;
mod resolution;
mod schema_record;
mod shape;
mod union;
mod writer;

pub mod body;
pub mod schemas;
pub mod topics;

pub use crate::change_form::ChangeForm;
pub use crate::change_line::ChangeLine;
pub use crate::codec::{Codec, Message};
pub use crate::encoded::Encoded;
pub use crate::error::DecodeError;
pub use crate::events::{DetectorEvent, EstimatorEvent, RankerEvent, SchedulerEvent};
pub use crate::fingerprint::Fingerprint;
pub use crate::fixed::{Band, Digest, Sha1};
pub use crate::focus::{LinkFocus, PageFocus, TopicOrder, TopicRelevance};
pub use crate::frontier::{
    ChangeHint, Command, CommandKind, Demand, HintKind, HostStop, Link, ListedPage, MirrorLetter, MirrorSaying,
    PageBand, PageLinks, SiteListing, SweepForecast, TroubleNotice,
};
pub use crate::keys::Keyed;
pub use crate::look::{
    ChangeBelief, ChangeEstimate, DateSource, Exchange, FetchResult, Hop, Look, LookJudgement, PageDate,
    PageObservation, Validators, Verdict,
};
pub use crate::operate::{ChangedUnit, CopyKind, DeadLetter, PageChange, PageContent};
pub use crate::outcome::{ContentEvidence, FetchOutcome, HostTrouble, OutcomeMeaning, RetryRule};
pub use crate::question::{Answer, HostOrder, HostSelection, Question, QuestionKind, TableEntry};
pub use crate::rank::{CashLink, LinkCash, PageOutLinks, PagesShown, RankTotals, RankedPage, RankedPages, VirtualCash};
pub use crate::removal::PageRemoval;
pub use crate::report::{AnswerKind, AnswerReport, OutcomeClass};
pub use crate::request::{FetchReason, FetchRequest, RedirectedRequest, RobotsAnswer, RobotsErrand};

/// The wire name of a unit variant, such as `not_modified`. Used for display and in state records.
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
