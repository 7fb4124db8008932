//! OpenSearch and Elasticsearch: the API `_bulk`, with versions that come from outside.

use super::batch::PageUpdate;
use super::search_index::{Fate, Rebuild, SearchIndex};
use super::web_server::{Answer, WebServer, unreadable};
use crate::sink::Undelivered;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use ureq::http::Method;

const ENGINE: &str = "OpenSearch or Elasticsearch";
const LINES: &str = "application/x-ndjson";
const JSON: &str = "application/json";
/// The settings of an index that one beside it gets too.
const COPIED_SETTINGS: [&str; 3] = ["analysis", "number_of_shards", "number_of_replicas"];

/// An index, or an alias of one.
pub struct OpenSearch {
    server: WebServer,
    /// The name that searches use.
    name: String,
    /// The index that is filled beside it.
    new: Option<String>,
}

impl OpenSearch {
    /// The index or alias of this name.
    pub fn new(server: WebServer, name: String) -> Self {
        Self { server, name, new: None }
    }

    fn target(&self) -> &str {
        self.new.as_deref().unwrap_or(&self.name)
    }

    /// The indexes behind a name, as the server describes them. `None` if the server has no index of that name.
    fn described(&self, name: &str) -> Result<BTreeMap<String, Value>, Undelivered> {
        let answer = self.server.request(Method::GET, &format!("/{name}"), "", Vec::new())?;
        if answer.status == 404 {
            return Ok(BTreeMap::new());
        }
        let body = taken(&answer)?;
        serde_json::from_slice(body).map_err(|error| unreadable(ENGINE, &error, body))
    }
}

impl SearchIndex for OpenSearch {
    fn prepare(&mut self) -> Result<(), Undelivered> {
        if !self.described(self.target())?.is_empty() {
            return Ok(());
        }
        let like = match &self.new {
            Some(_) => self.described(&self.name)?.into_values().next(),
            None => None,
        };
        let body = creation(like.as_ref()).to_string().into_bytes();
        let answer = self.server.request(Method::PUT, &format!("/{}", self.target()), JSON, body)?;
        // Another sender, or the attempt before, was faster.
        if answer.status == 400 && answer.said().contains("resource_already_exists_exception") {
            return Ok(());
        }
        taken(&answer).map(drop)
    }

    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered> {
        let path = format!("/{}/_bulk", self.target());
        let answer = self.server.request(Method::POST, &path, LINES, bulk(updates))?;
        fates(taken(&answer)?, updates.len())
    }

    fn rebuild(&mut self, moment: i64) -> Rebuild {
        let new = format!("{}-{moment}", self.name);
        self.new = Some(new.clone());
        Rebuild::Into(new)
    }

    fn continue_rebuild(&mut self, index: &str) {
        self.new = Some(index.to_owned());
    }

    fn put_in_use(&mut self) -> Result<(), Undelivered> {
        let Some(new) = &self.new else { return Ok(()) };
        // Everything that was sent is to be found as soon as the name leads there.
        taken(&self.server.request(Method::POST, &format!("/{new}/_refresh"), "", Vec::new())?)?;
        let before: Vec<_> = self.described(&self.name)?.into_keys().collect();
        if before != [new.clone()] {
            let body = turn(&self.name, &before, new).to_string().into_bytes();
            taken(&self.server.request(Method::POST, "/_aliases", JSON, body)?)?;
        }
        self.new = None;
        Ok(())
    }
}

/// The end of the kinds of errors of a server that takes no writes for a while. A full disk closes it to new indexes, and indexes to
/// documents, until there is room.
const BLOCKED: &str = "_block_exception";

/// The body of an answer. A block has the status 403, as a login without rights has.
fn taken(answer: &Answer) -> Result<&[u8], Undelivered> {
    let is_blocked = answer.said().contains(BLOCKED);
    answer.taken().map_err(|problem| match problem {
        Undelivered::Wrong(_) if is_blocked => {
            let problem = format!("the index answered {}{}", answer.status, answer.said());
            Undelivered::Later { problem, after: answer.after }
        }
        other => other,
    })
}

/// Creates an index, like another if there is one.
fn creation(like: Option<&Value>) -> Value {
    let keyword = || json!({"type": "keyword"});
    let text = || json!({"type": "text"});
    // As strict as it may be with dates: pages give any.
    let date = || json!({"type": "date", "ignore_malformed": true});
    let ours = json!({"properties": {
        "id": keyword(), "url": keyword(), "host": keyword(), "title": text(), "text": text(), "language": keyword(),
        "content_type": keyword(), "published": date(), "modified": date(), "seen_at": date(), "verdict": keyword(),
        "version": {"type": "integer"}, "truncated": {"type": "boolean"}, "preferences": keyword(),
    }});
    let Some(like) = like else { return json!({"mappings": ours}) };
    let settings = &like["settings"]["index"];
    let copied = COPIED_SETTINGS.iter().filter_map(|name| Some(((*name).to_owned(), settings.get(*name)?.clone())));
    let copied: Map<_, _> = copied.collect();
    json!({"mappings": like["mappings"], "settings": {"index": copied}})
}

/// Lets a name lead to a new index alone. Indexes that only this program can have made, and one that has the name itself, are deleted in
/// the same step.
fn turn(name: &str, before: &[String], new: &str) -> Value {
    let is_ours = |index: &str| {
        let moment = index.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        index == name || moment.is_some_and(|moment| moment.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut actions: Vec<_> = before
        .iter()
        .filter(|index| *index != new)
        .map(|index| match is_ours(index) {
            true => json!({"remove_index": {"index": index}}),
            false => json!({"remove": {"index": index, "alias": name}}),
        })
        .collect();
    actions.push(json!({"add": {"index": new, "alias": name}}));
    json!({"actions": actions})
}

/// The body of a bulk request: a line for each action, and one behind it for each document. An equal version is written again,
/// because preferences may have changed without one.
fn bulk(updates: &[&PageUpdate]) -> Vec<u8> {
    let mut body = Vec::new();
    for update in updates {
        // The time of a forgetting is that of another clock. It is the last word on its page whatever that says.
        let action = match update.content().verdict == "forgotten" {
            true => json!({"_id": update.id()}),
            false => json!({"_id": update.id(), "version": update.order(), "version_type": "external_gte"}),
        };
        let document = update.document();
        let action = if document.is_some() { json!({"index": action}) } else { json!({"delete": action}) };
        body.extend_from_slice(action.to_string().as_bytes());
        body.push(b'\n');
        if let Some(document) = document {
            body.extend(serde_json::to_vec(&document).expect("texts and numbers are JSON"));
            body.push(b'\n');
        }
    }
    body
}

#[derive(Deserialize)]
struct BulkAnswer {
    items: Vec<BTreeMap<String, BulkItem>>,
}

#[derive(Deserialize)]
struct BulkItem {
    status: u16,
    #[serde(default)]
    error: Option<Value>,
}

/// The fates of the actions of a bulk request, which may fail one by one.
fn fates(body: &[u8], updates: usize) -> Result<Vec<Fate>, Undelivered> {
    let answer: BulkAnswer = serde_json::from_slice(body).map_err(|error| unreadable(ENGINE, &error, body))?;
    if answer.items.len() != updates {
        let problem = format!("{} items for {updates} updates", answer.items.len());
        return Err(unreadable(ENGINE, &problem, body));
    }
    answer.items.iter().map(|item| item.values().next().map_or(Ok(Fate::Applied), fate)).collect()
}

fn fate(item: &BulkItem) -> Result<Fate, Undelivered> {
    let part = |name: &str| item.error.as_ref().and_then(|error| error[name].as_str()).unwrap_or_default();
    let (kind, status) = (part("type"), item.status);
    let reason = || match &item.error {
        Some(Value::String(words)) => format!("{status} {words}"),
        _ => format!("{status} {kind}: {}{}", part("reason"), cause(item)),
    };
    Ok(match status {
        200..=299 => Fate::Applied,
        _ if kind.ends_with(BLOCKED) => Fate::Later(reason()),
        409 => Fate::Superseded,
        404 if item.error.is_none() => Fate::Applied,
        401 | 403 | 404 => return Err(Undelivered::Wrong(format!("--to: the index answered {}", reason()))),
        408 | 429 | 500..=599 => Fate::Later(reason()),
        _ => Fate::Rejected(reason()),
    })
}

/// The cause that the server gives for an error, which names the field.
fn cause(item: &BulkItem) -> String {
    let cause = item.error.as_ref().and_then(|error| error["caused_by"]["reason"].as_str());
    cause.map(|cause| format!(" ({cause})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::batch::tests::{end, page};
    use crate::mirror::web_server::tests::answer;

    /// The answer of OpenSearch 2.18 while its disk is past the high watermark.
    #[test]
    fn a_server_whose_disk_is_full_is_waited_for() {
        let blocked = r#"{"error":{"root_cause":[{"type":"index_create_block_exception","reason":"blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];"}],"type":"index_create_block_exception"},"status":403}"#;
        assert!(matches!(taken(&answer(403, blocked)), Err(Undelivered::Later { .. })));
        let forbidden =
            r#"{"error":{"type":"security_exception","reason":"no permissions for [indices:admin/create]"}}"#;
        assert!(matches!(taken(&answer(403, forbidden)), Err(Undelivered::Wrong(_))));
        assert_eq!(taken(&answer(200, "{}")).expect("it is taken"), b"{}");
    }

    #[test]
    fn a_bulk_request_has_an_action_with_an_external_version_for_each_update() {
        let (new, gone) = (page("a", 1_800_000_000), end("b", 1_800_000_001));
        let body = String::from_utf8(bulk(&[&new, &gone])).expect("it is text");
        assert!(body.ends_with('\n'), "the last line needs its end");
        let lines: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!(lines.len(), 3);
        let action = |id: &str, version: i64| json!({"_id": id, "version": version, "version_type": "external_gte"});
        assert_eq!(lines[0], json!({"index": action(new.id(), 1_800_000_000_000_000)}));
        assert_eq!(lines[1]["text"], "A line.\nAnother of a.");
        assert_eq!(lines[2], json!({"delete": action(gone.id(), 1_800_000_001_000_000)}));
    }

    /// The shape of the answers in "Bulk" of both engines' references.
    #[test]
    fn each_item_of_an_answer_has_its_own_fate() {
        let item = |kind: &str, status: u16, error: Value| json!({kind: {"_index": "pages", "status": status, "error": error}});
        let error = |kind: &str, reason: &str| json!({"type": kind, "reason": reason});
        let parsing = json!({"type": "mapper_parsing_exception", "reason": "failed to parse",
            "caused_by": {"type": "illegal_argument_exception", "reason": "field [version]"}});
        let answer = json!({"took": 30, "errors": true, "items": [
            {"index": {"_index": "pages", "_id": "1", "_version": 1, "result": "created", "status": 201}},
            {"delete": {"_index": "pages", "_id": "2", "_version": 2, "result": "not_found", "status": 404}},
            item("index", 409, error("version_conflict_engine_exception", "current version [9] is higher")),
            item("index", 429, error("es_rejected_execution_exception", "queue is full")),
            item("index", 503, error("unavailable_shards_exception", "primary shard is not active")),
            item("index", 403, error("cluster_block_exception", "disk usage exceeded flood-stage watermark")),
            item("index", 400, parsing),
        ]});
        let found = fates(answer.to_string().as_bytes(), 7).expect("it is an answer");
        let expected = [
            Fate::Applied,
            Fate::Applied,
            Fate::Superseded,
            Fate::Later("429 es_rejected_execution_exception: queue is full".to_owned()),
            Fate::Later("503 unavailable_shards_exception: primary shard is not active".to_owned()),
            Fate::Later("403 cluster_block_exception: disk usage exceeded flood-stage watermark".to_owned()),
            Fate::Rejected("400 mapper_parsing_exception: failed to parse (field [version])".to_owned()),
        ];
        assert_eq!(found, expected);
        let one = |item: Value| fates(json!({"items": [item]}).to_string().as_bytes(), 1);
        let missing = one(item("index", 404, error("index_not_found_exception", "no such index [pages]")));
        assert!(matches!(missing, Err(Undelivered::Wrong(problem)) if problem.contains("no such index")));
    }

    #[test]
    fn an_answer_that_is_none_is_no_loss() {
        for (body, updates) in [("<html>Bad gateway", 1), (r#"{"items":[]}"#, 1), ("", 0)] {
            let found = fates(body.as_bytes(), updates);
            assert!(matches!(found, Err(Undelivered::Later { .. })), "{body}: {found:?}");
        }
    }

    #[test]
    fn a_new_index_is_like_the_one_before_and_takes_its_name_in_one_step() {
        let like = json!({
            "aliases": {}, "mappings": {"properties": {"text": {"type": "text", "analyzer": "german"}}},
            "settings": {"index": {"uuid": "x", "creation_date": "1", "number_of_shards": "3"}},
        });
        let expected = json!({"mappings": like["mappings"], "settings": {"index": {"number_of_shards": "3"}}});
        assert_eq!(creation(Some(&like)), expected);
        assert_eq!(creation(None)["mappings"]["properties"]["url"]["type"], "keyword");

        let before = ["pages-17", "pages-of-others", "pages-18"].map(str::to_owned);
        let expected = json!({"actions": [
            {"remove_index": {"index": "pages-17"}},
            {"remove": {"index": "pages-of-others", "alias": "pages"}},
            {"add": {"index": "pages-18", "alias": "pages"}},
        ]});
        assert_eq!(turn("pages", &before, "pages-18"), expected);
        let itself = turn("pages", &["pages".to_owned()], "pages-18");
        assert_eq!(itself["actions"][0], json!({"remove_index": {"index": "pages"}}));
    }
}
