//! The topics with several record types.

use crate::{
    ChangeEstimate, ChangeHint, Command, FetchRequest, FetchResult, LinkCash, MirrorMessage, PageLinks,
    PageObservation, PageOutLinks, PageRemoval, PagesShown, Question, RankedPages, SeedFailure, SiteListing,
    SweepForecast, TroubleNotice, VirtualCash,
};
use wire::{KeyKind, Keyed};

/// A union of messages whose keys are all sites.
macro_rules! events_of_sites {
    ($(#[$about:meta])* pub enum $Name:ident { $($(#[$about_member:meta])* $Member:ident($Record:ty),)+ }) => {
        crate::message_union! {
            $(#[$about])*
            pub enum $Name { $($(#[$about_member])* $Member($Record),)+ }
        }

        impl Keyed for $Name {
            const KEY: KeyKind = KeyKind::Site;

            fn key(&self) -> Vec<u8> {
                match self {
                    $(Self::$Member(record) => record.key(),)+
                }
            }
        }
    };
}

events_of_sites! {
    /// A record of the scheduler's single input topic. Types are distinguished by schema fingerprint.
    #[derive(Clone, Debug, PartialEq)]
    #[allow(clippy::large_enum_variant, reason = "nearly all events are estimates, the largest")]
    pub enum SchedulerEvent {
        /// A fetch of a page has been evaluated.
        Estimate(ChangeEstimate),
        Links(PageLinks),
        Command(Command),
        Hint(ChangeHint),
        /// Statements of a sitemap or feed about known pages of its site.
        Listing(SiteListing),
        /// Times at which pages of a site are believed to have changed together.
        Sweeps(SweepForecast),
        /// A message between pages with the same text.
        Message(MirrorMessage),
        /// Pages that links lead to, and their worth.
        Ranked(RankedPages),
        /// A page has shown links to new pages.
        Shown(PagesShown),
        /// A host was in trouble when a redirect from another site led to it.
        Trouble(TroubleNotice),
        /// Detector and estimator have deleted a page.
        Removed(PageRemoval),
        Question(Question),
    }
}

events_of_sites! {
    /// A record of the detector's input topic.
    #[derive(Clone, Debug, PartialEq)]
    #[allow(clippy::large_enum_variant, reason = "nearly all events are results, the largest")]
    pub enum DetectorEvent {
        Result(FetchResult),
        Removal(PageRemoval),
        /// The first request for a seed brought no page.
        SeedFailure(SeedFailure),
        Question(Question),
    }
}

events_of_sites! {
    /// A record of the fetcher's input topic.
    #[derive(Clone, Debug, PartialEq)]
    #[allow(clippy::large_enum_variant, reason = "nearly all events are requests, the largest")]
    pub enum FetcherEvent {
        Request(FetchRequest),
        Question(Question),
    }
}

events_of_sites! {
    /// A record of the estimator's input topic.
    #[derive(Clone, Debug, PartialEq)]
    #[allow(clippy::large_enum_variant, reason = "nearly all events are observations, the largest")]
    pub enum EstimatorEvent {
        Observation(PageObservation),
        Removal(PageRemoval),
        Question(Question),
    }
}

events_of_sites! {
    /// A record of the ranker's single input topic.
    #[derive(Clone, Debug, PartialEq)]
    pub enum RankerEvent {
        Links(PageOutLinks),
        /// Cash that the links of a page of another site give to pages of this one.
        Cash(LinkCash),
        /// The virtual page's cash for the pages of the partition.
        Virtual(VirtualCash),
        Removal(PageRemoval),
        Question(Question),
    }
}
