//! Object storage that belongs to one test: the server of moto, which checks keys, signatures and rights.

use crate::web::authority_files;
use crate::workspace;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// The bucket that is there.
pub const BUCKET: &str = "archive";

/// A running storage with one bucket. It ends with its test, however that ends: its script reads from the test.
pub struct ObjectStorage {
    url: String,
    region: String,
    exporter: [String; 2],
    reader: [String; 2],
    half: [String; 2],
    owner: [String; 2],
    /// Certificate and key, for TLS.
    tls: Option<(TempDir, PathBuf)>,
    script: Child,
    talk: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

/// The objects and incomplete uploads in a bucket.
#[derive(Debug)]
pub struct Listing {
    /// Bytes of the objects by their keys.
    pub objects: BTreeMap<String, u64>,
    /// Keys of uploads that are not complete, and how many parts they have.
    pub uploads: Vec<(String, u64)>,
}

impl ObjectStorage {
    /// Starts it on a port of loopback. `None`, and a line that says so, when moto is not there; never on CI.
    pub fn start() -> Option<Self> {
        Self::listen(None)
    }

    /// The same with TLS, as `localhost`, with a certificate of an authority that no client trusts by itself.
    pub fn start_with_tls() -> Option<Self> {
        Self::listen(Some(authority_files(vec!["localhost".to_owned()])))
    }

    fn listen(tls: Option<(TempDir, [PathBuf; 2])>) -> Option<Self> {
        let left_out = |why: &str| {
            assert!(std::env::var_os("CI").is_none(), "there is no object storage: {why}");
            println!("LEFT OUT: there is no object storage: {why}");
            None
        };
        let Some(python) = std::env::var_os("RECRAWL_PYTHON") else { return left_out("RECRAWL_PYTHON is not set") };
        let script = workspace().join("tests/embedded/object_storage.py");
        let files = tls.iter().flat_map(|(_, files)| files);
        let script = Command::new(&python)
            .arg(script)
            .arg(BUCKET)
            .args(files)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut script = match script {
            Ok(script) => script,
            Err(error) => return left_out(&format!("{}: {error}", python.display())),
        };
        let stdin = script.stdin.take().expect("it is piped");
        let mut stdout = BufReader::new(script.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a pipe can be read");
        if line.is_empty() && script.wait().expect("it has ended").code() == Some(3) {
            return left_out("moto is not installed");
        }
        let said: Value = serde_json::from_str(&line).expect("the server starts; see above");
        let text = |name: &str| said[name].as_str().expect("the script says it").to_owned();
        let pair = |name: &str| [0, 1].map(|at| said[name][at].as_str().expect("a key is a text").to_owned());
        Some(Self {
            url: text("url"),
            region: text("region"),
            exporter: pair("exporter"),
            reader: pair("reader"),
            half: pair("half"),
            owner: pair("owner"),
            tls: tls.map(|(directory, [certificate, _])| (directory, certificate)),
            script,
            talk: Mutex::new((stdin, stdout)),
        })
    }

    /// The environment of a program that may export.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&self.exporter)
    }

    /// The environment of a program that may only read.
    pub fn variables_of_reader(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&self.reader)
    }

    /// The environment of a program that may write objects, but no progress.
    pub fn variables_without_progress(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&self.half)
    }

    /// The environment of a program that may do everything, in every bucket.
    pub fn variables_of_owner(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&self.owner)
    }

    /// The secret of [`variables`](Self::variables), which no output may show.
    pub fn secret(&self) -> &str {
        &self.exporter[1]
    }

    fn variables_of(&self, [key, secret]: &[String; 2]) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("AWS_ENDPOINT_URL", self.url.clone()),
            ("AWS_REGION", self.region.clone()),
            ("AWS_ACCESS_KEY_ID", key.clone()),
            ("AWS_SECRET_ACCESS_KEY", secret.clone()),
        ];
        variables.push(match &self.tls {
            None => ("AWS_ALLOW_HTTP", "true".to_owned()),
            Some((_, certificate)) => ("AWS_CA_BUNDLE", certificate.display().to_string()),
        });
        variables
    }

    /// The objects and incomplete uploads in the bucket, as boto3 sees them.
    pub fn list(&self) -> Listing {
        let answer = self.ask(json!({ "do": "list" }));
        let objects = answer["objects"].as_object().expect("objects have names").iter();
        let uploads = answer["uploads"].as_array().expect("uploads are a list").iter();
        Listing {
            objects: objects.map(|(key, size)| (key.clone(), size.as_u64().expect("a size"))).collect(),
            uploads: uploads.map(|it| serde_json::from_value(it.clone()).expect("a key and a number")).collect(),
        }
    }

    /// Fetches an object with boto3.
    pub fn fetch(&self, key: &str, to: &Path) {
        self.ask(json!({ "do": "fetch", "key": key, "to": to }));
    }

    /// Writes an object with boto3.
    pub fn put(&self, key: &str, text: &str) {
        self.ask(json!({ "do": "put", "key": key, "text": text }));
    }

    /// Deletes an object with boto3.
    pub fn delete(&self, key: &str) {
        self.ask(json!({ "do": "delete", "key": key }));
    }

    fn ask(&self, mut order: Value) -> Value {
        order["bucket"] = BUCKET.into();
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(talk.0, "{order}").expect("the script reads");
        let mut line = String::new();
        talk.1.read_line(&mut line).expect("a pipe can be read");
        serde_json::from_str(&line).expect("the script answers; see above")
    }
}

impl Drop for ObjectStorage {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}
