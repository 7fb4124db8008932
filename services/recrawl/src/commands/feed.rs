//! `recrawl feed`: prints the newest changes as a feed.

use crate::CommandFailure;
use crate::commands::SettingsArguments;
use clap::Args;
use daemon::TopicReader;
use messages::{PageChange, topics};
use outputs::encoder::feed::{self, FeedAbout, FeedForm, ITEMS};
use outputs::record::{CHANGES, ChangeSelection};
use outputs::source::newest;
use outputs::stdout::print_bytes;
use page::CanonicalUrl;
use std::path::PathBuf;

/// Arguments of `recrawl feed`.
#[derive(Args, Debug)]
pub struct FeedArguments {
    /// Form of the feed.
    #[arg(value_enum, default_value_t = FeedForm::Atom)]
    form: FeedForm,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    #[command(flatten)]
    selection: ChangeSelection,
    /// Most changes in the feed.
    #[arg(long, value_name = "N", default_value_t = ITEMS, value_parser = items)]
    items: usize,
    /// Title of the feed.
    #[arg(long)]
    title: Option<String>,
    /// Where the feed will be served. Readers know it again by that.
    #[arg(long, value_name = "URL")]
    address: Option<String>,
}

/// Prints the newest changes, the newest first.
pub fn feed(arguments: &FeedArguments) -> Result<(), CommandFailure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    if let Some(Err(error)) = arguments.address.as_deref().map(CanonicalUrl::parse) {
        return Err(CommandFailure::Input(format!("--address: {error}")));
    }
    let mut reader = TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-feed")?;
    let selection = arguments.selection.by(&settings);
    let is_wanted = |change: &PageChange| feed::is_entry(change) && selection.wants(change);
    let changes = newest(&mut reader, &CHANGES, arguments.items, is_wanted)?;
    let about = FeedAbout::new(&settings, arguments.title.as_deref(), arguments.address.clone());
    print_bytes(feed::feed(arguments.form, &about, changes).as_bytes())?;
    selection.report_left_out();
    Ok(())
}

fn items(text: &str) -> Result<usize, String> {
    let items = text.parse().ok().filter(|items| (1..=10_000).contains(items));
    items.ok_or_else(|| "write a number from 1 to 10000".to_owned())
}
