//! `recrawl robots FILE|URL --agent A PATH…`: whether a crawler may fetch these paths, and which line decides.

use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use crate::{CommandFailure, one_fetch};
use clap::Args;
use outputs::stdout::{Format, answer, answers};
use page::CanonicalUrl;
use politeness::RobotsFile;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

/// Arguments of `recrawl robots`.
#[derive(Args, Debug)]
pub struct RobotsArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// A robots.txt file ("-" is stdin), or the URL of a site whose robots.txt is fetched.
    #[arg(value_name = "FILE|URL", required_unless_present = "batch")]
    source: Option<String>,
    /// The crawler's name in robots.txt (its product token). Defaults to that of the settings.
    #[arg(long)]
    agent: Option<String>,
    /// Paths or URLs, as a person writes them: they are matched as a crawler would ask for them.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Questions, one {"file" or "robots":…, "agent":…, "url" or "path":…} per line; "-" is stdin. A full URL is
    /// matched as given, a path as a crawler would ask for it.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["source", "agent", "paths"])]
    batch: Option<PathBuf>,
}

#[derive(Deserialize)]
struct RobotsQuery {
    file: Option<PathBuf>,
    robots: Option<String>,
    agent: String,
    #[serde(alias = "path")]
    url: String,
}

/// The verdict on one path.
#[derive(Debug, Serialize)]
struct PathVerdict {
    path: String,
    allowed: bool,
    /// The line that decided, without its comment. Null if no rule matches.
    rule: Option<String>,
    /// Line number, counted from 1.
    line: Option<usize>,
    crawl_delay_s: Option<f64>,
    sitemaps: Vec<String>,
}

/// Prints what robots.txt allows. Exit status 1 if it forbids one of the paths.
pub fn robots(arguments: &RobotsArguments, format: Format) -> Result<(), CommandFailure> {
    if let Some(file) = &arguments.batch {
        let mut files = HashMap::new();
        return answer_lines(file, |question| answer_one(question, &mut files));
    }
    let settings = arguments.settings.load(&[])?;
    let agent = arguments.agent.as_deref().unwrap_or_else(|| settings.crawl.product_token());
    let source = arguments.source.as_deref().unwrap_or_default();
    let robots = match source {
        address if one_fetch::is_address(address) => one_fetch::robots(&settings, address)?,
        file => RobotsFile::parse(&one_fetch::file_or_address(&settings, file)?.bytes),
    };
    let root = ["/".to_owned()];
    let paths = if arguments.paths.is_empty() { &root } else { arguments.paths.as_slice() };
    if let Some(path) = paths.iter().find(|path| !path.contains("://") && !path_of(path).starts_with('/')) {
        return Err(CommandFailure::Input(format!("{path:?} is no path: write {:?}, or a URL", format!("/{path}"))));
    }
    let verdicts: Vec<_> = paths.iter().map(|path| verdict(&robots, agent, path, &as_asked(path))).collect();
    match verdicts.as_slice() {
        [one] => answer(format, one, text)?,
        all => answers(format, all, text)?,
    }
    match verdicts.iter().find(|verdict| !verdict.allowed) {
        Some(verdict) => Err(CommandFailure::No(format!("{agent} may not fetch {}", verdict.path))),
        None => Ok(()),
    }
}

fn answer_one(question: RobotsQuery, files: &mut HashMap<PathBuf, RobotsFile>) -> Result<PathVerdict, String> {
    let RobotsQuery { file, robots, agent, url } = question;
    let url = String::from_utf8_lossy(&bytes_of(url)).into_owned();
    // A program asks about the URL that it is going to send, so nothing is done to that.
    let asked = if url.contains("://") { path_of(&url).to_owned() } else { as_asked(&url) };
    match (robots, file) {
        (Some(text), _) => Ok(verdict(&RobotsFile::parse(&bytes_of(text)), &agent, &url, &asked)),
        (None, Some(file)) => {
            let robots = match files.entry(file) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let file = new.key();
                    let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
                    new.insert(RobotsFile::parse(&text))
                }
            };
            Ok(verdict(robots, &agent, &url, &asked))
        }
        (None, None) => Err("give \"robots\" (the text) or \"file\"".to_owned()),
    }
}

/// JSON has no byte strings, so bytes are often written as one code point each. Interprets a text that way if the
/// resulting bytes are valid UTF-8 beyond ASCII, which text is hardly ever by accident.
fn bytes_of(text: String) -> Vec<u8> {
    if text.is_ascii() {
        return text.into_bytes();
    }
    let bytes: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    bytes.filter(|bytes| str::from_utf8(bytes).is_ok()).unwrap_or_else(|| text.into_bytes())
}

/// The verdict on a path, which a crawler asks for as `asked`.
fn verdict(robots: &RobotsFile, agent: &str, path: &str, asked: &str) -> PathVerdict {
    let verdict = robots.check(agent, asked);
    let key = if verdict.allowed { "Allow" } else { "Disallow" };
    PathVerdict {
        path: path.to_owned(),
        allowed: verdict.allowed,
        rule: verdict.rule.map(|pattern| format!("{key}: {pattern}")),
        line: verdict.line,
        crawl_delay_s: robots.crawl_delay(agent).map(|delay| delay.as_secs_f64()),
        sitemaps: robots.sitemaps().to_vec(),
    }
}

/// Path and query as a crawler would ask for them: steps such as `..` are taken, and what is not ASCII is
/// percent-encoded. The comparison handles spaces and similar characters.
fn as_asked(address: &str) -> String {
    let path = path_of(address);
    let has_steps = ["/.", "\\", "%2e", "%2E"].iter().any(|step| path.contains(step));
    if has_steps && let Ok(url) = CanonicalUrl::parse(&format!("http://host.invalid{path}")) {
        return url.path_and_query().to_owned();
    }
    let mut asked = String::new();
    for byte in path.bytes() {
        match byte.is_ascii() {
            true => asked.push(char::from(byte)),
            false => asked.push_str(&format!("%{byte:02X}")),
        }
    }
    asked
}

/// Path and query of a URL or path, without the fragment.
fn path_of(address: &str) -> &str {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.find(['/', '?', '#']).map_or("/", |at| &rest[at..]),
        None => address,
    };
    let path = path.split('#').next().unwrap_or_default();
    if path.is_empty() { "/" } else { path }
}

fn text(verdict: &PathVerdict) -> String {
    let word = if verdict.allowed { "allowed" } else { "forbidden" };
    let why = match (&verdict.rule, verdict.line) {
        (Some(rule), Some(line)) => format!("line {line}: {rule}"),
        _ => "no rule matches".to_owned(),
    };
    let delay = verdict.crawl_delay_s.map(|delay| format!(", crawl delay {delay} s")).unwrap_or_default();
    format!("{word:<10}{}  ({why}{delay})", verdict.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_line_that_decided() {
        let robots =
            RobotsFile::parse(b"Sitemap: https://a.test/s.xml\nUser-agent: *\nDissalow: /a # no\nCrawl-delay: 2\n");
        let no = verdict(&robots, "x", "https://a.test/a/b?c#d", "/a/b?c");
        assert_eq!((no.allowed, no.rule.as_deref(), no.line), (false, Some("Disallow: /a"), Some(3)));
        assert_eq!((no.crawl_delay_s, no.sitemaps), (Some(2.0), vec!["https://a.test/s.xml".to_owned()]));
        let yes = verdict(&robots, "x", "/b", "/b");
        assert_eq!((yes.allowed, yes.rule, yes.line), (true, None, None));
    }

    #[test]
    fn a_path_is_asked_for_as_a_crawler_would() {
        assert_eq!(as_asked("https://a.test/ü?ö%C3#ä"), "/%C3%BC?%C3%B6%C3");
        let robots = RobotsFile::parse("User-agent: *\nDisallow: /über uns\nDisallow: /b%20\"c\"\n".as_bytes());
        let allowed = |path: &str| verdict(&robots, "x", path, &as_asked(path)).allowed;
        for forbidden in ["/über uns", "/%c3%bcber%20uns", "https://a.test/über uns", "/b \"c\"", "/b%20%22c%22"] {
            assert!(!allowed(forbidden), "{forbidden}");
        }
        assert!(allowed("/über") && allowed("/b c"));
        for (typed, asked) in [
            ("/a/../über", "/%C3%BCber"),
            ("https://a.test/a/%2e%2E/b?c", "/b?c"),
            ("/./b", "/b"),
            ("/a\\b", "/a/b"),
            ("/a/..b/c...", "/a/..b/c..."),
        ] {
            assert_eq!(as_asked(typed), asked);
        }
    }

    #[test]
    fn addresses_are_matched_by_path_and_query() {
        for (address, path) in
            [("http://a.test", "/"), ("http://a.test?x", "?x"), ("/a#b", "/a"), ("https://a.test/#x", "/"), ("", "/")]
        {
            assert_eq!(path_of(address), path, "{address}");
        }
    }

    #[test]
    fn byte_strings_come_through_json() {
        assert_eq!(bytes_of("\u{ef}\u{bb}\u{bf}a".to_owned()), b"\xef\xbb\xbfa");
        assert_eq!(bytes_of("caf\u{e9}".to_owned()), "café".as_bytes());
        assert_eq!(bytes_of("ツ".to_owned()), "ツ".as_bytes());
    }
}
