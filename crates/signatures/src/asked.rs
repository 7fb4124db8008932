//! Reads `accept-signature`, by which a site asks for signatures (RFC 9421 section 5.1, draft section 4.3).

use crate::REQUEST_TAG;
use crate::fields::{Bare, Member, dictionary};

/// Longest nonce that is signed. The draft's own have 88 characters.
const MAX_NONCE: usize = 256;

/// A signature that a site asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedSignature {
    /// Text to be signed with the request, for this one request.
    pub nonce: Option<String>,
}

/// The first signature among those asked for that Web Bot Auth can give. `None` if the field asks for others only, or is
/// damaged. Of the components named in it those of the profile are signed, whatever else is named.
pub fn asked_signature(field: &str) -> Option<AskedSignature> {
    let asked = dictionary(field).ok()?;
    asked.into_iter().find_map(|(_, member)| {
        let Member::InnerList { parameters, .. } = member else { return None };
        let text = |name: &str| {
            let found = parameters.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| if let Bare::Text(text) = value { Some(text.as_str()) } else { None })
        };
        // A site that names no tag takes any.
        let is_ours = matches!(text("tag"), None | Some(None) | Some(Some(REQUEST_TAG)));
        let is_algorithm_ours = matches!(text("alg"), None | Some(None) | Some(Some("ed25519")));
        let nonce = text("nonce").flatten().filter(|nonce| !nonce.is_empty() && nonce.len() <= MAX_NONCE);
        (is_ours && is_algorithm_ours).then(|| AskedSignature { nonce: nonce.map(str::to_owned) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_asks_for_a_signature_of_web_bot_auth() {
        let check = |field: &str, expected: Option<Option<&str>>| {
            let asked = asked_signature(field).map(|asked| asked.nonce);
            assert_eq!(asked.as_ref().map(|nonce| nonce.as_deref()), expected, "{field}");
        };
        check(
            r#"sig1=("@authority" "signature-agent";key="sig1");created;expires;keyid;tag="web-bot-auth""#,
            Some(None),
        );
        check(r#"sig1=("@authority");tag="web-bot-auth";nonce="ab+/=""#, Some(Some("ab+/=")));
        check(r#"s=();nonce="1""#, Some(Some("1")));
        check(r#"a=("@method");tag="other", b=("@authority");tag="web-bot-auth""#, Some(None));
        check(r#"s=("@authority");alg="ed25519""#, Some(None));
        check(r#"s=("@authority");tag="other""#, None);
        check(r#"s=("@authority");alg="rsa-pss-sha512""#, None);
        check("s=1", None);
        check("s=(", None);
        check("", None);
    }

    #[test]
    fn an_endless_nonce_is_not_signed() {
        let field = format!("s=();nonce=\"{}\"", "n".repeat(MAX_NONCE + 1));
        assert_eq!(asked_signature(&field), Some(AskedSignature { nonce: None }));
    }
}
