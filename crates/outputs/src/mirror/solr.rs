//! Solr: documents are added and deleted at `/update`. A document that Solr refuses makes it refuse the whole request.

use super::batch::{PageUpdate, parted};
use super::search_index::{Fate, SearchIndex};
use super::web_server::{Answer, WebServer};
use crate::sink::Undelivered;
use serde_json::{Value, json};
use ureq::http::Method;

const JSON: &str = "application/json";
/// Time until searches find a document. Solr has written it to its log before it answers.
const COMMIT_WITHIN_MS: u32 = 5_000;

/// A core or a collection.
pub struct Solr {
    server: WebServer,
    name: String,
}

impl Solr {
    /// The core or collection of this name.
    pub fn new(server: WebServer, name: String) -> Self {
        Self { server, name }
    }

    fn update(&self, body: &Value) -> Result<(), Undelivered> {
        let path = format!("/{}/update?commitWithin={COMMIT_WITHIN_MS}", self.name);
        let answer = self.server.request(Method::POST, &path, JSON, body.to_string().into_bytes())?;
        done(&answer)
    }
}

impl SearchIndex for Solr {
    fn prepare(&mut self) -> Result<(), Undelivered> {
        // A core needs files on its server, so only a person can make one.
        let path = format!("/{}/select?q=id:0&rows=0&wt=json", self.name);
        self.server.request(Method::GET, &path, "", Vec::new())?.taken().map(drop)
    }

    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered> {
        let (documents, deletions) = parted(updates);
        if !documents.is_empty() {
            self.update(&json!(documents))?;
        }
        if !deletions.is_empty() {
            self.update(&json!({"delete": deletions}))?;
        }
        Ok(vec![Fate::Applied; updates.len()])
    }
}

/// Reads the answer to an update. An error has its reason in `error.msg`.
fn done(answer: &Answer) -> Result<(), Undelivered> {
    answer.taken().map(drop).map_err(|problem| match problem {
        Undelivered::Refused(problem) => Undelivered::Refused(reason(&answer.body).unwrap_or(problem)),
        other => other,
    })
}

fn reason(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    answer["error"]["msg"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::batch::tests::{end, page};
    use crate::mirror::web_server::tests::answer;

    #[test]
    fn documents_are_an_array_and_deletions_a_list_of_ids() {
        let (new, gone) = (page("a", 1), end("b", 2));
        let (documents, deletions) = parted(&[&new, &gone]);
        assert_eq!(json!(documents)[0]["id"], new.id());
        assert_eq!(json!({"delete": deletions}), json!({"delete": [gone.id()]}));
    }

    /// The answers in "Updating" of the reference guide.
    #[test]
    fn an_error_has_its_reason_and_says_whether_the_same_may_be_sent_again() {
        assert!(done(&answer(200, r#"{"responseHeader":{"status":0,"QTime":5}}"#)).is_ok());
        let body = r#"{"responseHeader":{"status":400,"QTime":1},"error":{"metadata":[],
            "msg":"ERROR: [doc=1] unknown field 'verdict'","code":400}}"#;
        let refused = done(&answer(400, body));
        assert!(
            matches!(refused, Err(Undelivered::Refused(problem)) if problem == "ERROR: [doc=1] unknown field 'verdict'")
        );
        assert!(matches!(done(&answer(503, "{}")), Err(Undelivered::Later { .. })));
        assert!(matches!(done(&answer(404, "no core")), Err(Undelivered::Wrong(_))));
    }
}
