//! A browser without a network: it turns a page that scripts make into the document that a reader sees.
//!
//! Chromium runs in an empty network namespace, as a user of its own, with its sandbox on. Each of its requests comes to us
//! over the debugging pipe and is answered by a [`Door`], which obeys the rules of the crawl. Whatever goes round that
//! (WebSocket, WebRTC, popups, service workers) finds no network.
//!
//! Two looks at the same page give the same document: see `still.js`. A page is settled when no request is open, nothing
//! has changed for a while, and the timers of its first seconds have run.
//!
//! The crate knows nothing of hosts, robots.txt or schedules.

mod browser;
mod interception;
mod jail;
mod pipe;
mod rendering;
mod session;

pub use crate::browser::{Browser, check};
pub use crate::jail::{BrowserRules, find_browser};
pub use crate::rendering::{
    Document, Door, PartAnswer, PartKind, PartRefusal, PartRequest, RenderFailure, RenderLimits, RenderedPage,
};

/// Why a browser does not run.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// No browser was found.
    #[error(
        "no browser is found: none of {tried} is on PATH; install Debian's package chromium-headless-shell, or name one by \
         fetch.browser"
    )]
    NotFound {
        /// Names of the programs.
        tried: String,
    },
    /// It could not be started, or ended at once.
    #[error(
        "{program} does not start without a network ({detail}); it needs the tools unshare, setpriv and prlimit of util-linux, and \
         user namespaces for its sandbox (sysctl user.max_user_namespaces; in a container, a profile that allows them)"
    )]
    DoesNotStart {
        /// The browser's program.
        program: String,
        /// The reason, and the last lines that it printed.
        detail: String,
    },
}
