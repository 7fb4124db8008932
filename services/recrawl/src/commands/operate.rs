//! `recrawl refetch`, `forget`, `pause`, `resume`, `block`, `unblock`: commands about pages and hosts of a crawl, embedded
//! or over Kafka, running or stopped.

use crate::commands::{Crawl, SettingsArguments};
use crate::embedded::host_named;
use crate::{CommandFailure, http_client};
use clap::Args;
use messages::CommandKind;
use outputs::stdout::{Format, answer};
use page::{CanonicalUrl, Host};
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Arguments of a command about pages or hosts.
#[derive(Args, Debug)]
pub struct OperateArguments {
    /// URLs of pages, or names of hosts, as the command says.
    names: Vec<String>,
    /// File with one of them per line; # begins a comment. "-" is stdin.
    #[arg(long)]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long, conflicts_with = "url")]
    data: Option<PathBuf>,
    /// Address of a running recrawl.
    #[arg(long)]
    url: Option<String>,
}

#[derive(Serialize)]
struct SentCommands {
    sent: usize,
}

/// Sends a command about each of the pages or hosts.
pub fn operate(kind: CommandKind, arguments: &OperateArguments, format: Format) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let mut names = arguments.names.clone();
    if let Some(file) = &arguments.file {
        let text = read(file)?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        names.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let subject = Subject::of(kind);
    if names.is_empty() {
        return Err(CommandFailure::Input(format!("none given: give {}, or --file FILE", subject.words())));
    }
    // All are read before anything is sent.
    let named = match subject {
        Subject::Pages => Named::Pages(names.iter().map(|name| page_of(name)).collect::<Result<_, _>>()?),
        Subject::Hosts => Named::Hosts(names.iter().map(|name| host_of(name)).collect::<Result<_, _>>()?),
    };
    match Crawl::find(&settings, arguments.url.as_deref(), "recrawl-operate")? {
        Crawl::Running(address) => {
            let path = format!("/{}", word(kind));
            for name in &names {
                http_client::ask(&address, "POST", &path, name.as_bytes())?;
            }
        }
        Crawl::Log(sender) => match &named {
            Named::Pages(pages) => sender.about_pages(kind, pages)?,
            Named::Hosts(hosts) => sender.about_hosts(kind, hosts)?,
        },
    }
    let sent = SentCommands { sent: names.len() };
    answer(format, &sent, |sent| format!("{} sent: {} {}", word(kind), sent.sent, subject.counted(sent.sent)))
}

/// The command's name, on the command line and over HTTP.
pub(super) fn word(kind: CommandKind) -> &'static str {
    match kind {
        CommandKind::Seed => "seed",
        CommandKind::ListedSeed => "seeds",
        CommandKind::Forget => "forget",
        CommandKind::Refetch => "refetch",
        CommandKind::PauseHost => "pause",
        CommandKind::ResumeHost => "resume",
        CommandKind::BlockHost => "block",
        CommandKind::UnblockHost => "unblock",
        CommandKind::Unknown => "unknown",
    }
}

/// Whether a command names pages or hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Pages,
    Hosts,
}

impl Subject {
    fn of(kind: CommandKind) -> Self {
        match kind {
            CommandKind::Seed
            | CommandKind::ListedSeed
            | CommandKind::Forget
            | CommandKind::Refetch
            | CommandKind::Unknown => Self::Pages,
            CommandKind::PauseHost | CommandKind::ResumeHost | CommandKind::BlockHost | CommandKind::UnblockHost => {
                Self::Hosts
            }
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Pages => "URLs of pages",
            Self::Hosts => "names of hosts, such as www.example.org",
        }
    }

    fn counted(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::Pages, 1) => "page",
            (Self::Pages, _) => "pages",
            (Self::Hosts, 1) => "host",
            (Self::Hosts, _) => "hosts",
        }
    }
}

/// The pages or hosts that were named.
enum Named {
    Pages(Vec<CanonicalUrl>),
    Hosts(Vec<Host>),
}

fn host_of(name: &str) -> Result<Host, CommandFailure> {
    if name.contains('/') {
        return Err(CommandFailure::Input(format!("{name} is not a host; write its name, such as www.example.org")));
    }
    host_named(name)
}

fn page_of(text: &str) -> Result<CanonicalUrl, CommandFailure> {
    CanonicalUrl::parse(text).map_err(|error| CommandFailure::Input(format!("{text}: {error}")))
}

fn read(file: &Path) -> Result<String, CommandFailure> {
    let unreadable = |error: std::io::Error| CommandFailure::Input(format!("cannot read {}: {error}", file.display()));
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        return Ok(text);
    }
    std::fs::read_to_string(file).map_err(unreadable)
}
