//! The section `[identity]`.

use crate::fetch::AllowedAddress;
use crate::form::{Choice, List, Optional, Parsed, Path, Text};
use page::CanonicalUrl;
use std::path::PathBuf;

/// Longest address of a key directory. It is sent with every signed request.
const MAX_DIRECTORY: usize = 512;

section! {
    /// How sites can check who asks.
    identity: Identity {
        /// PEM file with Ed25519 keys. The first signs requests, all are published.
        key_file: Option<PathBuf> = Optional(Path("a file name, such as \"identity.pem\"")),
        /// Address under which the public keys are served.
        directory: Option<String> = Optional(Text(
            "an https address, such as \"https://bot.example.org/.well-known/http-message-signatures-directory\"",
            is_directory,
        )),
        /// Which requests are signed.
        sign: Signing = Choice(&[
            ("never", Signing::Never),
            ("asked", Signing::Asked),
            ("always", Signing::Always),
        ]),
        /// Networks that requests come from, for publication.
        addresses: Vec<AllowedAddress> = List(Parsed(
            "networks or addresses, such as [\"203.0.113.0/24\", \"2001:db8::/48\"]",
            AllowedAddress::parse_network,
        )),
    }
}

/// Which requests over TLS are signed, if there is a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// None.
    Never,
    /// Those to origins that asked for a signature.
    Asked,
    /// All.
    Always,
}

/// The address goes into a structured field as a string.
fn is_directory(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
    is_plain && text.len() <= MAX_DIRECTORY && text.starts_with("https://") && CanonicalUrl::parse(text).is_ok()
}
