//! Two versions side by side as one HTML page, which needs no script and loads nothing.

use crate::commands::diff::context::Context;
use crate::commands::diff::struck::StruckText;
use change::{ChangeRecord, ChangedUnit, RunKind, word_diff};
use htmlize::escape_all_quotes;
use outputs::record::kind_in_words;

/// The policy keeps a page's text from loading or running anything even if escaping had a hole.
pub const HEAD: &str = r#"<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
"#;

/// The hidden words "removed" and "added" are for screen readers. They are part of the style, so that a search in the page
/// finds whole sentences.
pub const STYLE: &str = concat!(
    r#"<style>
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d0d7de;
  --went: #ffebe9; --went-words: #ffc1bc; --came: #e6ffec; --came-words: #a7efb8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --ink: #e6edf3; --quiet: #9ea7b3; --line: #3d444d;
    --went: #2d1215; --went-words: #7d1a1f; --came: #0f2417; --came-words: #165c2c;
  }
}
body {
  font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem;
  background: var(--page); color: var(--ink); overflow-wrap: anywhere;
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
"#,
    include_str!("table.css"),
    "</style>\n"
);

/// The facts of a difference that stand above its table.
#[derive(Default)]
pub(super) struct PageHead<'a> {
    /// The sentence that says what changed, or else "What changed".
    pub(super) sentence: Option<&'a str>,
    /// The title and the address of the page.
    pub(super) title: Option<&'a str>,
    pub(super) url: Option<&'a str>,
    /// The two versions: how they were given, and when they are from.
    pub(super) versions: [VersionHead<'a>; 2],
    pub(super) verdict: &'a str,
    pub(super) magnitude: f64,
    /// The watch rule of the page, the triggers that the difference fires, and the watched parts that were not found.
    pub(super) rule: Option<&'a str>,
    pub(super) triggers: &'a [String],
    pub(super) not_found: &'a [String],
    /// The looks of the second version, if it is not the page ([`kind_in_words`]).
    pub(super) looks_like: Option<&'a str>,
}

/// A version as it was given.
#[derive(Clone, Copy, Default)]
pub(super) struct VersionHead<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) time: Option<&'a str>,
}

/// The page. `context` are the texts of the two versions.
pub(super) fn page(head: &PageHead<'_>, record: &ChangeRecord, context: &Context) -> String {
    let mut counts = String::new();
    if record.left_out > 0 {
        counts += &format!("<p id=\"left-out\">Not listed, for their number or length: {}.</p>\n", record.left_out);
    }
    if record.passed_over > 0 {
        counts += &format!(
            "<p id=\"passed-over\">Passed over, because they do not count (such as counters, build dates and menus): {}.</p>\n",
            record.passed_over
        );
    }
    let name = head.title.or(head.url).or(head.versions[1].name).unwrap_or_default();
    format!(
        r#"<!doctype html>
<html lang="en">
{HEAD}<title>What changed: {name}</title>
{STYLE}<main>
<h1>{sentence}</h1>
<dl>
{facts}<dt>Verdict</dt><dd><strong id="verdict">{verdict}</strong></dd>
<dt>Magnitude</dt><dd><span id="magnitude">{magnitude:.3}</span> (0: the same text, 1: another text)</dd>
{watched}</dl>
{table}{counts}</main>
</html>
"#,
        name = escaped(name),
        sentence = escaped(head.sentence.unwrap_or("What changed")),
        facts = facts(head),
        verdict = escaped(head.verdict),
        magnitude = head.magnitude,
        watched = watched(head),
        table = table_within(record, context),
    )
}

/// Title, address and versions.
fn facts(head: &PageHead<'_>) -> String {
    let title = head.title.map(|title| row_of("Title", title));
    let url = head.url.map(|url| format!("<dt>Page</dt><dd><bdi dir=\"ltr\">{}</bdi></dd>\n", escaped(url)));
    let version = |(label, version): (&str, &VersionHead<'_>)| {
        let time = version.time.map(|time| format!(" <time>{}</time>", escaped(time)));
        let name = version.name.map(|name| format!("<bdi>{}</bdi>", escaped(name)));
        match (name, time) {
            (None, None) => String::new(),
            (name, time) => {
                format!("<dt>{label}</dt><dd>{}{}</dd>\n", name.unwrap_or_default(), time.unwrap_or_default())
            }
        }
    };
    let versions = ["Before", "After"].into_iter().zip(&head.versions).map(version);
    title.into_iter().chain(url).chain(versions).collect()
}

fn row_of(name: &str, text: &str) -> String {
    format!("<dt>{name}</dt><dd><bdi>{}</bdi></dd>\n", escaped(text))
}

fn watched(head: &PageHead<'_>) -> String {
    let rule = head.rule.iter().map(|rule| row_of("Watch rule", rule));
    let triggers = head.triggers.iter().map(|trigger| row_of("Trigger", trigger));
    let looks_like = head.looks_like.iter().map(|kind| row_of("Looks like", kind_in_words(kind)));
    looks_like.chain(rule).chain(triggers).chain(head.not_found.iter().map(|part| row_of("Not found", part))).collect()
}

/// The changes side by side, without context.
pub fn table(record: &ChangeRecord) -> String {
    table_within(record, &Context::default())
}

/// The changes side by side, each within the unchanged texts beside it. The roles are spelt out, because on narrow screens the parts of the table are blocks, in
/// which screen readers would see no table.
pub(super) fn table_within(record: &ChangeRecord, context: &Context) -> String {
    if record.changes.is_empty() {
        return "<p>Nothing that counts is listed.</p>\n".to_owned();
    }
    let mut out = String::from(
        "<table class=\"units\" role=\"table\" aria-label=\"Changes\">\n<thead role=\"rowgroup\"><tr role=\"row\">\
         <th role=\"columnheader\" scope=\"col\">Before</th><th role=\"columnheader\" scope=\"col\">After</th>\
         </tr></thead>\n",
    );
    for units in record.changes.chunk_by(|one, other| heading(record, one) == heading(record, other)) {
        out += "<tbody role=\"rowgroup\">\n";
        if let Some(heading) = heading(record, &units[0]) {
            out += &format!(
                "<tr role=\"row\"><th role=\"rowheader\" scope=\"rowgroup\" colspan=\"2\">{heading}</th></tr>\n"
            );
        }
        for unit in units {
            let [above, below] = if is_link(record, unit) { [None, None] } else { context.beside(unit) };
            out += &context_row(above);
            out += &row(unit, is_link(record, unit));
            out += &context_row(below);
        }
        out += "</tbody>\n";
    }
    out + "</table>\n"
}

/// Where a unit is, as markup.
fn heading(record: &ChangeRecord, unit: &ChangedUnit) -> Option<String> {
    match (is_link(record, unit), unit.place.as_str()) {
        (false, "") => None,
        (false, place) => Some(format!("<bdi>{}</bdi>", escaped(place))),
        (true, "") => Some("Link".to_owned()),
        (true, place) => Some(format!("Link: <bdi>{}</bdi>", escaped(place))),
    }
}

fn is_link(record: &ChangeRecord, unit: &ChangedUnit) -> bool {
    let is_in = |side: &Option<String>, targets: &[String]| side.as_ref().is_some_and(|text| targets.contains(text));
    is_in(&unit.before, &record.links_removed) || is_in(&unit.after, &record.links_added)
}

/// A text that is the same in both versions.
fn context_row(text: Option<&str>) -> String {
    text.map_or(String::new(), |text| {
        format!(
            "<tr role=\"row\"><td role=\"cell\" class=\"same\" colspan=\"2\"><div dir=\"auto\">{}</div></td></tr>\n",
            escaped(text)
        )
    })
}

fn row(unit: &ChangedUnit, is_link: bool) -> String {
    let sides = [&unit.before, &unit.after].map(|side| side.as_deref().map(StruckText::new));
    let text = |side: &Option<StruckText>| side.as_ref().map_or("", |side| &side.text).to_owned();
    let [old, new] = [text(&sides[0]), text(&sides[1])];
    let runs = word_diff(&old, &new);
    let side = |name: &str, text: &Option<StruckText>, own: RunKind| {
        let label = format!("<span class=\"side\">{name}</span>");
        let Some(text) = text else {
            return format!("<td role=\"cell\" class=\"absent\">{label}(not there)</td>");
        };
        let direction = if is_link { "ltr" } else { "auto" };
        format!(
            "<td role=\"cell\" class=\"{name}\">{label}<div dir=\"{direction}\">{}</div></td>",
            text.marked(&runs, own)
        )
    };
    let [before, after] = [side("before", &sides[0], RunKind::Removed), side("after", &sides[1], RunKind::Added)];
    format!("<tr role=\"row\">{before}{after}</tr>\n")
}

/// A text as HTML. Control characters would be dropped or invisible, and with them a part of the difference.
pub(super) fn escaped(text: &str) -> String {
    let is_invisible = |character: char| character.is_control() && !character.is_whitespace();
    escape_all_quotes(text).replace(is_invisible, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(record: ChangeRecord) -> String {
        let triggers = ["price below 20".to_owned()];
        let head = PageHead {
            sentence: Some("Lamp & shade is cheaper"),
            title: Some("<Lamp>"),
            url: Some("https://a.test/?a&b"),
            versions: [
                VersionHead { name: Some("<old>"), time: Some("2026-11-01") },
                VersionHead { name: Some("\"new\""), time: None },
            ],
            verdict: "minor",
            magnitude: 0.25,
            rule: Some("<lamp>"),
            triggers: &triggers,
            not_found: &[],
            looks_like: None,
        };
        page(&head, &record, &Context::default())
    }

    fn unit(place: &str, before: Option<&str>, after: Option<&str>) -> ChangedUnit {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ChangedUnit { before: text(before), after: text(after), place: place.to_owned() }
    }

    #[test]
    fn verdict_and_counts_stand_on_a_page_without_changes() {
        let page = shown(ChangeRecord { passed_over: 12, left_out: 3, ..ChangeRecord::default() });
        assert!(page.contains("<strong id=\"verdict\">minor</strong>") && page.contains(">0.250</span>"), "{page}");
        assert!(page.contains("number or length: 3.") && page.contains("menus): 12."), "{page}");
        assert!(
            page.contains("&lt;old&gt;") && page.contains("&quot;new&quot;") && page.contains("?a&amp;b"),
            "{page}"
        );
        assert!(page.contains("&lt;lamp&gt;") && page.contains("<dt>Trigger</dt><dd><bdi>price below 20<"), "{page}");
        assert!(
            page.contains("<h1>Lamp &amp; shade is cheaper</h1>") && page.contains("<dd><bdi>&lt;Lamp&gt;</bdi></dd>"),
            "{page}"
        );
        assert!(page.contains("<bdi>&lt;old&gt;</bdi> <time>2026-11-01</time>"), "{page}");
        assert!(!page.contains("<table") && page.contains("Nothing that counts is listed."), "{page}");
        assert!(!shown(ChangeRecord::default()).contains("Passed over"));
    }

    #[test]
    fn units_of_one_place_have_one_heading_and_links_say_that_they_are_links() {
        let record = ChangeRecord {
            changes: vec![
                unit("", Some("a"), None),
                unit("Hours", Some("from 9"), Some("from <10>")),
                unit("Hours", None, Some("daily\0")),
                unit("Hours", Some("https://a.test/x"), Some("https://a.test/y")),
            ],
            links_removed: vec!["https://a.test/x".to_owned()],
            ..ChangeRecord::default()
        };
        let page = shown(record);
        let headings: Vec<_> =
            page.split("colspan=\"2\">").skip(1).filter_map(|rest| rest.split("</th>").next()).collect();
        assert_eq!(headings, ["<bdi>Hours</bdi>", "Link: <bdi>Hours</bdi>"]);
        assert_eq!(page.matches("<tbody").count(), 3);
        assert!(page.contains("from <del>9</del>") && page.contains("from <ins>&lt;10&gt;</ins>"), "{page}");
        assert!(page.contains("<ins>daily\u{fffd}</ins>"), "{page}");
        assert!(page.contains("<div dir=\"ltr\">https://a.test/<del>x</del>"), "{page}");
        assert_eq!(page.matches("(not there)").count(), 2);
    }
}
