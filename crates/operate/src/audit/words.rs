//! Orders in words.

use super::{AuditRow, EffectRow};

impl AuditRow {
    /// The author of the order. Claims are marked.
    pub fn author(&self) -> String {
        let claims =
            [self.claimed_caller.clone(), self.claimed_login.as_ref().map(|login| format!("Kafka login {login}"))];
        let claims = claims.into_iter().flatten().collect::<Vec<_>>().join(", ");
        match (&self.caller, claims.is_empty()) {
            (Some(caller), true) => caller.clone(),
            (Some(caller), false) => format!("{caller} (claims {claims})"),
            (None, true) => "unknown".to_owned(),
            (None, false) => format!("claims {claims}"),
        }
    }

    /// The effect of the order, in a line.
    pub fn outcome(&self) -> String {
        if let Some(refusal) = &self.refusal {
            return format!("refused: {refusal}");
        }
        let EffectRow { pages, hosts, unchanged, awaited, refused, .. } = &self.effect;
        let counted = |count: i64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let mut parts: Vec<String> = [
            counted(*pages, "page changed", "pages changed"),
            counted(*hosts, "host changed", "hosts changed"),
            counted(*unchanged, "left as it was", "left as they were"),
        ]
        .into_iter()
        .flatten()
        .collect();
        parts.extend(refused.iter().map(|it| format!("{} refused ({}: {})", it.commands, it.first, it.reason)));
        parts.extend(counted(*awaited, "not taken yet", "not taken yet"));
        match (parts.is_empty(), self.effect.commands) {
            (false, _) => parts.join(", "),
            (true, 0) => "every detector takes it when it reads it".to_owned(),
            (true, done) => format!("done: {done}"),
        }
    }
}
