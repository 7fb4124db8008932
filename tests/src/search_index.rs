//! An OpenSearch in memory, as far as `recrawl mirror` speaks to one, which fails as a test says.

use crate::receiver::{Reply, Webhook, WebhookReceiver};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// How a bulk request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkFault {
    /// It does not.
    None,
    /// Nothing is done, and the server answers with this status.
    Status(u16),
    /// Every second action is done, and the others are answered with 429.
    Partial,
    /// All is done, and the connection ends before the answer.
    Close,
    /// All is done, and the connection ends in the middle of the answer.
    BreakOff,
    /// Nothing is done, and no answer comes.
    Silence,
    /// All is done, and no answer comes.
    SilenceAfterwards,
}

/// The documents of all indexes.
#[derive(Debug, Default)]
pub struct Documents {
    /// By index: documents by id, each with its external version. A deletion leaves its version.
    indexes: BTreeMap<String, BTreeMap<String, (i64, Option<Value>)>>,
    /// By name: the indexes that it leads to.
    aliases: BTreeMap<String, BTreeSet<String>>,
    /// Ids of documents that are refused.
    pub refused: BTreeSet<String>,
    /// Bulk requests so far.
    pub bulks: usize,
    /// Bulk requests that are held without an answer.
    pub held: usize,
    /// Actions of a version that was older than the one there.
    pub superseded: usize,
    /// Deletions that were done.
    pub deleted: usize,
}

/// The server.
pub struct SearchServer {
    receiver: WebhookReceiver,
    documents: Arc<Mutex<Documents>>,
}

impl SearchServer {
    /// A server on loopback. `fault` gets the number of the bulk request, from 0.
    pub fn start(fault: impl Fn(usize) -> BulkFault + Send + Sync + 'static) -> Self {
        let documents: Arc<Mutex<Documents>> = Arc::default();
        let shared = documents.clone();
        let receiver = WebhookReceiver::start(move |request| {
            let mut documents = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match request.target.ends_with("/_bulk") {
                true => {
                    documents.bulks += 1;
                    let fault = fault(documents.bulks - 1);
                    documents.bulk(request, fault)
                }
                false => documents.manage(request),
            }
        });
        Self { receiver, documents }
    }

    /// The address of an index for `--to`.
    pub fn address(&self, index: &str) -> String {
        let url = self.receiver.url();
        let base = url.strip_suffix("/hook").expect("the receiver's address ends so");
        format!("opensearch+{base}/{index}")
    }

    /// Looks at the documents, or changes them.
    pub fn with<T>(&self, look: impl FnOnce(&mut Documents) -> T) -> T {
        look(&mut self.documents.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Documents {
    /// The indexes behind a name.
    pub fn behind(&self, name: &str) -> BTreeSet<String> {
        match self.indexes.contains_key(name) {
            true => BTreeSet::from([name.to_owned()]),
            false => self.aliases.get(name).cloned().unwrap_or_default(),
        }
    }

    /// The documents that a search by this name can find, by id.
    pub fn found(&self, name: &str) -> BTreeMap<String, Value> {
        let behind = self.behind(name);
        let all = self.indexes.iter().filter(|(index, _)| behind.contains(*index)).flat_map(|(_, documents)| documents);
        all.filter_map(|(id, (_, document))| Some((id.clone(), document.clone()?))).collect()
    }

    /// Names of all indexes.
    pub fn names(&self) -> Vec<String> {
        self.indexes.keys().cloned().collect()
    }

    fn bulk(&mut self, request: &Webhook, fault: BulkFault) -> Reply {
        let path = request.target.split(' ').nth(1).unwrap_or_default();
        let name = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let behind: Vec<_> = self.behind(name).into_iter().collect();
        let [index] = &behind[..] else { return Reply::Body(404, json!({"error": "no such index"}).to_string()) };
        match fault {
            BulkFault::Status(429) => return Reply::Status(429, vec!["retry-after: 0".to_owned()]),
            BulkFault::Status(status) => return Reply::status(status),
            BulkFault::Silence => {
                self.held += 1;
                return Reply::Silence;
            }
            _ => {}
        }
        let text = String::from_utf8(request.body.clone()).expect("a bulk request is text");
        assert!(text.ends_with('\n'), "the last line has no end");
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
        let mut items = Vec::new();
        while let Some(action) = lines.next() {
            let (kind, fields) = action.as_object().and_then(|one| one.iter().next()).expect("an action has a kind");
            let document = (kind == "index").then(|| lines.next().expect("a document follows"));
            let is_busy = fault == BulkFault::Partial && items.len() % 2 == 1;
            let item = if is_busy {
                let error = json!({"type": "es_rejected_execution_exception", "reason": "the queue is full"});
                json!({"status": 429, "error": error})
            } else {
                self.act(index, fields, document)
            };
            items.push(json!({kind: item}));
        }
        match fault {
            BulkFault::Close => Reply::Close,
            BulkFault::BreakOff => Reply::BreakOff,
            BulkFault::SilenceAfterwards => {
                self.held += 1;
                Reply::Silence
            }
            _ => Reply::Body(200, json!({"took": 1, "errors": true, "items": items}).to_string()),
        }
    }

    /// Carries an action out, as `version_type=external_gte` says. One without a version is the last word.
    fn act(&mut self, index: &str, action: &Value, document: Option<Value>) -> Value {
        let id = action["_id"].as_str().expect("an action has an id").to_owned();
        let given = action["version"].as_i64();
        assert!(given.is_none() && document.is_none() || action["version_type"] == "external_gte", "{action}");
        if document.is_some() && self.refused.contains(&id) {
            let error = json!({"type": "mapper_parsing_exception", "reason": "failed to parse"});
            return json!({"_id": id, "status": 400, "error": error});
        }
        let documents = self.indexes.get_mut(index).expect("the index is there");
        let before = documents.get(&id);
        let version = given.unwrap_or_else(|| before.map_or(1, |(known, _)| known + 1));
        if before.is_some_and(|(known, _)| *known > version) {
            self.superseded += 1;
            let error = json!({"type": "version_conflict_engine_exception", "reason": "a higher version is there"});
            return json!({"_id": id, "status": 409, "error": error});
        }
        let had = before.is_some_and(|(_, document)| document.is_some());
        let is_deletion = document.is_none();
        documents.insert(id.clone(), (version, document));
        match (is_deletion, had) {
            (true, true) => {
                self.deleted += 1;
                json!({"_id": id, "result": "deleted", "status": 200})
            }
            (true, false) => json!({"_id": id, "result": "not_found", "status": 404}),
            (false, _) => json!({"_id": id, "result": "created", "status": 201}),
        }
    }

    fn manage(&mut self, request: &Webhook) -> Reply {
        let (method, path) = request.target.split_once(' ').unwrap_or_default();
        let name = path.trim_start_matches('/');
        match method {
            "GET" => {
                let behind = self.behind(name);
                let status = if behind.is_empty() { 404 } else { 200 };
                let shown: BTreeMap<_, _> = behind.iter().map(|index| (index, json!({"mappings": {}}))).collect();
                Reply::Body(status, json!(shown).to_string())
            }
            "PUT" => {
                assert!(request.json()["mappings"].is_object());
                self.indexes.insert(name.to_owned(), BTreeMap::new());
                Reply::Body(200, json!({"acknowledged": true}).to_string())
            }
            "POST" if name == "_aliases" => {
                for action in request.json()["actions"].as_array().expect("there are actions") {
                    self.turn(action);
                }
                Reply::Body(200, json!({"acknowledged": true}).to_string())
            }
            _ => Reply::Body(200, json!({"_shards": {}}).to_string()),
        }
    }

    fn turn(&mut self, action: &Value) {
        let (kind, fields) = action.as_object().and_then(|one| one.iter().next()).expect("an action has a kind");
        let field = |name: &str| fields[name].as_str().expect("an action names an index").to_owned();
        let index = field("index");
        match kind.as_str() {
            "remove_index" => {
                self.indexes.remove(&index);
                self.aliases.values_mut().for_each(|behind| behind.retain(|known| *known != index));
            }
            "add" => drop(self.aliases.entry(field("alias")).or_default().insert(index)),
            "remove" => drop(self.aliases.entry(field("alias")).or_default().remove(&index)),
            other => panic!("{other} is no action"),
        }
    }
}
