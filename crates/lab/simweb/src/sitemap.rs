//! The sitemap of a host: the pages that exist and may be fetched, with the date of their last change.

use crate::dials::HostDials;
use crate::trace::PageHistory;
use page::Timestamp;
use std::fmt::Write as _;

/// Path of the sitemap, which robots.txt names.
pub(crate) const PATH: &str = "/sitemap.xml";
/// Most addresses in a sitemap, by the protocol.
const MOST: usize = 50_000;

/// The sitemap's text, and the latest date in it.
pub(crate) fn render<'a>(
    authority: &str,
    pages: impl Iterator<Item = &'a PageHistory>,
    dials: &HostDials,
    now: Timestamp,
) -> (String, Option<Timestamp>) {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    let mut latest = None;
    let listed = pages.filter(|page| page.exists_at(now) && !dials.robots.disallows(&page.path));
    for page in listed.take(MOST) {
        let Some(since) = page.version_at(now).map(|version| page.states[version as usize].since) else { continue };
        latest = latest.max(Some(since));
        let address = escaped(&format!("http://{authority}{}", page.path));
        writeln!(text, "<url><loc>{address}</loc><lastmod>{since}</lastmod></url>")
            .expect("a String takes every write");
    }
    text.push_str("</urlset>\n");
    (text, latest)
}

/// A text as XML. Addresses have no other characters of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ChangeTrace;

    #[test]
    fn a_sitemap_lists_what_exists_and_may_be_fetched_with_its_date() {
        let text = "host,path,states,days=2\na.test,/x?a=1&b=2,A10 M10,\na.test,/later,A50,\na.test,/gone,A1 D9,\n\
                    a.test,/private/y,A5,\n";
        let trace = ChangeTrace::read_csv(text.as_bytes(), Timestamp::from_secs(0)).unwrap();
        let mut dials = HostDials::default();
        dials.robots.disallow = vec!["/private".to_owned()];
        let listed = |second| render("a.test:80", trace.pages.iter(), &dials, Timestamp::from_secs(second));
        let (text, latest) = listed(30);
        assert!(text.contains("<loc>http://a.test:80/x?a=1&amp;b=2</loc><lastmod>1970-01-01T00:00:20"), "{text}");
        assert_eq!((text.matches("<loc>").count(), latest), (1, Some(Timestamp::from_secs(20))));
        assert_eq!(listed(60).0.matches("<loc>").count(), 2);
        assert_eq!(listed(0).1, None);
    }
}
