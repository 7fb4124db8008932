//! A focused crawl of a real manual with its own links, where the corpora are at hand. The names of its pages decide which
//! pages are in the focus; the crawl does not use them.

use archives::Archive;
use focus::{Focus, IcuSegmenter, LearningText, learn_from_texts};
use simulate::focus::{FetchOrder, FocusCrawler, FocusPage, FocusWeb};
use std::path::Path;

/// Parts of the names of pages about how repositories talk to each other.
const TALKING: [&str; 22] = [
    "fetch",
    "push",
    "pull",
    "clone",
    "remote",
    "protocol",
    "daemon",
    "http",
    "upload",
    "receive",
    "send-pack",
    "ssh",
    "bundle",
    "credential",
    "imap",
    "send-email",
    "peek",
    "shallow",
    "partial",
    "request-pull",
    "backend",
    "server-info",
];
/// Every sixth page in the focus is an example.
const EXAMPLE_EVERY: usize = 6;
/// Every eighth of the others shows which words are common.
const OTHER_EVERY: usize = 8;
const MEASURED_AT: [usize; 6] = [20, 40, 60, 80, 100, 120];
/// Where crawls begin, one after the other.
const SEEDS: [&str; 5] =
    ["/gittutorial.html", "/user-manual.html", "/gitglossary.html", "/git-commit.html", "/git-daemon.html"];

fn manual(content: &Path) -> (Vec<FocusPage>, Focus) {
    let (mut pages, mut examples, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = [0_usize, 0];
    let mut archive = Archive::open(content, Some("git-htmldocs")).expect("it can be read");
    let read = archive.for_each_latest(|page, bytes| {
        let reading = reading::read(bytes, Some(&page.content_type), Some(&page.address));
        let name = page.address.rsplit('/').next().unwrap_or_default();
        let is_relevant = TALKING.iter().any(|part| name.contains(part));
        let number = &mut numbers[usize::from(is_relevant)];
        *number += 1;
        let text =
            || LearningText { language: "en".to_owned(), title: reading.title.clone(), text: reading.text.clone() };
        match is_relevant {
            true if number.is_multiple_of(EXAMPLE_EVERY) => examples.push(text()),
            false if number.is_multiple_of(OTHER_EVERY) => others.push(text()),
            _ => {}
        }
        pages.push(FocusPage {
            html: document::decode(bytes, Some(&page.content_type)).text.into_owned(),
            url: page.address.clone(),
            is_relevant,
            title: reading.title,
            text: reading.text,
        });
    });
    read.expect("it can be read");
    let focus = learn_from_texts("talking", &IcuSegmenter::default(), &examples, &others);
    (pages, focus.expect("the examples have terms"))
}

#[test]
fn a_focused_crawl_of_a_real_manual_finds_more_than_the_others() {
    let Some(content) = corpora::find("content") else { return };
    let (pages, focus) = manual(&content);
    let relevant = pages.iter().filter(|page| page.is_relevant).count();
    println!("{} pages, {relevant} in the focus", pages.len());
    let mut means = FetchOrder::ALL.map(|_| 0.0);
    for seed in SEEDS {
        let seed = pages.iter().position(|page| page.url.ends_with(seed)).expect("the manual has the page");
        let web = FocusWeb::new(pages.clone(), vec![seed]);
        let crawler = FocusCrawler::new(&web, &focus);
        for (mean, order) in means.iter_mut().zip(FetchOrder::ALL) {
            let harvest = crawler.crawl(order, MEASURED_AT[MEASURED_AT.len() - 1]).expect("the stages work");
            let rate = harvest.mean_rate(&MEASURED_AT).expect("the manual is larger");
            let curve: Vec<String> =
                MEASURED_AT.iter().map(|at| format!("{:.3}", harvest.rate(*at).expect("it fetched as many"))).collect();
            println!("{:<26} {} mean {rate:.3} from {}", order.name(), curve.join(" "), pages[seed].url);
            *mean += rate / SEEDS.len() as f64;
        }
    }
    println!("{:?} {means:.3?}", FetchOrder::ALL);
    let of = |order| means[FetchOrder::ALL.iter().position(|other| *other == order).expect("it is one of all")];
    for other in FetchOrder::ALL.into_iter().filter(|order| ![FetchOrder::Recrawl, FetchOrder::Oracle].contains(order))
    {
        assert!(of(FetchOrder::Recrawl) > 1.3 * of(other), "{}", other.name());
    }
    assert!(of(FetchOrder::Recrawl) > 0.7 * of(FetchOrder::Oracle));
}
