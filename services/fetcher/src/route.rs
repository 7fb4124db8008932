//! The way to a host: which of its addresses may be reached, and the first of them that answers.

use crate::address::is_public;
use crate::exchange::Failure;
use crate::network::Network;
use crate::rules::Rules;
use messages::FetchOutcome;
use page::CanonicalUrl;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;

/// Whether the operator lets a port be connected to.
pub(crate) fn allowed_port(url: &CanonicalUrl, rules: &Rules) -> Result<(), Failure> {
    let port = url.port();
    if rules.fetch.allows_port(port) {
        return Ok(());
    }
    let detail = format!("port {port} is not among fetch.ports");
    Err(Failure::new(FetchOutcome::AddressRefused, detail))
}

/// Whether a proxy may be asked for an address: what would be refused here is not left to it. Names that only the
/// proxy can resolve are its own business.
pub(crate) async fn allowed_through_proxy(url: &CanonicalUrl, network: &Network) -> Result<(), Failure> {
    match addresses(url, network).await {
        Err(failure) if failure.outcome == FetchOutcome::DnsFailed => {
            with_contact(Vec::new(), &network.rules).map(drop)
        }
        found => found.map(drop),
    }
}

/// The addresses of a host that may be reached.
pub(crate) async fn addresses(url: &CanonicalUrl, network: &Network) -> Result<Vec<SocketAddr>, Failure> {
    let rules = &*network.rules;
    let host = url.host_name();
    // An entry of the operator's is leave enough, wherever it leads.
    if let Some(address) = rules.fetch.resolve_override(host) {
        return with_contact(vec![address], rules);
    }
    let found = match url.host_address() {
        Some(address) => vec![address],
        None => {
            let found = network.resolver.addresses(host).await;
            found.map_err(|problem| Failure::new(FetchOutcome::DnsFailed, problem))?
        }
    };
    let port = url.port();
    let allowed = allowed_of(&found, host, rules)?;
    with_contact(allowed.into_iter().map(|address| SocketAddr::new(address, port)).collect(), rules)
}

/// The address that requests for a page will go to, and that other hosts may have, too. Nothing for an address of the
/// operator's own choosing, and for one that leads nowhere, which is for the connection to say.
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

/// Those of a host's addresses that are public or allowed by name.
fn allowed_of(found: &[IpAddr], host: &str, rules: &Rules) -> Result<Vec<IpAddr>, Failure> {
    let is_allowed = |address: &IpAddr| is_public(*address) || rules.fetch.allows_private(host, *address);
    let allowed: Vec<_> = found.iter().copied().filter(is_allowed).collect();
    match found.first() {
        Some(first) if allowed.is_empty() => {
            let detail = format!("{first} is not a public address; fetch.allow_private_addresses may allow it");
            Err(Failure::new(FetchOutcome::AddressRefused, detail))
        }
        _ => Ok(allowed),
    }
}

/// Other people's machines are visited only by a crawler that says whom to write to.
fn with_contact(addresses: Vec<SocketAddr>, rules: &Rules) -> Result<Vec<SocketAddr>, Failure> {
    let is_here = !addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback());
    if rules.has_contact || is_here {
        return Ok(addresses);
    }
    let detail = "crawl.contact is absent; set it to a web page or mail address where a site's owner can reach you";
    Err(Failure::new(FetchOutcome::AddressRefused, detail.to_owned()))
}

/// Tries the addresses in turn. What is connected to is what was checked: the name is not looked up again. An address
/// that says nothing leaves time for the next.
pub(crate) async fn dial(addresses: &[SocketAddr], limit: Duration) -> Result<TcpStream, Failure> {
    let each = limit / u32::try_from(addresses.len().clamp(1, 4)).unwrap_or(1);
    let mut problem = String::new();
    for address in addresses {
        match tokio::time::timeout(each, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => problem = format!("{address}: {error}"),
            Err(_) if addresses.len() == 1 => {
                let detail = format!("{address}: no connection within {} s", limit.as_secs_f64());
                return Err(Failure::new(FetchOutcome::TimedOut, detail));
            }
            Err(_) => problem = format!("{address}: no connection within {} s", each.as_secs_f64()),
        }
    }
    Err(Failure::new(FetchOutcome::ConnectFailed, problem))
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
        // Nothing is remembered, as if every answer had run out.
        let (resolver, _) = scripted(answers, Duration::ZERO);
        let rules = Arc::new(Rules::new(&settings).unwrap());
        let clock = stream::testing::ManualClock::at(page::Timestamp::from_secs(0));
        Network { resolver, ..Network::new(rules, clock) }
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
