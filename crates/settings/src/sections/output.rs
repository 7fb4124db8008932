//! The section `[output]`.

use super::common::{is_endpoint, not_empty};
use crate::form::{Choice, Optional, Path, Phrase, Text};
use crate::values::Secret;
use std::path::PathBuf;

section! {
    /// The form in which changes are published.
    output: Output {
        /// Form of the records of the topic `page-changes`.
        format: OutputFormat = Choice(OutputFormat::NAMES),
        /// Address of a schema registry with Confluent's API.
        registry: Option<String> =
            Optional(Text("the address of a schema registry, such as \"https://registry.example.org\"", is_endpoint)),
        /// User at the registry. `None` means no login.
        registry_username: Option<String> = Optional(Text("a user name", not_empty)),
        /// Password at the registry.
        registry_password: Option<Secret> = Optional(Phrase),
        /// File with that password. Read at each attempt.
        registry_password_file: Option<PathBuf> =
            Optional(Path("a file name, such as \"/run/secrets/registry/password\"")),
        /// PEM file with the certificate authorities for the registry. `None` means the public ones.
        registry_ca_file: Option<PathBuf> = Optional(Path("a file name, such as \"registry-ca.pem\"")),
    }
}

/// Form of the records of the topic `page-changes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Avro single objects, like all other topics.
    Avro,
    /// Avro in the wire format of Confluent's clients, with the schema at a registry.
    Confluent,
    /// A JSON object per change.
    Json,
}

impl OutputFormat {
    /// Every form with its name.
    pub(crate) const NAMES: &[(&str, OutputFormat)] =
        &[("avro", OutputFormat::Avro), ("confluent", OutputFormat::Confluent), ("json", OutputFormat::Json)];
}
