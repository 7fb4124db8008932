//! Keys and TLS of the port.

use crate::port::{PATIENCE, TOKEN, echo, form_token, get, locked_port, sent};
use crate::port_answers::{ask, bare};
use daemon::http::{Access, Door, HttpSite, KeyEntry, KeyRing, Role, STEP_TIMEOUT, TlsFiles, routes, serve};
use daemon::web_client::{agent, authorities};
use daemon::{Background, Board, StopSignal};
use rcgen::CertifiedKey;
use settings::Secret;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[test]
fn a_key_opens_the_port_in_the_name_of_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    std::fs::write(&file, KeyEntry::new("alice", Role::Viewer, None, "token-of-alice").to_toml()).unwrap();
    let door = Door { keys: Some(Arc::new(KeyRing::open(&file).unwrap())), ..Door::default() };
    let (_open, address) = locked_port(STEP_TIMEOUT, echo, door, None);
    let body = |request: &str, token: &str| {
        let mut text = String::new();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nx-recrawl-command: 1\r\n\
             authorization: Bearer {token}\r\n\r\n"
        );
        sent(address, &head).read_to_string(&mut text).unwrap();
        text.split_once("\r\n\r\n").unwrap().1.to_owned()
    };
    assert_eq!(body("GET /changes.atom", "token-of-alice"), "texts of pages for alice");
    assert!(body("POST /api/v1/seeds", "token-of-alice").contains("has the role viewer; /api/v1/seeds takes operator"));
    assert!(body("GET /changes.atom", "token-of-bob").contains("a token is needed"));
    std::fs::write(&file, "").unwrap();
    assert!(body("GET /changes.atom", "token-of-alice").contains("a token is needed"));
}

#[test]
fn a_key_gives_what_its_role_gives_and_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    let roles = [Role::Viewer, Role::Operator, Role::Admin];
    let entries =
        roles.map(|role| KeyEntry::new(role.word(), role, None, &format!("token-of-{}", role.word())).to_toml());
    std::fs::write(&file, entries.concat()).unwrap();
    let door = Door { keys: Some(Arc::new(KeyRing::open(&file).unwrap())), ..Door::default() };
    let (_open, address) = locked_port(STEP_TIMEOUT, echo, door, None);
    for route in routes() {
        let Access::Role(needed) = route.access else { continue };
        let path = route.path_with(Some("name"));
        let ask = |authorization: &str| {
            let body = if route.is_form() { form_token(address, authorization) } else { String::new() };
            let request = format!(
                "{} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\nx-recrawl-command: 1\r\nsec-fetch-site: \
                 same-origin\r\n{authorization}\r\n{body}",
                route.method.name(),
                body.len(),
            );
            let mut text = String::new();
            sent(address, &request).read_to_string(&mut text).unwrap();
            text.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
        };
        assert_eq!(ask(""), 401, "{}", route.id);
        for role in roles {
            let status = ask(&format!("authorization: Bearer token-of-{}\r\n", role.word()));
            assert_eq!(status, if role < needed { 403 } else { 200 }, "{role:?} {}", route.id);
        }
    }
}

#[test]
fn who_receives_changes_is_shown_to_readers_alone_also_where_there_is_no_token() {
    let shown = |door: Door, headers: &str| {
        let stop = StopSignal::default();
        let mut background = Background::new(&stop);
        let board = Board::new(Vec::new(), 1.0);
        let receiver = board.receivers().add("people", "ada@example.org");
        receiver.update(|receiver| receiver.problem = Some("550 ada has moved".to_owned()));
        let site = HttpSite {
            board,
            tasks: None,
            refusals: None,
            door,
            hints: None,
            names: Vec::new(),
            hung_after: PATIENCE,
            step_timeout: STEP_TIMEOUT,
        };
        let address = serve("127.0.0.1:0".parse().unwrap(), site, None, &stop, &mut background).unwrap();
        ask(address, &bare("GET", "/status", headers)).body
    };
    let locked = || Door { tokens: vec![("owner", Secret::new(TOKEN))], ..Door::default() };
    let key = format!("authorization: Bearer {TOKEN}\r\n");
    for (door, headers) in [(Door::default(), ""), (Door::default(), key.as_str()), (locked(), "")] {
        let status = shown(door, headers);
        assert!(status.contains("\"people\"") && !status.contains("ada@example.org"), "{status}");
        assert!(!status.contains("has moved"), "{status}");
    }
    let status = shown(locked(), &key);
    assert!(status.contains("ada@example.org") && status.contains("550 ada has moved"), "{status}");
}

/// Writes a certificate of its own for localhost, and returns the files of TLS.
fn certificate_in(folder: &Path) -> (PathBuf, PathBuf) {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = (folder.join("tls.crt"), folder.join("tls.key"));
    std::fs::write(&files.0, cert.pem()).unwrap();
    std::fs::write(&files.1, signing_key.serialize_pem()).unwrap();
    files
}

#[test]
fn a_port_with_tls_speaks_nothing_else_and_takes_a_new_certificate_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = certificate_in(folder.path());
    let tls = Arc::new(TlsFiles::open(certificate.clone(), key.clone()).unwrap());
    let (_open, address) = locked_port(STEP_TIMEOUT, echo, Door::default(), Some(tls));
    let url = format!("https://localhost:{}/healthz", address.port());
    let ask = |trusted: &str| {
        let file = folder.path().join("trusted.pem");
        std::fs::write(&file, trusted).unwrap();
        let agent = agent(authorities(Some(&file)).unwrap(), PATIENCE, PATIENCE);
        agent.get(&url).call().map(|answer| answer.status().as_u16()).map_err(|error| error.to_string())
    };
    let first = std::fs::read_to_string(&certificate).unwrap();
    assert_eq!(ask(&first), Ok(200));
    let mut plain = Vec::new();
    let _ = sent(address, &get("/healthz")).read_to_end(&mut plain);
    assert!(!plain.starts_with(b"HTTP"), "{plain:?}");
    certificate_in(folder.path());
    let second = std::fs::read_to_string(&certificate).unwrap();
    assert!(ask(&first).is_err());
    assert_eq!(ask(&second), Ok(200));
    // While the files do not go together, the last ones that did are in use.
    std::fs::write(&certificate, &first).unwrap();
    assert_eq!(ask(&second), Ok(200));
    let fault = TlsFiles::open(certificate, key).unwrap_err();
    assert!(fault.contains("do not go together"), "{fault}");
}
