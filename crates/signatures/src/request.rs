//! Signs a request as Web Bot Auth asks (draft section 4.2).

use crate::fields::quoted;
use crate::key::SigningKey;
use crate::{REQUEST_TAG, signature_base};
use base64::prelude::{BASE64_STANDARD, Engine as _};

/// The label of our signature, and the key of our member of `signature-agent`.
const LABEL: &str = "sig1";

/// The time in which a signature holds, in seconds of Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureLife {
    /// When it was made (`created`).
    pub created: i64,
    /// When it stops to hold (`expires`). The draft recommends 24 hours after `created` at most.
    pub expires: i64,
}

/// The three fields of a signed request, as values of headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSignature {
    /// `signature-agent`: where the keys are.
    pub agent: String,
    /// `signature-input`: which components are signed, and how.
    pub input: String,
    /// `signature`.
    pub signature: String,
}

impl RequestSignature {
    /// Names and values of the headers.
    pub fn headers(&self) -> [(&'static str, &str); 3] {
        [("signature-agent", &self.agent), ("signature-input", &self.input), ("signature", &self.signature)]
    }
}

/// Signs a request to an authority: host name in lower case, and port unless it is 443 (RFC 9421 section 2.2.3).
///
/// `directory` is the address of the key directory: absolute, with https, in printable ASCII (draft section 4.2.1). The signature covers the authority and the
/// directory alone, so it holds for every request to that authority until it expires. `nonce` is what the site asked to be
/// signed with it ([`asked_signature`](crate::asked_signature)).
pub fn sign_request(
    key: &SigningKey,
    authority: &str,
    directory: &str,
    life: SignatureLife,
    nonce: Option<&str>,
) -> RequestSignature {
    let agent = quoted(directory);
    let agent_identifier = format!("\"signature-agent\";key=\"{LABEL}\"");
    let nonce = nonce.map(|nonce| format!(";nonce={}", quoted(nonce))).unwrap_or_default();
    let SignatureLife { created, expires } = life;
    let parameters = format!(
        "(\"@authority\" {agent_identifier});created={created};expires={expires};keyid=\"{}\";alg=\"ed25519\"{nonce}\
         ;tag=\"{REQUEST_TAG}\"",
        key.id()
    );
    let base = signature_base(&[("\"@authority\"", authority), (&agent_identifier, &agent)], &parameters);
    RequestSignature {
        agent: format!("{LABEL}={agent}"),
        input: format!("{LABEL}={parameters}"),
        signature: format!("{LABEL}=:{}:", BASE64_STANDARD.encode(key.sign(base.as_bytes()))),
    }
}
