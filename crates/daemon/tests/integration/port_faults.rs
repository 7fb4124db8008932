//! Faults that consoles of other crawlers had, tried at every route of the port.

use crate::port::{TOKEN, echo, form_token, port_with};
use crate::port_answers::{ask, bare};
use daemon::http::{Access, PROBLEM, STEP_TIMEOUT, Target, Task, routes};

/// "anyone:a-token-of-some-length", as a browser adds it to requests of any web site.
const BASIC: &str = "authorization: Basic YW55b25lOmEtdG9rZW4tb2Ytc29tZS1sZW5ndGg=\r\n";

#[test]
fn no_web_site_gives_a_command_in_the_name_of_its_visitor() {
    let (_open, address) = port_with(STEP_TIMEOUT, echo);
    let token = format!("authorization: Bearer {TOKEN}\r\n");
    let command = "x-recrawl-command: 1\r\n";
    let commands = routes().filter(|route| route.is_command());
    for route in commands {
        let (method, path) = (route.method.name(), route.path_with(Some("lamps")));
        let status = |headers: &str| ask(address, &bare(method, &path, headers)).status;
        // A form of another site: it cannot add the header, whatever the body's type.
        let form = "origin: https://evil.test\r\ncontent-type: application/x-www-form-urlencoded\r\n";
        assert_eq!(status(&format!("{form}{token}")), 403, "{path}");
        assert_eq!(status(&format!("{form}{BASIC}{command}")), 401, "{path}");
        let preflight = format!("{form}access-control-request-method: {method}\r\n");
        let answer = ask(address, &bare("OPTIONS", &path, &preflight));
        assert!(!answer.head.iter().any(|line| line.starts_with("access-control-")), "{path}");
        // Neither by an address that a picture or a link could have, nor by a method in a header or in the query.
        assert_eq!(ask(address, &bare("GET", &path, &format!("{token}{command}"))).status, 405, "{path}");
        let hidden = format!("{path}?_method={method}");
        let override_header = format!("{token}x-http-method-override: {method}\r\n");
        assert_eq!(ask(address, &bare("GET", &hidden, &override_header)).status, 405, "{path}");
        assert_eq!(status(&format!("{token}{command}")), 200, "{path}");
    }
    // A GET of a sender has an effect for the secret in its address alone, so HEAD must not be one.
    let effects = routes().filter(|route| route.method.name() == "GET" && route.access == Access::Sender);
    assert!(effects.clone().count() > 0 && effects.clone().all(|route| !route.has_head()));
}

#[test]
fn no_web_site_sends_a_form_in_the_name_of_its_visitor() {
    let (_open, address) = port_with(STEP_TIMEOUT, echo);
    let body = form_token(address, BASIC);
    let own = "sec-fetch-site: same-origin\r\n";
    for route in routes().filter(|route| route.is_form()) {
        let status = |headers: &str, body: &str| {
            let form = "host: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\n";
            let length = body.len();
            let head = format!("POST {} HTTP/1.1\r\n{form}content-length: {length}\r\n{headers}\r\n", route.path);
            ask(address, &(head + body)).status
        };
        let path = route.path;
        assert_eq!(status(&format!("{BASIC}{own}"), &body), 200, "{path}");
        assert_eq!(status(&format!("{BASIC}origin: http://localhost\r\n"), &body), 200, "{path}");
        // Whatever a site can have a browser send: its password, and a token that it has from elsewhere.
        for foreign in
            ["sec-fetch-site: cross-site\r\n", "sec-fetch-site: same-site\r\norigin: http://localhost\r\n", ""]
        {
            assert_eq!(status(&format!("{BASIC}{foreign}"), &body), 403, "{path} {foreign}");
        }
        assert_eq!(status(&format!("{BASIC}origin: https://evil.test\r\n"), &body), 403, "{path}");
        assert_eq!(status(own, &body), 401, "{path}");
        for token in ["", "form_token=00", "form_token="] {
            assert_eq!(status(&format!("{BASIC}{own}"), token), 403, "{path} {token}");
        }
        assert_eq!(ask(address, &bare("GET", path, &format!("{BASIC}{own}"))).status, 405, "{path}");
    }
}

#[test]
fn no_answer_but_a_screen_is_of_a_kind_that_a_browser_runs_and_a_screen_runs_our_script_alone() {
    for route in routes() {
        let kind = route.success.media_type;
        match route.target {
            Target::Task(Task::Screen(_) | Task::Form(_)) if kind == "text/html" => continue,
            Target::Task(Task::Stylesheet) if kind == "text/css" => continue,
            Target::Task(Task::Script) if kind == "text/javascript" => continue,
            _ => {}
        }
        for running in ["html", "svg", "javascript", "css", "pdf", "text/xml", "application/xml"] {
            assert!(!kind.contains(running), "{}: {kind}", route.id);
        }
    }
    let (_open, address) = port_with(STEP_TIMEOUT, echo);
    let token = format!("authorization: Bearer {TOKEN}\r\nx-recrawl-command: 1\r\n");
    // Names and addresses come back in answers.
    for target in ["%3Cscript%3Ealert(1)%3C/script%3E", "red;}*{display:none", "%22%3E%3Cimg%20src=x%20onerror=x%3E"] {
        for path in [
            format!("/api/v1/focuses/{target}"),
            format!("/{target}"),
            format!("/changes.rss?{target}"),
            format!("/api/v1/changes?cursor={target}"),
        ] {
            for method in ["GET", "DELETE", "POST"] {
                let answer = ask(address, &bare(method, &path, &token));
                let kind = answer.header("content-type").unwrap_or_default();
                let is_plain = kind == PROBLEM || kind.starts_with("text/plain");
                assert!(is_plain, "{method} {path}: {kind}");
                assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{method} {path}");
                let policy = answer.header("content-security-policy").unwrap_or_default();
                assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{method} {path}");
            }
        }
        // A browser is shown a refusal as a screen, with what was refused as text.
        let path = format!("/page?url={target}&{target}");
        let answer = ask(address, &bare("GET", &path, "accept: text/html\r\n"));
        assert_eq!((answer.status, answer.header("content-type")), (401, Some("text/html; charset=utf-8")), "{path}");
        let policy = answer.header("content-security-policy").unwrap_or_default();
        for part in
            ["default-src 'none'", "script-src 'self';", "require-trusted-types-for 'script'", "trusted-types 'none'"]
        {
            assert!(policy.contains(part) && !policy.contains("unsafe"), "{part}: {policy}");
        }
        assert!(answer.body.contains("<h1>Unauthorized</h1>") && !answer.body.contains("<script"), "{}", answer.body);
    }
}

#[test]
fn no_path_leads_beyond_the_table() {
    let (_open, address) = port_with(STEP_TIMEOUT, echo);
    let token = format!("authorization: Bearer {TOKEN}\r\nx-recrawl-command: 1\r\n");
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/http.token",
        "/api/v1/../../http.token",
        "/api/v1/focuses/../../../http.token",
        "/api/v1/changes/../../http.token",
        "/changes.atom/../http.token",
        "/changes.atom%00.html",
        "/websub/news/../../hints",
        "/api/v1//changes",
        "/api/v1/changes/",
        "//etc/passwd",
        "/static/http.token",
        "/http.token",
        "/API/V1/CHANGES",
        "/api/v1/change",
        "/api/v1/changes.atom",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            let answer = ask(address, &bare(method, path, &token));
            assert_eq!((answer.status, answer.header("content-type")), (404, Some(PROBLEM)), "{method} {path}");
        }
    }
}

#[test]
fn a_part_of_a_token_or_more_than_it_opens_nothing() {
    let (_open, address) = port_with(STEP_TIMEOUT, echo);
    let status = |token: &str| {
        let headers = format!("authorization: Bearer {token}\r\n");
        ask(address, &bare("GET", "/api/v1/changes", &headers)).status
    };
    assert_eq!(status(TOKEN), 200);
    let (longer, upper) = (format!("{TOKEN}x"), TOKEN.to_uppercase());
    for part in [&TOKEN[..5], &TOKEN[1..], "token", "%", "*", "", &longer, &upper, "our-log", "owner"] {
        assert_eq!(status(part), 401, "{part:?}");
    }
}
