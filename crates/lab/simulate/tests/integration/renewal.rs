//! Does it pay to know the shape of the gaps between changes? On webs with gaps of one shape, and on recorded change times where the
//! corpora are at hand. `-- --nocapture renewal` prints the figures; those of `docs/MEASUREMENTS.md` are the same on more pages, by the
//! example `renewal`.

use change_rate::gaps::GapDistribution;
use change_rate::shape::{EXPONENTIAL, SHAPE_VALUES};
use policies::PolicyKind;
use policies::renewal::optimum::AgeOptimum;
use policies::renewal::{Renewal, ShapeLearning};
use revisit::RevisitPolicy;
use revisit::allocate::PageTerms;
use revisit::live::CrawlValue;
use simulate::changes::{ChangeModel, SyntheticChanges};
use simulate::contender::Contender;
use simulate::engine::{self, Run};
use simulate::learner::KnownRates;
use simulate::population::{PopulationKind, SyntheticPopulation};
use simulate::study::{Study, StudyRow};
use simulate::trace::{Cut, JudgedTrace, Knowledge, Recording, TraceReplay, TraceTable};
use std::fs::File;
use std::ops::ControlFlow;

const PAGES: usize = 600;
const BUDGET: f64 = 0.1;

/// Weighted freshness of a policy that knows all rates, on pages that say when they changed.
fn known_rates(web: &SyntheticPopulation, model: &str, mut policy: impl RevisitPolicy) -> f64 {
    let (pages, rates) = (&web.pages, &web.change_rates_per_day);
    let model = ChangeModel::parse(model).expect("a model");
    let mut changes = SyntheticChanges::new(pages, rates, model, 1, 360.0).expect("good rates");
    let mut learner = KnownRates::new(rates.iter().copied());
    let run = Run { last_modified_share: 1.0, ..Run::new(60.0, 360.0, BUDGET * pages.len() as f64) };
    let go_on = &mut |_| ControlFlow::Continue(());
    engine::run(pages, &mut changes, &mut policy, &mut learner, &run, go_on).expect("a run").weighted_freshness
}

#[test]
fn renewal_with_known_rates_and_shapes_is_near_the_optimum() {
    let web = PopulationKind::Hosts.draw(PAGES, 1).expect("a population");
    let terms: Vec<PageTerms> = (0..PAGES)
        .map(|page| PageTerms { weight: web.pages.weight(page), ..PageTerms::new(web.change_rates_per_day[page]) })
        .collect();
    for shape in [1, EXPONENTIAL, 4, 5] {
        let k = SHAPE_VALUES[shape];
        let model = format!("weibull-{k}");
        let gaps = GapDistribution::weibull(k).expect("a shape");
        let best = AgeOptimum::new(&gaps).weighted_freshness(&terms, BUDGET * PAGES as f64);
        let by_shape = known_rates(&web, &model, Renewal::with_shapes(0.0, ShapeLearning::Known(shape)));
        let plain = known_rates(&web, &model, CrawlValue::new(0.0));
        println!("{model}: optimum {best:.4}, renewal {by_shape:.4}, crawl-value {plain:.4}");
        assert!(by_shape > best - 0.01, "{model}: {by_shape} of {best}");
        // Bursts leave little to gain, regular gaps much.
        if k > 2.0 {
            assert!(by_shape > plain + 0.02, "{model}: {by_shape} beside {plain}");
        } else {
            assert!(by_shape > plain - 0.004, "{model}: {by_shape} beside {plain}");
        }
    }
}

fn webs(model: &str, dates: f64) -> Vec<StudyRow> {
    let study = Study {
        populations: vec![PopulationKind::Hosts],
        changes: ChangeModel::parse(model).expect("a model"),
        pages: PAGES,
        policies: vec![PolicyKind::CrawlValue, PolicyKind::Renewal],
        budgets: vec![BUDGET],
        warm_up_days: 120.0,
        scored_days: 120.0,
        last_modified_share: dates,
        seeds: 2,
        ..Study::default()
    };
    study.run(2, &|_| ControlFlow::Continue(())).expect("a study")
}

#[test]
fn renewal_pays_where_changes_are_regular() {
    for (model, dates, least) in [("poisson", 0.0, -0.006), ("weibull-0.5", 0.0, -0.006), ("gamma-30", 1.0, 0.02)] {
        let rows = webs(model, dates);
        let of = |policy: &str| rows.iter().find(|row| row.policy == policy).expect("a row").weighted_freshness;
        let (by_shape, plain) = (of("renewal"), of("crawl-value"));
        println!("{model}, dates {dates}: renewal {by_shape:.4}, crawl-value {plain:.4}");
        assert!(by_shape > plain + least, "{model}, dates {dates}: {by_shape} beside {plain}");
    }
}

/// Recorded pages, a few of each source.
fn recorded(corpus: &str) -> Option<JudgedTrace> {
    let directory = corpora::find(corpus)?;
    let table = |name: &str| {
        let file = File::open(directory.join(format!("{name}.zst"))).expect("a table");
        TraceTable { name: name.to_owned(), bytes: zstd::Decoder::new(file).expect("zstd") }
    };
    let recording = Recording::read(table("pages.csv"), table("changes.csv")).expect("a recording");
    let cut = Cut { sources: Vec::new(), max_pages_per_source: 150, draw: 1 };
    Some(JudgedTrace::cut(&recording, &cut).expect("judged pages"))
}

#[test]
fn renewal_on_recorded_changes() {
    for corpus in ["trace", "trace-wikipedia"] {
        let Some(trace) = recorded(corpus) else { continue };
        let fresh = |policy| {
            let replay = TraceReplay {
                contender: Contender::usual(policy),
                knowledge: Knowledge::Fetches,
                frozen: false,
                dates_share: 0.0,
                fetches_per_page_per_day: 1.0 / 15.0,
                importance_shape: None,
                lists: None,
                until_days: None,
                seed: 1,
            };
            replay.run(&trace, &mut |_| ControlFlow::Continue(())).expect("a replay").freshness
        };
        let [plain, by_shape, live] = [PolicyKind::CrawlValue, PolicyKind::Renewal, PolicyKind::Live].map(fresh);
        println!("{corpus}: crawl-value {plain:.4}, renewal {by_shape:.4}, live {live:.4}");
        // Shapes change next to nothing. Where pages change together, `live` is far ahead: the reason why it ignores shapes.
        assert!((by_shape - plain).abs() < 0.01, "{by_shape} {plain}");
        if corpus == "trace" {
            assert!(by_shape < live - 0.01, "{by_shape} {live}");
        }
    }
}
