//! A bucket of object storage that speaks the protocol of S3.
//!
//! Credentials, region and endpoint come from the environment, by the names that all programs for S3 use (`AWS_…`).

mod address;
mod client;
mod problem;

pub use self::address::StorageAddress;

use self::client::Connector;
use self::problem::LastFailure;
use bytes::Bytes;
use daemon::CommandFailure;
use daemon::web_client::authorities;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreExt, PutMode, PutPayload, RetryConfig, UpdateVersion,
};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Pauses between tries grow from here to there.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// PEM file of authorities, instead of the public ones. AWS's own programs read it too.
const CA_VARIABLE: &str = "AWS_CA_BUNDLE";

/// A bucket, with the prefix of its objects' names. Calls return when the storage has answered.
pub(super) struct Bucket {
    address: StorageAddress,
    store: AmazonS3,
    last: LastFailure,
    /// The library waits between tries on its timer.
    runtime: Runtime,
}

/// Why a call did not do what it should.
#[derive(Debug)]
pub(super) enum NotDone {
    /// There is no such object or upload.
    Missing,
    /// Another process has changed the object meanwhile.
    Changed,
    Failed(CommandFailure),
}

impl NotDone {
    /// The failure of a call for which neither is expected. `what` is the purpose of the call.
    pub(super) fn otherwise(self, what: impl Into<String>) -> CommandFailure {
        match self {
            NotDone::Missing | NotDone::Changed => CommandFailure::World(what.into()),
            NotDone::Failed(failure) => failure,
        }
    }
}

/// Version of an object that was read or written.
pub(super) type Version = UpdateVersion;

impl Bucket {
    /// Prepares for a bucket; asks it nothing yet. A request is tried again for so long.
    pub(super) fn open(address: &StorageAddress, give_up_after: Duration) -> Result<Self, CommandFailure> {
        let wrong = |problem: String| CommandFailure::Input(format!("{address}: {problem}"));
        let roots = std::env::var_os(CA_VARIABLE);
        let roots = authorities(roots.as_deref().map(std::path::Path::new));
        let roots = roots.map_err(|problem| CommandFailure::Input(format!("{CA_VARIABLE} {problem}")))?;
        let builder = AmazonS3Builder::from_env().with_bucket_name(&address.bucket);
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::S3Endpoint);
        let endpoint = endpoint.or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
        let allow_http = builder.get_config_value(&AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
        if endpoint.as_deref().is_some_and(|endpoint| endpoint.starts_with("http://"))
            && allow_http.as_deref() != Some("true")
        {
            return Err(wrong(
                "AWS_ENDPOINT_URL begins with http://, so pages would travel unprotected; give https://, or set \
                 AWS_ALLOW_HTTP=true"
                    .to_owned(),
            ));
        }
        let last = LastFailure::default();
        let retry = RetryConfig {
            backoff: BackoffConfig { init_backoff: FIRST_PAUSE, max_backoff: LONGEST_PAUSE, base: 2.0 },
            // Time is the limit.
            max_retries: usize::MAX,
            retry_timeout: give_up_after,
        };
        let store = builder.with_retry(retry).with_http_connector(Connector { roots, last: last.clone() }).build();
        let store = store.map_err(|error| wrong(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        Ok(Self { address: address.clone(), store, last, runtime })
    }

    pub(super) fn address(&self) -> &StorageAddress {
        &self.address
    }

    /// Names of the objects directly below the prefix.
    pub(super) fn names(&self) -> Result<Vec<String>, CommandFailure> {
        let list = self.wait(self.store.list_with_delimiter(self.address.prefix()));
        let list = list.map_err(|not_done| not_done.otherwise(format!("{}: it cannot be listed", self.address)))?;
        Ok(list.objects.iter().filter_map(|object| object.location.filename().map(str::to_owned)).collect())
    }

    pub(super) fn has(&self, name: &str) -> Result<bool, CommandFailure> {
        match self.wait(self.store.head(&self.key(name))) {
            Ok(_) => Ok(true),
            Err(NotDone::Missing) => Ok(false),
            Err(not_done) => Err(not_done.otherwise(format!("{}: it cannot be read", self.shown(name)))),
        }
    }

    /// A small object, if there is one.
    pub(super) fn read(&self, name: &str) -> Result<Option<(Bytes, Version)>, CommandFailure> {
        let key = self.key(name);
        let read = self.wait(async {
            let found = self.store.get(&key).await?;
            let version = Version { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
            Ok((found.bytes().await?, version))
        });
        match read {
            Ok(read) => Ok(Some(read)),
            Err(NotDone::Missing) => Ok(None),
            Err(not_done) => Err(not_done.otherwise(format!("{}: it cannot be read", self.shown(name)))),
        }
    }

    /// Writes a small object if it is still of this version, or still missing. A storage without such conditions, which
    /// the operator has said by AWS_CONDITIONAL_PUT=disabled, writes it in any case.
    pub(super) fn replace(&self, name: &str, content: &str, known: Option<&Version>) -> Result<Version, NotDone> {
        let key = self.key(name);
        let put = |mode: PutMode| {
            let payload = PutPayload::from(content.to_owned());
            self.store.put_opts(&key, payload, mode.into())
        };
        let mode = known.map_or(PutMode::Create, |version| PutMode::Update(version.clone()));
        let written = self.wait(async {
            match put(mode).await {
                Err(object_store::Error::NotImplemented { .. }) => put(PutMode::Overwrite).await,
                done => done,
            }
        });
        written.map(Version::from)
    }

    /// Writes an object as a whole, whatever is there.
    pub(super) fn put(&self, name: &str, content: Vec<u8>) -> Result<(), CommandFailure> {
        let put = self.wait(self.store.put(&self.key(name), PutPayload::from(content)));
        put.map(drop).map_err(|not_done| not_done.otherwise(format!("{}: it cannot be written", self.shown(name))))
    }

    /// Begins an upload. The object is invisible until it is complete.
    pub(super) fn begin(&self, name: &str) -> Result<String, CommandFailure> {
        let begun = self.wait(self.store.create_multipart(&self.key(name)));
        begun.map_err(|not_done| not_done.otherwise(format!("{}: it cannot be begun", self.shown(name))))
    }

    /// Sends a part. All but the last have the same size.
    pub(super) fn part(&self, name: &str, upload: &str, number: usize, bytes: Bytes) -> Result<PartId, NotDone> {
        let upload = upload.to_owned();
        self.wait(self.store.put_part(&self.key(name), &upload, number, PutPayload::from(bytes)))
    }

    /// Makes an object of the parts.
    pub(super) fn complete(&self, name: &str, upload: &str, parts: Vec<PartId>) -> Result<(), NotDone> {
        let upload = upload.to_owned();
        self.wait(self.store.complete_multipart(&self.key(name), &upload, parts)).map(drop)
    }

    /// Deletes the parts of an upload, unless it is complete.
    pub(super) fn abort(&self, name: &str, upload: &str) -> Result<(), CommandFailure> {
        let upload = upload.to_owned();
        match self.wait(self.store.abort_multipart(&self.key(name), &upload)) {
            Ok(()) | Err(NotDone::Missing) => Ok(()),
            Err(not_done) => Err(not_done.otherwise(format!("{}: it cannot be aborted", self.shown(name)))),
        }
    }

    /// An object's address, for people.
    pub(super) fn shown(&self, name: &str) -> String {
        self.address.of_object(name)
    }

    fn key(&self, name: &str) -> Path {
        self.address.key(name)
    }

    fn wait<T>(&self, call: impl Future<Output = object_store::Result<T>>) -> Result<T, NotDone> {
        self.last.forget();
        let error = match self.runtime.block_on(call) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        match (&error, self.last.code().as_str()) {
            (_, "NoSuchUpload") => Err(NotDone::Missing),
            (object_store::Error::NotFound { .. }, code) if code != "NoSuchBucket" => Err(NotDone::Missing),
            (object_store::Error::Precondition { .. } | object_store::Error::AlreadyExists { .. }, _) => {
                Err(NotDone::Changed)
            }
            _ => Err(NotDone::Failed(self.last.explain(&self.address.to_string(), &self.address.bucket, &error))),
        }
    }
}
