//! Two versions side by side as one HTML page, which needs no script and loads nothing.

use crate::ruled_diff::RuledDiff;
use change::{ChangeRecord, ChangedUnit, RunKind, WordRun, word_diff};
use htmlize::escape_all_quotes;
use outputs::stdout::word;

/// The policy keeps a page's text from loading or running anything even if escaping had a hole.
pub const HEAD: &str = r#"<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
"#;

/// The hidden words "removed" and "added" are for screen readers. They are part of the style, so that a search in the page
/// finds whole sentences.
pub const STYLE: &str = r#"<style>
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
table { width: 100%; table-layout: fixed; border-collapse: collapse; }
th { text-align: start; padding: 1rem .6rem .3rem; }
thead th { padding-top: 0; color: var(--quiet); }
td { vertical-align: top; padding: .4rem .6rem; border: 1px solid var(--line); white-space: pre-wrap; }
td.absent { color: var(--quiet); }
td.before { background: var(--went); }
td.after { background: var(--came); }
td.absent { background: none; }
del { background: var(--went-words); text-decoration: line-through; }
ins { background: var(--came-words); text-decoration: underline; }
del, ins { unicode-bidi: isolate; }
del::before, del::after, ins::before, ins::after {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
del::before { content: " [removed: "; }
ins::before { content: " [added: "; }
del::after, ins::after { content: "] "; }
.side { display: none; text-transform: capitalize; color: var(--quiet); }
@media (max-width: 40rem) {
  table, tbody, tr, th, td, .side { display: block; }
  thead { display: none; }
  td.before { border-bottom: 0; }
  tr { margin-bottom: .6rem; }
}
</style>
"#;

/// The page. `names` are the versions as they were given, `url` is the address of the page.
pub(super) fn page(reported: &RuledDiff, names: [&str; 2], url: Option<&str>) -> String {
    let [old, new] = names.map(escaped);
    let diff = &reported.diff;
    let record = &diff.record;
    let address = url.map(|url| format!("<dt>Page</dt><dd><bdi dir=\"ltr\">{}</bdi></dd>\n", escaped(url)));
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
    format!(
        r#"<!doctype html>
<html lang="en">
{HEAD}<title>What changed: {title}</title>
{STYLE}<main>
<h1>What changed</h1>
<dl>
{address}<dt>Before</dt><dd><bdi>{old}</bdi></dd>
<dt>After</dt><dd><bdi>{new}</bdi></dd>
<dt>Verdict</dt><dd><strong id="verdict">{verdict}</strong></dd>
<dt>Magnitude</dt><dd><span id="magnitude">{magnitude:.3}</span> (0: the same text, 1: another text)</dd>
{watched}</dl>
{table}{counts}</main>
</html>
"#,
        title = url.map_or_else(|| new.clone(), escaped),
        address = address.unwrap_or_default(),
        verdict = word(&diff.verdict),
        magnitude = diff.magnitude,
        watched = watched(reported),
        table = table(record),
    )
}

/// The watch rule of the page, the triggers that the difference fires, and the watched parts that were not found.
fn watched(reported: &RuledDiff) -> String {
    let row = |name: &str, text: &str| format!("<dt>{name}</dt><dd><bdi>{}</bdi></dd>\n", escaped(text));
    let rule = reported.rule.iter().map(|rule| row("Watch rule", rule));
    let triggers = reported.triggers.iter().map(|trigger| row("Trigger", trigger));
    rule.chain(triggers).chain(reported.not_found.iter().map(|part| row("Not found", part))).collect()
}

/// The changes side by side. The roles are spelt out, because on narrow screens the parts of the table are blocks, in
/// which screen readers would see no table.
pub fn table(record: &ChangeRecord) -> String {
    if record.changes.is_empty() {
        return "<p>Nothing that counts is listed.</p>\n".to_owned();
    }
    let mut out = String::from(
        "<table role=\"table\" aria-label=\"Changes\">\n<thead role=\"rowgroup\"><tr role=\"row\">\
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
        units.iter().for_each(|unit| out += &row(unit, is_link(record, unit)));
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

fn row(unit: &ChangedUnit, is_link: bool) -> String {
    let runs = word_diff(unit.before.as_deref().unwrap_or_default(), unit.after.as_deref().unwrap_or_default());
    let side = |name: &str, text: &Option<String>, gone: RunKind| {
        let label = format!("<span class=\"side\">{name}</span>");
        if text.is_none() {
            return format!("<td role=\"cell\" class=\"absent\">{label}(not there)</td>");
        }
        let text: String = runs.iter().filter(|run| run.kind != gone).map(marked).collect();
        let direction = if is_link { "ltr" } else { "auto" };
        format!("<td role=\"cell\" class=\"{name}\">{label}<div dir=\"{direction}\">{text}</div></td>")
    };
    let [before, after] = [side("before", &unit.before, RunKind::Added), side("after", &unit.after, RunKind::Removed)];
    format!("<tr role=\"row\">{before}{after}</tr>\n")
}

fn marked(run: &WordRun<'_>) -> String {
    let text = escaped(run.text);
    match run.kind {
        RunKind::Same => text,
        RunKind::Removed => format!("<del>{text}</del>"),
        RunKind::Added => format!("<ins>{text}</ins>"),
    }
}

/// A text as HTML. Control characters would be dropped or invisible, and with them a part of the difference.
fn escaped(text: &str) -> String {
    let is_invisible = |character: char| character.is_control() && !character.is_whitespace();
    escape_all_quotes(text).replace(is_invisible, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use change::{Diff, VersionVerdict};

    fn shown(record: ChangeRecord) -> String {
        let diff =
            Diff { verdict: VersionVerdict::Minor, magnitude: 0.25, resemblance: 0.75, containment: 0.9, record };
        let reported = RuledDiff {
            diff,
            rule: Some("<lamp>".to_owned()),
            triggers: vec!["price below 20".to_owned()],
            not_found: Vec::new(),
        };
        page(&reported, ["<old>", "\"new\""], Some("https://a.test/?a&b"))
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
