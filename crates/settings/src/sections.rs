//! The sections and their settings: one table that gives the types, reads them, and writes them.
//!
//! What each means to the operator stands in `default.toml`; a test holds the two together.

use crate::fault::Fault;
use crate::fetch::{AllowedAddress, is_host_pattern};
use crate::form::{
    Choice, Count, Flag, Form, Hidden, List, Map, Named, Number, Optional, OrWord, Parsed, Password, Path, Phrase,
    Ports, Properties, Size, Span, Text, Through,
};
use crate::kafka::{KafkaProperties, SaslMechanism, SecurityProtocol};
use crate::raw::Reader;
use crate::sites::{Credentials, MediaRange, PortRange, Proxy, Secret};
use change_rate::EstimatorChoice;
use page::{CanonicalUrl, UrlRules};
use policies::PolicyKind;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

macro_rules! sections {
    ($(
        $(#[$about:meta])*
        $section:ident: $Section:ident {
            $( $(#[$key_about:meta])* $key:ident: $Type:ty = $form:expr, )*
        }
    )*) => {
        /// Everything the operator asked for, checked. A valid value by construction of [`Settings::from_layers`].
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $( $(#[$about])* pub $section: $Section, )*
        }

        $(
            $(#[$about])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Section {
                $( $(#[$key_about])* pub $key: $Type, )*
            }
        )*

        /// Every section with its keys, in the order of `default.toml`.
        pub(crate) const KEYS: &[(&str, &[&str])] =
            &[$( (stringify!($section), &[$( stringify!($key) ),*]) ),*];

        impl Settings {
            pub(crate) fn read(reader: &mut Reader) -> Settings {
                Settings {
                    $( $section: $Section {
                        $( $key: reader.read(stringify!($section), stringify!($key), &$form), )*
                    }, )*
                }
            }

            /// The effective settings as TOML, to be shown: read back as a file, it gives the same settings but for the
            /// secrets. A setting that holds one is a comment with a mask, so that no mask is ever taken for a secret.
            pub fn to_toml(&self) -> String {
                let mut lines = Vec::new();
                $(
                    lines.push(format!("[{}]", stringify!($section)));
                    $(
                        let (key, value) = (stringify!($key), &self.$section.$key);
                        lines.push(match $form.write(value) {
                            Some(masked) if $form.hides(value) => {
                                format!("# {key} is set, its secrets are not shown: {masked}")
                            }
                            Some(value) => format!("{key} = {value}"),
                            None => format!("# {key} is absent"),
                        });
                    )*
                    lines.push(String::new());
                )*
                lines.join("\n")
            }
        }

        /// Whether a setting of this name, in whichever section, may hold a secret.
        pub(crate) fn may_be_secret(key: &str) -> bool {
            fn is_secret<T>(form: &impl Form<Value = T>) -> bool {
                form.is_secret()
            }
            $( $( (key == stringify!($key) && is_secret::<$Type>(&$form)) || )* )* false
        }
    };
}

sections! {
    /// What is crawled, and in whose name.
    crawl: Crawl {
        /// File with one seed per line, for [`crate::seeds::parse`].
        seeds: Option<PathBuf> = Optional(Path("a file name, such as \"seeds.txt\"")),
        /// State directory.
        data: Option<PathBuf> = Optional(Path("a directory name, such as \"recrawl-data\"")),
        /// Product token with version, as sent to sites and matched against robots.txt.
        user_agent: String = Text("a product name with a version, such as \"recrawl/0.1\"", is_user_agent),
        /// Where a site's owner can reach the operator: http(s) URL or mailto.
        contact: Option<String> = Optional(CONTACT),
        /// Which links become pages of their own.
        discover: Discover = Choice(&[
            ("none", Discover::None),
            ("same-host", Discover::SameHost),
            ("same-site", Discover::SameSite),
        ]),
        /// Most pages ever known.
        max_pages: u64 = Count::new(1, 1_000_000_000_000),
        /// Most links between a seed and a discovered page.
        max_depth: u32 = Count::new(0, 1_000),
    }

    /// Which addresses are one page, and which lead into a trap.
    urls: Urls {
        /// Query and path parameters that do not make another page.
        drop_parameters: Vec<String> =
            List(Text("names of parameters, such as [\"utm_*\", \"jsessionid\"]", is_parameter_pattern)),
        /// Whether the order of query parameters means nothing.
        sort_parameters: bool = Flag,
        /// Whether several slashes in a row are one.
        merge_slashes: bool = Flag,
        /// The most query parameters of a discovered page.
        max_parameters: usize = Count::new(0, 1_000),
        /// The most times that one segment may stand in the path of a discovered page.
        max_repeated_segments: usize = Count::new(1, 1_000),
    }

    /// How much may be fetched.
    budget: Budget {
        /// Requests per second, all hosts together.
        fetches_per_second: f64 = RATE,
        /// Bytes received per second, all hosts together; `None` for no limit.
        bytes_per_second: Option<u64> = Optional(Size(1 << 10, 1 << 40)),
        /// Requests per second per host; `None` when only the crawl delay limits it.
        host_fetches_per_second: Option<f64> = Optional(RATE),
        /// How much unspent budget may pile up: at most this long a time's worth.
        burst: Duration = Span(SECOND, DAY),
        /// Most requests handed out and unanswered.
        in_flight: usize = Count::new(1, 10_000_000),
        /// How much of a host's own time is handed out ahead of it.
        host_ahead: Duration = Span(Duration::ZERO, DAY),
    }

    /// Which page is worth the next fetch.
    policy: Policy {
        /// The revisit policy.
        name: PolicyKind = Named(PolicyKind::for_operators),
        /// Share of the harmonic part in the mixed objective, 0–1.
        theta: f64 = Number(0.0, 1.0),
        /// Share of the budget that measures freshness at pages drawn at random, 0–0.5.
        audit_share: f64 = Number(0.0, 0.5),
        /// Time between two plans, for policies that plan ahead.
        replan_interval: Duration = Span(MINUTE, YEAR),
        /// Share of a cycle that goes to pages never fetched, 0–1; for the policy tianwang.
        new_page_share: f64 = Number(0.0, 1.0),
        /// Least time between two looks at a page.
        min_interval: Duration = Span(SECOND, YEAR),
        /// Longest time between two looks at a page, budget permitting.
        max_interval: Duration = Span(MINUTE, TEN_YEARS),
        /// Time between two scans of all pages.
        scan_interval: Duration = Span(Duration::from_millis(10), DAY),
        /// Time after which an unanswered request counts as lost.
        lease_timeout: Duration = Span(SECOND, YEAR),
        /// Wait after a page's first failure; doubled with each further one.
        retry_base: Duration = Span(SECOND, YEAR),
        /// Longest wait after failures.
        retry_max: Duration = Span(SECOND, YEAR),
    }

    /// How often a page changes.
    estimator: Estimator {
        /// The estimator.
        name: EstimatorChoice = Named(EstimatorChoice::for_operators),
        /// Shape of the prior: changes seen before the first look, so to speak.
        prior_alpha: f64 = Number(0.001, 1_000.0),
        /// Rate parameter of the prior, in days.
        prior_beta_days: f64 = Number(0.001, 1_000_000.0),
        /// Days after which an observation counts 1/e as much; `None` when nothing is forgotten.
        forgetting_days: Option<f64> = OrWord("off", Number(0.001, 1_000_000.0)),
    }

    /// How not to be a burden.
    politeness: Politeness {
        /// Pause between the end of one request to a host and the start of the next. Zero is for loopback only.
        crawl_delay: Duration = Span(Duration::ZERO, DAY),
        /// Pause between the starts of two requests to one address, whatever their hosts.
        address_delay: Duration = Span(Duration::ZERO, DAY),
        /// Longest crawl delay of a robots.txt that is honoured as asked.
        max_crawl_delay: Duration = Span(Duration::ZERO, DAY),
        /// Least pause as a multiple of the host's response time.
        response_time_factor: f64 = Number(0.0, 1_000.0),
        /// How long a robots.txt is relied on.
        robots_refresh: Duration = Span(MINUTE, YEAR),
        /// Pause for a host after its first failure; doubled with each further one.
        backoff_base: Duration = Span(Duration::from_millis(1), YEAR),
        /// Longest pause for a failing host.
        backoff_max: Duration = Span(Duration::from_millis(1), YEAR),
    }

    /// How a page is got.
    fetch: Fetch {
        /// Most connections open at once.
        connections: usize = Count::new(1, 1_000_000),
        /// Longest wait for a connection, TLS included.
        connect_timeout: Duration = TIMEOUT,
        /// Longest time for one request, body included.
        total_timeout: Duration = TIMEOUT,
        /// Longest silence in the middle of an answer.
        idle_timeout: Duration = TIMEOUT,
        /// Longest decoded body, in bytes.
        max_body: u64 = Size(1 << 10, 7 << 20),
        /// Longest packed body received, in bytes before decompression.
        max_packed_body: u64 = Size(1 << 10, 1 << 30),
        /// Most decoded bytes per packed byte, from 64 KiB decoded on.
        max_pack_ratio: u64 = Count::new(2, 1_000_000),
        /// Redirects followed for one request.
        max_redirects: u32 = Count::new(0, 50),
        /// Longest response header, in bytes.
        max_header: u64 = Size(1 << 10, 1 << 24),
        /// Whether the heads of requests and responses travel with the results.
        record_heads: bool = Flag,
        /// Private addresses that may be reached all the same; see [`Fetch::allows_private`].
        allow_private_addresses: Vec<AllowedAddress> = List(Parsed(
            "networks, addresses or host names, such as [\"127.0.0.0/8\", \"::1\", \"intranet.example.org\"]",
            AllowedAddress::parse,
        )),
        /// Host patterns answered here instead of by DNS; see [`Fetch::resolve_override`].
        resolve: BTreeMap<String, SocketAddr> = Map {
            value: SOCKET,
            expected: "host patterns with an address each, such as { \"*.test\" = \"127.0.0.1:8080\" }",
            check_name: check_pattern,
        },
        /// Ports that may be connected to.
        ports: Vec<PortRange> = List(Ports),
        /// Kinds of content that are kept.
        content_types: Vec<MediaRange> = List(Parsed(
            "media types, such as [\"text/*\", \"application/pdf\"], or [\"*/*\"]",
            MediaRange::parse,
        )),
        /// Proxies by host pattern; see [`Fetch::proxy_for`].
        proxy: BTreeMap<String, Proxy> = Map {
            value: Through,
            expected: "host patterns with a proxy each, such as { \"*.example.org\" = \"http://10.0.0.1:3128\" }",
            check_name: check_pattern,
        },
        /// User names and passwords by host pattern; see [`Fetch::credentials_for`].
        authentication: BTreeMap<String, Credentials> = Map {
            value: Password,
            expected: "host patterns with a name and password each, such as { \"example.org\" = \"user:password\" }",
            check_name: check_pattern,
        },
        /// How long the addresses of a name hold.
        dns_ttl: Duration = Span(Duration::ZERO, DAY),
        /// How long it holds that a name has none.
        dns_negative_ttl: Duration = Span(Duration::ZERO, DAY),
        /// Most names remembered.
        dns_names: usize = Count::new(1, 10_000_000),
        /// Whether HTTP/2 is offered over TLS.
        http2: bool = Flag,
        /// Whether certificates are checked.
        tls_verify: bool = Flag,
        /// PEM file with further certificate authorities.
        extra_ca: Option<PathBuf> = Optional(Path("a file name, such as \"company-ca.pem\"")),
    }

    /// Whether a page changed, and whether the change means anything.
    detector: Detector {
        /// The copy kept of every page.
        contents: Contents = Choice(&[
            ("none", Contents::None),
            ("text", Contents::Text),
            ("body", Contents::Body),
        ]),
        /// Longest copy, in bytes; of a longer page the beginning is kept.
        max_content: u64 = Size(1 << 10, 7 << 20),
        /// Most added and most removed passages reported per change.
        passages: usize = Count::new(0, 10_000),
        /// Whether pages with the same text share one stream of fetches.
        mirrors: bool = Flag,
    }

    /// Who may say that a page changed.
    hints: Hints {
        /// Whether sitemaps among the known pages are listened to.
        sitemaps: bool = Flag,
        /// Whether feeds among the known pages are.
        feeds: bool = Flag,
        /// Whether sitemaps and feeds that known pages and their hosts name become known.
        discover: bool = Flag,
        /// What whoever posts to `/hints` must know; `None` when nobody may.
        token: Option<Secret> = Optional(Hidden(16, 512)),
        /// IndexNow keys by host.
        indexnow: BTreeMap<String, Secret> = Map {
            value: Hidden(8, 128),
            expected: "hosts with a key each, such as { \"www.example.org\" = \"0123456789abcdef\" }",
            check_name: check_host,
        },
        /// Topics that WebSub hubs may tell of, by the name at the end of the callback's address.
        websub: BTreeMap<String, CanonicalUrl> = Map {
            value: Parsed("the address of a feed", |text| CanonicalUrl::parse(text).ok()),
            expected: "names with the address of a feed each, such as { news = \"https://example.org/feed.xml\" }",
            check_name: check_callback,
        },
        /// The secrets they sign with, by the same names.
        websub_secrets: BTreeMap<String, Secret> = Map {
            value: Hidden(16, 199),
            expected: "names of hints.websub with a secret each",
            check_name: check_callback,
        },
        /// Most pages that one sender may speak of per minute.
        pages_per_minute: u32 = Count::new(1, 10_000_000),
    }

    /// The log between the stages.
    log: Log {
        /// Partitions of each embedded topic.
        partitions: u32 = Count::new(1, 4_096),
        /// Most records in one transaction.
        batch_records: usize = Count::new(1, 1_000_000),
        /// Bytes of records after which a batch takes no further one.
        batch_bytes: u64 = Count::new(1 << 20, 1 << 30),
        /// Longest wait until a smaller batch is taken.
        batch_interval: Duration = Span(Duration::ZERO, MINUTE),
        /// Longest wait at the end for what is under way.
        drain_timeout: Duration = Span(Duration::ZERO, HOUR),
        /// Least time fetch results are kept; `None` for as long as the loop needs them.
        retention_results: Option<Duration> = Optional(RETENTION),
        /// Least time page changes are kept.
        retention_changes: Duration = RETENTION,
        /// Least time dead letters are kept.
        retention_dead_letters: Duration = RETENTION,
        /// How often the embedded log is synced to its disk; `None` for never.
        sync: Option<Duration> = OrWord("never", Span(Duration::from_millis(10), HOUR)),
    }

    /// Apache Kafka as the log, for services run separately.
    kafka: Kafka {
        /// Bootstrap servers, comma-separated; `None` when there is no Kafka.
        brokers: Option<String> = Optional(Text("host:port, several with commas, such as \"kafka-0:9092\"", is_brokers)),
        /// Put before every topic name.
        topic_prefix: String = KAFKA_NAME,
        /// Put before every consumer group and transactional id.
        group_prefix: String = KAFKA_NAME,
        /// Partitions of each topic.
        partitions: u32 = Count::new(1, 4_096),
        /// Copies of each topic.
        replication_factor: u16 = Count::new(1, 100),
        /// Name shown in the brokers' logs; `None` for the service's name.
        client_id: Option<String> = Optional(KAFKA_NAME),
        /// Silence after which a service loses its partitions.
        session_timeout: Duration = Span(SECOND, HOUR),
        /// Time after which the broker aborts a transaction.
        transaction_timeout: Duration = Span(SECOND, 15 * MINUTE),
        /// What connections are protected by.
        security_protocol: SecurityProtocol = Choice(SecurityProtocol::NAMES),
        /// How a process logs in; `None` when it does not.
        sasl_mechanism: Option<SaslMechanism> = Optional(Choice(SaslMechanism::NAMES)),
        /// User; the client id for OAUTHBEARER.
        username: Option<String> = Optional(Text("a user name", not_empty)),
        /// Password; the client secret for OAUTHBEARER.
        password: Option<Secret> = Optional(Phrase),
        /// File with the password, read when connecting.
        password_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/kafka/password\"")),
        /// Where tokens are got for OAUTHBEARER.
        oauth_token_url: Option<String> =
            Optional(Text("the address of a token endpoint, such as \"https://id.example.org/token\"", is_endpoint)),
        /// What a token is asked for.
        oauth_scope: Option<String> = Optional(Text("a scope, such as \"kafka\"", not_empty)),
        /// PEM file with the authorities that may vouch for brokers; `None` for those the system trusts.
        ca_file: Option<PathBuf> = Optional(Path("a file name, such as \"kafka-ca.pem\"")),
        /// PEM file with our own certificate.
        certificate_file: Option<PathBuf> = Optional(Path("a file name, such as \"recrawl.pem\"")),
        /// PEM file with its key.
        key_file: Option<PathBuf> = Optional(Path("a file name, such as \"recrawl-key.pem\"")),
        /// File with the key's password, read when connecting.
        key_password_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/kafka/key-password\"")),
        /// Further librdkafka properties, passed through.
        properties: KafkaProperties = Properties,
    }

    /// Health, metrics and status.
    http: Http {
        /// Address and port to listen on; port 0 takes any free one.
        bind: SocketAddr = SOCKET,
    }

    /// Time, for replays: virtual time = origin + speed × (real time − anchor).
    clock: Clock {
        /// Virtual seconds per real second.
        speed: f64 = Number(0.001, 1_000_000_000.0),
        /// Virtual time at the anchor, in Unix seconds.
        origin: Option<f64> = Optional(UNIX_SECONDS),
        /// Real time at which virtual time equals the origin, in Unix seconds; the same for all processes.
        anchor: Option<f64> = Optional(UNIX_SECONDS),
    }

    /// What an operator sees.
    observability: Observability {
        /// Form of log lines.
        log_format: LogFormat = Choice(&[("text", LogFormat::Text), ("json", LogFormat::Json)]),
        /// Least level logged, also per module, as `tracing_subscriber::EnvFilter` reads it.
        log_filter: String = Text("a level, also per module, such as \"info\" or \"warn,fetcher=debug\"", not_empty),
    }
}

/// Which links become pages of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discover {
    /// None: only seeds are crawled.
    None,
    /// Links to the same authority.
    SameHost,
    /// Links within the same registrable domain.
    SameSite,
}

/// What is kept of a page's last accepted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Nothing.
    None,
    /// What a reader sees.
    Text,
    /// The bytes as received.
    Body,
}

/// Form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

impl Urls {
    /// The same, to be applied.
    pub fn rules(&self) -> UrlRules {
        UrlRules {
            drop_parameters: self.drop_parameters.clone(),
            sort_parameters: self.sort_parameters,
            merge_slashes: self.merge_slashes,
            max_parameters: self.max_parameters,
            max_repeated_segments: self.max_repeated_segments,
        }
    }
}

impl Crawl {
    /// The `User-Agent` header: product, and the contact where there is one.
    pub fn user_agent_header(&self) -> String {
        match &self.contact {
            Some(contact) => format!("{} (+{contact})", self.user_agent),
            None => self.user_agent.clone(),
        }
    }

    /// The name looked for in robots.txt: the user agent up to the slash.
    pub fn product_token(&self) -> &str {
        self.user_agent.split('/').next().unwrap_or_default().trim()
    }

    /// What is wrong when there is no contact though others' machines are to be visited.
    pub fn contact_required_fault(&self, is_loopback_only: bool) -> Option<Fault> {
        (self.contact.is_none() && !is_loopback_only).then(|| Fault {
            origin: None,
            key: Some("crawl.contact".to_owned()),
            problem: "is absent, but pages of other people's machines are to be fetched".to_owned(),
            remedy: format!("write {}", CONTACT.expected()),
        })
    }
}

const SECOND: Duration = page::SECOND;
const MINUTE: Duration = page::MINUTE;
const HOUR: Duration = page::HOUR;
const DAY: Duration = page::DAY;
const YEAR: Duration = Duration::from_secs(365 * 86_400);
const TEN_YEARS: Duration = Duration::from_secs(3_650 * 86_400);

const RATE: Number = Number(0.000_001, 1_000_000.0);
const TIMEOUT: Span = Span(Duration::from_millis(1), HOUR);
const SOCKET: Parsed<SocketAddr> =
    Parsed("an IP address with a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"", |text| text.parse().ok());
const RETENTION: Span = Span(SECOND, TEN_YEARS);
/// To the end of the year 9999.
const UNIX_SECONDS: Number = Number(0.0, 253_402_300_799.0);
const CONTACT: Text = Text(
    "a web page or mail address where a site's owner can reach you, such as \"https://example.org/our-crawler\" or \
     \"mailto:crawler@example.org\"",
    is_contact,
);
const KAFKA_NAME: Text = Text("letters, digits, '.', '_' and '-' only, 100 at most", is_kafka_name);

fn check_pattern(pattern: &str) -> Result<(), String> {
    if is_host_pattern(pattern) { Ok(()) } else { Err(format!("{pattern:?} is not a host name or pattern")) }
}

fn check_host(host: &str) -> Result<(), String> {
    let authority = CanonicalUrl::parse(&format!("http://{host}/")).map(|url| url.host());
    let is_host = authority.is_ok_and(|authority| authority.as_str() == host);
    if is_host { Ok(()) } else { Err(format!("{host:?} is not a host in lower case, its port behind it if any")) }
}

fn check_callback(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_name { Ok(()) } else { Err(format!("{name:?} is not of letters, digits, '-' and '_'")) }
}

/// A name, with a star at its end for any ending; a star alone would drop everything.
fn is_parameter_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"*&=;/?#%".contains(&byte))
}

/// It becomes part of a header and, up to the slash, the name looked for in robots.txt.
fn is_user_agent(text: &str) -> bool {
    let product = text.split(['/', ' ']).next().unwrap_or_default();
    let in_product = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !product.is_empty() && product.bytes().all(in_product) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// It stands in brackets in a header, so it may contain neither brackets nor spaces.
fn is_contact(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| (b'!'..=b'~').contains(&byte) && !b"()\\\"".contains(&byte));
    let is_mail =
        |address: &str| address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    is_plain && text.strip_prefix("mailto:").map_or_else(|| CanonicalUrl::parse(text).is_ok(), is_mail)
}

fn is_brokers(text: &str) -> bool {
    text.split(',').all(|broker| !broker.trim().is_empty() && !broker.trim().contains(char::is_whitespace))
}

/// Without user and password, which have settings of their own.
fn is_endpoint(text: &str) -> bool {
    !text.contains('@') && CanonicalUrl::parse(text).is_ok()
}

fn is_kafka_name(text: &str) -> bool {
    text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn not_empty(text: &str) -> bool {
    !text.trim().is_empty()
}
