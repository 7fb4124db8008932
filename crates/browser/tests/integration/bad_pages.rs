//! Pages that harm their browser end, and the next one is rendered.

use crate::site::{PAGE, Site, in_browser, now, render, render_with};
use browser::{Document, Door, PartAnswer, PartRefusal, PartRequest, RenderFailure, RenderLimits};
use std::time::Duration;

#[test]
fn a_page_that_never_ends_is_given_up_and_the_next_one_is_rendered() {
    in_browser(async |browser| {
        let limits = RenderLimits { at_work: Duration::from_secs(3), ..RenderLimits::default() };
        let gives_up = [
            "<p>before</p><script>for (;;) {}</script>",
            "<script>const f = () => Promise.resolve().then(f); f();</script>",
            "<script>setTimeout(() => { for (;;) {} }, 500)</script>",
        ];
        for page in gives_up {
            let given_up = render_with(browser, page, &mut Site::default(), &limits).await;
            // Promises without end take memory, too.
            let why = given_up.unwrap_err();
            assert!(matches!(why, RenderFailure::TookTooLong(3) | RenderFailure::Crashed), "{page}: {why}");
            let next = render(browser, "<p>the next</p>", &mut Site::default()).await;
            assert!(next.contains("the next"), "{next}");
        }
    });
}

#[test]
fn a_page_that_takes_all_memory_ends_alone() {
    in_browser(async |browser| {
        let pages = [
            "for (;;) all.push(new Array(1e6).fill(Math.random()))",
            "for (;;) all.push(new Uint8Array(1e7).fill(1))",
            "for (;;) all.push(new WebAssembly.Memory({ initial: 1000 }))",
            "for (;;) document.body.append('x'.repeat(1e6) + all.length++)",
        ];
        let limits = RenderLimits { at_work: Duration::from_secs(10), ..RenderLimits::default() };
        for script in pages {
            let page = format!("<body><script>const all = []; {script}</script>");
            let ended = render_with(browser, &page, &mut Site::default(), &limits).await;
            match ended {
                // A script that gets no more memory ends by an exception, and its page goes on.
                Ok(page) => assert!(page.html.contains("const all"), "{script}"),
                Err(why) => assert!(matches!(why, RenderFailure::Crashed | RenderFailure::TookTooLong(_)), "{why}"),
            }
            let next = render(browser, "<p>the next</p>", &mut Site::default()).await;
            assert!(next.contains("the next"), "{script}: {next}");
        }
    });
}

/// A door that lets nothing through for some time.
struct Slow;

impl Door for Slow {
    async fn ask(&mut self, _: PartRequest) -> Result<PartAnswer, PartRefusal> {
        tokio::time::sleep(Duration::from_secs(4)).await;
        Err(PartRefusal::Blocked)
    }
}

#[test]
fn a_page_that_floods_us_while_a_part_is_on_its_way_is_given_up() {
    in_browser(async |browser| {
        let page = "<script>fetch('/slow'); const go = () => { for (let i = 0; i < 100; i++) fetch('data:text/plain,' + i); \
            new MessageChannel().port1; Promise.resolve().then(() => fetch('data:text/plain,x').then(go)); }; go();</script>";
        let document = Document { url: PAGE, content_type: "text/html", body: page.as_bytes(), now: now() };
        let given_up = browser.render(&document, &mut Slow, &RenderLimits::default()).await.unwrap_err();
        assert_eq!(given_up, RenderFailure::Floods);
    });
}

#[test]
fn dialogs_timers_without_end_and_loops_of_frames_hold_nothing_up() {
    in_browser(async |browser| {
        let pages = [
            "<p>text</p><script>alert(1); confirm(2); prompt(3); print(); onbeforeunload = () => 'stay';</script>",
            "<p>text</p><script>setInterval(() => document.title += 'x', 0)</script>",
            "<p>text</p><script>const f = () => { setTimeout(f, 0); setTimeout(f, 0); }; f();</script>",
            "<p>text</p><iframe src=/page></iframe><iframe srcdoc='<script>for (;;) {}</script>' sandbox></iframe>",
            "<p>text</p><script>for (let i = 0; i < 50; i++) new Worker(URL.createObjectURL(new Blob(['for (;;) {}'])))</script>",
        ];
        for page in pages {
            let limits = RenderLimits { at_work: Duration::from_secs(4), ..RenderLimits::default() };
            match render_with(browser, page, &mut Site::default(), &limits).await {
                Ok(rendered) => assert!(rendered.html.contains("text"), "{page}: {}", rendered.html),
                Err(failure) => println!("{page}: {failure}"),
            }
            let next = render(browser, "<p>the next</p>", &mut Site::default()).await;
            assert!(next.contains("the next"), "{next}");
        }
    });
}

#[test]
fn nothing_is_left_of_a_browser_that_was_dropped() {
    let mine = || std::fs::read_to_string("/proc/thread-self/children").unwrap().split_whitespace().count();
    in_browser(async |browser| {
        let limits = RenderLimits { at_work: Duration::from_secs(1), ..RenderLimits::default() };
        render_with(browser, "<script>for (;;) {}</script>", &mut Site::default(), &limits).await.unwrap_err();
        assert_eq!(mine(), 1);
    });
    assert_eq!(mine(), 0);
}
