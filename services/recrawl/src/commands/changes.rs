//! `recrawl changes`: prints changes as a stream that scripts can follow and resume, delivers them, or writes them into
//! files.

use crate::CommandFailure;
use crate::commands::FollowArguments;
use crate::commands::delivery::DeliveryArguments;
use clap::{Args, ValueEnum};
use daemon::{StopSignal, TopicReader};
use messages::{PageChange, topics};
use outputs::encoder::FileEncoder;
use outputs::encoder::lines::JsonLines;
use outputs::encoder::parquet::ParquetRows;
use outputs::record::{CHANGES, ChangeRow, ChangeSelection, ColorOptions, PublishedChange};
use outputs::sink::printer::Printer;
use outputs::sink::{FileOptions, FileSink};
use outputs::source::{RecordSink, TopicFollower, TopicRecord};
use outputs::stdout::{Format, Out};
use settings::Settings;
use topology::LogNames;

/// Prefix of the names of files.
const PREFIX: &str = "changes";

/// Arguments of `recrawl changes`.
#[derive(Args, Debug)]
pub struct ChangesArguments {
    #[command(flatten)]
    follow: FollowArguments,
    #[command(flatten)]
    selection: ChangeSelection,
    #[command(flatten)]
    color: ColorOptions,
    #[command(flatten)]
    delivery: DeliveryArguments,
    #[command(flatten, next_help_heading = "Write changes into files instead of printing them")]
    files: FileOptions,
    /// Form of the files.
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t, requires = "files")]
    form: ChangesForm,
}

/// Form of files of changes.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ChangesForm {
    /// The lines that --format jsonl prints.
    Jsonl,
    /// A row for each change.
    #[default]
    Parquet,
}

/// Prints changes one per line, also with `--format json`, because the list may have no end. Or delivers them, or writes
/// them into files.
pub fn changes(arguments: &ChangesArguments, format: Format) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let settings = arguments.follow.settings()?;
    let selection = arguments.selection.by(&settings);
    let done = pass_on(arguments, &selection, &settings, format, &stop);
    selection.report_left_out();
    done
}

fn pass_on(
    arguments: &ChangesArguments,
    selection: &ChangeSelection,
    settings: &Settings,
    format: Format,
    stop: &StopSignal,
) -> Result<(), CommandFailure> {
    if arguments.files.is_given() {
        return match arguments.form {
            ChangesForm::Jsonl => {
                let line = |TopicRecord { message, cursor, .. }: TopicRecord<PageChange>| {
                    serde_json::to_string(&PublishedChange::new(message, &cursor)).expect("a change is JSON")
                };
                write_files(arguments, selection, settings, JsonLines::new(line), format, stop)
            }
            ChangesForm::Parquet => {
                write_files(arguments, selection, settings, ParquetRows::new(ChangeRow::new), format, stop)
            }
        };
    }
    let open = || TopicReader::open(settings, topics::PAGE_CHANGES, "recrawl-changes");
    let follow = &arguments.follow.options;
    if let Some(mut port) = arguments.delivery.port(settings, stop)? {
        // Before the delivery, so that nothing is made in a data directory that is not there.
        let Some(watched) = port.patiently(open)? else { return Ok(()) };
        port.watch(watched)?;
        let delivery = arguments.delivery.open(settings, follow, selection, stop)?;
        let mut delivery = delivery.expect("a port goes with a receiver");
        delivery.show_at(&port);
        let start = delivery.start()?;
        let Some(mut changes) = port.patiently(|| TopicFollower::open(open()?, CHANGES, &start))? else {
            return Ok(());
        };
        follow.each(&mut changes, stop, &mut delivery)?;
        return delivery.finish(format);
    }
    // Here too.
    let reader = open()?;
    if let Some(mut delivery) = arguments.delivery.open(settings, follow, selection, stop)? {
        let mut changes = TopicFollower::open(reader, CHANGES, &delivery.start()?)?;
        follow.each(&mut changes, stop, &mut delivery)?;
        return delivery.finish(format);
    }
    let mut changes = TopicFollower::open(reader, CHANGES, &follow.start())?;
    let style = arguments.color.style();
    let print = |TopicRecord { message, cursor, .. }: TopicRecord<PageChange>, out: &mut Out| {
        PublishedChange::new(message, &cursor).write(format, style, out)
    };
    let wants = |change: &PageChange| arguments.follow.options.wants(change.seen_at) && selection.wants(change);
    let mut printer = Printer::new(changes.cursor(), &wants, print, stop);
    follow.each(&mut changes, stop, &mut printer)?;
    printer.rest()
}

fn write_files<E: FileEncoder<Message = PageChange>>(
    arguments: &ChangesArguments,
    selection: &ChangeSelection,
    settings: &Settings,
    encoder: E,
    format: Format,
    stop: &StopSignal,
) -> Result<(), CommandFailure> {
    let reader = TopicReader::open(settings, topics::PAGE_CHANGES, "recrawl-changes")?;
    let topic = LogNames::new(settings).topic(topics::PAGE_CHANGES);
    let files = arguments.files.open::<E>(PREFIX, &topic, arguments.delivery.give_up_after())?;
    let follow = &arguments.follow.options;
    let mut changes = TopicFollower::open(reader, CHANGES, &files.start(follow)?)?;
    let wants = |change: &PageChange| arguments.follow.options.wants(change.seen_at) && selection.wants(change);
    FileSink::new(files, encoder, &changes, &wants, (format, stop)).write_all(follow, &mut changes)
}
