//! The rendered document has what a reader sees.

use crate::site::{Site, in_browser, now, render, render_with};
use browser::{Document, PartKind, RenderFailure, RenderLimits};

/// A page whose list comes from a data request of its script.
pub(crate) const APP: &str = "<!doctype html><html><head><title>app</title></head><body><div id=root></div>\
    <noscript>Please enable JavaScript</noscript><script src=/app.js></script></body></html>";
pub(crate) const SCRIPT: &str = "fetch('/api').then(r => r.json()).then(j => { let h = ''; \
    for (let i = 0; i < j.n; i++) h += `<p>Item ${i} costs ${i * 3} EUR</p>`; \
    document.getElementById('root').innerHTML = h + `<i>${Date.now()} ${Math.random()} ${new Date()} \
    ${crypto.randomUUID()} ${performance.now()}</i>`; })";

pub(crate) fn app() -> Site {
    Site::default().with("/app.js", "text/javascript", SCRIPT).with("/api", "application/json", r#"{"n":30}"#)
}

#[test]
fn data_that_a_script_asks_for_is_in_the_document() {
    in_browser(async |browser| {
        let mut site = app();
        let html = render(browser, APP, &mut site).await;
        assert!(html.starts_with("<!DOCTYPE html><html><head><title>app</title>"), "{html}");
        assert!(html.contains("<p>Item 29 costs 87 EUR</p>"), "{html}");
        assert!(!html.contains("enable JavaScript"), "a reader whose scripts run does not see it: {html}");
        let asked = [("/app.js", PartKind::Script), ("/api", PartKind::Data)];
        assert_eq!(site.asked, asked.map(|(path, kind)| (format!("http://a.test{path}"), kind)));
    });
}

#[test]
fn timers_of_the_first_seconds_run_in_their_order_and_later_ones_do_not() {
    in_browser(async |browser| {
        let html = render(
            browser,
            "<p id=p></p><script>const p = document.getElementById('p'); const say = (t) => { p.textContent += t + ' '; };
            setTimeout(say, 3000, 'three'); setTimeout(say, 1000, 'one'); setTimeout('say(\"text\")', 1500);
            setTimeout(() => fetch('/api').then(r => r.text()).then(say), 2000);
            setTimeout(say, 2001, 'behind'); setTimeout(say, 60000, 'late');
            let n = 0; const i = setInterval(() => { n += 1; if (n == 4) { clearInterval(i); say('four'); } }, 1000);
            const t = setTimeout(say, 10, 'never'); clearTimeout(t);
            requestAnimationFrame(() => requestAnimationFrame((now) => say('frame' + now)));</script>",
            &mut Site::default().with("/api", "text/plain", "data"),
        )
        .await;
        let said = html.split("<p id=\"p\">").nth(1).unwrap().split('<').next().unwrap().trim();
        assert!(said.starts_with("frame32 one text "), "{said}");
        assert!(said.contains("data") && said.ends_with("three four"), "{said}");
    });
}

#[test]
fn shadow_roots_are_in_the_document() {
    in_browser(async |browser| {
        let html = render(
            browser,
            "<x-a></x-a><script>for (const mode of ['open', 'closed']) customElements.define('x-' + mode[0], class extends \
             HTMLElement { constructor() { super(); this.attachShadow({ mode }).innerHTML = \
             `<p>${mode} root</p>` + (mode == 'open' ? '<x-c></x-c>' : ''); } });
             document.body.append(document.createElement('x-o'));</script>",
            &mut Site::default(),
        )
        .await;
        assert!(html.contains(r#"<template shadowrootmode="open"><p>open root</p>"#), "{html}");
        assert!(html.contains(r#"<template shadowrootmode="closed"><p>closed root</p>"#), "{html}");
    });
}

#[test]
fn only_text_is_asked_for_and_nothing_is_changed_at_a_site() {
    in_browser(async |browser| {
        let mut site = Site::default().with("/frame", "text/html", "<p>frame").with("/m.js", "text/javascript", "");
        let html = render(
            browser,
            "<link rel=stylesheet href=/style.css><img src=/picture.png onload='document.title=\"loaded\"'>
             <video src=/video.mp4></video><iframe src=/frame></iframe><script type=module src=/m.js></script>
             <script>fetch('/order', { method: 'POST', body: 'x' }).catch(() => {}); navigator.sendBeacon('/beacon', 'x');
             fetch('/gone', { method: 'DELETE' }).catch(() => document.body.append('refused'));</script>",
            &mut site,
        )
        .await;
        let mut asked = site.asked_for();
        asked.sort_unstable();
        assert_eq!(asked, ["/m.js"], "what a frame shows is not in the document");
        assert!(html.contains("<title>loaded</title>") && html.contains("refused"), "{html}");
    });
}

#[test]
fn redirects_of_parts_pass_the_door_again() {
    in_browser(async |browser| {
        let mut site = Site::default()
            .redirecting("/old", "http://a.test/new")
            .with("/new", "application/json", "\"moved\"")
            .redirecting("/out", "http://inner.test/secret");
        let html = render(
            browser,
            "<p id=p></p><script>fetch('/old').then(r => r.json()).then(t => p.textContent = t);
             fetch('/out').catch(() => document.body.append('no way'));</script>",
            &mut site,
        )
        .await;
        assert!(html.contains("moved") && html.contains("no way"), "{html}");
        assert!(site.asked_for().contains(&"http://inner.test/secret"), "{:?}", site.asked);
    });
}

#[test]
fn a_page_that_goes_elsewhere_is_read_as_it_is() {
    in_browser(async |browser| {
        let mut site = Site::default().with("/other", "text/html", "<p>another page");
        for script in ["location.href = '/other'", "location.reload()", "window.open('/other')"] {
            let html = render(browser, &format!("<p>this page<script>{script}</script>"), &mut site).await;
            assert!(html.contains("this page") && !html.contains("another page"), "{script}: {html}");
        }
        assert_eq!(site.asked_for(), [""; 0]);
        // Links stay relative to where the script has moved the page.
        let html =
            render(browser, "<a href=x>x</a><script>history.pushState(0, '', '/deep/er/')</script>", &mut site).await;
        assert!(html.contains(r#"<head><base href="http://a.test/deep/er/">"#), "{html}");
    });
}

#[test]
fn a_page_that_waits_for_itself_reaches_its_later_timers() {
    in_browser(async |browser| {
        let page = "<p id=p></p><script>const wait = () => window.done ? p.textContent = 'done' : setTimeout(wait, 0); wait(); \
            setTimeout(() => { window.done = true }, 1000)</script>";
        assert!(render(browser, page, &mut Site::default()).await.contains("done</p>"));
    });
}

#[test]
fn the_page_comes_back_however_the_browser_writes_its_address() {
    in_browser(async |browser| {
        let url = "http://a.test/a|b?q='x'&r=[1]";
        let document = Document { url, content_type: "text/html", body: b"<p>here", now: now() };
        let page = browser.render(&document, &mut Site::default(), &RenderLimits::default()).await.unwrap();
        assert!(page.html.contains("<p>here</p>"), "{}", page.html);
    });
}

#[test]
fn limits_hold() {
    in_browser(async |browser| {
        let limits = RenderLimits { characters: 2_000, parts: 5, ..RenderLimits::default() };
        let long = format!("<p>{}</p>", "long ".repeat(1_000));
        let page = render_with(browser, &long, &mut Site::default(), &limits).await.unwrap();
        assert!(page.is_cut && page.html.len() == 2_000);
        let greedy = "<script>for (let i = 0; i < 9; i++) fetch('/part' + i).catch(() => {})</script>";
        let refused = render_with(browser, greedy, &mut Site::default(), &limits).await.unwrap_err();
        assert_eq!(refused, RenderFailure::TooManyParts(5));
    });
}
