//! Lines that say where a page leads, what is served in its place, and that it is back as it was.

use super::change_text::LineStyle;
use messages::{ChangeLine, Verdict};

/// The lines of a change that say so; usually none.
pub fn presence_lines(change: &ChangeLine, style: LineStyle) -> impl Iterator<Item = String> {
    let leads_to = change.leads_to.as_ref().map(|address| format!("> leads to {address}"));
    let looks_like = change.looks_like.as_ref().map(|kind| {
        let said: Vec<String> = change.added.iter().map(|text| format!("\"{text}\"")).collect();
        let colon = if said.is_empty() { "" } else { ": " };
        stand_in_line(kind) + colon + &said.join(" ")
    });
    let is_as_before = change.verdict == Verdict::Returned && change.changes.is_empty() && change.left_out == 0;
    let back = is_as_before.then(|| "= back as it was".to_owned());
    leads_to.into_iter().chain(looks_like).chain(back).map(move |line| style.shown(&line))
}

/// The line that says what is served in a page's place, given its kind ([`change::StandIn`]).
pub fn stand_in_line(kind: &str) -> String {
    format!("? not the page: looks like {}", kind_in_words(kind))
}

/// The kind of what is served in a page's place, in words with their article. A kind of a newer detector is given as it is.
pub fn kind_in_words(kind: &str) -> &str {
    match kind {
        "empty" => "an empty page",
        "maintenance" => "a page of maintenance",
        "consent" => "a question for consent",
        "login" => "a login",
        "error" => "an error",
        "other_page" => "another page",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::PublishedChange;

    #[test]
    fn a_redirect_a_stand_in_and_a_return_are_reported_in_a_line_each() {
        let [_, example] = PublishedChange::examples();
        let lines = |change: ChangeLine| presence_lines(&change, LineStyle::Piped).collect::<Vec<_>>();
        let line = example.line;
        assert!(lines(ChangeLine { verdict: Verdict::Gone, ..line.clone() }).is_empty());
        let login = ChangeLine {
            verdict: Verdict::Redirected,
            leads_to: Some("https://shop.test/login".to_owned()),
            looks_like: Some("login".to_owned()),
            added: vec!["Log in".to_owned(), "Password".to_owned()],
            ..line.clone()
        };
        assert_eq!(
            lines(login),
            ["> leads to https://shop.test/login", "? not the page: looks like a login: \"Log in\" \"Password\""]
        );
        let empty = ChangeLine { verdict: Verdict::Obscured, looks_like: Some("empty".to_owned()), ..line.clone() };
        assert_eq!(lines(empty), ["? not the page: looks like an empty page"]);
        assert_eq!(lines(ChangeLine { verdict: Verdict::Returned, ..line.clone() }), ["= back as it was"]);
        let more = ChangeLine { verdict: Verdict::Returned, left_out: 1, ..line };
        assert!(lines(more).is_empty());
    }
}
