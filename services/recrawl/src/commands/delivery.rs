//! The flags of a delivery.

use crate::CommandFailure;
use crate::embedded::SETTINGS_TOKEN;
use clap::Args;
use daemon::StopSignal;
use daemon::http::{Door, KeyRing};
use daemon::web_client::authorities;
use messages::{Digest, topics};
use outputs::delivery::{Delivery, GivingUp, HealthPort, OnFailure};
use outputs::encoder::template::Template;
use outputs::record::ChangeSelection;
use outputs::sink::Receiver;
use outputs::sink::program::Program;
use outputs::sink::signature::{SECRET_VARIABLE, Signer};
use outputs::sink::webhook::{MATRIX, Manner, Target, Webhook, headers};
use outputs::source::FollowOptions;
use settings::Settings;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topology::LogNames;

/// Where the cursor file lies if the settings name no data directory.
pub(super) const DATA: &str = "recrawl-data";
/// The remedy if a cursor file belongs to another delivery.
const ELSEWHERE: &str = "give this delivery its own --cursor-file";
/// Number of characters of the digest that distinguishes the cursor files of receivers.
const DIGEST_CHARACTERS: usize = 12;

/// Sends changes to a receiver instead of printing them.
#[derive(Args, Debug)]
#[command(next_help_heading = "Deliver changes instead of printing them")]
pub(crate) struct DeliveryArguments {
    /// Posts each change to a web server, which confirms it by a status 2xx. @FILE: the address is in a file. Addresses
    /// of the local network are allowed.
    #[arg(long, value_name = "URL|@FILE", conflicts_with_all = ["exec", "files"], group = "receiver")]
    webhook: Option<String>,
    /// Runs a program for each change, with the change as JSON on standard input and as variables CHANGE_… It confirms the
    /// change by exit status 0. No shell reads the command.
    #[arg(long, value_name = "COMMAND", conflicts_with = "files", group = "receiver")]
    exec: Option<String>,
    /// Notes what was delivered, to go on from there. Default: a file in the data directory, or in recrawl-data, whose
    /// name follows from the receiver.
    #[arg(long, value_name = "FILE")]
    cursor_file: Option<PathBuf>,
    /// File with the secret that signs webhooks, as whsec_… or any text; several, one a line, while it is changed. Default:
    /// RECRAWL_WEBHOOK_SECRET.
    #[arg(long, value_name = "FILE", requires = "webhook", conflicts_with = "exec")]
    secret_file: Option<PathBuf>,
    /// Sends webhooks without a signature.
    #[arg(long, requires = "webhook", conflicts_with_all = ["secret_file", "exec"])]
    unsigned: bool,
    /// File with further headers of webhooks, one a line, such as "Authorization: Bearer …".
    #[arg(long, value_name = "FILE", requires = "webhook", conflicts_with = "exec")]
    header_file: Option<PathBuf>,
    /// PEM file with the certificate authorities of the web server, instead of the public ones.
    #[arg(long, value_name = "FILE", requires = "webhook", conflicts_with = "exec")]
    ca_file: Option<PathBuf>,
    /// Body of webhooks: slack, discord, teams, matrix, or a file with a template. Default: the change as JSON.
    #[arg(long, value_name = "NAME|FILE", requires = "webhook", conflicts_with = "exec")]
    template: Option<String>,
    /// Longest time of one attempt.
    #[arg(long, value_name = "DURATION", default_value = "15s")]
    timeout: humantime::Duration,
    /// A variable of the environment that the program of --exec gets besides PATH, HOME, LANG and the like. Give it several times.
    #[arg(long, value_name = "NAME", requires = "exec")]
    pass_env: Vec<String>,
    /// A change that has been tried again for so long is given up.
    #[arg(long, value_name = "DURATION", default_value = "1h")]
    give_up_after: humantime::Duration,
    /// How the command treats a change that is given up: stop ends it with an error, skip leaves the change out.
    #[arg(long, value_enum, default_value_t = OnFailure::Stop)]
    on_failure: OnFailure,
    /// Shows health, metrics and status at http.bind, as stages do, and waits for Kafka at the start.
    #[arg(long, requires_all = ["receiver", "follow"])]
    serve: bool,
}

/// The rights at a port that shows deliveries: those of the token and the keys of the settings.
pub(super) fn door(settings: &Settings) -> Result<Door, CommandFailure> {
    let (own_token, keys) = (operate::configured_token(settings)?, KeyRing::of(&settings.http)?);
    let tokens = own_token.into_iter().map(|token| (SETTINGS_TOKEN, token)).collect();
    Ok(Door { tokens, keys, ..Door::default() })
}

impl DeliveryArguments {
    /// The port that shows how the delivery is doing, if one is asked for.
    pub(crate) fn port(&self, settings: &Settings, stop: &StopSignal) -> Result<Option<HealthPort>, CommandFailure> {
        self.serve.then(|| HealthPort::open(settings, door(settings)?, *self.timeout, stop)).transpose()
    }

    /// How long a receiver or a bucket is tried.
    pub(crate) fn give_up_after(&self) -> Duration {
        *self.give_up_after
    }

    /// The delivery that is asked for, if one is.
    pub(crate) fn open(
        &self,
        settings: &Settings,
        follow: &FollowOptions,
        selection: &ChangeSelection,
        stop: &StopSignal,
    ) -> Result<Option<Delivery>, CommandFailure> {
        if self.timeout.is_zero() {
            return Err(CommandFailure::Input("--timeout: give more than 0s".to_owned()));
        }
        let (receiver, shown, file): (Box<dyn Receiver>, _, _) = match (&self.webhook, &self.exec) {
            (Some(address), _) => {
                let (webhook, shown, file) = self.webhook(address)?;
                (Box::new(webhook), shown, file)
            }
            (None, Some(line)) => {
                let file = cursor_name("changes-exec", line);
                let program = Program::new(line, *self.timeout, &self.pass_env).map_err(of_flag("--exec "))?;
                (Box::new(program), line.clone(), file)
            }
            (None, None) if self.cursor_file.is_some() => {
                return Err(CommandFailure::Input(
                    "--cursor-file goes with --webhook or --exec; to go on printing, give --cursor".to_owned(),
                ));
            }
            (None, None) => return Ok(None),
        };
        let data = settings.crawl.data.as_deref().unwrap_or(Path::new(DATA));
        let path = self.cursor_file.clone().unwrap_or_else(|| data.join(file));
        let topic = LogNames::new(settings).topic(topics::PAGE_CHANGES);
        let giving_up = GivingUp { after: *self.give_up_after, on_failure: self.on_failure };
        let delivery = Delivery::open(receiver, &path, &topic, ELSEWHERE, (follow, selection), giving_up, stop)?;
        delivery.report_start(&shown);
        Ok(Some(delivery))
    }

    /// The web server, how it is shown, and the name of its cursor file.
    fn webhook(&self, address: &str) -> Result<(Webhook, String, String), CommandFailure> {
        let address = match address.strip_prefix('@') {
            None => address.to_owned(),
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| CommandFailure::Input(format!("--webhook @{file}: {error}")))?,
        };
        let address = address.trim();
        let template = self.template.as_deref().map(Template::find).transpose().map_err(of_flag("--template "))?;
        let target = Target::new(address, self.template.as_deref() == Some(MATRIX)).map_err(of_flag("--webhook: "))?;
        let signer = match (self.unsigned, &self.secret_file) {
            (true, _) => None,
            (false, Some(file)) => Some(Signer::of_file(file).map_err(of_flag("--secret-file "))?),
            (false, None) => Signer::of_environment().map_err(of_flag(""))?,
        };
        // Chat systems check no signature; their addresses are the secret.
        if signer.is_none() && template.is_none() && !self.unsigned {
            return Err(CommandFailure::Input(format!(
                "--webhook: there is no secret to sign with; set {SECRET_VARIABLE} or give --secret-file, or --unsigned"
            )));
        }
        let headers = self.header_file.as_deref().map(headers).transpose().map_err(of_flag("--header-file "))?;
        let headers = headers.unwrap_or_default();
        let roots = authorities(self.ca_file.as_deref()).map_err(of_flag("--ca-file "))?;
        let (shown, file) = (target.shown(), cursor_name("changes-webhook", address));
        Ok((Webhook::new(target, Manner { timeout: *self.timeout, headers, signer, template, roots }), shown, file))
    }
}

/// A problem of what a flag says as the failure of the command.
pub(super) fn of_flag(flag: &str) -> impl Fn(String) -> CommandFailure {
    move |problem| CommandFailure::Input(format!("{flag}{problem}"))
}

/// The name of the cursor file of a receiver. It reveals nothing of an address, which may be a secret.
pub(super) fn cursor_name(kind: &str, receiver: &str) -> String {
    let digest = Digest::of(receiver.as_bytes()).to_string();
    format!("{kind}-{}.cursor", &digest[..DIGEST_CHARACTERS])
}
