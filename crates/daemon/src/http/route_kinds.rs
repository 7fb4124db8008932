//! Routes by their kinds, with all that the routes of a kind have in common.

use super::answer::JSON;
use super::keys::Role;
use super::route::{Access, Body, Form, Method, OrderKind, QueryParameter, Route, Screen, Success, Target, Task};
use super::schemas;
use messages::CommandKind;

pub(super) const PLAIN: &str = "text/plain";
pub(super) const NO_QUERY: &[QueryParameter] = &[];
pub(super) const SENT: Success =
    Success { status: 200, media_type: JSON, meaning: "Written to the log.", schema: schemas::sent };
pub(super) const SEEDED: Success =
    Success { status: 200, media_type: JSON, meaning: "Written to the log.", schema: schemas::seeded };
pub(super) const PAGES: Body = Body { media_type: PLAIN, meaning: "An address on each line.", schema: schemas::lines };
pub(super) const HOSTS: Body =
    Body { media_type: PLAIN, meaning: "The name of a host on each line.", schema: schemas::lines };
pub(super) const SOURCES: Body = Body {
    media_type: PLAIN,
    meaning: "The address of a page or the domain of a site on each line.",
    schema: schemas::lines,
};
pub(super) const FORM: Body = Body {
    media_type: "application/x-www-form-urlencoded",
    meaning: "The fields of the form, with its form_token.",
    schema: schemas::text,
};
pub(super) const SEEDS: Body = Body {
    media_type: PLAIN,
    meaning: "A list of pages, in any form that `recrawl seed --file` reads.",
    schema: schemas::text,
};

pub(super) const STATUS: Success =
    Success { status: 200, media_type: JSON, meaning: "The state.", schema: schemas::status };
pub(super) const DOCUMENT: Success =
    Success { status: 200, media_type: JSON, meaning: "OpenAPI 3.1.", schema: schemas::document };
pub(super) const NO_ROOM: &[(u16, &str)] = &[(507, "The disk is nearly full (log.min_free_disk).")];
pub(super) const TOO_MANY: (u16, &str) = (429, "More pages than a minute allows (hints.pages_per_minute).");
pub(super) const INDEX_NOW_REFUSALS: &[(u16, &str)] = &[
    (403, "Not the key of the host."),
    (413, "The body is too large, or more pages than a minute allows."),
    (422, "Not a page of the host."),
    TOO_MANY,
];

pub(super) const fn said(meaning: &'static str) -> Success {
    Success { status: 200, media_type: PLAIN, meaning, schema: schemas::text }
}

pub(super) const fn feed(media_type: &'static str) -> Success {
    Success { status: 200, media_type, meaning: "The feed.", schema: schemas::text }
}

pub(super) const fn open(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    target: Target,
    success: Success,
) -> Route {
    let (method, access) = (Method::Get, Access::Open);
    Route { method, path, id, summary, target, access, query: NO_QUERY, body: None, success, refusals: &[] }
}

pub(super) const fn ping(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    success: Success,
) -> Route {
    let (target, access) = (Target::Ping, Access::Sender);
    Route { method, path, id, summary, target, access, query: NO_QUERY, body: None, success, refusals: &[] }
}

pub(super) const PAGE_URL: QueryParameter =
    QueryParameter { name: "url", meaning: "Address of the page.", is_required: true, schema: schemas::text };

/// Asks for the values of a screen instead of the screen.
pub(super) const FORMAT: QueryParameter = QueryParameter {
    name: "format",
    meaning: "json: the values of the screen, as they are shown. Their form follows the screen and is no interface.",
    is_required: false,
    schema: schemas::text,
};

pub(super) const fn screen(path: &'static str, id: &'static str, summary: &'static str, screen: Screen) -> Route {
    let success = Success { status: 200, media_type: "text/html", meaning: "The screen.", schema: schemas::text };
    Route { query: &[FORMAT], ..view(path, id, summary, Task::Screen(screen), success) }
}

pub(super) const fn view(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    task: Task,
    success: Success,
) -> Route {
    let (method, target, access) = (Method::Get, Target::Task(task), Access::Role(Role::Viewer));
    Route { method, path, id, summary, target, access, query: NO_QUERY, body: None, success, refusals: &[] }
}

/// A form for callers with at least this role.
pub(super) const fn form(path: &'static str, id: &'static str, summary: &'static str, role: Role, form: Form) -> Route {
    let success = Success { status: 200, media_type: "text/html", meaning: "What came of it.", schema: schemas::text };
    let (method, target, access) = (Method::Post, Target::Task(Task::Form(form)), Access::Role(role));
    Route { method, path, id, summary, target, access, query: NO_QUERY, body: Some(FORM), success, refusals: &[] }
}

pub(super) const fn command(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    kind: CommandKind,
    body: Body,
) -> Route {
    let target = Target::Task(Task::Order(OrderKind::Command(kind)));
    let (method, access, body) = (Method::Post, Access::Role(Role::Operator), Some(body));
    Route { method, path, id, summary, target, access, query: NO_QUERY, body, success: SENT, refusals: &[] }
}

pub(super) const fn administer(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    task: Task,
    body: Option<Body>,
    success: Success,
) -> Route {
    let (target, access) = (Target::Task(task), Access::Role(Role::Admin));
    Route { method, path, id, summary, target, access, query: NO_QUERY, body, success, refusals: &[] }
}
