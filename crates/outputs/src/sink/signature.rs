//! Signs webhooks by the Standard Webhooks (standardwebhooks.com), for which receivers have libraries.

use aws_lc_rs::hmac;
use base64::prelude::{BASE64_STANDARD, Engine};
use daemon::CommandFailure;
use std::path::Path;

/// Environment variable with the secret.
pub const SECRET_VARIABLE: &str = "RECRAWL_WEBHOOK_SECRET";
/// The prefix of a secret in base64.
const ENCODED: &str = "whsec_";
/// Least length of a secret in bytes. The standard asks for 24, other senders for 16.
const LEAST_BYTES: usize = 16;

pub struct Signer(hmac::Key);

impl Signer {
    /// The signer of a secret: `whsec_` and base64, or any other text as it is.
    fn new(secret: &str, named: &str) -> Result<Self, CommandFailure> {
        let secret = secret.trim_end_matches(['\r', '\n']);
        let bytes = match secret.strip_prefix(ENCODED) {
            Some(encoded) => BASE64_STANDARD.decode(encoded).map_err(|_| {
                CommandFailure::Input(format!(
                    "{named}: what follows {ENCODED} is not base64; write one that is, or leave out {ENCODED}"
                ))
            })?,
            None => secret.as_bytes().to_vec(),
        };
        if bytes.len() < LEAST_BYTES {
            return Err(CommandFailure::Input(format!(
                "{named}: the secret has {} bytes; it needs {LEAST_BYTES}, for example: openssl rand -base64 32 | sed s/^/{ENCODED}/",
                bytes.len()
            )));
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The signer of the secret in a file or else in the environment, if there is one.
    pub fn find(file: Option<&Path>) -> Result<Option<Self>, CommandFailure> {
        if let Some(file) = file {
            let named = format!("--secret-file {}", file.display());
            let secret =
                std::fs::read_to_string(file).map_err(|error| CommandFailure::Input(format!("{named}: {error}")))?;
            return Self::new(&secret, &named).map(Some);
        }
        let secret = std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty());
        secret.map(|secret| Self::new(&secret, SECRET_VARIABLE)).transpose()
    }

    /// The value of `webhook-signature` for a message with this id, time in Unix seconds, and body.
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", BASE64_STANDARD.encode(context.sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_signed_as_in_the_examples_of_the_standard() {
        let signer = Signer::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "a test").expect("it is a secret");
        let signature = signer.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_cannot_be_one_is_refused_without_quoting_it() {
        let problem = |secret| match Signer::new(secret, "SECRET") {
            Err(failure) => failure.to_string(),
            Ok(_) => panic!("{secret} was taken"),
        };
        assert!(problem("too-short").starts_with("SECRET: the secret has 9 bytes; it needs 16"));
        assert!(problem("whsec_abcdefghi%").starts_with("SECRET: what follows whsec_ is not base64"));
        assert!(!problem("whsec_abcdefghi%").contains("abcdefghi"));
        assert!(Signer::new("a secret of words", "SECRET").is_ok());
    }
}
