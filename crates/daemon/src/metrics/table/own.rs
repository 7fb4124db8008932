//! Metrics that one stage has.

use super::{Metric, counter, gauge, histogram};

pub(super) const SCHEDULER: &[Metric] = &[
    gauge("recrawl_scheduler_pages", "pages", "pages known"),
    gauge("recrawl_scheduler_never_fetched", "pages", "pages never fetched"),
    gauge("recrawl_scheduler_unanswered", "pages", "pages that were never answered"),
    gauge("recrawl_scheduler_copies", "pages", "pages with a stored copy"),
    gauge(
        "recrawl_scheduler_due",
        "pages",
        "pages whose value reaches the current price, without those of paused and blocked hosts",
    ),
    gauge("recrawl_scheduler_in_flight", "requests", "requests handed out and not answered yet"),
    gauge("recrawl_scheduler_hosts", "hosts", "hosts known"),
    gauge("recrawl_scheduler_mirrors", "pages", "pages whose content is fetched through another page"),
    gauge(
        "recrawl_scheduler_forgotten_pages",
        "pages",
        "pages that operators have forgotten and that only a seed brings back",
    ),
    gauge("recrawl_scheduler_fetches", "fetches", "fetches of the known pages, including those of earlier processes"),
    gauge(
        "recrawl_scheduler_changes",
        "changes",
        "changes seen on the known pages, including those seen by earlier processes",
    ),
    gauge("recrawl_scheduler_fresh_pages", "pages", "expected number of pages whose copy is current"),
    gauge(
        "recrawl_scheduler_total_age_seconds",
        "seconds",
        "expected time since a copy went stale, summed over all copies; 0 for a current one",
    ),
    gauge(
        "recrawl_scheduler_estimated_freshness",
        "ratio",
        "expected share of pages whose copy is current; absent without pages",
    ),
    gauge("recrawl_scheduler_audit_looks", "fetches", "audits (fetches of random pages)"),
    gauge("recrawl_scheduler_audit_fresh", "fetches", "audits that found the copy current"),
    gauge(
        "recrawl_scheduler_audited_freshness",
        "ratio",
        "share of audits that found the copy current; absent before the first",
    ),
    gauge("recrawl_scheduler_audited_freshness_low", "ratio", "lower end of its 95 % interval"),
    gauge("recrawl_scheduler_audited_freshness_high", "ratio", "upper end of its 95 % interval"),
    gauge("recrawl_scheduler_audit_recent_looks", "fetches", "recent audits; older ones count less"),
    gauge(
        "recrawl_scheduler_audit_recent_fresh",
        "fetches",
        "recent audits that found the copy current; older ones count less",
    ),
    gauge(
        "recrawl_scheduler_audit_recent_expected",
        "fetches",
        "recent audits that were expected to find the copy current; older ones count less",
    ),
    gauge(
        "recrawl_scheduler_calibrated_freshness",
        "ratio",
        "estimated freshness, corrected by recent audits; absent before the first",
    ),
    gauge("recrawl_scheduler_calibrated_freshness_low", "ratio", "lower end of its 95 % interval"),
    gauge("recrawl_scheduler_calibrated_freshness_high", "ratio", "upper end of its 95 % interval"),
    gauge(
        "recrawl_scheduler_price",
        "value",
        "price of a fetch, the mean of this process's partitions; a page is fetched once its value reaches the price",
    ),
    gauge(
        "recrawl_scheduler_budget_fetches_per_second",
        "fetches per second",
        "the fetch budget of this process's partitions, on the clock of the web",
    ),
    counter("recrawl_scheduler_answers_total", "answers", "answers to requests processed"),
    counter("recrawl_scheduler_fetches_seen_total", "fetches", "fetches answered: requests that were sent"),
    counter("recrawl_scheduler_changes_seen_total", "changes", "changes seen"),
    counter("recrawl_scheduler_hints_total", "hints", "hints that a page may have changed"),
    counter(
        "recrawl_scheduler_leases_expired_total",
        "requests",
        "requests whose lease expired before the answer arrived",
    ),
    counter("recrawl_scheduler_late_answers_total", "answers", "answers that arrived after their lease had expired"),
    counter("recrawl_scheduler_unknown_pages_total", "records", "answers and hints for unknown pages"),
    counter(
        "recrawl_scheduler_refused_pages_total",
        "pages",
        "discovered pages refused because of their URL or the limits of the crawl",
    ),
    counter(
        "recrawl_scheduler_pages_out_of_scope_total",
        "pages",
        "pages not taken in because a rule, a filter or a block leaves them out",
    ),
    counter("recrawl_scheduler_forgotten_links_total", "links", "links to forgotten pages, not taken in"),
    counter("recrawl_scheduler_forgotten_seeds_total", "seeds", "forgotten pages in lists of seeds, not taken in"),
    counter("recrawl_scheduler_evicted_pages_total", "pages", "pages forgotten to make room for others of their host"),
    counter(
        "recrawl_scheduler_fetches_spared_by_mirrors_total",
        "fetches",
        "fetches spared because another page has the same text",
    ),
];

pub(super) const FETCHER: &[Metric] = &[
    counter(
        "recrawl_fetcher_outcomes_total",
        "requests",
        "requests answered, by what they came to; those of class not_sent are no fetches",
    )
    .by(&["class", "outcome"]),
    histogram("recrawl_fetcher_fetch_seconds", "seconds", "time from the request to the last byte of the response"),
    gauge("recrawl_fetcher_in_flight", "requests", "requests taken in and not answered yet"),
    gauge("recrawl_fetcher_on_the_wire", "requests", "requests sent to a server and not answered yet"),
    gauge("recrawl_fetcher_waiting_for_hosts", "requests", "requests waiting for their host"),
    gauge(
        "recrawl_fetcher_longest_wait_for_host_seconds",
        "seconds",
        "longest time that a request now waiting has waited for its host",
    ),
    gauge("recrawl_fetcher_hosts", "hosts", "hosts with requests or with something remembered about them"),
];

pub(super) const DETECTOR: &[Metric] = &[
    counter("recrawl_detector_results_total", "results", "fetch results processed"),
    counter("recrawl_detector_repeats_total", "results", "duplicate results dropped"),
    counter("recrawl_detector_changes_total", "changes", "changes seen"),
    counter(
        "recrawl_detector_held_total",
        "looks",
        "looks without a verdict yet, because the whole host may have failed",
    ),
    counter("recrawl_detector_lists_total", "lists", "sitemaps and feeds read"),
    counter("recrawl_detector_hints_total", "hints", "hints found in sitemaps and feeds"),
    counter(
        "recrawl_detector_foreign_entries_total",
        "entries",
        "entries of sitemaps and feeds that belong to other sites",
    ),
    counter("recrawl_detector_triggers_fired_total", "triggers", "triggers of watch rules that fired"),
    counter("recrawl_detector_watch_misses_total", "looks", "looks at a page that lacked a part that its rule watches"),
    counter(
        "recrawl_detector_untriggered_changes_total",
        "changes",
        "changes not reported because their watch rule wants only those that fire a trigger",
    ),
    counter("recrawl_detector_links_left_out_total", "links", "links not followed because their page has too many"),
    counter(
        "recrawl_detector_pages_removed_total",
        "pages",
        "pages deleted because they were forgotten or made room for others",
    ),
    counter("recrawl_detector_bad_focus_orders_total", "orders", "orders about focuses that could not be read"),
    gauge("recrawl_detector_focuses", "focuses", "focuses that pages are judged by"),
    gauge(
        "recrawl_detector_focuses_left_out",
        "focuses",
        "focuses that pages are not judged by, because there are too many",
    ),
    gauge("recrawl_detector_focus_targets", "pages", "pages that the focuses of the crawl name as examples"),
];

pub(super) const ESTIMATOR: &[Metric] = &[
    counter("recrawl_estimator_observations_total", "looks", "looks used for learning"),
    counter("recrawl_estimator_changes_total", "changes", "changes seen"),
    gauge("recrawl_estimator_groups", "groups", "groups of pages with learned parameters"),
];

pub(super) const MATCHER: &[Metric] = &[
    counter("recrawl_matcher_bands_total", "bands", "bands of texts processed"),
    counter("recrawl_matcher_comparisons_total", "comparisons", "comparisons of pages that share a band"),
    counter("recrawl_matcher_matches_total", "pages", "pages found to be copies of another"),
    counter("recrawl_matcher_full_buckets_total", "bands", "bands shared by too many pages to compare them"),
];

pub(super) const RANKER: &[Metric] = &[
    gauge("recrawl_ranker_linked_pages", "pages", "pages with links or linked to"),
    gauge("recrawl_ranker_trusted_pages", "pages", "pages at which trust begins"),
    counter("recrawl_ranker_link_looks_total", "looks", "looks at pages whose links were followed"),
    counter("recrawl_ranker_links_total", "links", "links followed"),
    counter(
        "recrawl_ranker_links_pruned_total",
        "links",
        "links not followed because they promise nothing for the focuses of the crawl",
    ),
    counter("recrawl_ranker_pages_found_total", "pages", "pages first seen as the target of a link"),
    counter("recrawl_ranker_weights_sent_total", "pages", "pages whose new weight was sent to the scheduler"),
    gauge("recrawl_ranker_judged_pages", "pages", "pages looked at and judged by the focuses of the crawl"),
    gauge("recrawl_ranker_pages_in_focus", "pages", "pages looked at that are in a focus of the crawl"),
    gauge("recrawl_ranker_targets_found", "pages", "pages looked at that a focus names as examples"),
];

pub(super) const DELIVERY: &[Metric] = &[
    counter("recrawl_delivery_failed_attempts_total", "attempts", "attempts to deliver a change that failed"),
    counter("recrawl_delivery_left_out_total", "changes", "changes given up and left out"),
];
