//! The section `[http]`.

use super::common::SOCKET;
use crate::form::{Flag, Hidden, List, Optional, Path, Text};
use crate::values::Secret;
use std::net::SocketAddr;
use std::path::PathBuf;

section! {
    /// Endpoints for health, metrics and status.
    http: Http {
        /// Address and port to listen on; port 0 takes any free one.
        bind: SocketAddr = SOCKET,
        /// Host names under which requests may address the port, besides localhost and IP addresses.
        names: Vec<String> = List(Text("host names, such as [\"recrawl.example.org\"]", is_host_name)),
        /// Token for commands and texts of pages, besides that of the data directory.
        token: Option<Secret> = Optional(Hidden(16, 512)),
        /// File of that token.
        token_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/recrawl/token\"")),
        /// File of the keys of single people and programs.
        keys_file: Option<PathBuf> = Optional(Path("a file name, such as \"/etc/recrawl/keys.toml\"")),
        /// File of the secret by which several processes know each other's forms of the console.
        forms_key_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/recrawl/forms-key\"")),
        /// PEM file with the certificate of the port, and those between it and its authority.
        tls_certificate: Option<PathBuf> = Optional(Path("a file name, such as \"tls.crt\"")),
        /// PEM file with the key of the certificate.
        tls_key: Option<PathBuf> = Optional(Path("a file name, such as \"tls.key\"")),
        /// PEM file with the authorities that commands trust at the port of a running crawl.
        ca_file: Option<PathBuf> = Optional(Path("a file name, such as \"company-ca.pem\"")),
        /// Whether nothing but a proxy that asks for a login reaches the address.
        behind_proxy: bool = Flag,
    }
}

fn is_host_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
}
