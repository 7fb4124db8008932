//! The one topic that carries several types of records.

use crate::topics::Key;
use crate::{ChangeEstimate, ChangeHint, Command, Keyed, MirrorLetter, PageLinks, SweepForecast};

crate::message_union! {
    /// What the scheduler's one input topic carries, told apart by schema fingerprint.
    #[derive(Clone, Debug, PartialEq)]
    #[allow(clippy::large_enum_variant, reason = "nearly all events are estimates, the largest")]
    pub enum SchedulerEvent {
        /// A page was looked at.
        Estimate(ChangeEstimate),
        /// Links were found.
        Links(PageLinks),
        /// An operator speaks.
        Command(Command),
        /// A page is said to have changed.
        Hint(ChangeHint),
        /// Pages are believed to have changed together.
        Sweeps(SweepForecast),
        /// Pages with the same text speak to each other.
        Letter(MirrorLetter),
    }
}

impl Keyed for SchedulerEvent {
    const KEY: Key = Key::Site;

    fn key(&self) -> Vec<u8> {
        match self {
            Self::Estimate(estimate) => estimate.key(),
            Self::Links(links) => links.key(),
            Self::Command(command) => command.key(),
            Self::Hint(hint) => hint.key(),
            Self::Sweeps(forecast) => forecast.key(),
            Self::Letter(letter) => letter.key(),
        }
    }
}
