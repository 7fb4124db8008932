//! The messages between the stages, and their encoding.
//!
//! The contract is `schemas/*.avsc` at the top of the repository. The structs here are written by hand, and tests
//! compare them with the schemas.
//!
//! * [`impl_message!`] connects a struct with its schema, also for the state records of other crates. The encoding is that
//!   of the crate [`wire`], whose types are found here, too.
//! * [`topics`] lists the topics, and [`Keyed`] gives the record key of a message.
//! * [`body`] packs the bodies of pages.
//!
//! This crate never talks to a broker or a schema registry, and no input makes it panic.

mod change_form;
mod change_line;
mod events;
mod fixed;
mod focus;
mod frontier;
mod keys;
mod look;
mod operate;
mod outcome;
mod parts;
mod question;
mod question_desk;
mod rank;
mod removal;
mod report;
mod request;

pub mod body;
pub mod schemas;
pub mod topics;

pub use crate::change_form::ChangeForm;
pub use crate::change_line::ChangeLine;
pub use crate::events::{DetectorEvent, EstimatorEvent, RankerEvent, SchedulerEvent};
pub use crate::fixed::{Band, Digest, Sha1};
pub use crate::focus::{LinkFocus, PageFocus, TopicOrder, TopicRelevance};
pub use crate::frontier::{
    ChangeHint, Command, CommandKind, Demand, HintKind, HostStop, Link, ListedPage, MirrorLetter, MirrorSaying,
    PageBand, PageLinks, SiteListing, SweepForecast, TroubleNotice,
};
pub use crate::look::{
    ChangeBelief, ChangeEstimate, DateSource, Exchange, FetchResult, Hop, Look, LookJudgement, PageDate,
    PageObservation, Validators, Verdict,
};
pub use crate::operate::{ChangedUnit, CopyKind, DeadLetter, PageChange, PageContent};
pub use crate::outcome::{ContentEvidence, FetchOutcome, HostTrouble, OutcomeMeaning, RetryRule};
pub use crate::question::{Answer, HostOrder, HostSelection, Question, QuestionKind, TableEntry};
pub use crate::question_desk::QuestionDesk;
pub use crate::rank::{CashLink, LinkCash, PageOutLinks, PagesShown, RankTotals, RankedPage, RankedPages, VirtualCash};
pub use crate::removal::PageRemoval;
pub use crate::report::{AnswerKind, AnswerReport, OutcomeClass};
pub use crate::request::{FetchReason, FetchRequest, RedirectedRequest, RobotsAnswer, RobotsErrand};
#[doc(hidden)]
pub use wire;
pub use wire::{Codec, DecodeError, Encoded, Fingerprint, Keyed, Message, message_union};

/// Implements [`Message`] for a struct and its schema, which is usually `include_str!("…/Visit.avsc")`.
#[macro_export]
macro_rules! impl_message {
    ($type:ty, $name:literal, $schema:expr $(,)?) => {
        $crate::wire::impl_message!($type, $name, $crate::schemas::codec($name, $schema));
    };
}

/// The wire name of a unit variant, such as `not_modified`. Used for display and in state records.
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
