//! The section `[http]`.

use super::common::SOCKET;
use std::net::SocketAddr;

section! {
    /// Endpoints for health, metrics and status.
    http: Http {
        /// Address and port to listen on; port 0 takes any free one.
        bind: SocketAddr = SOCKET,
    }
}
