//! `recrawl simulate list`: lists names with one line each.

use change_rate::EstimatorChoice;
use outputs::stdout::{Format, answers, print};
use policies::PolicyKind;
use recrawl::CommandFailure;
use serde::Serialize;
use simulate::changes::ChangeModel;
use simulate::population::PopulationKind;
use simulate::reproduce;

#[derive(Debug, Serialize)]
struct ListedName {
    kind: &'static str,
    name: &'static str,
    summary: &'static str,
}

/// Lists everything that has a name.
pub(super) fn list(format: Format) -> Result<(), CommandFailure> {
    let named = |kind, name, summary| ListedName { kind, name, summary };
    let all: Vec<ListedName> = PolicyKind::ALL
        .into_iter()
        .map(|policy| named("policy", policy.name(), policy.summary()))
        .chain(EstimatorChoice::all().map(|it| named("estimator", it.name(), it.summary())))
        .chain(PopulationKind::ALL.into_iter().map(|it| named("population", it.name(), it.summary())))
        .chain(ChangeModel::NAMES.into_iter().map(|(name, summary)| named("change_model", name, summary)))
        .chain(reproduce::all().iter().map(|it| named("reproduction", it.id, it.title)))
        .collect();
    if format != Format::Text {
        return answers(format, &all, |_| String::new());
    }
    let rows: Vec<Vec<String>> =
        all.iter().map(|it| [it.kind, it.name, it.summary].map(ToOwned::to_owned).to_vec()).collect();
    print(&super::columns(&["kind", "name", "what it is"], &rows, 3))
}
