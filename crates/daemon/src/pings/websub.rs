//! `/websub/NAME`: hubs that push the content of a feed as soon as it changes (W3C WebSub).

use super::secret::is_signed;
use super::{MAX_AHEAD, PingReply, PingRequest, Pings, RejectionCounts};
use messages::HintKind;
use page::{CanonicalUrl, Timestamp};
use sitemaps::{SitemapEntry, SitemapKind};
use std::collections::BTreeSet;

/// Maximum length of a challenge that is echoed, in bytes.
const MAX_CHALLENGE_BYTES: usize = 1_024;

impl Pings {
    /// Verification of intent (section 5.3): a hub asks whether we want a subscription requested in our name.
    pub(crate) fn websub_intent(&self, name: &str, request: &PingRequest<'_>) -> PingReply {
        let value = |name: &str| {
            let mut pairs = form_urlencoded::parse(request.query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let topic = value("hub.topic").and_then(|topic| CanonicalUrl::parse(&topic).ok());
        if topic.is_none() || topic.as_ref() != self.settings.websub.get(name) {
            return PingReply::text(404, "unknown topic; see hints.websub");
        }
        match (value("hub.mode").as_deref(), value("hub.challenge")) {
            (Some("subscribe"), Some(challenge)) if challenge.len() <= MAX_CHALLENGE_BYTES => {
                PingReply { body: challenge, ..PingReply::text(200, "") }
            }
            (Some("denied"), _) => PingReply::text(200, ""),
            // A subscription in the settings is still wanted.
            (Some("unsubscribe"), _) => PingReply::text(404, "still wanted"),
            _ => PingReply::text(400, "hub.mode and hub.challenge are required"),
        }
    }

    /// Content distribution (section 7). Content without a valid signature is ignored, and the answer does not say so
    /// (section 8).
    pub(crate) fn websub_content(&self, name: &str, request: &PingRequest<'_>, now: Timestamp) -> PingReply {
        let (Some(topic), Some(secret)) = (self.settings.websub.get(name), self.settings.websub_secrets.get(name))
        else {
            return PingReply::text(410, "unknown subscription; see hints.websub");
        };
        let accepted = PingReply::text(202, "");
        let signature = (request.header)("x-hub-signature").unwrap_or_default();
        if !is_signed(secret, request.body, signature) {
            return PingReply { counts: RejectionCounts { ignored: 1, ..RejectionCounts::default() }, ..accepted };
        }
        let source = format!("websub {name}");
        // The topic itself has changed, even if the hub sends nothing else.
        let mut hints = vec![self.hint(topic, HintKind::Websub, Some(now), &source, now)];
        let feed = sitemaps::read(request.body);
        let is_feed = matches!(feed.kind, Some(SitemapKind::Rss | SitemapKind::Atom | SitemapKind::JsonFeed));
        let mut seen = BTreeSet::from([hints[0].page_id]);
        for entry in feed.entries.iter().filter(|_| is_feed) {
            let Some(url) = topic.join(&entry.url).ok().filter(|url| url.site_key() == topic.site_key()) else {
                continue;
            };
            let hint = self.hint(&url, HintKind::Websub, date_of(entry, now), &source, now);
            if seen.insert(hint.page_id) {
                hints.push(hint);
            }
        }
        hints.truncate(super::MAX_PAGES);
        self.admit(&source, hints, accepted)
    }
}

fn date_of(entry: &SitemapEntry, now: Timestamp) -> Option<Timestamp> {
    let date = Timestamp::from_secs(entry.last_modified_s()?);
    (date <= now + MAX_AHEAD).then(|| date.min(now))
}
