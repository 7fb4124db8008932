//! A focused crawl of a generated web, beside breadth-first, PageRank, IPageRank and an oracle: 80 sites with 20,000 pages
//! in English and Chinese, 20 of them on the topic, some of these behind tunnels.

mod orders;
mod rank;
mod web;

use topic::metrics::{MEASURED_AT, harvest_rate, mean_height};
use topic::{IcuSegmenter, LinkPrediction, PageTerms, Topic, TopicLearner};
use web::{Chance, PAGES_PER_SITE, TOPIC_SITES, TUNNELLED_SITES, WebPage};

/// Example pages in each language from which the topic is learned.
const EXAMPLES: usize = 12;
/// Other pages from which it is learned what is common.
const OTHERS: usize = 80;

fn learn(chance: &mut Chance, pages: &[WebPage]) -> Topic {
    let segmenter = IcuSegmenter::default();
    let mut learner = TopicLearner::default();
    for (language, text) in web::examples(chance, EXAMPLES) {
        assert!(learner.add_example(language, PageTerms::read(&segmenter, "", &text)));
    }
    let others = pages.iter().filter(|page| !page.is_relevant);
    for page in others.step_by(pages.len() / OTHERS) {
        learner.add_other(page.language, PageTerms::read(&segmenter, &page.title, &page.text));
    }
    learner.finish("subject", &segmenter).expect("the examples have terms")
}

/// A crawl's harvest rates, and their mean height.
struct Harvest {
    name: &'static str,
    curve: Vec<(usize, f64)>,
    area: f64,
}

impl Harvest {
    fn of(name: &'static str, pages: &[WebPage], crawl: &[usize]) -> Self {
        let relevant: Vec<bool> = crawl.iter().map(|page| pages[*page].is_relevant).collect();
        let at = |fetched: usize| (fetched, harvest_rate(&relevant, fetched).expect("the crawl is long enough"));
        let curve: Vec<(usize, f64)> = MEASURED_AT.map(at).into();
        let area = mean_height(&curve).expect("there are several points");
        let shown: Vec<String> = curve.iter().map(|(_, rate)| format!("{rate:.3}")).collect();
        println!("{name:26} {} area {area:.3}", shown.join(" "));
        Self { name, curve, area }
    }
}

#[test]
fn a_focused_crawl_beats_ipagerank_everywhere_and_comes_near_the_oracle() {
    let mut chance = Chance::new(7);
    let pages = web::generate(&mut chance);
    let topic = learn(&mut chance, &pages);
    let ours = orders::read(&LinkPrediction::default(), &topic, &pages);
    let published = orders::read(&LinkPrediction::published(), &topic, &pages);
    assert!(orders::accuracy(&pages, &ours).iter().all(|share| *share > 0.97), "{:?}", orders::accuracy(&pages, &ours));
    // Two sites on the topic and two others.
    let seeds = [0, 1, 40, 61].map(|site| site * PAGES_PER_SITE);
    let most = MEASURED_AT[MEASURED_AT.len() - 1];
    let crawl = orders::focused(&ours, &seeds, most);
    let focused = Harvest::of("ours", &pages, &crawl);
    let oracle = Harvest::of("oracle", &pages, &orders::oracle(&pages, &ours, &seeds, most));
    for other in [
        Harvest::of("breadth-first", &pages, &orders::breadth_first(&ours, &seeds, most)),
        Harvest::of("PageRank", &pages, &orders::by_rank(&ours, &seeds, most, |_| 1.0)),
        Harvest::of("IPageRank", &pages, &orders::by_rank(&published, &seeds, most, |relevance| relevance)),
        Harvest::of("IPageRank with our words", &pages, &orders::by_rank(&ours, &seeds, most, |relevance| relevance)),
    ] {
        for ((fetched, rate), (_, others_rate)) in focused.curve.iter().zip(&other.curve) {
            assert!(rate > others_rate, "{} after {fetched} pages: {rate} {others_rate}", other.name);
        }
    }
    assert!(focused.area >= 0.9 * oracle.area, "{} {}", focused.area, oracle.area);
    let tunnelled = TOPIC_SITES - TUNNELLED_SITES..TOPIC_SITES;
    let found = tunnelled.filter(|site| crawl.iter().filter(|page| *page / PAGES_PER_SITE == *site).count() > 50);
    assert!(found.count() >= TUNNELLED_SITES / 2, "few sites behind tunnels were found");
}
