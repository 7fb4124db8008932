//! How does a site check who asks? HTTP Message Signatures (RFC 9421) as Web Bot Auth profiles them
//! (draft-ietf-webbotauth-httpsig-protocol-01), with Ed25519 alone.
//!
//! A crawler signs the authority that it asks and the address of its key directory ([`sign_request`]). The site finds the
//! public keys there ([`directory`]), chooses one by its thumbprint (RFC 7638), and verifies ([`verify_request`]).
//!
//! The crate never opens a file or a socket, reads no clock and draws no number: a key is made of a seed, and a signature
//! of times that are arguments.

mod asked;
pub mod directory;
mod fields;
mod key;
mod request;
mod verify;

pub use crate::asked::{AskedSignature, asked_signature};
pub use crate::fields::StructuredFieldError;
pub use crate::key::{KeyError, KeyId, PublicKey, SigningKey, keys_of_pem};
pub use crate::request::{RequestSignature, SignatureLife, sign_request};
pub use crate::verify::{Refusal, SignedRequest, verify_request};

/// The tag of requests (draft section 4.2).
pub const REQUEST_TAG: &str = "web-bot-auth";
/// The tag of a signed directory (draft appendix B.1).
pub const DIRECTORY_TAG: &str = "http-message-signatures-directory";

/// The signature base of RFC 9421 section 2.5: a line for each component, and the parameters last.
///
/// `components` are identifiers as they stand in the signature input, quotes and parameters included, with their values.
/// `parameters` is the inner list of the signature input with its parameters.
pub fn signature_base(components: &[(&str, &str)], parameters: &str) -> String {
    let length = components.iter().map(|(identifier, value)| identifier.len() + value.len() + 3).sum::<usize>();
    let mut base = String::with_capacity(length + parameters.len() + 24);
    for (identifier, value) in components {
        for part in [*identifier, ": ", value, "\n"] {
            base.push_str(part);
        }
    }
    base.push_str("\"@signature-params\": ");
    base.push_str(parameters);
    base
}

/// The value of `content-digest` for a body (RFC 9530), by SHA-256.
pub fn content_digest(body: &[u8]) -> String {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, body);
    format!("sha-256=:{}:", BASE64_STANDARD.encode(digest))
}

#[cfg(test)]
mod tests;
