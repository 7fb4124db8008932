//! Orders that a person gives by a form.

use super::ScreenFailure;
use super::query::Query;
use crate::CommandFailure;
use daemon::http::{Call, OrderKind, Task, TextResponse};
use messages::CommandKind;
use operate::OrderSender;
use scope::Scope;
use serde::Serialize;
use settings::seeds;

/// Names that are shown of an order.
const SHOWN: usize = 10;

/// An order that was taken.
#[derive(Serialize)]
pub(super) struct Taken {
    sentence: String,
    names: Vec<String>,
    more: usize,
    /// Seeds that a rule or a filter leaves out.
    out_of_scope: usize,
    /// Path of the screen to go on with.
    back: String,
}

/// Sends the order of a form.
///
/// # Errors
/// The form names nothing, or the order is refused. A refusal that comes from the order itself is the answer.
pub(super) fn take(
    kind: CommandKind,
    call: &Call<'_>,
    sender: &OrderSender,
    scope: &Scope,
) -> Result<Result<Taken, TextResponse>, ScreenFailure> {
    let form = Query::of_form(call.body, &["names", "shown", "all", "back"])?;
    let names = form.get(if form.get("all").is_some() { "shown" } else { "names" }).unwrap_or_default();
    let (names, out_of_scope) = if kind == CommandKind::Seed { within(scope, names) } else { (names.to_owned(), 0) };
    let lines: Vec<String> = names.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if lines.is_empty() {
        return Err(CommandFailure::Input("nothing was chosen; go back and choose something".to_owned()).into());
    }
    let order = OrderKind::Command(kind);
    let answer =
        operate::http::take(sender, order, &Call { task: Task::Order(order), body: names.as_bytes(), ..*call });
    if answer.status != 200 {
        return Ok(Err(answer));
    }
    Ok(Ok(Taken {
        sentence: sentence(kind, lines.len()),
        more: lines.len().saturating_sub(SHOWN),
        names: lines.into_iter().take(SHOWN).collect(),
        out_of_scope,
        back: own_path(form.get("back")).to_owned(),
    }))
}

/// The lines of a list of seeds that the scope includes, and the number of those that it does not.
fn within(scope: &Scope, list: &str) -> (String, usize) {
    let mut left_out = 0;
    let is_in = |line: &&str| {
        let parsed = seeds::parse(line);
        let is_out = parsed.seeds.iter().any(|seed| !scope.allows(&seed.url));
        left_out += usize::from(is_out);
        !is_out
    };
    let lines = list.lines().filter(is_in).collect::<Vec<_>>().join("\n");
    (lines, left_out)
}

/// A path of our own port, whatever a form says.
fn own_path(path: Option<&str>) -> &str {
    path.filter(|path| path.starts_with('/') && !path.starts_with("//") && !path.contains('\\')).unwrap_or("/")
}

fn sentence(kind: CommandKind, count: usize) -> String {
    let some = |one: &str, many: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {many}") };
    let (pages, hosts) = (some("page", "pages"), some("host", "hosts"));
    match kind {
        CommandKind::Seed | CommandKind::ListedSeed => format!("{pages} added."),
        CommandKind::Refetch => format!("{pages} to be fetched as soon as the host may be asked."),
        CommandKind::Forget => format!("{pages} to be forgotten, with all that is kept."),
        CommandKind::PauseHost => format!("{hosts} paused: nothing is fetched there until it is resumed."),
        CommandKind::ResumeHost => format!("{hosts} resumed."),
        CommandKind::BlockHost => format!("{hosts} blocked: nothing is fetched there, and no page of it is taken in."),
        CommandKind::UnblockHost => format!("{hosts} no longer blocked."),
        CommandKind::ForgetSite => format!("{} to be forgotten.", some("site", "sites")),
        CommandKind::Unknown => "An order that this version does not know.".to_owned(),
        CommandKind::ForgetDiscovered => format!("Pages found on {} to be forgotten.", some("source", "sources")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_to_a_path_of_ours_alone() {
        assert_eq!(own_path(Some("/pages?host=a.test")), "/pages?host=a.test");
        for elsewhere in [None, Some("https://evil.test/"), Some("//evil.test"), Some("/\\evil.test"), Some("pages")] {
            assert_eq!(own_path(elsewhere), "/");
        }
    }
}
