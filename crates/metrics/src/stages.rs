//! Metrics that one stage has, and the list of all.

use crate::{Metric, backlog, process, stage};

metrics! {
    /// Metrics of the scheduler.
    pub mod scheduler "recrawl_scheduler_"
    PAGES = Gauge "pages" "pages" "pages known";
    PAGES_LIMIT = Gauge "pages_limit" "pages" "most pages of this process's partitions: their share of crawl.max_pages";
    NEVER_FETCHED = Gauge "never_fetched" "pages" "pages never fetched";
    UNANSWERED = Gauge "unanswered" "pages" "pages that were never answered";
    COPIES = Gauge "copies" "pages" "pages with a stored copy";
    DUE = Gauge "due" "pages" "pages whose value reaches the current price, without those of paused and blocked hosts";
    PLANNED_PAGES = Gauge "planned_pages" "pages"
        "pages that the plan of a published system's policy favours: the fast class, sites of rank 4, or the current period, cycle or batch; 0 for other policies";
    IN_FLIGHT = Gauge "in_flight" "requests" "requests handed out and not answered yet";
    HOSTS = Gauge "hosts" "hosts" "hosts known";
    MIRRORS = Gauge "mirrors" "pages" "pages whose content is fetched through another page";
    FORGOTTEN_PAGES = Gauge "forgotten_pages" "pages"
        "pages that operators have forgotten and that only a seed brings back";
    FETCHES = Gauge "fetches" "fetches" "fetches of the known pages, including those of earlier processes";
    CHANGES = Gauge "changes" "changes" "changes seen on the known pages, including those seen by earlier processes";
    FRESH_PAGES = Gauge "fresh_pages" "pages" "expected number of pages whose copy is current";
    TOTAL_AGE_SECONDS = Gauge "total_age_seconds" "seconds"
        "expected time since a copy went stale, summed over all copies; 0 for a current one";
    ESTIMATED_FRESHNESS = Gauge "estimated_freshness" "ratio"
        "expected share of pages whose copy is current; absent without pages";
    AUDIT_LOOKS = Gauge "audit_looks" "fetches" "audits (fetches of random pages)";
    AUDIT_FRESH = Gauge "audit_fresh" "fetches" "audits that found the copy current";
    AUDITED_FRESHNESS = Gauge "audited_freshness" "ratio"
        "share of audits that found the copy current; absent before the first";
    AUDITED_FRESHNESS_LOW = Gauge "audited_freshness_low" "ratio" "lower end of its 95 % interval";
    AUDITED_FRESHNESS_HIGH = Gauge "audited_freshness_high" "ratio" "upper end of its 95 % interval";
    AUDIT_RECENT_LOOKS = Gauge "audit_recent_looks" "fetches" "recent audits; older ones count less";
    AUDIT_RECENT_FRESH = Gauge "audit_recent_fresh" "fetches"
        "recent audits that found the copy current; older ones count less";
    AUDIT_RECENT_EXPECTED = Gauge "audit_recent_expected" "fetches"
        "recent audits that were expected to find the copy current; older ones count less";
    CALIBRATED_FRESHNESS = Gauge "calibrated_freshness" "ratio"
        "estimated freshness, corrected by recent audits; absent before the first";
    CALIBRATED_FRESHNESS_LOW = Gauge "calibrated_freshness_low" "ratio" "lower end of its 95 % interval";
    CALIBRATED_FRESHNESS_HIGH = Gauge "calibrated_freshness_high" "ratio" "upper end of its 95 % interval";
    PRICE = Gauge "price" "value"
        "price of a fetch, the mean of this process's partitions; a page is fetched once its value reaches the price";
    BUDGET_FETCHES_PER_SECOND = Gauge "budget_fetches_per_second" "fetches per second"
        "the fetch budget of this process's partitions, on the clock of the web";
    ANSWERS = Counter "answers_total" "answers" "answers to requests processed";
    FETCHES_SEEN = Counter "fetches_seen_total" "fetches" "fetches answered: requests that were sent";
    CHANGES_SEEN = Counter "changes_seen_total" "changes" "changes seen";
    HINTS = Counter "hints_total" "hints" "hints that a page may have changed";
    LEASES_EXPIRED = Counter "leases_expired_total" "requests"
        "requests whose lease expired before the answer arrived";
    LATE_ANSWERS = Counter "late_answers_total" "answers" "answers that arrived after their lease had expired";
    UNKNOWN_PAGES = Counter "unknown_pages_total" "records" "answers and hints for unknown pages";
    REFUSED_SEEDS = Counter "refused_seeds_total" "seeds"
        "seeds not taken in: out of scope, not in the list of --seeds-only, undecided, of a blocked host, or without room; the log says which";
    REFUSED_PAGES = Counter "refused_pages_total" "pages"
        "discovered pages refused because of their URL or the limits of the crawl";
    PAGES_OUT_OF_SCOPE = Counter "pages_out_of_scope_total" "pages"
        "pages not taken in because a rule, a filter, a block or the list of --seeds-only leaves them out";
    UNDECIDED_PAGES = Counter "undecided_pages_total" "pages"
        "pages not taken in because an expression of a rule takes too many steps on their addresses";
    FORGOTTEN_LINKS = Counter "forgotten_links_total" "links" "links to forgotten pages, not taken in";
    FAILED_SEEDS = Gauge "failed_seeds" "pages" "seeds of which no request has brought a copy yet, though one was answered";
    UNLISTED_SEEDS = Gauge "unlisted_seeds" "pages" "known seeds that are not in the list with which the embedded crawl was started";
    FORGOTTEN_SEEDS = Counter "forgotten_seeds_total" "seeds" "forgotten pages in lists of seeds, not taken in";
    EVICTED_PAGES = Counter "evicted_pages_total" "pages" "pages forgotten to make room for seeds, for pages of smaller sites, or for others of their host";
    FETCHES_SPARED_BY_MIRRORS = Counter "fetches_spared_by_mirrors_total" "fetches"
        "fetches spared because another page has the same text";
}

metrics! {
    /// Metrics of the fetcher.
    pub mod fetcher "recrawl_fetcher_"
    OUTCOMES = Counter "outcomes_total" "requests"
        "requests answered, by what they came to; those of class not_sent are no fetches" by ["class", "outcome"];
    FETCH_SECONDS = Histogram "fetch_seconds" "seconds" "time from the request to the last byte of the response";
    IN_FLIGHT = Gauge "in_flight" "requests" "requests taken in and not answered yet";
    ON_THE_WIRE = Gauge "on_the_wire" "requests" "requests sent to a server and not answered yet";
    WAITING_FOR_HOSTS = Gauge "waiting_for_hosts" "requests" "requests waiting for their host";
    LONGEST_WAIT_FOR_HOST_SECONDS = Gauge "longest_wait_for_host_seconds" "seconds"
        "longest time that a request now waiting has waited for its host";
    HOSTS = Gauge "hosts" "hosts" "hosts with requests or with something remembered about them";
}

metrics! {
    /// Metrics of the detector.
    pub mod detector "recrawl_detector_"
    RESULTS = Counter "results_total" "results" "fetch results processed";
    REPEATS = Counter "repeats_total" "results" "duplicate results dropped";
    CHANGES = Counter "changes_total" "changes" "changes seen";
    HELD = Counter "held_total" "looks"
        "looks without a verdict yet, because the whole host may have failed or a document was not read in time";
    LISTS = Counter "lists_total" "lists" "sitemaps and feeds read";
    HINTS = Counter "hints_total" "hints" "hints found in sitemaps and feeds";
    FOREIGN_ENTRIES = Counter "foreign_entries_total" "entries"
        "entries of sitemaps and feeds that belong to other sites";
    TRIGGERS_FIRED = Counter "triggers_fired_total" "triggers" "triggers of watch rules that fired";
    WATCH_MISSES = Counter "watch_misses_total" "looks" "looks at a page that lacked a part that its rule watches";
    BLIND_PAGES = Gauge "blind_pages" "pages" "pages on which a watched part or a trigger of their rule sees nothing";
    UNTRIGGERED_CHANGES = Counter "untriggered_changes_total" "changes"
        "changes not reported because their watch rule wants only those that fire a trigger";
    LINKS_LEFT_OUT = Counter "links_left_out_total" "links" "links not followed because their page or list has too many";
    UNDECIDED_LINKS = Counter "undecided_links_total" "links"
        "links not followed because an expression of a rule takes too many steps on their addresses";
    PAGES_REMOVED = Counter "pages_removed_total" "pages"
        "pages deleted because they were forgotten or made room for others";
    UNREAD_PAGES = Counter "unread_pages_total" "pages"
        "pages at whose first look there was no text: pictures, scripts, files that are not text";
    DOCUMENTS_READ = Counter "documents_read_total" "documents" "PDF documents read in a process of their own";
    DOCUMENTS_NOT_READ = Counter "documents_not_read_total" "documents"
        "PDF documents compared by their digest, because they are encrypted, damaged, pictures, or beyond their limits";
    COPIES_BYTES = Gauge "copies_bytes" "bytes" "bytes of the stored copies, compressed, without their keys and changelogs";
    COPIES_LEFT_OUT = Counter "copies_left_out_total" "copies"
        "copies not stored because they would exceed detector.max_contents or the share of their site in it";
    BAD_FOCUS_ORDERS = Counter "bad_focus_orders_total" "orders" "orders about focuses that could not be read";
    BAD_RULE_SETS = Counter "bad_rule_sets_total" "sets" "sets of saved rules that could not be read";
    SAVED_RULES = Gauge "saved_rules" "rules" "watch rules that operators have saved while the crawl runs";
    FOCUSES = Gauge "focuses" "focuses" "focuses that pages are judged by";
    FOCUSES_LEFT_OUT = Gauge "focuses_left_out" "focuses"
        "focuses that pages are not judged by, because there are too many";
    FOCUS_TARGETS = Gauge "focus_targets" "pages" "pages that the focuses of the crawl name as examples";
}

metrics! {
    /// Metrics of the estimator.
    pub mod estimator "recrawl_estimator_"
    OBSERVATIONS = Counter "observations_total" "looks" "looks used for learning";
    CHANGES = Counter "changes_total" "changes" "changes seen";
    GROUPS = Gauge "groups" "groups" "groups of pages with learned parameters";
}

metrics! {
    /// Metrics of the matcher.
    pub mod matcher "recrawl_matcher_"
    BANDS = Counter "bands_total" "bands" "bands of texts processed";
    COMPARISONS = Counter "comparisons_total" "comparisons" "comparisons of pages that share a band";
    MATCHES = Counter "matches_total" "pages" "pages found to be copies of another";
    FULL_BUCKETS = Counter "full_buckets_total" "bands" "bands shared by too many pages to compare them";
}

metrics! {
    /// Metrics of the ranker.
    pub mod ranker "recrawl_ranker_"
    LINKED_PAGES = Gauge "linked_pages" "pages" "pages with links or linked to";
    LINKED_PAGES_LIMIT = Gauge "linked_pages_limit" "pages"
        "most pages with an account: four for each page that crawl.max_pages allows the partitions";
    ACCOUNTS_GIVEN_UP = Counter "accounts_given_up_total" "pages"
        "accounts of pages given up for new ones at the limit; their cash went to the virtual page";
    TRUSTED_PAGES = Gauge "trusted_pages" "pages" "pages at which trust begins";
    LINK_LOOKS = Counter "link_looks_total" "looks" "looks at pages whose links were followed";
    LINKS = Counter "links_total" "links" "links followed";
    LINKS_PRUNED = Counter "links_pruned_total" "links"
        "links not followed because they promise nothing for the focuses of the crawl";
    PAGES_FOUND = Counter "pages_found_total" "pages" "pages first seen as the target of a link";
    WEIGHTS_SENT = Counter "weights_sent_total" "pages" "pages whose new weight was sent to the scheduler";
    JUDGED_PAGES = Gauge "judged_pages" "pages" "pages looked at and judged by the focuses of the crawl";
    PAGES_IN_FOCUS = Gauge "pages_in_focus" "pages" "pages looked at that are in a focus of the crawl";
    TARGETS_FOUND = Gauge "targets_found" "pages" "pages looked at that a focus names as examples";
}

metrics! {
    /// Metrics of a delivery of changes.
    pub mod delivery "recrawl_delivery_"
    FAILED_ATTEMPTS = Counter "failed_attempts_total" "attempts" "attempts to deliver a change that failed";
    LEFT_OUT = Counter "left_out_total" "changes" "changes given up and left out";
}

/// All metrics, by section of the document.
pub const METRICS: &[(&str, &[&Metric])] = &[
    ("Process", process::ALL),
    ("Backlog", backlog::ALL),
    ("Every stage", stage::ALL),
    ("Scheduler", scheduler::ALL),
    ("Fetcher", fetcher::ALL),
    ("Detector", detector::ALL),
    ("Estimator", estimator::ALL),
    ("Matcher", matcher::ALL),
    ("Ranker", ranker::ALL),
    ("Delivery", delivery::ALL),
];
