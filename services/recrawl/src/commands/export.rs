//! `recrawl export`: exports fetch results for archives and other programs, and the texts of copies.

mod contents;

use self::contents::ContentsArguments;
use crate::CommandFailure;
use crate::commands::FollowArguments;
use clap::{Args, Subcommand};
use daemon::{StopSignal, TopicReader};
use messages::{FetchResult, topics};
use outputs::encoder::FileEncoder;
use outputs::encoder::lines::JsonLines;
use outputs::encoder::parquet::ParquetRows;
use outputs::encoder::wacz::WaczPackages;
use outputs::encoder::warc::WarcRecords;
use outputs::record::{FETCHES, FetchLine, FetchRow, UseSelection, fetch_preferences, unpacked_body};
use outputs::sink::printer::Printer;
use outputs::sink::{FileOptions, FileSink};
use outputs::source::{RecordSink, Start, TopicFollower, TopicRecord};
use outputs::stdout::{Format, Out};
use settings::Settings;
use std::io::Write;
use topology::LogNames;

/// Prefix of the names of files.
const PREFIX: &str = "recrawl";

/// Arguments of `recrawl export`.
#[derive(Args, Debug)]
pub struct ExportArguments {
    #[command(subcommand)]
    form: ExportForm,
}

#[derive(Subcommand, Debug)]
enum ExportForm {
    /// Writes WARC files with requests, responses and revisits, one gzip member per record, and beside each an index for
    /// replay (CDXJ). Prints a line for each completed file.
    Warc(FilesArguments),
    /// Writes the same as packages that replay tools open as they are: WACZ files, each with a WARC file, its index and a
    /// list of its pages. Prints a line for each completed file.
    Wacz(FilesArguments),
    /// Prints a line of JSON for every fetch, whatever its outcome. With --out or --to, writes files of such lines, and
    /// prints a line for each completed one.
    Jsonl(FetchesArguments),
    /// Prints the text of every kept copy, a line of JSON each. With --follow or --cursor also those of pages that are new,
    /// changed or removed since.
    Contents(ContentsArguments),
    /// Writes Parquet files with a row for every fetch, whatever its outcome. Prints a line for each completed file.
    Parquet(FetchesArguments),
}

#[derive(Args, Debug)]
struct FilesArguments {
    #[command(flatten)]
    follow: FollowArguments,
    #[command(flatten)]
    uses: UseSelection,
    #[command(flatten)]
    files: FileOptions,
    /// Ends with an error when object storage has not answered for so long; ten minutes at most.
    #[arg(long, value_name = "DURATION", default_value = "2m", requires = "to")]
    give_up_after: humantime::Duration,
}

#[derive(Args, Debug)]
struct FetchesArguments {
    #[command(flatten)]
    files: FilesArguments,
    /// Omits the bodies.
    #[arg(long)]
    no_body: bool,
}

/// Exports the retained fetch results.
pub fn export(arguments: &ExportArguments, format: Format) -> Result<(), CommandFailure> {
    match &arguments.form {
        ExportForm::Warc(arguments) => Export::open(arguments, format)?.write_files(|export, results| {
            // Revisits may refer to records that were exported before the start.
            WarcRecords::new(&export.settings, results, &export.stop)
        }),
        ExportForm::Wacz(arguments) => Export::open(arguments, format)?.write_files(|export, results| {
            WarcRecords::new(&export.settings, results, &export.stop).map(WaczPackages::new)
        }),
        ExportForm::Jsonl(FetchesArguments { files, no_body }) => {
            let export = Export::open(files, format)?;
            let product_token = export.settings.crawl.product_token().to_owned();
            let line = |record| line(record, *no_body, &product_token);
            match files.files.is_given() {
                true => export.write_files(|_, _| Ok(JsonLines::new(line))),
                false => export.print(line),
            }
        }
        ExportForm::Contents(arguments) => contents::contents(arguments),
        ExportForm::Parquet(FetchesArguments { files, no_body }) => {
            let export = Export::open(files, format)?;
            let product_token = export.settings.crawl.product_token().to_owned();
            let row = |record| FetchRow::new(record, !no_body, &product_token);
            export.write_files(|_, _| Ok(ParquetRows::new(row)))
        }
    }
}

/// The line of a fetch, with or without its body.
fn line(record: TopicRecord<FetchResult>, no_body: bool, product_token: &str) -> String {
    let TopicRecord { message: result, cursor, .. } = record;
    let body = unpacked_body(&result);
    let preferences = fetch_preferences(&result, body.as_deref(), product_token);
    let line = FetchLine::new(result, body.as_deref().filter(|_| !no_body), &preferences, &cursor);
    serde_json::to_string(&line).expect("texts, numbers and lists of them are JSON")
}

struct Export<'a> {
    arguments: &'a FilesArguments,
    settings: Settings,
    stop: StopSignal,
    format: Format,
}

impl<'a> Export<'a> {
    fn open(arguments: &'a FilesArguments, format: Format) -> Result<Self, CommandFailure> {
        Ok(Self { arguments, settings: arguments.follow.settings()?, stop: StopSignal::on_signals()?, format })
    }

    fn follower(&self, start: &Start) -> Result<TopicFollower<FetchResult>, CommandFailure> {
        let reader = TopicReader::open(&self.settings, topics::FETCH_RESULTS, "recrawl-export")?;
        TopicFollower::open(reader, FETCHES, start)
    }

    fn write_files<E: FileEncoder<Message = FetchResult>>(
        &self,
        encoder: impl FnOnce(&Self, &mut TopicFollower<FetchResult>) -> Result<E, CommandFailure>,
    ) -> Result<(), CommandFailure> {
        let topic = LogNames::new(&self.settings).topic(topics::FETCH_RESULTS);
        let FilesArguments { files, give_up_after, follow, .. } = self.arguments;
        let files = files.open::<E>(PREFIX, &topic, **give_up_after)?;
        let mut results = self.follower(&files.start(&follow.options)?)?;
        let encoder = encoder(self, &mut results)?;
        let wants = |result: &FetchResult| self.wants(result);
        let sink = FileSink::new(files, encoder, &results, &wants, (self.format, &self.stop));
        let done = sink.write_all(&follow.options, &mut results);
        self.arguments.uses.report("results");
        done
    }

    fn wants(&self, result: &FetchResult) -> bool {
        self.arguments.follow.options.wants(result.look.fetched_at)
            && self.arguments.uses.allows_fetch(result, self.settings.crawl.product_token())
    }

    fn print(&self, line: impl Fn(TopicRecord<FetchResult>) -> String) -> Result<(), CommandFailure> {
        let follow = &self.arguments.follow.options;
        let mut results = self.follower(&follow.start())?;
        let wants = |result: &FetchResult| self.wants(result);
        let print = |record, out: &mut Out| writeln!(out, "{}", line(record));
        let mut printer = Printer::new(results.cursor(), &wants, print, &self.stop);
        let done = follow.each(&mut results, &self.stop, &mut printer);
        let done = done.and_then(|()| printer.rest());
        eprintln!("recrawl: {} results; cursor {}", printer.printed(), printer.cursor());
        self.arguments.uses.report("results");
        done
    }
}
