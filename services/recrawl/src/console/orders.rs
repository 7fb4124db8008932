//! Orders that a person gives by a form.

use super::ScreenFailure;
use super::query::Query;
use crate::CommandFailure;
use daemon::http::{Call, OrderKind, Task, TextResponse};
use messages::{CommandKind, CommandSubject};
use operate::{Order, OrderSender};
use scope::Scope;
use serde::Serialize;
use settings::seeds::{self, SeedList};

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
    /// Lines that are no seeds.
    faults: usize,
    /// Path of the screen to go on with.
    back: String,
}

/// The subjects of a form.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    lines: Vec<String>,
    out_of_scope: usize,
    faults: usize,
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
    let Named { lines, out_of_scope, faults } = match kind.subject() {
        _ if kind == CommandKind::Seed => seeds_within(scope, names),
        CommandSubject::Hosts => Named { lines: lines(names).map(host_in_address).collect(), ..Named::default() },
        CommandSubject::Pages | CommandSubject::Sources => {
            Named { lines: lines(names).map(str::to_owned).collect(), ..Named::default() }
        }
    };
    if lines.is_empty() {
        let problem = match (out_of_scope, faults) {
            (0, 0) => "nothing was chosen; go back and choose something".to_owned(),
            _ => format!(
                "nothing was added: {out_of_scope} pages are left out by a rule or a filter, {faults} lines are no seeds"
            ),
        };
        return Err(CommandFailure::Input(problem).into());
    }
    let (order, body) = (OrderKind::Command(kind), lines.join("\n"));
    let answer = operate::http::take(sender, order, &Call { task: Task::Order(order), body: body.as_bytes(), ..*call });
    if answer.status != 200 {
        return Ok(Err(answer));
    }
    Ok(Ok(Taken {
        sentence: sentence(kind, lines.len()),
        more: lines.len().saturating_sub(SHOWN),
        names: lines.into_iter().take(SHOWN).collect(),
        out_of_scope,
        faults,
        back: own_path(form.get("back")).to_owned(),
    }))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// The name of a host as it stands in an address, where IPv6 has brackets.
fn host_in_address(name: &str) -> String {
    let is_bare_ipv6 = name.contains(':') && name.parse::<std::net::Ipv6Addr>().is_ok();
    if is_bare_ipv6 { format!("[{name}]") } else { name.to_owned() }
}

/// The seeds of a list that the scope includes.
fn seeds_within(scope: &Scope, list: &str) -> Named {
    let mut list = seeds::parse(list);
    let all = list.seeds.len();
    list.seeds.retain(|seed| scope.allows(&seed.url));
    let (out_of_scope, faults) = (all - list.seeds.len(), list.faults.len());
    let seeds = SeedList { seeds: list.seeds, ..SeedList::default() };
    let text = Order::Seeds { kind: CommandKind::Seed, list: seeds }.text();
    Named { lines: lines(&text).map(str::to_owned).collect(), out_of_scope, faults }
}

/// A path of our own port, whatever a form says.
fn own_path(path: Option<&str>) -> &str {
    // Browsers pass over control characters, and take a backslash for a slash.
    let is_own = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && !path.contains(|sign: char| sign == '\\' || sign.is_control())
    };
    path.filter(is_own).unwrap_or("/")
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
    use settings::{Layers, Settings};

    #[test]
    fn seeds_are_counted_without_lines_that_are_none_and_an_ipv6_host_has_brackets() {
        let rules = "[[rules]]\npages = [\"a.test/out\"]\ncrawl = \"deny\"\n";
        let layers = Layers { files: &[("recrawl.toml", rules)], environment: [], overrides: &[] };
        let scope = scope::configured(&Settings::from_layers(layers).unwrap()).unwrap();
        let named = seeds_within(&scope, "http://a.test/ 2\r\nhttp://a.test/\n# nothing\nnothing\nhttp://a.test/out\n");
        assert_eq!((named.out_of_scope, named.faults), (1, 1));
        assert_eq!(named.lines, ["http://a.test/ 2"]);
        assert_eq!(
            ["::1", "[::1]", "a.test", "a.test:80"].map(host_in_address),
            ["[::1]", "[::1]", "a.test", "a.test:80"]
        );
    }

    #[test]
    fn a_form_leads_back_to_a_path_of_ours_alone() {
        assert_eq!(own_path(Some("/pages?host=a.test")), "/pages?host=a.test");
        for elsewhere in [
            None,
            Some("https://evil.test/"),
            Some("//evil.test"),
            Some("/\\evil.test"),
            Some("/\t/evil.test"),
            Some("pages"),
        ] {
            assert_eq!(own_path(elsewhere), "/");
        }
    }
}
