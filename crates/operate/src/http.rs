//! Orders that a running loop takes over HTTP.

use crate::crawl::BACKUP_PATH;
use crate::{Order, OrderSender};
use daemon::CommandFailure;
use daemon::http::{Caller, TextResponse};
use messages::CommandKind;
use page::HostName;
use serde_json::json;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stream::LogError;

/// Takes a caller's order. `None`: no order has this path.
pub fn take(sender: &OrderSender, caller: &Caller, path: &str, body: &[u8]) -> Option<TextResponse> {
    let order = Order::parse(path.strip_prefix('/')?, &String::from_utf8_lossy(body))?;
    if let Some(refusal) = order.as_ref().ok().and_then(|order| refusal(order, caller)) {
        return Some(refused(caller, path, &refusal));
    }
    if let Some(shortage) = order.as_ref().ok().and_then(|order| sender.shortage(order)) {
        note_taken(caller, path, &Err(shortage.to_owned()));
        return Some(TextResponse::text(507, format!("{shortage}\n")));
    }
    let sent = order.and_then(|order| sender.send(&order).map(|()| order));
    note_taken(caller, path, &sent.as_ref().map(Order::subjects).map_err(ToString::to_string));
    Some(match sent {
        Ok(Order::Seeds { list, .. }) => {
            let faults: Vec<_> = list.faults.iter().map(ToString::to_string).collect();
            let (seeds, duplicates) = (list.seeds.len(), list.duplicates);
            TextResponse::json(200, &json!({ "seeds": seeds, "duplicates": duplicates, "faults": faults }))
        }
        Ok(_) => TextResponse::text(200, "sent\n"),
        Err(failure) => {
            let status = if matches!(failure, CommandFailure::Input(_)) { 400 } else { 500 };
            TextResponse::text(status, format!("{failure}\n"))
        }
    })
}

/// Takes a caller's command to make a backup, by `back_up`, in the directory that the body names.
pub fn take_backup(caller: &Caller, body: &[u8], back_up: impl FnOnce(&Path) -> Result<(), LogError>) -> TextResponse {
    if !caller.has_all_rights() {
        return refused(caller, BACKUP_PATH, "a backup takes an admin of all hosts");
    }
    let directory = Path::new(OsStr::from_bytes(body));
    if !directory.is_absolute() {
        return TextResponse::text(400, "name the directory of the backup with its whole path\n");
    }
    let made = back_up(directory).map(|()| directory.display().to_string()).map_err(|error| error.to_string());
    note_taken(caller, BACKUP_PATH, &made);
    match made {
        Ok(_) => TextResponse::text(200, "done\n"),
        Err(error) => TextResponse::text(500, format!("{error}\n")),
    }
}

/// Refuses a command, and logs that.
fn refused(caller: &Caller, path: &str, refusal: &str) -> TextResponse {
    tracing::warn!(target: "audit", key = caller.name, command = path, refusal, "command refused");
    TextResponse::text(403, format!("{refusal}\n"))
}

/// Logs a command that was not refused, with its subjects or why it failed.
fn note_taken(caller: &Caller, path: &str, result: &Result<String, String>) {
    tracing::info!(target: "audit", key = caller.name, command = path, ?result, "command taken");
}

/// Why a caller may not give an order.
fn refusal(order: &Order, caller: &Caller) -> Option<String> {
    let (word, needed) = (order.word(), order.role());
    if caller.role < needed {
        let (name, role) = (&caller.name, caller.role.word());
        return Some(format!("the key {name:?} has the role {role}; {word} takes {}", needed.word()));
    }
    let includes = |host: &HostName| match order {
        Order::Hosts(CommandKind::ForgetSite, _) => caller.includes_site(host.as_str()),
        _ => caller.includes_host(host.as_str()),
    };
    match (&caller.hosts, order.is_of_whole_crawl()) {
        (None, _) => None,
        (Some(_), true) => Some(format!("the key {:?} is for some hosts; {word} is for the whole crawl", caller.name)),
        (Some(_), false) => {
            let host = order.first_host_beyond(includes)?;
            Some(format!("the key {:?} is not for {host}; nothing was sent", caller.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemon::http::Role;

    #[test]
    fn a_key_gives_the_orders_of_its_role_about_its_hosts() {
        let caller = |role, hosts: Option<&str>| Caller {
            name: "alice".to_owned(),
            role,
            hosts: hosts.map(|host| vec![host.to_owned()]),
        };
        let check = |caller: &Caller, word: &str, text: &str, expected: Option<&str>| {
            let order = Order::parse(word, text).unwrap().unwrap();
            let refusal = refusal(&order, caller);
            assert_eq!(refusal.is_some(), expected.is_some(), "{word} {text}: {refusal:?}");
            assert!(refusal.unwrap_or_default().contains(expected.unwrap_or_default()));
        };
        let (viewer, operator) = (caller(Role::Viewer, None), caller(Role::Operator, None));
        for (word, text) in
            [("seed", "http://a.test/"), ("refetch", "http://a.test/"), ("pause", "a.test"), ("block", "a.test")]
        {
            check(&viewer, word, text, Some("has the role viewer; "));
            check(&operator, word, text, None);
        }
        for (word, text) in [("forget", "http://a.test/"), ("focus/remove", "sport")] {
            check(&operator, word, text, Some("takes admin"));
            check(&caller(Role::Admin, None), word, text, None);
        }
        let of_some = caller(Role::Admin, Some("*.a.test"));
        check(&of_some, "forget", "http://www.a.test:81/\nhttp://x.a.test/", None);
        check(&of_some, "forget", "http://www.a.test/\nhttp://b.test/", Some("is not for b.test"));
        let of_address = caller(Role::Operator, Some("::1"));
        check(&of_address, "pause", "[::1]:8080", None);
        check(&of_address, "refetch", "http://[::2]/", Some("is not for ::2"));
        check(&of_some, "seeds", "http://a.test/", Some("is not for a.test"));
        check(&of_some, "pause", "b.test:8080", Some("is not for b.test"));
        check(&of_some, "forget-site", "x.a.test", None);
        check(&of_some, "forget-site", "a.test", Some("is not for a.test"));
        check(&caller(Role::Admin, Some("a.test")), "forget-site", "a.test", Some("is not for a.test"));
        check(&of_some, "focus/remove", "sport", Some("for the whole crawl"));
    }
}
