//! A newcomer's errands, in a real browser and without a script: each takes three clicks at most from the first screen.

use crate::site::serve_hosts;
use operate::Access;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tests::{Browser, Crawl, HttpAnswer, Process, SOON, Tab, wait_for};

/// The price stands in an element that no rule of the crawl names.
fn shop(title: &str, is_cheap: bool) -> String {
    let price = if is_cheap { "19,90 €" } else { "24,90 €" };
    format!("<title>{title}</title><h1>{title}</h1><p>It lasts for years.<p>Only <b class=offer>{price}</b> today.")
}

const RULES: &str =
    "[[rules]]\nname = \"pump\"\npages = [\"*/pump\"]\nwatch = [\".price\"]\ntrigger = [\"price below 20\"]\n";

struct Shop {
    crawl: Crawl,
    process: Process,
    access: Access,
    address: String,
}

impl Shop {
    /// A crawl that has seen a shop before and after its sale.
    fn start() -> Self {
        let is_cheap = Arc::new(AtomicBool::new(false));
        let shown = Arc::clone(&is_cheap);
        let address = serve_hosts(move |host, path| match path {
            "/robots.txt" => ("text/plain", "User-agent: *\nDisallow: /secret\n".to_owned()),
            "/sitemap.xml" => {
                let urls = ["/pump", "/bell", "/tyre"].map(|page| format!("<url><loc>http://{host}{page}</loc></url>"));
                ("application/xml", format!("<urlset>{}</urlset>", urls.concat()))
            }
            "/pump" => ("text/html", shop("Bike pump", false)),
            "/lamp" => ("text/html", shop("Reading lamp", shown.load(Ordering::SeqCst))),
            path => ("text/html", format!("<title>{path}</title><p>This is {path}.")),
        });
        let address = address.to_string();
        let crawl = Crawl::default()
            .with("politeness.crawl_delay", "0s")
            .with("policy.min_interval", "1d")
            .with("hints.discover", "false")
            .with("detector.contents", "body");
        let configuration = crawl.directory.path().join("recrawl.toml");
        std::fs::write(&configuration, RULES).unwrap();
        let configuration = configuration.display().to_string();
        let pages = ["/pump", "/lamp", "/secret"].map(|page| format!("http://{address}{page}"));
        let run =
            |further: &[&str]| crawl.ask("run", &[&["--config", &configuration, "--until-idle"], further].concat());
        run(&[&pages[0], &pages[1], &pages[2]]).exits_with(0);
        is_cheap.store(true, Ordering::SeqCst);
        crawl.ask("refetch", &[&pages[1]]).exits_with(0);
        run(&[]).exits_with(0);
        let process = crawl.start("run", &["--config", &configuration]);
        let access = || Access::noted(&crawl.data());
        wait_for("the crawl runs", SOON, || access().is_some());
        let access = access().unwrap();
        let shop = Self { crawl, process, access, address };
        wait_for("its stages have counted", SOON, || shop.screen("/").contains("of 3 pages"));
        shop
    }

    fn token(&self) -> &str {
        self.access.token.as_ref().unwrap().reveal()
    }

    fn screen(&self, path: &str) -> String {
        HttpAnswer::with_token(&*self.access.address, path, self.token()).unwrap().body
    }
}

/// Opens the first screen, and clicks on these links and buttons from there.
fn errand(tab: &mut Tab, shop: &Shop, steps: &[&str]) -> String {
    assert!(steps.len() <= 3, "{steps:?}");
    tab.load(&format!("http://{}/", shop.access.address));
    for step in steps {
        tab.follow(step);
    }
    tab.html()
}

#[test]
fn a_newcomer_runs_errands_in_three_clicks() {
    let shop = Shop::start();
    let Some(browser) = Browser::find(shop.crawl.directory.path()) else { return };
    let mut tab = browser.tab();
    let base = format!("http://{}/", shop.access.address);
    tab.load(&format!("http://anybody:{}@{}/", shop.token(), shop.access.address));
    let of = |tab: &mut Tab, steps: &[&str]| errand(tab, &shop, steps);

    // Finds a page, and sees why it was not fetched.
    of(&mut tab, &["nav a[href='/pages']"]);
    tab.type_into("#contains", "secret");
    tab.follow("form[action='/pages'] button");
    tab.follow("table a[href*='secret']");
    let page = tab.html();
    assert!(page.contains("robots.txt") && page.contains("Disallow: /secret"), "{page}");

    // Sees the last change, and compares two versions.
    let changes = of(&mut tab, &["nav a[href='/changes']"]);
    assert!(changes.contains("24,90") && changes.contains("19,90"), "{changes}");
    let difference =
        of(&mut tab, &["nav a[href='/changes']", "article a[href*='lamp']", "form[action='/difference'] button"]);
    assert!(difference.contains("24,90") && difference.contains("19,90"), "{difference}");

    // Mends a rule, which sees nothing: another is tried on a page that changed, and would have fired.
    let watches = of(&mut tab, &["nav a[href='/watches']"]);
    assert!(watches.contains("One rule watches one page") && watches.contains("class=\"lacks\""), "{watches}");
    tab.follow("tr.lacks a[href*='#try']");
    tab.type_into("#ignore", "nav");
    assert!(tab.html().contains("price below 20"), "the form begins with the rule of the page");
    tab.load(&format!("{base}watches"));
    tab.type_into("#url", &format!("http://{}/lamp", shop.address));
    tab.type_into("#watch", ".offer");
    tab.type_into("#trigger", "price below 20");
    tab.follow("form[action='/rules/try'] button");
    let trial = tab.html();
    assert!(trial.contains("1 place: <bdi>19,90 €</bdi>") && trial.contains("<strong>yes</strong>"), "{trial}");
    assert!(trial.contains("watch = [\".offer\"]") && trial.contains("<code>price below 20</code><br>"), "{trial}");

    // Adds the pages of a sitemap, after seeing which are new.
    of(&mut tab, &["nav a[href='/seeds']"]);
    tab.type_into("#names", &format!("http://{0}/bell 2\nhttp://{0}/pump\nftp://{0}/\n", shop.address));
    tab.follow("form[action='/seeds/check'] button");
    let checked = tab.html();
    for found in ["One page is new", "New: 1", "Known: ", "Refused: 1", "Add it"] {
        assert!(checked.contains(found), "{found}: {checked}");
    }
    tab.follow("form[action='/seeds/add'] button");
    assert!(tab.html().contains("1 page added."), "{}", tab.html());
    of(&mut tab, &["nav a[href='/seeds']"]);
    tab.type_into("#sitemap", &format!("http://{}/sitemap.xml", shop.address));
    tab.follow("form.wide + form.wide button");
    let checked = tab.html();
    assert!(checked.contains("lists 3 pages") && checked.contains("New: ") && checked.contains("/tyre"), "{checked}");
    tab.follow("form[action='/seeds/add'] button");
    wait_for("the new page is fetched", SOON, || shop.screen("/pages?contains=bell").contains("<td>fetched</td>"));

    // Blocks a host, and takes that back.
    let blocked = of(&mut tab, &["nav a[href='/hosts']", "button[formaction='/hosts/block']"]);
    assert!(blocked.contains("1 host blocked"), "{blocked}");
    wait_for("the host is blocked", SOON, || shop.screen("/hosts").contains("<td>blocked</td>"));
    let unblocked = of(&mut tab, &["nav a[href='/hosts']", "button[formaction='/hosts/unblock']"]);
    assert!(unblocked.contains("1 host no longer blocked"), "{unblocked}");

    // Forgets a page, which takes a step more because it is for good.
    of(&mut tab, &["nav a[href='/pages']", "table a[href*='bell']"]);
    tab.click("details summary");
    tab.click(".orders summary");
    tab.follow("form[action='/pages/forget'] button");
    assert!(tab.html().contains("1 page to be forgotten"), "{}", tab.html());
    wait_for("the page is gone", SOON, || !shop.screen("/pages").contains("bell"));

    assert!(tab.requests().iter().all(|address| address.contains(&*shop.access.address)), "{:?}", tab.requests());
    assert!(tab.complaints().is_empty(), "{:?}", tab.complaints());
    drop(tab);
    let orders = shop.crawl.ask("audit", &[]).exits_with(0).stdout;
    for order in ["seed", "block", "unblock", "forget"] {
        assert!(orders.contains(&format!("\"{order}\"")), "{order}: {orders}");
    }
    // The same by commands.
    let changes = |chosen: &[&str]| shop.crawl.ask("changes", chosen).exits_with(0).stdout.lines().count();
    let (lamp, all) = (format!("http://{}/lamp#part", shop.address), changes(&[]));
    assert!(all > 3 && changes(&["--host", "127.0.0.1"]) == all && changes(&["--host", "other.test"]) == 0);
    assert_eq!((changes(&["--url", &lamp]), changes(&["--triggered"])), (2, 0));
    assert!((1..all).contains(&changes(&["--rule", "pump"])) && changes(&["--rule", "other"]) == 0);
    let table = shop.crawl.ask("pages", &["--csv", "--sort", "changes"]).exits_with(0).stdout;
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("url,is_seed,") && lines[1].starts_with(lamp.trim_end_matches("#part")), "{table}");
    assert_eq!(shop.crawl.ask("pages", &["--failing"]).exits_with(0).json(), serde_json::json!([]));
    shop.process.signal(libc::SIGINT);
    shop.process.finish().exits_with(0);
}
