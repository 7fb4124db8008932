//! Selects the addresses of a host that may be contacted, and connects to the first that answers.

use crate::address::{embedded, is_public};
use crate::network::Network;
use crate::response::{FetchFailure, OwnCause};
use crate::rules::FetcherRules;
use messages::FetchOutcome;
use page::CanonicalUrl;
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// How often a connection that finds no file left is tried again.
const FILE_LOOK_EVERY: Duration = Duration::from_millis(100);

/// Refuses ports that the operator has not allowed.
pub(crate) fn allowed_port(url: &CanonicalUrl, rules: &FetcherRules) -> Result<(), FetchFailure> {
    let port = url.port();
    if rules.fetch.allows_port(port) {
        return Ok(());
    }
    let detail = format!("port {port} is not among fetch.ports; a port that browsers refuse has to be named by itself");
    Err(FetchFailure::new(FetchOutcome::PortRefused, detail))
}

/// Refuses addresses that the operator does not want crawled.
pub(crate) fn wanted(url: &CanonicalUrl, rules: &FetcherRules) -> Result<(), FetchFailure> {
    let decision = rules.scope.decide(url);
    match decision.allows() {
        true => Ok(()),
        false => Err(FetchFailure::new(FetchOutcome::OutOfScope, format!("{url}: {decision}"))),
    }
}

/// Refuses a URL that needs no look-up for it: by its port, or by an address that is written out.
pub(crate) async fn in_scope(url: &CanonicalUrl, network: &Network) -> Result<(), FetchFailure> {
    allowed_port(url, &network.rules)?;
    match url.host_address() {
        Some(_) => addresses(url, network).await.map(drop),
        None => Ok(()),
    }
}

/// The addresses that a proxy may be asked for on behalf of a URL. The proxy may choose any address of a name, so all of them
/// must be allowed. None for a name that only the proxy can resolve: it is left to it if the operator trusts it with that.
/// And none for a name that the operator resolves, which is for connections of our own.
pub(crate) async fn allowed_through_proxy(
    url: &CanonicalUrl,
    network: &Network,
) -> Result<Vec<SocketAddr>, FetchFailure> {
    if let Some(address) = network.rules.fetch.resolve_override(url.host_name()) {
        return with_contact(vec![address], &network.rules).map(|_| Vec::new());
    }
    match addresses_if(url, network, Needed::All).await {
        Err(failure) if failure.outcome == FetchOutcome::DnsFailed => {
            if !network.rules.fetch.proxy_resolves_names {
                let detail = format!("{}; fetch.proxy_resolves_names would leave it to the proxy", failure.detail);
                return Err(FetchFailure { detail, ..failure });
            }
            with_contact(Vec::new(), &network.rules)
        }
        found => found,
    }
}

/// How many addresses of a name must be allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    /// One: the others are not dialled.
    Some,
    All,
}

/// The host's allowed addresses.
pub(crate) async fn addresses(url: &CanonicalUrl, network: &Network) -> Result<Vec<SocketAddr>, FetchFailure> {
    addresses_if(url, network, Needed::Some).await
}

async fn addresses_if(url: &CanonicalUrl, network: &Network, needed: Needed) -> Result<Vec<SocketAddr>, FetchFailure> {
    let rules = &*network.rules;
    let host = url.host_name();
    // The operator configured this address, so it is not checked.
    if let Some(address) = rules.fetch.resolve_override(host) {
        return with_contact(vec![address], rules);
    }
    let found = match url.host_address() {
        Some(address) => vec![address],
        None => {
            let found = network.resolver.addresses(host).await;
            found.map_err(|problem| FetchFailure::new(FetchOutcome::DnsFailed, problem))?
        }
    };
    let port = url.port();
    let allowed = allowed_of(&found, host, network, needed)?;
    with_contact(allowed.into_iter().map(|address| SocketAddr::new(address, port)).collect(), rules)
}

/// The address that requests for a page will go to, which other hosts may share. `None` for an address set by the
/// operator, and if the lookup fails: connecting then reports the error.
pub(crate) async fn shared_address(url: &CanonicalUrl, network: &Network) -> Option<IpAddr> {
    let (fetch, host) = (&network.rules.fetch, url.host_name());
    if network.rules.address_delay.is_zero()
        || fetch.resolve_override(host).is_some()
        || fetch.proxy_for(host).is_some()
    {
        return None;
    }
    let found = tokio::time::timeout(fetch.connect_timeout, addresses(url, network)).await;
    found.ok()?.ok()?.first().map(|address| address.ip().to_canonical())
}

/// The addresses that are not refused.
fn allowed_of(found: &[IpAddr], host: &str, network: &Network, needed: Needed) -> Result<Vec<IpAddr>, FetchFailure> {
    let (mut allowed, mut refused) = (Vec::new(), None);
    for address in found {
        match refusal(*address, host, network) {
            None => allowed.push(*address),
            Some(why) => refused = refused.or(Some(why)),
        }
    }
    match refused {
        Some(why) if allowed.is_empty() || needed == Needed::All => {
            Err(FetchFailure::new(FetchOutcome::AddressRefused, why))
        }
        _ => Ok(allowed),
    }
}

/// Why an address is refused. Public ones are allowed, and those that the operator allows, but for those that the operator
/// denies.
fn refusal(address: IpAddr, host: &str, network: &Network) -> Option<String> {
    let fetch = &network.rules.fetch;
    let is_denied = |address| fetch.denies_address(address);
    if is_denied(address) || embedded(address).is_some_and(is_denied) {
        return Some(format!("{address} is among fetch.deny_addresses"));
    }
    let what = match is_public(address) {
        true if !(network.is_of_this_machine)(embedded(address).unwrap_or(address)) => return None,
        true => "an address of this machine",
        false => "not a public address",
    };
    let is_allowed = fetch.allows_private(host, address);
    (!is_allowed).then(|| format!("{address} is {what}; fetch.allow_private_addresses may allow it"))
}

/// Without a contact address in the settings, only loopback is visited: site owners must know whom to write to.
fn with_contact(addresses: Vec<SocketAddr>, rules: &FetcherRules) -> Result<Vec<SocketAddr>, FetchFailure> {
    let is_here = !addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback());
    if rules.has_contact || is_here {
        return Ok(addresses);
    }
    let detail = "crawl.contact is absent; set it to a web page or mail address where a site's owner can reach you";
    Err(FetchFailure::new(FetchOutcome::ContactMissing, detail.to_owned()))
}

/// Connects, waiting for an open file if there is none left, which is no fault of the host. Other fetches end and leave
/// theirs. It waits half of the time, so that the end of the other half says something of the host.
async fn connect(address: SocketAddr, limit: Duration, network: &Network) -> io::Result<TcpStream> {
    let patience = Instant::now() + limit / 2;
    loop {
        match TcpStream::connect(address).await {
            Err(error) if (network.has_no_file_left)(&error) && Instant::now() < patience => {
                tokio::time::sleep(FILE_LOOK_EVERY).await;
            }
            connected => return connected,
        }
    }
}

/// Whether the process or the machine has as many open files as it may have.
pub(crate) fn has_no_file_left(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Tries the addresses in turn. Connects to exactly the checked addresses, without another lookup. An address that does
/// not respond leaves time for the next.
pub(crate) async fn dial(addresses: &[SocketAddr], network: &Network) -> Result<TcpStream, FetchFailure> {
    let limit = network.rules.fetch.connect_timeout;
    let each = limit / u32::try_from(addresses.len().clamp(1, 4)).unwrap_or(1);
    let mut problem = String::new();
    for address in addresses {
        match tokio::time::timeout(each, connect(*address, each, network)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if (network.has_no_file_left)(&error) => {
                let failure = FetchFailure::new(FetchOutcome::ConnectFailed, format!("{address}: {error}"));
                return Err(FetchFailure { ours: Some(OwnCause::NoFile), ..failure });
            }
            Ok(Err(error)) => problem = format!("{address}: {error}"),
            Err(_) if addresses.len() == 1 => {
                let detail = format!("{address}: no connection within {} s", limit.as_secs_f64());
                return Err(FetchFailure::new(FetchOutcome::TimedOut, detail));
            }
            Err(_) => problem = format!("{address}: no connection within {} s", each.as_secs_f64()),
        }
    }
    Err(FetchFailure::new(FetchOutcome::ConnectFailed, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::tests::scripted;
    use settings::{Layers, Settings};
    use std::sync::Arc;

    fn network(answers: &[&[&str]], allowed: &str) -> Network {
        let overrides = [
            ("crawl.contact".to_owned(), "https://example.org/crawler".to_owned()),
            ("fetch.allow_private_addresses".to_owned(), allowed.to_owned()),
        ];
        let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
        // A zero TTL: every answer has expired.
        let (resolver, _) = scripted(answers, Duration::ZERO);
        let rules = Arc::new(FetcherRules::new(&settings).unwrap());
        let clock = stream_testing::ManualClock::at(page::Timestamp::from_secs(0));
        let is_of_this_machine = |address: IpAddr| address.to_string() == "198.51.101.99";
        Network { resolver, is_of_this_machine, ..Network::new(rules, clock) }
    }

    #[test]
    fn the_public_address_of_this_machine_is_refused_unless_it_is_allowed() {
        let own: &[&str] = &["198.51.101.99"];
        assert_eq!(addresses_of("http://own.example/", &network(&[own], "")), Err(FetchOutcome::AddressRefused));
        let embedded: &[&str] = &["::ffff:198.51.101.99"];
        assert_eq!(addresses_of("http://own.example/", &network(&[embedded], "")), Err(FetchOutcome::AddressRefused));
        let allowed = Ok(vec!["198.51.101.99:80".to_owned()]);
        assert_eq!(addresses_of("http://own.example/", &network(&[own], "own.example")), allowed);
    }

    #[test]
    fn denied_networks_are_refused_however_they_are_reached_and_also_if_they_are_allowed() {
        let refuses = |address: &str, allowed: &str| {
            let mut network = network(&[&[address]], allowed);
            let mut rules = (*network.rules).clone();
            let denied = [("fetch.deny_addresses".to_owned(), "10.1.0.0/16,198.51.101.0/24".to_owned())];
            let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &denied }).unwrap();
            rules.fetch.deny_addresses = settings.fetch.deny_addresses;
            network.rules = Arc::new(rules);
            addresses_of("http://a.example/", &network) == Err(FetchOutcome::AddressRefused)
        };
        for address in ["198.51.101.1", "::ffff:198.51.101.1", "64:ff9b::c633:6501", "2002:c633:6501::1", "10.1.2.3"] {
            assert!(refuses(address, "10.0.0.0/8,198.51.101.0/24"), "{address}");
        }
        assert!(!refuses("198.51.102.1", "") && !refuses("10.2.0.1", "10.0.0.0/8"));
    }

    #[test]
    fn a_proxy_is_asked_only_for_a_name_whose_addresses_are_all_allowed() {
        let asked_for = |answer: &[&str]| {
            let network = network(&[answer], "");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let url = CanonicalUrl::parse("https://mixed.example/").unwrap();
            let found = runtime.block_on(allowed_through_proxy(&url, &network));
            found.map(|found| found.len()).map_err(|failure| failure.outcome)
        };
        assert_eq!(asked_for(&["198.51.101.1", "2606:4700::1111"]), Ok(2));
        assert_eq!(asked_for(&["198.51.101.1", "10.0.0.1"]), Err(FetchOutcome::AddressRefused));
        assert_eq!(asked_for(&[]), Err(FetchOutcome::DnsFailed));
    }

    fn addresses_of(url: &str, network: &Network) -> Result<Vec<String>, FetchOutcome> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(addresses(&CanonicalUrl::parse(url).unwrap(), network));
        found.map(|found| found.iter().map(SocketAddr::to_string).collect()).map_err(|failure| failure.outcome)
    }

    #[test]
    fn a_name_that_is_bound_anew_to_a_private_address_leads_nowhere() {
        let network = network(&[&["198.51.101.1"], &["127.0.0.1"], &["::ffff:10.0.0.1"], &["198.51.101.1"]], "");
        let url = "http://rebound.example/";
        assert_eq!(addresses_of(url, &network), Ok(vec!["198.51.101.1:80".to_owned()]));
        assert_eq!(addresses_of(url, &network), Err(FetchOutcome::AddressRefused));
        assert_eq!(addresses_of(url, &network), Err(FetchOutcome::AddressRefused));
        assert_eq!(addresses_of(url, &network), Ok(vec!["198.51.101.1:80".to_owned()]));
    }

    #[test]
    fn of_a_mixed_answer_only_what_is_public_is_dialled() {
        let mixed: &[&str] = &["127.0.0.1", "198.51.101.1", "::1", "64:ff9b::7f00:1", "2606:4700::1111"];
        let public = Ok(vec!["198.51.101.1:8080".to_owned(), "[2606:4700::1111]:8080".to_owned()]);
        assert_eq!(addresses_of("http://mixed.example:8080/", &network(&[mixed], "")), public);
        let with_own = Ok(["127.0.0.1:80", "198.51.101.1:80", "[2606:4700::1111]:80"].map(str::to_owned).to_vec());
        assert_eq!(addresses_of("http://mixed.example/", &network(&[mixed], "127.0.0.0/8")), with_own);
    }

    #[test]
    fn a_name_without_addresses_fails_and_an_address_is_not_looked_up() {
        let network = network(&[&[]], "");
        assert_eq!(addresses_of("http://nowhere.example/", &network), Err(FetchOutcome::DnsFailed));
        assert_eq!(addresses_of("http://198.51.101.1/", &network), Ok(vec!["198.51.101.1:80".to_owned()]));
        assert_eq!(addresses_of("https://[2606:4700::1111]/", &network), Ok(vec!["[2606:4700::1111]:443".to_owned()]));
        for private in ["2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:7f00:1]", "10.0.0.1"] {
            let url = format!("http://{private}/");
            assert_eq!(addresses_of(&url, &network), Err(FetchOutcome::AddressRefused), "{private}");
        }
    }
}
