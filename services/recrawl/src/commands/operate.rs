//! `recrawl refetch`, `pause`, `resume`, `block`, `unblock`: commands about pages and hosts of a crawl, embedded
//! or over Kafka, running or stopped.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use crate::stages::topologies;
use ::operate::{Crawl, Order};
use clap::Args;
use messages::{CommandKind, CommandSubject};
use outputs::stdout::{Format, answer};
use serde::Serialize;
use settings::Settings;
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

impl OperateArguments {
    /// The settings, and the order about all pages or hosts that are named.
    pub(crate) fn order(&self, kind: CommandKind) -> Result<(Settings, Order), CommandFailure> {
        let data = self.data.as_ref().map(|path| path.display().to_string());
        let settings = self.settings.load(&[("crawl.data", data)])?;
        let mut names = self.names.clone();
        if let Some(file) = &self.file {
            let text = read(file)?;
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            names.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
        }
        if names.is_empty() {
            return Err(CommandFailure::Input(format!("none given: give {}, or --file FILE", words(kind))));
        }
        let order = Order::about(kind, names.iter().map(String::as_str))?;
        Ok((settings, order))
    }

    /// The crawl that the order is for.
    pub(crate) fn crawl(&self, settings: &Settings) -> Result<Crawl, CommandFailure> {
        Crawl::find(settings, self.url.as_deref(), &topologies(), "recrawl-operate")
    }
}

/// Sends a command about each of the pages or hosts.
pub fn operate(kind: CommandKind, arguments: &OperateArguments, format: Format) -> Result<(), CommandFailure> {
    let (settings, order) = arguments.order(kind)?;
    arguments.crawl(&settings)?.send(&order)?;
    let sent = SentCommands { sent: order.count() };
    answer(format, &sent, |sent| sent_in_words(kind, sent.sent))
}

pub(crate) fn sent_in_words(kind: CommandKind, sent: usize) -> String {
    format!("{} sent: {sent} {}", kind.word(), counted(kind, sent))
}

/// The arguments of a command, in words.
fn words(kind: CommandKind) -> &'static str {
    match kind.subject() {
        CommandSubject::Pages => "URLs of pages",
        CommandSubject::Hosts => "names of hosts, such as www.example.org",
        CommandSubject::Sources => "addresses of pages or domains of sites, such as example.org",
    }
}

pub(crate) fn counted(kind: CommandKind, count: usize) -> &'static str {
    match (kind.subject(), count) {
        (CommandSubject::Pages, 1) => "page",
        (CommandSubject::Pages, _) => "pages",
        (CommandSubject::Hosts, 1) => "host",
        (CommandSubject::Hosts, _) => "hosts",
        (CommandSubject::Sources, 1) => "page or site",
        (CommandSubject::Sources, _) => "pages or sites",
    }
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
