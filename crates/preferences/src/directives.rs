//! `X-Robots-Tag`, `Robots-Tag` and `<meta>`: directives for robots, and the reservation of text and data mining beside them.

use crate::address::address;
use crate::merged::Preferences;
use crate::source::Source;
use crate::usage::Use;
use page::Timestamp;

/// The most bytes of one field or `<meta>` that are read; draft-illyes-repext asks for 8 KiB at least. Of a longer one, the whole
/// members before the cut count.
pub const MAX_FIELD_BYTES: usize = 16 << 10;
/// The headers on preferences.
pub const HEADERS: [&str; 6] =
    ["content-usage", "content-signal", "x-robots-tag", "robots-tag", "tdm-reservation", "tdm-policy"];
/// The most pieces that a date may be in: `Friday, 25-Jun-10 15:00:00 GMT` has a comma.
const PIECES_OF_DATE: usize = 2;

/// Directives that disallow, and what they disallow. `all`, `index` and `follow` name the defaults and say nothing.
const DISALLOWED: [(&str, &[Use]); 10] = [
    ("noindex", &[Use::Index]),
    ("nofollow", &[Use::Follow]),
    ("none", &[Use::Index, Use::Follow]),
    ("nosnippet", &[Use::Snippet]),
    ("noarchive", &[Use::Archive]),
    ("nocache", &[Use::Archive]),
    ("noimageindex", &[Use::ImageIndex]),
    ("notranslate", &[Use::Translate]),
    ("noai", &[Use::TrainAi]),
    ("noimageai", &[Use::TrainAiImages]),
];
/// Directives with a value behind a colon, so that the word before it is no crawler's name.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

impl Preferences {
    /// Reads the headers of a response. Others than those on preferences are passed over. `product_token` is the crawler's
    /// name in robots.txt.
    pub fn of_headers<'a>(headers: impl IntoIterator<Item = (&'a str, &'a str)>, product_token: &str) -> Self {
        let mut preferences = Self::default();
        let mut content_usage = Vec::new();
        for (name, value) in headers {
            let value = whole_members(value);
            match name.to_ascii_lowercase().as_str() {
                // The lines of a dictionary are one (RFC 9651, section 4.2).
                "content-usage" => content_usage.push(value),
                "content-signal" => preferences.content_signal(value, Source::ContentSignal),
                "x-robots-tag" => preferences.robots_tag(value, Source::XRobotsTag, product_token),
                "robots-tag" => preferences.robots_tag(value, Source::RobotsTag, product_token),
                "tdm-reservation" => preferences.reservation(value, Source::TdmHeader),
                "tdm-policy" => preferences.policy(value, Source::TdmHeader),
                _ => {}
            }
        }
        preferences.content_usage(&content_usage.join(", "), Source::ContentUsage);
        preferences
    }

    /// Reads the `<meta>` of a page: names and contents, character references decoded. Those for all robots and those for
    /// this crawler add up (draft-illyes-repext, section 2.1.2).
    pub fn of_meta<'a>(meta: impl IntoIterator<Item = (&'a str, &'a str)>, product_token: &str) -> Self {
        let mut preferences = Self::default();
        for (name, content) in meta {
            let (name, content) = (name.trim(), whole_members(content));
            match name.to_ascii_lowercase().as_str() {
                "robots" => preferences.directives(content, Source::MetaRobots),
                "tdm-reservation" => preferences.reservation(content, Source::MetaTdm),
                "tdm-policy" => preferences.policy(content, Source::MetaTdm),
                _ if name.eq_ignore_ascii_case(product_token) => preferences.directives(content, Source::MetaOwnName),
                _ => {}
            }
        }
        preferences
    }

    /// Takes a `tdm-reservation`. Values other than 0 and 1 leave it unset (TDMRep, section 4.1).
    pub(crate) fn reservation(&mut self, value: &str, source: Source) {
        match value.trim() {
            "0" => self.state(Use::Tdm, true, source),
            "1" => self.state(Use::Tdm, false, source),
            _ => {}
        }
    }

    pub(crate) fn policy(&mut self, value: &str, source: Source) {
        address(value).into_iter().for_each(|address| self.state_policy(address, source));
    }

    fn directives(&mut self, content: &str, source: Source) {
        let pieces: Vec<&str> = content.split(',').collect();
        for (at, piece) in pieces.iter().enumerate() {
            self.directive(piece, &pieces[at + 1..], source);
        }
    }

    /// Takes a list of directives and of names of crawlers before them, in the form of `X-Robots-Tag`, `bot: noindex, nofollow`, or
    /// of `Robots-Tag`, `bot;noindex;nofollow`. Both headers are sent in both forms.
    fn robots_tag(&mut self, value: &str, source: Source, product_token: &str) {
        let is_us = |name: &str| {
            let name = name.trim().trim_matches('"');
            name == "*" || name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(product_token)
        };
        let members = members(value);
        let mut is_for_us = true;
        for (at, member) in members.iter().enumerate() {
            if let Some((name, rules)) = member.split_once(';') {
                if is_us(name) {
                    let rules = rules.split(';').filter(|rule| !rule.trim_end().ends_with("=?0"));
                    rules.for_each(|rule| self.directive(rule.split('=').next().unwrap_or_default(), &[], source));
                }
                continue;
            }
            let mut rule = *member;
            if let Some((name, rest)) = member.split_once(':') {
                let name = name.trim();
                if !WITH_VALUE.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    if name.contains(char::is_whitespace) {
                        // The rest of a date.
                        continue;
                    }
                    is_for_us = is_us(name);
                    rule = rest;
                }
            }
            if is_for_us {
                self.directive(rule, &members[at + 1..], source);
            }
        }
    }

    /// Takes one directive. A date in it may go on in the pieces that follow.
    fn directive(&mut self, written: &str, following: &[&str], source: Source) {
        let written = written.trim();
        let (name, value) = written.split_once(':').map_or((written, ""), |(name, value)| (name.trim(), value.trim()));
        if name.eq_ignore_ascii_case("unavailable_after") {
            moment(value, following).into_iter().for_each(|at| self.state_end(at, source));
        } else if name.eq_ignore_ascii_case("max-snippet") && value == "0" {
            self.state(Use::Snippet, false, source);
        } else if let Some((_, uses)) = DISALLOWED.iter().find(|(known, _)| known.eq_ignore_ascii_case(written)) {
            uses.iter().for_each(|usage| self.state(*usage, false, source));
        }
    }
}

/// The moment of a date that may go on behind commas. The first second of a day without a time: it is the stricter one.
fn moment(value: &str, following: &[&str]) -> Option<Timestamp> {
    let mut written = value.to_owned();
    for piece in following.iter().take(PIECES_OF_DATE - 1) {
        if sitemaps::date(&written).is_some() {
            break;
        }
        written = format!("{written},{piece}");
    }
    sitemaps::date(&written).map(|(first_s, _)| Timestamp::from_secs(first_s))
}

/// The members of a list: pieces between commas outside of quotes. A quote that is never closed begins none.
fn members(value: &str) -> Vec<&str> {
    if !value.bytes().filter(|byte| *byte == b'"').count().is_multiple_of(2) {
        return value.split(',').collect();
    }
    let mut is_quoted = false;
    let is_end = move |sign: char| {
        is_quoted ^= sign == '"';
        sign == ',' && !is_quoted
    };
    value.split(is_end).collect()
}

/// A field, or the whole members of one that is too long.
fn whole_members(value: &str) -> &str {
    if value.len() <= MAX_FIELD_BYTES {
        return value;
    }
    let end = value.floor_char_boundary(MAX_FIELD_BYTES);
    value[..end].rfind(',').map_or("", |comma| &value[..comma])
}
