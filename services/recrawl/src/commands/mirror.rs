//! `recrawl mirror`: keeps a search index, or a directory of files, equal to the current copies.

use super::CrawlArguments;
use super::delivery::{DATA, cursor_name, of_flag};
use crate::CommandFailure;
use crate::contents::{ContentSelection, ContentSink, Contents};
use clap::Args;
use daemon::web_client::authorities;
use daemon::{StopSignal, TopicReader, WebClock};
use messages::topics;
use outputs::mirror::{
    CopyPlace, Engine, IndexSender, Manner, MarkdownDirectory, Meilisearch, MirrorAddress, MirrorNote, OpenSearch,
    PageUpdate, SearchIndex, Solr, Typesense, WebServer,
};
use outputs::record::{PublishedContent, UseSelection};
use outputs::sink::webhook::headers;
use outputs::source::Cursor;
use outputs::stdout::Format;
use page::{CanonicalUrl, HostName};
use settings::Settings;
use std::path::{Path, PathBuf};
use stream::Clock;
use stream::partitioner::partition_for;
use topology::LogNames;

/// Arguments of `recrawl mirror`.
#[derive(Args, Debug)]
pub struct MirrorArguments {
    /// The mirror: opensearch+https://HOST:9200/INDEX (Elasticsearch, too), meilisearch+https://HOST:7700/INDEX,
    /// typesense+https://HOST:8108/COLLECTION, solr+https://HOST:8983/solr/CORE, or file:///DIRECTORY for files of Markdown.
    #[arg(long, value_name = "URL")]
    to: MirrorAddress,
    #[command(flatten)]
    crawl: CrawlArguments,
    /// Waits for further changes, until stopped.
    #[arg(long)]
    follow: bool,
    /// Only pages of this host and of those below it.
    #[arg(long)]
    host: Option<String>,
    #[command(flatten)]
    uses: UseSelection,
    /// Fills a new index beside the one in use, and then lets the name lead to the new one. Only OpenSearch and Elasticsearch.
    #[arg(long)]
    rebuild: bool,
    /// Notes what the mirror has, to go on from there. Default: a file in the data directory, or in recrawl-data, whose name
    /// follows from the mirror.
    #[arg(long, value_name = "FILE")]
    cursor_file: Option<PathBuf>,
    /// File with headers of all requests, one a line, such as "Authorization: ApiKey …".
    #[arg(long, value_name = "FILE")]
    header_file: Option<PathBuf>,
    /// PEM file with the certificate authorities of the index, instead of the public ones.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Longest time of one request.
    #[arg(long, value_name = "DURATION", default_value = "1m")]
    timeout: humantime::Duration,
    /// Ends with an error when the index has not taken something for so long.
    #[arg(long, value_name = "DURATION", default_value = "1h")]
    give_up_after: humantime::Duration,
}

/// Sends contents to a mirror.
struct Mirroring<'a> {
    sender: IndexSender<'a>,
    /// Number of partitions, where copies come in the order of their places.
    partitions: Option<u32>,
    /// The last copy that the mirror has from a run before this one.
    copied: Option<CopyPlace>,
}

/// Makes the mirror equal to the copies.
pub fn mirror(arguments: &MirrorArguments, format: Format) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let (settings, state) = arguments.crawl.open()?;
    let partitions = settings.crawl.data.is_some().then(|| state.partitions());
    drop(state);
    let mut reader = TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-mirror")?;
    let (index, note) = (arguments.index(&stop)?, arguments.note(&settings)?);
    let moment = WebClock::new(&settings.clock).now().as_secs();
    let manner = Manner { give_up_after: *arguments.give_up_after, format };
    let rebuild = arguments.rebuild.then_some(moment);
    let sender = IndexSender::open(index, &arguments.to.to_string(), note, rebuild, manner, &stop)?;
    let copied = sender.note().copied();
    let selection =
        ContentSelection { host: arguments.host(), uses: &arguments.uses, wait: *arguments.crawl.wait.wait };
    let cursor = sender.note().cursor();
    let noted = cursor.clone().or_else(|| sender.note().begin());
    // Noted before the copies are read, so that no change is lost between the two.
    let begin = noted.map_or_else(|| Cursor::at_end(&mut reader), Ok)?;
    let mut contents = Contents::new(&settings, selection, Mirroring { sender, partitions, copied }, &stop);
    contents.cursor = cursor;
    if contents.cursor.is_none() {
        contents.sink.sender.begins_copies(&begin)?;
        let _ = contents.copies(&begin, None)?;
    }
    let done = match contents.cursor {
        Some(_) => contents.changes(reader, begin, (arguments.follow, None)),
        None => Ok(()),
    };
    arguments.uses.report("pages");
    done?;
    contents.sink.sender.finish()
}

impl MirrorArguments {
    fn host(&self) -> Option<HostName> {
        self.host.as_ref().map(|host| HostName::from_name(host.to_lowercase()))
    }

    /// The mirror's side.
    fn index(&self, stop: &StopSignal) -> Result<Box<dyn SearchIndex>, CommandFailure> {
        if self.timeout.is_zero() {
            return Err(CommandFailure::Input("--timeout: give more than 0s".to_owned()));
        }
        let (engine, base, name) = match &self.to {
            MirrorAddress::Directory(path) => return Ok(Box::new(MarkdownDirectory::new(path.clone()))),
            MirrorAddress::Index { engine, base, name } => (*engine, base, name.clone()),
        };
        let headers = self.header_file.as_deref().map(headers).transpose().map_err(of_flag("--header-file "))?;
        let headers = headers.unwrap_or_default();
        let roots = authorities(self.ca_file.as_deref()).map_err(of_flag("--ca-file "))?;
        let server = WebServer::new(base, *self.timeout, headers, roots);
        Ok(match engine {
            Engine::OpenSearch => Box::new(OpenSearch::new(server, name)),
            Engine::Meilisearch => Box::new(Meilisearch::new(server, name, stop)),
            Engine::Typesense => Box::new(Typesense::new(server, name)),
            Engine::Solr => Box::new(Solr::new(server, name)),
        })
    }

    /// Where the progress is noted.
    fn note(&self, settings: &Settings) -> Result<MirrorNote, CommandFailure> {
        let to = self.to.to_string();
        let data = settings.crawl.data.as_deref().unwrap_or(Path::new(DATA));
        let path = self.cursor_file.clone().unwrap_or_else(|| data.join(cursor_name("mirror", &to)));
        let topic = LogNames::new(settings).topic(topics::PAGE_CHANGES);
        let host = self.host().map_or_else(|| "all hosts".to_owned(), |host| host.as_str().to_owned());
        let uses = self.uses.names();
        let uses = if uses.is_empty() { "all uses".to_owned() } else { uses.join(", ") };
        MirrorNote::open(&path, &to, &topic, &format!("{host}, {uses}"))
    }
}

impl Mirroring<'_> {
    fn place(&self, url: &CanonicalUrl) -> Option<CopyPlace> {
        let partition = partition_for(url.site_key().as_str().as_bytes(), self.partitions?.max(1));
        Some(CopyPlace { partition, page_id: url.page_id().to_string() })
    }
}

impl ContentSink for Mirroring<'_> {
    const REMEDY: &'static str = "give --rebuild; if one was under way, or with another engine, first delete the file with its progress and the documents";

    fn has_copy(&self, url: &CanonicalUrl) -> bool {
        self.copied.is_some() && self.place(url) <= self.copied
    }

    fn take_copy(&mut self, content: PublishedContent, _cursor: Option<&Cursor>) -> Result<(), CommandFailure> {
        let place = self.place(&content.url);
        self.sender.take_copy(PageUpdate::new(content), place)
    }

    fn take_change(&mut self, content: PublishedContent, cursor: &Cursor) -> Result<(), CommandFailure> {
        self.sender.take_change(PageUpdate::new(content), cursor)
    }

    fn rest(&mut self, cursor: Option<&Cursor>) -> Result<(), CommandFailure> {
        match cursor {
            Some(cursor) => self.sender.rest(cursor),
            None => self.sender.flush(),
        }
    }
}
