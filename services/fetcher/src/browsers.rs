//! The browser of a network thread: started when a page needs it, ended when none has needed it for a while.

use crate::parts::Parts;
use crate::response::Response;
use crate::rules::FetcherRules;
use crate::sentinels::Sentinels;
use browser::{Browser, BrowserError, BrowserRules};
use document::ScriptSigns;
use messages::Digest;
use page::{CanonicalUrl, PageId, Timestamp};
use scope::{Rendering, Scope};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most pages rendered at once.
const AT_ONCE: usize = 4;
/// Pages after which a browser is ended, because it does not give back all memory.
const PAGES_OF_BROWSER: u32 = 200;
/// Idle time (real) after which a browser is ended.
const IDLE: Duration = Duration::from_secs(60);
/// Bytes of text that a page must gain at least.
const LEAST_GAIN: usize = 100;
/// How long a page that gains little is read as it is sent.
const IN_VAIN: Duration = Duration::from_secs(86_400);
/// Most such pages that are remembered. Beyond that all are tried again.
const MOST_IN_VAIN: usize = 100_000;

/// The browser, if a rule asks for one, and what is kept between renderings.
pub(crate) struct Browsers {
    rules: Option<BrowserRules>,
    scope: Arc<Scope>,
    running: Rc<RefCell<Option<Rc<Browser>>>>,
    /// Pages that the running one has rendered.
    rendered: Cell<u32>,
    /// Counts all renderings, so that an idle browser is known.
    uses: Rc<Cell<u64>>,
    pub(crate) turns: Semaphore,
    pub(crate) parts: RefCell<Parts>,
    pub(crate) sentinels: RefCell<Sentinels>,
    /// Until when pages are read as they are sent, because rendering them showed hardly more.
    in_vain: RefCell<HashMap<PageId, Timestamp>>,
}

impl Browsers {
    pub(crate) fn new(rules: &FetcherRules) -> Self {
        Self {
            rules: rules.browser.clone(),
            scope: rules.scope.clone(),
            running: Rc::default(),
            rendered: Cell::default(),
            uses: Rc::default(),
            turns: Semaphore::new(AT_ONCE),
            parts: RefCell::default(),
            sentinels: RefCell::default(),
            in_vain: RefCell::default(),
        }
    }

    /// Whether pages of a rule may be rendered, so that a request for one is never conditional: the document says nothing of
    /// its data.
    pub(crate) fn may_render(&self, page: &CanonicalUrl) -> bool {
        self.rules.is_some() && self.scope.rendering(page) != Rendering::Never
    }

    /// Whether the answer to a request for a page is rendered: a whole document whose page's rule asks for it, and which, if the
    /// rule leaves it open, shows signs that it needs a browser and has not been rendered in vain lately.
    pub(crate) fn renders(
        &self,
        page: &CanonicalUrl,
        known: Option<Digest>,
        response: &Response,
        now: Timestamp,
    ) -> bool {
        let was_rendered = self.sentinels.borrow().is_rendered(page.page_id(), known);
        let is_whole_document = self.rules.is_some()
            && matches!(response.status.as_u16(), 200..=205 | 207..=299)
            && !response.truncated
            && is_document(response.content_type().as_deref());
        if !is_whole_document {
            return false;
        }
        match self.scope.rendering(page) {
            Rendering::Never => false,
            Rendering::Always => true,
            // A page keeps its form: what is shown and what was sent differ.
            Rendering::Auto if was_rendered => true,
            Rendering::Auto => {
                let is_in_vain = self.in_vain.borrow().get(&page.page_id()).is_some_and(|until| *until > now);
                !is_in_vain && signs(&response.body, response.content_type().as_deref(), page).need_a_browser()
            }
        }
    }

    /// Whether a document is the better copy of a page: with it, more is shown than in what the server sent. One with less is never
    /// taken. Where the rule leaves it open, a page that gains little is read as it was sent, for a while.
    /// The form that the requester has is kept.
    pub(crate) fn is_gain(
        &self,
        page: &CanonicalUrl,
        known: Option<Digest>,
        sent: &Response,
        rendered: &str,
        now: Timestamp,
    ) -> bool {
        if self.sentinels.borrow().is_rendered(page.page_id(), known) && !rendered.is_empty() {
            return true;
        }
        let before = signs(&sent.body, sent.content_type().as_deref(), page).text_bytes;
        let after = ScriptSigns::of_html(rendered, page.host_name()).text_bytes;
        if self.scope.rendering(page) == Rendering::Always {
            return after >= before;
        }
        let gains = after >= before + LEAST_GAIN.max(before / 5);
        if !gains {
            self.is_in_vain(page, now);
        }
        gains
    }

    /// Notes that a page need not be rendered for a while.
    pub(crate) fn is_in_vain(&self, page: &CanonicalUrl, now: Timestamp) {
        let mut in_vain = self.in_vain.borrow_mut();
        if in_vain.len() >= MOST_IN_VAIN {
            in_vain.clear();
        }
        in_vain.insert(page.page_id(), now + IN_VAIN);
    }

    /// Whether the rule of a page leaves it open whether it is rendered.
    pub(crate) fn may_do_without(&self, page: &CanonicalUrl) -> bool {
        self.scope.rendering(page) == Rendering::Auto
    }

    /// The running browser, or a new one.
    pub(crate) async fn browser(&self) -> Result<Rc<Browser>, BrowserError> {
        let is_old = self.rendered.get() >= PAGES_OF_BROWSER;
        self.uses.set(self.uses.get() + 1);
        self.rendered.set(self.rendered.get() + 1);
        if let Some(running) = &*self.running.borrow()
            && !is_old
            && !running.is_over()
        {
            return Ok(running.clone());
        }
        let rules = self.rules.as_ref().expect("only pages of rules that ask for a browser are rendered");
        let started = Rc::new(Browser::start(rules).await?);
        self.rendered.set(1);
        *self.running.borrow_mut() = Some(started.clone());
        self.end_when_idle(&started);
        Ok(started)
    }

    /// After a page that harmed it, a browser ends as soon as it renders no other.
    pub(crate) fn is_harmed(&self) {
        self.running.borrow_mut().take();
    }

    fn end_when_idle(&self, started: &Rc<Browser>) {
        let (uses, running, started) = (self.uses.clone(), Rc::downgrade(&self.running), Rc::downgrade(started));
        tokio::task::spawn_local(async move {
            loop {
                let before = uses.get();
                tokio::time::sleep(IDLE).await;
                let Some(running) = running.upgrade() else { return };
                let mut running = running.borrow_mut();
                let is_it = running.as_ref().is_some_and(|browser| Rc::as_ptr(browser) == started.as_ptr());
                if !is_it {
                    return;
                }
                if uses.get() == before {
                    running.take();
                    return;
                }
            }
        });
    }
}

fn signs(body: &[u8], content_type: Option<&str>, page: &CanonicalUrl) -> ScriptSigns {
    let decoded = document::Body::new(body, content_type, None);
    ScriptSigns::of_html(decoded.html().unwrap_or_default(), page.host_name())
}

fn is_document(content_type: Option<&str>) -> bool {
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|document| media_type.eq_ignore_ascii_case(document))
}
