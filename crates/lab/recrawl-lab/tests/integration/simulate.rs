//! `recrawl simulate` as scripts meet it: what it prints, and how it ends.

mod crawl;
mod focus;

use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const DAY: i64 = 86_400;

fn recrawl(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_recrawl-lab")).arg("simulate").args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = recrawl(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exit status, and what was said on stderr.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = recrawl(arguments);
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn write(directory: &Path, name: &str, text: &str, packed: bool) {
    if packed {
        let bytes = zstd::encode_all(text.as_bytes(), 3).unwrap();
        std::fs::write(directory.join(format!("{name}.zst")), bytes).unwrap();
    } else {
        std::fs::write(directory.join(name), text).unwrap();
    }
}

/// Two sources over 800 days: `busy`, of which every fourth page changes every three days, the others once a year; and
/// `swept`, whose pages all change together every 40 days. A third one has half a year only.
fn corpus(packed: bool) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut pages = "page_id,host,path,source,mime,importance,n_rows,first_time,last_time,gold\n".to_owned();
    let mut changes = "page_id,unix_time,kind\n".to_owned();
    let mut add = |id: i64, host: &str, source: &str, first: i64, times: &[i64]| {
        writeln!(pages, "{id},{host},/a/{id}.html,{source},text/html,,{},0,0,0", times.len() + 1).unwrap();
        writeln!(changes, "{id},{first},A").unwrap();
        times.iter().for_each(|time| writeln!(changes, "{id},{time},M").unwrap());
    };
    for id in 0..40 {
        let every = if id % 4 == 0 { 3 * DAY } else { 365 * DAY };
        let times: Vec<i64> = (1..).map(|n| n * every + id * 1_000).take_while(|time| *time <= 800 * DAY).collect();
        add(id, "busy.test", "busy", 0, &times);
    }
    for id in 40..80 {
        let times: Vec<i64> = (1..=20).map(|n| n * 40 * DAY + id).collect();
        add(id, "www.swept.test", "swept", 0, &times);
    }
    add(80, "young.test", "young", 0, &[180 * DAY]);
    write(directory.path(), "pages.csv", &pages, packed);
    write(directory.path(), "changes.csv", &changes, packed);
    directory
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().unwrap_or_else(|| panic!("{field} is no number in {value}"))
}

#[test]
fn one_run_is_one_object_with_the_promised_fields() {
    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let row = json(&["trace", directory, "--budget", "1/15d", "--policy", "live", "--knowledge", "fetches"]);
    assert_eq!(row["policy"], "live");
    assert_eq!(row["estimator"], "sweeps");
    assert_eq!(row["knowledge"], "fetches");
    assert_eq!(number(&row, "budget_fetches_per_page_per_day"), 1.0 / 15.0);
    assert_eq!(row["pages"], 80);
    assert!((number(&row, "fetches_spent") - 80.0 * 365.0 / 15.0).abs() <= 7.0, "{row}");
    assert!((0.5..1.0).contains(&number(&row, "freshness")));
    assert!(number(&row, "age_days") > 0.0);
    let sources = row["by_source"].as_array().unwrap();
    let names: Vec<_> = sources.iter().map(|source| source["source"].as_str().unwrap()).collect();
    assert_eq!(names, ["busy", "swept"]);
    let sum = |field| sources.iter().map(|source| number(source, field)).sum::<f64>();
    assert_eq!(sum("pages"), 80.0);
    assert_eq!(sum("fetches"), number(&row, "fetches_spent"));
    let mean = sources.iter().map(|source| number(source, "freshness") * number(source, "pages")).sum::<f64>() / 80.0;
    assert!((mean - number(&row, "freshness")).abs() < 1e-12);
    assert!(sources.iter().all(|source| number(source, "age_days") > 0.0));

    assert!((number(&row, "weighted_freshness") - number(&row, "freshness")).abs() < 1e-9, "{row}");
    let drawn = json(&["trace", directory, "--policy", "uniform", "--pareto", "1.2"]);
    assert!((number(&drawn, "weighted_freshness") - number(&drawn, "freshness")).abs() > 1e-4, "{drawn}");

    let output = recrawl(&["trace", directory]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("left out: young: its rows span 180 days"));
}

#[test]
fn freshness_of_a_uniform_schedule_is_what_can_be_counted() {
    // Pages that change every 40 days, looked at every 15 days: stale for 7.5 days of every 40, on average.
    let corpus = corpus(false);
    let directory = corpus.path().to_str().unwrap();
    let row = json(&["trace", directory, "--source", "swept", "--policy", "uniform", "--knowledge", "history"]);
    assert!((number(&row, "freshness") - (1.0 - 7.5 / 40.0)).abs() < 0.01, "{row}");
    assert_eq!(row["estimator"], "none");
    assert_eq!(row["pages"], 40);
}

#[test]
fn policies_that_know_more_do_better() {
    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let rows = json(&["trace", directory, "--policy", "uniform,smoothed,oracle,live", "--knowledge", "history"]);
    let freshness = |policy: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["policy"] == policy).unwrap();
        number(row, "freshness")
    };
    assert!(freshness("uniform") < freshness("smoothed"));
    assert!(freshness("smoothed") <= freshness("oracle") + 0.002);
    // Of these, it alone can know when the sweeps come.
    assert!(freshness("oracle") < freshness("live"), "{rows}");
}

#[test]
fn all_policies_run_and_the_number_of_threads_does_not_show() {
    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let listed = json(&["list"]).as_array().unwrap().iter().filter(|named| named["kind"] == "policy").count();
    for knowledge in ["fetches", "history"] {
        let run = |threads| {
            let arguments =
                ["trace", directory, "--policy", "all", "--knowledge", knowledge, "--budget", "1/15d", "--threads"];
            recrawl(&[&arguments[..], &[threads, "--format", "jsonl"]].concat())
        };
        let (one, three) = (run("1"), run("3"));
        assert!(one.status.success(), "{}", String::from_utf8_lossy(&one.stderr));
        assert_eq!(one.stdout, three.stdout);
        let rows: Vec<Value> =
            one.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        assert_eq!(rows.len(), if knowledge == "history" { listed } else { listed - 1 });
        for row in &rows {
            let used = number(row, "budget_used_share");
            assert!((0.0..=1.01).contains(&used), "{row}");
            assert!((0.2..=1.0).contains(&number(row, "freshness")), "{row}");
        }
        let reported = String::from_utf8_lossy(&one.stderr).into_owned();
        assert_eq!(reported.contains("left out: smoothed"), knowledge == "fetches", "{reported}");
    }
}

#[test]
fn the_first_days_of_a_crawl_are_set_beside_round_robin() {
    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let run = |policies| json(&["trace", directory, "--knowledge", "none", "--budget", "1/15d", "--policy", policies]);
    let live = run("live");
    let days: Vec<f64> = live["first_days"].as_array().unwrap().iter().map(|first| number(first, "days")).collect();
    assert_eq!((days, &live["knowledge"]), (vec![30.0, 120.0, 120.0, 365.0], &Value::from("none")));
    let both = run("live,uniform");
    assert_eq!(both[0], live, "round robin is run, asked for or not");
    for (own, other) in live["first_days"].as_array().unwrap().iter().zip(both[1]["first_days"].as_array().unwrap()) {
        let ratio = number(own, "stale_share") / number(other, "stale_share");
        assert!((number(own, "relative_to_round_robin") - ratio).abs() < 1e-12, "{own}");
        assert_eq!(number(other, "relative_to_round_robin"), 1.0);
    }
    let year = &live["first_days"][3];
    assert!((number(year, "stale_share") - (1.0 - number(&live, "freshness"))).abs() < 1e-9, "{live}");
    let dated = json(&["trace", directory, "--knowledge", "none", "--budget", "1/15d", "--dates", "1"]);
    assert_eq!((number(&live, "dates_share"), number(&dated, "dates_share")), (0.0, 1.0));
    assert_ne!(number(&dated, "freshness"), number(&live, "freshness"));
    let filled = json(&["trace", directory, "--budget", "1/2d", "--policy", "stormcrawler", "--fill"]);
    assert_eq!(filled["policy"], "stormcrawler+fill");
    assert!(number(&filled, "budget_used_share") > 0.99, "{filled}");
}

#[test]
fn on_recorded_times_others_are_compared_with_the_default() {
    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let rows = json(&["versus", "--recorded", directory]);
    let rows = rows.as_array().unwrap();
    let row = |policy: &str| rows.iter().find(|row| row["policy"] == policy).unwrap();
    assert!(rows.iter().all(|row| row["ours"] == "live" && number(row, "fetch_ratio") > 0.0));
    assert!(number(row("uniform"), "fetch_ratio") > 1.0, "{}", row("uniform"));
    assert!((number(row("nutch+fill"), "fetches_per_page_per_day") - 1.0 / 60.0).abs() < 1e-3, "{}", row("nutch+fill"));
    let other = json(&["versus", "--recorded", directory, "--policy", "crawl-value"]);
    assert_eq!(other[0]["ours"], "crawl-value");
    let (status, reported) = refused(&["versus", "wide", "--recorded", directory]);
    assert!(status == 2 && reported.contains("--recorded"), "{reported}");
}

#[test]
fn what_is_known_is_what_was_allowed() {
    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let run = |more: &[&str]| {
        json(
            &[&["trace", directory, "--policy", "crawl-value", "--estimator", "gamma", "--budget", "1/40"], more]
                .concat(),
        )
    };
    let fetches = run(&[]);
    let history = run(&["--knowledge", "history"]);
    let frozen = run(&["--knowledge", "history", "--static"]);
    assert!(number(&fetches, "freshness") < number(&history, "freshness"));
    assert_ne!(number(&history, "freshness"), number(&frozen, "freshness"));
    assert_eq!(history["estimator"], "gamma");
    assert_eq!(frozen["static"], true);
    // A schedule that may not learn does not use the results of its fetches.
    let live = |more: &[&str]| json(&[&["trace", directory, "--knowledge", "history"], more].concat());
    assert!(number(&live(&["--static"]), "freshness") < number(&live(&[]), "freshness"));
}

#[test]
fn the_report_stands_alone() {
    let corpus = corpus(true);
    let page = corpus.path().join("report.html");
    let arguments = ["trace", corpus.path().to_str().unwrap(), "--policy", "live,uniform", "--budget", "1/15d,1/3"];
    let output = recrawl(&[&arguments[..], &["--report", page.to_str().unwrap()]].concat());
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("swept") && page.contains("uniform"));
    assert!(!page.contains("<script") && !page.contains("src="));
}

#[test]
fn bad_input_is_reported_with_its_place() {
    let corpus = corpus(false);
    let directory = corpus.path().to_str().unwrap();
    let check = |arguments: &[&str], words: &[&str]| {
        let (status, reported) = refused(arguments);
        assert_eq!(status, 2, "{arguments:?}: {reported}");
        for word in words {
            assert!(reported.contains(word), "{arguments:?}: no {word:?} in {reported}");
        }
    };
    check(&["trace", "/no/such/corpus"], &["/no/such/corpus", "pages.csv"]);
    let empty = tempfile::tempdir().unwrap();
    check(&["trace", empty.path().to_str().unwrap()], &["pages.csv.zst"]);
    for budget in ["0", "-1", "NaN", "1/0d", "often"] {
        check(&["trace", directory, &format!("--budget={budget}")], &[budget, "1/15d"]);
    }
    check(&["trace", directory, "--policy", "best"], &["best", "live", "stormcrawler", "all"]);
    check(&["trace", directory, "--estimator", "best"], &["best", "gamma-grouped"]);
    check(&["trace", directory, "--source", "best"], &["best", "busy, swept, young"]);
    check(&["trace", directory, "--source", "young"], &["young", "180 days"]);
    check(&["trace", directory, "--policy", "smoothed"], &["smoothed", "history"]);
    check(&["trace", directory, "--policy", "clairvoyant", "--pareto", "1.2"], &["clairvoyant", "importance"]);
    check(&["population", "p1", "--policy", "reported"], &["reported", "recorded traces"]);
    check(&["trace", directory, "--static"], &["history"]);
    check(&["trace", directory, "--policy", "nutch", "--knowledge", "history", "--static"], &["nutch", "static"]);
    check(&["trace", directory, "--threads", "0"], &["--threads"]);
    check(&["trace", directory, "--max-per-source", "0"], &["--max-per-source"]);
    check(&["population", "moon"], &["moon", "lognormal"]);
    check(&["population", "p1", "--changes", "moods"], &["moods", "poisson"]);
    check(&["population", "p1", "--pages", "0"], &["pages"]);

    write(corpus.path(), "changes.csv", "page_id,unix_time,kind\n3,10,A\n3,5,M\n", false);
    check(&["trace", directory], &["changes.csv", "row 2 (line 3)", "unix_time", "sort"]);
    write(corpus.path(), "changes.csv", "page_id,unix_time,kind\n3,10,A\n2,15,M\n", false);
    check(&["trace", directory], &["changes.csv", "row 2 (line 3)", "page_id", "sort"]);
    write(corpus.path(), "changes.csv", "page_id,unix_time,kind\n3,10,Z\n", false);
    check(&["trace", directory], &["changes.csv", "row 1 (line 2)", "kind", "\"Z\""]);
    write(corpus.path(), "pages.csv", "page_id,host,path\n", false);
    check(&["trace", directory], &["pages.csv", "source"]);
    std::fs::write(corpus.path().join("pages.csv.zst"), b"not packed").unwrap();
    check(&["trace", directory], &["pages.csv.zst"]);
}

#[test]
fn a_population_is_simulated_over_seeds() {
    let arguments = ["population", "p1", "--pages", "300", "--days", "20", "--warm-up-days", "20", "--seeds", "2"];
    let rows = json(&[&arguments[..], &["--policy", "uniform,live,oracle", "--budget", "0.1"]].concat());
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!(row["seeds"], 2);
        assert_eq!(number(row, "budget_fetches_per_page_per_day"), 0.1);
        for field in ["freshness", "weighted_freshness", "age_days", "fetches", "standard_error"] {
            assert!(number(row, field) > 0.0, "{field} in {row}");
        }
        assert!(row["policy"].is_string() && row["estimator"].is_string());
    }
    assert!(number(&rows[0], "weighted_freshness") < number(&rows[2], "weighted_freshness"));
}

#[test]
fn published_systems_take_part_with_the_constants_of_their_presets() {
    let few = ["--pages", "200", "--days", "20", "--warm-up-days", "20", "--seeds", "1", "--budget", "0.1"];
    let rows = json(&[&["population", "p1", "--preset", "all"], &few[..]].concat());
    let rows = rows.as_array().unwrap();
    let names: Vec<_> =
        rows.iter().map(|row| (row["preset"].as_str().unwrap(), row["policy"].as_str().unwrap())).collect();
    let expected = [
        ("tianwang", "tianwang+fill"),
        ("chile", "chile"),
        ("webfountain", "webfountain"),
        ("site-rank", "site-ranks"),
        ("classified", "classified"),
    ];
    assert_eq!(names, expected);
    assert!(rows.iter().all(|row| number(row, "budget_used_share") > 0.95), "{rows:?}");
    // A prior of one's own, for a policy by name.
    let tianwang = |sets: &[&str]| {
        let rows = json(&[&["population", "p1", "--policy", "tianwang"], &few[..], sets].concat());
        number(&rows[0], "budget_used_share")
    };
    let prior = ["--set", "estimator.prior_alpha=1", "--set", "estimator.prior_beta_days=10"];
    assert!(tianwang(&[]) == 0.0 && tianwang(&prior) > 0.1, "{} {}", tianwang(&[]), tianwang(&prior));

    let corpus = corpus(true);
    let directory = corpus.path().to_str().unwrap();
    let row = json(&["trace", directory, "--preset", "classified"]);
    assert_eq!((row["preset"].as_str(), row["estimator"].as_str()), (Some("classified"), Some("half-count")));
    let rows = json(&["versus", "--recorded", directory, "--preset", "chile"]);
    assert_eq!((&rows[0]["ours"], &rows[0]["preset"]), (&"chile".into(), &"chile".into()));
    for arguments in [["trace", directory], ["population", "p1"], ["versus", "p1"]] {
        let (status, why) = refused(&[&arguments[..], &["--preset", "skyreach"]].concat());
        assert!(status == 2 && why.contains("recrawl simulate focus"), "{why}");
    }
    let (status, why) = refused(&["versus", "--preset", "chile", "--policy", "live"]);
    assert!(status == 2 && why.contains("give one of them"), "{why}");
    let (status, why) = refused(&["population", "p1", "--set", "fetch.timeout=1s"]);
    assert!(status == 2 && why.contains("policy and estimator"), "{why}");
}

#[test]
fn a_published_figure_is_reproduced() {
    let rows = json(&["reproduce", "R1"]);
    assert!(!rows.as_array().unwrap().is_empty());
    for row in rows.as_array().unwrap() {
        assert_eq!((row["id"].as_str(), row["within"].as_bool()), (Some("R1"), Some(true)), "{row}");
        assert!((number(row, "ours") - number(row, "reference")).abs() < 1e-9 && row.get("ratio").is_some(), "{row}");
        // The fields of every simulation, null where they mean nothing.
        let fields = ["policy", "estimator", "budget_fetches_per_page_per_day", "freshness", "weighted_freshness"];
        for field in fields.into_iter().chain(["age_days", "fetches", "seeds", "standard_error"]) {
            assert!(row.get(field).is_some(), "no {field} in {row}");
        }
    }
    let fresh = rows.as_array().unwrap().iter().find(|row| row["policy"] == "uniform").unwrap();
    assert!((number(fresh, "freshness") - 0.365052812393).abs() < 1e-9, "{fresh}");
    assert_eq!((number(fresh, "budget_fetches_per_page_per_day"), fresh["age_days"].is_null()), (1.0, true));
    let (status, reported) = refused(&["reproduce", "R99"]);
    assert_eq!(status, 2);
    assert!(reported.contains("R99") && reported.contains("R11"), "{reported}");
}

#[test]
fn everything_with_a_name_is_listed() {
    let rows = json(&["list"]);
    let names = |kind: &str| rows.as_array().unwrap().iter().filter(|row| row["kind"] == kind).count();
    assert_eq!(names("policy"), policies::PolicyKind::ALL.len());
    assert_eq!(names("estimator"), change_rate::EstimatorChoice::all().count());
    assert!(names("population") >= 6 && names("change_model") >= 6 && names("reproduction") >= 10);
}

#[test]
fn a_growing_web_is_crawled_by_one_price_and_by_fixed_shares() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("grow.html");
    let small = ["grow", "--sites", "2", "--sections", "2", "--articles", "5", "--days", "5", "--warm-up-days", "5"];
    let few = ["--seeds", "2", "--budget", "10,20", "--new-page-worth", "1,10", "--new-page-share", "0.2"];
    let rows = json(&[&small[..], &few, &["--report", report.to_str().unwrap()]].concat());
    let rows = rows.as_array().unwrap();
    let policies: Vec<&str> = rows.iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["live", "live", "tianwang", "live", "live", "tianwang"]);
    assert_eq!((&rows[1]["new_page_worth"], &rows[2]["new_page_share"]), (&10.0.into(), &0.2.into()));
    assert!(rows.iter().all(|row| (0.0..=1.0).contains(&row["freshness"].as_f64().unwrap())));
    let page = std::fs::read_to_string(report).unwrap();
    assert!(page.contains("<svg") && page.contains("from the birth of a page to its first copy"));
    let seeds = ["--from-seeds", "--citations", "2", "--preset", "chile,site-rank", "--new-page-share", "0.2"];
    let rows = json(&[&small[..], &["--seeds", "1", "--budget", "10", "--new-page-worth", "1"], &seeds].concat());
    for (row, preset) in rows.as_array().unwrap().iter().zip([None, Some("tianwang"), Some("chile"), Some("site-rank")])
    {
        assert_eq!(row["preset"].as_str(), preset);
        let points = row["coverage"].as_array().unwrap();
        let first = &points[0];
        assert!(points.len() > 5 && number(first, "importance_share") > number(first, "page_share"), "{row}");
    }
    let (status, why) = refused(&[&small[..], &["--preset", "skyreach"]].concat());
    assert!(status == 2 && why.contains("recrawl simulate focus"), "{why}");
    let (status, why) = refused(&[&small[..], &["--budget", "0"]].concat());
    assert!(status == 2 && why.contains("budget"), "{why}");
    let (status, why) = refused(&[&small[..], &["--seeds", "0"]].concat());
    assert!(status == 2 && why.contains("--seeds"), "{why}");
    let (status, why) = refused(&[&small[..], &["--new-page-share", "2"]].concat());
    assert!(status == 2 && why.contains("new_page_share"), "{why}");
}
