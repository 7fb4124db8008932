//! The key directory: the public keys as a JWK set (RFC 7517), signed by each of them (draft section 5 and appendix B.1).

use crate::key::{PublicKey, SigningKey};
use crate::request::SignatureLife;
use crate::{DIRECTORY_TAG, content_digest, signature_base};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};

/// Where a directory is served, below its host.
pub const WELL_KNOWN: &str = "/.well-known/http-message-signatures-directory";
/// Media type of a directory.
pub const MEDIA_TYPE: &str = "application/http-message-signatures-directory+json";

#[derive(Serialize, Deserialize)]
struct Set {
    keys: Vec<Jwk>,
}

#[derive(Serialize, Deserialize)]
struct Jwk {
    kty: String,
    crv: Option<String>,
    kid: Option<String>,
    x: Option<String>,
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    use_for: Option<String>,
}

/// The directory of some keys, as JSON. Its bytes are signed, so they must be served as they are.
pub fn written(keys: &[PublicKey]) -> String {
    let jwk = |key: &PublicKey| Jwk {
        kty: "OKP".to_owned(),
        crv: Some("Ed25519".to_owned()),
        kid: Some(key.id().to_string()),
        x: Some(key.x()),
        use_for: Some("sig".to_owned()),
    };
    serde_json::to_string(&Set { keys: keys.iter().map(jwk).collect() }).expect("it has strings only")
}

/// The Ed25519 keys of a directory. Keys of other kinds are left out. `None` if it is no JWK set.
pub fn read(json: &str) -> Option<Vec<PublicKey>> {
    let set: Set = serde_json::from_str(json).ok()?;
    let ours = set.keys.iter().filter(|key| key.kty == "OKP" && key.crv.as_deref() == Some("Ed25519"));
    Some(ours.filter_map(|key| PublicKey::from_x(key.x.as_deref()?)).collect())
}

/// Headers of a directory's answer: `content-digest`, `signature-input` and `signature`, with a signature by each key. The
/// signatures cover the authority that serves the directory, so that it cannot be served under another name.
pub fn response_headers(
    keys: &[SigningKey],
    authority: &str,
    directory: &str,
    life: SignatureLife,
) -> [(&'static str, String); 3] {
    let digest = content_digest(directory.as_bytes());
    let SignatureLife { created, expires } = life;
    let signed = keys.iter().enumerate().map(|(place, key)| {
        let label = format!("binding{place}");
        let parameters = format!(
            "(\"@authority\";req \"content-digest\");created={created};expires={expires};keyid=\"{}\";alg=\"ed25519\"\
             ;tag=\"{DIRECTORY_TAG}\"",
            key.id()
        );
        let base = signature_base(&[("\"@authority\";req", authority), ("\"content-digest\"", &digest)], &parameters);
        let signature = BASE64_STANDARD.encode(key.sign(base.as_bytes()));
        (format!("{label}={parameters}"), format!("{label}=:{signature}:"))
    });
    let (inputs, signatures): (Vec<_>, Vec<_>) = signed.unzip();
    [("content-digest", digest), ("signature-input", inputs.join(", ")), ("signature", signatures.join(", "))]
}
