//! Answers without a server, for tests in which time is set by hand.

use crate::dials::HostSitemap;
use crate::respond::{WebRequest, host_of, respond};
use crate::sitemap;
use crate::web::Web;
use hyper::body::Bytes;
use page::Timestamp;
use std::io;

/// A GET request.
#[derive(Clone, Copy, Debug)]
pub struct DirectRequest<'a> {
    /// Host, with its port if it has one.
    pub authority: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<&'a str>,
}

/// The answer that a server would have sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// Index of the page's state, if the answer is a page that exists.
    pub version: Option<u32>,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<Timestamp>,
    /// The whole body. Faults of its delivery do not apply.
    pub body: Bytes,
}

impl Web {
    /// Answers a request as a server would at this time.
    ///
    /// # Errors
    /// On a failure to read the unpacked corpus.
    pub fn get(&self, request: &DirectRequest<'_>, now: Timestamp) -> io::Result<Answer> {
        let DirectRequest { authority, path, if_none_match, if_modified_since } = *request;
        let request =
            WebRequest { is_head: false, is_secure: false, authority, path, if_none_match, if_modified_since };
        let answer = respond(self, host_of(self, authority), &request, now)?;
        Ok(Answer {
            status: answer.status,
            version: answer.version,
            content_type: answer.content_type,
            etag: answer.etag,
            last_modified: answer.last_modified,
            body: answer.body,
        })
    }

    /// The address of the sitemap that the robots.txt of a host names.
    pub fn sitemap_url(&self, authority: &str) -> Option<String> {
        let dials = &host_of(self, authority)?.dials;
        (dials.sitemap != HostSitemap::None).then(|| format!("http://{authority}{}", sitemap::PATH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SimWebConfig;
    use crate::dials::{HostDials, PageDates};
    use crate::seeded::SeededConfig;
    use crate::web::WebSource;

    /// Last-Modified of every page of a web with these dates, now and a day later, and the true times.
    fn dates(dates: PageDates) -> Vec<[Option<Timestamp>; 3]> {
        let dials = HostDials { dates, ..HostDials::default() };
        let web = Web::open(SimWebConfig { dials, ..SimWebConfig::new(WebSource::Seeded(SeededConfig::default())) });
        let web = web.expect("a seeded web opens");
        let now = web.trace().window.start.plus_days(50.0);
        let one = |page: &crate::PageHistory| {
            let reported = |now| {
                let request = DirectRequest {
                    authority: &page.host,
                    path: &page.path,
                    if_none_match: None,
                    if_modified_since: None,
                };
                web.get(&request, now).expect("generated text has no errors").last_modified
            };
            let version = page.version_at(now).expect("pages of this web exist from the start");
            [reported(now), reported(now.plus_days(1.0)), Some(page.states[version as usize].since)]
        };
        web.trace().pages.iter().map(one).collect()
    }

    #[test]
    fn dates_of_pages_are_true_on_a_share_of_them_or_made_up() {
        let partly = dates(PageDates::True { share: 0.4 });
        let reported = partly.iter().filter(|[now, ..]| now.is_some()).count();
        assert!((340..460).contains(&reported), "{reported} of {}", partly.len());
        assert!(
            partly
                .iter()
                .all(|[now, later, truth]| now.is_none_or(|_| now == truth) && now.is_some() == later.is_some())
        );
        let made_up = dates(PageDates::Now);
        assert!(made_up.iter().all(|[now, later, truth]| now > truth && later > now));
    }

    #[test]
    fn a_direct_answer_is_what_the_server_would_send() {
        let dials = HostDials { sitemap: HostSitemap::Truthful, ..HostDials::default() };
        let web = Web::open(SimWebConfig { dials, ..SimWebConfig::new(WebSource::Seeded(SeededConfig::default())) });
        let web = web.expect("a seeded web opens");
        let now = web.trace().window.start.plus_days(3.0);
        let get = |path, if_none_match| {
            let request = DirectRequest { authority: "host-0001.test", path, if_none_match, if_modified_since: None };
            web.get(&request, now).expect("generated text has no errors")
        };
        let page = get("/", None);
        assert!(page.status == 200 && !page.body.is_empty() && page.version.is_some());
        assert_eq!(get("/", page.etag.as_deref()).status, 304);
        assert_eq!(get("/nowhere", None).status, 404);
        let sitemap = web.sitemap_url("host-0001.test").expect("it has one");
        assert_eq!(sitemap, "http://host-0001.test/sitemap.xml");
        assert_eq!(get("/sitemap.xml", None).content_type.as_deref(), Some("application/xml; charset=utf-8"));
        assert_eq!(web.sitemap_url("unknown.test"), None);
    }
}
