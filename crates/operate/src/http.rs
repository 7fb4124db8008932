//! Orders that a running loop takes over HTTP.

use crate::{Order, OrderSender};
use daemon::CommandFailure;
use daemon::http::{Caller, TextResponse};
use messages::CommandKind;
use serde_json::json;

/// Takes a caller's order. `None`: no order has this path.
pub fn take(sender: &OrderSender, caller: &Caller, path: &str, body: &[u8]) -> Option<TextResponse> {
    let order = Order::parse(path.strip_prefix('/')?, &String::from_utf8_lossy(body))?;
    if let Some(refusal) = order.as_ref().ok().and_then(|order| refusal(order, caller)) {
        tracing::warn!(target: "audit", key = caller.name, command = path, refusal, "command refused");
        return Some(TextResponse::text(403, format!("{refusal}\n")));
    }
    let sent = order.and_then(|order| sender.send(&order).map(|()| order));
    let result = sent.as_ref().map(|order| order.subjects()).map_err(ToString::to_string);
    tracing::info!(target: "audit", key = caller.name, command = path, ?result, "command taken");
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

/// Why a caller may not give an order.
fn refusal(order: &Order, caller: &Caller) -> Option<String> {
    let (word, needed) = (order.word(), order.role());
    if caller.role < needed {
        let (name, role) = (&caller.name, caller.role.word());
        return Some(format!("the key {name:?} has the role {role}; {word} takes {}", needed.word()));
    }
    let includes = |host: &str| match order {
        Order::Hosts(CommandKind::ForgetSite, _) => caller.includes_site(host),
        _ => caller.includes_host(host),
    };
    let outside = || order.hosts().find(|host| !includes(host)).map(str::to_owned);
    match (&caller.hosts, order.is_of_whole_crawl()) {
        (None, _) => None,
        (Some(_), true) => Some(format!("the key {:?} is for some hosts; {word} is for the whole crawl", caller.name)),
        (Some(_), false) => {
            outside().map(|host| format!("the key {:?} is not for {host}; nothing was sent", caller.name))
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
        check(&of_some, "seeds", "http://a.test/", Some("is not for a.test"));
        check(&of_some, "pause", "b.test:8080", Some("is not for b.test"));
        check(&of_some, "forget-site", "x.a.test", None);
        check(&of_some, "forget-site", "a.test", Some("is not for a.test"));
        check(&caller(Role::Admin, Some("a.test")), "forget-site", "a.test", Some("is not for a.test"));
        check(&of_some, "focus/remove", "sport", Some("for the whole crawl"));
    }
}
