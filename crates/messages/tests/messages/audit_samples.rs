use crate::samples::{Samples, time};
use messages::{AuditedOrder, OrderEffect, RefusedCommands};

impl Samples for AuditedOrder {
    fn samples() -> Vec<Self> {
        let full = Self {
            order_id: "5f3c5e2a9b".to_owned(),
            given_at: time(0),
            caller: Some("alice".to_owned()),
            claimed_caller: Some("ada@desk".to_owned()),
            claimed_login: Some("crawler".to_owned()),
            action: "forget".to_owned(),
            names: vec!["https://example.org/a".to_owned(), "https://example.org/b".to_owned()],
            count: 120,
            commands: 119,
            refusal: Some("the key \"alice\" has the role viewer".to_owned()),
            refusals_left_out: 7,
        };
        let sparse = Self { order_id: "5f3c5e2a9b".to_owned(), action: "backup".to_owned(), ..Self::default() };
        vec![full, sparse]
    }
}

impl Samples for OrderEffect {
    fn samples() -> Vec<Self> {
        let refused = RefusedCommands {
            reason: "its host is blocked".to_owned(),
            commands: 2,
            first: "https://example.org/a".to_owned(),
        };
        let full = Self {
            order_id: "5f3c5e2a9b".to_owned(),
            stage: "scheduler".to_owned(),
            partition: 3,
            taken_at: time(1),
            commands: 9,
            pages: 4,
            hosts: 1,
            unchanged: 3,
            refused: vec![refused],
        };
        let sparse = Self { refused: Vec::new(), ..full.clone() };
        vec![full, sparse]
    }
}
