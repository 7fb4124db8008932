//! Changes of some time together, as they are published.

use serde::Serialize;

/// All changes between two digests: counted, and the most important ones shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChangeDigest {
    /// Its id, the same at every attempt.
    pub digest_id: String,
    /// The name of the receiver in the settings.
    pub receiver: String,
    /// Its content, in a sentence.
    pub sentence: String,
    /// Time of the digest before, or of the start of the receiver if this is its first, in RFC 3339.
    pub since: Option<String>,
    /// When it was due, in RFC 3339.
    pub due_at: String,
    /// Number of its changes.
    pub changes: u64,
    /// The changes by rule, those without a rule last.
    pub groups: Vec<DigestGroup>,
    /// Changes that are counted and not shown.
    pub more: u64,
    /// The command that shows all of them.
    pub command: String,
}

/// The changes of the pages of a rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DigestGroup {
    /// The name of the rule; absent for pages without one.
    pub rule: Option<String>,
    pub changes: u64,
    /// The hosts with changes that are shown, those with most changes first.
    pub hosts: Vec<DigestHost>,
    /// Changes on other hosts.
    pub more: u64,
}

/// The changes of the pages of a host, for a rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DigestHost {
    pub host: String,
    /// Number of its changes. Beyond the first ten thousand hosts of a digest, of those that are shown.
    pub changes: u64,
    /// The changes that are shown, in the order of their time.
    pub shown: Vec<DigestLine>,
    /// Changes that are not shown.
    pub more: u64,
}

/// A change in a digest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DigestLine {
    pub change_id: String,
    pub url: String,
    /// The change in a sentence, without the rule.
    pub headline: String,
    pub verdict: String,
    pub magnitude: f64,
    /// In RFC 3339.
    pub seen_at: String,
}
