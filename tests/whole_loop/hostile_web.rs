//! A web that never ends, beside sites that mean well: each of its answers is a function of the address and the time.

use messages::{Digest, FetchOutcome, FetchRequest, FetchResult, Look, body};
use page::{CanonicalUrl, Timestamp};
use std::time::SystemTime;

/// Sites that mean well, and the pages of each.
const GOOD_SITES: usize = 12;
const GOOD_PAGES: usize = 8;
/// Changes a day of the pages of a good site, by their number.
const GOOD_CHANGES_PER_DAY: [f64; 4] = [0.1, 0.5, 1.0, 3.0];
/// Hostile pages that are seeds.
const HOSTILE_SEEDS: usize = 3;

pub(crate) fn good_pages() -> impl Iterator<Item = CanonicalUrl> {
    let pages = (0..GOOD_SITES).flat_map(|site| (0..GOOD_PAGES).map(move |page| (site, page)));
    pages.map(|(site, page)| url(&format!("http://good-{site}.test/page-{page}")))
}

pub(crate) fn hostile_seeds() -> impl Iterator<Item = CanonicalUrl> {
    (0..HOSTILE_SEEDS).map(|site| url(&format!("http://hostile-{site}.test/")))
}

pub(crate) fn is_hostile(url: &CanonicalUrl) -> bool {
    url.as_str().contains("hostile-")
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

/// The answer to a request.
pub(crate) fn answer(request: &FetchRequest, now: Timestamp) -> FetchResult {
    if is_hostile(&request.url) { hostile_answer(request, now) } else { good_answer(request, now) }
}

/// The version of a page that is not hostile.
pub(crate) fn version(url: &CanonicalUrl, now: Timestamp) -> i64 {
    let number = Digest::of(url.as_str().as_bytes()).0[0];
    let per_day = GOOD_CHANGES_PER_DAY[usize::from(number) % GOOD_CHANGES_PER_DAY.len()];
    (now.as_days() * per_day) as i64
}

fn good_answer(request: &FetchRequest, now: Timestamp) -> FetchResult {
    let version = version(&request.url, now);
    let site = request.url.site_key();
    // A page that an operator adds has no others beside it.
    let pages = if site.as_str().starts_with("good-") { GOOD_PAGES } else { 0 };
    let links: String = (0..pages).map(|page| format!("<a href=\"http://{site}/page-{page}\">next</a> ")).collect();
    page(request, now, &html(&format!("{} {version}", request.url), &links), &format!("\"{version}\""))
}

/// Whatever can grow, grows: links to more pages, subdomains and sites, lists, redirects, etags, dates, delays.
fn hostile_answer(request: &FetchRequest, now: Timestamp) -> FetchResult {
    let chance = Chance::of(&format!("{} {now}", request.url));
    let etag = format!("\"{}\"", chance.name(0).repeat(20));
    let mut result = match chance.below(1, 20) {
        0..=12 => page(request, now, &html(&chance.name(2), &links(request, &chance)), &etag),
        13..=14 => {
            let mut result = page(request, now, &html(&chance.name(2), &links(request, &chance)), &etag);
            result.look.final_url = Some(url(&chance.address(&request.url, 3)));
            result
        }
        15..=16 => {
            let listed =
                (0..200).map(|number| format!("<url><loc>{}</loc></url>", chance.address(&request.url, number)));
            let list = format!("<urlset>{}</urlset>", listed.collect::<String>());
            FetchResult { content_type: Some("application/xml".to_owned()), ..page(request, now, &list, &etag) }
        }
        17 => failure(request, now, FetchOutcome::RateLimited, 429),
        18 => failure(request, now, FetchOutcome::ServerError, 503),
        _ => failure(request, now, FetchOutcome::NotFound, 404),
    };
    result.look.retry_after_s = (result.look.status == Some(429)).then_some(7 * 86_400);
    result.look.robots_crawl_delay_ms = (chance.below(4, 3) == 0).then_some(i64::from(chance.below(5, 100_000) as u32));
    result.look.validators.last_modified = Some(http_date(now.plus_days(-0.1)));
    result.sitemaps = (0..5).map(|number| format!("{}map.xml", chance.address(&request.url, 300 + number))).collect();
    result
}

fn links(request: &FetchRequest, chance: &Chance) -> String {
    let targets = (0..30).map(|number| chance.address(&request.url, number));
    targets.map(|target| format!("<a href=\"{target}\">{target}</a>\n")).collect()
}

fn html(words: &str, links: &str) -> String {
    let sentences = (0..6).map(|number| {
        let chance = Chance::of(&format!("{words} {number}"));
        format!("<p>{}.</p>", (0..12).map(|word| chance.name(word)).collect::<Vec<_>>().join(" "))
    });
    format!("<html><head><title>{words}</title></head><body>{}{links}</body></html>", sentences.collect::<String>())
}

fn look(request: &FetchRequest, now: Timestamp, outcome: FetchOutcome, status: u16) -> Look {
    let look = Look::new(request.clone(), outcome, now);
    Look { status: Some(status), latency_ms: 50, requests: 1, wire_bytes: 3_000, ..look }
}

fn failure(request: &FetchRequest, now: Timestamp, outcome: FetchOutcome, status: u16) -> FetchResult {
    FetchResult::new(look(request, now, outcome, status))
}

fn page(request: &FetchRequest, now: Timestamp, text: &str, etag: &str) -> FetchResult {
    if request.validators.etag.as_deref() == Some(etag) {
        return failure(request, now, FetchOutcome::NotModified, 304);
    }
    let mut look = look(request, now, FetchOutcome::Fetched, 200);
    look.validators.etag = Some(etag.to_owned());
    look.validators.content_digest = Some(Digest::of(text.as_bytes()));
    look.body_length = text.len() as i64;
    FetchResult {
        content_type: Some("text/html; charset=utf-8".to_owned()),
        body: Some(body::pack(text.as_bytes(), body::Packing::Lz4)),
        ..FetchResult::new(look)
    }
}

fn http_date(at: Timestamp) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + at.saturating_since(Timestamp::from_secs(0)))
}

/// The choices of an answer, drawn from its address and time.
struct Chance(Digest);

impl Chance {
    fn of(text: &str) -> Self {
        Self(Digest::of(text.as_bytes()))
    }

    fn digest(&self, number: usize) -> Digest {
        Digest::of(&[&self.0.0[..], &number.to_le_bytes()].concat())
    }

    fn below(&self, number: usize, bound: u64) -> u64 {
        u64::from_le_bytes(self.digest(number).0[..8].try_into().unwrap()) % bound
    }

    fn name(&self, number: usize) -> String {
        self.digest(number).0[..6].iter().map(|byte| char::from(b'a' + byte % 26)).collect()
    }

    /// A new address: on the same host, on another of the site, or of another site.
    fn address(&self, from: &CanonicalUrl, number: usize) -> String {
        let (name, site) = (self.name(1_000 + number), from.site_key());
        match number % 3 {
            0 => format!("http://{}/{}/{name}.{}", from.host(), &name[..2], &name[2..4]),
            1 => format!("http://{name}.{site}/{}", &name[..3]),
            _ => format!("http://hostile-{name}.test/"),
        }
    }
}
