//! The browser of a network thread: started when a page needs it, ended when none has needed it for a while.

use crate::parts::Parts;
use crate::response::Response;
use crate::rules::FetcherRules;
use browser::{Browser, BrowserError, BrowserRules};
use page::CanonicalUrl;
use scope::Scope;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most pages rendered at once.
const AT_ONCE: usize = 2;
/// Pages after which a browser is ended, because it does not give back all memory.
const PAGES_OF_BROWSER: u32 = 200;
/// Idle time (real) after which a browser is ended.
const IDLE: Duration = Duration::from_secs(60);

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
        }
    }

    /// Whether the answer to a request for a page is rendered: a whole document whose page's rule asks for it.
    pub(crate) fn renders(&self, page: &CanonicalUrl, response: &Response) -> bool {
        self.rules.is_some()
            && matches!(response.status.as_u16(), 200..=205 | 207..=299)
            && !response.truncated
            && is_document(response.content_type().as_deref())
            && self.scope.renders(page)
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
        Ok(started)
    }

    /// A page has been rendered. Unless another one follows soon, the browser ends.
    pub(crate) fn is_done(&self) {
        self.uses.set(self.uses.get() + 1);
        let (uses, running, now) = (self.uses.clone(), Rc::downgrade(&self.running), self.uses.get());
        tokio::task::spawn_local(async move {
            tokio::time::sleep(IDLE).await;
            if uses.get() == now
                && let Some(running) = running.upgrade()
            {
                running.borrow_mut().take();
            }
        });
    }
}

fn is_document(content_type: Option<&str>) -> bool {
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|document| media_type.eq_ignore_ascii_case(document))
}
