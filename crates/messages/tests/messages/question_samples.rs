use crate::samples::{Samples, site_key, time, url};
use messages::{Answer, HostOrder, HostSelection, PageSelection, Question, QuestionKind, TableEntry, Verdict};
use page::HostName;

impl Samples for Question {
    fn samples() -> Vec<Self> {
        let full = Self {
            question_id: "5f3c5e2a9b".to_owned(),
            routing_key: site_key().as_str().to_owned(),
            about: QuestionKind::Hosts,
            url: Some(url()),
            hosts: Some(HostSelection { order: HostOrder::Freshness, at_most: 20 }),
            asked_at: time(0),
            answer_until: time(10),
            site: Some(site_key()),
            pages: Some(PageSelection {
                after: Some(url().page_id()),
                at_most: 50,
                host: Some(HostName::of(&url())),
                address_part: Some("/news".to_owned()),
                outcome: Some("not_found".to_owned()),
                verdict: Some(Verdict::Gone),
                never_fetched: true,
            }),
            version: Some(3),
        };
        let all = Some(PageSelection { at_most: 1, ..PageSelection::default() });
        let pages = Self { about: QuestionKind::Pages, url: None, hosts: None, pages: all, ..full.clone() };
        let sparse = Self { about: QuestionKind::Figures, site: None, pages: None, version: None, ..pages.clone() };
        vec![full, pages, sparse]
    }
}

impl Samples for Answer {
    fn samples() -> Vec<Self> {
        let full = Self {
            question_id: "5f3c5e2a9b".to_owned(),
            stage: "scheduler".to_owned(),
            partition: 3,
            answered_at: time(1),
            entries: vec![TableEntry { table: "pages".to_owned(), value: vec![0xc3, 1, 2] }],
            json: Some("{\"pages\":4}".to_owned()),
        };
        let sparse = Self { entries: Vec::new(), json: None, ..full.clone() };
        vec![full, sparse]
    }
}
