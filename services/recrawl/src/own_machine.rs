//! Pages on the crawler's own machine. Without a contact nothing else is fetched, and no page of the web can lead
//! there. So an operator who names such pages need not allow their addresses as well.

use crate::stages::topologies;
use operate::{Inspection, has_crawl};
use page::CanonicalUrl;
use settings::Settings;
use settings::seeds::Seed;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

/// Whether a URL leads to this machine, also by `fetch.resolve`.
pub(crate) fn is_here(settings: &Settings, url: &CanonicalUrl) -> bool {
    let address = settings.fetch.resolve_override(url.host_name()).map(|address| address.ip());
    is_loopback(url.host_name()) || address.is_some_and(|address| address.is_loopback())
}

/// Whether a host name itself names this machine. One that merely resolves to loopback does not: it may belong to
/// another party.
fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Allows the loopback addresses of the seeds, and of the crawl that is continued, if there is no contact.
pub(crate) fn allow(settings: &mut Settings, seeds: &[Seed], data: &Path) {
    if settings.crawl.contact.is_some() {
        return;
    }
    let mut hosts: BTreeSet<String> = BTreeSet::new();
    let mut take = |name: &str| hosts.extend(is_loopback(name).then(|| name.to_owned()));
    seeds.iter().for_each(|seed| take(seed.url.host_name()));
    // A directory that cannot be read is reported when the crawl opens it.
    if has_crawl(data)
        && let Ok(known) =
            Inspection::open(settings, topologies(), data).and_then(|inspection| inspection.host_schedules())
    {
        known.keys().for_each(|host| take(host.as_str()));
    }
    hosts.iter().for_each(|host| settings.fetch.allow_private_host(host));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(urls: &[&str], contact: Option<&str>) -> Vec<String> {
        let mut settings = Settings::default();
        settings.crawl.contact = contact.map(str::to_owned);
        let list = settings::seeds::parse(&urls.join("\n"));
        allow(&mut settings, &list.seeds, Path::new("no-such-directory"));
        settings.fetch.allow_private_addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn seeds_on_this_machine_are_allowed_while_no_one_elses_pages_are_fetched() {
        let urls = ["http://127.0.0.1:8000/a", "http://127.0.0.1/", "http://[::1]/", "http://localhost:1/"];
        assert_eq!(allowed(&urls, None), ["127.0.0.1", "::1", "localhost"]);
        assert!(allowed(&urls, Some("https://example.org/crawler")).is_empty());
        assert!(
            allowed(&["http://10.0.0.1/", "http://router.example/", "http://a.localhost.example/"], None).is_empty()
        );
    }
}
