//! Settings that are fine one by one and contradict each other.

use crate::form::show;
use crate::raw::Reader;
use crate::sections::{EstimatorName, PolicyName, Settings};
use std::time::Duration;

pub(crate) fn check(settings: &Settings, reader: &mut Reader) {
    let Settings { budget, policy, estimator, politeness, fetch, hints, clock, kafka, .. } = settings;

    ordered(reader, "policy", ("min_interval", policy.min_interval), ("max_interval", policy.max_interval));
    ordered(reader, "policy", ("retry_base", policy.retry_base), ("retry_max", policy.retry_max));
    let (base, max) = (politeness.backoff_base, politeness.backoff_max);
    ordered(reader, "politeness", ("backoff_base", base), ("backoff_max", max));
    let (delay, max) = (politeness.crawl_delay, politeness.max_crawl_delay);
    ordered(reader, "politeness", ("crawl_delay", delay), ("max_crawl_delay", max));

    if policy.name == PolicyName::Live && estimator.name != EstimatorName::Sweeps {
        reader.contradiction(
            &[("estimator", "name"), ("policy", "name")],
            format!(
                "the policy \"live\" chooses by sweeps, of which the estimator {:?} learns nothing",
                estimator.name.name()
            ),
            "write estimator.name = \"sweeps\", or policy.name = \"crawl-value\"",
        );
    }
    if policy.lease_timeout <= fetch.total_timeout {
        reader.contradiction(
            &[("policy", "lease_timeout"), ("fetch", "total_timeout")],
            format!(
                "a request counts as lost after {} (policy.lease_timeout) while it may take {} (fetch.total_timeout)",
                show(policy.lease_timeout),
                show(fetch.total_timeout)
            ),
            "make policy.lease_timeout some times as long as fetch.total_timeout",
        );
    }
    if let Some(host_rate) = budget.host_fetches_per_second
        && host_rate > budget.fetches_per_second
    {
        reader.contradiction(
            &[("budget", "host_fetches_per_second"), ("budget", "fetches_per_second")],
            format!("one host may have {host_rate} fetches per second and all together {}", budget.fetches_per_second),
            "make budget.host_fetches_per_second the smaller one, or leave it out",
        );
    }
    if fetch.extra_ca.is_some() && !fetch.tls_verify {
        reader.contradiction(
            &[("fetch", "extra_ca"), ("fetch", "tls_verify")],
            "with fetch.tls_verify = false no certificate is checked, so fetch.extra_ca has no effect".to_owned(),
            "write fetch.tls_verify = true, or leave fetch.extra_ca out",
        );
    }
    if !hints.websub.keys().eq(hints.websub_secrets.keys()) {
        reader.contradiction(
            &[("hints", "websub"), ("hints", "websub_secrets")],
            "hints.websub and hints.websub_secrets name different callbacks; what is not signed could be anyone's"
                .to_owned(),
            "give each name in both tables",
        );
    }
    if clock.origin.is_some() != clock.anchor.is_some() {
        reader.contradiction(
            &[("clock", "origin"), ("clock", "anchor")],
            "clock.origin and clock.anchor say together when it is; one alone says nothing".to_owned(),
            "write both or neither",
        );
    }
    if clock.speed != 1.0 && clock.anchor.is_none() && kafka.brokers.is_some() {
        reader.contradiction(
            &[("clock", "speed"), ("kafka", "brokers")],
            "several processes can only share a clock of another speed when they share its beginning".to_owned(),
            "write clock.origin and clock.anchor, or leave clock.speed at 1.0",
        );
    }
}

fn ordered(
    reader: &mut Reader,
    section: &'static str,
    (lesser_key, lesser): (&'static str, Duration),
    (greater_key, greater): (&'static str, Duration),
) {
    if lesser > greater {
        reader.contradiction(
            &[(section, lesser_key), (section, greater_key)],
            format!("{section}.{lesser_key} is {} and {section}.{greater_key} is {}", show(lesser), show(greater)),
            &format!("make {section}.{lesser_key} the shorter one"),
        );
    }
}
