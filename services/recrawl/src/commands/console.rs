//! `recrawl console`: serves the console of a crawl over Kafka. An embedded crawl serves its own.

use crate::CommandFailure;
use crate::commands::{SettingsArguments, WaitArguments};
use crate::console::{Console, CrawlOverKafka};
use crate::embedded::{SETTINGS_TOKEN, require_lock};
use clap::Args;
use daemon::http::{self, Call, Door, HttpSite, KeyRing, Task, TextResponse, TlsFiles};
use daemon::{Background, Board, StopSignal, WebClock};
use operate::OrderSender;
use settings::Settings;
use std::sync::Arc;
use std::time::Duration;
use stream::Log;
use topology::LogNames;
use tracing::info;

/// How often the stop signal is checked.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// `/healthz` fails once a stage hangs for this long. A console has none.
const HUNG_AFTER: Duration = Duration::from_secs(3_600);

/// Arguments of the console of a crawl over Kafka.
#[derive(Args, Debug)]
pub struct ConsoleArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(flatten)]
    wait: WaitArguments,
}

/// Serves the console until stopped.
pub fn console(arguments: &ConsoleArguments) -> Result<(), CommandFailure> {
    let mut settings = arguments.settings.load(&[])?;
    // The settings may be those of a stage. Its data directory would be read in place of Kafka.
    settings.crawl.data = None;
    if settings.kafka.brokers.is_none() {
        return Err(CommandFailure::Input(
            "kafka.brokers is not set: name the configuration of the crawl with --config; recrawl run has a console of its own"
                .to_owned(),
        ));
    }
    let (own_token, keys) = (operate::configured_token(&settings)?, KeyRing::of(&settings.http)?);
    if own_token.is_none() && keys.is_none() {
        return Err(CommandFailure::Input(
            "nobody could log in: make a key with recrawl key, and set http.keys_file, or set http.token_file"
                .to_owned(),
        ));
    }
    let (tls, forms_key) = (TlsFiles::of(&settings.http)?, operate::configured_forms_key(&settings)?);
    require_lock(&settings, true, tls.is_some())?;
    daemon::logging::start(&settings.observability);
    let stop = StopSignal::on_signals()?;
    let clock = Arc::new(WebClock::new(&settings.clock));
    let board = Board::new(Vec::new(), clock.speed());
    let log: Arc<dyn Log> = Arc::new(daemon::connect(&settings, "recrawl-console")?);
    let tokens = own_token.into_iter().map(|token| (SETTINGS_TOKEN, token)).collect();
    let door = Door { log: None, tokens, keys, forms_key };
    let sender = OrderSender::new(log, &LogNames::new(&settings), clock)?;
    let crawl = CrawlOverKafka { settings: settings.clone(), wait: *arguments.wait.wait };
    let console = Console::new(&settings, Box::new(crawl));
    let refusing = sender.clone();
    let refusals = move |call: &Call<'_>, why: &str| operate::http::note_refused(&refusing, call, why);
    let site = HttpSite {
        board,
        tasks: Some(Arc::new(move |call: &Call<'_>| carry_out(&console, &sender, call))),
        refusals: Some(Arc::new(refusals)),
        door,
        hints: None,
        names: settings.http.names.clone(),
        hung_after: HUNG_AFTER,
        step_timeout: http::STEP_TIMEOUT,
    };
    let mut background = Background::new(&stop);
    let address = serve(&settings, site, tls, &stop, &mut background)?;
    info!(service = "console", %address, "started");
    while !stop.is_stopped() {
        std::thread::sleep(LOOK_EVERY);
    }
    drop(background);
    info!(service = "console", "drained");
    Ok(())
}

fn serve(
    settings: &Settings,
    site: HttpSite,
    tls: Option<Arc<TlsFiles>>,
    stop: &StopSignal,
    background: &mut Background,
) -> Result<String, CommandFailure> {
    let bind = settings.http.bind;
    let address = http::serve(bind, site, tls, stop, background)
        .map_err(|error| CommandFailure::World(http::cannot_listen(bind, &error)))?;
    Ok(address.to_string())
}

fn carry_out(console: &Console, sender: &OrderSender, call: &Call<'_>) -> TextResponse {
    match call.task {
        Task::Order(kind) => operate::http::take(sender, kind, call),
        Task::Screen(screen) => console.show(screen, call),
        Task::Form(form) => console.take(form, call, sender),
        Task::Stylesheet => Console::style(),
        Task::Script => Console::script(),
        Task::BackUp | Task::Changes | Task::AtomFeed | Task::RssFeed => TextResponse::problem(
            404,
            "a crawl over Kafka has no such route; read its changes with recrawl changes or feed",
        ),
    }
}
