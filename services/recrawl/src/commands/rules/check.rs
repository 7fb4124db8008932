//! `recrawl rules --check`: all rules on the pages of a crawl.

use crate::kept_copy::unpacked;
use crate::{CommandFailure, documents};
use detector::Unread;
use document::select::PartUse;
use messages::{CopyKind, PageContent, PageSelection};
use operate::places_passed_over;
use operate::state::{CrawlState, WatchedPage};
use outputs::stdout::{Format, answer};
use page::CanonicalUrl;
use serde::Serialize;
use settings::Settings;
use watch::{Sight, WatchMemory, WatchRule};

/// The rules on the pages of a crawl.
#[derive(Debug, Default, Serialize)]
struct CheckReport {
    /// Known pages that have a rule which watches something.
    pages_with_rules: u64,
    /// Pages on which a rule sees nothing of something.
    pages_that_lack_something: u64,
    /// The headers of rules that are not sent to some pages, and what to write.
    headers_not_sent: Vec<String>,
    /// The pages on which a rule sees nothing, does not understand something, or holds already, those of which something is
    /// passed over as noise, and those of which no text is read.
    pages: Vec<CheckedPage>,
}

/// A rule on a page.
#[derive(Debug, Serialize)]
struct CheckedPage {
    url: String,
    /// Name of the rule, or its number.
    rule: String,
    /// The time of the copy or look that the rule was tried on.
    seen_at: Option<String>,
    /// Whether the rule was tried on the stored copy. Otherwise it is what the rule saw at its last look.
    from_copy: bool,
    /// Watched parts and triggers that see nothing.
    sees_nothing: Vec<String>,
    /// Triggers that hold. They fire when they have not held and hold again.
    holds_already: Vec<String>,
    /// Number of texts of the page whose changes are passed over, because every token there differs at every look. They are no
    /// watched parts, and triggers fire there.
    masked_as_noise: usize,
    /// Why no text of the page is read. Null if some is, or the page was never looked at.
    unread: Option<Unread>,
    /// Triggers whose words are there and not understood.
    not_understood: Vec<String>,
    /// Parts and triggers that have looked at no version yet, and cannot be tried on the copy, which is a text.
    not_tried: Vec<String>,
}

/// Tries all rules. Exit status 1 if one sees nothing somewhere.
pub(super) fn check(settings: &Settings, state: &dyn CrawlState, format: Format) -> Result<(), CommandFailure> {
    let (rules, scope) = (state.saved_rules()?.in_force(settings)?, scope::configured(settings)?);
    let has_headers = scope.rules().iter().any(|rule| !rule.orders().headers.is_empty());
    if rules.iter().all(|rule| !rule.is_watching()) && !has_headers {
        let problem = "there is nothing to check: no rule watches anything or adds headers; write [[rules]] with watch or trigger, and name the file with --config";
        return Err(CommandFailure::No(problem.to_owned()));
    }
    let (mut urls, mut with_headers) = (Vec::new(), Vec::new());
    let all = PageSelection { at_most: i32::MAX, ..PageSelection::default() };
    state.list_pages(&all, &mut |page| {
        if has_headers && scope.rule(&page.url).is_some_and(|rule| !rule.orders().headers.is_empty()) {
            with_headers.push(page.url.clone());
        }
        if rules.find(&page.url).is_some() {
            urls.push(page.url);
        }
    })?;
    urls.sort();
    with_headers.sort();
    let headers_not_sent = scope.withheld_headers(&with_headers).iter().map(ToString::to_string).collect();
    let pages_with_rules = urls.len() as u64;
    let mut report = CheckReport { pages_with_rules, headers_not_sent, ..CheckReport::default() };
    state.watched(&urls, &mut |url, page| {
        let Some(rule) = rules.find(url) else { return Ok(()) };
        let page = checked(url, rule, &page)?;
        report.pages_that_lack_something += u64::from(!page.sees_nothing.is_empty());
        let lists = [&page.sees_nothing, &page.holds_already, &page.not_understood, &page.not_tried];
        if page.masked_as_noise > 0 || page.unread.is_some() || lists.iter().any(|list| !list.is_empty()) {
            report.pages.push(page);
        }
        Ok(())
    })?;
    report.pages.sort_by(|a, b| a.url.cmp(&b.url));
    answer(format, &report, text)?;
    match report.pages_that_lack_something {
        0 => Ok(()),
        1 => Err(CommandFailure::No("a rule sees nothing of something on 1 page".to_owned())),
        pages => Err(CommandFailure::No(format!("rules see nothing of something on {pages} pages"))),
    }
}

fn checked(url: &CanonicalUrl, rule: &WatchRule, watched: &WatchedPage) -> Result<CheckedPage, CommandFailure> {
    let page = match &watched.copy {
        Some(copy) if copy.kind == CopyKind::Body && !copy.truncated => on_copy(url, rule, copy)?,
        Some(_) | None => by_memory(url, rule, watched)?,
    };
    let sketch = &watched.sketch;
    Ok(CheckedPage { masked_as_noise: places_passed_over(url, sketch)?, unread: sketch.unread, ..page })
}

/// The rule on the stored bytes of the page.
fn on_copy(url: &CanonicalUrl, rule: &WatchRule, copy: &PageContent) -> Result<CheckedPage, CommandFailure> {
    let content = unpacked(copy, usize::MAX)?;
    let body = documents::body(&content, copy.content_type.as_deref(), Some(url.as_str()));
    let blocks = body.with_selection(rule.selection()).blocks();
    let sights = rule.sights(&blocks);
    let chosen = |is_chosen: &dyn Fn(&watch::Trigger, Sight) -> bool| -> Vec<String> {
        let found = sights.iter().filter(|(trigger, sight)| is_chosen(trigger, *sight));
        found.map(|(trigger, _)| trigger.text().to_owned()).collect()
    };
    Ok(CheckedPage {
        url: url.to_string(),
        rule: rule.name().to_owned(),
        seen_at: Some(copy.seen_at.to_string()),
        from_copy: true,
        sees_nothing: rule.blind(&blocks),
        holds_already: chosen(&|trigger, sight| trigger.holds(sight) == Some(true)),
        masked_as_noise: 0,
        unread: None,
        not_understood: chosen(&|_, sight| sight == Sight::Unclear),
        not_tried: Vec::new(),
    })
}

/// The rule by what it saw at its last look at the page.
fn by_memory(url: &CanonicalUrl, rule: &WatchRule, page: &WatchedPage) -> Result<CheckedPage, CommandFailure> {
    let WatchedPage { sketch, blind, copy: _ } = page;
    let memory = WatchMemory::decode(&sketch.watch)
        .map_err(|error| CommandFailure::World(format!("the stored watch of {url}: {error}")))?;
    let blind = blind.as_ref().map(|blind| blind.parts.as_slice()).unwrap_or_default();
    let (mut sees_nothing, mut holds_already, mut not_tried) = (Vec::new(), Vec::new(), Vec::new());
    // A page that was never looked at shows nothing, and no rule has missed anything there.
    let was_looked_at = sketch.last_look_at.is_some();
    let parts = rule.selection().parts().iter().filter(|part| part.purpose == PartUse::Watch);
    for part in parts.map(|part| part.text.clone()) {
        match memory.is_of(Some(rule)) {
            true if blind.contains(&part) => sees_nothing.push(part),
            true => {}
            false if was_looked_at => not_tried.push(part),
            false => {}
        }
    }
    for trigger in rule.triggers() {
        let text = trigger.text().to_owned();
        match memory.has_looked(trigger) {
            true if blind.contains(&text) => sees_nothing.push(text),
            true if memory.held(trigger) == Some(true) => holds_already.push(text),
            true => {}
            false if was_looked_at => not_tried.push(text),
            false => {}
        }
    }
    Ok(CheckedPage {
        url: url.to_string(),
        rule: rule.name().to_owned(),
        seen_at: sketch.last_look_at.map(|at| at.to_string()),
        from_copy: false,
        sees_nothing,
        holds_already,
        masked_as_noise: 0,
        unread: None,
        not_understood: Vec::new(),
        not_tried,
    })
}

fn masked(texts: usize) -> String {
    let texts = if texts == 1 { "1 text that differs".to_owned() } else { format!("{texts} texts that differ") };
    format!("    masked as noise: {texts} in every word at every look; what is watched there is reported")
}

fn text(report: &CheckReport) -> String {
    let mut lines = Vec::new();
    for page in &report.pages {
        let seen = match (&page.seen_at, page.from_copy) {
            (Some(seen_at), true) => format!("on the copy of {seen_at}"),
            (Some(seen_at), false) => format!("at the look of {seen_at}"),
            (None, _) => "never looked at".to_owned(),
        };
        lines.push(page.url.clone());
        lines.push(format!("    rule {}, {seen}", page.rule));
        let lists = [
            ("sees nothing:", &page.sees_nothing),
            ("holds already, and fires when it has not held and holds again:", &page.holds_already),
            ("not understood:", &page.not_understood),
            ("not tried before the next look:", &page.not_tried),
        ];
        let listed = lists.iter().flat_map(|(words, list)| list.iter().map(move |part| format!("    {words} {part}")));
        lines.extend(listed);
        lines.extend((page.masked_as_noise > 0).then(|| masked(page.masked_as_noise)));
        lines.extend(page.unread.map(|unread| format!("    cannot be read: {}", unread.in_words())));
    }
    lines.extend(report.headers_not_sent.iter().cloned());
    let (pages, lacking) = (report.pages_with_rules, report.pages_that_lack_something);
    lines.push(format!("{pages} pages have a rule that watches something; on {lacking} it sees nothing of something"));
    if report.pages.iter().any(|page| !page.not_tried.is_empty() && page.seen_at.is_some()) {
        lines.push("New rules are tried at once on copies of bodies: set detector.contents = \"body\".".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_what_is_masked_and_what_cannot_be_read() {
        let page = CheckedPage {
            url: "https://shop.example/lamp".to_owned(),
            rule: "lamp".to_owned(),
            seen_at: None,
            from_copy: false,
            sees_nothing: vec![".price".to_owned()],
            holds_already: Vec::new(),
            masked_as_noise: 2,
            unread: Some(Unread::NotText),
            not_understood: Vec::new(),
            not_tried: Vec::new(),
        };
        let headers_not_sent = vec!["rule lamp does not send X-Key to http://shop.example/".to_owned()];
        let report =
            CheckReport { pages_with_rules: 3, pages_that_lack_something: 1, headers_not_sent, pages: vec![page] };
        assert_eq!(
            text(&report),
            "https://shop.example/lamp\n    rule lamp, never looked at\n    sees nothing: .price\n    masked as noise: 2 texts that differ \
             in every word at every look; what is watched there is reported\n    cannot be read: it is a file whose text is not read; only \
             its digest is compared\nrule lamp does not send X-Key to http://shop.example/\n3 pages have a rule that watches something; on 1 it sees nothing of something"
        );
    }
}
