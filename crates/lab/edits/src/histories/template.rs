//! Fills the holes of a made page: `«count»` and the like.

use super::kinds::{DAY_S, HOUR_S};
use crate::draw::{CAPITALS, DIGITS, Draw, HEX};

/// One request of a made page.
pub(crate) struct Request {
    /// Seconds since the first.
    pub(crate) now_s: i64,
    /// Grows from version to version of the noise.
    pub(crate) number: usize,
    /// Another one for each version of the noise.
    pub(crate) now: Draw,
}

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const WOCHENTAGE: [&str; 7] = ["Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"];

/// The text with a value in each hole. A hole may hold parts of which some are shown, and these have holes in turn. The first
/// request is at eight in the morning of 1 March 2026, a Sunday.
///
/// # Panics
/// If there is no such value.
pub(crate) fn filled(template: &str, request: &Request) -> String {
    fill(template, request, &mut request.now.clone())
}

fn fill(template: &str, request: &Request, now: &mut Draw) -> String {
    let mut text = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, hole)) = rest.split_once('«') {
        let end = end_of_hole(hole);
        text.push_str(before);
        text.push_str(&value(&hole[..end], request, now));
        rest = &hole[end + '»'.len_utf8()..];
    }
    text.push_str(rest);
    text
}

/// The position of the sign that ends a hole, behind those within it.
fn end_of_hole(hole: &str) -> usize {
    let mut depth = 1;
    let end = hole.char_indices().find(|(_, sign)| {
        depth += i32::from(*sign == '«') - i32::from(*sign == '»');
        depth == 0
    });
    end.expect("a hole has an end").0
}

/// The address as mail protection writes it: each byte masked by the first.
fn masked(address: &str, key: u8) -> String {
    let bytes = std::iter::once(key).chain(address.bytes().map(|byte| byte ^ key));
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

fn value(name: &str, request: &Request, now: &mut Draw) -> String {
    if let Some((kind, list)) = name.split_once(':') {
        let mut parts: Vec<&str> = list.split('|').collect();
        let shown = match kind {
            "one" => now.pick(&parts).copied().unwrap_or_default().to_owned(),
            "shuffled" => {
                parts.sort_by_cached_key(|_| now.number());
                parts.concat()
            }
            "some" => {
                parts.sort_by_cached_key(|_| now.number());
                parts[..parts.len() / 2].concat()
            }
            "masked" => masked(list, now.below(256) as u8),
            _ => panic!("no value {name}"),
        };
        return fill(&shown, request, now);
    }
    let (hours, days) = (request.now_s / HOUR_S, (request.now_s + 8 * HOUR_S) / DAY_S);
    let weekday = (days % 7) as usize;
    let count = 1_000 + 37 * request.number + now.below(36);
    match name {
        "token" => now.token(20, HEX),
        "short" => now.token(6, HEX),
        "capitals" => now.token(24, CAPITALS).to_lowercase(),
        "digits" => now.token(10, DIGITS),
        "count" => count.to_string(),
        "grouped" => format!("{},{:03}", count / 100, 10 * (count % 100)),
        "thousands" => format!("{}.{}k", count / 100, count / 10 % 10),
        "some_people" => (20 + now.below(79)).to_string(),
        "millis" => format!("{:03}", now.below(1_000)),
        "minutes" => (2 + now.below(56)).to_string(),
        "hours" => (2 + hours).to_string(),
        "days" => (2 + days).to_string(),
        "left" => (60 - days).to_string(),
        "hours_left" => (23 - hours % 24).to_string(),
        "per_mille" => format!("{}.{}", 20 + days, now.below(10)),
        "day" => (1 + days).to_string(),
        "month_day" => format!("{:02}", 1 + days),
        "weekday" => WEEKDAYS[weekday].to_owned(),
        "wochentag" => WOCHENTAGE[weekday].to_owned(),
        "hour" => format!("{:02}", (8 + hours) % 24),
        "minute" => format!("{:02}", (request.now_s / 60 + now.below(55) as i64) % 60),
        "second" => format!("{:02}", now.below(60)),
        "stamp" => (1_772_352_000 + request.now_s + now.below(50) as i64).to_string(),
        _ => panic!("no value {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: usize, now_s: i64) -> Request {
        Request { now_s, number, now: Draw::of(1, "page").nth(number) }
    }

    #[test]
    fn a_version_is_the_same_at_each_request_and_the_next_is_another() {
        let text = "«count» «token» «one:a «hours»|b «hours»» «shuffled:1|2|3|4» «hour»:«minute»";
        let version = |number, now_s| filled(text, &request(number, now_s));
        assert_eq!(version(1, 0), version(1, 0));
        assert_ne!(version(1, 0), version(2, 0));
        assert!(!version(1, 0).contains(['«', '|', '»']));
        assert_eq!(filled("«hours» hours, «day» March", &request(1, 2 * DAY_S)), "50 hours, 3 March");
    }

    #[test]
    fn a_masked_address_is_read_by_its_first_byte() {
        let masked = masked("a@b", 0x20);
        assert_eq!(masked, "20416042");
    }
}
