//! `docs/API.md`, written from the table of routes.

use super::route::{Access, Route};
use super::routes::routes;
use std::fmt::Write;

const HEAD: &str = "\
# The port

<!-- Written from crates/daemon/src/http/routes.rs by `UPDATE=1 cargo test -p daemon --test integration api_document`, do not edit. -->

Every process answers at `http.bind`. `GET /openapi.json` is this page for programs: OpenAPI 3.1, with schemas. A path or method that is not here does not exist.

* **Roles.** `viewer`, `operator` and `admin`, each with the rights of those before it. The token of a key (`recrawl key`), of `http.token` or of the data
  directory (an admin) goes into `Authorization: Bearer TOKEN`; for what is read, it may be the password of Basic authentication, too.
* **Commands** (POST and DELETE) need the header `x-recrawl-command`, with any text, so that no web site can send them. Forms of the console take the password, and are taken from its own screens only: by `Sec-Fetch-Site` or
  `Origin`, and by a token that the screen has.
* **Refusals** are problem documents (RFC 9457, `application/problem+json`) with `title`, `status` and `detail`. 405 and `OPTIONS` list the methods of a
  path in `Allow`. Where `GET` has no effect, `HEAD` answers as `GET` does, without the body.
* **Browsers** show every answer as what it is, run nothing of it and keep nothing: `nosniff`, a content security policy that allows nothing, `no-store`. The screens of the console may load their style and send their forms, and run no script.
* The header `x-recrawl-log` of a request names the crawl that it is for, and that of an answer the crawl that answers. Another crawl refuses (409).
* A key for some hosts reads and commands those only. Commands about the whole crawl take a key for all.

An embedded crawl has all routes. A process over Kafka has those that are open to all, and the hints if it runs the scheduler.

## Routes

| method | path | who | it does |
|---|---|---|---|
";

/// The page.
pub fn reference() -> String {
    let mut text = HEAD.to_owned();
    for route in routes() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | `{}` | {} | {} |", route.method.name(), route.path, who(route), route.summary);
    }
    for route in routes() {
        describe(route, &mut text);
    }
    text
}

fn who(route: &Route) -> &'static str {
    match route.access {
        Access::Open => "all",
        Access::Sender => "its senders",
        Access::Role(role) => role.word(),
    }
}

fn describe(route: &Route, text: &mut String) {
    let _ = write!(text, "\n## {} {}\n\n{}.\n\n", route.method.name(), route.path, route.summary);
    for parameter in route.query {
        let need = if parameter.is_required { "needed" } else { "optional" };
        let _ = writeln!(text, "* `?{}=` ({need}): {}", parameter.name, parameter.meaning);
    }
    if let Some(body) = &route.body {
        let _ = writeln!(text, "* body (`{}`): {}", body.media_type, body.meaning);
    }
    let success = &route.success;
    let _ = writeln!(text, "* {} (`{}`): {}", success.status, success.media_type, success.meaning);
    for (status, meaning) in route.all_refusals() {
        let _ = writeln!(text, "* {status}: {meaning}");
    }
}
