//! The document of the port in the form of OpenAPI 3.1, written from the table of routes.

use super::answer::PROBLEM;
use super::door::LOG_HEADER;
use super::route::{Access, Method, Route};
use super::routes::{at, methods, routes};
use super::{CALLER_HEADER, COMMAND_HEADER, schemas};
use serde_json::{Map, Value, json};

const ABOUT: &str = "The port of a recrawl process. Routes under /api/v1, and the feeds, are of a whole crawl in one process. \
Every refusal is a problem document (RFC 9457). A path that is not here is refused with 404, a method that a path lacks with \
405, and a request that is no HTTP with a bare 400, 414 or 431.";

/// The document that `/openapi.json` answers with. It is the same in every process and names no version of the program.
pub fn openapi() -> Value {
    let mut paths = Map::new();
    for route in routes() {
        let path = paths.entry(route.path).or_insert_with(|| json!({ "options": options(route.path) }));
        path[route.method.name().to_ascii_lowercase()] = operation(route, false);
        if route.has_head() {
            path["head"] = operation(route, true);
        }
    }
    let log_header = json!({
        "name": LOG_HEADER, "in": "header", "required": false, "schema": schemas::text(),
        "description": "Id of the log of the crawl that the request is for. Another crawl refuses it.",
    });
    let command_header = json!({
        "name": COMMAND_HEADER, "in": "header", "required": true, "schema": { "type": "string", "minLength": 1 },
        "description": "Any text. A web site cannot send it.",
    });
    let caller_header = json!({
        "name": CALLER_HEADER, "in": "header", "required": false, "schema": schemas::text(),
        "description": "Who gives the command, as user@machine. It is recorded as a claim beside the name of the key; recrawl audit shows both.",
    });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "recrawl", "version": "1", "description": ABOUT },
        "paths": paths,
        "components": {
            "parameters": { "Log": log_header, "Command": command_header, "Caller": caller_header },
            "schemas": { "Problem": schemas::problem() },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "The token of the data directory, http.token, or that of a key (http.keys_file)." },
                "password": { "type": "http", "scheme": "basic", "description": "The same token as the password, with any name; for readers of feeds." },
                "hints": { "type": "http", "scheme": "bearer", "description": "hints.token" },
            },
        },
    })
}

fn operation(route: &Route, is_head: bool) -> Value {
    let id = if is_head { format!("{}Head", route.id) } else { route.id.to_owned() };
    let mut parameters = vec![json!({ "$ref": "#/components/parameters/Log" })];
    if route.is_command() {
        parameters.push(json!({ "$ref": "#/components/parameters/Command" }));
        parameters.push(json!({ "$ref": "#/components/parameters/Caller" }));
    }
    if let Some(name) = route.parameter() {
        parameters.push(path_parameter(name));
    }
    parameters.extend(route.query.iter().map(|parameter| {
        let (name, schema) = (parameter.name, (parameter.schema)());
        let (required, meaning) = (parameter.is_required, parameter.meaning);
        json!({ "name": name, "in": "query", "required": required, "schema": schema, "description": meaning })
    }));
    let mut operation = json!({
        "operationId": id,
        "summary": without_links(route.summary),
        "parameters": parameters,
        "responses": responses(route, is_head),
        "security": security(route),
    });
    if let Access::Role(role) = route.access {
        operation["x-role"] = role.word().into();
    }
    if let Some(body) = &route.body {
        let content = json!({ body.media_type: { "schema": (body.schema)() } });
        operation["requestBody"] = json!({ "required": true, "description": body.meaning, "content": content });
    }
    operation
}

fn responses(route: &Route, is_head: bool) -> Value {
    let mut responses = Map::new();
    let success = &route.success;
    let mut answer = json!({ "description": without_links(success.meaning) });
    if !is_head {
        answer["content"] = json!({ success.media_type: { "schema": (success.schema)() } });
    }
    responses.insert(success.status.to_string(), answer);
    for (status, meaning) in route.all_refusals() {
        let answer = if is_head { json!({ "description": meaning }) } else { refusal(meaning) };
        responses.insert(status.to_string(), answer);
    }
    responses.into()
}

fn refusal(meaning: &str) -> Value {
    let problem = json!({ "schema": { "$ref": "#/components/schemas/Problem" } });
    json!({ "description": meaning, "content": { PROBLEM: problem } })
}

fn path_parameter(name: &str) -> Value {
    let schema = json!({ "type": "string", "minLength": 1 });
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn options(path: &str) -> Value {
    let methods = methods(&at(path));
    let mut operation = json!({
        "operationId": format!("options{path}"),
        "summary": "The methods of the path",
        "security": [],
        "responses": {
            "204": {
                "description": "The header has them.",
                "headers": { "Allow": { "required": true, "schema": { "const": methods } } },
            },
            "409": refusal("The request names the log of another crawl."),
            "421": refusal("The request names a host that is not served (http.names)."),
        },
    });
    if let Some((_, name)) = path.split_once('{') {
        operation["parameters"] = json!([path_parameter(name.trim_end_matches('}'))]);
    }
    operation
}

fn security(route: &Route) -> Value {
    match route.access {
        Access::Open => json!([]),
        Access::Sender if route.path == "/hints" => json!([{ "hints": [] }]),
        // The secret is in the address or in the body.
        Access::Sender => json!([]),
        Access::Role(role) if route.method == Method::Get || route.is_form() => {
            json!([{ "token": [role.word()] }, { "password": [role.word()] }])
        }
        Access::Role(role) => json!([{ "token": [role.word()] }]),
    }
}

/// A text without the addresses of Markdown's links, which are those of pages in `docs`.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().replace('[', "");
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}
