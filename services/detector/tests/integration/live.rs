//! The figures of docs/meaningful-change.md are of the running detector: [`LivePage`], with which they are measured, and the
//! stage say the same of every look.

use crate::bench::{Bench, CHANGED_SENTENCE, FIRST, URL, html, one_sentence_changed};
use crate::history::KeptBytes;
use archives::{Archive, ArchivedLook, ArchivedPage, LivePage};
use change::{Judgement, VersionVerdict};
use document::content_digest;
use edits::{EditPair, for_each_pair};
use messages::{Digest, FetchOutcome, Verdict, body};
use page::{CanonicalUrl, Timestamp};
use settings::{Layers, Settings};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const DAY_S: i64 = 86_400;
/// Versions of a recorded page that are looked at, and pages of each source.
const VERSIONS: usize = 60;
const PAGES_OF_A_SOURCE: usize = 20;
/// Pages of each kind of edit and noise.
const PAIRS_OF_A_KIND: usize = 5;

/// One page, looked at by both.
struct Both<'a> {
    bench: Bench,
    live: LivePage<'a>,
    content_type: &'a str,
    looks: usize,
    differences: Vec<String>,
}

/// The compared part of a judgement: whether the version is held, the verdict, and whether a second look is wanted. A held
/// version has no verdict.
type Said = (bool, Verdict, bool);

fn said(judgement: &Judgement) -> Said {
    let verdict = if judgement.held { Verdict::Unknown } else { word(judgement.verdict) };
    (judgement.held, verdict, judgement.look_again_after_s() == Some(0))
}

/// Shows the stage a page at an address; without a body it is gone.
fn shown(bench: &mut Bench, url: &CanonicalUrl, content_type: &str, body: Option<&[u8]>, now_s: i64) -> Said {
    let digest = body.map(|body| Digest(content_digest(body)));
    // As the fetcher does: a body that is known is not passed on.
    let is_known =
        bench.validators.get(&url.page_id()).is_some_and(|known| digest.is_some() && known.content_digest == digest);
    let mut result = match body {
        None => bench.answer(FetchOutcome::Gone, None),
        Some(_) if is_known => bench.answer(FetchOutcome::SameContent, None),
        Some(_) => bench.answer(FetchOutcome::Fetched, None),
    };
    (result.look.page_id, result.look.site_key) = (url.page_id(), url.site_key());
    result.look.url = url.clone();
    result.content_type = Some(content_type.to_owned());
    result.look.fetched_at = Timestamp::from_secs(now_s);
    if let Some(body) = body.filter(|_| !is_known) {
        result.look.validators.content_digest = digest;
        result.body = Some(body::pack(body, body::Packing::Lz4));
    }
    let seen = bench.see_result(&result).observation.judgement;
    (seen.verdict == Verdict::Unknown, seen.verdict, seen.look_again_after_s == Some(0))
}

impl Both<'_> {
    /// Looks once, and says whether the stage wants a second look.
    fn look(&mut self, body: &str, now_s: i64) -> bool {
        let url = CanonicalUrl::parse(URL).unwrap();
        let of_stage = shown(&mut self.bench, &url, self.content_type, Some(body.as_bytes()), now_s);
        let measured = said(&self.live.look(body.as_bytes(), now_s));
        if of_stage != measured {
            let look = self.looks;
            self.differences.push(format!("look {look}: live {of_stage:?}, measured {measured:?}"));
        }
        self.looks += 1;
        of_stage.2
    }
}

fn word(verdict: VersionVerdict) -> Verdict {
    match verdict {
        VersionVerdict::First => Verdict::First,
        VersionVerdict::Unchanged => Verdict::Unchanged,
        VersionVerdict::Cosmetic => Verdict::Cosmetic,
        VersionVerdict::Minor => Verdict::Minor,
        VersionVerdict::Major => Verdict::Major,
        VersionVerdict::Gone => Verdict::Gone,
        VersionVerdict::Returned => Verdict::Returned,
    }
}

/// Looks at a page once a day, and again a minute later whenever the stage asks for that. Returns the looks that are judged
/// differently, the number of looks, and the stage.
fn compared(
    content_type: &str,
    days: usize,
    mut page_at: impl FnMut(usize, usize) -> String,
) -> (Vec<String>, usize, Bench) {
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &[] }).unwrap();
    let urls = settings.urls.rules();
    let live = LivePage::new(&urls, content_type, URL);
    let all = [("detector.history", "1000"), ("detector.history_bytes", "16MiB")];
    let mut both = Both { bench: Bench::new(&all), live, content_type, looks: 0, differences: Vec::new() };
    for day in 0..days {
        for fetch in 0..3 {
            if !both.look(&page_at(day, fetch), 1_700_000_000 + day as i64 * DAY_S + 60 * fetch as i64) {
                break;
            }
        }
    }
    (both.differences, both.looks, both.bench)
}

fn assert_same(name: &str, days: usize, page_at: impl FnMut(usize, usize) -> String) {
    let content_type = if name.starts_with("feed") { "application/rss+xml" } else { "text/html; charset=utf-8" };
    let (differences, looks, _) = compared(content_type, days, page_at);
    assert!(differences.is_empty(), "{name}: {differences:#?}");
    assert!(looks >= days, "{name}");
}

fn with(line: String) -> String {
    html(&[FIRST, &[line.as_str()]].concat())
}

#[test]
fn noise_and_edits_are_judged_live_as_measured() {
    let number = |day: usize, fetch: usize| 1_000 + 37 * day + fetch;
    assert_same("counter, last", 30, |day, fetch| with(format!("Visitors of this page: {}", number(day, fetch))));
    assert_same("counter, first", 30, |day, fetch| with(format!("{} people look at this page", number(day, fetch))));
    assert_same("cached counter", 30, |day, _| with(format!("Visitors of this page: {}", number(day, 0))));
    assert_same("age", 30, |day, fetch| with(format!("Written {} minutes ago", 3 + (day * 7 + fetch) % 50)));
    assert_same("teaser", 30, |day, fetch| {
        with(format!("</p><h4><a href=/{0}>Story {0}</a></h4><p>Of town {0}", (day * 7 + fetch) % 11))
    });
    assert_same("two halves", 30, |day, fetch| with(["Try it now.", "Begin today."][(day + fetch) % 2].to_owned()));
    assert_same("an edit in noise", 20, |day, fetch| {
        let line = format!("Visitors of this page: {}", number(day, fetch));
        let sentence = if day < 12 { FIRST[4] } else { CHANGED_SENTENCE };
        html(&[&FIRST[..4], &[sentence, FIRST[5], line.as_str()]].concat())
    });
    assert_same("edits undone", 12, |day, _| if day % 4 == 3 { one_sentence_changed() } else { html(FIRST) });
    assert_same("most of a page", 20, |day, fetch| {
        let text: Vec<String> = (0..8)
            .map(|number| format!("Sentence {number} of day {day} and fetch {fetch} has its own news."))
            .collect();
        html(&text.iter().map(String::as_str).collect::<Vec<_>>())
    });
}

#[test]
fn errors_in_a_pages_place_are_judged_live_as_measured() {
    let error = || html(&["Just a moment…", "Checking your browser."]);
    assert_same("an error and back", 12, |day, _| if day == 5 { error() } else { html(FIRST) });
    assert_same("an error that stays", 20, |day, _| if day < 5 { html(FIRST) } else { error() });
    assert_same("emptied", 12, |day, _| if day == 5 { String::new() } else { html(FIRST) });
}

#[test]
fn a_feed_is_judged_live_as_measured() {
    assert_same("feed", 20, |day, fetch| {
        let item = |number: usize| {
            format!("<item><title>Story {number}</title><link>http://www.site.test/{number}</link></item>")
        };
        let items: String = (day / 3..day / 3 + 4).map(item).collect();
        format!(
            "<rss><channel><title>All</title><lastBuildDate>Mon, 02 Mar 2026 07:{day:02}:{fetch:02} GMT</lastBuildDate>{items}\
             </channel></rss>"
        )
    });
}

/// The recorded histories, where they are at hand. The output says when they are not.
fn recorded() -> Option<Archive> {
    corpora::find("content").map(|content| Archive::open(&content, None).unwrap())
}

#[test]
fn every_kind_of_the_benchmark_is_judged_live_as_measured() {
    let Some(mut archive) = recorded() else { return };
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &[] }).unwrap();
    let (mut differences, mut pairs) = (Vec::new(), 0);
    let compare = &mut |pair: &EditPair| {
        let versions = [&pair.before, &pair.after];
        let (of_pair, ..) = compared(pair.content_type, 2, |day, _| versions[day].clone());
        differences.extend(of_pair.into_iter().map(|difference| format!("{}: {difference}", pair.kind)));
        pairs += 1;
    };
    for_each_pair(&mut archive, 1, &settings.urls.rules(), PAIRS_OF_A_KIND, compare).unwrap();
    println!("{pairs} pairs");
    assert!(differences.is_empty(), "{} of {pairs}: {differences:#?}", differences.len());
    assert!(pairs > 300, "{pairs}");
}

#[test]
fn recorded_histories_are_judged_live_as_measured_and_all_their_versions_are_kept() {
    let Some(mut archive) = recorded() else { return };
    let mut kept = KeptBytes::default();
    let mut compare = |page: &ArchivedPage, versions: &[String]| -> (Vec<String>, usize) {
        let of_page = |difference| format!("{} {}: {difference}", page.source, page.address);
        let (differences, looks, mut bench) =
            compared(&page.content_type, versions.len(), |day, _| versions[day].clone());
        kept.add(&mut bench);
        (differences.into_iter().map(of_page).collect(), looks)
    };
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let (mut differences, mut looks) = (Vec::new(), 0);
    let mut judge = |(page, versions): (ArchivedPage, Vec<String>)| {
        let pages = taken.entry(page.source.clone()).or_default();
        // A page without a change says little.
        if versions.len() > 3 && *pages < PAGES_OF_A_SOURCE {
            *pages += 1;
            let (of_page, of_looks) = compare(&page, &versions);
            differences.extend(of_page);
            looks += of_looks;
        }
    };
    let mut current: Option<(ArchivedPage, Vec<String>)> = None;
    let read_all = archive.for_each_version(|page, body| {
        let text = || String::from_utf8_lossy(body).into_owned();
        match &mut current {
            Some((last, versions)) if last.page_id == page.page_id => {
                if versions.len() < VERSIONS {
                    versions.push(text());
                }
            }
            _ => {
                current.replace((page.clone(), vec![text()])).map(&mut judge);
            }
        }
        ControlFlow::Continue(())
    });
    read_all.unwrap();
    current.map(&mut judge);
    println!("{looks} looks at {taken:?}");
    assert!(
        differences.is_empty(),
        "{} of {looks}: {:#?}",
        differences.len(),
        &differences[..differences.len().min(40)]
    );
    assert!(looks > 2_000, "{looks}");
    println!("{kept:?}: {:.3} of the texts", kept.share());
    assert!(kept.versions > 1_000 && kept.share() <= 0.25, "{kept:?}");
}

/// `recrawl detect` goes through the record as it stands, with its times and the pages that are gone. So does the stage
/// here, for the first pages of each source.
#[test]
fn detect_says_of_recorded_histories_what_the_stage_says() {
    let Some(mut archive) = recorded() else { return };
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &[] }).unwrap();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut current: Option<(u32, Bench, CanonicalUrl)> = None;
    let (mut differences, mut looks, mut looks_at_page, mut gone) = (Vec::new(), 0, 0, 0);
    let see = &mut |look: &ArchivedLook<'_>| {
        let page = look.page;
        if look.is_first {
            let pages = taken.entry(page.source.clone()).or_default();
            let url = CanonicalUrl::parse(look.address).ok().filter(|url| url.as_str() == look.address);
            let wanted = url.filter(|_| page.rows() > 3 && *pages < PAGES_OF_A_SOURCE);
            *pages += usize::from(wanted.is_some());
            current = wanted.map(|url| (page.page_id, Bench::new(&[]), url));
            looks_at_page = 0;
        }
        let Some((page_id, bench, url)) = current.as_mut().filter(|_| looks_at_page < VERSIONS) else { return };
        assert_eq!(*page_id, page.page_id);
        let of_stage = shown(bench, url, &page.content_type, look.body, look.line.unix_time);
        let of_detect = said(look.judgement);
        if of_stage != of_detect {
            differences.push(format!("{} {url} {looks_at_page}: {of_stage:?}, detect {of_detect:?}", page.source));
        }
        looks_at_page += 1;
        looks += 1;
        gone += usize::from(look.body.is_none());
    };
    archive.judge_each(&settings.urls.rules(), see).unwrap();
    println!("{looks} looks, {gone} at pages that are gone, of {taken:?}");
    assert!(
        differences.is_empty(),
        "{} of {looks}: {:#?}",
        differences.len(),
        &differences[..differences.len().min(40)]
    );
    assert!(looks > 2_000 && gone > 10, "{looks} {gone}");
}

#[test]
fn a_page_of_which_no_text_is_read_is_counted_at_its_first_look() {
    let picture = |name: &str| format!("<!doctype html><title>Menu</title><img src=\"/{name}.png\">");
    for (first, expected) in [(picture("monday"), 1.0), (html(FIRST), 0.0)] {
        let mut bench = Bench::new(&[]);
        for page in [&first, &picture("tuesday"), &picture("wednesday")] {
            bench.see(FetchOutcome::Fetched, Some(page));
        }
        assert_eq!(bench.figure(metrics::detector::UNREAD_PAGES), expected, "{first}");
    }
}
