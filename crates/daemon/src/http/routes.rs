//! The table of the port's routes. Requests are routed by it, and the document and `docs/API.md` are written from it.

use super::answer::JSON;
use super::console_routes::CONSOLE_ROUTES;
use super::keys::Role;
use super::route::{Access, Body, Method, OrderKind, QueryParameter, Route, Success, Target, Task};
use super::route_kinds::*;
use super::schemas;
use messages::CommandKind;

/// All routes.
pub fn routes() -> impl Iterator<Item = &'static Route> + Clone {
    ROUTES.iter().chain(CONSOLE_ROUTES)
}

static ROUTES: &[Route] = &[
    Route {
        refusals: &[(503, "The process is stopping, or a stage hangs.")],
        ..open("/healthz", "getHealth", "Whether the process is alive", Target::Healthz, said("It is."))
    },
    Route {
        refusals: &[(
            503,
            "A stage has not joined its group or restored its state yet, the disk is nearly full, or the machine's clock differs by a minute or more from Kafka's.",
        )],
        ..open("/readyz", "getReadiness", "Whether all stages are ready", Target::Readyz, said("They are."))
    },
    open(
        "/metrics",
        "getMetrics",
        "The figures of the process, for Prometheus. The version is shown to callers with a key only, if there are keys",
        Target::Metrics,
        Success {
            status: 200,
            media_type: "application/openmetrics-text",
            meaning: "[METRICS.md](METRICS.md) lists them.",
            schema: schemas::text,
        },
    ),
    open("/status", "getStatus", "The state of the crawl, as `recrawl status` shows it", Target::Status, STATUS),
    open("/openapi.json", "getDocument", "This document", Target::Document, DOCUMENT),
    Route {
        body: Some(Body {
            media_type: JSON,
            meaning: "Pages that have changed: an object for each, in an array or one after the other.",
            schema: schemas::hints,
        }),
        refusals: &[
            (401, "No valid token (hints.token)."),
            (413, "The body is too large, or more pages than a minute allows."),
            TOO_MANY,
        ],
        ..ping(
            Method::Post,
            "/hints",
            "createHints",
            "Says that pages have changed ([hints.md](hints.md))",
            Success { status: 200, media_type: JSON, meaning: "Written to the log.", schema: schemas::taken_hints },
        )
    },
    Route {
        query: &[
            QueryParameter { name: "url", meaning: "The page.", is_required: true, schema: schemas::text },
            QueryParameter { name: "key", meaning: "The key of its host.", is_required: true, schema: schemas::text },
        ],
        refusals: INDEX_NOW_REFUSALS,
        ..ping(Method::Get, "/indexnow", "getIndexNow", "A page has changed, by the protocol IndexNow", said("Taken."))
    },
    Route {
        body: Some(Body { media_type: JSON, meaning: "Pages of a host, and its key.", schema: schemas::index_now }),
        refusals: INDEX_NOW_REFUSALS,
        ..ping(
            Method::Post,
            "/indexnow",
            "postIndexNow",
            "Pages have changed, by the protocol IndexNow",
            said("Taken."),
        )
    },
    Route {
        query: &[
            QueryParameter { name: "hub.mode", meaning: "Of WebSub.", is_required: true, schema: schemas::text },
            QueryParameter { name: "hub.topic", meaning: "Of WebSub.", is_required: true, schema: schemas::text },
            QueryParameter { name: "hub.challenge", meaning: "Of WebSub.", is_required: false, schema: schemas::text },
        ],
        refusals: &[(404, "No such subscription, or it is still wanted.")],
        ..ping(
            Method::Get,
            "/websub/{name}",
            "verifySubscription",
            "A hub of WebSub asks about a subscription",
            said("The challenge."),
        )
    },
    Route {
        body: Some(Body { media_type: PLAIN, meaning: "The new content, of any type.", schema: schemas::text }),
        refusals: &[(410, "No such subscription."), TOO_MANY],
        ..ping(
            Method::Post,
            "/websub/{name}",
            "receiveContent",
            "A hub of WebSub sends content",
            Success {
                status: 202,
                media_type: PLAIN,
                meaning: "Taken, or ignored for a wrong signature.",
                schema: schemas::text,
            },
        )
    },
    Route {
        query: &[
            QueryParameter {
                name: "cursor",
                meaning: "Only changes behind this position. Left out: from the first that is kept.",
                is_required: false,
                schema: schemas::cursor,
            },
            QueryParameter {
                name: "limit",
                meaning: "Most changes in the answer.",
                is_required: false,
                schema: schemas::limit,
            },
        ],
        ..view(
            "/api/v1/changes",
            "listChanges",
            "Changes in order, as `recrawl changes` prints them",
            Task::Changes,
            Success { status: 200, media_type: JSON, meaning: "A page of the list.", schema: schemas::changes },
        )
    },
    view("/changes.atom", "getAtomFeed", "The newest changes as a feed", Task::AtomFeed, feed("application/atom+xml")),
    view("/changes.rss", "getRssFeed", "The newest changes as a feed", Task::RssFeed, feed("application/rss+xml")),
    Route {
        success: SEEDED,
        refusals: NO_ROOM,
        ..command("/api/v1/pages", "addPages", "Adds pages, also forgotten ones", CommandKind::Seed, SEEDS)
    },
    Route {
        success: SEEDED,
        refusals: NO_ROOM,
        ..command(
            "/api/v1/seeds",
            "addSeeds",
            "Adds pages of a list, without forgotten ones",
            CommandKind::ListedSeed,
            SEEDS,
        )
    },
    command("/api/v1/pages/refetch", "refetchPages", "Fetches pages now", CommandKind::Refetch, PAGES),
    Route {
        access: Access::Role(Role::Admin),
        ..command("/api/v1/pages/forget", "forgetPages", "Removes pages for good", CommandKind::Forget, PAGES)
    },
    command("/api/v1/hosts/pause", "pauseHosts", "Stops fetching from hosts", CommandKind::PauseHost, HOSTS),
    command("/api/v1/hosts/resume", "resumeHosts", "Resumes fetching from hosts", CommandKind::ResumeHost, HOSTS),
    command(
        "/api/v1/hosts/block",
        "blockHosts",
        "Stops fetching from hosts, and takes in no pages of them",
        CommandKind::BlockHost,
        HOSTS,
    ),
    command("/api/v1/hosts/unblock", "unblockHosts", "Ends blocks of hosts", CommandKind::UnblockHost, HOSTS),
    Route {
        access: Access::Role(Role::Admin),
        ..command(
            "/api/v1/sites/forget",
            "forgetSites",
            "Removes all pages of hosts and of the hosts below them",
            CommandKind::ForgetSite,
            HOSTS,
        )
    },
    Route {
        access: Access::Role(Role::Admin),
        ..command(
            "/api/v1/pages/forget-discovered",
            "forgetDiscoveredPages",
            "Removes pages that were found first on these pages or sites, but no seeds; takes a key for all hosts",
            CommandKind::ForgetDiscovered,
            SOURCES,
        )
    },
    administer(
        Method::Post,
        "/api/v1/focuses",
        "addFocus",
        "Gives the crawl a focus, or a newer form of it ([focus.md](focus.md))",
        Task::Order(OrderKind::AddFocus),
        Some(Body { media_type: PLAIN, meaning: "The file of the focus.", schema: schemas::lines }),
        SENT,
    ),
    administer(
        Method::Delete,
        "/api/v1/focuses/{name}",
        "removeFocus",
        "Withdraws a focus",
        Task::Order(OrderKind::RemoveFocus),
        None,
        SENT,
    ),
    Route {
        access: Access::Role(Role::Operator),
        ..administer(
            Method::Post,
            "/api/v1/rules",
            "saveRules",
            "Saves watch rules above those of the configuration, in place of all that were saved before; takes a key for all hosts",
            Task::Order(OrderKind::SaveRules),
            Some(Body { media_type: PLAIN, meaning: "Tables [[rules]] of TOML.", schema: schemas::text }),
            SENT,
        )
    },
    Route {
        refusals: &[(409, "The directory is there already, or the request names the log of another crawl.")],
        ..administer(
            Method::Post,
            "/api/v1/backups",
            "createBackup",
            "Makes a backup of the crawl in a directory of its machine; takes a key for all hosts",
            Task::BackUp,
            Some(Body { media_type: PLAIN, meaning: "The whole path of the directory.", schema: schemas::directory }),
            Success { status: 200, media_type: JSON, meaning: "It is made.", schema: schemas::made_backup },
        )
    },
];

/// The route of a task. Each has one, which a test checks.
pub fn of_task(task: Task) -> Option<&'static Route> {
    routes().find(|route| route.target == Target::Task(task))
}

/// The routes of a path, with the parameter in it.
pub(super) fn at(path: &str) -> Vec<(&'static Route, Option<String>)> {
    routes().filter_map(|route| Some((route, route.fit(path)?))).collect()
}

/// The methods of these routes, as the header `Allow` lists them.
pub(super) fn methods(routes: &[(&'static Route, Option<String>)]) -> String {
    let mut methods = Vec::new();
    for (route, _) in routes {
        methods.push(route.method.name());
        if route.has_head() {
            methods.push("HEAD");
        }
    }
    methods.push("OPTIONS");
    methods.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::route::Form;
    use std::collections::BTreeSet;

    #[test]
    fn each_command_has_one_route_and_each_route_a_path_method_and_id_of_its_own() {
        for kind in CommandKind::ALL {
            let targets = routes().filter(|route| route.target == Target::Task(Task::Order(OrderKind::Command(kind))));
            assert_eq!(targets.count(), 1, "{kind:?}");
        }
        let places: BTreeSet<_> = routes().map(|route| (route.path, route.method.name())).collect();
        let ids: BTreeSet<_> = routes().map(|route| route.id).collect();
        assert_eq!((places.len(), ids.len()), (routes().count(), routes().count()));
    }

    #[test]
    fn what_removes_pages_or_concerns_the_whole_crawl_takes_an_admin() {
        let of = |task| of_task(task).unwrap().access;
        for task in [
            Task::Order(OrderKind::Command(CommandKind::Forget)),
            Task::Form(Form::Command(CommandKind::Forget)),
            Task::Order(OrderKind::Command(CommandKind::ForgetSite)),
            Task::Order(OrderKind::Command(CommandKind::ForgetDiscovered)),
            Task::Order(OrderKind::AddFocus),
            Task::Order(OrderKind::RemoveFocus),
            Task::BackUp,
        ] {
            assert_eq!(of(task), Access::Role(Role::Admin), "{task:?}");
        }
        assert_eq!(of(Task::Changes), Access::Role(Role::Viewer));
        let seeds = routes().filter(|route| route.access == Access::Role(Role::Operator) && !route.is_form());
        assert!(seeds.clone().all(|route| route.is_command()) && seeds.count() == 8);
    }

    #[test]
    fn a_parameter_is_one_segment_and_is_read_as_it_is_written() {
        let route = of_task(Task::Order(OrderKind::RemoveFocus)).unwrap();
        for name in ["lamps", "a b/c", "%2F", "ä?#"] {
            assert_eq!(route.fit(&route.path_with(Some(name))), Some(Some(name.to_owned())), "{name}");
        }
        for path in ["/api/v1/focuses/", "/api/v1/focuses/a/b", "/api/v1/focuses"] {
            assert_eq!(route.fit(path), None, "{path}");
        }
        assert!(at("/api/v1/../../etc/passwd").is_empty() && at("//status").is_empty());
    }
}
