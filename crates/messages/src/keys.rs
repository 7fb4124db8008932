//! Record keys.
//!
//! The key determines the partition, and thus the task that processes the record. It depends only on the message, so
//! that every sender uses the same one. [`KeyKind`] describes the kinds of keys.

use crate::{
    Answer, ChangeEstimate, ChangeHint, Command, DeadLetter, Demand, Encoded, FetchRequest, FetchResult, HostStop,
    LinkCash, MirrorLetter, PageBand, PageChange, PageContent, PageLinks, PageObservation, PageOutLinks, PageRemoval,
    PagesShown, Question, RankTotals, RankedPages, SiteListing, SweepForecast, TopicOrder, TroubleNotice, VirtualCash,
};
use page::{CanonicalUrl, Host, SiteKey};

/// Kind of record keys, with their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// The site key in UTF-8, so that all records of a site share a partition.
    Site,
    /// The 16 bytes of the page id.
    Page,
    /// A host in UTF-8: its name, or its authority where ports are told apart.
    Host,
    /// A site in UTF-8, a zero byte, and the cell of its pages.
    Group,
    /// A site in UTF-8, a zero byte, and the name of a host.
    SiteHost,
    /// A band: one byte for its number, four for its value.
    Band,
    /// One letter for the type (group, cell, site …), then 8 bytes of a hash or a number, big-endian.
    Hash,
    /// Number of the sending partition, in decimal digits.
    StagePartition,
    /// A name in UTF-8.
    Name,
    /// Key of the record that was set aside.
    Original,
    /// The 8 bytes of a schema's fingerprint, as in its records, or the 5 bytes that name it by the id of a registry. The value is the schema's text, as JSON without a
    /// header.
    Fingerprint,
}

/// A message with a record key.
pub trait Keyed: Encoded {
    /// Kind of the keys.
    const KEY: KeyKind;

    /// The record's key.
    fn key(&self) -> Vec<u8>;
}

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
    MirrorLetter: Site |letter| site(&letter.to_site);
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
    TopicOrder: Name |order| order.name.as_bytes().to_vec();
    Demand: StagePartition |demand| demand.stage_partition.to_string().into_bytes();
    HostStop: Host |stop| stop.host.name().as_str().as_bytes().to_vec();
    DeadLetter: Original |letter| letter.key.clone();
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
