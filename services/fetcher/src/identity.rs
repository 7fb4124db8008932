//! Signs requests, so that sites can check who asks (Web Bot Auth, `crates/signatures`).

use hyper::header::HeaderName;
use page::{CanonicalUrl, Timestamp};
use settings::Signing;
use signatures::{RequestSignature, SignatureLife, SigningKey, asked_signature, keys_of_pem, sign_request};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stream::Clock;

/// The header by which an origin asks for signatures (RFC 9421 section 5.1).
pub(crate) const ACCEPT_SIGNATURE: HeaderName = HeaderName::from_static("accept-signature");

/// How long a signature holds. Whoever sees it can use it for the same origin until then, so it is short; the draft allows a
/// day.
const HOLDS: Duration = Duration::from_secs(600);
/// How long it is used. The rest of its life is for clocks that differ, and for requests that are long under way.
const USED: Duration = Duration::from_secs(300);
/// Most signatures kept for use. When there are more, those that are over are dropped, or else all.
const MOST_MADE: usize = 4_096;
/// Most origins known to ask for signatures. When there are more, all are forgotten: each costs one request more.
const MOST_ASKERS: usize = 10_000;

/// Who asks: a key, and where its public half is.
#[derive(Debug)]
pub(crate) struct Identity {
    key: SigningKey,
    directory: String,
    /// Whether also those are signed that no origin asked for.
    always: bool,
}

impl Identity {
    /// The identity of the settings. `None` if no request is to be signed. The error says what is wrong with the file.
    pub(crate) fn configured(identity: &settings::Identity) -> Result<Option<Self>, String> {
        let settings::Identity { key_file: Some(file), directory: Some(directory), sign, .. } = identity else {
            return Ok(None);
        };
        let always = match sign {
            Signing::Never => return Ok(None),
            Signing::Asked => false,
            Signing::Always => true,
        };
        Ok(Some(Self { key: first_key(file)?, directory: directory.clone(), always }))
    }
}

/// The key of a file that signs.
fn first_key(file: &Path) -> Result<SigningKey, String> {
    let pem = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let keys = keys_of_pem(&pem).map_err(|error| error.to_string())?;
    keys.into_iter().next().ok_or_else(|| "there is no key in it".to_owned())
}

/// Signs the requests of a network thread, and knows which origins asked for it.
pub(crate) struct Signer {
    identity: Option<Arc<Identity>>,
    clock: Arc<dyn Clock>,
    made: RefCell<HashMap<String, Made>>,
    /// The origins that asked, each with the nonce to be signed next.
    askers: RefCell<HashMap<String, Option<String>>>,
    signings: Cell<u64>,
}

/// A signature in use.
struct Made {
    signature: Rc<RequestSignature>,
    at: Timestamp,
}

impl Signer {
    pub(crate) fn new(identity: Option<Arc<Identity>>, clock: Arc<dyn Clock>) -> Self {
        Self { identity, clock, made: RefCell::default(), askers: RefCell::default(), signings: Cell::default() }
    }

    /// The signature for a request to this URL. `None` if it is not to be signed, and never over plain http, where anyone on
    /// the way could take it.
    pub(crate) fn signature(&self, url: &CanonicalUrl) -> Option<Rc<RequestSignature>> {
        let identity = self.identity.as_deref().filter(|_| url.scheme() == "https")?;
        let mut askers = self.askers.borrow_mut();
        let asker = askers.get_mut(url.origin());
        if asker.is_none() && !identity.always {
            return None;
        }
        let now = self.clock.now();
        if let Some(nonce) = asker.and_then(Option::take) {
            return Some(Rc::new(self.sign(identity, url, now, Some(&nonce))));
        }
        let mut made = self.made.borrow_mut();
        if let Some(known) = made.get(url.origin())
            && known.at <= now
            && now.saturating_since(known.at) < USED
        {
            return Some(known.signature.clone());
        }
        if made.len() >= MOST_MADE {
            made.retain(|_, known| now.saturating_since(known.at) < USED);
            if made.len() >= MOST_MADE {
                made.clear();
            }
        }
        let signature = Rc::new(self.sign(identity, url, now, None));
        made.insert(url.origin().to_owned(), Made { signature: signature.clone(), at: now });
        Some(signature)
    }

    fn sign(&self, identity: &Identity, url: &CanonicalUrl, now: Timestamp, nonce: Option<&str>) -> RequestSignature {
        self.signings.set(self.signings.get() + 1);
        let created = now.as_secs();
        let life = SignatureLife { created, expires: created + HOLDS.as_secs() as i64 };
        sign_request(&identity.key, url.host().as_str(), &identity.directory, life, nonce)
    }

    /// Notes that an origin asks for signatures, by the lines of [`ACCEPT_SIGNATURE`] in an answer. Returns whether the same request
    /// would now be signed otherwise than it was.
    pub(crate) fn heeds<'a>(&self, url: &CanonicalUrl, lines: impl IntoIterator<Item = &'a str>) -> bool {
        let Some(identity) = self.identity.as_deref().filter(|_| url.scheme() == "https") else { return false };
        let Some(asked) = lines.into_iter().find_map(asked_signature) else { return false };
        let mut askers = self.askers.borrow_mut();
        let is_known = askers.contains_key(url.origin());
        let changes = asked.nonce.is_some() || !is_known && !identity.always;
        if !is_known && askers.len() >= MOST_ASKERS {
            askers.clear();
        }
        askers.insert(url.origin().to_owned(), asked.nonce);
        changes
    }

    /// Number of signatures made so far.
    #[cfg(test)]
    fn signings(&self) -> u64 {
        self.signings.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signatures::{SignedRequest, verify_request};
    use stream_testing::ManualClock;

    const DIRECTORY: &str = "https://bot.example/keys";

    fn signer(always: bool) -> (Signer, Arc<ManualClock>) {
        let clock = ManualClock::at(Timestamp::from_secs(1_000_000));
        let identity = Identity { key: SigningKey::from_seed(&[7; 32]), directory: DIRECTORY.to_owned(), always };
        (Signer::new(Some(Arc::new(identity)), clock.clone()), clock)
    }

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    fn verified(signature: &RequestSignature, authority: &str, now: i64) -> bool {
        let RequestSignature { agent, input, signature } = signature;
        let request = SignedRequest { authority, method: "GET", path: "/", agent: Some(agent), input, signature };
        verify_request(&request, &[SigningKey::from_seed(&[7; 32]).public()], now).is_ok()
    }

    #[test]
    fn a_signature_is_used_again_for_its_origin_while_it_holds_for_long_enough() {
        let (signer, clock) = signer(true);
        let first = signer.signature(&url("https://a.test/1")).unwrap();
        assert!(verified(&first, "a.test", 1_000_000) && !verified(&first, "b.test", 1_000_000));
        clock.advance(USED - Duration::from_secs(1));
        assert!(Rc::ptr_eq(&first, &signer.signature(&url("https://a.test/2?x")).unwrap()));
        let other_port = signer.signature(&url("https://a.test:8443/")).unwrap();
        assert!(verified(&other_port, "a.test:8443", clock.now().as_secs()));
        clock.advance(Duration::from_secs(1));
        let second = signer.signature(&url("https://a.test/1")).unwrap();
        assert!(!Rc::ptr_eq(&first, &second) && verified(&second, "a.test", clock.now().as_secs()));
        assert!(verified(&first, "a.test", clock.now().as_secs()), "a request with the first is under way");
        assert_eq!(signer.signings(), 3);
    }

    #[test]
    fn nothing_is_signed_over_plain_http_or_for_who_did_not_ask() {
        let (always, _) = signer(true);
        assert!(always.signature(&url("http://a.test/")).is_none());
        let (asked, _) = signer(false);
        assert!(asked.signature(&url("https://a.test/")).is_none());
        assert!(!asked.heeds(&url("http://a.test/"), ["s=();tag=\"web-bot-auth\""]), "over plain http");
        assert!(!asked.heeds(&url("https://a.test/"), ["s=();tag=\"other\""]));
        assert!(!asked.heeds(&url("https://a.test/"), []));
        assert!(asked.heeds(&url("https://a.test/"), ["s=();tag=\"web-bot-auth\""]));
        assert!(!asked.heeds(&url("https://a.test/"), ["s=();tag=\"web-bot-auth\""]), "it was signed already");
        assert!(asked.signature(&url("https://a.test/")).is_some());
        assert!(asked.signature(&url("http://a.test/")).is_none());
        assert!(asked.signature(&url("https://b.a.test/")).is_none(), "another origin");
        let without_key = Signer::new(None, ManualClock::at(Timestamp::from_secs(0)));
        assert!(
            !without_key.heeds(&url("https://a.test/"), ["s=()"])
                && without_key.signature(&url("https://a.test/")).is_none()
        );
    }

    #[test]
    fn a_nonce_is_signed_once() {
        let (signer, clock) = signer(true);
        assert!(signer.heeds(&url("https://a.test/"), ["s=();nonce=\"n1\""]));
        let [first, second] = [(); 2].map(|()| signer.signature(&url("https://a.test/")).unwrap());
        assert!(first.input.contains(";nonce=\"n1\";") && verified(&first, "a.test", clock.now().as_secs()));
        assert!(!second.input.contains("nonce"));
    }

    #[test]
    fn memory_for_signatures_and_askers_is_bounded() {
        let (signer, _) = signer(true);
        for number in 0..MOST_MADE + 10 {
            signer.signature(&url(&format!("https://a{number}.test/")));
        }
        assert!(signer.made.borrow().len() <= MOST_MADE);
        for number in 0..MOST_ASKERS + 10 {
            signer.heeds(&url(&format!("https://a{number}.test/")), ["s=()"]);
        }
        assert!(signer.askers.borrow().len() <= MOST_ASKERS);
    }
}
