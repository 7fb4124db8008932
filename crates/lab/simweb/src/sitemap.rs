//! The sitemap of a host, which may be wrong in the ways in which real ones are.

use crate::dials::{HostDials, HostSitemap};
use crate::seeds::hash;
use crate::trace::PageHistory;
use chance::unit;
use page::Timestamp;
use std::fmt::Write as _;

/// Path of the sitemap, which robots.txt names.
pub(crate) const PATH: &str = "/sitemap.xml";
/// Most addresses in a sitemap, by the protocol.
const MOST: usize = 50_000;
/// Most addresses of no page in one file of a huge sitemap.
const FILLER_PER_FILE: usize = 10_000;

/// The number of the file of a huge sitemap at a path.
fn file_number(path: &str) -> Option<usize> {
    path.strip_prefix("/sitemap-")?.strip_suffix(".xml")?.parse().ok()
}

/// Number of files of a sitemap with this many entries of no page. The sitemap itself is their index.
fn files(filler: usize) -> usize {
    filler.div_ceil(FILLER_PER_FILE).max(2)
}

/// The text of the sitemap, or of a file that it names, and the latest date in it. `None`: there is no such file.
pub(crate) fn render<'a>(
    authority: &str,
    path: &str,
    pages: impl Iterator<Item = &'a PageHistory>,
    dials: &HostDials,
    now: Timestamp,
) -> Option<(String, Option<Timestamp>)> {
    let mut pages = pages.filter(|page| !dials.robots.disallows(&page.path));
    let as_of = |pages: &mut dyn Iterator<Item = _>, at| urlset(authority, pages, at, |since| since, 0..0);
    Some(match (dials.sitemap, file_number(path)) {
        (HostSitemap::Huge { filler }, None) if path == PATH => (index(authority, files(filler)), None),
        (HostSitemap::Huge { filler }, Some(number)) if number < files(filler) => {
            let mut own = pages.filter(|page| hash(&[&page.path, "file"]) as usize % files(filler) == number);
            let from = number * FILLER_PER_FILE;
            urlset(authority, &mut own, now, |since| since, from..filler.min(from + FILLER_PER_FILE))
        }
        _ if path != PATH => return None,
        (HostSitemap::None | HostSitemap::Huge { .. }, _) => return None,
        (HostSitemap::Truthful, _) => as_of(&mut pages, now),
        (HostSitemap::Stale { days }, _) => as_of(&mut pages, now.plus_days(-days)),
        (HostSitemap::Lying, _) => urlset(authority, &mut pages, now, |_| now, 0..0),
        (HostSitemap::Partial { share }, _) => {
            as_of(&mut pages.filter(|page| unit(hash(&[&page.path, "listed"])) < share), now)
        }
    })
}
/// The pages that exist at a time, and entries of no page.
fn urlset(
    authority: &str,
    pages: &mut dyn Iterator<Item = &PageHistory>,
    at: Timestamp,
    reported: impl Fn(Timestamp) -> Timestamp,
    filler: std::ops::Range<usize>,
) -> (String, Option<Timestamp>) {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    let mut latest = None;
    for page in pages.filter(|page| page.exists_at(at)).take(MOST) {
        let Some(version) = page.version_at(at) else { continue };
        let date = reported(page.states[version as usize].since);
        latest = latest.max(Some(date));
        let address = escaped(&format!("http://{authority}{}", page.path));
        write(&mut text, format_args!("<url><loc>{address}</loc><lastmod>{date}</lastmod></url>"));
    }
    for number in filler {
        let address = match number % 2 {
            0 => format!("http://elsewhere-{}.test/{number}", number % 100),
            _ => format!("http://{authority}/of-no-page/{number}"),
        };
        write(&mut text, format_args!("<url><loc>{address}</loc></url>"));
    }
    text.push_str("</urlset>\n");
    (text, latest)
}

fn index(authority: &str, files: usize) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for number in 0..files {
        write(&mut text, format_args!("<sitemap><loc>http://{authority}/sitemap-{number}.xml</loc></sitemap>"));
    }
    text.push_str("</sitemapindex>\n");
    text
}

fn write(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes every write");
}

/// A text as XML. Addresses have no other characters of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ChangeTrace;

    fn trace(text: &str) -> ChangeTrace {
        let text = format!("host,path,states,days=2\n{text}");
        ChangeTrace::read_csv(text.as_bytes(), Timestamp::from_secs(0)).unwrap()
    }

    fn list(trace: &ChangeTrace, dials: &HostDials, path: &str, second: i64) -> Option<(String, Option<Timestamp>)> {
        render("a.test:80", path, trace.pages.iter(), dials, Timestamp::from_secs(second))
    }

    fn dials(sitemap: HostSitemap) -> HostDials {
        HostDials { sitemap, ..HostDials::default() }
    }

    #[test]
    fn a_truthful_sitemap_lists_what_exists_and_may_be_fetched_with_its_date() {
        let trace =
            trace("a.test,/x?a=1&b=2,A10 M10,\na.test,/later,A50,\na.test,/gone,A1 D9,\na.test,/private/y,A5,\n");
        let mut dials = dials(HostSitemap::Truthful);
        dials.robots.disallow = vec!["/private".to_owned()];
        let listed = |second| list(&trace, &dials, PATH, second).unwrap();
        let (text, latest) = listed(30);
        assert!(text.contains("<loc>http://a.test:80/x?a=1&amp;b=2</loc><lastmod>1970-01-01T00:00:20"), "{text}");
        assert_eq!((text.matches("<loc>").count(), latest), (1, Some(Timestamp::from_secs(20))));
        assert_eq!(listed(60).0.matches("<loc>").count(), 2);
        assert_eq!(listed(0).1, None);
        assert_eq!(list(&trace, &dials, "/sitemap-0.xml", 30), None);
        assert_eq!(list(&trace, &HostDials::default(), PATH, 30), None);
    }

    #[test]
    fn a_stale_one_is_late_and_a_lying_one_dates_all_pages_now() {
        let trace = trace("a.test,/x,A-100 M200,\n");
        let check = |sitemap, second, date| {
            let (_, latest) = list(&trace, &dials(sitemap), PATH, second).unwrap();
            assert_eq!(latest, Some(Timestamp::from_secs(date)), "{sitemap:?} at {second}");
        };
        let day = 86_400;
        check(HostSitemap::Stale { days: 1.0 }, day + 99, -100);
        check(HostSitemap::Stale { days: 1.0 }, day + 100, 100);
        check(HostSitemap::Lying, 777, 777);
    }

    #[test]
    fn a_partial_one_lists_always_the_same_share() {
        let pages: String = (0..400).map(|page| format!("a.test,/{page},A-1 M{page}5,\n")).collect();
        let trace = trace(&pages);
        let paths = |second| {
            let (text, _) = list(&trace, &dials(HostSitemap::Partial { share: 0.3 }), PATH, second).unwrap();
            let path =
                |line: &str| line.split_once("<loc>").map(|(_, rest)| rest.split_once('<').unwrap().0.to_owned());
            text.lines().filter_map(path).collect::<Vec<_>>()
        };
        assert!((90..150).contains(&paths(0).len()), "{}", paths(0).len());
        assert_eq!(paths(0), paths(5_000));
    }

    #[test]
    fn a_huge_one_is_an_index_of_files_in_which_every_page_is_once_among_entries_of_no_page() {
        let pages: String = (0..400).map(|page| format!("a.test,/{page},A-1,\n")).collect();
        let trace = trace(&pages);
        let dials = dials(HostSitemap::Huge { filler: 35_000 });
        let file = |path: &str| list(&trace, &dials, path, 5);
        let named = file(PATH).unwrap().0;
        assert_eq!(named.matches("<loc>http://a.test:80/sitemap-").count(), 4);
        let files: Vec<String> = (0..4).map(|number| file(&format!("/sitemap-{number}.xml")).unwrap().0).collect();
        let count = |what: &str| files.iter().map(|file| file.matches(what).count()).sum::<usize>();
        assert_eq!((count("<lastmod>"), count("<loc>")), (400, 35_400));
        assert_eq!((count("//elsewhere-"), count("/of-no-page/")), (17_500, 17_500));
        assert!(files.iter().all(|file| file.contains("<lastmod>")));
        assert_eq!(file("/sitemap-4.xml"), None);
    }
}
