//! The gain of knowing the shape of the gaps between changes: policy `renewal` beside others on webs with gaps of several shapes,
//! and on recorded change times where the corpora are at hand. `cargo run -p simulate --example renewal -- [shapes|webs|recorded]...`

use change_rate::gaps::GapDistribution;
use policies::PolicyKind;
use policies::renewal::by_age::AgeModel;
use policies::renewal::optimum::AgeOptimum;
use revisit::allocate::PageTerms;
use simulate::changes::ChangeModel;
use simulate::contender::Contender;
use simulate::population::PopulationKind;
use simulate::study::Study;
use simulate::trace::{Cut, JudgedTrace, Knowledge, Recording, TraceReplay, TraceTable};
use std::error::Error;
use std::fs::File;
use std::ops::ControlFlow;

const THREADS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    if is_wanted("shapes") {
        shapes()?;
    }
    if is_wanted("webs") {
        webs()?;
    }
    if is_wanted("recorded") {
        for corpus in ["trace", "trace-wikipedia"] {
            recorded(corpus)?;
        }
    }
    Ok(())
}

fn distributions() -> Result<Vec<(&'static str, GapDistribution)>, Box<dyn Error>> {
    Ok(vec![
        ("poisson", GapDistribution::EXPONENTIAL),
        ("weibull-0.5", GapDistribution::weibull(0.5)?),
        ("weibull-2", GapDistribution::weibull(2.0)?),
        ("weibull-4", GapDistribution::weibull(4.0)?),
        ("gamma-0.5", GapDistribution::gamma(0.5)?),
        ("gamma-4", GapDistribution::gamma(4.0)?),
        ("gamma-30", GapDistribution::gamma(30.0)?),
    ])
}

/// One page: freshness at even looks, and at the best looks by age.
fn shapes() -> Result<(), Box<dyn Error>> {
    println!("one page, by looks in a mean gap: fresh at even looks / at the best looks by age");
    for (name, gaps) in distributions()? {
        let model = AgeModel::new(&gaps);
        print!("{name:<12}");
        for looks in [0.5, 1.0, 2.0, 4.0] {
            let (mut low, mut high) = (-9.0_f64, 3.0_f64);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if model.best(middle.exp()).looks_per_gap > looks { low = middle } else { high = middle }
            }
            let plan = model.best(low.exp());
            print!(
                "  {:.4} / {:.4} ({:.2})",
                gaps.average_freshness(1.0 / plan.looks_per_gap),
                plan.freshness,
                plan.looks_per_gap
            );
        }
        println!();
    }
    Ok(())
}

/// Webs with gaps of one shape.
fn webs() -> Result<(), Box<dyn Error>> {
    let budgets = vec![0.03, 0.1, 0.3];
    let (population, pages, seeds) = (PopulationKind::Hosts, 1_000, 3);
    println!("{pages} pages of {}, {seeds} seeds: weighted freshness", population.name());
    for (name, gaps) in distributions()? {
        let optimum = AgeOptimum::new(&gaps);
        for dates in [0.0, 1.0] {
            let study = Study {
                populations: vec![population],
                changes: ChangeModel::parse(name)?,
                pages,
                policies: vec![
                    PolicyKind::Uniform,
                    PolicyKind::CrawlValue,
                    PolicyKind::Renewal,
                    PolicyKind::Live,
                    PolicyKind::Oracle,
                ],
                budgets: budgets.clone(),
                warm_up_days: 120.0,
                scored_days: 120.0,
                last_modified_share: dates,
                seeds,
                ..Study::default()
            };
            let rows = study.run(THREADS, &|_| ControlFlow::Continue(()))?;
            for &budget in &budgets {
                print!("{name:<12} dates {dates} {budget:<5}");
                for row in rows.iter().filter(|row| row.budget_fetches_per_page_per_day == budget) {
                    print!("  {} {:.4} ({:.4})", row.policy, row.weighted_freshness, row.standard_error);
                }
                let best = (1..=seeds).map(|seed| {
                    let drawn = population.draw(pages, seed)?;
                    let terms: Vec<PageTerms> = (0..pages)
                        .map(|page| PageTerms {
                            weight: drawn.pages.weight(page),
                            ..PageTerms::new(drawn.change_rates_per_day[page])
                        })
                        .collect();
                    Ok(optimum.weighted_freshness(&terms, budget * pages as f64))
                });
                let best: Vec<f64> = best.collect::<Result<_, simulate::SimulationError>>()?;
                println!("  best {:.4}", best.iter().sum::<f64>() / seeds as f64);
            }
        }
    }
    Ok(())
}

/// Recorded change times: freshness and age in days.
fn recorded(corpus: &str) -> Result<(), Box<dyn Error>> {
    let Some(directory) = corpora::find(corpus) else { return Ok(()) };
    let table = |name: &str| -> Result<_, Box<dyn Error>> {
        let file = File::open(directory.join(format!("{name}.zst")))?;
        Ok(TraceTable { name: name.to_owned(), bytes: zstd::Decoder::new(file)? })
    };
    let recording = Recording::read(table("pages.csv")?, table("changes.csv")?)?;
    let cut = Cut { sources: Vec::new(), max_pages_per_source: 1_500, draw: 1 };
    let trace = JudgedTrace::cut(&recording, &cut)?;
    println!("{corpus}: {} pages", trace.pages.len());
    let policies = [
        PolicyKind::Uniform,
        PolicyKind::CrawlValue,
        PolicyKind::Renewal,
        PolicyKind::Live,
        PolicyKind::Oracle,
        PolicyKind::Clairvoyant,
    ];
    for days in [180.0, 60.0, 15.0] {
        for policy in policies {
            let replay = TraceReplay {
                contender: Contender::usual(policy),
                knowledge: Knowledge::Fetches,
                frozen: false,
                dates_share: 0.0,
                fetches_per_page_per_day: 1.0 / days,
                importance_shape: None,
                lists: None,
                until_days: None,
                seed: 1,
            };
            let scores = replay.run(&trace, &mut |_| ControlFlow::Continue(()))?;
            println!("1/{days} d: {:<12} fresh {:.4}, age {:.2} d", policy.name(), scores.freshness, scores.age_days);
        }
    }
    Ok(())
}
