//! Looks at the same page give the same document.

use crate::site::{Site, in_browser, render};
use crate::what_is_seen::{APP, app};
use std::collections::HashSet;

#[test]
fn forty_looks_at_a_page_give_one_document() {
    in_browser(async |browser| {
        let mut documents = HashSet::new();
        for _ in 0..40 {
            documents.insert(render(browser, APP, &mut app()).await);
        }
        assert_eq!(documents.len(), 1, "{documents:?}");
    });
}

/// Pages whose scripts use what differs from look to look.
const PAGES: [(&str, &str); 10] = [
    (
        "races of requests",
        "for (const n of [1, 2, 3]) fetch('/' + n).then(r => r.text()).then(t => document.body.append(t));",
    ),
    (
        "workers",
        "const w = new Worker(URL.createObjectURL(new Blob(['postMessage(6 * 7)']))); \
        w.onmessage = (m) => document.body.append(m.data);",
    ),
    (
        "timers",
        "let n = 0; setInterval(() => document.body.append(n++), 700); setTimeout(() => document.body.append('x'), 0);",
    ),
    ("a countdown", "setInterval(() => document.title = Math.round((Date.UTC(2030, 0) - Date.now()) / 1000), 1000);"),
    ("frames", "let f = 0; const go = (t) => { document.title = t; if (f++ < 30) requestAnimationFrame(go); }; go(0);"),
    (
        "messages",
        "const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => { document.title = ++n; \
        if (n < 200) c.port2.postMessage(0); }; c.port2.postMessage(0);",
    ),
    (
        "time zone and language",
        "document.title = new Date(0).toString() + navigator.language + Intl.DateTimeFormat().resolvedOptions().timeZone;",
    ),
    (
        "dates in every form",
        "document.body.append([Date(), new Date(), new Date(5), new (class extends Date {})(), \
        Intl.DateTimeFormat('en', { timeStyle: 'long' }).format(), performance.timeOrigin, document.lastModified, \
        globalThis.Temporal?.Now.instant(), new Event('x').timeStamp, structuredClone(new Date()) instanceof Date].join(' '));",
    ),
    ("half a pair of surrogates", "document.body.append('a\\ud800b');"),
    (
        "what is on the screen",
        "new IntersectionObserver((seen) => document.body.append(seen.filter(s => s.isIntersecting).length)) \
        .observe(document.querySelector('p')); document.body.append(innerWidth + 'x' + innerHeight);",
    ),
];

#[test]
fn pages_that_use_chance_time_and_order_give_one_document_each() {
    in_browser(async |browser| {
        for (name, script) in PAGES {
            let page = format!("<title>t</title><p>text</p><script>{script}</script>");
            let mut documents = HashSet::new();
            for _ in 0..6 {
                let mut site = Site::default();
                for part in ["/1", "/2", "/3"] {
                    site = site.with(part, "text/plain", part);
                }
                documents.insert(render(browser, &page, &mut site).await);
            }
            assert_eq!(documents.len(), 1, "{name}: {documents:?}");
            println!("{name}: {}", documents.iter().next().unwrap());
        }
    });
}
