//! Which key does a message travel under?
//!
//! The key decides the partition, and with it which task works on the record. It follows from the message alone, so that
//! nobody can send it elsewhere. What the keys are, in words, is [`topics::Key`](crate::topics::Key).

use crate::{
    ChangeEstimate, ChangeHint, Command, DeadLetter, Demand, Encoded, FetchRequest, FetchResult, MirrorLetter,
    PageBand, PageChange, PageContent, PageLinks, PageObservation, SweepForecast,
};
use page::{CanonicalUrl, Host, SiteKey};

/// A message that travels on a topic.
pub trait Keyed: Encoded {
    /// The record's key.
    fn key(&self) -> Vec<u8>;
}

/// `$message` is a value of the type in the expression.
macro_rules! keyed {
    ($($type:ty: |$message:ident| $key:expr;)+) => {$(
        impl Keyed for $type {
            fn key(&self) -> Vec<u8> {
                let $message = self;
                $key
            }
        }
    )+};
}

keyed! {
    FetchRequest: |request| site(&request.site_key);
    FetchResult: |result| site(&result.site_key);
    PageObservation: |observation| site(&observation.site_key);
    ChangeEstimate: |estimate| site(&estimate.site_key);
    SweepForecast: |forecast| site(&forecast.site_key);
    PageLinks: |links| site(&links.target_site);
    ChangeHint: |hint| site(&hint.url.site_key());
    MirrorLetter: |letter| site(&letter.to_site);
    Command: |command| command_key(command);
    PageBand: |entry| entry.band.0.to_vec();
    PageChange: |change| change.page_id.0.to_vec();
    PageContent: |content| content.url.page_id().0.to_vec();
    Demand: |demand| demand.stage_partition.to_string().into_bytes();
    DeadLetter: |letter| letter.key.clone();
}

fn site(key: &SiteKey) -> Vec<u8> {
    key.as_str().as_bytes().to_vec()
}

/// A command that names neither a page nor a host is refused wherever it arrives.
fn command_key(command: &Command) -> Vec<u8> {
    let of_host = || command.host.as_ref().map(Host::site_key);
    let key = command.url.as_ref().map(CanonicalUrl::site_key).or_else(of_host);
    key.as_ref().map(site).unwrap_or_default()
}
