//! The connections of the server, with TLS or without.

use crate::server::{ServedWeb, answer};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::net::TcpListener as StdListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The first byte of a TLS connection.
const TLS_HANDSHAKE: [u8; 1] = [0x16];

/// Accepts connections and serves them.
pub(crate) async fn accept(listener: StdListener, site: Arc<ServedWeb>) {
    let listener = TcpListener::from_std(listener).expect("the listener does not block and the runtime has a reactor");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve(stream, Arc::clone(&site)));
            }
            // Out of file descriptors, or a connection that died while it waited: give others time to close.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn serve(stream: TcpStream, site: Arc<ServedWeb>) {
    // Without it a body's last packet may wait for the client. If the connection is gone, the error does not matter.
    let _ = stream.set_nodelay(true);
    match &site.tls {
        Some(tls) if begins_with_tls(&stream).await => serve_secured(stream, &tls.clone(), site).await,
        _ => {
            if let Some(stream) = serve_requests(stream, false, site).await {
                let _ = stream.set_zero_linger();
            }
        }
    }
}

async fn begins_with_tls(stream: &TcpStream) -> bool {
    let mut first = [0];
    // A client that leaves before its first byte has sent no request.
    stream.peek(&mut first).await.is_ok_and(|length| length > 0) && first == TLS_HANDSHAKE
}

async fn serve_secured(stream: TcpStream, tls: &TlsAcceptor, site: Arc<ServedWeb>) {
    // A client that does not trust the certificate leaves without a request.
    let Ok(stream) = tls.accept(stream).await else { return };
    if let Some(stream) = serve_requests(stream, true, site).await {
        let _ = stream.get_ref().0.set_zero_linger();
    }
}

/// Serves the requests of a connection. Returns it if it is to be reset: without a linger time, closing sends RST instead
/// of FIN.
async fn serve_requests<S>(stream: S, is_secure: bool, site: Arc<ServedWeb>) -> Option<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let reset = Arc::new(AtomicBool::new(false));
    let service = service_fn(|request| answer(request, is_secure, Arc::clone(&site), Arc::clone(&reset)));
    let mut connection = http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(stream), service);
    // Errors are clients leaving or our own resets; the ledger has both.
    let _ = Pin::new(&mut connection).await;
    reset.load(Ordering::Relaxed).then(|| connection.into_parts().io.into_inner())
}
