//! People: the keys that may be used at this port, the rights of each role, and the record of orders.

use super::query::Query;
use super::{ScreenFailure, Source};
use crate::embedded::{DIRECTORY_TOKEN, SETTINGS_TOKEN};
use daemon::http::{KeyEntry, Role};
use messages::topics;
use operate::audit::{self, AuditRow};
use outputs::record::excerpt;
use serde::Serialize;
use std::collections::BTreeSet;

/// Orders on the screen.
const SHOWN: usize = 50;
/// Names that are shown of an order.
const NAMED: usize = 5;
/// Longest name, in characters.
const NAME: usize = 120;

/// Names that can be chosen: those of the newest orders. Each pod that gives orders may have one of its own.
const MOST_CHOICES: usize = 50;

#[derive(Serialize)]
pub(super) struct People {
    keys: Vec<Key>,
    /// Why there are no keys of people among them, and the next step.
    remark: Option<String>,
    roles: Vec<RoleLine>,
    caller: String,
    callers: Vec<String>,
    action: String,
    actions: Vec<String>,
    refused: bool,
    is_filtered: bool,
    orders: Vec<OrderLine>,
    /// Id of the last order on the screen, if there are older ones.
    older: Option<String>,
}

/// A key or token. Neither it nor its hash is shown.
#[derive(Serialize)]
struct Key {
    name: String,
    role: &'static str,
    /// None: all.
    hosts: Vec<String>,
    note: &'static str,
}

#[derive(Serialize)]
struct RoleLine {
    word: &'static str,
    rights: &'static str,
}

#[derive(Serialize)]
struct OrderLine {
    at: String,
    who: String,
    action: String,
    names: Vec<String>,
    count: i64,
    outcome: String,
    is_refused: bool,
    /// Refused orders before it that are not recorded.
    left_out: i64,
}

impl From<&AuditRow> for OrderLine {
    fn from(row: &AuditRow) -> Self {
        Self {
            at: row.given_at.clone(),
            who: row.author(),
            action: row.action.clone(),
            names: row.names.iter().take(NAMED).map(|name| excerpt(name, NAME)).collect(),
            count: row.count,
            outcome: row.outcome(),
            is_refused: is_refused(row),
            left_out: row.refusals_left_out,
        }
    }
}

pub(super) fn gather(source: &Source<'_>, query: &str) -> Result<People, ScreenFailure> {
    if !source.caller.has_all_rights() {
        let why = format!("keys and orders are of all hosts; the key {:?} is for some", source.caller.name);
        return Err(ScreenFailure::Forbidden(why));
    }
    let query = Query::read(query, &["caller", "action", "refused", "before"])?;
    let text = |name: &str| query.get(name).unwrap_or_default().to_owned();
    let (caller, action, refused) = (text("caller"), text("action"), query.get("refused").is_some());
    let mut rows = audit::read(&mut source.crawl.reader(topics::AUDIT.spec())?)?;
    rows.reverse();
    let is_wanted = |row: &AuditRow| {
        (caller.is_empty() || person(row) == caller)
            && (action.is_empty() || row.action == action)
            && (!refused || is_refused(row))
    };
    let (shown, older) = behind(&rows, query.get("before"), is_wanted);
    let orders = shown.into_iter().map(OrderLine::from).collect();
    let (keys, remark) = keys(source);
    Ok(People {
        keys,
        remark,
        roles: Role::ALL.map(|role| RoleLine { word: role.word(), rights: role.rights() }).into(),
        callers: choices(rows.iter().map(person), &caller),
        actions: choices(rows.iter().map(|row| row.action.as_str()), &action),
        is_filtered: !caller.is_empty() || !action.is_empty() || refused,
        orders,
        older,
        caller,
        action,
        refused,
    })
}

/// The first orders behind one that are wanted, with the id of the last of them if there are others behind it.
fn behind<'a>(
    rows: &'a [AuditRow],
    id: Option<&str>,
    is_wanted: impl Fn(&AuditRow) -> bool,
) -> (Vec<&'a AuditRow>, Option<String>) {
    // An order that is no longer retained has none behind it.
    let begin = id.map_or(0, |id| rows.iter().position(|row| row.order_id == id).map_or(rows.len(), |place| place + 1));
    let mut wanted = rows.iter().skip(begin).filter(|row| is_wanted(row));
    let shown: Vec<_> = wanted.by_ref().take(SHOWN).collect();
    let last = wanted.next().and(shown.last()).map(|row| row.order_id.clone());
    (shown, last)
}

/// The key or token that gave an order, or else who claims to have given it.
fn person(row: &AuditRow) -> &str {
    row.caller.as_deref().or(row.claimed_caller.as_deref()).unwrap_or("unknown")
}

/// Whether an order was refused, as a whole or in part.
fn is_refused(row: &AuditRow) -> bool {
    row.refusal.is_some() || !row.effect.refused.is_empty()
}

/// The values that can be chosen, with the chosen one, which the address may have from elsewhere.
fn choices<'a>(values: impl Iterator<Item = &'a str>, chosen: &'a str) -> Vec<String> {
    let chosen = (!chosen.is_empty()).then_some(chosen);
    let mut shown = BTreeSet::new();
    for value in chosen.into_iter().chain(values) {
        if shown.len() == MOST_CHOICES {
            break;
        }
        shown.insert(value);
    }
    shown.into_iter().map(str::to_owned).collect()
}

/// The tokens and keys of the port, with a remark where no person has a key.
fn keys(source: &Source<'_>) -> (Vec<Key>, Option<String>) {
    let http = &source.settings.http;
    let token = |name: &str, note| Key { name: name.to_owned(), role: Role::Admin.word(), hosts: Vec::new(), note };
    let mut keys = Vec::new();
    if source.crawl.has_directory() {
        keys.push(token(DIRECTORY_TOKEN, "a token, new with each start"));
    }
    if http.token.is_some() || http.token_file.is_some() {
        keys.push(token(SETTINGS_TOKEN, "a token of the settings"));
    }
    let Some(file) = &http.keys_file else {
        let next = "No person has a key of their own: make one with recrawl key NAME --role ROLE --file keys.toml, and set \
                    http.keys_file to that file.";
        return (keys, Some(next.to_owned()));
    };
    let remark = match KeyEntry::read_all(file) {
        Ok(entries) if entries.is_empty() => {
            let file = file.display();
            Some(format!("{file} has no key: add one with recrawl key NAME --role ROLE --file {file}."))
        }
        Ok(entries) => {
            keys.extend(entries.into_iter().map(|KeyEntry { name, role, hosts, .. }| Key {
                name,
                role: role.word(),
                hosts: hosts.unwrap_or_default(),
                note: "",
            }));
            None
        }
        // The problem may quote a hash.
        Err(problem) => {
            tracing::warn!(problem, "cannot show the keys");
            Some(format!(
                "The keys of {} cannot be read: recrawl's log says why. Until the file is mended, the keys that were read before stay \
                 valid; without a file none is.",
                file.display()
            ))
        }
    };
    (keys, remark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use operate::audit::EffectRow;

    fn row(number: usize) -> AuditRow {
        AuditRow {
            order_id: format!("{number:x}"),
            given_at: "2026-11-28T13:00:00Z".to_owned(),
            caller: None,
            claimed_caller: Some("ada@desk".to_owned()),
            claimed_login: None,
            action: "seed".to_owned(),
            names: Vec::new(),
            count: 0,
            commands: 0,
            refusal: number.is_multiple_of(2).then(|| "no room".to_owned()),
            refusals_left_out: 0,
            effect: EffectRow::default(),
        }
    }

    #[test]
    fn orders_come_page_by_page_without_one_twice_or_left_out() {
        let rows: Vec<_> = (0..2 * SHOWN + 20).map(row).collect();
        let pages = |is_wanted: fn(&AuditRow) -> bool| {
            let (mut before, mut sizes, mut found) = (None::<String>, Vec::new(), BTreeSet::new());
            loop {
                let (shown, older) = behind(&rows, before.as_deref(), is_wanted);
                sizes.push(shown.len());
                found.extend(shown.into_iter().map(|row| row.order_id.clone()));
                before = older;
                if before.is_none() {
                    return (sizes, found.len());
                }
            }
        };
        assert_eq!(pages(|_| true), (vec![SHOWN, SHOWN, 20], rows.len()));
        assert_eq!(pages(is_refused), (vec![SHOWN, 10], SHOWN + 10));
        assert_eq!(pages(|_| false), (vec![0], 0));
        assert!(behind(&rows, Some("expired"), |_| true).0.is_empty());
        assert_eq!(person(&row(1)), "ada@desk");
        assert_eq!(choices(["b", "a", "b"].into_iter(), "c"), ["a", "b", "c"]);
    }
}
