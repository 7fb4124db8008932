//! The sections. One table per section gives the types of its settings, reads them and prints them.
//!
//! `default.toml` explains each setting to the operator; a test checks that both list the same settings.

use crate::form::{Form, Secrets};
use crate::reader::SettingsReader;
use crate::receivers::{self, Receiver};
use crate::rules::{self, Rule};

/// A section of the settings.
pub(crate) trait Section: Sized {
    const NAME: &'static str;
    /// Keys of the section, in the order of `default.toml`.
    const KEYS: &'static [&'static str];

    fn read(reader: &mut SettingsReader) -> Self;

    /// Prints the section as TOML, one line per setting.
    fn write(&self, secrets: Secrets, lines: &mut Vec<String>);

    /// Whether a setting of this name may contain a secret.
    fn may_be_secret(key: &str) -> bool;
}

/// Prints a setting as a line of TOML.
fn line<F: Form>(key: &str, form: &F, value: &F::Value, secrets: Secrets) -> String {
    match form.write(value, secrets) {
        Some(masked) if secrets == Secrets::Masked && form.hides(value) => {
            format!("# {key} is set; its secrets are masked: {masked}")
        }
        Some(value) => format!("{key} = {value}"),
        None => format!("# {key} is not set"),
    }
}

/// Whether a form may hold a secret. It also lets the compiler infer `T` for a generic form.
fn is_secret<T>(form: &impl Form<Value = T>) -> bool {
    form.is_secret()
}

macro_rules! section {
    (
        $(#[$about:meta])*
        $section:ident: $Section:ident {
            $( $(#[$key_about:meta])* $key:ident: $Type:ty = $form:expr, )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Section {
            $( $(#[$key_about])* pub $key: $Type, )*
        }

        impl super::Section for $Section {
            const NAME: &'static str = stringify!($section);
            const KEYS: &'static [&'static str] = &[$( stringify!($key) ),*];

            fn read(reader: &mut crate::reader::SettingsReader) -> Self {
                Self { $( $key: reader.read(Self::NAME, stringify!($key), &$form), )* }
            }

            fn write(&self, secrets: crate::form::Secrets, lines: &mut Vec<String>) {
                $( lines.push(super::line(stringify!($key), &$form, &self.$key, secrets)); )*
            }

            fn may_be_secret(key: &str) -> bool {
                $( (key == stringify!($key) && super::is_secret::<$Type>(&$form)) || )* false
            }
        }
    };
}

mod budget;
mod clock;
mod common;
mod crawl;
mod detector;
mod estimator;
mod fetch;
mod focus;
mod hints;
mod http;
mod identity;
mod kafka;
mod log;
mod observability;
mod output;
mod policy;
mod politeness;
mod preferences;
mod ranker;
mod search;
mod trace;
mod urls;

pub use self::budget::Budget;
pub use self::clock::Clock;
pub use self::crawl::{Crawl, Discover};
pub use self::detector::{Contents, Detector};
pub(crate) use self::detector::{HISTORY, HISTORY_AGE, HISTORY_BYTES};
pub use self::estimator::Estimator;
pub use self::fetch::Fetch;
pub use self::focus::Focus;
pub use self::hints::Hints;
pub use self::http::Http;
pub use self::identity::{Identity, Signing};
pub use self::kafka::Kafka;
pub use self::log::Log;
pub use self::observability::{LogFormat, Observability};
pub use self::output::{Output, OutputFormat};
pub use self::policy::Policy;
pub use self::politeness::Politeness;
pub use self::preferences::Preferences;
pub use self::ranker::{RankMethod, Ranker, TRUSTED_PAGES};
pub use self::search::Search;
pub use self::trace::Trace;
pub use self::urls::Urls;

/// A file that a setting names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// Its name, for messages.
    pub name: String,
    pub text: String,
}

/// A focus that pages should be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedFocus {
    /// A built-in class, by its name.
    Class(String),
    /// A focus of the operator's own.
    File(TextFile),
}

macro_rules! settings {
    ($( $section:ident: $Section:ident, )*) => {
        /// All settings, validated by [`Settings::from_layers`].
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $( #[doc = concat!("The section `[", stringify!($section), "]`.")] pub $section: $Section, )*
            /// The tables `[[rules]]`.
            pub rules: Vec<Rule>,
            /// The tables `[[deliver]]`.
            pub receivers: Vec<Receiver>,
            /// The files of `crawl.url_filters`, in their order. The loader of the settings adds them.
            pub url_filters: Vec<TextFile>,
            /// The focuses of `focus.files`, in their order. The loader of the settings adds them.
            pub wanted: Vec<WantedFocus>,
        }

        /// Every section with its keys, in the order of `default.toml`.
        pub(crate) const KEYS: &[(&str, &[&str])] = &[$( ($Section::NAME, $Section::KEYS) ),*];

        impl Settings {
            pub(crate) fn read(reader: &mut SettingsReader) -> Settings {
                Settings {
                    $( $section: $Section::read(reader), )*
                    rules: reader.rules.iter().map(|placed| placed.rule.clone()).collect(),
                    receivers: reader.receivers.iter().map(|placed| placed.receiver.clone()).collect(),
                    url_filters: Vec::new(),
                    wanted: Vec::new(),
                }
            }

            /// Prints the effective settings as TOML. Read back as a file, the text gives the same settings. If secrets
            /// are masked, a setting with a secret is printed as a comment, so that its mask is never taken for the value.
            pub fn to_toml(&self, secrets: Secrets) -> String {
                let mut lines = Vec::new();
                $(
                    lines.push(format!("[{}]", $Section::NAME));
                    self.$section.write(secrets, &mut lines);
                    lines.push(String::new());
                )*
                rules::write(&self.rules, secrets, &mut lines);
                receivers::write(&self.receivers, secrets, &mut lines);
                lines.join("\n")
            }
        }

        /// Whether a setting of this name may contain a secret in some section.
        pub(crate) fn may_be_secret(key: &str) -> bool {
            $( $Section::may_be_secret(key) || )* false
        }
    };
}

settings! {
    crawl: Crawl,
    urls: Urls,
    budget: Budget,
    policy: Policy,
    estimator: Estimator,
    politeness: Politeness,
    identity: Identity,
    preferences: Preferences,
    fetch: Fetch,
    detector: Detector,
    ranker: Ranker,
    focus: Focus,
    search: Search,
    hints: Hints,
    output: Output,
    log: Log,
    kafka: Kafka,
    http: Http,
    clock: Clock,
    observability: Observability,
    trace: Trace,
}
