//! `recrawl audit`: who gave which order, and what came of it.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use clap::Args;
use operate::audit::{self, AuditRow};
use outputs::stdout::{Format, answers};
use std::path::PathBuf;

/// Names shown of one order as text. All that are recorded are in the JSON forms.
const NAMED: usize = 5;

/// Arguments of `recrawl audit`.
#[derive(Args, Debug)]
pub struct AuditArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Lists the last N orders only.
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

/// Lists the retained orders (`log.retention_audit`), the first given first.
pub fn audit(arguments: &AuditArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let orders = audit::list(&settings)?;
    let first = arguments.last.map_or(0, |last| orders.len().saturating_sub(last));
    answers(format, orders.get(first..).unwrap_or_default(), text)
}

fn text(row: &AuditRow) -> String {
    let names = row.names.iter().take(NAMED).map(|name| format!(" {name}")).collect::<String>();
    let more = row.count - row.names.len().min(NAMED) as i64;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let left_out = match row.refusals_left_out {
        0 => String::new(),
        count => format!("\n    before it {count} refused orders are not recorded, because there were too many"),
    };
    format!("{}  {}  {}{names}{more}\n    {}{left_out}", row.given_at, row.author(), row.action, row.outcome())
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::RefusedCommands;
    use operate::audit::EffectRow;

    fn row() -> AuditRow {
        AuditRow {
            order_id: "5f3c".to_owned(),
            given_at: "2026-11-28T13:00:00Z".to_owned(),
            caller: None,
            claimed_caller: Some("ada@desk".to_owned()),
            claimed_login: Some("crawler".to_owned()),
            action: "seeds".to_owned(),
            names: (0..7).map(|number| format!("http://a.test/{number}")).collect(),
            count: 9,
            commands: 9,
            refusal: None,
            refusals_left_out: 0,
            effect: EffectRow::default(),
        }
    }

    #[test]
    fn an_order_is_a_line_of_who_and_what_and_one_of_what_came_of_it() {
        let refused = RefusedCommands {
            reason: "its host is blocked".to_owned(),
            commands: 2,
            first: "http://a.test/3".to_owned(),
        };
        let effect = EffectRow {
            commands: 8,
            awaited: 1,
            pages: 5,
            unchanged: 1,
            refused: vec![refused],
            ..EffectRow::default()
        };
        assert_eq!(
            text(&AuditRow { effect, ..row() }),
            "2026-11-28T13:00:00Z  claims ada@desk, Kafka login crawler  seeds http://a.test/0 http://a.test/1 http://a.test/2 \
             http://a.test/3 http://a.test/4 and 4 more\n    5 pages changed, 1 left as it was, 2 refused (http://a.test/3: its host is \
             blocked), 1 not taken yet"
        );
        let refused = AuditRow {
            caller: Some("alice".to_owned()),
            claimed_login: None,
            action: "forget".to_owned(),
            names: Vec::new(),
            count: 0,
            refusal: Some("the key \"alice\" has the role viewer".to_owned()),
            refusals_left_out: 3,
            ..row()
        };
        assert_eq!(
            text(&refused),
            "2026-11-28T13:00:00Z  alice (claims ada@desk)  forget\n    refused: the key \"alice\" has the role viewer\n    before it 3 \
             refused orders are not recorded, because there were too many"
        );
    }
}
