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

mod audit;
mod commands;
mod dead_letters;
mod demand;
mod estimates;
mod events;
mod fixed;
mod hints;
mod keys;
mod mirrors;
mod parts;
mod requests;
mod rule_set;
mod trouble;

pub mod schemas;
pub mod topics;

/// Fetches of pages: their facts, their meaning, and the detector's conclusions.
mod looks {
    pub mod body;
    pub(crate) mod look;
    pub(crate) mod outcome;
    pub(crate) mod report;
}

/// Changes of pages, the forms in which they are written, and the stored copies.
mod changes {
    pub(crate) mod change;
    pub(crate) mod copies;
    pub(crate) mod form;
    pub(crate) mod line;
}

/// Links, their worth, and their relevance to focuses.
mod links {
    pub(crate) mod focus;
    pub(crate) mod link;
    pub(crate) mod ranks;
}

/// Questions of operators, and the answers.
mod questions {
    pub(crate) mod desk;
    pub(crate) mod question;
}

pub use crate::audit::{AuditRecord, AuditedOrder, OrderEffect, RefusedCommands};
pub use crate::changes::change::{ChangedUnit, PageChange, WatchedValue};
pub use crate::changes::copies::{CopyKind, PageContent};
pub use crate::changes::form::ChangeForm;
pub use crate::changes::line::{ChangeLine, NumberOrText, ValueLine};
pub use crate::commands::{Command, CommandKind, CommandShare, CommandSubject, HostStop, PageRemoval, SeedFailure};
pub use crate::dead_letters::DeadLetter;
pub use crate::demand::{Demand, RateBin};
pub use crate::estimates::{ChangeBelief, ChangeEstimate, SweepForecast};
pub use crate::events::{DetectorEvent, EstimatorEvent, FetcherEvent, RankerEvent, SchedulerEvent};
pub use crate::fixed::{Band, Digest, Sha1};
pub use crate::hints::{ChangeHint, HintKind, ListedPage, SiteListing};
pub use crate::links::focus::{FocusOrder, FocusRelevance, LinkFocus, PageFocus};
pub use crate::links::link::{Link, LinkedSite, PageLinks, PageOutLinks};
pub use crate::links::ranks::{CashLink, LinkCash, PagesShown, RankTotals, RankedPage, RankedPages, VirtualCash};
pub use crate::looks::body;
pub use crate::looks::look::{
    DateSource, Exchange, FetchResult, Hop, Look, LookJudgement, PageDate, PageObservation, Validators, Verdict,
};
pub use crate::looks::outcome::{ContentEvidence, FetchOutcome, HostTrouble, OutcomeMeaning, RetryRule};
pub use crate::looks::report::{AnswerKind, AnswerReport, OutcomeClass};
pub use crate::mirrors::{MirrorMessage, MirrorSaying, PageBand};
pub use crate::questions::desk::QuestionDesk;
pub use crate::questions::question::{
    Answer, HostOrder, HostSelection, PageSelection, Question, QuestionKind, TableEntry,
};
pub use crate::requests::{FetchReason, FetchRequest, RedirectedRequest, RobotsAnswer, RobotsErrand};
pub use crate::rule_set::RuleSet;
pub use crate::trouble::TroubleNotice;
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
