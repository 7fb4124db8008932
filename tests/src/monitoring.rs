//! The series that alerts, dashboards and autoscaling use, and those that a scrape has.

use metrics::{Metric, MetricKind};
use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{self, Expr, VectorSelector};
use promql_parser::util::{ExprVisitor, walk_expr};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Labels that Prometheus adds to what it scrapes.
const ADDED_LABELS: [&str; 3] = ["namespace", "pod", "instance"];

/// A selector of an expression, with the place that uses it.
#[derive(Clone, Debug)]
pub struct UsedSeries {
    /// File, and alert or panel.
    pub place: String,
    /// Name of the metric.
    pub name: String,
    matchers: Vec<Matcher>,
}

/// The series and expressions that the manifests use.
#[derive(Debug, Default)]
pub struct Monitoring {
    /// Every selector, apart from those on recorded series.
    pub used: Vec<UsedSeries>,
    /// Every expression. A variable of Grafana stands for all its values.
    pub expressions: Vec<PlacedExpression>,
}

/// A place and its expression.
pub type PlacedExpression = (String, String);

impl Monitoring {
    /// Reads the manifests of a repository. `Err` says what in them is no expression, or uses a series that nothing
    /// records.
    pub fn read(repository: &Path) -> Result<Self, String> {
        let components = repository.join("k8s/components");
        let (mut expressions, recorded) = of_rules(&components.join("monitoring/rules.yaml"))?;
        let scaling = yaml(&components.join("keda/fetcher.yaml"))?;
        for trigger in list(&scaling["spec"]["triggers"]) {
            expressions.push(("keda/fetcher.yaml".to_owned(), text(&trigger["metadata"]["query"])));
        }
        let directory = components.join("monitoring/dashboards");
        for entry in fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))? {
            expressions.extend(of_dashboard(&entry.map_err(|error| error.to_string())?.path())?);
        }
        for (_, expression) in &mut expressions {
            *expression = expression.replace("$namespace", ".*");
        }
        let mut used = Vec::new();
        for (place, expression) in &expressions {
            let found = selectors(expression).map_err(|error| format!("{place}: {expression}: {error}"))?;
            let at = |(name, matchers)| UsedSeries { place: place.clone(), name, matchers };
            used.extend(found.into_iter().map(at));
        }
        if let Some(series) = used.iter().find(|series| series.name.contains(':') && !recorded.contains(&series.name)) {
            return Err(format!("{}: nothing records {}", series.place, series.name));
        }
        used.retain(|series| !series.name.contains(':'));
        Ok(Self { used, expressions })
    }

    /// Used series that are not in the table of metrics: no such name, or no such label.
    pub fn unlisted(&self) -> Vec<String> {
        let is_listed = |used: &&UsedSeries| {
            metric_of(&used.name).is_some_and(|metric| {
                let has =
                    |label: &str| metric.labels.contains(&label) || ADDED_LABELS.contains(&label) || label == "le";
                used.matchers.iter().all(|matcher| has(&matcher.name))
            })
        };
        self.used.iter().filter(|used| !is_listed(used)).map(ToString::to_string).collect()
    }
}

/// Expressions with their places, and the names of what is recorded.
fn of_rules(path: &Path) -> Result<(Vec<PlacedExpression>, BTreeSet<String>), String> {
    let (mut expressions, mut recorded) = (Vec::new(), BTreeSet::new());
    let rules = yaml(path)?;
    for rule in list(&rules["spec"]["groups"]).flat_map(|group| list(&group["rules"])) {
        let name = rule["alert"].as_str().or(rule["record"].as_str()).unwrap_or_default();
        recorded.extend(rule["record"].as_str().map(str::to_owned));
        expressions.push((format!("rules.yaml: {name}"), text(&rule["expr"])));
    }
    Ok((expressions, recorded))
}

/// The expressions of panels and variables.
fn of_dashboard(path: &Path) -> Result<Vec<PlacedExpression>, String> {
    let file = path.file_name().unwrap_or_default().display().to_string();
    let board: Value = serde_json::from_str(&read(path)?).map_err(|error| format!("{file}: {error}"))?;
    let mut expressions = Vec::new();
    for panel in list(&board["panels"]) {
        let place = format!("{file}: {}", text(&panel["title"]));
        expressions.extend(list(&panel["targets"]).map(|target| (place.clone(), text(&target["expr"]))));
    }
    for variable in list(&board["templating"]["list"]) {
        let query = text(&variable["query"]);
        let series = query.strip_prefix("label_values(").and_then(|inner| inner.split_once(',')).map(|of| of.0);
        expressions.extend(series.map(|series| (format!("{file}: a variable"), series.to_owned())));
    }
    Ok(expressions)
}

impl UsedSeries {
    /// Whether it selects a series. Labels that Prometheus adds to what it scrapes are not looked at.
    pub fn selects(&self, series: &ScrapedSeries) -> bool {
        let mut own = self.matchers.iter().filter(|matcher| !ADDED_LABELS.contains(&matcher.name.as_str()));
        let value = |label: &str| series.labels.get(label).map_or("", String::as_str);
        series.name == self.name && own.all(|matcher| matcher.is_match(value(&matcher.name)))
    }

    /// The selector, as in the expression.
    pub fn selector(&self) -> String {
        let matchers: Vec<_> = self.matchers.iter().map(ToString::to_string).collect();
        format!("{}{{{}}}", self.name, matchers.join(","))
    }
}

impl fmt::Display for UsedSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.selector())
    }
}

/// Whether there is a Prometheus, with its promtool. Without one, a line says that the test is left out, unless one is required.
pub fn prometheus_is_installed() -> bool {
    let is_there = Command::new("prometheus").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        let required = std::env::var("RECRAWL_PROMETHEUS_REQUIRED").is_ok_and(|value| value == "1");
        assert!(!required, "RECRAWL_PROMETHEUS_REQUIRED is 1 and there is no prometheus");
        println!("LEFT OUT: there is no prometheus (`make setup` installs it)");
    }
    is_there
}

/// One line of `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScrapedSeries {
    /// Name of the series; a histogram has three of them.
    pub name: String,
    /// Labels with their values.
    pub labels: BTreeMap<String, String>,
    /// Value.
    pub value: f64,
}

/// The series in the text of `/metrics`. Panics on a line that cannot be parsed.
pub fn scraped(text: &str) -> Vec<ScrapedSeries> {
    text.lines().filter(|line| !line.starts_with('#')).map(scraped_line).collect()
}

/// Names of series that `docs/METRICS.md` does not list, or not with these labels.
pub fn unlisted(series: &[ScrapedSeries]) -> Vec<String> {
    let is_listed = |series: &ScrapedSeries| {
        metric_of(&series.name).is_some_and(|metric| {
            let labels = series.labels.keys().map(String::as_str);
            let mut labels: Vec<_> =
                labels.filter(|label| !(metric.kind == MetricKind::Histogram && *label == "le")).collect();
            let mut listed = metric.labels.to_vec();
            labels.sort_unstable();
            listed.sort_unstable();
            labels == listed
        })
    };
    series.iter().filter(|series| !is_listed(series)).map(|series| format!("{series:?}")).collect()
}

/// The metric that a series of this name belongs to.
pub fn metric_of(series: &str) -> Option<&'static Metric> {
    const PARTS: [&str; 3] = ["_bucket", "_sum", "_count"];
    let histogram = PARTS.iter().find_map(|part| series.strip_suffix(part));
    metrics::all().find(|metric| match metric.kind {
        MetricKind::Histogram => Some(metric.name) == histogram,
        MetricKind::Counter | MetricKind::Gauge => metric.name == series,
    })
}

fn scraped_line(line: &str) -> ScrapedSeries {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no series: {line}"));
    let parsed = selectors(series).unwrap_or_else(|error| panic!("{line}: {error}"));
    let [(name, matchers)] = &parsed[..] else { panic!("no series: {line}") };
    assert!(matchers.iter().all(|matcher| matcher.op == MatchOp::Equal), "{line}");
    let labels = matchers.iter().map(|matcher| (matcher.name.clone(), matcher.value.clone())).collect();
    let value = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    ScrapedSeries { name: name.clone(), labels, value }
}

/// The selectors of an expression.
fn selectors(expression: &str) -> Result<Vec<(String, Vec<Matcher>)>, String> {
    let parsed = parser::parse(expression)?;
    let mut found = Selectors::default();
    let Ok(_) = walk_expr(&mut found, &parsed);
    found
        .0
        .into_iter()
        .map(|selector| Ok((selector.name.ok_or("a selector without a name")?, selector.matchers.matchers)))
        .collect()
}

#[derive(Default)]
struct Selectors(Vec<VectorSelector>);

impl ExprVisitor for Selectors {
    type Error = Infallible;

    fn pre_visit(&mut self, expression: &Expr) -> Result<bool, Infallible> {
        match expression {
            Expr::VectorSelector(selector) => self.0.push(selector.clone()),
            Expr::MatrixSelector(selector) => self.0.push(selector.vs.clone()),
            _ => {}
        }
        Ok(true)
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn yaml(path: &Path) -> Result<Value, String> {
    serde_saphyr::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
