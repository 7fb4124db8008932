//! The console: what a crawl does and has seen, for people with a browser, and orders that they give. Its screens are whole without a script.
//!
//! A screen is a template with the values that its module gathers. Whatever a page says is inserted as text.

mod budget;
mod changes;
mod curve;
mod difference;
mod draft;
mod hosts;
mod links;
mod now;
mod one_page;
mod orders;
mod pages;
mod people;
mod query;
mod saved_rules;
mod seeds;
mod shown_crawl;
mod stages;
mod trial;
mod trouble;
mod watches;

use self::query::Query;
pub(crate) use self::shown_crawl::{CrawlOverKafka, RunningCrawl, ShownCrawl};
use crate::CommandFailure;
use crate::one_fetch::{Given, file_or_address};
use daemon::http::{CSS, Call, Caller, Form, Role, SCRIPT, Screen, Task, TextResponse};
use messages::CommandSubject;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, context};
use operate::OrderSender;
use operate::state::CrawlState;
use page::CanonicalUrl;
use serde::Serialize;
use settings::Settings;

/// The templates, by name. Names that end with `.html` have all values escaped.
const TEMPLATES: [(&str, &str); 22] = [
    ("base.html", include_str!("templates/base.html")),
    ("card.html", include_str!("templates/card.html")),
    ("now.html", include_str!("templates/now.html")),
    ("changes.html", include_str!("templates/changes.html")),
    ("pages.html", include_str!("templates/pages.html")),
    ("page.html", include_str!("templates/page.html")),
    ("difference.html", include_str!("templates/difference.html")),
    ("hosts.html", include_str!("templates/hosts.html")),
    ("order.html", include_str!("templates/order.html")),
    ("select.html", include_str!("templates/select.html")),
    ("taken.html", include_str!("templates/taken.html")),
    ("seeds.html", include_str!("templates/seeds.html")),
    ("checked_seeds.html", include_str!("templates/checked_seeds.html")),
    ("watches.html", include_str!("templates/watches.html")),
    ("draft.html", include_str!("templates/draft.html")),
    ("saved_rules.html", include_str!("templates/saved_rules.html")),
    ("trial.html", include_str!("templates/trial.html")),
    ("trouble.html", include_str!("templates/trouble.html")),
    ("links.html", include_str!("templates/links.html")),
    ("budget.html", include_str!("templates/budget.html")),
    ("stages.html", include_str!("templates/stages.html")),
    ("people.html", include_str!("templates/people.html")),
];
/// The style of the screens, with that of the table of a difference, which `recrawl diff --html` has too.
const STYLE: &str = concat!(include_str!("templates/console.css"), include_str!("../commands/diff/table.css"));
/// The script of the screens, which are whole without it.
const CONSOLE_SCRIPT: &str = include_str!("templates/console.js");
/// The screens that every screen leads to, as far as the caller may see them.
const MENU: [(Screen, &str, &str); 10] = [
    (Screen::Now, "/", "Now"),
    (Screen::Changes, "/changes", "Changes"),
    (Screen::Pages, "/pages", "Pages"),
    (Screen::Watches, "/watches", "Watches"),
    (Screen::Hosts, "/hosts", "Hosts"),
    (Screen::Seeds, "/seeds", "Seeds"),
    (Screen::Budget, "/budget", "Budget"),
    (Screen::Trouble, "/trouble", "Trouble"),
    (Screen::Stages, "/stages", "Stages"),
    (Screen::People, "/people", "People"),
];

/// The screens of a crawl.
pub(crate) struct Console {
    settings: Settings,
    crawl: Box<dyn ShownCrawl>,
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
    state: &'a dyn CrawlState,
    crawl: &'a dyn ShownCrawl,
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

/// Whether a caller may save watch rules, which are of all hosts.
fn may_save_rules(caller: &Caller) -> bool {
    caller.role >= Role::Operator && caller.hosts.is_none()
}

/// Fetches a page once, for somebody who may see its host, by the rules of the crawl. A host that an operator has stopped is not
/// asked.
fn fetched(source: &Source<'_>, url: &CanonicalUrl) -> Result<Given, ScreenFailure> {
    source.permit(url)?;
    let host = source.state.page(url)?.host;
    if host.is_some_and(|host| host.paused || host.blocked) {
        let why = format!("{} is paused or blocked, so nothing is fetched there", url.host_name());
        return Err(CommandFailure::No(why).into());
    }
    let given = file_or_address(source.settings, url.as_str());
    let given = given.map_err(|failure| CommandFailure::No(failure.to_string()))?;
    // A redirect may have led elsewhere.
    given.url.as_ref().map_or(Ok(()), |url| source.permit(url))?;
    Ok(given)
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

/// A time to the minute, with the exact one as its title. Text that is no time is shown as it is.
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

fn answer(screen: Result<TextResponse, ScreenFailure>) -> TextResponse {
    match screen {
        Ok(screen) => screen,
        Err(ScreenFailure::Forbidden(why)) => TextResponse::problem(403, why),
        Err(ScreenFailure::Command(CommandFailure::No(why))) => TextResponse::problem(404, why),
        Err(ScreenFailure::Command(CommandFailure::Input(why))) => TextResponse::problem(400, why),
        Err(ScreenFailure::Command(failure @ CommandFailure::World(_))) => {
            tracing::error!(%failure, "cannot show a screen");
            TextResponse::problem(503, "the state of the crawl cannot be read now; recrawl's log says why")
        }
    }
}

impl Console {
    pub(crate) fn new(settings: &Settings, crawl: Box<dyn ShownCrawl>) -> Self {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.add_filter("time", shown_time);
        for (name, source) in TEMPLATES {
            templates.add_template(name, source).expect("the templates come with recrawl, and tests render them");
        }
        Self { settings: settings.clone(), crawl, templates }
    }

    /// The style of the screens.
    pub(crate) fn style() -> TextResponse {
        TextResponse { status: 200, content_type: CSS, body: STYLE.to_owned() }
    }

    /// The script of the screens.
    pub(crate) fn script() -> TextResponse {
        TextResponse { status: 200, content_type: SCRIPT, body: CONSOLE_SCRIPT.to_owned() }
    }

    /// Answers a request for a screen.
    pub(crate) fn show(&self, screen: Screen, call: &Call<'_>) -> TextResponse {
        answer(self.render(screen, call))
    }

    /// Takes a form.
    pub(crate) fn take(&self, form: Form, call: &Call<'_>, sender: &OrderSender) -> TextResponse {
        answer(self.take_form(form, call, sender))
    }

    /// The screen that says what came of a form, or the refusal of its order.
    fn take_form(&self, form: Form, call: &Call<'_>, sender: &OrderSender) -> Result<TextResponse, ScreenFailure> {
        let scope = || scope::configured(&self.settings).map_err(CommandFailure::from);
        if let Form::Command(kind) = form {
            let current = match kind.subject() {
                CommandSubject::Hosts => Screen::Hosts,
                CommandSubject::Pages | CommandSubject::Sources => Screen::Pages,
            };
            return match orders::take(kind, call, sender, &scope()?)? {
                Ok(taken) => self.fill("taken.html", current, call, &taken),
                Err(refusal) => Ok(refusal),
            };
        }
        let state = self.crawl.state()?;
        let (settings, crawl, caller) = (&self.settings, &*self.crawl, call.caller);
        let source = Source { settings, state: &*state, crawl, caller };
        if form == Form::CheckSeeds {
            let checked = seeds::check(&source, call.body, &scope()?)?;
            return self.fill("checked_seeds.html", Screen::Seeds, call, &checked);
        }
        if form == Form::ChangeRules {
            return match saved_rules::change(&source, call, sender)? {
                Ok(saved) => self.fill("saved_rules.html", Screen::Watches, call, &saved),
                Err(refusal) => Ok(refusal),
            };
        }
        self.fill("trial.html", Screen::Watches, call, &trial::of_form(&source, call.body)?)
    }

    fn render(&self, screen: Screen, call: &Call<'_>) -> Result<TextResponse, ScreenFailure> {
        let state = self.crawl.state()?;
        let (settings, crawl, caller) = (&self.settings, &*self.crawl, call.caller);
        let source = Source { settings, state: &*state, crawl, caller };
        match screen {
            Screen::Now => self.fill("now.html", screen, call, &now::gather(&source, call.query)?),
            Screen::Changes => self.fill("changes.html", screen, call, &changes::gather(&source, call.query)?),
            Screen::Pages => self.fill("pages.html", screen, call, &pages::gather(&source, call.query)?),
            Screen::Page => self.fill("page.html", Screen::Pages, call, &one_page::gather(&source, call.query)?),
            Screen::Difference => {
                self.fill("difference.html", Screen::Pages, call, &difference::gather(&source, call.query)?)
            }
            Screen::Hosts => self.fill("hosts.html", screen, call, &hosts::gather(&source, call.query)?),
            Screen::Seeds => {
                Query::read(call.query, &[])?;
                self.fill("seeds.html", screen, call, &serde_json::json!({}))
            }
            Screen::Watches => self.fill("watches.html", screen, call, &watches::gather(&source, call.query)?),
            Screen::Links => self.fill("links.html", Screen::Pages, call, &links::gather(&source, call.query)?),
            Screen::Budget => self.fill("budget.html", screen, call, &budget::gather(&source, call.query)?),
            Screen::Trouble => self.fill("trouble.html", screen, call, &trouble::gather(&source, call.query)?),
            Screen::Stages => self.fill("stages.html", screen, call, &stages::gather(&source, call.query)?),
            Screen::People => self.fill("people.html", screen, call, &people::gather(&source, call.query)?),
        }
    }

    /// Fills a template with its values, or gives these as JSON where the query asks for that. `current` is the entry of the menu that the screen belongs to.
    fn fill(
        &self,
        template: &str,
        current: Screen,
        call: &Call<'_>,
        values: &impl Serialize,
    ) -> Result<TextResponse, ScreenFailure> {
        if matches!(call.task, Task::Screen(_)) && query::wants_json(call.query) {
            return Ok(TextResponse::json(200, values));
        }
        let is_shown = |screen: Screen| match screen {
            Screen::People => call.caller.has_all_rights(),
            Screen::Budget => call.caller.hosts.is_none(),
            _ => true,
        };
        let menu = MENU.into_iter().filter(|(screen, ..)| is_shown(*screen));
        let menu: Vec<_> =
            menu.map(|(screen, path, name)| MenuEntry { path, name, is_current: screen == current }).collect();
        let values = context! {
            menu => Serde(menu),
            form_token => call.form_token,
            may_operate => call.caller.role >= Role::Operator,
            may_administer => call.caller.role >= Role::Admin,
            may_save_rules => may_save_rules(call.caller),
            // Over Kafka a screen asks all stages, which is too much for every few seconds.
            renews => self.crawl.has_directory(),
            ..minijinja::Value::from(Serde(values))
        };
        let filled = self.templates.get_template(template).and_then(|template| template.render(values));
        let filled = filled.map_err(|error| CommandFailure::World(format!("template {template}: {error:#}")))?;
        Ok(TextResponse::screen(200, filled))
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
