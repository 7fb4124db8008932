//! The keys of a rule that say how its pages are crawled.

use super::{CrawlOrders, Permission, Rendering};
use crate::form::{Choice, Count, Form, Map, Number, Secrets, Span, Text};
use crate::raw::Raw;
use crate::sections::{HISTORY, HISTORY_AGE, HISTORY_BYTES};
use std::collections::BTreeMap;
use std::time::Duration;

const CRAWL: Choice<Permission> = Choice(&[("allow", Permission::Allow), ("deny", Permission::Deny)]);
const RENDER: Choice<Rendering> =
    Choice(&[("never", Rendering::Never), ("auto", Rendering::Auto), ("always", Rendering::Always)]);
const MAX_DEPTH: Count<u32> = Count::new(0, 1_000);
const MAX_PAGES: Count<u64> = Count::new(1, 1_000_000_000_000);
const CRAWL_DELAY: Span = Span(Duration::ZERO, Duration::from_secs(86_400));
const INTERVAL: Span = Span(Duration::ZERO, Duration::from_secs(3_650 * 86_400));
const WEIGHT: Number = Number(0.0, 1e6);
const HEADERS: Map<Text> = Map {
    value: Text("a text of printable ASCII", |_| true),
    expected: "a table of names and values, such as { Accept-Language = \"de\" }",
    check_name: |_| Ok(()),
};

/// Reads the value of a key. `None`: the key is none of these. `Err` says what to write.
pub(super) fn read(key: &str, raw: &Raw, orders: &mut CrawlOrders) -> Option<Result<(), String>> {
    Some(match key {
        "crawl" => set(&CRAWL, raw, &mut orders.crawl),
        "max_depth" => set(&MAX_DEPTH, raw, &mut orders.max_depth),
        "max_pages" => set(&MAX_PAGES, raw, &mut orders.max_pages),
        "crawl_delay" => set(&CRAWL_DELAY, raw, &mut orders.crawl_delay),
        "min_interval" => set(&INTERVAL, raw, &mut orders.min_interval),
        "max_interval" => set(&INTERVAL, raw, &mut orders.max_interval),
        "weight" => set(&WEIGHT, raw, &mut orders.weight),
        "render" => set(&RENDER, raw, &mut orders.render),
        "history" => set(&HISTORY, raw, &mut orders.history),
        "history_age" => set(&HISTORY_AGE, raw, &mut orders.history_age),
        "history_bytes" => set(&HISTORY_BYTES, raw, &mut orders.history_bytes),
        "headers" => {
            let mut headers = None;
            let read = set(&HEADERS, raw, &mut headers);
            orders.headers = headers.unwrap_or_default().into_iter().collect();
            read
        }
        _ => return None,
    })
}

fn set<F: Form>(form: &F, raw: &Raw, value: &mut Option<F::Value>) -> Result<(), String> {
    *value = Some(form.read(raw).map_err(|_| form.expected())?);
    Ok(())
}

/// Prints the keys as TOML. The value of a header may be a secret.
pub(crate) fn write(orders: &CrawlOrders, secrets: Secrets, lines: &mut Vec<String>) {
    line("crawl", &CRAWL, orders.crawl.as_ref(), lines);
    line("max_depth", &MAX_DEPTH, orders.max_depth.as_ref(), lines);
    line("max_pages", &MAX_PAGES, orders.max_pages.as_ref(), lines);
    line("crawl_delay", &CRAWL_DELAY, orders.crawl_delay.as_ref(), lines);
    line("min_interval", &INTERVAL, orders.min_interval.as_ref(), lines);
    line("max_interval", &INTERVAL, orders.max_interval.as_ref(), lines);
    line("weight", &WEIGHT, orders.weight.as_ref(), lines);
    line("render", &RENDER, orders.render.as_ref(), lines);
    line("history", &HISTORY, orders.history.as_ref(), lines);
    line("history_age", &HISTORY_AGE, orders.history_age.as_ref(), lines);
    line("history_bytes", &HISTORY_BYTES, orders.history_bytes.as_ref(), lines);
    let headers: BTreeMap<_, _> = orders.headers.iter().cloned().collect();
    if secrets == Secrets::Masked && !headers.is_empty() {
        let names: Vec<_> = headers.into_keys().collect();
        lines.push(format!("# headers is set; the values are masked: {}", names.join(", ")));
    } else {
        line("headers", &HEADERS, Some(&headers).filter(|headers| !headers.is_empty()), lines);
    }
}

fn line<F: Form>(key: &str, form: &F, value: Option<&F::Value>, lines: &mut Vec<String>) {
    let written = value.and_then(|value| form.write(value, Secrets::Shown));
    lines.extend(written.map(|value| format!("{key} = {value}")));
}
