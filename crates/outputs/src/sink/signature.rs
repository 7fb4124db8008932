//! Signs webhooks by the Standard Webhooks (standardwebhooks.com), for which receivers have libraries.

use aws_lc_rs::hmac;
use base64::prelude::{BASE64_STANDARD, Engine};
use std::path::Path;

/// Environment variable with the secret.
pub const SECRET_VARIABLE: &str = "RECRAWL_WEBHOOK_SECRET";
/// The prefix of a secret in base64.
const ENCODED: &str = "whsec_";
/// Least length of a secret in bytes. The standard asks for 24, other senders for 16.
const LEAST_BYTES: usize = 16;
/// How a secret is made.
const ONE_WAY: &str = "for example: openssl rand -base64 32 | sed s/^/whsec_/";

/// The most secrets at a time: the one that goes and the one that comes, with room for a third.
const MOST_SECRETS: usize = 4;

/// Signs with one secret or several. While a secret is changed, receivers know the old one or the new one.
pub struct Signer(Vec<hmac::Key>);

impl Signer {
    /// The signer of secrets, one a line: `whsec_` and base64, or any other text as it is.
    fn new(secrets: &str, named: &str) -> Result<Self, String> {
        let lines: Vec<&str> = secrets.lines().filter(|line| !line.is_empty()).collect();
        match lines.len() {
            0 => Err(format!("{named}: there is no secret; {ONE_WAY}")),
            1..=MOST_SECRETS => Ok(Self(lines.iter().map(|secret| key(secret, named)).collect::<Result<_, _>>()?)),
            lines => Err(format!(
                "{named}: there are {lines} secrets; at most {MOST_SECRETS} are used at a time, one a line"
            )),
        }
    }

    /// The signer of the secrets in a file.
    ///
    /// # Errors
    /// Says what is wrong, beginning with the name of the file.
    pub fn of_file(file: &Path) -> Result<Self, String> {
        let named = file.display().to_string();
        let secret = std::fs::read_to_string(file).map_err(|error| format!("{named}: {error}"))?;
        Self::new(&secret, &named)
    }

    /// The signer of the secrets in the environment, if there are any.
    ///
    /// # Errors
    /// Says what is wrong, beginning with the name of the variable.
    pub fn of_environment() -> Result<Option<Self>, String> {
        let secret = std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty());
        secret.map(|secret| Self::new(&secret, SECRET_VARIABLE)).transpose()
    }

    /// The value of `webhook-signature` for a message with this id, time in Unix seconds, and body: one signature for each
    /// secret, of which a receiver takes any.
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let signature = |key: &hmac::Key| {
            let mut context = hmac::Context::with_key(key);
            context.update(format!("{id}.{timestamp}.").as_bytes());
            context.update(body);
            format!("v1,{}", BASE64_STANDARD.encode(context.sign()))
        };
        self.0.iter().map(signature).collect::<Vec<_>>().join(" ")
    }
}

fn key(secret: &str, named: &str) -> Result<hmac::Key, String> {
    let bytes = match secret.strip_prefix(ENCODED) {
        Some(encoded) => BASE64_STANDARD.decode(encoded).map_err(|_| {
            format!("{named}: what follows {ENCODED} is not base64; write one that is, or leave out {ENCODED}")
        })?,
        None => secret.as_bytes().to_vec(),
    };
    if bytes.len() < LEAST_BYTES {
        return Err(format!("{named}: the secret has {} bytes; it needs {LEAST_BYTES}, {ONE_WAY}", bytes.len()));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
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
    fn while_a_secret_is_changed_a_message_is_signed_with_the_old_one_and_the_new_one() {
        let (old, new) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "another secret of words");
        let sign = |secrets: &str| Signer::new(secrets, "a test").expect("they are secrets").sign("id", 1, b"body");
        assert_eq!(sign(&format!("{new}\r\n\n{old}\n")), format!("{} {}", sign(new), sign(old)));
    }

    #[test]
    fn a_secret_that_cannot_be_one_is_refused_without_quoting_it() {
        let problem = |secret| match Signer::new(secret, "SECRET") {
            Err(problem) => problem,
            Ok(_) => panic!("{secret} was taken"),
        };
        assert!(problem("too-short").starts_with("SECRET: the secret has 9 bytes; it needs 16"));
        assert!(problem("whsec_abcdefghi%").starts_with("SECRET: what follows whsec_ is not base64"));
        assert!(!problem("whsec_abcdefghi%").contains("abcdefghi"));
        assert!(Signer::new("a secret of words", "SECRET").is_ok());
        assert!(problem("\n").starts_with("SECRET: there is no secret"));
        assert!(problem("a secret of words\nshort").starts_with("SECRET: the secret has 5 bytes"));
        assert!(problem(&"a secret of words\n".repeat(5)).starts_with("SECRET: there are 5 secrets"));
    }
}
