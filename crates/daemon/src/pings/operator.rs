//! `POST /hints`: the operator's own systems, which know the token.

use super::secret::{credentials, knows};
use super::{MAX_AHEAD, MAX_PAGES, PingReply, PingRequest, Pings, RejectionCounts};
use messages::HintKind;
use page::{CanonicalUrl, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum number of refusals reported one by one.
const REASONS: usize = 20;

#[derive(Deserialize)]
struct PingItem {
    url: String,
    /// RFC 3339, or seconds since 1970.
    changed_at: Option<Value>,
}

impl Pings {
    /// The refusal of a request that does not show the token.
    pub(super) fn without_token<'a>(&self, header: &dyn Fn(&str) -> Option<&'a str>) -> Option<PingReply> {
        let shown = header("authorization").and_then(|header| credentials(header, "bearer"));
        let known = self.settings.token.as_ref().zip(shown);
        let is_known = known.is_some_and(|(token, shown)| knows(token, shown));
        let refusal = || PingReply::text(401, "unauthorized: send Authorization: Bearer TOKEN (hints.token)");
        (!is_known).then(refusal)
    }

    pub(crate) fn operator(&self, request: &PingRequest<'_>, now: Timestamp) -> PingReply {
        if let Some(refusal) = self.without_token(request.header) {
            return refusal;
        }
        let items = match read(request.body) {
            Ok(items) => items,
            Err(problem) => return PingReply::text(400, &problem),
        };
        if items.len() > MAX_PAGES {
            return PingReply::text(
                413,
                &format!("{} pages in one request; at most {MAX_PAGES} are allowed", items.len()),
            );
        }
        let (mut hints, mut reasons, mut refused) = (Vec::new(), Vec::new(), 0);
        for (number, item) in items.into_iter().enumerate() {
            match page_of(item, now) {
                Ok((url, changed_at)) => hints.push(self.hint(&url, HintKind::Ping, changed_at, "/hints", now)),
                Err(reason) => {
                    refused += 1;
                    if reasons.len() < REASONS {
                        reasons.push(format!("{}: {reason}", number + 1));
                    }
                }
            }
        }
        let body = json!({ "taken": hints.len(), "refused": refused, "reasons": reasons });
        let counts = RejectionCounts { refused, ..RejectionCounts::default() };
        self.admit("/hints", hints, PingReply { counts, ..PingReply::json(200, &body) })
    }
}

/// Accepts one object, an array of objects, or a sequence of objects.
fn read(body: &[u8]) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    for (number, value) in serde_json::Deserializer::from_slice(body).into_iter::<Value>().enumerate() {
        match value {
            Ok(Value::Array(values)) => items.extend(values),
            Ok(value) => items.push(value),
            Err(error) => return Err(format!("value {} is not JSON: {error}; no page was accepted", number + 1)),
        }
    }
    Ok(items)
}

fn page_of(item: Value, now: Timestamp) -> Result<(CanonicalUrl, Option<Timestamp>), String> {
    let item: PingItem = serde_json::from_value(item).map_err(|error| error.to_string())?;
    let url = CanonicalUrl::parse(&item.url).map_err(|error| format!("{}: {error}", item.url))?;
    let changed_at = match item.changed_at {
        None | Some(Value::Null) => return Ok((url, None)),
        Some(Value::String(text)) => text.parse::<jiff::Timestamp>().ok().map(|at| at.as_microsecond()),
        Some(Value::Number(seconds)) => seconds.as_f64().map(|seconds| (seconds * 1e6) as i64),
        Some(_) => None,
    };
    let changed_at = changed_at.map(Timestamp::from_micros).filter(|at| *at <= now + MAX_AHEAD);
    let changed_at =
        changed_at.ok_or_else(|| "changed_at is not a time in the past (RFC 3339 or Unix seconds)".to_owned())?;
    Ok((url, Some(changed_at.min(now))))
}
