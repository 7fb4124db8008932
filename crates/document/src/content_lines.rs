//! Cuts calendars and address books (iCalendar, RFC 5545; vCard, RFC 6350) into blocks: an event is a row that its summary
//! names, so that each of its properties is reported with the event.

use crate::blocks::Blocks;
use crate::hash::text_hash;
use chance::splitmix64;

/// Components that are rows.
const ROWS: &[&str] = &["VEVENT", "VTODO", "VJOURNAL", "VCARD"];
/// Components whose properties are rows by themselves.
const AROUND: &[&str] = &["VCALENDAR"];
/// The properties that name a row.
const NAMES: &[&str] = &["SUMMARY", "FN"];
/// Properties about the making of the file, which may be others at each request, and ids.
const CLOCKWORK: &[&str] =
    &["DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "REV", "UID", "PRODID", "VERSION", "CALSCALE", "METHOD"];

/// Whether a text is a calendar or an address book.
pub(crate) fn is_content_lines(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let begins = |name: &str| start.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    begins("BEGIN:VCALENDAR") || begins("BEGIN:VCARD")
}

/// The blocks of a calendar or an address book.
pub(crate) fn content_lines(text: &str) -> Blocks {
    let mut open: Vec<String> = Vec::new();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    for line in unfolded(text) {
        let Some(property) = Property::of(&line) else { continue };
        match property.name.as_str() {
            "BEGIN" => open.push(property.value.to_uppercase()),
            "END" => {
                let ends_row = open.pop().is_some_and(|name| ROWS.contains(&name.as_str()));
                if ends_row {
                    rows.extend(pieces(std::mem::take(&mut row)));
                }
            }
            _ if open.last().is_some_and(|name| ROWS.contains(&name.as_str())) => row.push(property),
            _ if open.last().is_some_and(|name| AROUND.contains(&name.as_str())) => rows.extend(pieces(vec![property])),
            _ => {}
        }
    }
    rows.extend(pieces(row));
    Blocks::of_rows(&rows)
}

/// The lines, of which a long one goes on in the next after white space.
fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

struct Property {
    name: String,
    /// The name with its parameters.
    named: String,
    value: String,
}

impl Property {
    fn of(line: &str) -> Option<Self> {
        let mut is_quoted = false;
        let is_end = |sign: char| {
            is_quoted ^= sign == '"';
            sign == ':' && !is_quoted
        };
        let (named, value) = line.split_at_checked(line.find(is_end)?)?;
        let name = named.split(';').next().unwrap_or_default().to_uppercase();
        let value = value[1..].replace("\\n", " ").replace("\\N", " ").replace("\\,", ",").replace("\\;", ";");
        Some(Self { name, named: named.to_owned(), value: value.trim().to_owned() })
    }
}

/// The rows of one component: its name and its other properties, each at a place that its id names. Without a name, each
/// property is a row.
fn pieces(properties: Vec<Property>) -> Vec<Vec<(u64, String)>> {
    let value = |names: &[&str]| {
        let named = properties.iter().find(|property| names.contains(&property.name.as_str()));
        named.map(|property| property.value.as_str()).filter(|value| !value.is_empty())
    };
    let name = value(NAMES);
    let id =
        [value(&["UID"]).or(name), value(&["RECURRENCE-ID"])].map(|id| text_hash(id.unwrap_or_default().as_bytes()));
    let place = |name: &str| splitmix64(id[0] ^ id[1].rotate_left(1) ^ text_hash(name.as_bytes()));
    let is_reported = |property: &&Property| {
        let is_own_name = NAMES.contains(&property.name.as_str());
        !property.value.is_empty() && !is_own_name && !CLOCKWORK.contains(&property.name.as_str())
    };
    let others = properties.iter().filter(is_reported);
    let others = others.map(|property| (place(&property.named), format!("{}: {}", property.named, property.value)));
    match name {
        Some(name) => vec![std::iter::once((place("name"), name.to_owned())).chain(others).collect()],
        None => others.map(|piece| vec![piece]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_row_that_its_summary_names() {
        let text = "BEGIN:VCALENDAR\r\nPRODID:x\r\nX-WR-CALNAME:Lake\r\nBEGIN:VTIMEZONE\r\nTZID:x\r\nEND:VTIMEZONE\r\n\
                    BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=\"a:b\":20260502T180000\r\n\
                    SUMMARY:Boat\r\n  race\\, small\r\nBEGIN:VALARM\r\nTRIGGER:-P1D\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert!(is_content_lines(text) && !is_content_lines("BEGIN: a story"));
        let blocks = content_lines(text);
        let texts: Vec<_> = blocks.list.iter().map(|block| blocks.text(block)).collect();
        assert_eq!(texts, ["X-WR-CALNAME: Lake", "Boat race, small", "DTSTART;TZID=\"a:b\": 20260502T180000"]);
        assert_eq!(blocks.list[1].row, blocks.list[2].row);
        assert_ne!(blocks.list[0].row, blocks.list[1].row);
    }
}
