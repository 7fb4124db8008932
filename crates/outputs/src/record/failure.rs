//! Why a seed cannot be fetched, as a person would say it.

use messages::{AnswerKind, ChangeLine, FetchOutcome};

/// The reason, to follow "cannot be fetched: ", and the setting that would change it. A kind of a newer version is given as it
/// is.
pub(crate) fn reason(change: &ChangeLine) -> String {
    let name = change.failure.as_deref().unwrap_or_default();
    let Some(kind) = AnswerKind::all().find(|kind| kind.report().name == name) else { return name.to_owned() };
    let status = change.status.map_or(String::new(), |status| format!(" ({status})"));
    let setting = kind.report().setting.map_or(String::new(), |setting| format!("; {setting} would change that"));
    format!("{}{status}{setting}", in_words(kind))
}

fn in_words(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Outcome(outcome) => of_outcome(outcome),
        AnswerKind::RedirectRefused => "it redirects to an address where nothing may be sent",
        AnswerKind::HostLeftAlone => "its host asked to be left alone",
        AnswerKind::LeaseOver => "it waited too long for its host",
    }
}

fn of_outcome(outcome: FetchOutcome) -> &'static str {
    match outcome {
        FetchOutcome::Fetched | FetchOutcome::NotModified | FetchOutcome::SameContent => "nothing is wrong with it",
        FetchOutcome::RedirectedAway => "it redirects, but not to a usable address",
        FetchOutcome::NotFound => "the server does not find it",
        FetchOutcome::Gone => "the server says that it is gone for good",
        FetchOutcome::ClientError => "the server refuses it",
        FetchOutcome::RateLimited => "the server asks for fewer requests",
        FetchOutcome::ServerError => "the server has an error",
        FetchOutcome::TimedOut => "the server did not answer in time",
        FetchOutcome::ConnectFailed => "no connection to the server came about",
        FetchOutcome::DnsFailed => "its host name does not resolve",
        FetchOutcome::TlsFailed => "the server cannot show who it is (TLS)",
        FetchOutcome::ConnectionLost => "the connection broke off",
        FetchOutcome::MalformedResponse => "the answer is not valid HTTP",
        FetchOutcome::TooLarge => "it is too large",
        FetchOutcome::TooManyRedirects => "it redirects too many times",
        FetchOutcome::RobotsDisallowed => "the robots.txt of its host forbids it",
        FetchOutcome::RobotsUnavailable => "the robots.txt of its host cannot be had",
        FetchOutcome::AddressRefused => "its host has a private address",
        FetchOutcome::PortRefused => "its port is not allowed",
        FetchOutcome::ContactMissing => "no contact is configured",
        FetchOutcome::OutOfScope => "a rule or a filter leaves it out",
        FetchOutcome::ContentRefused => "its content is of an unwanted type",
        FetchOutcome::PaymentRequired => "the server wants to be paid",
        FetchOutcome::Challenged => "the server wants a proof in place of a request",
        FetchOutcome::SetAside => "recrawl itself failed several times while it fetched or read it",
        FetchOutcome::Unknown => "a newer fetcher gives a reason that this version does not know",
    }
}

#[cfg(test)]
mod tests {
    use crate::record::{PublishedChange, sentence};
    use messages::{ChangeLine, Verdict};

    #[test]
    fn a_seed_that_failed_has_a_sentence_with_its_reason_and_the_remedy() {
        let [_, example] = PublishedChange::examples();
        let check = |failure: &str, status, expected: &str| {
            let failure = Some(failure.to_owned());
            let change = ChangeLine { verdict: Verdict::Failed, failure, status, ..example.line.clone() };
            assert_eq!(sentence(&change), format!("Seed shop.test/lamp cannot be fetched: {expected}"));
        };
        check("not_found", Some(404), "the server does not find it (404)");
        check("dns_failed", None, "its host name does not resolve");
        let private = "its host has a private address; fetch.allow_private_addresses would change that";
        check("address_refused", None, private);
        check("of_tomorrow", None, "of_tomorrow");
    }
}
