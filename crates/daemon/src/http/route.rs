//! The form of a route: everything that clients, the router and the document need to know of it.

use super::keys::Role;
use messages::CommandKind;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

/// A method of a path.
pub struct Route {
    pub method: Method,
    /// Segments of fixed text. The last may be a parameter, such as `{name}`.
    pub path: &'static str,
    /// Id of the operation in the document.
    pub id: &'static str,
    pub summary: &'static str,
    pub target: Target,
    pub access: Access,
    /// Parameters of the query.
    pub query: &'static [QueryParameter],
    pub body: Option<Body>,
    /// The answer if all goes well.
    pub success: Success,
    /// Refusals of this route, besides those of all routes with its kind of access.
    pub refusals: &'static [(u16, &'static str)],
}

/// A method that has a route. `HEAD` and `OPTIONS` follow from these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Delete,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// The part of the program that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Healthz,
    Readyz,
    Metrics,
    Status,
    Document,
    /// The intake of hints, if the settings open it.
    Ping,
    Task(Task),
}

/// An answer that only a process with a whole crawl can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Order(OrderKind),
    BackUp,
    Changes,
    AtomFeed,
    RssFeed,
    Screen(Screen),
    Form(Form),
    /// The style of the screens.
    Stylesheet,
    /// The script of the console, which its screens are whole without.
    Script,
}

/// A screen of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// Whether all is well.
    Now,
    Changes,
    Pages,
    /// One page, with its versions.
    Page,
    /// Two versions of a page, side by side.
    Difference,
    Hosts,
    Seeds,
    /// The rules that watch something.
    Watches,
    /// Failures, and all else that needs a person.
    Trouble,
    Stages,
    /// The links of a page.
    Links,
    /// How fresh the copies would be with another budget.
    Budget,
    /// Keys, and the record of orders.
    People,
}

/// A form of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A command, with its subjects in the field `names`.
    Command(CommandKind),
    /// Says of each seed whether it is new. Adds none.
    CheckSeeds,
    /// Tries a rule on versions of a page. Saves none.
    TryRule,
    /// Saves a rule, removes one, or brings back the rules of before.
    ChangeRules,
}

/// An order of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    Command(CommandKind),
    AddFocus,
    RemoveFocus,
    /// Saves watch rules in place of those that operators have saved before.
    SaveRules,
}

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody who reaches the port: probes and figures.
    Open,
    /// Senders of pings, by a secret of their protocol.
    Sender,
    /// Callers with this role or a higher one.
    Role(Role),
}

pub struct QueryParameter {
    pub name: &'static str,
    pub meaning: &'static str,
    pub is_required: bool,
    pub schema: fn() -> Value,
}

pub struct Body {
    pub media_type: &'static str,
    pub meaning: &'static str,
    pub schema: fn() -> Value,
}

pub struct Success {
    pub status: u16,
    /// Media type without parameters.
    pub media_type: &'static str,
    pub meaning: &'static str,
    pub schema: fn() -> Value,
}

impl Route {
    /// Name of the parameter in the path.
    pub fn parameter(&self) -> Option<&'static str> {
        Some(self.path.split_once('{')?.1.trim_end_matches('}'))
    }

    /// Whether a path is of this route, with the parameter in it as text.
    pub(super) fn fit(&self, path: &str) -> Option<Option<String>> {
        let Some((start, _)) = self.path.split_once('{') else { return (self.path == path).then_some(None) };
        let value = path.strip_prefix(start).filter(|value| !value.is_empty() && !value.contains('/'))?;
        Some(Some(percent_decode_str(value).decode_utf8_lossy().into_owned()))
    }

    /// Whether `HEAD` is answered as `GET` is. Pings are not: a `GET` of theirs has an effect.
    pub fn has_head(&self) -> bool {
        self.method == Method::Get && self.access != Access::Sender
    }

    /// Whether it changes something by order of a program, so that web sites must be kept from it.
    pub fn is_command(&self) -> bool {
        matches!(self.access, Access::Role(_)) && self.method != Method::Get && !self.is_form()
    }

    /// Whether it is for people with a browser, so that its refusals are pages too.
    pub fn is_screen(&self) -> bool {
        matches!(self.target, Target::Task(Task::Screen(_)))
    }

    /// Whether it takes a form of a screen.
    pub fn is_form(&self) -> bool {
        matches!(self.target, Target::Task(Task::Form(_)))
    }

    /// The path with this value of its parameter.
    pub fn path_with(&self, value: Option<&str>) -> String {
        match (self.path.split_once('{'), value) {
            (Some((start, _)), Some(value)) => format!("{start}{}", utf8_percent_encode(value, NON_ALPHANUMERIC)),
            _ => self.path.to_owned(),
        }
    }

    /// All statuses that refuse a request, with their meaning, in order.
    pub fn all_refusals(&self) -> Vec<(u16, &'static str)> {
        let mut all = vec![
            (409, "The request names the log of another crawl."),
            (421, "The request names a host that is not served (http.names)."),
        ];
        if self.access != Access::Open {
            all.extend([
                (400, "The body cannot be read."),
                (404, "This process does not have the route."),
                (408, "The body did not come in time."),
                (413, "The body is too large."),
                (500, "A fault of recrawl; its log says which."),
                (503, "Too much is asked at once, or the log does not answer. Try again."),
            ]);
        }
        if let Access::Role(_) = self.access {
            all.extend([(401, "No valid token."), (403, "The key does not give this right.")]);
        }
        all.retain(|(status, _)| self.refusals.iter().all(|(own, _)| own != status));
        all.extend(self.refusals);
        all.sort_unstable();
        all
    }
}
