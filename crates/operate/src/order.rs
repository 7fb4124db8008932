//! Orders of an operator, as names and lines of text.

use daemon::CommandFailure;
use daemon::http::Role;
use focus::{IcuSegmenter, read_focus};
use messages::{CommandKind, CommandSubject};
use page::{CanonicalUrl, Host, HostName};
use settings::seeds::{self, SeedList};

/// The order that adds a focus, over HTTP.
const ADD_FOCUS: &str = "focus/add";
/// The order that withdraws one.
const REMOVE_FOCUS: &str = "focus/remove";
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
    /// Gives the detectors a focus, or a newer form of it.
    AddFocus {
        name: String,
        /// The text of its file.
        text: String,
    },
    /// Withdraws a focus.
    RemoveFocus(String),
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

    /// Reads an order as [`Self::word`] and [`Self::text`] write it. `None`: no order has this word.
    pub fn parse(word: &str, text: &str) -> Option<Result<Self, CommandFailure>> {
        match word {
            ADD_FOCUS => return Some(Self::add_focus(text.to_owned())),
            REMOVE_FOCUS => return Some(Ok(Self::RemoveFocus(text.trim().to_owned()))),
            _ => {}
        }
        Some(match CommandKind::parse(word)? {
            kind @ (CommandKind::Seed | CommandKind::ListedSeed) => Ok(Self::Seeds { kind, list: seeds::parse(text) }),
            kind => match text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>() {
                names if names.is_empty() => Err(CommandFailure::Input(format!("{word} needs a name on each line"))),
                names => Self::about(kind, names),
            },
        })
    }

    /// The word that names the order, on the command line and in the path of a request.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Seeds { kind, .. } | Self::Pages(kind, _) | Self::Hosts(kind, _) => kind.word(),
            Self::AddFocus { .. } => ADD_FOCUS,
            Self::RemoveFocus(_) => REMOVE_FOCUS,
        }
    }

    /// The role that may give it. What removes pages or concerns the whole crawl takes the highest.
    pub fn role(&self) -> Role {
        match self {
            Self::Pages(CommandKind::Forget, _) | Self::Hosts(CommandKind::ForgetSite, _) => Role::Admin,
            Self::AddFocus { .. } | Self::RemoveFocus(_) => Role::Admin,
            Self::Seeds { .. } | Self::Pages(..) | Self::Hosts(..) => Role::Operator,
        }
    }

    /// Whether it concerns pages of any host.
    pub fn is_of_whole_crawl(&self) -> bool {
        matches!(self, Self::AddFocus { .. } | Self::RemoveFocus(_))
    }

    /// The first host that it is about and that is not within reach.
    pub fn first_host_beyond(&self, is_within: impl Fn(&HostName) -> bool) -> Option<HostName> {
        let is_beyond = |host: &HostName| !is_within(host);
        match self {
            Self::Seeds { list, .. } => list.seeds.iter().map(|seed| HostName::of(&seed.url)).find(is_beyond),
            Self::Pages(_, urls) => urls.iter().map(HostName::of).find(is_beyond),
            Self::Hosts(_, hosts) => hosts.iter().map(Host::name).find(is_beyond),
            Self::AddFocus { .. } | Self::RemoveFocus(_) => None,
        }
    }

    /// The pages, hosts or focus of the order, in short: the first names, and how many there are.
    pub fn subjects(&self) -> String {
        let (first, count): (Vec<String>, usize) = match self {
            Self::Seeds { list, .. } => {
                (list.seeds.iter().take(NAMED).map(|seed| seed.url.to_string()).collect(), list.seeds.len())
            }
            Self::Pages(_, urls) => (urls.iter().take(NAMED).map(ToString::to_string).collect(), urls.len()),
            Self::Hosts(_, hosts) => (hosts.iter().take(NAMED).map(ToString::to_string).collect(), hosts.len()),
            Self::AddFocus { name, .. } | Self::RemoveFocus(name) => (vec![name.clone()], 1),
        };
        let more = if count > first.len() { format!(" and {} more", count - first.len()) } else { String::new() };
        first.join(" ") + &more
    }

    /// Number of pages, hosts or focuses that it is about.
    pub fn count(&self) -> usize {
        match self {
            Self::Seeds { list, .. } => list.seeds.len(),
            Self::Pages(_, urls) => urls.len(),
            Self::Hosts(_, hosts) => hosts.len(),
            Self::AddFocus { .. } | Self::RemoveFocus(_) => 1,
        }
    }

    /// Its content: a name per line, or the file of a focus.
    pub fn text(&self) -> String {
        let lines = |lines: Vec<String>| lines.join("\n");
        match self {
            Self::Seeds { list, .. } => {
                lines(list.seeds.iter().map(|seed| format!("{} {}", seed.url, seed.weight)).collect())
            }
            Self::Pages(_, urls) => lines(urls.iter().map(ToString::to_string).collect()),
            Self::Hosts(_, hosts) => lines(hosts.iter().map(ToString::to_string).collect()),
            Self::AddFocus { text, .. } => text.clone(),
            Self::RemoveFocus(name) => name.clone(),
        }
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
            Order::Seeds { kind: CommandKind::ListedSeed, list: seeds::parse("http://a.test/ 2\nhttp://b.test/") },
            sport,
            Order::RemoveFocus("lamps".to_owned()),
        ];
        for order in orders {
            let again = Order::parse(order.word(), &order.text()).expect("it is a word").expect("it is an order");
            assert_eq!((again.word(), again.text()), (order.word(), order.text()));
        }
        assert!(Order::parse("reboot", "").is_none() && Order::parse("unknown", "").is_none());
        for (word, text) in [("pause", "http://a.test/x"), ("forget", " \n"), ("refetch", "no address")] {
            assert!(matches!(Order::parse(word, text), Some(Err(CommandFailure::Input(_)))), "{word} {text}");
        }
    }
}
