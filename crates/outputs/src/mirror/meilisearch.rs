//! Meilisearch: documents are added and deleted by tasks, which the server carries out in their order.

use super::batch::{PageUpdate, parted};
use super::search_index::{Fate, SearchIndex};
use super::web_server::{Answer, WebServer, unreadable};
use crate::sink::Undelivered;
use crate::source::pause;
use daemon::StopSignal;
use serde::Deserialize;
use std::time::Duration;
use ureq::http::Method;

const ENGINE: &str = "Meilisearch";
const JSON: &str = "application/json";
/// Wait before the first look at a task. It doubles with each further one.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_secs(5);
/// Looks at a task until its batch counts as failed: about an hour.
const MOST_LOOKS: u32 = 700;

/// An index.
pub struct Meilisearch {
    server: WebServer,
    name: String,
    stop: StopSignal,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Enqueued {
    task_uid: u64,
}

#[derive(Deserialize)]
struct Task {
    status: String,
    #[serde(default)]
    error: Option<TaskError>,
}

#[derive(Deserialize)]
struct TaskError {
    message: String,
    code: String,
    #[serde(rename = "type")]
    kind: String,
}

impl Meilisearch {
    /// The index of this name. The server makes it with the first document.
    pub fn new(server: WebServer, name: String, stop: &StopSignal) -> Self {
        Self { server, name, stop: stop.clone() }
    }

    fn carried_out(&self, path: &str, body: Vec<u8>) -> Result<(), Undelivered> {
        let path = format!("/indexes/{}{path}", self.name);
        let task = enqueued(&self.server.request(Method::POST, &path, JSON, body)?)?;
        for look in 0..MOST_LOOKS {
            pause(FIRST_LOOK.saturating_mul(1 << look.min(16)).min(LONGEST_LOOK), &self.stop);
            let answer = self.server.request(Method::GET, &format!("/tasks/{task}"), "", Vec::new())?;
            if is_done(&answer, task)? {
                return Ok(());
            }
            if self.stop.is_stopped() {
                break;
            }
        }
        Err(Undelivered::later(format!("task {task} of the index is not done")))
    }
}

impl SearchIndex for Meilisearch {
    fn prepare(&mut self) -> Result<(), Undelivered> {
        // The first document makes the index; here only the address and the key are tried.
        let answer = self.server.request(Method::GET, &format!("/indexes/{}", self.name), "", Vec::new())?;
        if answer.status == 404 { Ok(()) } else { answer.taken().map(drop) }
    }

    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered> {
        let (documents, deletions) = parted(updates);
        let json = |value: Result<Vec<u8>, serde_json::Error>| value.expect("texts and numbers are JSON");
        if !documents.is_empty() {
            self.carried_out("/documents?primaryKey=id", json(serde_json::to_vec(&documents)))?;
        }
        if !deletions.is_empty() {
            self.carried_out("/documents/delete-batch", json(serde_json::to_vec(&deletions)))?;
        }
        Ok(vec![Fate::Applied; updates.len()])
    }
}

/// The number of the task that a request has become.
fn enqueued(answer: &Answer) -> Result<u64, Undelivered> {
    let body = answer.taken()?;
    let task: Enqueued = serde_json::from_slice(body).map_err(|error| unreadable(ENGINE, &error, body))?;
    Ok(task.task_uid)
}

/// Whether a task is done.
fn is_done(answer: &Answer, task: u64) -> Result<bool, Undelivered> {
    let body = answer.taken()?;
    let found: Task = serde_json::from_slice(body).map_err(|error| unreadable(ENGINE, &error, body))?;
    match (found.status.as_str(), found.error) {
        ("succeeded", _) => Ok(true),
        // Nothing was there to delete from.
        ("failed", Some(error)) if error.code == "index_not_found" => Ok(true),
        ("failed", Some(TaskError { message, code, kind })) => {
            let problem = format!("task {task} of the index failed: {code}: {message}");
            Err(if kind == "invalid_request" { Undelivered::Refused(problem) } else { Undelivered::later(problem) })
        }
        ("failed" | "canceled", _) => Err(Undelivered::later(format!("task {task} of the index was {}", found.status))),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::web_server::tests::answer;

    /// The answers in "Documents" and "Tasks" of the reference.
    #[test]
    fn a_request_becomes_a_task_that_succeeds_fails_or_is_not_done_yet() {
        let body = r#"{"taskUid":7,"indexUid":"pages","status":"enqueued","type":"documentAdditionOrUpdate",
            "enqueuedAt":"2026-11-30T07:00:00Z"}"#;
        assert_eq!(enqueued(&answer(202, body)).expect("it is one"), 7);
        let task = |status: &str, error: &str| {
            is_done(&answer(200, &format!(r#"{{"uid":7,"status":"{status}","error":{error}}}"#)), 7)
        };
        let error =
            |code: &str, kind: &str| format!(r#"{{"message":"why","code":"{code}","type":"{kind}","link":"x"}}"#);
        assert!(matches!(task("succeeded", "null"), Ok(true)));
        assert!(matches!(task("enqueued", "null"), Ok(false)));
        assert!(matches!(task("processing", "null"), Ok(false)));
        assert!(matches!(task("failed", &error("index_not_found", "invalid_request")), Ok(true)));
        let refused = task("failed", &error("invalid_document_id", "invalid_request"));
        let expected = "task 7 of the index failed: invalid_document_id: why";
        assert!(matches!(refused, Err(Undelivered::Refused(problem)) if problem == expected));
        assert!(matches!(task("failed", &error("internal", "internal")), Err(Undelivered::Later { .. })));
        assert!(matches!(task("canceled", "null"), Err(Undelivered::Later { .. })));
        assert!(matches!(enqueued(&answer(202, "hello")), Err(Undelivered::Later { .. })));
        assert!(matches!(enqueued(&answer(401, "no key")), Err(Undelivered::Wrong(_))));
    }
}
