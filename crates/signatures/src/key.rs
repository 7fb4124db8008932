//! Keys of Ed25519 (RFC 8032), their thumbprints, and the file they lie in.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use std::fmt;

/// Bytes of a public key, and of the seed of a private one.
pub(crate) const KEY_BYTES: usize = 32;
/// Characters of base64 on a line of PEM (RFC 7468).
const PEM_LINE: usize = 64;

/// Why a key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text is no PEM.
    #[error("no PEM: {0}")]
    NotPem(String),
    /// There is no `PRIVATE KEY` in it.
    #[error("there is no PRIVATE KEY in it")]
    NoKey,
    /// The key is of another kind, or damaged.
    #[error("key {place} is no Ed25519 key in PKCS #8")]
    NotEd25519 {
        /// Place of the key in the file, counted from 1.
        place: usize,
    },
}

/// A thumbprint of a public key: SHA-256 over its required members as a JWK (RFC 7638, RFC 8037 appendix A.3), in base64url.
/// It is the `keyid` of signatures and the `kid` in directories.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(String);

impl KeyId {
    /// The thumbprint in base64url without padding, 43 characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The public half of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub(crate) [u8; KEY_BYTES]);

impl PublicKey {
    /// The key whose member `x` of a JWK (RFC 8037) this is: 32 bytes in base64url without padding. `None` if it is not.
    pub fn from_x(x: &str) -> Option<Self> {
        BASE64_URL_SAFE_NO_PAD.decode(x).ok()?.try_into().ok().map(Self)
    }

    /// The member `x` of its JWK.
    pub fn x(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Its thumbprint.
    pub fn id(&self) -> KeyId {
        // The required members, sorted, without white space (RFC 7638 section 3.3).
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.x());
        KeyId(BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, jwk.as_bytes())))
    }

    /// Whether the key's owner signed these bytes.
    pub fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(signed, signature).is_ok()
    }
}

/// A key that signs. Its private half is never shown by `Debug`.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
    id: KeyId,
}

impl SigningKey {
    /// The key of a seed (RFC 8032 section 5.1.5), which must be drawn by chance.
    pub fn from_seed(seed: &[u8; KEY_BYTES]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("any 32 bytes are a seed");
        Self::of(pair)
    }

    fn of(pair: Ed25519KeyPair) -> Self {
        let public = pair.public_key().as_ref().try_into().expect("a public key has 32 bytes");
        let public = PublicKey(public);
        Self { pair, id: public.id(), public }
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The thumbprint of the public half.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// The signature of some bytes, 64 bytes long.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(bytes).as_ref().to_vec()
    }

    /// The key as PEM: PKCS #8 (RFC 8410), as OpenSSL writes it. It is a secret.
    pub fn to_pem(&self) -> String {
        let document = self.pair.to_pkcs8v1().expect("a key that was made can be written");
        let encoded = BASE64_STANDARD.encode(document.as_ref());
        let lines = encoded.as_bytes().chunks(PEM_LINE).map(|line| String::from_utf8_lossy(line));
        let lines = lines.collect::<Vec<_>>().join("\n");
        format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n")
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id)
    }
}

/// The keys of a file in PEM, in their order: the first signs, and all are published. Text between keys is ignored.
pub fn keys_of_pem(pem: &str) -> Result<Vec<SigningKey>, KeyError> {
    let key = |(place, key): (usize, Result<PrivatePkcs8KeyDer<'_>, _>)| {
        let key = key.map_err(|error: rustls_pki_types::pem::Error| KeyError::NotPem(error.to_string()))?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.secret_pkcs8_der());
        pair.map(SigningKey::of).map_err(|_| KeyError::NotEd25519 { place: place + 1 })
    };
    let keys: Vec<_> =
        PrivatePkcs8KeyDer::pem_slice_iter(pem.as_bytes()).enumerate().map(key).collect::<Result<_, _>>()?;
    if keys.is_empty() { Err(KeyError::NoKey) } else { Ok(keys) }
}
