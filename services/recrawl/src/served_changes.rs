//! The changes of a running loop, as its port shows them: page by page behind a cursor, and the newest as a feed.

use crate::CommandFailure;
use daemon::TopicReader;
use daemon::http::{Call, Caller, TextResponse};
use messages::{PageChange, topics};
use outputs::encoder::feed::{self, FeedAbout, FeedForm};
use outputs::record::{CHANGES, PublishedChange};
use outputs::source::{Cursor, ReadBudget, RemovalIndex, Start, TopicFollower, TopicRecord, newest};
use serde::Serialize;
use settings::Settings;
use std::sync::{Arc, Mutex, PoisonError};
use stream_rocksdb::EmbeddedBackend;
use topology::LogNames;

/// Changes in an answer, if the request names no number.
const USUAL_LIMIT: usize = 100;
/// Most changes in an answer.
const MAX_LIMIT: usize = 1_000;
/// Most changes and bytes read for an answer. A key for few hosts gets shorter answers, and no request takes long.
const MOST_READ: (usize, usize) = (10_000, 16 << 20);
/// Most changes and bytes read for a request to learn which pages were forgotten. The first requests after a start read all that
/// is kept, later ones what is new.
const MOST_LEARNED: (usize, usize) = (100_000, 128 << 20);

pub(crate) struct ServedChanges {
    names: LogNames,
    about: FeedAbout,
    log: Arc<EmbeddedBackend>,
    /// Pages that were forgotten since something was published of them.
    removals: Mutex<RemovalIndex>,
}

/// An answer of the list.
#[derive(Serialize)]
struct ChangesPage {
    items: Vec<PublishedChange>,
    next_cursor: String,
    /// Whether there may be more behind the cursor now.
    has_more: bool,
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
        Self { names: names.clone(), about: FeedAbout::new(settings, None, None), log, removals: Mutex::default() }
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
        let mut follower =
            TopicFollower::open(self.reader()?, CHANGES, &start)?.within(ReadBudget::new(MOST_READ.0, MOST_READ.1));
        let mut removals = self.removals.lock().unwrap_or_else(PoisonError::into_inner);
        let mut to_learn = ReadBudget::new(MOST_LEARNED.0, MOST_LEARNED.1);
        if !removals.advance::<PageChange>(&mut self.reader()?, CHANGES.batch, &mut to_learn)? {
            // What was published of a forgotten page must not be shown, so nothing is until all of them are known.
            return Ok(ChangesPage { items: Vec::new(), next_cursor: follower.cursor().to_string(), has_more: true });
        }
        let mut items = Vec::new();
        while items.len() < wanted.limit {
            let Some(TopicRecord { partition, offset, message, cursor }) = follower.next()? else { break };
            if caller.includes_host(message.url.host_name()) && !removals.hides(partition, offset, &message) {
                items.push(PublishedChange::new(self.about.shown(message), &cursor));
            }
        }
        let has_more = items.len() == wanted.limit || follower.is_spent();
        Ok(ChangesPage { items, next_cursor: follower.cursor().to_string(), has_more })
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
    use daemon::http::Role;
    use messages::Verdict;
    use page::{CanonicalUrl, Timestamp};
    use std::collections::BTreeSet;
    use stream::{InProcessLog, Log, OutputRecord};

    type EmbeddedLog = InProcessLog<EmbeddedBackend>;

    fn served(changes: impl IntoIterator<Item = PageChange>) -> (tempfile::TempDir, EmbeddedLog, ServedChanges) {
        let (settings, directory) = (Settings::default(), tempfile::tempdir().unwrap());
        let (names, log) = (LogNames::new(&settings), stream_rocksdb::open_log(directory.path()).unwrap());
        log.create_topics(&topology::topic_configs(&settings, &crate::stages::topologies(), 4)).unwrap();
        let topic = names.topic(topics::PAGE_CHANGES);
        let record = |change: &PageChange| OutputRecord::of(change, topic.as_str(), 4, change.seen_at);
        let records: Vec<_> = changes.into_iter().map(|change| record(&change)).collect();
        records.chunks(5_000).for_each(|records| drop(log.append(records).unwrap()));
        let changes = ServedChanges::new(&settings, &names, log.backend().clone());
        (directory, log, changes)
    }

    fn change(url: &str, verdict: Verdict, seconds: i64) -> PageChange {
        let url = CanonicalUrl::parse(url).unwrap();
        PageChange::bare(url.to_string(), url, verdict, Timestamp::from_secs(seconds))
    }

    /// All that a caller is shown, and the number of requests that it took.
    fn shown(changes: &ServedChanges, caller: &Caller) -> (BTreeSet<String>, usize) {
        let (mut cursor, mut urls, mut requests) = (None, BTreeSet::new(), 0);
        loop {
            let page = changes.page(&Wanted { cursor, limit: USUAL_LIMIT }, caller).unwrap();
            requests += 1;
            for item in &page.items {
                assert!(urls.insert(serde_json::to_value(item).unwrap()["url"].as_str().unwrap().to_owned()), "twice");
            }
            if !page.has_more {
                return (urls, requests);
            }
            cursor = Some(page.next_cursor.parse().unwrap());
        }
    }

    #[test]
    fn a_request_that_finds_little_reads_a_bounded_part_and_the_next_goes_on_there() {
        let (one, others) = ("http://one.test/", 3 * MOST_READ.0);
        let many =
            (0..others).map(|number| change(&format!("http://other.test/{number}"), Verdict::First, number as i64));
        let (_directory, _log, changes) = served(many.chain([change(one, Verdict::First, others as i64)]));
        let of_one = Caller { name: "one".to_owned(), role: Role::Viewer, hosts: Some(vec!["one.test".to_owned()]) };
        let first = changes.page(&Wanted { cursor: None, limit: USUAL_LIMIT }, &of_one).unwrap();
        assert!(first.items.is_empty() && first.has_more);
        let passed: u64 = first.next_cursor.parse::<Cursor>().unwrap().0.iter().sum();
        let most = (MOST_READ.0 + 4 * CHANGES.batch) as u64;
        assert!(passed >= MOST_READ.0 as u64 / 2 && passed <= most, "{passed} changes for one request");
        let (urls, requests) = shown(&changes, &of_one);
        assert_eq!(urls, BTreeSet::from([one.to_owned()]));
        assert!((3..=7).contains(&requests), "{requests} requests");
    }

    #[test]
    fn a_forgotten_page_is_hidden_also_if_that_comes_after_the_part_that_is_read() {
        let (gone, kept) = ("http://a.test/gone", "http://a.test/kept");
        let (_directory, log, changes) = served([change(gone, Verdict::First, 1), change(kept, Verdict::First, 2)]);
        let all = Caller::admin("owner");
        assert_eq!(shown(&changes, &all).0, BTreeSet::from([gone.to_owned(), kept.to_owned()]));
        let forgotten = change(gone, Verdict::Forgotten, 3);
        let topic = changes.names.topic(topics::PAGE_CHANGES);
        log.append(&[OutputRecord::of(&forgotten, topic.as_str(), 4, forgotten.seen_at)]).unwrap();
        let page = changes.page(&Wanted { cursor: None, limit: 1 }, &all).unwrap();
        assert_eq!(page.items.len(), 1);
        assert_eq!(serde_json::to_value(&page.items[0]).unwrap()["url"], kept);
        let (urls, _) = shown(&changes, &all);
        assert_eq!(urls, BTreeSet::from([gone.to_owned(), kept.to_owned()]), "the removal itself is shown");
    }

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
