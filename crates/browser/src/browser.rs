//! A browser that runs, and renders one page or some at a time.

use crate::BrowserError;
use crate::jail::{BrowserRules, Jailed};
use crate::pipe::Pipe;
use crate::rendering::{Document, Door, RenderFailure, RenderLimits, RenderedPage};
use crate::session::Session;
use serde_json::json;
use std::time::Duration;
use tokio::task::LocalSet;

/// How long a browser may take to answer for the first time.
const START: Duration = Duration::from_secs(30);

/// Starts a browser and ends it, to learn whether it can be had here.
///
/// # Errors
/// Returns [`BrowserError::DoesNotStart`].
pub fn check(rules: &BrowserRules) -> Result<(), BrowserError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| BrowserError::DoesNotStart {
        program: rules.program.display().to_string(),
        detail: error.to_string(),
    })?;
    LocalSet::new().block_on(&runtime, async { Browser::start(rules).await.map(drop) })
}

/// A browser without a network. Runs in a tokio `LocalSet`. Dropping it ends its processes.
pub struct Browser {
    pipe: Pipe,
    _jailed: Jailed,
}

impl Browser {
    /// Starts it, and waits until it answers.
    ///
    /// # Errors
    /// Returns [`BrowserError::DoesNotStart`] if it ends or does not answer within half a minute.
    pub async fn start(rules: &BrowserRules) -> Result<Self, BrowserError> {
        let fails =
            |detail: String| BrowserError::DoesNotStart { program: rules.program.display().to_string(), detail };
        let mut jailed = Jailed::start(rules).map_err(|error| fails(error.to_string()))?;
        let child = &mut jailed.child;
        let (Some(to), Some(from), Some(printed)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(fails("it has no pipes".to_owned()));
        };
        let pipe = Pipe::open(to, from, printed).map_err(|error| fails(error.to_string()))?;
        match tokio::time::timeout(START, pipe.send(None, "Browser.getVersion", json!({}))).await {
            Ok(Ok(Ok(version))) => {
                tracing::debug!(version = %version["product"], "a browser has started");
                let denied = json!({ "behavior": "deny" });
                drop(pipe.send(None, "Browser.setDownloadBehavior", denied));
                Ok(Self { pipe, _jailed: jailed })
            }
            Ok(Ok(Err(error))) => Err(fails(error)),
            Ok(Err(_)) => {
                // Its last words may come behind the end of the pipe.
                tokio::task::yield_now().await;
                Err(fails(format!("it ended: {}", pipe.printed())))
            }
            Err(_) => Err(fails(format!("no answer within {} s: {}", START.as_secs(), pipe.printed()))),
        }
    }

    /// Whether it can render no more, because it has ended.
    pub fn is_over(&self) -> bool {
        self.pipe.is_closed()
    }

    /// Renders a document whose bytes are here. All else that it needs is asked for at the door.
    ///
    /// # Errors
    /// Returns why there is no rendered document.
    pub async fn render(
        &self,
        document: &Document<'_>,
        door: &mut impl Door,
        limits: &RenderLimits,
    ) -> Result<RenderedPage, RenderFailure> {
        let mut session = Session::open(&self.pipe, limits).await?;
        let rendered = session.render(document, door).await;
        session.close().await;
        rendered
    }
}
