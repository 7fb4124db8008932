//! A directory with a Markdown file for each page: its fields as front matter, and its text.

use super::batch::PageUpdate;
use super::search_index::{Fate, SearchIndex};
use crate::record::PublishedContent;
use crate::sink::Undelivered;
use page::{CanonicalUrl, HostName};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Longest names, in bytes.
const MAX_HOST: usize = 120;
const MAX_SLUG: usize = 60;
/// Digits of the page id in a name.
const ID_DIGITS: usize = 16;

/// The directory. Each host has one of its own below it.
pub struct MarkdownDirectory {
    path: PathBuf,
}

impl MarkdownDirectory {
    /// The directory of this path.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    fn update(&self, update: &PageUpdate, touched: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
        let content = update.content();
        let host = self.path.join(host_part(&content.url));
        let name = file_name(&content.url);
        let file = host.join(&name);
        let Some(text) = content.text.as_deref().filter(|_| !update.is_deletion()) else {
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // A run that was killed before this one may have left it.
            let _ = std::fs::remove_file(host.join(format!(".{name}.new")));
            // It stays while it has other files.
            if std::fs::remove_dir(&host).is_err() && host.exists() {
                touched.insert(host);
            }
            return Ok(());
        };
        std::fs::create_dir_all(&host)?;
        // A run that is killed here is followed by one that writes the same name again.
        let new = host.join(format!(".{name}.new"));
        let mut open = File::create(&new)?;
        open.write_all(front_matter(content).as_bytes())?;
        open.write_all(in_markdown(text).as_bytes())?;
        open.sync_data()?;
        std::fs::rename(&new, &file)?;
        touched.insert(host);
        Ok(())
    }
}

impl SearchIndex for MarkdownDirectory {
    fn prepare(&mut self) -> Result<(), Undelivered> {
        std::fs::create_dir_all(&self.path).map_err(|error| failed(&self.path, &error))
    }

    fn apply(&mut self, updates: &[&PageUpdate]) -> Result<Vec<Fate>, Undelivered> {
        let mut touched = BTreeSet::new();
        for update in updates {
            self.update(update, &mut touched).map_err(|error| failed(&self.path, &error))?;
        }
        for directory in touched {
            File::open(&directory).and_then(|open| open.sync_all()).map_err(|error| failed(&directory, &error))?;
        }
        Ok(vec![Fate::Applied; updates.len()])
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Undelivered {
    Undelivered::later(format!("{}: {error}", path.display()))
}

/// The directory of a page's host. A host is from the web, so no sign of it leads elsewhere.
fn host_part(url: &CanonicalUrl) -> String {
    let host = HostName::of(url);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.');
    let plain = host.as_str().chars().map(|character| if is_plain(character) { character } else { '_' });
    let plain: String = plain.take(MAX_HOST).collect();
    if plain.is_empty() || plain.starts_with('.') { format!("_{plain}") } else { plain }
}

/// The name of a page's file: the end of its path for people, and its id, which makes it the only one.
fn file_name(url: &CanonicalUrl) -> String {
    let end = url.path().split('/').rfind(|part| !part.is_empty()).unwrap_or("index");
    let mut slug = String::new();
    for character in end.chars() {
        match character.is_ascii_alphanumeric() {
            true => slug.push(character.to_ascii_lowercase()),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
        if slug.len() >= MAX_SLUG {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let id = url.page_id().to_string();
    let id = &id[..ID_DIGITS.min(id.len())];
    if slug.is_empty() { format!("{id}.md") } else { format!("{slug}-{id}.md") }
}

/// The fields of a page as YAML between two lines of hyphens.
fn front_matter(content: &PublishedContent) -> String {
    let mut text = String::from("---\n");
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{name}: {value}");
        }
    };
    line("url", Some(quoted(content.url.as_str())));
    line("id", Some(quoted(&content.page_id)));
    line("title", content.title.as_deref().map(quoted));
    line("language", content.language.as_deref().map(quoted));
    line("content_type", content.content_type.as_deref().map(quoted));
    line("published", content.published.as_deref().map(quoted));
    line("modified", content.modified.as_deref().map(quoted));
    line("seen_at", Some(quoted(&content.seen_at.to_string())));
    line("verdict", Some(quoted(&content.verdict)));
    line("version", content.version.map(|version| version.to_string()));
    line("truncated", Some(content.truncated.to_string()));
    let preferences: Vec<_> = content.preferences.iter().map(|preference| quoted(preference)).collect();
    line("preferences", Some(format!("[{}]", preferences.join(", "))));
    text.push_str("---\n\n");
    text
}

/// A text as a string of YAML between quotation marks, which escapes what JSON does, and every other sign that is not printed.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).expect("a text is JSON");
    let is_unprinted = |character: char| {
        character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    if !json.contains(is_unprinted) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        match is_unprinted(character) {
            true => drop(write!(escaped, "\\u{:04x}", u32::from(character))),
            false => escaped.push(character),
        }
    }
    escaped
}

/// A text, a line for each block, as paragraphs that Markdown shows as they are: no markup, no HTML and no link comes from a page.
fn in_markdown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 16);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut is_start = true;
        for character in line.chars() {
            // A list begins with digits and a dot, so a line's start goes on behind digits.
            let is_markup = matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '&' | '~')
                || (is_start && matches!(character, '#' | '>' | '+' | '-' | '=' | '|' | '.' | ')' | ':'));
            if is_markup {
                shown.push('\\');
            }
            is_start &= character.is_ascii_digit();
            shown.push(character);
        }
        shown.push_str("\n\n");
    }
    shown.truncate(shown.trim_end().len());
    shown.push('\n');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::batch::tests::{end, page};

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).expect("it is a URL")
    }

    #[test]
    fn a_page_has_one_file_until_it_goes() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let root = directory.path().join("pages");
        let mut mirror = MarkdownDirectory::new(root.clone());
        mirror.prepare().expect("it can be made");
        let apply = |mirror: &mut MarkdownDirectory, updates: &[&PageUpdate]| {
            assert_eq!(mirror.apply(updates).expect("there is room"), vec![Fate::Applied; updates.len()]);
        };
        let (first, other, second) = (page("a/lamp.html", 1), page("b", 2), page("a/lamp.html", 3));
        apply(&mut mirror, &[&first, &other]);
        apply(&mut mirror, &[&second]);
        let names = || {
            let host = std::fs::read_dir(root.join("docs.test")).map(|entries| {
                let names = entries.map(|entry| entry.expect("it is read").file_name().into_string().expect("plain"));
                names.collect::<BTreeSet<_>>()
            });
            host.unwrap_or_default()
        };
        let [lamp, b] = [&first, &other].map(|update| file_name(&update.content().url));
        assert!(lamp.starts_with("lamp-html-") && lamp.ends_with(".md"), "{lamp}");
        assert_eq!(names(), BTreeSet::from([lamp.clone(), b.clone()]), "nothing else is left");
        let text = std::fs::read_to_string(root.join("docs.test").join(&lamp)).expect("it is there");
        assert!(text.starts_with("---\nurl: \"https://docs.test/a/lamp.html\"\n"), "{text}");
        assert!(text.contains("title: \"The \\\"a/lamp.html\\\"\"\n") && text.contains("version: 2\n"), "{text}");
        assert!(text.contains("seen_at: \"1970-01-01T00:00:03.000Z\"\n"), "{text}");
        assert!(text.ends_with("---\n\nA line.\n\nAnother of a/lamp.html.\n"), "{text}");
        apply(&mut mirror, &[&end("a/lamp.html", 4)]);
        assert_eq!(names(), BTreeSet::from([b]));
        // It is the last one of its host, and goes twice after a kill.
        apply(&mut mirror, &[&end("b", 5)]);
        apply(&mut mirror, &[&end("b", 5)]);
        assert!(!root.join("docs.test").exists() && root.exists());
    }

    #[test]
    fn no_address_leads_out_of_the_directory_or_makes_a_long_name() {
        for (address, host) in [
            ("http://[2001:db8::1]/", "2001_db8__1"),
            ("http://a.test/..%2f..%2fetc/passwd", "a.test"),
            ("http://a.test/x/%2e%2e%5c", "a.test"),
        ] {
            let url = url(address);
            assert_eq!(host_part(&url), host);
            let name = file_name(&url);
            assert!(!name.starts_with('.') && !name.contains(['/', '\\']), "{name}");
        }
        let long = url(&format!("http://{}.test/{}", ["a".repeat(60).as_str(); 4].join("."), "Long_name.".repeat(80)));
        assert!(host_part(&long).len() <= MAX_HOST);
        assert!(file_name(&long).len() <= MAX_SLUG + 1 + ID_DIGITS + 3, "{}", file_name(&long));
        assert_ne!(file_name(&url("http://a.test/x?y=1")), file_name(&url("http://a.test/x?y=2")));
    }

    #[test]
    fn texts_of_pages_are_neither_markup_nor_yaml() {
        let shown =
            in_markdown("# Not a heading\n  - no list\n12. no list\n\n<script>x</script> [a](b) *c* 3.5 & more\n---\n");
        let expected = "\\# Not a heading\n\n\\- no list\n\n12\\. no list\n\n\
                        \\<script>x\\</script> \\[a\\](b) \\*c\\* 3.5 \\& more\n\n\\---\n";
        assert_eq!(shown, expected);
        assert_eq!(in_markdown(""), "\n");
        assert_eq!(quoted("a\"b\\c\nd: #\u{7f}\u{2028}\u{85}é"), "\"a\\\"b\\\\c\\nd: #\\u007f\\u2028\\u0085é\"");
    }
}
