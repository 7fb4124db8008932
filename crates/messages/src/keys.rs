//! The record key of each message.

use crate::{
    Answer, ChangeEstimate, ChangeHint, Command, DeadLetter, Demand, FetchRequest, FetchResult, FocusOrder, HostStop,
    LinkCash, MirrorMessage, PageBand, PageChange, PageContent, PageLinks, PageObservation, PageOutLinks, PageRemoval,
    PagesShown, Question, RankTotals, RankedPages, SiteListing, SweepForecast, TroubleNotice, VirtualCash,
};
use page::{CanonicalUrl, Host, SiteKey};
use wire::{KeyKind, Keyed};

/// `$message` is the value of type `$type` in the expression.
macro_rules! keyed {
    ($($type:ty: $kind:ident |$message:ident| $key:expr;)+) => {$(
        impl Keyed for $type {
            const KEY: KeyKind = KeyKind::$kind;

            fn key(&self) -> Vec<u8> {
                let $message = self;
                $key
            }
        }
    )+};
}

keyed! {
    FetchRequest: Site |request| site(&request.target().site_key());
    FetchResult: Site |result| site(&result.look.site_key);
    PageObservation: Site |observation| site(&observation.look.site_key);
    ChangeEstimate: Site |estimate| site(&estimate.look.site_key);
    SweepForecast: Site |forecast| site(&forecast.site_key);
    PageLinks: Site |links| site(&links.target_site);
    SiteListing: Site |listing| site(&listing.site_key);
    ChangeHint: Site |hint| site(&hint.url.site_key());
    MirrorMessage: Site |message| site(&message.to_site);
    PageOutLinks: Site |links| site(&links.source_url.site_key());
    LinkCash: Site |cash| site(&cash.target_site);
    VirtualCash: Site |cash| cash.routing_key.as_bytes().to_vec();
    PageRemoval: Site |removal| site(&removal.url.site_key());
    RankedPages: Site |pages| site(&pages.site_key);
    PagesShown: Site |shown| site(&shown.site_key);
    RankTotals: StagePartition |totals| totals.stage_partition.to_string().into_bytes();
    TroubleNotice: Site |notice| site(&notice.url.site_key());
    Command: Site |command| command_key(command);
    Question: Site |question| question.routing_key.as_bytes().to_vec();
    Answer: Name |answer| answer.question_id.as_bytes().to_vec();
    PageBand: Band |entry| entry.band.0.to_vec();
    PageChange: Page |change| change.page_id.0.to_vec();
    PageContent: Page |content| content.url.page_id().0.to_vec();
    FocusOrder: Name |order| order.name.as_bytes().to_vec();
    Demand: StagePartition |demand| demand.stage_partition.to_string().into_bytes();
    HostStop: Host |stop| stop.host.name().as_str().as_bytes().to_vec();
    DeadLetter: Original |message| message.key.clone();
}

fn site(key: &SiteKey) -> Vec<u8> {
    key.as_str().as_bytes().to_vec()
}

/// A command without a page or host has an empty key. Every receiver rejects it.
fn command_key(command: &Command) -> Vec<u8> {
    let of_host = || command.host.as_ref().map(Host::site_key);
    let key = command.url.as_ref().map(CanonicalUrl::site_key).or_else(of_host);
    key.as_ref().map(site).unwrap_or_default()
}
