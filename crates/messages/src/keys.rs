//! Every message with its record key: the table of messages.

use crate::Command;
use page::{CanonicalUrl, Host, SiteKey};
use wire::schemas::SchemaRecord;
use wire::{KeyKind, Keyed, Message};

/// Calls a macro with all messages, in rows `TYPE: KIND |MESSAGE| KEY;`. KIND and KEY give the kind and the bytes of the
/// record key of MESSAGE, a value of TYPE.
#[doc(hidden)]
#[macro_export]
macro_rules! every_message {
    ($then:ident) => {
        $then! {
            $crate::FetchRequest: Site |request| site(&request.target().site_key());
            $crate::FetchResult: Site |result| site(&result.look.site_key);
            $crate::PageObservation: Site |observation| site(&observation.look.site_key);
            $crate::ChangeEstimate: Site |estimate| site(&estimate.look.site_key);
            $crate::SweepForecast: Site |forecast| site(&forecast.site_key);
            $crate::PageLinks: Site |links| site(&links.target_site);
            $crate::SiteListing: Site |listing| site(&listing.site_key);
            $crate::ChangeHint: Site |hint| site(&hint.url.site_key());
            $crate::MirrorMessage: Site |message| site(&message.to_site);
            $crate::PageOutLinks: Site |links| site(&links.source_url.site_key());
            $crate::LinkCash: Site |cash| site(&cash.target_site);
            $crate::VirtualCash: Site |cash| cash.routing_key.as_bytes().to_vec();
            $crate::PageRemoval: Site |removal| site(&removal.url.site_key());
            $crate::SeedFailure: Site |failure| site(&failure.url.site_key());
            $crate::RankedPages: Site |pages| site(&pages.site_key);
            $crate::PagesShown: Site |shown| site(&shown.site_key);
            $crate::RankTotals: StagePartition |totals| totals.stage_partition.to_string().into_bytes();
            $crate::TroubleNotice: Site |notice| site(&notice.url.site_key());
            $crate::Command: Site |command| command_key(command);
            $crate::Question: Site |question| question.routing_key.as_bytes().to_vec();
            $crate::Answer: Name |answer| answer.question_id.as_bytes().to_vec();
            $crate::AuditedOrder: Name |order| order.order_id.as_bytes().to_vec();
            $crate::OrderEffect: Name |effect| effect.order_id.as_bytes().to_vec();
            $crate::PageBand: Band |entry| entry.band.0.to_vec();
            $crate::PageChange: Page |change| change.page_id.0.to_vec();
            $crate::PageContent: Page |content| content.url.page_id().0.to_vec();
            $crate::FocusOrder: Name |order| order.name.as_bytes().to_vec();
            $crate::RuleSet: Slot |set| set.slot().into_bytes();
            $crate::Demand: StagePartition |demand| demand.stage_partition.to_string().into_bytes();
            $crate::HostStop: Host |stop| stop.host.name().as_str().as_bytes().to_vec();
            $crate::DeadLetter: Original |message| message.key.clone();
        }
    };
}

macro_rules! keyed {
    ($($type:ty: $kind:ident |$message:ident| $key:expr;)+) => {
        $(
            impl Keyed for $type {
                const KEY: KeyKind = KeyKind::$kind;

                fn key(&self) -> Vec<u8> {
                    let $message = self;
                    $key
                }
            }
        )+

        /// The schemas of all messages. Those of state records come from their services ([`wire::Encoded::schemas`]).
        pub fn schemas_of_messages() -> Vec<SchemaRecord> {
            vec![$(<$type>::schema_record()),+]
        }
    };
}

every_message!(keyed);

fn site(key: &SiteKey) -> Vec<u8> {
    key.as_str().as_bytes().to_vec()
}

/// The key of a partition's share leads to the partition. A command without a page or host has an empty key. Every receiver rejects it.
fn command_key(command: &Command) -> Vec<u8> {
    if let Some(share) = &command.share {
        return share.routing_key.as_bytes().to_vec();
    }
    let of_host = || command.host.as_ref().map(Host::site_key);
    let key = command.url.as_ref().map(CanonicalUrl::site_key).or_else(of_host);
    key.as_ref().map(site).unwrap_or_default()
}
