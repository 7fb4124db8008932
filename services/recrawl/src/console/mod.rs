//! The console: what a crawl does and has seen, for people with a browser. It changes nothing, and runs without scripts.
//!
//! A screen is a template with the values that its module gathers. Whatever a page says is inserted as text.

mod changes;
mod difference;
mod hosts;
mod now;
mod one_page;
mod pages;
mod query;

use crate::CommandFailure;
use crate::served_changes::ServedChanges;
use crate::stages::topologies;
use daemon::Board;
use daemon::http::{CSS, Call, Caller, Screen, TextResponse};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, context};
use operate::state::Inspection;
use page::CanonicalUrl;
use serde::Serialize;
use settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stream_rocksdb::EmbeddedBackend;

/// The templates, by name. Names that end with `.html` have all values escaped.
const TEMPLATES: [(&str, &str); 8] = [
    ("base.html", include_str!("templates/base.html")),
    ("card.html", include_str!("templates/card.html")),
    ("now.html", include_str!("templates/now.html")),
    ("changes.html", include_str!("templates/changes.html")),
    ("pages.html", include_str!("templates/pages.html")),
    ("page.html", include_str!("templates/page.html")),
    ("difference.html", include_str!("templates/difference.html")),
    ("hosts.html", include_str!("templates/hosts.html")),
];
/// The style of the screens, with that of the table of a difference, which `recrawl diff --html` has too.
const STYLE: &str = concat!(include_str!("templates/console.css"), include_str!("../commands/diff/table.css"));
/// The screens that every screen leads to.
const MENU: [(Screen, &str, &str); 4] = [
    (Screen::Now, "/", "Now"),
    (Screen::Changes, "/changes", "Changes"),
    (Screen::Pages, "/pages", "Pages"),
    (Screen::Hosts, "/hosts", "Hosts"),
];

/// The screens of a running crawl.
pub(crate) struct Console {
    settings: Settings,
    data: PathBuf,
    log: Arc<EmbeddedBackend>,
    board: Board,
    templates: Environment<'static>,
}

/// An entry of the menu.
#[derive(Serialize)]
struct MenuEntry {
    path: &'static str,
    name: &'static str,
    is_current: bool,
}

/// Where the values of a screen come from.
struct Source<'a> {
    settings: &'a Settings,
    state: &'a Inspection,
    board: &'a Board,
    changes: &'a ServedChanges,
    caller: &'a Caller,
}

impl Source<'_> {
    /// Refuses a page of a host beyond the caller's reach.
    fn permit(&self, url: &CanonicalUrl) -> Result<(), ScreenFailure> {
        match self.caller.includes_host(url.host_name()) {
            true => Ok(()),
            false => Err(ScreenFailure::Forbidden(format!(
                "the key {:?} does not give the right to see pages of {}",
                self.caller.name,
                url.host_name()
            ))),
        }
    }
}

/// Why a screen cannot be shown.
enum ScreenFailure {
    Forbidden(String),
    Command(CommandFailure),
}

impl From<CommandFailure> for ScreenFailure {
    fn from(failure: CommandFailure) -> Self {
        Self::Command(failure)
    }
}

/// A time to the minute, with the exact one for who points at it. What is no time is shown as it is.
fn shown_time(exact: &str) -> minijinja::Value {
    let escaped = htmlize::escape_all_quotes(exact);
    let minute =
        exact.get(..16).filter(|_| exact.as_bytes().get(10) == Some(&b'T')).map(|minute| minute.replace('T', " "));
    minijinja::Value::from_safe_string(match minute {
        Some(minute) if minute.bytes().all(|byte| byte.is_ascii_digit() || b"-: ".contains(&byte)) => {
            format!("<time datetime=\"{escaped}\" title=\"{escaped}\">{minute}</time>")
        }
        _ => escaped.into_owned(),
    })
}

impl Console {
    pub(crate) fn new(settings: &Settings, data: &Path, log: Arc<EmbeddedBackend>, board: Board) -> Self {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.add_filter("time", shown_time);
        for (name, source) in TEMPLATES {
            templates.add_template(name, source).expect("the templates come with recrawl, and tests render them");
        }
        Self { settings: settings.clone(), data: data.to_owned(), log, board, templates }
    }

    /// The style of the screens.
    pub(crate) fn style() -> TextResponse {
        TextResponse { status: 200, content_type: CSS, body: STYLE.to_owned() }
    }

    /// Answers a request for a screen.
    pub(crate) fn show(&self, screen: Screen, call: &Call<'_>, changes: &ServedChanges) -> TextResponse {
        match self.render(screen, call, changes) {
            Ok(body) => TextResponse::screen(200, body),
            Err(ScreenFailure::Forbidden(why)) => TextResponse::problem(403, why),
            Err(ScreenFailure::Command(CommandFailure::No(why))) => TextResponse::problem(404, why),
            Err(ScreenFailure::Command(CommandFailure::Input(why))) => TextResponse::problem(400, why),
            Err(ScreenFailure::Command(failure @ CommandFailure::World(_))) => {
                tracing::error!(%failure, "cannot show a screen");
                TextResponse::problem(503, "the state of the crawl cannot be read now; recrawl's log says why")
            }
        }
    }

    fn render(&self, screen: Screen, call: &Call<'_>, changes: &ServedChanges) -> Result<String, ScreenFailure> {
        let state = Inspection::of_running(&self.settings, topologies(), &self.data, self.log.clone())?;
        let (settings, board, caller) = (&self.settings, &self.board, call.caller);
        let source = Source { settings, state: &state, board, changes, caller };
        match screen {
            Screen::Now => self.fill("now.html", screen, &now::gather(&source, call.query)?),
            Screen::Changes => self.fill("changes.html", screen, &changes::gather(&source, call.query)?),
            Screen::Pages => self.fill("pages.html", screen, &pages::gather(&source, call.query)?),
            Screen::Page => self.fill("page.html", Screen::Pages, &one_page::gather(&source, call.query)?),
            Screen::Difference => {
                self.fill("difference.html", Screen::Pages, &difference::gather(&source, call.query)?)
            }
            Screen::Hosts => self.fill("hosts.html", screen, &hosts::gather(&source, call.query)?),
        }
    }

    /// Fills a template with its values. `current` is the entry of the menu that the screen belongs to.
    fn fill(&self, template: &str, current: Screen, values: &impl Serialize) -> Result<String, ScreenFailure> {
        let menu = MENU.map(|(screen, path, name)| MenuEntry { path, name, is_current: screen == current });
        let values = context! { menu => Serde(menu), ..minijinja::Value::from(Serde(values)) };
        let filled = self.templates.get_template(template).and_then(|template| template.render(values));
        filled.map_err(|error| CommandFailure::World(format!("template {template}: {error:#}")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_to_the_minute_and_anything_else_as_text() {
        let shown = |exact: &str| shown_time(exact).to_string();
        let exact = "2026-11-29T12:11:37.834Z";
        assert_eq!(shown(exact), format!("<time datetime=\"{exact}\" title=\"{exact}\">2026-11-29 12:11</time>"));
        assert_eq!(shown("never"), "never");
        assert_eq!(shown("<b>-11-29T12:11:37"), "&lt;b&gt;-11-29T12:11:37");
    }
}
