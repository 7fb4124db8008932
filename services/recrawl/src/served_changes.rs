//! The changes of a running loop, as its port shows them: page by page behind a cursor, and the newest as a feed.

use crate::CommandFailure;
use daemon::TopicReader;
use daemon::http::{Call, Caller, TextResponse};
use messages::{PageChange, topics};
use outputs::encoder::feed::{self, FeedAbout, FeedForm};
use outputs::record::{CHANGES, PublishedChange};
use outputs::source::{Cursor, Start, TopicFollower, newest};
use serde::Serialize;
use settings::Settings;
use std::sync::Arc;
use stream_rocksdb::EmbeddedBackend;
use topology::LogNames;

/// Changes in an answer, if the request names no number.
const USUAL_LIMIT: usize = 100;
/// Most changes in an answer.
const MAX_LIMIT: usize = 1_000;
/// Most changes read for an answer. A key for few hosts gets shorter answers, and no request takes long.
const MAX_READ: usize = 10_000;

pub(crate) struct ServedChanges {
    names: LogNames,
    about: FeedAbout,
    log: Arc<EmbeddedBackend>,
}

/// An answer of the list.
#[derive(Serialize)]
struct ChangesPage {
    items: Vec<PublishedChange>,
    next_cursor: String,
}

/// The part of the list that is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    cursor: Option<Cursor>,
    limit: usize,
}

impl Wanted {
    /// Reads the query of a request. A misspelt parameter must not be taken for one left out.
    fn read(query: &str) -> Result<Self, String> {
        let (mut cursor, mut limit) = (None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "cursor" if cursor.is_none() => {
                    cursor = Some(value.parse().map_err(|why| format!("cursor: {why}"))?);
                }
                "limit" if limit.is_none() => {
                    let number = value.parse().ok().filter(|number| (1..=MAX_LIMIT).contains(number));
                    limit = Some(number.ok_or_else(|| format!("limit: write a number from 1 to {MAX_LIMIT}"))?);
                }
                "cursor" | "limit" => return Err(format!("{name} is there twice")),
                _ => return Err(format!("unknown parameter {name}; there are cursor and limit")),
            }
        }
        Ok(Self { cursor, limit: limit.unwrap_or(USUAL_LIMIT) })
    }
}

impl ServedChanges {
    pub(crate) fn new(settings: &Settings, names: &LogNames, log: Arc<EmbeddedBackend>) -> Self {
        Self { names: names.clone(), about: FeedAbout::new(settings, None, None), log }
    }

    /// Changes behind a cursor, in order, of the hosts within the caller's reach.
    pub(crate) fn list(&self, call: &Call<'_>) -> TextResponse {
        match Wanted::read(call.query).map_err(CommandFailure::Input).and_then(|wanted| self.page(&wanted, call.caller))
        {
            Ok(page) => TextResponse::json(200, &page),
            Err(failure) => refusal(&failure),
        }
    }

    fn page(&self, wanted: &Wanted, caller: &Caller) -> Result<ChangesPage, CommandFailure> {
        let start = Start { cursor: wanted.cursor.clone(), named: "cursor".to_owned() };
        let mut follower = TopicFollower::open(self.reader()?, CHANGES, &start)?;
        let mut items = Vec::new();
        for _ in 0..MAX_READ {
            let Some(record) = follower.next()? else { break };
            if caller.includes_host(record.message.url.host_name()) {
                items.push(PublishedChange::new(record.message, &record.cursor));
            }
            if items.len() == wanted.limit {
                break;
            }
        }
        Ok(ChangesPage { items, next_cursor: follower.cursor().to_string() })
    }

    /// The newest changes of the hosts within the caller's reach.
    pub(crate) fn feed(&self, caller: &Caller, form: FeedForm) -> TextResponse {
        let is_visible = |change: &PageChange| feed::is_entry(change) && caller.includes_host(change.url.host_name());
        match self.reader().and_then(|mut reader| newest(&mut reader, &CHANGES, feed::ITEMS, is_visible)) {
            Ok(changes) => {
                let body = feed::feed(form, &self.about, changes);
                TextResponse { status: 200, content_type: form.content_type(), body }
            }
            Err(failure) => refusal(&failure),
        }
    }

    fn reader(&self) -> Result<TopicReader, CommandFailure> {
        TopicReader::of_running(self.log.clone(), &self.names, topics::PAGE_CHANGES)
    }
}

/// Says what is wrong with a request. A fault of the log is for the operator, in the log of the process.
fn refusal(failure: &CommandFailure) -> TextResponse {
    if let CommandFailure::Input(why) = failure {
        return TextResponse::problem(400, why);
    }
    tracing::error!(%failure, "cannot read the changes for a request");
    TextResponse::problem(503, "the changes cannot be read now; recrawl's log says why")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_a_cursor_and_a_limit_once_and_nothing_else() {
        let usual = Wanted { cursor: None, limit: USUAL_LIMIT };
        assert_eq!(Wanted::read(""), Ok(usual));
        let some = Wanted { cursor: Some(Cursor(vec![4, 5])), limit: 7 };
        assert_eq!(Wanted::read("limit=7&cursor=4.5"), Ok(some));
        for wrong in ["limit=0", "limit=1001", "limit=", "limit=-1", "limit=1&limit=1", "cursor=x", "curser=1"] {
            assert!(Wanted::read(wrong).is_err(), "{wrong}");
        }
    }
}
