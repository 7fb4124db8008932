//! Mirrors in engines without versions: each as its own API works, in memory, and busy at first.

use crate::mirror::{Shop, contents};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tests::{Reply, Webhook, WebhookReceiver};

/// Documents by id, and everything that came besides them.
#[derive(Default)]
struct Engine {
    documents: BTreeMap<String, Value>,
    exists: bool,
    requests: usize,
    /// Looks at tasks so far.
    looks: usize,
}

impl Engine {
    fn add(&mut self, document: &Value) {
        self.documents.insert(document["id"].as_str().expect("a document has an id").to_owned(), document.clone());
    }

    fn delete(&mut self, ids: &Value) {
        for id in ids.as_array().expect("ids are a list") {
            self.documents.remove(id.as_str().expect("an id is a text"));
        }
    }
}

type Behaviour = fn(&mut Engine, &Webhook) -> Reply;

fn body(status: u16, value: &Value) -> Reply {
    Reply::Body(status, value.to_string())
}

fn meilisearch(engine: &mut Engine, request: &Webhook) -> Reply {
    match &*request.target {
        "GET /indexes/pages" => body(404, &json!({"code": "index_not_found"})),
        "POST /indexes/pages/documents?primaryKey=id" => {
            request.json().as_array().expect("documents are a list").iter().for_each(|document| engine.add(document));
            body(202, &json!({"taskUid": 7, "status": "enqueued"}))
        }
        "POST /indexes/pages/documents/delete-batch" => {
            engine.delete(&request.json());
            body(202, &json!({"taskUid": 7, "status": "enqueued"}))
        }
        "GET /tasks/7" => {
            engine.looks += 1;
            let status = if engine.looks % 2 == 1 { "processing" } else { "succeeded" };
            body(200, &json!({"uid": 7, "status": status, "error": null}))
        }
        other => panic!("{other} is no request to Meilisearch"),
    }
}

fn typesense(engine: &mut Engine, request: &Webhook) -> Reply {
    match &*request.target {
        "GET /collections/pages" => body(if engine.exists { 200 } else { 404 }, &json!({})),
        "POST /collections" => {
            engine.exists = request.json()["fields"].is_array();
            body(201, &json!({}))
        }
        "POST /collections/pages/documents/import?action=upsert" => {
            let text = String::from_utf8(request.body.clone()).expect("lines are text");
            text.lines().for_each(|line| engine.add(&serde_json::from_str(line).expect("a line is JSON")));
            Reply::Body(200, text.lines().map(|_| "{\"success\":true}\n").collect())
        }
        deletion => {
            let ids = deletion.strip_prefix("DELETE /collections/pages/documents?filter_by=id:%5B");
            let ids = ids.and_then(|rest| rest.strip_suffix("%5D")).expect("it is a deletion");
            engine.delete(&json!(ids.split(',').collect::<Vec<_>>()));
            body(200, &json!({"num_deleted": 1}))
        }
    }
}

fn solr(engine: &mut Engine, request: &Webhook) -> Reply {
    let done = json!({"responseHeader": {"status": 0, "QTime": 1}});
    if request.target.starts_with("GET /solr/pages/select?") {
        return body(200, &done);
    }
    assert!(request.target.starts_with("POST /solr/pages/update?commitWithin="), "{}", request.target);
    match request.json() {
        Value::Array(documents) => documents.iter().for_each(|document| engine.add(document)),
        other => engine.delete(&other["delete"]),
    }
    body(200, &done)
}

#[test]
fn other_engines_are_equal_to_the_copies_too() {
    let shop = Shop::open();
    let engines: [(&str, &str, Behaviour); 3] =
        [("meilisearch", "/pages", meilisearch), ("typesense", "/pages", typesense), ("solr", "/solr/pages", solr)];
    let mirrors: Vec<_> = engines
        .into_iter()
        .map(|(name, path, behaviour)| {
            let engine: Arc<Mutex<Engine>> = Arc::default();
            let shared = engine.clone();
            let receiver = WebhookReceiver::start(move |request| {
                let mut engine = shared.lock().unwrap_or_else(PoisonError::into_inner);
                engine.requests += 1;
                match engine.requests {
                    1 => Reply::Status(503, vec!["retry-after: 0".to_owned()]),
                    3 => Reply::Status(429, vec!["retry-after: 0".to_owned()]),
                    _ => behaviour(&mut engine, request),
                }
            });
            let to = format!("{name}+{}{path}", receiver.url().strip_suffix("/hook").unwrap());
            (to, engine)
        })
        .collect();
    for pages in [3, 2] {
        let copies = contents(&shop.crawl);
        assert_eq!(copies.len(), pages);
        for (to, engine) in &mirrors {
            shop.crawl.ask("mirror", &["--to", to]).exits_with(0);
            let engine = engine.lock().unwrap();
            assert!(copies.keys().eq(engine.documents.keys()), "{to}: {:?}", engine.documents.keys());
            for (id, copy) in &copies {
                for field in ["url", "version", "seen_at", "text", "title"] {
                    assert_eq!(engine.documents[id].get(field), copy.get(field), "{to}: {field} of {}", copy["url"]);
                }
            }
        }
        if pages == 3 {
            shop.look(410);
        }
    }
}
