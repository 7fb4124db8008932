//! Samples of the messages that the scheduler receives, and of those that it sends to fetchers and the other schedulers.

use crate::samples::{Samples, page_id, time, url};
use messages::*;
use page::{CanonicalUrl, Host};

impl Samples for PageLinks {
    fn samples() -> Vec<Self> {
        let link = |path: &str, anchor: &str, rel: &str| Link {
            url: CanonicalUrl::parse(&format!("https://example.net/{path}")).unwrap(),
            anchor: anchor.to_owned(),
            rel: rel.to_owned(),
        };
        let full = Self {
            source_page_id: page_id(),
            source_url: url(),
            target_site: CanonicalUrl::parse("https://example.net/").unwrap().site_key(),
            found_at: time(3),
            links: vec![link("a", "Überblick", "nofollow"), link("b", "", "")],
        };
        let sparse = Self { links: Vec::new(), ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for Command {
    fn samples() -> Vec<Self> {
        let seed = Self {
            kind: CommandKind::Seed,
            url: Some(url()),
            host: None,
            weight: 2.0,
            issued_at: time(0),
            order_id: Some("5f3c5e2a9b".to_owned()),
            share: None,
        };
        let pause = Self {
            kind: CommandKind::PauseHost,
            url: None,
            host: Some(Host::from_authority("127.0.0.1:8080")),
            weight: 1.0,
            issued_at: time(0),
            order_id: None,
            share: None,
        };
        let discovered = Self {
            kind: CommandKind::ForgetDiscovered,
            share: Some(CommandShare { routing_key: "partition-3".to_owned(), from: Some(page_id()) }),
            ..seed.clone()
        };
        vec![seed, pause, discovered]
    }
}

impl Samples for SiteListing {
    fn samples() -> Vec<Self> {
        let page = ListedPage { url: url(), changed_from: time(-90_000), changed_until: time(-3_600) };
        let full = Self {
            list_page_id: page_id(),
            site_key: url().site_key(),
            kind: HintKind::Feed,
            read_at: time(3),
            previous_read_at: Some(time(-86_400)),
            listed: 12,
            untaken: 3,
            is_first: true,
            is_last: true,
            pages: vec![page.clone(), page],
        };
        let sparse = Self {
            previous_read_at: None,
            listed: 0,
            untaken: 0,
            is_first: false,
            is_last: false,
            pages: Vec::new(),
            ..full.clone()
        };
        vec![full, sparse]
    }
}

impl Samples for ChangeHint {
    fn samples() -> Vec<Self> {
        let full = Self {
            url: url(),
            page_id: page_id(),
            kind: HintKind::Sitemap,
            hinted_at: time(0),
            changed_at: Some(time(-60)),
            source: "https://www.example.org/sitemap.xml".to_owned(),
        };
        let sparse = Self { kind: HintKind::Ping, changed_at: None, source: String::new(), ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for HostStop {
    fn samples() -> Vec<Self> {
        let full = Self { host: Host::from_authority("shop.example.org"), stopped: true, taken_at: time(0) };
        let sparse = Self { stopped: false, ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for Demand {
    fn samples() -> Vec<Self> {
        let full = Self {
            stage_partition: 3,
            published_at: time(0),
            pages: 1_000_000,
            never_fetched: 250_000,
            budget_fetches_per_day: 86_400.0,
            histogram: vec![0.0, 0.5, 1.25, 4_096.0],
            policy: "live".to_owned(),
            price: 12.5,
            rate_bins: vec![RateBin { bin: 128, pages: 3.0, change_rate_per_day: 0.75, weight: 1.5 }],
            plan_count: 3,
            plan_values: vec![4.0, 2.5, 0.0],
            plan_demand: 21.0,
        };
        let (histogram, policy) = (Vec::new(), String::new());
        let rate_bins = Vec::new();
        let (plan_count, plan_values, plan_demand) = (0, Vec::new(), 0.0);
        let sparse = Self {
            pages: 0,
            never_fetched: 0,
            histogram,
            policy,
            price: 0.0,
            rate_bins,
            plan_count,
            plan_values,
            plan_demand,
            ..full.clone()
        };
        vec![full, sparse]
    }
}
