//! Samples of the ranker's messages.

use crate::samples::{Samples, page_id, site_key, time, url};
use messages::*;
use page::CanonicalUrl;

fn target() -> CanonicalUrl {
    CanonicalUrl::parse("https://example.net/a").unwrap()
}

impl Samples for PageOutLinks {
    fn samples() -> Vec<Self> {
        let full = Self {
            source_page_id: page_id(),
            source_url: url(),
            found_at: time(3),
            is_first_look: true,
            is_unwanted: true,
            text_hash: -81_985_529_216_486_896,
            links: vec![Link { url: target(), anchor: "Überblick".to_owned(), rel: "canonical".to_owned() }],
            focus: Some(PageFocus {
                focus_version: -3,
                relevances: vec![FocusRelevance { focus: "帆船".to_owned(), relevance: 0.375, threshold: 0.25 }],
                is_target: true,
                promises: vec![0.75],
            }),
            is_repeated: true,
            repeated_sites: vec![LinkedSite { site: site_key(), links: 7 }],
        };
        let sparse = Self {
            is_first_look: false,
            is_unwanted: false,
            text_hash: 0,
            links: Vec::new(),
            focus: None,
            is_repeated: false,
            repeated_sites: Vec::new(),
            ..full.clone()
        };
        vec![full, sparse]
    }
}

impl Samples for LinkCash {
    fn samples() -> Vec<Self> {
        let full = Self {
            target_site: target().site_key(),
            source_page_id: page_id(),
            source_site: site_key(),
            source_depth: 3,
            found_at: time(3),
            is_news: true,
            source_value_ln: 4.25,
            links: vec![CashLink { url: target(), cash: 0.003_906_25 }],
            focus: Some(LinkFocus { focus_version: 5, hops: 2, is_first: true, promises: vec![0.5] }),
            trust: vec![0.001_953_125],
            repeated_links: 9,
        };
        let sparse = Self {
            source_depth: 0,
            is_news: false,
            source_value_ln: 0.0,
            links: Vec::new(),
            focus: None,
            trust: Vec::new(),
            repeated_links: 0,
            ..full.clone()
        };
        vec![full, sparse]
    }
}

impl Samples for FocusOrder {
    fn samples() -> Vec<Self> {
        let text = "format = 1\nname = \"帆船\"\n[terms]\nzh = [\"帆船\"]\n".to_owned();
        let full = Self { name: "帆船".to_owned(), text: Some(text), ordered_at: time(3) };
        vec![full.clone(), Self { text: None, ..full }]
    }
}

impl Samples for RuleSet {
    fn samples() -> Vec<Self> {
        let text = "[[rules]]\nname = \"lamp\"\npages = [\"a.test/\"]\nwatch = [\".price\"]\n".to_owned();
        let full = Self { number: 21, text, saved_at: time(3), saved_by: Some("ada".to_owned()) };
        vec![full.clone(), Self { text: String::new(), saved_by: None, ..full }]
    }
}

impl Samples for VirtualCash {
    fn samples() -> Vec<Self> {
        let full = Self { routing_key: "ranker-7".to_owned(), cash: 0.125, trust: 0.25 };
        vec![full.clone(), Self { cash: 0.0, trust: 0.0, ..full }]
    }
}

impl Samples for RankTotals {
    fn samples() -> Vec<Self> {
        let full = Self {
            stage_partition: 3,
            published_at: time(60),
            number: 41,
            pages: 1_000_000,
            noted: 17.5,
            trusted_pages: 12,
            trust_noted: 16.25,
            valued_sites: 250,
            site_values_ln: 1_375.5,
        };
        let none = Self { number: 0, pages: 0, noted: 0.0, trusted_pages: 0, trust_noted: 0.0, ..full.clone() };
        vec![full, Self { valued_sites: 0, site_values_ln: 0.0, ..none }]
    }
}

impl Samples for RankedPages {
    fn samples() -> Vec<Self> {
        let full = Self {
            site_key: target().site_key(),
            source_page_id: Some(page_id()),
            source_site: Some(site_key()),
            found_at: time(3),
            is_news: true,
            pages: vec![RankedPage { url: target(), depth: 4, importance: 2.5 }],
        };
        let sparse =
            Self { source_page_id: None, source_site: None, is_news: false, pages: Vec::new(), ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for PageRemoval {
    fn samples() -> Vec<Self> {
        let forgotten = Self { url: target(), removed_at: time(3), last_attempt: Some(1_700_000_000_000_007) };
        vec![forgotten.clone(), Self { last_attempt: None, ..forgotten }]
    }
}

impl Samples for SeedFailure {
    fn samples() -> Vec<Self> {
        let missing = Self {
            url: target(),
            failed_at: time(3),
            outcome: FetchOutcome::NotFound,
            status: Some(404),
            is_redirected: true,
        };
        vec![missing.clone(), Self { outcome: FetchOutcome::DnsFailed, status: None, is_redirected: false, ..missing }]
    }
}

impl Samples for PagesShown {
    fn samples() -> Vec<Self> {
        let full = Self { page_id: page_id(), site_key: site_key(), pages: 12 };
        vec![full.clone(), Self { pages: 0, ..full }]
    }
}
