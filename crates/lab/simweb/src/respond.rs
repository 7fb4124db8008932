//! Answers one request: a function of the web, the request and the time.

use crate::dials::{FaultRule, FaultScope, HostSitemap, PageDates, WebFault};
use crate::ledger::RequestKind;
use crate::seeds::{hash, numbers};
use crate::sitemap;
use crate::trace::{StateContent, without_port};
use crate::web::{HostTable, Web};
use chance::{Draws, splitmix64, unit};
use hyper::body::Bytes;
use page::Timestamp;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// The parts of a request that an answer depends on.
pub(crate) struct WebRequest<'a> {
    pub(crate) is_head: bool,
    /// Whether it came over TLS.
    pub(crate) is_secure: bool,
    /// The `Host` header, including a port.
    pub(crate) authority: &'a str,
    pub(crate) path: &'a str,
    pub(crate) if_none_match: Option<&'a str>,
    pub(crate) if_modified_since: Option<&'a str>,
}

#[derive(Debug)]
pub(crate) struct WebResponse {
    pub(crate) kind: RequestKind,
    /// The page's own path.
    pub(crate) path: Arc<str>,
    pub(crate) status: u16,
    pub(crate) version: Option<u32>,
    pub(crate) disallowed: bool,
    /// Real time to wait before the head.
    pub(crate) latency: Duration,
    pub(crate) content_type: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<Timestamp>,
    pub(crate) location: Option<String>,
    pub(crate) retry_after_s: Option<u32>,
    pub(crate) body: Bytes,
    pub(crate) delivery: Delivery,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Delivery {
    /// At once.
    Plain,
    /// Half of it, then a reset.
    ResetMidBody,
    /// Spread over this much real time.
    Slow(Duration),
    /// This many bytes of filler instead.
    Filler(u64),
}

impl WebResponse {
    fn new(kind: RequestKind, path: Arc<str>, status: u16) -> Self {
        Self {
            kind,
            path,
            status,
            version: None,
            disallowed: false,
            latency: Duration::ZERO,
            content_type: None,
            etag: None,
            last_modified: None,
            location: None,
            retry_after_s: None,
            body: Bytes::new(),
            delivery: Delivery::Plain,
        }
    }

    fn with_text(mut self, text: impl Into<Bytes>) -> Self {
        self.content_type = Some("text/plain; charset=utf-8".into());
        self.body = text.into();
        self
    }
}

/// The host that an authority names, if it is part of the web.
pub(crate) fn host_of<'web>(web: &'web Web, authority: &str) -> Option<&'web HostTable> {
    let name = without_port(authority);
    web.hosts.get(name).or_else(|| web.hosts.get(name.to_ascii_lowercase().as_str()))
}

/// Answers a request for `table`'s host (`None`: a host that is not part of the web).
pub(crate) fn respond(
    web: &Web,
    table: Option<&HostTable>,
    request: &WebRequest<'_>,
    now: Timestamp,
) -> io::Result<WebResponse> {
    let Some(table) = table else {
        return Ok(WebResponse::new(RequestKind::UnknownHost, request.path.into(), 421).with_text("unknown host\n"));
    };
    let mut answer = respond_by_path(web, table, request, now)?;
    answer.latency += table.dials.latency;
    answer.disallowed = answer.kind != RequestKind::Robots && table.dials.robots.disallows(request.path);
    Ok(answer)
}

fn respond_by_path(web: &Web, table: &HostTable, request: &WebRequest<'_>, now: Timestamp) -> io::Result<WebResponse> {
    if request.path == "/robots.txt" {
        return Ok(robots(web, table, request, now));
    }
    if let Some(answer) = serve_sitemap(web, table, request, now) {
        return Ok(answer);
    }
    // A page may have an address with a query of its own. `?hop=N` is ours only if the page has a redirect.
    let (page, hop) = match (table.page(request.path), request.path.rsplit_once("?hop=")) {
        (Some(page), _) => (Some(page), 0),
        (None, Some((path, hop))) => (table.page(path), hop.parse().unwrap_or(0)),
        (None, None) => (None, 0),
    };
    let Some(page_number) = page else {
        let answer = WebResponse::new(RequestKind::UnknownPath, request.path.into(), 404);
        return Ok(match fault_for(web, table, request.path, None, now) {
            Some(WebFault::Status { code, retry_after_s }) => failed(answer, *code, *retry_after_s),
            _ => answer.with_text("unknown page\n"),
        });
    };
    let path = Arc::clone(&web.trace.pages[page_number as usize].path);
    let answer = WebResponse::new(RequestKind::Page, Arc::clone(&path), 200);
    match fault_for(web, table, &path, Some(page_number), now) {
        None => serve(web, table, page_number, answer, request, now),
        Some(WebFault::Status { code, retry_after_s }) => Ok(failed(answer, *code, *retry_after_s)),
        Some(WebFault::Redirect { code, hops }) if hop < *hops => Ok(redirect(answer, *code, hop + 1)),
        Some(WebFault::Redirect { .. }) => serve(web, table, page_number, answer, request, now),
        Some(WebFault::RedirectTo { code, address }) => Ok(redirect_to(answer, *code, address)),
        Some(WebFault::RedirectToScheme { code, secure }) if request.is_secure != *secure => {
            let scheme = if *secure { "https" } else { "http" };
            Ok(redirect_to(answer, *code, &format!("{scheme}://{}", request.authority)))
        }
        Some(WebFault::RedirectToScheme { .. }) => serve(web, table, page_number, answer, request, now),
        Some(WebFault::RedirectLoop { code }) => Ok(redirect(answer, *code, hop % 3 + 1)),
        Some(fault) => {
            let mut answer = serve(web, table, page_number, answer, request, now)?;
            match fault {
                WebFault::Latency(latency) => answer.latency = *latency,
                WebFault::ResetMidBody => answer.delivery = Delivery::ResetMidBody,
                WebFault::SlowBody(duration) => answer.delivery = Delivery::Slow(*duration),
                WebFault::OversizeBody { bytes } if answer.status == 200 => answer.delivery = Delivery::Filler(*bytes),
                WebFault::WrongCharset => answer.body = latin_1(&answer.body),
                WebFault::Noise { bytes } if answer.status == 200 => {
                    answer.body = noise(hash(&[&table.name, &path]), *bytes);
                    answer.version = None;
                }
                _ => {}
            }
            Ok(answer)
        }
    }
}

fn robots(web: &Web, table: &HostTable, request: &WebRequest<'_>, now: Timestamp) -> WebResponse {
    let robots = &table.dials.robots;
    let text = || match table.dials.sitemap {
        HostSitemap::None => robots.text(),
        _ => format!("{}Sitemap: http://{}{}\n", robots.text(), request.authority, sitemap::PATH),
    };
    let answer = WebResponse::new(RequestKind::Robots, request.path.into(), robots.status);
    match fault_for(web, table, request.path, None, now) {
        Some(WebFault::Status { code, retry_after_s }) => failed(answer, *code, *retry_after_s),
        Some(WebFault::RedirectTo { code, address }) => redirect_to(answer, *code, address),
        Some(WebFault::Latency(latency)) => WebResponse { latency: *latency, ..answer.with_text(text()) },
        Some(WebFault::OversizeBody { bytes }) => {
            WebResponse { delivery: Delivery::Filler(*bytes), ..answer.with_text(text()) }
        }
        _ if robots.status == 200 => answer.with_text(text()),
        _ => answer,
    }
}

/// The sitemap or a file of it; `None` for any other path, and where a page has its path.
fn serve_sitemap(web: &Web, table: &HostTable, request: &WebRequest<'_>, now: Timestamp) -> Option<WebResponse> {
    if table.dials.sitemap == HostSitemap::None || table.page(request.path).is_some() {
        return None;
    }
    let mut answer = WebResponse::new(RequestKind::Sitemap, request.path.into(), 200);
    let pages = table.pages().map(|page| &web.trace.pages[page as usize]);
    let (text, latest) = sitemap::render(request.authority, request.path, pages, &table.dials, now)?;
    answer.last_modified = latest.filter(|_| table.dials.validators.last_modified);
    if is_current(&answer, request) {
        answer.status = 304;
        return Some(answer);
    }
    answer.content_type = Some("application/xml; charset=utf-8".into());
    answer.body = text.into();
    Some(answer)
}

/// The current page, or 304 when the client's copy is current.
fn serve(
    web: &Web,
    table: &HostTable,
    page_number: u32,
    mut answer: WebResponse,
    request: &WebRequest<'_>,
    now: Timestamp,
) -> io::Result<WebResponse> {
    let page = &web.trace.pages[page_number as usize];
    answer.version = page.version_at(now);
    let Some(version) = answer.version.filter(|_| page.exists_at(now)) else {
        answer.status = table.dials.gone_status;
        return Ok(answer.with_text("this page does not exist now\n"));
    };
    let state = page.states[version as usize];
    let validators = table.dials.validators;
    answer.etag = validators.etag.then(|| format!("\"{:016x}\"", web.etag(page_number as usize, version)));
    answer.last_modified = match table.dials.dates {
        _ if !validators.last_modified => None,
        PageDates::Now => Some(now),
        PageDates::True { share } => (unit(hash(&[&page.host, &page.path, "dated"])) < share).then_some(state.since),
    };
    if is_current(&answer, request) {
        answer.status = 304;
        return Ok(answer);
    }
    answer.content_type = Some(match state.content {
        StateContent::Generated => "text/html; charset=utf-8".into(),
        _ => page.media_type.to_string(),
    });
    answer.body = web.body(page_number as usize, version)?;
    if request.is_head {
        answer.version = None;
    }
    Ok(answer)
}

/// Whether the validators in the request match (RFC 9110 §13: `If-None-Match` alone when it is present and supported).
fn is_current(answer: &WebResponse, request: &WebRequest<'_>) -> bool {
    match (request.if_none_match, &answer.etag, request.if_modified_since, answer.last_modified) {
        (Some(tags), Some(etag), _, _) => {
            tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
        }
        (None, _, Some(date), Some(modified)) => httpdate::parse_http_date(date)
            .is_ok_and(|since| since >= SystemTime::UNIX_EPOCH + modified.saturating_since(Timestamp::default())),
        _ => false,
    }
}

fn failed(mut answer: WebResponse, code: u16, retry_after_s: Option<u32>) -> WebResponse {
    answer.status = code;
    answer.retry_after_s = retry_after_s;
    answer.with_text("simulated failure\n")
}

fn redirect(mut answer: WebResponse, code: u16, hop: u32) -> WebResponse {
    answer.status = code;
    answer.location = Some(format!("{}?hop={hop}", answer.path));
    answer
}

fn redirect_to(mut answer: WebResponse, code: u16, address: &str) -> WebResponse {
    answer.status = code;
    answer.location = Some(format!("{address}{}", answer.path));
    answer
}

fn latin_1(utf_8: &Bytes) -> Bytes {
    String::from_utf8_lossy(utf_8).chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

fn noise(seed: u64, length: usize) -> Bytes {
    let mut stream = numbers(seed);
    let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| stream.bits().to_le_bytes()).collect();
    bytes.truncate(length);
    bytes.into()
}

/// The first fault that applies to this request.
fn fault_for<'web>(
    web: &'web Web,
    table: &HostTable,
    path: &str,
    page: Option<u32>,
    now: Timestamp,
) -> Option<&'web WebFault> {
    if web.faults.is_empty() {
        return None;
    }
    let request = page.map(|page| web.requests[page as usize].fetch_add(1, Ordering::Relaxed));
    let chance = web.seed ^ hash(&[&table.name, path]);
    let applies = |number: usize, rule: &FaultRule| {
        let drawn = splitmix64(chance ^ splitmix64(number as u64));
        rule.host.as_deref().is_none_or(|host| host == &*table.name)
            && (rule.from..rule.until).contains(&now)
            && match (&rule.scope, request) {
                (FaultScope::Path(only), _) => only == path,
                (FaultScope::Pages(share), Some(_)) => unit(drawn) < *share,
                (FaultScope::Requests(share), Some(request)) => unit(splitmix64(drawn ^ u64::from(request))) < *share,
                _ => false,
            }
    };
    web.faults.iter().enumerate().find(|(number, rule)| applies(*number, rule)).map(|(_, rule)| &rule.fault)
}

/// Counts a request in progress on a host while it lives.
pub(crate) struct InFlightGuard {
    web: Arc<Web>,
    host: Option<Arc<str>>,
    /// Requests in progress, this one included.
    pub(crate) count: u32,
}

impl InFlightGuard {
    pub(crate) fn enter(web: &Arc<Web>, table: Option<&HostTable>) -> Self {
        let count = table.map_or(1, |table| table.in_flight.fetch_add(1, Ordering::Relaxed) + 1);
        Self { web: Arc::clone(web), host: table.map(|table| Arc::clone(&table.name)), count }
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if let Some(host) = &self.host {
            self.web.hosts[host].in_flight.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
