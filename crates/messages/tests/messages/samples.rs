use messages::*;
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use sweeps::{CellChange, CellPriors, GroupChange};

pub(crate) trait Samples: Sized {
    /// One value with every field present, one with every nullable field absent and every list empty.
    fn samples() -> Vec<Self>;
}

pub(crate) fn url() -> CanonicalUrl {
    CanonicalUrl::parse("https://www.example.org/news?page=2").unwrap()
}

pub(crate) fn page_id() -> PageId {
    url().page_id()
}

pub(crate) fn site_key() -> SiteKey {
    url().site_key()
}

/// 2026-11-20T20:25:47.123456Z plus `seconds`.
pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_795_206_347_123_456 + seconds * 1_000_000)
}

fn etag() -> Option<String> {
    Some("W/\"5f3c-5e2a9b\"".to_owned())
}

fn last_modified() -> Option<String> {
    Some("Fri, 20 Nov 2026 20:00:00 GMT".to_owned())
}

fn digest() -> Option<Digest> {
    Some(Digest::of(b"a page"))
}

fn validators() -> Validators {
    let (url, failed_conditions) = (Some(url()), 2);
    Validators { url, etag: etag(), last_modified: last_modified(), content_digest: digest(), failed_conditions }
}

impl Samples for FetchRequest {
    fn samples() -> Vec<Self> {
        let full = Self {
            page_id: page_id(),
            url: url(),
            site_key: site_key(),
            attempt: 7,
            issued_at: time(0),
            not_before: time(2),
            lease_until: time(900),
            reason: FetchReason::Refresh,
            validators: validators(),
            crawl_delay_ms: Some(2_500),
            redirected: Some(Box::new(RedirectedRequest {
                target_url: CanonicalUrl::parse("https://www.example.net/moved").unwrap(),
                hops: vec![Hop { url: url().to_string(), status: 302 }],
                exchanges: vec![exchange()],
                wire_bytes: 311,
                requests: 3,
                robots: Some(RobotsErrand {
                    of_url: url(),
                    redirects: 1,
                    answer: Some(RobotsAnswer {
                        status: 200,
                        robots_txt: "User-agent: *\nDisallow: /private\n".to_owned(),
                        retry_after_s: Some(120),
                    }),
                }),
            })),
        };
        let sparse = Self {
            attempt: 1,
            reason: FetchReason::New,
            validators: Validators::default(),
            crawl_delay_ms: None,
            redirected: None,
            ..full.clone()
        };
        vec![full, sparse]
    }
}

/// A look with every field present, and one with as few as possible.
fn looks() -> [Look; 2] {
    let full = Look {
        page_id: page_id(),
        url: url(),
        site_key: site_key(),
        attempt: 7,
        fetched_at: time(3),
        latency_ms: 143,
        outcome: FetchOutcome::Fetched,
        status: Some(200),
        final_url: Some(CanonicalUrl::parse("https://www.example.org/news/2").unwrap()),
        validators: validators(),
        body_length: 6,
        wire_bytes: 412,
        requests: 3,
        retry_after_s: Some(120),
        robots_crawl_delay_ms: Some(1_000),
        fresh_for_s: Some(3_600),
    };
    let request = FetchRequest { attempt: full.attempt, ..FetchRequest::samples().remove(0) };
    let sparse = Look::new(request, FetchOutcome::DnsFailed, full.fetched_at);
    [full, sparse]
}

fn judgements() -> [LookJudgement; 2] {
    let full = LookJudgement {
        previous_fetched_at: Some(time(-86_400)),
        verdict: Verdict::Minor,
        magnitude: 0.125,
        resemblance: 0.875,
        dates: vec![PageDate { source: DateSource::LastModified, at: time(-1_547) }],
        look_again_after_s: Some(129_600),
    };
    [full, LookJudgement::new(Verdict::Unknown)]
}

fn exchange() -> Exchange {
    Exchange {
        url: url().to_string(),
        requested_at: time(3),
        address: Some("192.0.2.7".to_owned()),
        protocol: "http/1.1".to_owned(),
        request_head: b"GET /news?page=2 HTTP/1.1\r\nhost: www.example.org\r\n".to_vec(),
        response_head: b"HTTP/1.1 301 Moved\r\nLocation: /news/2\r\nX-Name: \xe4\r\n".to_vec(),
        is_cut: true,
        received_bytes: 17,
        body: Some(b"\x05\0\0\0\x50moved".to_vec()),
        body_is_cut: true,
    }
}

impl Samples for FetchResult {
    fn samples() -> Vec<Self> {
        let [full, sparse] = looks();
        let full = Self {
            hops: vec![Hop { url: url().to_string(), status: 301 }],
            content_type: Some("text/html; charset=utf-8".to_owned()),
            // The length in front and one run of literals, spelled out: another release of the lz4 crate may pack
            // differently, these bytes stay what they are.
            body: Some(b"\x06\0\0\0\x60a page".to_vec()),
            truncated: true,
            detail: Some("cut at 6 bytes".to_owned()),
            exchanges: vec![exchange()],
            payload_sha1: Some(Sha1::of(b"a page")),
            sitemaps: vec!["https://www.example.org/sitemap.xml".to_owned()],
            preferences: vec!["index=n@x-robots-tag".to_owned()],
            rendered: true,
            refresh: Some("5; url=/next".to_owned()),
            look: full,
        };
        vec![full, Self::new(sparse)]
    }
}

impl Samples for PageObservation {
    fn samples() -> Vec<Self> {
        let samples = looks().into_iter().zip(judgements());
        samples.map(|(look, judgement)| Self { look, judgement }).collect()
    }
}

impl Samples for ChangeEstimate {
    fn samples() -> Vec<Self> {
        let full = ChangeBelief {
            alpha: 2.5,
            beta_days: 10.0,
            observations: 6,
            changes: 2,
            own_alpha: 1.5,
            own_beta_days: 40.25,
            plain_alpha: 2.0,
            plain_beta_days: 38.5,
            mean_extent: 0.25,
        };
        let samples = PageObservation::samples().into_iter().zip([full, ChangeBelief::new(1.0, 30.0)]);
        samples.map(|(PageObservation { look, judgement }, belief)| Self { look, judgement, belief }).collect()
    }
}

impl Samples for PageChange {
    fn samples() -> Vec<Self> {
        let full = Self {
            change_id: "recrawl.fetch-results-3-1041-0".to_owned(),
            page_id: page_id(),
            url: url(),
            verdict: Verdict::Major,
            magnitude: 0.5,
            seen_at: time(3),
            previous_seen_at: Some(time(-86_400)),
            status: Some(200),
            content_digest: digest(),
            added: vec!["It rains.".to_owned(), String::new()],
            removed: vec!["The sun shines.".to_owned()],
            links_added: vec!["https://www.example.org/rain".to_owned()],
            links_removed: vec!["https://www.example.org/sun".to_owned()],
            changes: vec![ChangedUnit {
                before: Some("The sun shines.".to_owned()),
                after: Some("It rains.".to_owned()),
                place: "Weather".to_owned(),
            }],
            passed_over: 12,
            left_out: 3,
            content_changed: true,
            links_changed: true,
            structure_changed: true,
            host_event: true,
            changes_last: false,
            rule: Some("lamp".to_owned()),
            triggers: vec!["price below 20".to_owned()],
            not_found: vec![".stock".to_owned()],
            title: Some("Weather".to_owned()),
            values: vec![WatchedValue {
                watch: "price".to_owned(),
                number_before: Some(121.55),
                number_after: None,
                text_before: None,
                text_after: Some("sold out".to_owned()),
                unit: Some("EUR".to_owned()),
            }],
            lost: vec![".stock".to_owned()],
            found_again: vec!["price below 20".to_owned()],
            leads_to: Some("https://www.example.org/login".to_owned()),
            looks_like: Some("login".to_owned()),
            failure: Some("dns_failed".to_owned()),
            preferences: vec!["train-ai=n@content-usage".to_owned()],
        };
        let sparse = Self {
            page_id: full.page_id,
            magnitude: full.magnitude,
            changes: vec![ChangedUnit { before: None, after: None, place: String::new() }],
            ..Self::bare(full.change_id.clone(), full.url.clone(), Verdict::First, full.seen_at)
        };
        vec![full, sparse]
    }
}

impl Samples for PageContent {
    fn samples() -> Vec<Self> {
        let full = Self {
            url: url(),
            seen_at: time(3),
            kind: CopyKind::Body,
            content_type: Some("text/html".to_owned()),
            content_digest: digest(),
            length: 13_800,
            truncated: true,
            content: messages::body::pack(b"<p>It rains.", messages::body::Packing::Lz4),
            version: 3,
            verdict: Verdict::Minor,
            change_id: Some("fetch-results-3-1042-1".to_owned()),
            fetches: 17,
            preferences: vec!["train-ai=n@content-usage".to_owned()],
        };
        let (kind, content_type, content_digest, change_id) = (CopyKind::Text, None, None, None);
        let preferences = Vec::new();
        let sparse =
            Self { kind, content_type, content_digest, truncated: false, change_id, preferences, ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for SweepForecast {
    fn samples() -> Vec<Self> {
        let group = GroupChange {
            group: u64::MAX - 6,
            site: 1,
            pages: 120,
            oldest_bin: 20_377,
            first_bin: 20_777,
            totals: vec![0.0, 0.5, 1.25],
            per_day: 0.25,
        };
        let priors = CellPriors { own_beta_days: 250.0, plain_beta_days: 62.5 };
        let cell = CellChange { cell: 1 << 63, site: 1, priors };
        let (site_key, made_at) = (site_key(), time(4));
        let gone = vec![i64::MIN, 6];
        let full = Self { site_key, made_at, lead: Some(-0.25), groups: vec![group], cells: vec![cell], gone };
        let sparse = Self::new(full.site_key.clone(), made_at);
        vec![full, sparse]
    }
}

impl Samples for PageBand {
    fn samples() -> Vec<Self> {
        let (band, page_id, host, version_at) = (Band([3, 0, 1, 254, 255]), page_id(), url().host(), time(3));
        let full = Self { band, page_id, host, version_at, sketch: Some(vec![0x12, 0xAB]) };
        vec![full.clone(), Self { sketch: None, ..full }]
    }
}

impl Samples for MirrorMessage {
    fn samples() -> Vec<Self> {
        let full = Self {
            to: page_id(),
            to_site: site_key(),
            about: page_id(),
            about_site: site_key(),
            saying: MirrorSaying::Follow,
            url: Some(url()),
            weight: 2.5,
            version_at: Some(time(1)),
            of_version_at: Some(time(2)),
            epoch: 3,
        };
        let (url, version_at, of_version_at) = (None, None, None);
        let sparse = Self { saying: MirrorSaying::Leave, url, weight: 0.0, version_at, of_version_at, ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for TroubleNotice {
    fn samples() -> Vec<Self> {
        let [full, _] = looks();
        let full = Self::of(&Look { status: Some(429), ..full });
        let (status, retry_after_s, robots_crawl_delay_ms) = (None, None, None);
        let sparse = Self { status, retry_after_s, robots_crawl_delay_ms, ..full.clone() };
        vec![full, sparse]
    }
}

impl Samples for DeadLetter {
    fn samples() -> Vec<Self> {
        let full = Self {
            stage: "detector".to_owned(),
            topic: "recrawl.fetch-results".to_owned(),
            partition: 3,
            offset: 1_041,
            key: b"example.org".to_vec(),
            value: Some(vec![0xC3, 0x01, 0xFF]),
            reason: "3 bytes are not an Avro single object".to_owned(),
            set_aside_at: time(9),
        };
        let sparse = Self { key: Vec::new(), value: None, ..full.clone() };
        vec![full, sparse]
    }
}
