//! Typesense: documents are imported as lines, each with its own answer, and deleted by a filter.

use super::batch::{Document, PageUpdate, parted};
use super::search_index::{Fate, SearchIndex};
use super::web_server::{Answer, WebServer, unreadable};
use crate::sink::Undelivered;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::Method;

const ENGINE: &str = "Typesense";
const LINES: &str = "text/plain";
const JSON: &str = "application/json";
/// Ids in one filter, which stands in the address of its request.
const IDS_AT_ONCE: usize = 50;

/// A collection.
pub struct Typesense {
    server: WebServer,
    name: String,
}

impl Typesense {
    /// The collection of this name.
    pub fn new(server: WebServer, name: String) -> Self {
        Self { server, name }
    }
}

impl SearchIndex for Typesense {
    fn prepare(&mut self) -> Result<(), Undelivered> {
        let answer = self.server.request(Method::GET, &format!("/collections/{}", self.name), "", Vec::new())?;
        if answer.status != 404 {
            return taken(&answer).map(drop);
        }
        let body = creation(&self.name).to_string().into_bytes();
        let answer = self.server.request(Method::POST, "/collections", JSON, body)?;
        // The attempt before was faster.
        if answer.status == 409 { Ok(()) } else { taken(&answer).map(drop) }
    }

    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered> {
        let (documents, deletions) = parted(updates);
        let mut imported = Vec::new();
        if !documents.is_empty() {
            let path = format!("/collections/{}/documents/import?action=upsert", self.name);
            let answer = self.server.request(Method::POST, &path, LINES, import(&documents))?;
            imported = fates(taken(&answer)?, documents.len())?;
        }
        for ids in deletions.chunks(IDS_AT_ONCE) {
            taken(&self.server.request(Method::DELETE, &deletion(&self.name, ids), "", Vec::new())?)?;
        }
        let mut imported = imported.into_iter();
        let fate = |update: &&PageUpdate| match update.is_deletion() {
            true => Some(Fate::Applied),
            false => imported.next(),
        };
        Ok(updates.iter().filter_map(fate).collect())
    }
}

/// The body of an answer. 422 to a whole request says that the disk or memory is full, or writes are skipped, which passes.
fn taken(answer: &Answer) -> Result<&[u8], Undelivered> {
    answer.taken().map_err(|problem| match problem {
        Undelivered::Refused(problem) if answer.status == 422 => Undelivered::Later { problem, after: answer.after },
        other => other,
    })
}

/// Creates a collection.
fn creation(name: &str) -> Value {
    let field = |name: &str, kind: &str, is_facet: bool| json!({"name": name, "type": kind, "optional": true, "facet": is_facet});
    json!({"name": name, "fields": [
        field("url", "string", false), field("host", "string", true), field("title", "string", false),
        field("text", "string", false), field("language", "string", true), field("content_type", "string", true),
        field("published", "string", false), field("modified", "string", false), field("seen_at", "string", false),
        field("verdict", "string", true), field("version", "int32", false), field("truncated", "bool", true),
        field("preferences", "string[]", true),
    ]})
}

/// The lines of an import.
fn import(documents: &[Document<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for document in documents {
        body.extend(serde_json::to_vec(document).expect("texts and numbers are JSON"));
        body.push(b'\n');
    }
    body
}

/// The address that deletes documents. Ids are hexadecimal, so they need no quoting.
fn deletion(name: &str, ids: &[&str]) -> String {
    format!("/collections/{name}/documents?filter_by=id:%5B{}%5D", ids.join(","))
}

#[derive(Deserialize)]
struct ImportedLine {
    success: bool,
    #[serde(default)]
    error: String,
    #[serde(default)]
    code: u16,
}

/// The fates of the documents of an import.
fn fates(body: &[u8], documents: usize) -> Result<Vec<Fate>, Undelivered> {
    let text = String::from_utf8_lossy(body);
    let lines: Result<Vec<ImportedLine>, _> = text.lines().map(serde_json::from_str).collect();
    let lines = lines.map_err(|error| unreadable(ENGINE, &error, body))?;
    if lines.len() != documents {
        return Err(unreadable(ENGINE, &format!("{} lines for {documents} documents", lines.len()), body));
    }
    let fate = |line: ImportedLine| match (line.success, line.code) {
        (true, _) => Fate::Applied,
        (false, 408 | 429 | 500..=599) => Fate::Later(line.error),
        (false, _) => Fate::Rejected(line.error),
    };
    Ok(lines.into_iter().map(fate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::batch::tests::{end, page};

    #[test]
    fn an_import_has_a_line_for_each_document_and_deletions_are_a_filter() {
        let (new, gone) = (page("a", 1), end("b", 2));
        let (documents, _) = parted(&[&gone, &new]);
        let body = import(&documents);
        assert_eq!((documents.len(), body.iter().filter(|byte| **byte == b'\n').count()), (1, 1));
        let line: Value = serde_json::from_slice(&body).expect("it is JSON");
        assert_eq!((line["id"].as_str(), line["version"].as_i64()), (Some(new.id()), Some(2)));
        assert_eq!(deletion("pages", &["0a", "1b"]), "/collections/pages/documents?filter_by=id:%5B0a,1b%5D");
        assert_eq!(creation("pages")["fields"][0]["name"], "url");
    }

    /// The answers in "Import documents" of the reference.
    #[test]
    fn each_line_of_an_answer_has_its_own_fate() {
        let body = concat!(
            r#"{"success":true}"#,
            "\n",
            r#"{"code":400,"document":"{}","error":"Bad JSON.","success":false}"#,
            "\n",
            r#"{"code":503,"document":"{}","error":"Not Ready or Lagging","success":false}"#,
        );
        let expected =
            [Fate::Applied, Fate::Rejected("Bad JSON.".to_owned()), Fate::Later("Not Ready or Lagging".to_owned())];
        assert_eq!(fates(body.as_bytes(), 3).expect("it is one"), expected);
        assert!(matches!(fates(body.as_bytes(), 4), Err(Undelivered::Later { .. })));
        assert!(matches!(fates(b"<html>", 1), Err(Undelivered::Later { .. })));
    }
}
