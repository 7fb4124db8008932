//! A connection to a host: found, checked, opened, secured.

use crate::address::is_public;
use crate::exchange::Failure;
use crate::rules::Rules;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use messages::FetchOutcome;
use page::CanonicalUrl;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// An open HTTP/1.1 connection.
pub(crate) struct Connection {
    pub(crate) sender: http1::SendRequest<Empty<Bytes>>,
    /// Whether an exchange has already gone over it, so that the host may have closed it meanwhile.
    pub(crate) used: bool,
}

impl Connection {
    /// Opens a connection for an address, within the time to connect.
    pub(crate) async fn open(url: &CanonicalUrl, rules: &Rules) -> Result<Self, Failure> {
        let limit = rules.fetch.connect_timeout;
        tokio::time::timeout(limit, Self::connect(url, rules)).await.unwrap_or_else(|_| {
            Err(Failure::new(FetchOutcome::TimedOut, format!("no connection within {} s", limit.as_secs_f64())))
        })
    }

    async fn connect(url: &CanonicalUrl, rules: &Rules) -> Result<Self, Failure> {
        let tcp = dial(&addresses(url, rules).await?).await?;
        let _ = tcp.set_nodelay(true);
        if url.scheme() != "https" {
            return Self::handshake(TokioIo::new(tcp), rules).await;
        }
        let name = ServerName::try_from(url.host_name().to_owned());
        let name = name.map_err(|error| Failure::new(FetchOutcome::TlsFailed, error.to_string()))?;
        let connector = TlsConnector::from(rules.tls.clone());
        let tls = connector.connect(name, tcp).await;
        Self::handshake(
            TokioIo::new(tls.map_err(|error| Failure::new(FetchOutcome::TlsFailed, error.to_string()))?),
            rules,
        )
        .await
    }

    async fn handshake<T>(io: T, rules: &Rules) -> Result<Self, Failure>
    where
        T: hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
    {
        let max_header = usize::try_from(rules.fetch.max_header).unwrap_or(usize::MAX).max(8 << 10);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(max_header).max_headers(1_000);
        let (sender, connection) = builder
            .handshake(io)
            .await
            .map_err(|error| Failure::new(FetchOutcome::ConnectFailed, error.to_string()))?;
        // It ends when the sender is dropped or the host closes; its error is seen by the exchange that needs it.
        tokio::task::spawn_local(async move {
            let _ = connection.await;
        });
        Ok(Self { sender, used: false })
    }
}

/// The addresses of a host that may be reached.
async fn addresses(url: &CanonicalUrl, rules: &Rules) -> Result<Vec<SocketAddr>, Failure> {
    let bare = url.host_name();
    // An entry of the operator's is leave enough, wherever it leads.
    if let Some(address) = rules.fetch.resolve_override(bare) {
        return with_contact(vec![address], rules);
    }
    let port = url.port();
    let found = tokio::net::lookup_host((bare, port)).await;
    let found: Vec<_> = found.map_err(|error| Failure::new(FetchOutcome::DnsFailed, error.to_string()))?.collect();
    let Some(first) = found.first().copied() else {
        return Err(Failure::new(FetchOutcome::DnsFailed, "the name has no address".to_owned()));
    };
    let allowed: Vec<_> = found
        .into_iter()
        .filter(|found| is_public(found.ip()) || rules.fetch.allows_private(bare, found.ip()))
        .collect();
    if allowed.is_empty() {
        let detail = format!("{} is not a public address; fetch.allow_private_addresses may allow it", first.ip());
        return Err(Failure::new(FetchOutcome::AddressRefused, detail));
    }
    with_contact(allowed, rules)
}

/// Other people's machines are visited only by a crawler that says whom to write to.
fn with_contact(addresses: Vec<SocketAddr>, rules: &Rules) -> Result<Vec<SocketAddr>, Failure> {
    if rules.has_contact || addresses.iter().all(|address| address.ip().is_loopback()) {
        return Ok(addresses);
    }
    let detail = "crawl.contact is absent; set it to a web page or mail address where a site's owner can reach you";
    Err(Failure::new(FetchOutcome::AddressRefused, detail.to_owned()))
}

/// Tries the addresses in turn. What is connected to is what was checked: the name is not looked up again.
async fn dial(addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
    let mut problem = String::new();
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = format!("{address}: {error}"),
        }
    }
    Err(Failure::new(FetchOutcome::ConnectFailed, problem))
}
