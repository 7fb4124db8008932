//! Orders that a running loop takes over HTTP.

use crate::order::word_of;
use crate::{Author, Order, OrderSender};
use daemon::CommandFailure;
use daemon::http::{Call, Caller, Form, OrderKind, Task, TextResponse, refused};
use messages::{AuditedOrder, CommandKind};
use page::HostName;
use serde_json::json;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stream::LogError;

/// The word of the order to make a backup.
const BACKUP: &str = "backup";

/// Records that a caller's role does not suffice for a command.
pub fn note_refused(sender: &OrderSender, call: &Call<'_>, why: &str) {
    let action = match call.task {
        Task::Order(kind) => word_of(kind),
        Task::Form(Form::Command(kind)) => kind.word(),
        Task::Form(Form::ChangeRules) => word_of(OrderKind::SaveRules),
        Task::BackUp => BACKUP,
        Task::Changes
        | Task::AtomFeed
        | Task::RssFeed
        | Task::Screen(_)
        | Task::Form(_)
        | Task::Stylesheet
        | Task::Script => {
            return;
        }
    };
    let names: Vec<_> = call.name.map(str::to_owned).into_iter().collect();
    let count = names.len();
    sender.audit().refuse(action, &Author::of_call(call), (names, count), why);
}

/// Takes a caller's order. The role of the caller is high enough.
pub fn take(sender: &OrderSender, kind: OrderKind, call: &Call<'_>) -> TextResponse {
    let text = String::from_utf8_lossy(call.body);
    if matches!(text, Cow::Owned(_)) && matches!(kind, OrderKind::SaveRules | OrderKind::AddFocus) {
        return TextResponse::problem(400, "the body is not UTF-8");
    }
    let order = Order::read(kind, call.name.unwrap_or(&text));
    let author = Author::of_call(call);
    let refuse = |order: &Order, why: &str| {
        let names = (order.names(AuditedOrder::MOST_NAMES), order.count());
        sender.audit().refuse(order.word(), &author, names, why);
    };
    if let Ok(order) = &order
        && let Some(refusal) = refusal(order, call.caller)
    {
        refuse(order, &refusal);
        return refused(call.caller, call.path, &refusal);
    }
    if let Ok(order) = &order
        && let Some(shortage) = sender.shortage(order)
    {
        refuse(order, shortage);
        note_taken(call, &Err(shortage.to_owned()));
        return TextResponse::problem(507, shortage);
    }
    let sent = order.and_then(|order| sender.send(&order, &author).map(|()| order));
    note_taken(call, &sent.as_ref().map(Order::subjects).map_err(ToString::to_string));
    match sent {
        Ok(Order::Seeds { list, .. }) => {
            let faults: Vec<_> = list.faults.iter().map(ToString::to_string).collect();
            let (seeds, duplicates) = (list.seeds.len(), list.duplicates);
            TextResponse::json(200, &json!({ "seeds": seeds, "duplicates": duplicates, "faults": faults }))
        }
        Ok(order) => TextResponse::json(200, &json!({ "sent": order.count() })),
        Err(failure) => {
            let status = if matches!(failure, CommandFailure::Input(_)) { 400 } else { 503 };
            TextResponse::problem(status, failure.to_string())
        }
    }
}

/// Takes a caller's command to make a backup, by `back_up`, in the directory that the body names.
pub fn take_backup(
    sender: &OrderSender,
    call: &Call<'_>,
    back_up: impl FnOnce(&Path) -> Result<(), LogError>,
) -> TextResponse {
    let (audit, author) = (sender.audit(), Author::of_call(call));
    if !call.caller.has_all_rights() {
        let why = "a backup takes an admin of all hosts";
        audit.refuse(BACKUP, &author, (Vec::new(), 1), why);
        return refused(call.caller, call.path, why);
    }
    let directory = Path::new(OsStr::from_bytes(call.body));
    if !directory.is_absolute() || call.body.contains(&0) {
        return TextResponse::problem(400, "name the directory of the backup with its whole path");
    }
    if directory.exists() {
        let why = format!("{} exists; name a directory that does not, for the backup", directory.display());
        return TextResponse::problem(409, why);
    }
    let name = directory.display().to_string();
    let order = AuditedOrder { names: vec![name.clone()], count: 1, ..audit.action(BACKUP, &author) };
    let id = order.order_id.clone();
    // The copy has the record of the order, too.
    if let Err(error) = audit.write(order) {
        return TextResponse::problem(503, format!("the order cannot be recorded: {error}"));
    }
    let made = back_up(directory).map(|()| name.clone()).map_err(|error| error.to_string());
    if let Err(error) = audit.write(audit.effect(&id, &name, made.as_ref().err().map(String::as_str))) {
        tracing::warn!(%error, "cannot record what came of a backup");
    }
    note_taken(call, &made);
    match made {
        Ok(directory) => TextResponse::json(200, &json!({ "directory": directory })),
        Err(error) => TextResponse::problem(500, error),
    }
}

/// Logs a command that was not refused, with its subjects or why it failed.
fn note_taken(call: &Call<'_>, result: &Result<String, String>) {
    tracing::info!(target: "audit", key = call.caller.name, command = call.path, ?result, "command taken");
}

/// Why a caller may not give an order about these hosts.
fn refusal(order: &Order, caller: &Caller) -> Option<String> {
    let word = order.word();
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
    fn a_key_gives_orders_about_its_hosts() {
        let caller =
            |host: &str| Caller { name: "alice".to_owned(), role: Role::Admin, hosts: Some(vec![host.to_owned()]) };
        let check = |caller: &Caller, kind: OrderKind, text: &str, expected: Option<&str>| {
            let refusal = refusal(&Order::read(kind, text).unwrap(), caller);
            assert_eq!(refusal.is_some(), expected.is_some(), "{kind:?} {text}: {refusal:?}");
            assert!(refusal.unwrap_or_default().contains(expected.unwrap_or_default()));
        };
        let [forget, refetch, pause, seeds, forget_site] = [
            CommandKind::Forget,
            CommandKind::Refetch,
            CommandKind::PauseHost,
            CommandKind::ListedSeed,
            CommandKind::ForgetSite,
        ]
        .map(OrderKind::Command);
        check(&Caller::admin("owner"), OrderKind::RemoveFocus, "sport", None);
        let of_some = caller("*.a.test");
        check(&of_some, forget, "http://www.a.test:81/\nhttp://x.a.test/", None);
        check(&of_some, forget, "http://www.a.test/\nhttp://b.test/", Some("is not for b.test"));
        let of_address = caller("::1");
        check(&of_address, pause, "[::1]:8080", None);
        check(&of_address, refetch, "http://[::2]/", Some("is not for ::2"));
        check(&of_some, seeds, "http://a.test/", Some("is not for a.test"));
        check(&of_some, pause, "b.test:8080", Some("is not for b.test"));
        check(&of_some, forget_site, "x.a.test", None);
        check(&of_some, forget_site, "a.test", Some("is not for a.test"));
        check(&caller("a.test"), forget_site, "a.test", Some("is not for a.test"));
        check(&of_some, OrderKind::RemoveFocus, "sport", Some("for the whole crawl"));
        let discovered = OrderKind::Command(CommandKind::ForgetDiscovered);
        check(&of_some, discovered, "http://www.a.test/", Some("forget-discovered is for the whole crawl"));
        check(&Caller::admin("owner"), discovered, "a.test", None);
    }
}
