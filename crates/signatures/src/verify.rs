//! Verifies a signed request, as a site would (RFC 9421 section 3.2, draft section 4.4).

use crate::fields::{Bare, Item, Member, Parameters, StructuredFieldError, dictionary, serialised_list};
use crate::key::{KeyId, PublicKey};
use crate::{REQUEST_TAG, signature_base};

/// A request as its receiver sees it: the authority that it was sent to, and the fields of its signature.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// Host name in lower case, and port unless it is 443.
    pub authority: &'a str,
    /// The method, such as `GET`.
    pub method: &'a str,
    /// The path without the query.
    pub path: &'a str,
    /// Value of `signature-agent`, if it has one.
    pub agent: Option<&'a str>,
    /// Value of `signature-input`.
    pub input: &'a str,
    /// Value of `signature`.
    pub signature: &'a str,
}

/// Why a request is not taken as signed by a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field is damaged.
    #[error(transparent)]
    Field(#[from] StructuredFieldError),
    /// No signature of Web Bot Auth is among them.
    #[error("no signature has the tag web-bot-auth")]
    NoSignature,
    /// A component is named that the request does not have, or that the verifier does not know.
    #[error("component {0} is not in the request")]
    Component(String),
    /// Neither the authority nor the target is signed.
    #[error("@authority is not signed")]
    Authority,
    /// A parameter is missing or of the wrong kind.
    #[error("parameter {0} is missing")]
    Parameter(&'static str),
    /// No key has this thumbprint.
    #[error("no key has the id {0}")]
    Key(String),
    /// It was made in the future, or has expired.
    #[error("it does not hold at this time")]
    Time,
    /// The bytes are not signed by the key.
    #[error("the signature is wrong")]
    Signature,
}

/// Verifies the first signature of Web Bot Auth in a request, at a time in seconds of Unix time. Returns the key's id.
pub fn verify_request(request: &SignedRequest<'_>, keys: &[PublicKey], now: i64) -> Result<KeyId, Refusal> {
    let inputs = dictionary(request.input)?;
    let found = inputs.iter().find_map(|(label, member)| match member {
        Member::InnerList { items, parameters } if text(parameters, "tag") == Some(REQUEST_TAG) => {
            Some((label, items, parameters))
        }
        Member::InnerList { .. } | Member::Item(_) => None,
    });
    let (label, items, parameters) = found.ok_or(Refusal::NoSignature)?;
    if !items.iter().any(|item| matches!(&item.value, Bare::Text(name) if name == "@authority")) {
        return Err(Refusal::Authority);
    }
    let created = integer(parameters, "created")?;
    let expires = integer(parameters, "expires")?;
    if now < created || now >= expires {
        return Err(Refusal::Time);
    }
    let id = text(parameters, "keyid").ok_or(Refusal::Parameter("keyid"))?;
    let key = keys.iter().find(|key| key.id().as_str() == id).ok_or_else(|| Refusal::Key(id.to_owned()))?;
    let lines = items.iter().map(|item| Ok((item.serialised(), value_of(item, request)?)));
    let lines = lines.collect::<Result<Vec<_>, Refusal>>()?;
    let components: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let base = signature_base(&components, &serialised_list(items, parameters));
    let signatures = dictionary(request.signature)?;
    let signature = signatures.iter().find(|(known, _)| known == label);
    let Some((_, Member::Item(Item { value: Bare::Bytes(signature), .. }))) = signature else {
        return Err(Refusal::Signature);
    };
    key.verifies(base.as_bytes(), signature).then(|| key.id()).ok_or(Refusal::Signature)
}

/// The value of a component (RFC 9421 section 2).
fn value_of(item: &Item, request: &SignedRequest<'_>) -> Result<String, Refusal> {
    let unknown = || Refusal::Component(item.serialised());
    let Bare::Text(name) = &item.value else { return Err(unknown()) };
    match (name.as_str(), item.parameters.as_slice()) {
        ("@authority", []) => Ok(request.authority.to_owned()),
        ("@method", []) => Ok(request.method.to_owned()),
        ("@path", []) => Ok(request.path.to_owned()),
        ("signature-agent", []) => request.agent.map(str::to_owned).ok_or_else(unknown),
        ("signature-agent", [(parameter, Bare::Text(key))]) if parameter == "key" => {
            let members = dictionary(request.agent.ok_or_else(unknown)?)?;
            let member = members.into_iter().find(|(known, _)| known == key);
            match member {
                Some((_, Member::Item(item))) => Ok(item.serialised()),
                Some((_, Member::InnerList { .. })) | None => Err(unknown()),
            }
        }
        _ => Err(unknown()),
    }
}

fn text<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a str> {
    parameters.iter().find(|(known, _)| known == name).and_then(|(_, value)| match value {
        Bare::Text(text) => Some(text.as_str()),
        Bare::Integer(_) | Bare::Token(_) | Bare::Bytes(_) | Bare::Boolean(_) => None,
    })
}

fn integer(parameters: &Parameters, name: &'static str) -> Result<i64, Refusal> {
    match parameters.iter().find(|(known, _)| known == name) {
        Some((_, Bare::Integer(number))) => Ok(*number),
        _ => Err(Refusal::Parameter(name)),
    }
}
