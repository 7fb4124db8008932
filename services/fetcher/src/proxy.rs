//! Connections through a proxy. Plain HTTP requests are sent to it with the whole URL; TLS goes through a CONNECT
//! tunnel (RFC 9110 §9.3.6).

use crate::meter::{Meter, Metered};
use crate::network::Network;
use crate::request::basic;
use crate::response::FetchFailure;
use crate::route::dial;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::header::{self};
use hyper::upgrade::Upgraded;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use messages::FetchOutcome;
use page::CanonicalUrl;
use settings::Proxy;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// Bytes that a proxy may send beside the head of its answer before it opens a tunnel.
const SPARE_BYTES: u64 = 64 << 10;

/// Connects to the proxy. The operator configured it, so its address is not checked.
pub(crate) async fn reach(proxy: &Proxy, network: &Network) -> Result<TcpStream, FetchFailure> {
    let addresses = match proxy.host.parse() {
        Ok(address) => vec![address],
        Err(_) => {
            let found = network.resolver.addresses(&proxy.host).await;
            found.map_err(|problem| {
                FetchFailure::new(FetchOutcome::DnsFailed, format!("proxy {}: {problem}", proxy.host))
            })?
        }
    };
    let addresses: Vec<_> = addresses.into_iter().map(|address| SocketAddr::new(address, proxy.port)).collect();
    dial(&addresses, network).await
}

/// Most addresses of a host that a proxy is asked for.
const MOST_TUNNELS: usize = 4;

/// Opens a tunnel through the proxy to one of these addresses of the URL's host. They were checked: the proxy would look the
/// name up again, and could find others. Without addresses it is asked for the name.
pub(crate) async fn tunnel(
    proxy: &Proxy,
    url: &CanonicalUrl,
    addresses: &[SocketAddr],
    network: &Network,
) -> Result<TokioIo<Upgraded>, FetchFailure> {
    let mut targets: Vec<_> = addresses.iter().take(MOST_TUNNELS).map(SocketAddr::to_string).collect();
    if targets.is_empty() {
        targets.push(format!("{}:{}", url.host_name(), url.port()));
    }
    let last = targets.pop().unwrap_or_default();
    for target in targets {
        if let Ok(tunnel) = tunnel_to(proxy, &target, network).await {
            return Ok(tunnel);
        }
    }
    tunnel_to(proxy, &last, network).await
}

async fn tunnel_to(proxy: &Proxy, authority: &str, network: &Network) -> Result<TokioIo<Upgraded>, FetchFailure> {
    let failed = |error: hyper::Error| FetchFailure::new(FetchOutcome::ConnectFailed, format!("proxy: {error}"));
    let meter = Meter::new(network.rules.max_head() as u64 + SPARE_BYTES);
    let io = TokioIo::new(Metered { io: reach(proxy, network).await?, meter: meter.clone() });
    let (mut sender, connection) = http1::handshake::<_, Empty<Bytes>>(io).await.map_err(failed)?;
    tokio::task::spawn_local(async move {
        let _ = connection.with_upgrades().await;
    });
    let mut request = Request::builder().method(Method::CONNECT).uri(authority).header(header::HOST, authority);
    if let Some(credentials) = &proxy.credentials {
        request = request.header(header::PROXY_AUTHORIZATION, basic(credentials));
    }
    let request = request.body(Empty::new());
    let request = request.map_err(|error| FetchFailure::new(FetchOutcome::ClientError, error.to_string()))?;
    let response = sender.send_request(request).await.map_err(failed)?;
    if !response.status().is_success() {
        let detail = format!("proxy {} answered {}", proxy.host, response.status());
        return Err(FetchFailure::new(FetchOutcome::ConnectFailed, detail));
    }
    meter.lift();
    hyper::upgrade::on(response).await.map(TokioIo::new).map_err(failed)
}
