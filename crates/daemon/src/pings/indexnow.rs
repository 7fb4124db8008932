//! `/indexnow`: site owners, by the protocol of indexnow.org. A public crawler fetches the key from the host; here the
//! operator configures the key of each host.

use super::secret::knows;
use super::{MAX_PAGES, PingReply, PingRequest, Pings};
use messages::HintKind;
use page::{CanonicalUrl, Timestamp};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// JSON body of a POST.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Submission {
    host: String,
    key: String,
    url_list: UrlList,
}

/// Addresses, no more than are allowed: a body of empty ones would take many times its size in memory.
struct UrlList {
    kept: Vec<String>,
    count: usize,
}

impl<'de> Deserialize<'de> for UrlList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Urls;

        impl<'de> Visitor<'de> for Urls {
            type Value = UrlList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of URLs")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut urls: A) -> Result<UrlList, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < MAX_PAGES {
                    let Some(url) = urls.next_element()? else { break };
                    kept.push(url);
                }
                let mut count = kept.len();
                while urls.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(UrlList { kept, count })
            }
        }

        deserializer.deserialize_seq(Urls)
    }
}

impl Pings {
    pub(crate) fn indexnow_one(&self, request: &PingRequest<'_>, now: Timestamp) -> PingReply {
        let value = |name: &str| {
            let mut pairs = form_urlencoded::parse(request.query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let (Some(text), Some(key)) = (value("url"), value("key")) else {
            return PingReply::text(400, "the parameters url and key are required");
        };
        let Ok(url) = CanonicalUrl::parse(&text) else {
            return PingReply::text(400, "the parameter url is not a valid URL");
        };
        self.indexnow(url.host().as_str(), &key, UrlList { kept: vec![text], count: 1 }, now)
    }

    pub(crate) fn indexnow_many(&self, request: &PingRequest<'_>, now: Timestamp) -> PingReply {
        match serde_json::from_slice::<Submission>(request.body) {
            Ok(submission) => self.indexnow(&submission.host, &submission.key, submission.url_list, now),
            Err(error) => PingReply::text(400, &format!("expected a JSON object {{host, key, urlList}}: {error}")),
        }
    }

    fn indexnow(&self, host: &str, key: &str, urls: UrlList, now: Timestamp) -> PingReply {
        let host = host.to_ascii_lowercase();
        if !self.settings.indexnow.get(&host).is_some_and(|known| knows(known, key)) {
            return PingReply::text(403, "wrong key for this host; see hints.indexnow");
        }
        if urls.count > MAX_PAGES {
            return PingReply::text(
                422,
                &format!("{} URLs in one request; at most {MAX_PAGES} are allowed", urls.count),
            );
        }
        let source = format!("indexnow {host}");
        let mut hints = Vec::with_capacity(urls.count);
        for text in &urls.kept {
            match CanonicalUrl::parse(text) {
                Ok(url) if url.host().as_str() == host => {
                    hints.push(self.hint(&url, HintKind::Ping, None, &source, now));
                }
                _ => return PingReply::text(422, &format!("{text} is not a page of {host}; no page was accepted")),
            }
        }
        self.admit(&source, hints, PingReply::text(200, ""))
    }
}
