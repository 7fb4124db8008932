//! robots.txt: its groups, and whether a path may be fetched (RFC 9309 §2.1 and §2.2).
//!
//! The parser is as lenient as other crawlers: it accepts any line ending, a byte-order mark, a missing colon, and
//! common misspellings. Where the standard leaves room, it follows the most widely used parser, Google's: a group
//! continues across unknown lines, and an allowed `/index.html` allows its directory.

use self::usage::{UsageDirective, UsageRule};
use crate::pattern::{Pattern, normalise_path};
use std::borrow::Cow;
use std::time::Duration;

mod usage;

pub use self::usage::UsageLines;

/// Bytes of a file that are read: 500 KiB, the minimum of RFC 9309 §2.5.
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// The rules of a robots.txt file. Parsing never fails: lines that are not understood are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsFile {
    groups: Vec<RobotsGroup>,
    sitemaps: Vec<String>,
    /// Addresses of licences (RSL 1.0): like sitemaps, they are of no group.
    licenses: Vec<String>,
}

/// The whole lines of a file that was cut. Half a line could forbid or allow far more than the whole: `Disallow: /` is what
/// a cut may leave of `Disallow: /private`.
pub fn whole_lines(cut: &[u8]) -> &[u8] {
    &cut[..memchr::memrchr2(b'\n', b'\r', cut).unwrap_or(0)]
}

/// Whether a path may be fetched, and the rule that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotsVerdict<'a> {
    pub allowed: bool,
    /// The pattern that decided, as written in the file. `None` if no rule matches.
    pub rule: Option<&'a str>,
    /// The line of that rule, counted from 1.
    pub line: Option<usize>,
}

impl RobotsVerdict<'_> {
    pub(crate) const fn without_rule(allowed: bool) -> Self {
        Self { allowed, rule: None, line: None }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RobotsGroup {
    /// Product tokens. Empty if the group names no valid token.
    agents: Vec<Box<str>>,
    /// Whether the group applies to all crawlers (`*`).
    everybody: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    usages: Vec<UsageRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: Pattern,
    written: Box<str>,
    line: usize,
}

impl RobotsFile {
    /// Parses a file, at most its first [`MAX_ROBOTS_BYTES`]. Of a file that was cut before, give the [`whole_lines`].
    pub fn parse(file: &[u8]) -> Self {
        // Half a byte-order mark counts as one, as in Google's parser.
        let mark = file.iter().zip(b"\xef\xbb\xbf").take_while(|(byte, mark)| byte == mark).count();
        let mut bytes = &file[mark..];
        if bytes.len() > MAX_ROBOTS_BYTES {
            bytes = whole_lines(&bytes[..MAX_ROBOTS_BYTES]);
        }
        let mut robots = RobotsFile::default();
        // A group may list several agents. The first agent line after a rule opens a new group.
        let mut group_has_rules = true;
        for (index, line) in lines(bytes).enumerate() {
            let Some((key, value)) = key_and_value(line) else { continue };
            match key {
                RobotsDirective::UserAgent => {
                    if group_has_rules {
                        robots.groups.push(RobotsGroup::default());
                        group_has_rules = false;
                    }
                    if let Some(group) = robots.groups.last_mut() {
                        group.add_agent(value);
                    }
                }
                RobotsDirective::Allow | RobotsDirective::Disallow => {
                    // Rules before the first agent line apply to no crawler.
                    let Some(group) = robots.groups.last_mut() else { continue };
                    group_has_rules = true;
                    group.add_rule(key == RobotsDirective::Allow, value, index + 1);
                }
                RobotsDirective::CrawlDelay => {
                    let Some(group) = robots.groups.last_mut() else { continue };
                    group.crawl_delay = seconds(value).max(group.crawl_delay);
                }
                RobotsDirective::Sitemap => robots.sitemaps.push(String::from_utf8_lossy(value).into_owned()),
                RobotsDirective::License => robots.licenses.push(String::from_utf8_lossy(value).into_owned()),
                RobotsDirective::Usage(directive) => {
                    let Some(group) = robots.groups.last_mut() else { continue };
                    group_has_rules |= directive.ends_agents();
                    group.usages.extend(UsageRule::new(directive, value));
                }
            }
        }
        robots
    }

    /// Whether the crawler named `product_token` (`ExampleBot`, without version) may fetch this path and query.
    ///
    /// The longest matching pattern decides, and allow wins a tie. Paths without a matching rule are allowed, and
    /// `/robots.txt` always is.
    pub fn check(&self, product_token: &str, path_and_query: &str) -> RobotsVerdict<'_> {
        let path = if path_and_query.is_empty() { "/" } else { path_and_query };
        if path == "/robots.txt" {
            return RobotsVerdict::without_rule(true);
        }
        let path = normalise_path(path.as_bytes());
        self.groups_for(product_token)
            .flat_map(|group| &group.rules)
            .filter(|rule| rule.pattern.matches(&path))
            .max_by_key(|rule| (rule.pattern.specificity(), rule.allow))
            .map_or(RobotsVerdict::without_rule(true), |rule| RobotsVerdict {
                allowed: rule.allow,
                rule: Some(&rule.written),
                line: Some(rule.line),
            })
    }

    /// The crawl delay for this crawler, in seconds in the file. Not part of RFC 9309, but widely used. The longest one
    /// counts.
    pub fn crawl_delay(&self, product_token: &str) -> Option<Duration> {
        self.groups_for(product_token).filter_map(|group| group.crawl_delay).max()
    }

    /// The sitemaps listed in the file, as written.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// The file with the groups of this crawler only: other crawlers are never asked about, and may have thousands of
    /// rules.
    #[must_use]
    pub fn reduced_to(&self, product_token: &str) -> Self {
        let groups = self.groups_for(product_token).cloned().collect();
        Self { groups, sitemaps: self.sitemaps.clone(), licenses: self.licenses.clone() }
    }

    /// The file as text that [`parse`](Self::parse) reads as the same groups and sitemaps. Lines that it did not
    /// understand are left out, so the rules may get other line numbers.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // A group that names no crawler binds none, and would be read as part of the one before.
        for group in self.groups.iter().filter(|group| group.everybody || !group.agents.is_empty()) {
            group.write_to(&mut text);
        }
        for sitemap in &self.sitemaps {
            line(&mut text, "Sitemap", sitemap);
        }
        for license in &self.licenses {
            line(&mut text, "License", license);
        }
        text
    }

    /// Bytes of memory that the file takes, roughly.
    pub fn memory_bytes(&self) -> usize {
        let rules = self.groups.iter().flat_map(|group| &group.rules);
        let rules: usize = rules.map(|rule| size_of::<Rule>() + 3 * rule.written.len()).sum();
        let agents: usize = self.groups.iter().flat_map(|group| &group.agents).map(|agent| 16 + agent.len()).sum();
        let addresses = self.sitemaps.iter().chain(&self.licenses);
        let addresses: usize = addresses.map(|address| size_of::<String>() + address.len()).sum();
        let usages: usize = self.groups.iter().flat_map(|group| &group.usages).map(UsageRule::memory_bytes).sum();
        self.groups.len() * size_of::<RobotsGroup>() + rules + agents + addresses + usages
    }

    /// The groups that name this crawler or, without any, those for all crawlers (`*`).
    fn groups_for(&self, product_token: &str) -> impl Iterator<Item = &RobotsGroup> {
        let named = self.groups.iter().any(|group| group.names(product_token));
        self.groups.iter().filter(move |group| if named { group.names(product_token) } else { group.everybody })
    }
}

impl RobotsGroup {
    fn add_agent(&mut self, value: &[u8]) {
        if let [b'*'] | [b'*', b' ' | b'\t', ..] = value {
            self.everybody = true;
        }
        let token: Vec<u8> = value.iter().copied().take_while(|&byte| is_token_byte(byte)).collect();
        if let Ok(token) = String::from_utf8(token)
            && !token.is_empty()
        {
            self.agents.push(token.into_boxed_str());
        }
    }

    fn add_rule(&mut self, allow: bool, value: &[u8], line: usize) {
        if value.is_empty() {
            return;
        }
        let written: Box<str> = String::from_utf8_lossy(value).into();
        if allow && let Some(directory) = directory_of_index(value) {
            let pattern = Pattern::new(&[directory, b"$"].concat());
            self.rules.push(Rule { allow, pattern, written: written.clone(), line });
        }
        self.rules.push(Rule { allow, pattern: Pattern::new(value), written, line });
    }

    fn write_to(&self, text: &mut String) {
        if self.everybody {
            line(text, "User-agent", "*");
        }
        self.agents.iter().for_each(|agent| line(text, "User-agent", agent));
        if let Some(delay) = self.crawl_delay {
            line(text, "Crawl-delay", &delay.as_secs_f64().to_string());
        }
        // One written line can be two rules.
        for rules in self.rules.chunk_by(|one, next| one.line == next.line) {
            let rule = &rules[rules.len() - 1];
            let key = if rule.allow { "Allow" } else { "Disallow" };
            let is_as_written = Pattern::new(rule.written.as_bytes()) == rule.pattern;
            // Bytes that are not UTF-8 are written as they are matched.
            line(
                text,
                key,
                if is_as_written { Cow::Borrowed(&*rule.written) } else { rule.pattern.to_text() }.as_ref(),
            );
        }
        self.usages.iter().for_each(|usage| usage.write_to(text));
        if self.rules.is_empty() && !self.usages.iter().any(UsageRule::ends_agents) {
            // Otherwise the next group would be read as part of this one.
            line(text, "Disallow", "");
        }
    }

    fn names(&self, product_token: &str) -> bool {
        self.agents.iter().any(|agent| agent.eq_ignore_ascii_case(product_token))
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    text.push_str(key);
    text.push_str(": ");
    text.push_str(value);
    text.push('\n');
}

/// RFC 9309 allows alphabetic characters, `-` and `_`. Names of real crawlers also contain digits.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn directory_of_index(value: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memrchr(b'/', value)?;
    value[slash..].starts_with(b"/index.htm").then(|| &value[..=slash])
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[derive(Clone, Copy, PartialEq)]
enum RobotsDirective {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
    License,
    Usage(UsageDirective),
}

/// Lines end in LF, CR or CRLF.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else { return rest.take() };
        let ending = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&bytes[end + ending..]);
        Some(&bytes[..end])
    })
}

/// The key and value of a line without its comment. `None` for a line without a known key.
fn key_and_value(line: &[u8]) -> Option<(RobotsDirective, &[u8])> {
    let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
    let line = line.trim_ascii();
    if let Some(colon) = memchr::memchr(b':', line) {
        return Some((key(line[..colon].trim_ascii_end())?, line[colon + 1..].trim_ascii_start()));
    }
    // A missing colon is accepted if there is exactly one word on either side.
    let gap = line.iter().position(u8::is_ascii_whitespace)?;
    let value = line[gap..].trim_ascii_start();
    if value.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    Some((key(&line[..gap])?, value))
}

/// Keys in upper or lower case, with common misspellings.
fn key(word: &[u8]) -> Option<RobotsDirective> {
    const KEYS: [(&[u8], RobotsDirective); 17] = [
        (b"user-agent", RobotsDirective::UserAgent),
        (b"useragent", RobotsDirective::UserAgent),
        (b"user agent", RobotsDirective::UserAgent),
        (b"allow", RobotsDirective::Allow),
        (b"disallow", RobotsDirective::Disallow),
        (b"dissallow", RobotsDirective::Disallow),
        (b"dissalow", RobotsDirective::Disallow),
        (b"disalow", RobotsDirective::Disallow),
        (b"diasllow", RobotsDirective::Disallow),
        (b"disallaw", RobotsDirective::Disallow),
        (b"crawl-delay", RobotsDirective::CrawlDelay),
        (b"crawldelay", RobotsDirective::CrawlDelay),
        (b"sitemap", RobotsDirective::Sitemap),
        (b"site-map", RobotsDirective::Sitemap),
        (b"license", RobotsDirective::License),
        (b"content-usage", RobotsDirective::Usage(UsageDirective::ContentUsage)),
        (b"content-signal", RobotsDirective::Usage(UsageDirective::ContentSignal)),
    ];
    KEYS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|&(_, key)| key)
}

#[cfg(test)]
mod tests;
