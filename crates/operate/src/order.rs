//! Orders of an operator, as names and lines of text.

use crate::NewRules;
use daemon::CommandFailure;
use daemon::http::OrderKind;
use focus::{IcuSegmenter, read_focus};
use messages::{CommandKind, CommandSubject};
use page::{CanonicalUrl, Host, HostName};
use settings::seeds::{self, Seed, SeedList};
use std::fmt;

/// Names of pages or hosts that are noted of one order.
const NAMED: usize = 5;

#[derive(Clone, Debug)]
pub enum Order {
    /// Adds pages, named one by one or of a list.
    Seeds {
        /// [`CommandKind::Seed`] or [`CommandKind::ListedSeed`].
        kind: CommandKind,
        /// The pages, and the lines that could not be read.
        list: SeedList,
    },
    /// A command about pages.
    Pages(CommandKind, Vec<CanonicalUrl>),
    /// A command about hosts, all their ports included, whichever is named.
    Hosts(CommandKind, Vec<Host>),
    /// A command about what was found on pages or sites. It goes to every partition.
    Sources(CommandKind, Vec<NamedSource>),
    /// Gives the detectors a focus, or a newer form of it.
    AddFocus {
        name: String,
        /// The text of its file.
        text: String,
    },
    /// Withdraws a focus.
    RemoveFocus(String),
    /// Saves watch rules in place of those saved before.
    SaveRules(NewRules),
}

/// A page or site on which others were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedSource {
    Page(CanonicalUrl),
    Site(Host),
}

impl NamedSource {
    /// The source of this name: an address, or the domain of a site.
    fn read(name: &str) -> Result<Self, CommandFailure> {
        if name.contains("://") {
            return page_of(name).map(Self::Page);
        }
        let host = host_of(name)?;
        let (site, own) = (host.site_key(), host.name());
        // The site of an IPv6 address has its brackets.
        match site.as_str().trim_matches(['[', ']']) == own.as_str() {
            true => Ok(Self::Site(host)),
            false => Err(CommandFailure::Input(format!(
                "{name} is a host of the site {site}, and pages are known by the site they were found on; write {site}, or the \
                 address of one page"
            ))),
        }
    }
}

impl fmt::Display for NamedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(url) => url.fmt(f),
            Self::Site(host) => host.fmt(f),
        }
    }
}

impl Order {
    /// A command about the pages or hosts of these names. All are read before anything is sent.
    ///
    /// # Errors
    /// A name is not the URL of a page, or not the name of a host.
    pub fn about<'a>(kind: CommandKind, names: impl IntoIterator<Item = &'a str>) -> Result<Self, CommandFailure> {
        let names = names.into_iter();
        match kind.subject() {
            CommandSubject::Pages => names.map(page_of).collect::<Result<_, _>>().map(|urls| Self::Pages(kind, urls)),
            CommandSubject::Hosts => names.map(host_of).collect::<Result<_, _>>().map(|hosts| Self::Hosts(kind, hosts)),
            CommandSubject::Sources => {
                let sources = names.map(NamedSource::read).collect::<Result<_, _>>();
                sources.map(|sources| Self::Sources(kind, sources))
            }
        }
    }

    /// The order that gives a crawl the focus of a file.
    ///
    /// # Errors
    /// The file does not describe a focus.
    pub fn add_focus(text: String) -> Result<Self, CommandFailure> {
        let focus = read_focus(&text, &IcuSegmenter::default());
        let focus = focus.map_err(|error| CommandFailure::Input(error.to_string()))?;
        Ok(Self::AddFocus { name: focus.name, text })
    }

    /// Reads an order as [`Self::kind`] and [`Self::text`] write it.
    ///
    /// # Errors
    /// The text is empty or has a line that is not a page or host, or the focus file cannot be read or has no name.
    pub fn read(kind: OrderKind, text: &str) -> Result<Self, CommandFailure> {
        match kind {
            OrderKind::AddFocus => Self::add_focus(text.to_owned()),
            OrderKind::RemoveFocus => Ok(Self::RemoveFocus(text.trim().to_owned())),
            OrderKind::SaveRules => NewRules::read(text).map(Self::SaveRules),
            OrderKind::Command(kind @ (CommandKind::Seed | CommandKind::ListedSeed)) => {
                Ok(Self::Seeds { kind, list: seeds::parse(text) })
            }
            OrderKind::Command(kind) => {
                match text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>() {
                    names if names.is_empty() => {
                        Err(CommandFailure::Input(format!("{} needs a name on each line", kind.word())))
                    }
                    names => Self::about(kind, names),
                }
            }
        }
    }

    /// The kind of the order, which has a route of its own.
    pub fn kind(&self) -> OrderKind {
        match self {
            Self::Seeds { kind, .. } | Self::Pages(kind, _) | Self::Hosts(kind, _) | Self::Sources(kind, _) => {
                OrderKind::Command(*kind)
            }
            Self::AddFocus { .. } => OrderKind::AddFocus,
            Self::RemoveFocus(_) => OrderKind::RemoveFocus,
            Self::SaveRules(_) => OrderKind::SaveRules,
        }
    }

    /// The word that names the order in messages.
    pub fn word(&self) -> &'static str {
        word_of(self.kind())
    }

    /// Whether it concerns pages of any host.
    pub fn is_of_whole_crawl(&self) -> bool {
        matches!(self, Self::Sources(..) | Self::AddFocus { .. } | Self::RemoveFocus(_) | Self::SaveRules(_))
    }

    /// The first host that it is about and that is not within reach.
    pub fn first_host_beyond(&self, is_within: impl Fn(&HostName) -> bool) -> Option<HostName> {
        let is_beyond = |host: &HostName| !is_within(host);
        match self {
            Self::Seeds { list, .. } => list.seeds.iter().map(|seed| HostName::of(&seed.url)).find(is_beyond),
            Self::Pages(_, urls) => urls.iter().map(HostName::of).find(is_beyond),
            Self::Hosts(_, hosts) => hosts.iter().map(Host::name).find(is_beyond),
            Self::Sources(..) | Self::AddFocus { .. } | Self::RemoveFocus(_) | Self::SaveRules(_) => None,
        }
    }

    /// The first pages, hosts or rules of the order, or its focus.
    pub fn names(&self, at_most: usize) -> Vec<String> {
        match self {
            Self::Seeds { list, .. } => list.seeds.iter().take(at_most).map(|seed| seed.url.to_string()).collect(),
            Self::Pages(_, urls) => urls.iter().take(at_most).map(ToString::to_string).collect(),
            Self::Hosts(_, hosts) => hosts.iter().take(at_most).map(ToString::to_string).collect(),
            Self::Sources(_, sources) => sources.iter().take(at_most).map(ToString::to_string).collect(),
            Self::AddFocus { name, .. } | Self::RemoveFocus(name) => vec![name.clone()],
            Self::SaveRules(new) => new.names().take(at_most).collect(),
        }
    }

    /// The pages, hosts, rules or focus of the order, in short: the first names, and how many there are.
    pub fn subjects(&self) -> String {
        let (first, count) = (self.names(NAMED), self.count());
        let more = if count > first.len() { format!(" and {} more", count - first.len()) } else { String::new() };
        first.join(" ") + &more
    }

    /// Number of pages, hosts, rules or focuses that it is about.
    pub fn count(&self) -> usize {
        match self {
            Self::Seeds { list, .. } => list.seeds.len(),
            Self::Pages(_, urls) => urls.len(),
            Self::Hosts(_, hosts) => hosts.len(),
            Self::Sources(_, sources) => sources.len(),
            Self::AddFocus { .. } | Self::RemoveFocus(_) => 1,
            Self::SaveRules(new) => new.rules.len(),
        }
    }

    /// Its content: a name per line, the file of a focus, or rules.
    pub fn text(&self) -> String {
        let lines = |lines: Vec<String>| lines.join("\n");
        match self {
            Self::Seeds { list, .. } => {
                let date = |seed: &Seed| seed.changed_at.map_or(String::new(), |at| format!(" {at}"));
                let line = |seed: &Seed| format!("{} {}{}", seed.url, seed.weight, date(seed));
                lines(list.seeds.iter().map(line).collect())
            }
            Self::Pages(_, urls) => lines(urls.iter().map(ToString::to_string).collect()),
            Self::Hosts(_, hosts) => lines(hosts.iter().map(ToString::to_string).collect()),
            Self::Sources(_, sources) => lines(sources.iter().map(ToString::to_string).collect()),
            Self::AddFocus { text, .. } => text.clone(),
            Self::RemoveFocus(name) => name.clone(),
            Self::SaveRules(new) => new.text(),
        }
    }
}

/// The word that names orders of this kind in messages.
pub(crate) fn word_of(kind: OrderKind) -> &'static str {
    match kind {
        OrderKind::Command(kind) => kind.word(),
        OrderKind::AddFocus => "focus add",
        OrderKind::RemoveFocus => "focus remove",
        OrderKind::SaveRules => "rules save",
    }
}

fn page_of(text: &str) -> Result<CanonicalUrl, CommandFailure> {
    CanonicalUrl::parse(text).map_err(|error| CommandFailure::Input(format!("{text}: {error}")))
}

/// The host of this name, with or without a port.
fn host_of(name: &str) -> Result<Host, CommandFailure> {
    if name.contains('/') {
        return Err(CommandFailure::Input(format!("{name} is not a host; write its name, such as www.example.org")));
    }
    let url = CanonicalUrl::parse(&format!("http://{name}/"));
    url.map(|url| url.host()).map_err(|error| CommandFailure::Input(format!("{name} is not a host: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_back_as_it_is_sent() {
        let sport = focus::class("sport", &IcuSegmenter::default()).expect("it is built in");
        let sport = Order::add_focus(focus::write_focus(&sport)).expect("it is a focus");
        let about = |kind, names: &[&str]| Order::about(kind, names.iter().copied()).expect("they are names");
        let orders = [
            about(CommandKind::Forget, &["http://a.test/", "http://b.test/x"]),
            about(CommandKind::PauseHost, &["a.test", "b.test:8080"]),
            about(CommandKind::ForgetSite, &["a.test"]),
            about(CommandKind::ForgetDiscovered, &["a.test", "http://www.a.test/x", "127.0.0.1", "[::1]"]),
            Order::Seeds {
                kind: CommandKind::ListedSeed,
                list: seeds::parse("http://a.test/ 2 2026-11-21\nhttp://b.test/"),
            },
            sport,
            Order::RemoveFocus("lamps".to_owned()),
            Order::SaveRules(NewRules { rules: Vec::new(), after: Some(3) }),
        ];
        for order in orders {
            let again = Order::read(order.kind(), &order.text()).expect("it is an order");
            assert_eq!((again.kind(), again.text()), (order.kind(), order.text()));
        }
        for (kind, text) in [
            (CommandKind::PauseHost, "http://a.test/x"),
            (CommandKind::Forget, " \n"),
            (CommandKind::ForgetDiscovered, "www.a.test"),
            (CommandKind::Refetch, "no address"),
        ] {
            let read = Order::read(OrderKind::Command(kind), text);
            assert!(matches!(read, Err(CommandFailure::Input(_))), "{kind:?} {text}");
        }
    }
}
