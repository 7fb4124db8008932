//! spider at its leanest: no robots.txt, no delay, one thread; hosts one after the other.

use spider::tokio::runtime::Builder;
use spider::tokio::sync::broadcast::error::RecvError;
use spider::tokio::task;
use spider::website::Website;

/// Crawls each site from its first page and prints how many pages and bytes came of it.
pub fn crawl(urls: &[String]) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut pages, mut bytes) = (0, 0);
    for url in urls {
        let (more_pages, more_bytes) = runtime.block_on(async {
            let mut website = Website::new(url);
            website.configuration.respect_robots_txt = false;
            website.configuration.delay = 0;
            website.with_user_agent(Some("bench"));
            let mut arrivals = website.subscribe(1 << 14);
            let counter = task::spawn(async move {
                let (mut pages, mut bytes) = (0_usize, 0_usize);
                loop {
                    match arrivals.recv().await {
                        Ok(page) if page.status_code.as_u16() == 200 => {
                            pages += 1;
                            bytes += page.get_html_bytes_u8().len();
                        }
                        Ok(_) => {}
                        Err(RecvError::Lagged(missed)) => panic!("{missed} pages were not counted"),
                        Err(RecvError::Closed) => return (pages, bytes),
                    }
                }
            });
            website.crawl().await;
            website.unsubscribe();
            drop(website);
            counter.await.expect("the counter does not panic")
        });
        pages += more_pages;
        bytes += more_bytes;
    }
    println!("{pages} pages, {bytes} bytes");
}
