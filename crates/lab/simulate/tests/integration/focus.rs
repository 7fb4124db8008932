//! A focused crawl of a generated web, beside breadth-first, PageRank, IPageRank and an oracle: 80 sites with 20,000 pages
//! in English and Chinese, 20 of them in the focus, some of these behind tunnels.

use focus::metrics::MEASURED_AT;
use simulate::focus::generated::{self, FOCUS_SITES, PAGES_PER_SITE, TUNNELLED_SITES};
use simulate::focus::{FetchOrder, FocusCrawler};

#[test]
fn a_focused_crawl_beats_ipagerank_everywhere_and_comes_near_the_oracle() {
    let (web, focus) = generated::generate(7);
    let crawler = FocusCrawler::new(&web, &focus);
    assert!(crawler.accuracy().iter().all(|share| *share > 0.97), "{:?}", crawler.accuracy());
    let harvests =
        FetchOrder::ALL.map(|order| crawler.crawl(order, MEASURED_AT[MEASURED_AT.len() - 1]).expect("the stages work"));
    for harvest in &harvests {
        let rates = MEASURED_AT.map(|fetches| harvest.rate(fetches));
        println!("{:<26} {rates:.3?} mean {:.3?}", harvest.order.name(), harvest.mean_rate(&MEASURED_AT));
    }
    let [ours, oracle] = [FetchOrder::Recrawl, FetchOrder::Oracle]
        .map(|order| harvests.iter().find(|harvest| harvest.order == order).expect("every order was crawled"));
    for other in harvests.iter().filter(|harvest| ![ours.order, oracle.order].contains(&harvest.order)) {
        for fetches in MEASURED_AT {
            let (rate, others_rate) = (ours.rate(fetches).unwrap_or(0.0), other.rate(fetches).unwrap_or(1.0));
            assert!(rate > others_rate, "{} after {fetches} pages: {rate} {others_rate}", other.order.name());
        }
    }
    let [area, best] = [ours, oracle].map(|harvest| harvest.mean_rate(&MEASURED_AT).expect("it fetched enough"));
    assert!(area >= 0.9 * best, "{area} {best}");
    let tunnelled = FOCUS_SITES - TUNNELLED_SITES..FOCUS_SITES;
    let fetches_at = |site: usize| ours.fetched.iter().filter(|page| *page / PAGES_PER_SITE == site).count();
    let found = tunnelled.filter(|site| fetches_at(*site) > 50);
    assert!(found.count() >= TUNNELLED_SITES / 2, "few sites behind tunnels were found");
}
