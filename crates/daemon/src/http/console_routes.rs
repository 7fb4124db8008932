//! The routes of the console: screens for people with a browser, and their forms.

use super::keys::Role;
use super::route::{Access, Form, QueryParameter, Route, Screen, Success, Task};
use super::route_kinds::*;
use super::schemas;
use messages::CommandKind;

pub(super) static CONSOLE_ROUTES: &[Route] = &[
    screen("/", "showNow", "The console for people with a browser: whether all is well", Screen::Now),
    Route {
        query: &[
            FORMAT,
            filter("verdict", "A verdict."),
            filter("host", "Changes of pages of this host and of those below it."),
            filter("rule", "Changes of pages that this watch rule is for."),
            filter("triggered", "Anything: only changes that fired a trigger."),
        ],
        ..screen("/changes", "showChanges", "The newest changes, each before and after", Screen::Changes)
    },
    Route {
        query: &[
            FORMAT,
            filter("contains", "A part of the address, in any case."),
            filter("host", "Pages of this host and of those below it."),
            filter("outcome", "How the last request went, as `recrawl pages --outcome` has it."),
            filter("verdict", "The verdict of the last look."),
        ],
        ..screen("/pages", "showPages", "Pages, by what is known of them", Screen::Pages)
    },
    Route {
        query: &[PAGE_URL, FORMAT],
        ..screen("/page", "showPage", "One page: why it is or is not fetched, its state and its versions", Screen::Page)
    },
    Route {
        query: &[
            PAGE_URL,
            FORMAT,
            QueryParameter {
                name: "from",
                meaning: "Number of the older version.",
                is_required: true,
                schema: schemas::version,
            },
            QueryParameter {
                name: "to",
                meaning: "Number of the newer version.",
                is_required: true,
                schema: schemas::version,
            },
        ],
        ..screen("/difference", "showDifference", "Two versions of a page, side by side", Screen::Difference)
    },
    Route {
        query: &[FORMAT, filter("by", "Their order: pages, fetches, value, freshness or name.")],
        ..screen(
            "/hosts",
            "showHosts",
            "Hosts: what each takes of the budget, and what its pages are worth",
            Screen::Hosts,
        )
    },
    screen("/seeds", "showSeeds", "Seeds to add, each checked before", Screen::Seeds),
    Route {
        query: &[FORMAT, filter("url", "A page to try a rule on.")],
        ..screen("/watches", "showWatches", "The rules that watch something, with what they saw last", Screen::Watches)
    },
    screen("/trouble", "showTrouble", "What has failed, with what would change it", Screen::Trouble),
    Route {
        query: &[PAGE_URL, FORMAT],
        ..screen("/links", "showLinks", "The links of a page, by its kept copy", Screen::Links)
    },
    screen(
        "/budget",
        "showBudget",
        "How fresh the copies would be with less or more budget; takes a key for all hosts",
        Screen::Budget,
    ),
    screen("/stages", "showStages", "Stages, with their backlogs", Screen::Stages),
    Route {
        access: Access::Role(Role::Admin),
        query: &[
            FORMAT,
            filter("caller", "The key or token that gave the order, or else who claims it."),
            filter("action", "The word of the order, as `recrawl audit` has it."),
            filter("refused", "Anything: only orders that were refused, as a whole or in part."),
            filter("before", "Id of an order: only those before it."),
        ],
        ..screen("/people", "showPeople", "Keys, and the record of orders. Takes a key for all hosts", Screen::People)
    },
    form("/seeds/check", "checkSeeds", "Says of each seed whether it is new", Role::Operator, Form::CheckSeeds),
    Route {
        refusals: NO_ROOM,
        ..order("/seeds/add", "submitSeeds", "Adds pages, also forgotten ones", CommandKind::Seed)
    },
    order("/pages/refetch", "submitRefetch", "Fetches pages now", CommandKind::Refetch),
    form("/pages/forget", "submitForget", "Removes pages for good", Role::Admin, Form::Command(CommandKind::Forget)),
    order("/hosts/pause", "submitPause", "Stops fetching from hosts", CommandKind::PauseHost),
    order("/hosts/resume", "submitResume", "Resumes fetching from hosts", CommandKind::ResumeHost),
    order(
        "/hosts/block",
        "submitBlock",
        "Stops fetching from hosts, and takes in no pages of them",
        CommandKind::BlockHost,
    ),
    order("/hosts/unblock", "submitUnblock", "Ends blocks of hosts", CommandKind::UnblockHost),
    form("/rules/try", "tryRule", "Tries a rule on versions of a page, and saves none", Role::Operator, Form::TryRule),
    form(
        "/rules/change",
        "changeRules",
        "Saves a rule, removes one, or brings back the rules of before; takes a key for all hosts",
        Role::Operator,
        Form::ChangeRules,
    ),
    view(
        "/console.css",
        "getStyle",
        "The style of the console",
        Task::Stylesheet,
        Success { status: 200, media_type: "text/css", meaning: "The style.", schema: schemas::text },
    ),
    view(
        "/console.js",
        "getScript",
        "The script of the console: times in the reader's zone, marks at new changes, figures that renew themselves",
        Task::Script,
        Success { status: 200, media_type: "text/javascript", meaning: "The script.", schema: schemas::text },
    ),
];

const fn filter(name: &'static str, meaning: &'static str) -> QueryParameter {
    QueryParameter { name, meaning, is_required: false, schema: schemas::text }
}

const fn order(path: &'static str, id: &'static str, summary: &'static str, kind: CommandKind) -> Route {
    form(path, id, summary, Role::Operator, Form::Command(kind))
}
