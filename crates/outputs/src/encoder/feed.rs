//! Changes as a feed: Atom (RFC 4287, with the deleted entries of RFC 6721) or RSS 2.0.

use crate::record::{LineStyle, PublishedChange, change_lines, sentence, without_snippets};
use crate::source::Newest;
use crate::stdout::word;
use clap::ValueEnum;
use messages::{Digest, PageChange, Verdict, topics};
use page::Timestamp;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use settings::Settings;
use std::borrow::Cow;
use std::io;
use std::time::{Duration, UNIX_EPOCH};

/// Default number of changes in a feed.
pub const ITEMS: usize = 100;
/// Lines of a change that are shown.
const SHOWN_LINES: usize = 50;

/// Form of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FeedForm {
    Atom,
    Rss,
}

impl FeedForm {
    pub fn content_type(self) -> &'static str {
        match self {
            FeedForm::Atom => "application/atom+xml; charset=utf-8",
            FeedForm::Rss => "application/rss+xml; charset=utf-8",
        }
    }
}

/// The description of a feed in its head.
pub struct FeedAbout {
    pub title: String,
    /// The URL of the feed. `None` in a command that writes a file.
    pub address: Option<String>,
    /// Permanent id.
    id: String,
    /// A page about the crawler, if the settings name one.
    contact: Option<String>,
    /// Whether texts of pages whose owners disallow excerpts are left out.
    heeds_nosnippet: bool,
}

impl FeedAbout {
    /// A change as its readers see it.
    pub fn shown(&self, change: PageChange) -> PageChange {
        if self.heeds_nosnippet { without_snippets(change) } else { change }
    }

    /// The feed of the crawl that the settings describe.
    pub fn new(settings: &Settings, title: Option<&str>, address: Option<String>) -> Self {
        let contact = settings.crawl.contact.clone().filter(|contact| contact.starts_with("http"));
        let data = settings.crawl.data.as_ref().map(|data| data.canonicalize().unwrap_or_else(|_| data.clone()));
        let place = match (&address, data, &settings.kafka.brokers) {
            (Some(address), _, _) => address.clone(),
            (None, Some(data), _) => data.display().to_string(),
            (None, None, brokers) => brokers.clone().unwrap_or_default(),
        };
        let prefix = &settings.kafka.topic_prefix;
        Self {
            title: title.unwrap_or("Changes seen by recrawl").to_owned(),
            id: urn(&format!("feed {place} {prefix}")),
            address,
            contact,
            heeds_nosnippet: settings.preferences.nosnippet,
        }
    }
}

/// Whether a change can be an entry. The change that says that a page was forgotten is not one.
pub fn is_entry(change: &PageChange) -> bool {
    change.verdict != Verdict::Forgotten
}

pub fn feed(form: FeedForm, about: &FeedAbout, changes: Newest<PageChange>) -> String {
    let shown = |change| about.shown(change);
    let entries: Vec<_> = changes.records.into_iter().map(shown).map(Entry::new).collect();
    let deleted: Vec<_> = changes.forgotten.iter().map(|(change, at)| (entry_id(change), *at)).collect();
    let mut bytes = Vec::new();
    let mut writer = Writer::new_with_indent(&mut bytes, b' ', 1);
    let declaration = Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None));
    let written = writer.write_event(declaration).and_then(|()| match form {
        FeedForm::Atom => atom(&mut writer, about, &entries, &deleted),
        FeedForm::Rss => rss(&mut writer, about, &entries),
    });
    written.expect("memory takes it");
    String::from_utf8(bytes).expect("texts are written as UTF-8") + "\n"
}

/// The topic that a feed shows.
pub const TOPIC: topics::TopicSpec = topics::PAGE_CHANGES.spec();

/// A change in the words of feeds.
struct Entry {
    id: String,
    title: String,
    url: String,
    verdict: String,
    seen_at: Timestamp,
    /// As HTML.
    content: String,
}

impl Entry {
    fn new(change: PageChange) -> Self {
        let seen_at = change.seen_at;
        let id = entry_id(&change);
        let change = PublishedChange::new(change, &"0".parse().expect("it is a cursor"));
        let verdict = word(&change.verdict);
        let lines: Vec<_> = change_lines(&change, LineStyle::Piped).collect();
        // A reader that shows no title still begins with the sentence.
        let head = format!("<p><b>{}</b></p><p>{verdict}</p>", htmlize::escape_text(sentence(&change)));
        let content = lines.iter().take(SHOWN_LINES).map(|line| html(line)).collect::<String>();
        let more = lines.len().saturating_sub(SHOWN_LINES);
        let more = if more > 0 { format!("<p>and {more} more lines</p>") } else { String::new() };
        Self { id, title: sentence(&change), verdict, seen_at, content: head + &content + &more, url: change.line.url }
    }
}

/// The permanent id of the entry of a change. Ids of changes repeat in other crawls; a reader may follow several.
fn entry_id(change: &PageChange) -> String {
    urn(&format!("{} {} {}", change.page_id, change.change_id, change.seen_at.as_micros()))
}

/// A line of a change, marked by its sign.
fn html(line: &str) -> String {
    let text = |text: &str| htmlize::escape_text(text).into_owned();
    match line.split_at_checked(2) {
        Some(("- ", rest)) => format!("<p><del>{}</del></p>", text(rest)),
        Some(("+ ", rest)) => format!("<p><ins>{}</ins></p>", text(rest)),
        Some(("@ ", rest)) => format!("<p><b>{}</b></p>", text(rest)),
        _ => format!("<p>{}</p>", text(line)),
    }
}

/// A permanent id that follows from a text: a UUID of version 8.
fn urn(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Digest::of(text.as_bytes()).0[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().urn().to_string()
}

/// A text without the characters that XML cannot say.
fn sayable(text: &str) -> Cow<'_, str> {
    let is_sayable = |character: char| match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        character => character >= ' ',
    };
    if text.chars().all(is_sayable) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .map(|character| if is_sayable(character) { character } else { char::REPLACEMENT_CHARACTER })
            .collect(),
    )
}

/// Writes an element with a text.
fn element<W: io::Write>(
    writer: &mut Writer<W>,
    name: &str,
    attributes: &[(&str, &str)],
    text: &str,
) -> io::Result<()> {
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| (*name, sayable(value))).collect();
    let attributes = attributes.iter().map(|(name, value)| (*name, &**value));
    let element = writer.create_element(name).with_attributes(attributes);
    match text {
        "" => element.write_empty().map(|_| ()),
        text => element.write_text_content(BytesText::new(&sayable(text))).map(|_| ()),
    }
}

fn atom<W: io::Write>(
    writer: &mut Writer<W>,
    about: &FeedAbout,
    entries: &[Entry],
    deleted: &[(String, Timestamp)],
) -> io::Result<()> {
    // Without entries there is no time of a change, but the element is required.
    let times = entries.first().map(|entry| entry.seen_at).into_iter().chain(deleted.iter().map(|(_, at)| *at));
    let updated = times.max().unwrap_or(Timestamp::from_secs(0)).to_string();
    let tombstones = (!deleted.is_empty()).then_some(("xmlns:at", "http://purl.org/atompub/tombstones/1.0"));
    let root = writer.create_element("feed").with_attribute(("xmlns", "http://www.w3.org/2005/Atom"));
    let root = root.with_attributes(tombstones);
    root.write_inner_content(|writer| {
        element(writer, "id", &[], &about.id)?;
        element(writer, "title", &[], &about.title)?;
        element(writer, "updated", &[], &updated)?;
        element(writer, "generator", &[("version", env!("CARGO_PKG_VERSION"))], "recrawl")?;
        writer.create_element("author").write_inner_content(|writer| {
            element(writer, "name", &[], "recrawl")?;
            about.contact.iter().try_for_each(|contact| element(writer, "uri", &[], contact))
        })?;
        if let Some(address) = &about.address {
            element(writer, "link", &[("rel", "self"), ("href", address)], "")?;
        }
        for entry in entries {
            writer.create_element("entry").write_inner_content(|writer| {
                element(writer, "id", &[], &entry.id)?;
                element(writer, "title", &[], &entry.title)?;
                element(writer, "link", &[("rel", "alternate"), ("href", &entry.url)], "")?;
                element(writer, "updated", &[], &entry.seen_at.to_string())?;
                element(writer, "category", &[("term", &entry.verdict)], "")?;
                element(writer, "content", &[("type", "html")], &entry.content)
            })?;
        }
        for (id, at) in deleted {
            element(writer, "at:deleted-entry", &[("ref", id), ("when", &at.to_string())], "")?;
        }
        Ok(())
    })?;
    Ok(())
}

fn rss<W: io::Write>(writer: &mut Writer<W>, about: &FeedAbout, entries: &[Entry]) -> io::Result<()> {
    let root = writer
        .create_element("rss")
        .with_attributes([("version", "2.0"), ("xmlns:atom", "http://www.w3.org/2005/Atom")]);
    root.write_inner_content(|writer| {
        writer.create_element("channel").write_inner_content(|writer| {
            element(writer, "title", &[], &about.title)?;
            // Required, and a URL of any scheme.
            element(writer, "link", &[], about.contact.as_ref().or(about.address.as_ref()).unwrap_or(&about.id))?;
            element(writer, "description", &[], "New, changed and missing pages")?;
            element(writer, "generator", &[], concat!("recrawl ", env!("CARGO_PKG_VERSION")))?;
            if let Some(entry) = entries.first() {
                element(writer, "lastBuildDate", &[], &http_date(entry.seen_at))?;
            }
            if let Some(address) = &about.address {
                let attributes = [("rel", "self"), ("type", "application/rss+xml"), ("href", address)];
                element(writer, "atom:link", &attributes, "")?;
            }
            for entry in entries {
                writer.create_element("item").write_inner_content(|writer| {
                    element(writer, "title", &[], &title_of_item(&entry.title))?;
                    element(writer, "link", &[], &entry.url)?;
                    element(writer, "guid", &[("isPermaLink", "false")], &entry.id)?;
                    element(writer, "pubDate", &[], &http_date(entry.seen_at))?;
                    element(writer, "category", &[], &entry.verdict)?;
                    element(writer, "description", &[], &entry.content)
                })?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

/// The title of an item of RSS. Some readers take it for HTML, so signs of markup are references (RSS profile).
fn title_of_item(title: &str) -> Cow<'_, str> {
    if !title.contains(['&', '<', '>']) {
        return Cow::Borrowed(title);
    }
    let reference = |character: char| match character {
        '&' | '<' | '>' => format!("&#x{:X};", u32::from(character)),
        character => character.to_string(),
    };
    Cow::Owned(title.chars().map(reference).collect())
}

/// A time as RFC 822 and HTTP write it.
fn http_date(moment: Timestamp) -> String {
    let since = Duration::from_micros(u64::try_from(moment.as_micros()).unwrap_or(0));
    httpdate::fmt_http_date(UNIX_EPOCH + since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::ChangedUnit;
    use sitemaps::SitemapKind;

    fn about() -> FeedAbout {
        let address = Some("http://127.0.0.1:9464/changes.atom?a=1&b=2".to_owned());
        FeedAbout::new(&Settings::default(), Some("Lamps & <shades>"), address)
    }

    fn changes() -> Vec<PageChange> {
        let [mut much, little] = PublishedChange::example_records();
        let text = "<script>alert(1)</script> & ]]> \u{1}\u{ffff} \u{b}\"é🦀".to_owned();
        much.changes.push(ChangedUnit { before: None, after: Some(text), place: String::new() });
        vec![much, little]
    }

    fn newest(records: Vec<PageChange>) -> Newest<PageChange> {
        Newest { records, forgotten: Vec::new() }
    }

    #[test]
    fn an_entry_of_a_forgotten_page_is_a_deleted_entry_in_atom_and_vanishes_in_rss() {
        let [kept, other] = PublishedChange::example_records();
        let gone = PageChange { change_id: "example-0-2-0".to_owned(), ..other };
        let (id, at) = (entry_id(&gone), Timestamp::from_secs(1_800_000_100));
        let text = |form| {
            let changes = Newest { records: vec![kept.clone()], forgotten: vec![(gone.clone(), at)] };
            feed(form, &about(), changes)
        };
        let atom = text(FeedForm::Atom);
        assert!(atom.contains(&format!("<at:deleted-entry ref=\"{id}\" when=\"{at}\"/>")), "{atom}");
        assert!(atom.contains("xmlns:at=\"http://purl.org/atompub/tombstones/1.0\""), "{atom}");
        assert!(atom.contains(&format!("<updated>{at}</updated>")), "{atom}");
        assert!(!atom.contains(&format!("<id>{id}</id>")) && !text(FeedForm::Rss).contains(&id), "{atom}");
        for form in [FeedForm::Atom, FeedForm::Rss] {
            let read = sitemaps::read(text(form).as_bytes());
            assert!(read.problems.is_empty() && read.entries.len() == 1, "{:?}", read.problems);
        }
    }

    #[test]
    fn no_reader_finds_markup_in_a_title() {
        let mut changes = changes();
        changes[0].title = Some("&lt;img src=x onerror=alert(1)&gt; <b>AT&T</b>".to_owned());
        let text = feed(FeedForm::Rss, &about(), newest(changes));
        // As a reader that takes titles for HTML sees it, after XML: references and text.
        assert!(text.contains("&amp;#x26;lt;img src=x onerror=alert(1)&amp;#x26;gt; &amp;#x3C;b&amp;#x3E;AT&amp;#x26;T&amp;#x3C;/b&amp;#x3E;"), "{text}");
    }

    #[test]
    fn both_forms_are_read_by_a_reader_of_feeds() {
        for (form, kind) in [(FeedForm::Atom, SitemapKind::Atom), (FeedForm::Rss, SitemapKind::Rss)] {
            let text = feed(form, &about(), newest(changes()));
            let read = sitemaps::read(text.as_bytes());
            assert_eq!(read.kind, Some(kind), "{text}");
            assert!(read.problems.is_empty(), "{:?} in {text}", read.problems);
            let urls: Vec<_> = read.entries.iter().map(|entry| entry.url.as_str()).collect();
            assert_eq!(urls, ["https://shop.test/lamp"; 2], "{text}");
            assert!(
                text.contains("<title>Desk lamp now costs 19.90 EUR, down from 24.90, rule lamp</title>"),
                "{text}"
            );
            assert!(text.contains("<title>shop.test/lamp is gone</title>"), "{text}");
            assert!(text.contains("&amp;lt;script&amp;gt;alert(1)"), "{text}");
            assert!(!text.contains(['\u{1}', '\u{b}', '\u{ffff}']), "{text}");
        }
    }

    #[test]
    fn words_of_a_page_without_snippets_are_in_no_feed_unless_the_settings_want_them() {
        let mut changes = changes();
        changes[0].preferences = vec!["snippet=n@meta:robots".to_owned()];
        let mut settings = Settings::default();
        for heeds_nosnippet in [true, false] {
            settings.preferences.nosnippet = heeds_nosnippet;
            let text = feed(FeedForm::Atom, &FeedAbout::new(&settings, None, None), newest(changes.clone()));
            assert_eq!(text.contains("24,90"), !heeds_nosnippet, "{text}");
            assert!(text.contains("https://shop.test/lamp"), "{text}");
        }
    }

    #[test]
    fn ids_are_stable_and_differ() {
        let ids =
            |changes: Vec<PageChange>| changes.into_iter().map(|change| Entry::new(change).id).collect::<Vec<_>>();
        let mut other = changes();
        other[0].seen_at = Timestamp::from_secs(1_800_000_001);
        assert_eq!(ids(changes()), ids(changes()));
        assert!(ids(changes())[0] != ids(other.clone())[0] && ids(changes())[1] == ids(other)[1]);
        assert!(ids(changes())[0].starts_with("urn:uuid:"));
    }

    #[test]
    fn a_feed_without_changes_is_one() {
        for form in [FeedForm::Atom, FeedForm::Rss] {
            assert!(sitemaps::read(feed(form, &about(), newest(Vec::new())).as_bytes()).problems.is_empty());
        }
    }
}
