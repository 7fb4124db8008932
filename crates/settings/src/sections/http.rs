//! The section `[http]`.

use super::common::SOCKET;
use crate::form::{List, Text};
use std::net::SocketAddr;

section! {
    /// Endpoints for health, metrics and status.
    http: Http {
        /// Address and port to listen on; port 0 takes any free one.
        bind: SocketAddr = SOCKET,
        /// Host names under which requests may address the port, besides localhost and IP addresses.
        names: Vec<String> = List(Text("host names, such as [\"recrawl.example.org\"]", is_host_name)),
    }
}

fn is_host_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
}
