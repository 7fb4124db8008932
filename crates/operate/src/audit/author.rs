//! Who gives an order, and how that is known.

use daemon::http::Call;
use settings::Settings;

/// Who gives an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// The key or token that a port verified.
    pub(super) caller: Option<String>,
    /// User and machine, as the sender says.
    pub(super) claimed_caller: Option<String>,
    /// The user of the login to Kafka, as the sender says.
    pub(super) claimed_login: Option<String>,
}

impl Author {
    /// The user of this process, who writes to a log directly. Only the log's own lock keeps others out, so all of it is a
    /// claim.
    pub fn of_process(settings: &Settings) -> Self {
        let is_over_kafka = settings.crawl.data.is_none();
        let claimed_login = settings.kafka.username.clone().filter(|_| is_over_kafka);
        Self { caller: None, claimed_caller: Some(user_and_machine()), claimed_login }
    }

    /// Who it is, as far as that is known.
    pub(crate) fn name(&self) -> Option<String> {
        self.caller.clone().or_else(|| self.claimed_caller.clone())
    }

    /// The caller of a port.
    pub fn of_call(call: &Call<'_>) -> Self {
        let claimed_caller = call.claimed_caller.map(str::to_owned);
        Self { caller: Some(call.caller.name.clone()), claimed_caller, claimed_login: None }
    }
}

/// The user and the machine of this process. In a container a user may have no name.
pub(crate) fn user_and_machine() -> String {
    let unknown = |_| "unknown".to_owned();
    let (user, machine) = (whoami::username().unwrap_or_else(unknown), whoami::hostname().unwrap_or_else(unknown));
    // It travels in a header, too.
    format!("{user}@{machine}").chars().map(|sign| if sign.is_ascii_graphic() { sign } else { '?' }).collect()
}
