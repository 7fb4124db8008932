//! Orders that a running loop takes over HTTP.

use crate::{Order, OrderSender};
use daemon::CommandFailure;
use daemon::http::TextResponse;
use serde_json::json;

/// Takes the order of a request. `None`: no order has this path.
pub fn take(sender: &OrderSender, path: &str, body: &[u8]) -> Option<TextResponse> {
    let order = Order::parse(path.strip_prefix('/')?, &String::from_utf8_lossy(body))?;
    let sent = order.and_then(|order| sender.send(&order).map(|()| order));
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
