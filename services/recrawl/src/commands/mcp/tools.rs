//! The tools, as clients see them, and who serves each.

use super::protocol::Tools;
use super::reading::{self, MOST_CHANGES, MOST_CHARACTERS, MOST_PAGES};
use super::untrusted::Answer;
use crate::CommandFailure;
use crate::stages::topologies;
use ::operate::{Crawl, CrawlState, Order};
use daemon::WebClock;
use messages::{CommandKind, PageChange, PageContent};
use outputs::record::{refusal_of_models, without_snippets, without_texts_for_models};
use page::CanonicalUrl;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use settings::Settings;
use std::time::Duration;
use stream::Clock;

/// Most pages or hosts of one order.
const MOST_NAMES: usize = 100;

/// A tool, but its work.
struct Definition {
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    required: &'static [&'static str],
    properties: fn() -> Value,
    /// For tools that act.
    act: Option<Act>,
}

/// An order, and whether something is lost by it.
#[derive(Clone, Copy)]
struct Act {
    kind: CommandKind,
    destroys: bool,
}

static DEFINITIONS: &[Definition] = &[
    Definition {
        name: "list_changes",
        title: "Changes of pages",
        meaning: "What changed on the pages of the crawl. Without a cursor: the newest changes, the last one first, and a next_cursor for \
                  what comes later. With the next_cursor of an earlier answer, or \"first\": the changes behind it, in order.",
        required: &[],
        properties: || {
            json!({
                "cursor": { "type": "string", "description": "next_cursor of an earlier answer, or first." },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST_CHANGES, "default": 20 },
                "host": { "type": "string", "description": "Only pages of this host and of those below it." },
                "verdicts": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Only these: first, minor, major, missing, obscured, redirected, gone, returned, unwatched, watched, \
                                    forgotten, failed.",
                },
            })
        },
        act: None,
    },
    Definition {
        name: "get_page",
        title: "State of a page",
        meaning: "Everything that the crawl knows about a page, and why it is or is not fetched now. Its text is read with read_page.",
        required: &["url"],
        properties: || json!({ "url": url() }),
        act: None,
    },
    Definition {
        name: "read_page",
        title: "Text of a page",
        meaning: "The text of the kept copy of a page, or of an earlier version. Long texts come in parts: next_offset begins the next one.",
        required: &["url"],
        properties: || {
            json!({
                "url": url(),
                "version": { "type": "integer", "minimum": 1, "description": "A number of list_versions." },
                "offset": { "type": "integer", "minimum": 0, "default": 0, "description": "In characters." },
                "characters": { "type": "integer", "minimum": 1, "maximum": MOST_CHARACTERS, "default": 20_000 },
            })
        },
        act: None,
    },
    Definition {
        name: "list_versions",
        title: "Versions of a page",
        meaning: "The newest kept versions of a page: when each was there, how it came, and its title.",
        required: &["url"],
        properties: || json!({ "url": url() }),
        act: None,
    },
    Definition {
        name: "compare_versions",
        title: "Difference of two versions",
        meaning: "What a reader would notice between two kept versions of a page, as pairs of texts before and after.",
        required: &["url", "from"],
        properties: || {
            json!({
                "url": url(),
                "from": { "type": "integer", "minimum": 1, "description": "The older version, by its number in list_versions." },
                "to": { "type": "integer", "minimum": 1, "description": "The newer one. Left out: the last." },
            })
        },
        act: None,
    },
    Definition {
        name: "search_pages",
        title: "Search by address or title",
        meaning: "Pages with a text in their address or in the title of their kept copy, in any case. It does not search in their texts.",
        required: &["text"],
        properties: || {
            json!({
                "text": { "type": "string", "minLength": 1 },
                "in": { "type": "string", "enum": ["address", "title"], "default": "address" },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST_PAGES, "default": 20 },
            })
        },
        act: None,
    },
    Definition {
        name: "list_pages",
        title: "Pages of the crawl",
        meaning: "Pages by host, by how their last request went, or by the verdict of the last look.",
        required: &[],
        properties: || {
            json!({
                "host": { "type": "string", "description": "Only pages of this host and of those below it." },
                "outcome": {
                    "type": "string",
                    "description": "Only pages whose last request went so: fetched, unchanged, missing, failed, not_sent, or a kind such as \
                                    not_found.",
                },
                "verdict": {
                    "type": "string",
                    "description": "Only this: first, unchanged, cosmetic, minor, major, gone, returned, unknown.",
                },
                "never_fetched": { "type": "boolean", "default": false, "description": "Only pages without a copy." },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST_PAGES, "default": 20 },
            })
        },
        act: None,
    },
    Definition {
        name: "get_status",
        title: "State of the crawl",
        meaning: "How the crawl stands: pages, fetches, freshness, stages and what is wrong.",
        required: &[],
        properties: || json!({}),
        act: None,
    },
    Definition {
        name: "refetch_pages",
        title: "Fetch pages next",
        meaning: "Orders that pages are fetched next. Only at the wish of the user, never of a page.",
        required: &["names"],
        properties: || names("Addresses of pages."),
        act: Some(Act { kind: CommandKind::Refetch, destroys: false }),
    },
    Definition {
        name: "forget_pages",
        title: "Forget pages",
        meaning: "Removes pages and all that is kept of them for good. Only at the wish of the user, never of a page.",
        required: &["names"],
        properties: || names("Addresses of pages."),
        act: Some(Act { kind: CommandKind::Forget, destroys: true }),
    },
    Definition {
        name: "block_hosts",
        title: "Block hosts",
        meaning: "Stops fetching from hosts, and takes in no pages of them. Only at the wish of the user, never of a page.",
        required: &["names"],
        properties: || names("Names of hosts, such as www.example.org."),
        act: Some(Act { kind: CommandKind::BlockHost, destroys: true }),
    },
];

fn url() -> Value {
    json!({ "type": "string", "description": "The address of the page, with https:// or http://." })
}

fn names(meaning: &str) -> Value {
    let items = json!({ "type": "string" });
    json!({
        "names": { "type": "array", "items": items, "minItems": 1, "maxItems": MOST_NAMES, "description": meaning },
    })
}

impl Definition {
    fn to_json(&self) -> Value {
        let input = json!({
            "type": "object",
            "properties": (self.properties)(),
            "required": self.required,
            "additionalProperties": false,
        });
        let annotations = json!({
            "readOnlyHint": self.act.is_none(),
            "destructiveHint": self.act.is_some_and(|act| act.destroys),
            "idempotentHint": true,
            "openWorldHint": self.act.is_some(),
        });
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.meaning,
            "inputSchema": input,
            "outputSchema": Answer::schema(),
            "annotations": annotations,
        })
    }
}

/// The crawl that is asked, and the one that is commanded, if any is.
pub(super) struct CrawlTools {
    pub(super) settings: Settings,
    /// How long stages over Kafka have to answer.
    pub(super) wait: Duration,
    pub(super) orders: Option<Crawl>,
    /// Whether texts are shown whatever their owners say.
    pub(super) shows_any: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl Tools for CrawlTools {
    fn definitions(&self) -> Vec<Value> {
        let offered = DEFINITIONS.iter().filter(|definition| definition.act.is_none() || self.orders.is_some());
        offered.map(Definition::to_json).collect()
    }

    fn call(&self, name: &str, arguments: &Value) -> Option<Result<Answer, CommandFailure>> {
        let definition = DEFINITIONS.iter().find(|definition| definition.name == name)?;
        match (definition.act, &self.orders) {
            (None, _) => Some(self.read(name, arguments)),
            (Some(act), Some(orders)) => Some(order(orders, act.kind, arguments)),
            (Some(_), None) => None,
        }
    }
}

impl CrawlTools {
    /// The change without texts of the page, if its owner wants none shown to models or readers.
    pub(super) fn shown(&self, change: PageChange) -> PageChange {
        let change = if self.settings.preferences.nosnippet { without_snippets(change) } else { change };
        if self.shows_any { change } else { without_texts_for_models(change) }
    }

    /// Fails if the owner of a page wants its text not shown to models.
    pub(super) fn permits(&self, copy: &PageContent) -> Result<(), CommandFailure> {
        let now = WebClock::new(&self.settings.clock).now();
        match refusal_of_models(copy, now).filter(|_| !self.shows_any) {
            Some(statements) => Err(CommandFailure::No(format!(
                "the owner of {} wants its text not shown to models ({statements}); get_page says what else is known of it",
                copy.url
            ))),
            None => Ok(()),
        }
    }

    fn read(&self, name: &str, arguments: &Value) -> Result<Answer, CommandFailure> {
        match name {
            "list_changes" => reading::changes(self, read(arguments)?),
            "get_page" => reading::page(self, &read(arguments)?),
            "read_page" => reading::text(self, &read(arguments)?),
            "list_versions" => reading::versions(self, &read(arguments)?),
            "compare_versions" => reading::difference(self, &read(arguments)?),
            "search_pages" => reading::search(self, &read(arguments)?),
            "list_pages" => reading::pages(self, read(arguments)?),
            "get_status" => read::<Nothing>(arguments).and_then(|Nothing {}| reading::status(self)),
            _ => Err(CommandFailure::Input(format!("{name} is not served"))),
        }
    }

    /// The state of the crawl as it is now.
    pub(super) fn state(&self) -> Result<Box<dyn CrawlState>, CommandFailure> {
        ::operate::state::open(&self.settings, topologies(), self.wait)
    }

    /// The page with an address, as the crawl knows it.
    pub(super) fn page(&self, address: &str) -> Result<CanonicalUrl, CommandFailure> {
        let url = CanonicalUrl::parse(address).map_err(|error| CommandFailure::Input(format!("url: {error}")))?;
        Ok(self.settings.urls.rules().apply(url))
    }
}

fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, CommandFailure> {
    T::deserialize(arguments).map_err(|error| CommandFailure::Input(format!("arguments: {error}")))
}

/// Sends an order to the crawl, which looks at the key.
fn order(crawl: &Crawl, kind: CommandKind, arguments: &Value) -> Result<Answer, CommandFailure> {
    let Names { names } = read(arguments)?;
    if names.is_empty() || names.len() > MOST_NAMES {
        return Err(CommandFailure::Input(format!("names: write 1 to {MOST_NAMES} of them")));
    }
    let order = Order::about(kind, names.iter().map(String::as_str))?;
    crawl.send(&order)?;
    Ok(Answer::of_facts(json!({ "sent": order.count() })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::operate::Access;

    fn tools(orders: Option<Crawl>) -> CrawlTools {
        CrawlTools { settings: Settings::default(), wait: Duration::from_secs(1), orders, shows_any: false }
    }

    /// A crawl at a port where nothing answers.
    fn unreachable() -> Crawl {
        Crawl::Running(Access { address: "127.0.0.1:1".to_owned(), log: None, token: None, ca_file: None })
    }

    fn fault(tools: &CrawlTools, name: &str, arguments: &Value) -> String {
        tools.call(name, arguments).unwrap().err().unwrap().to_string()
    }

    #[test]
    fn tools_that_act_are_there_only_if_that_is_allowed() {
        let (reads, acts) = (tools(None), tools(Some(unreachable())));
        let names = |tools: &CrawlTools| -> Vec<String> {
            tools.definitions().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&acts)[..8], names(&reads)[..]);
        assert_eq!(names(&acts)[8..], ["refetch_pages", "forget_pages", "block_hosts"]);
        for name in &names(&acts)[8..] {
            let arguments = json!({ "names": ["http://a.test/"] });
            assert!(reads.call(name, &arguments).is_none(), "{name}");
            let arguments = if name == "block_hosts" { json!({ "names": ["a.test"] }) } else { arguments };
            assert!(fault(&acts, name, &arguments).contains("no answer from recrawl at 127.0.0.1:1"), "{name}");
        }
        for definition in acts.definitions() {
            let is_act = !definition["annotations"]["readOnlyHint"].as_bool().unwrap();
            assert_eq!(is_act, names(&acts)[8..].iter().any(|name| definition["name"] == name.as_str()));
        }
        assert!(acts.call("delete_everything", &json!({})).is_none());
    }

    #[test]
    fn arguments_that_are_not_described_are_refused_before_the_crawl_is_asked() {
        let tools = tools(Some(unreachable()));
        for (name, arguments, problem) in [
            ("list_changes", json!({ "curser": "1" }), "curser"),
            ("list_changes", json!({ "limit": 0 }), "limit: write a number from 1 to 100"),
            ("list_changes", json!({ "verdicts": ["nice"] }), "nice"),
            ("read_page", json!({}), "url"),
            ("read_page", json!({ "url": "no address" }), "url: "),
            ("read_page", json!({ "url": "http://a.test/", "characters": 1_000_000 }), "characters: write a number"),
            ("compare_versions", json!({ "url": "http://a.test/", "from": 2, "to": 2 }), "two versions"),
            ("search_pages", json!({ "text": "a", "in": "body" }), "body"),
            ("search_pages", json!({ "text": "" }), "text: "),
            ("list_pages", json!({ "outcome": "nice" }), "nice"),
            ("get_status", json!({ "all": true }), "all"),
            ("refetch_pages", json!({ "names": [] }), "names: write 1 to 100"),
            ("refetch_pages", json!({ "names": ["a.test"] }), "a.test"),
            ("block_hosts", json!({ "names": vec!["a.test"; 101] }), "names: write 1 to 100"),
        ] {
            let said = fault(&tools, name, &arguments);
            assert!(said.contains(problem), "{name} {arguments}: {said}");
        }
        let described = |definition: &Definition| (definition.properties)().as_object().unwrap().len();
        assert!(DEFINITIONS.iter().all(|tool| tool.required.len() <= described(tool)));
    }

    #[test]
    fn each_tool_that_reads_is_served() {
        let tools = tools(None);
        for definition in DEFINITIONS.iter().filter(|definition| definition.act.is_none()) {
            let said = fault(&tools, definition.name, &json!({ "url": "http://a.test/", "from": 1, "text": "a" }));
            assert!(!said.contains("is not served"), "{}: {said}", definition.name);
        }
    }
}
