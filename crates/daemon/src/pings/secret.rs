//! Secrets that requests show: how they are read, and compared in constant time.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use settings::Secret;

/// Whether the value shown equals the secret.
pub(crate) fn knows(secret: &Secret, shown: &str) -> bool {
    verify_slices_are_equal(secret.reveal().as_bytes(), shown.as_bytes()).is_ok()
}

/// The credentials of a scheme in the header `Authorization`. Schemes are case-insensitive (RFC 9110, section 11.1).
pub(crate) fn credentials<'a>(header: &'a str, scheme: &str) -> Option<&'a str> {
    let (named, credentials) = header.split_once(' ')?;
    named.eq_ignore_ascii_case(scheme).then(|| credentials.trim())
}

/// Whether a body is signed as in `X-Hub-Signature` (WebSub, section 8): `method=hex digits`.
pub(crate) fn is_signed(secret: &Secret, body: &[u8], header: &str) -> bool {
    let Some((method, signature)) = header.trim().split_once('=') else { return false };
    let algorithm = match method.to_ascii_lowercase().as_str() {
        "sha1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        "sha256" => hmac::HMAC_SHA256,
        "sha384" => hmac::HMAC_SHA384,
        "sha512" => hmac::HMAC_SHA512,
        _ => return false,
    };
    let Some(signature) = from_hex(signature) else { return false };
    hmac::verify(&hmac::Key::new(algorithm, secret.reveal().as_bytes()), body, &signature).is_ok()
}

/// Bytes that are written as pairs of hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
