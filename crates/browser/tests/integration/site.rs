//! A site in memory, and its rendering.

use browser::{
    Browser, BrowserRules, Document, Door, PartAnswer, PartKind, PartRefusal, PartRequest, RenderFailure, RenderLimits,
    RenderedPage, find_browser,
};
use page::Timestamp;
use std::collections::HashMap;
use tokio::task::LocalSet;

/// The address of every page that is rendered.
pub(crate) const PAGE: &str = "http://a.test/page";

/// Answers by address, and what was asked for.
#[derive(Default)]
pub(crate) struct Site {
    pub(crate) parts: HashMap<String, (u16, &'static str, String)>,
    pub(crate) asked: Vec<(String, PartKind)>,
}

impl Site {
    pub(crate) fn with(mut self, path: &str, content_type: &'static str, body: &str) -> Self {
        self.parts.insert(format!("http://a.test{path}"), (200, content_type, body.to_owned()));
        self
    }

    pub(crate) fn redirecting(mut self, path: &str, to: &str) -> Self {
        self.parts.insert(format!("http://a.test{path}"), (302, "", to.to_owned()));
        self
    }

    /// The addresses asked for, without the host of the page.
    pub(crate) fn asked_for(&self) -> Vec<&str> {
        self.asked.iter().map(|(url, _)| url.strip_prefix("http://a.test").unwrap_or(url)).collect()
    }
}

impl Door for Site {
    async fn ask(&mut self, request: PartRequest) -> Result<PartAnswer, PartRefusal> {
        self.asked.push((request.url.clone(), request.kind));
        let Some((status, content_type, body)) = self.parts.get(&request.url) else { return Err(PartRefusal::Blocked) };
        let is_redirect = *status == 302;
        Ok(PartAnswer {
            status: *status,
            content_type: (!is_redirect).then(|| (*content_type).to_owned()),
            location: is_redirect.then(|| body.clone()),
            body: if is_redirect { Vec::new() } else { body.clone().into_bytes() }.into(),
            is_for_anybody: true,
        })
    }
}

/// The time that pages see.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_secs(1_700_000_000)
}

pub(crate) fn in_browser<T>(work: impl AsyncFnOnce(&Browser) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let program = find_browser(&std::env::var_os("PATH").unwrap()).unwrap();
        let browser = Browser::start(&BrowserRules { program }).await.unwrap();
        work(&browser).await
    })
}

pub(crate) async fn render_with(
    browser: &Browser,
    html: &str,
    site: &mut Site,
    limits: &RenderLimits,
) -> Result<RenderedPage, RenderFailure> {
    let document = Document { url: PAGE, content_type: "text/html; charset=utf-8", body: html.as_bytes(), now: now() };
    browser.render(&document, site, limits).await
}

pub(crate) async fn render(browser: &Browser, html: &str, site: &mut Site) -> String {
    render_with(browser, html, site, &RenderLimits::default()).await.unwrap().html
}
