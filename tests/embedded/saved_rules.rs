//! Watch rules that are saved while a crawl runs: from its start to the first change that a rule reports, in a browser alone.

use crate::site::serve_hosts;
use operate::Access;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tests::{Browser, Crawl, HttpAnswer, Process, SOON, Tab, wait_for};

struct Shop {
    crawl: Crawl,
    address: String,
    is_cheap: Arc<AtomicBool>,
}

impl Shop {
    fn open() -> Self {
        let is_cheap = Arc::new(AtomicBool::new(false));
        let shown = Arc::clone(&is_cheap);
        let address = serve_hosts(move |_, path| match path {
            "/lamp" => {
                let price = if shown.load(Ordering::SeqCst) { "19,90 €" } else { "24,90 €" };
                (
                    "text/html",
                    format!(
                        "<title>Lamp</title><h1>Lamp</h1><p>Only <b class=offer>{price}</b> today.</p><a href=/lamps>All lamps</a>"
                    ),
                )
            }
            _ => ("text/plain", String::new()),
        });
        let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("detector.contents", "body");
        Self { crawl, address: address.to_string(), is_cheap }
    }

    fn lamp(&self) -> String {
        format!("http://{}/lamp", self.address)
    }

    fn start(&self) -> (Process, Access) {
        let process = self.crawl.start("run", &[&format!("http://{}/", self.address)]);
        let access = || Access::noted(&self.crawl.data());
        wait_for("the crawl runs", SOON, || access().is_some());
        (process, access().unwrap())
    }
}

fn screen(access: &Access, path: &str) -> String {
    HttpAnswer::with_token(&*access.address, path, access.token.as_ref().unwrap().reveal()).unwrap().body
}

fn stop(process: Process) {
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
}

#[test]
fn a_browser_alone_leads_from_the_start_to_the_first_change_that_a_rule_reports() {
    let shop = Shop::open();
    let Some(browser) = Browser::find(shop.crawl.directory.path()) else { return };
    let (process, access) = shop.start();
    let (base, token) = (format!("http://{}", access.address), access.token.as_ref().unwrap().reveal().to_owned());
    let mut tab = browser.tab();
    tab.live_in("Asia/Tokyo");
    tab.load(&format!("http://anybody:{token}@{}/", access.address));
    let open = |tab: &mut Tab, path: &str| tab.load(&format!("{base}{path}"));

    tab.follow("nav a[href='/watches']");
    tab.type_into("#url", &shop.lamp());
    tab.type_into("#watch", ".offer");
    tab.type_into("#trigger", "price below 20");
    tab.type_into("#every", "1s");
    tab.type_into("#name", "sale");
    tab.follow("form[action='/rules/try'] button[name='act']");
    assert!(tab.html().contains("The rule sale is saved"), "{}", tab.html());
    tab.follow("form[action='/seeds/add'] button");
    assert!(tab.html().contains("1 page added"), "{}", tab.html());
    wait_for("the rule has seen the price", SOON, || screen(&access, "/watches").contains("24.9 EUR"));
    // Our script marks changes that came since the list of them was read, on a screen that renews itself.
    open(&mut tab, "/changes");
    assert!(
        tab.html().contains("Times are of Asia/Tokyo") && !tab.html().contains("class=\"unread\""),
        "{}",
        tab.html()
    );
    open(&mut tab, "/");
    shop.is_cheap.store(true, Ordering::SeqCst);
    wait_for("the rule reports the sale", SOON, || screen(&access, "/changes?triggered=1").contains("sale"));
    wait_for("the first screen shows it as new", SOON, || {
        let html = tab.html();
        html.contains("class=\"unread\"") && html.contains("19,90")
    });
    open(&mut tab, "/changes?triggered=1");
    let changes = tab.html();
    assert!(changes.contains("24,90") && changes.contains("19,90") && changes.contains("price below 20"), "{changes}");

    let watched = screen(&access, "/watches");
    assert!(watched.contains("its last values: 24.9, 19.9"), "{watched}");
    let links = screen(&access, &format!("/links?url={}", shop.lamp()));
    assert!(links.contains("it is a seed") && links.contains("&#x2f;lamps"), "{links}");
    wait_for("the budget is known", SOON, || screen(&access, "/budget").contains("requests a second"));
    let budget = HttpAnswer::with_token(&*access.address, "/budget?format=json", &token).unwrap();
    assert_eq!(budget.header("content-type"), Some("application/json"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&budget.body).unwrap()["is_known"], true);

    // The rule is changed, taken back, and removed, each by one click.
    open(&mut tab, "/watches");
    tab.follow("table a[href*='#try']");
    tab.type_into("#trigger", "\nprice below 15");
    tab.follow("form[action='/rules/try'] button[name='act']");
    open(&mut tab, "/watches");
    assert!(
        tab.html().contains("One rule watches one page") && tab.html().contains("price below 15"),
        "{}",
        tab.html()
    );
    tab.follow("button[aria-label='Bring back the rules of save 1']");
    assert!(tab.html().contains("The rules of save 1 count again"), "{}", tab.html());
    open(&mut tab, "/watches");
    tab.follow("button[value='remove']");
    open(&mut tab, "/watches");
    assert!(tab.html().contains("0 rules watch") && tab.html().contains("counts now"), "{}", tab.html());
    assert!(tab.complaints().is_empty(), "{:?}", tab.complaints());
    drop(tab);
    stop(process);
}

#[test]
fn saved_rules_outlive_the_process_stand_above_the_configuration_and_are_refused_when_they_are_stale_or_wrong() {
    let shop = Shop::open();
    let file = |name: &str, text: &str| {
        let path = shop.crawl.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let rules = |arguments: &[&str], status| shop.crawl.ask("rules", arguments).exits_with(status);
    let pages = format!("pages = [\"{}/*\"]", shop.address);
    let configured = file("recrawl.toml", &format!("[[rules]]\nname = \"page\"\n{pages}\nwatch = [\"h1\"]\n"));
    shop.crawl.ask("run", &["--config", &configured, "--until-idle", &shop.lamp()]).exits_with(0);
    assert_eq!(rules(&["--saved"], 0).json()["number"], 0);

    // Without a process the rules are saved in its log, and hold at the next start.
    let sale = format!("[[rules]]\nname = \"sale\"\n{pages}\nwatch = [\".offer\"]\nmax_interval = \"1s\"\n");
    assert!(rules(&["--save", &file("sale.toml", &sale)], 0).stdout.contains("sale"));
    let of_page = |arguments: &[&str]| {
        let saved_page = file("lamp.html", "<h1>Lamp</h1><b class=offer>9 €</b>");
        let lamp = shop.lamp();
        rules(&[&[&*lamp, &*saved_page, "--config", &configured], arguments].concat(), 0).json()
    };
    assert_eq!(
        (of_page(&[])["rule"].as_str(), of_page(&[])["watch"][0]["part"].as_str()),
        (Some("sale"), Some(".offer"))
    );
    shop.is_cheap.store(true, Ordering::SeqCst);
    let process = shop.crawl.start("run", &["--config", &configured]);
    let access = || Access::noted(&shop.crawl.data());
    wait_for("the crawl runs", SOON, || access().is_some());
    let access = access().unwrap();
    let watched = || screen(&access, "/watches");
    wait_for("the saved rule has seen the price", SOON, || watched().contains("19.9 EUR"));
    assert!(watched().contains("saved here"), "{}", watched());

    // A running process takes them, too, with the name of its caller. Stale and wrong ones are refused.
    let later = format!("# after 1\n{sale}").replace(".offer", "h1");
    rules(&["--save", &file("later.toml", &later)], 0);
    let stale = rules(&["--save", &file("later.toml", &later)], 2);
    assert!(stale.stderr.contains("somebody has saved rules meanwhile"), "{}", stale.stderr);
    let wrong = rules(&["--save", &file("wrong.toml", &sale.replace("max_interval", "crawl_delay"))], 2);
    assert!(wrong.stderr.contains("move them to a rule of the configuration"), "{}", wrong.stderr);
    let saved = rules(&["--saved"], 0).json();
    assert_eq!((saved["number"].as_i64(), saved["kept"].as_array().map(Vec::len)), (Some(2), Some(2)));
    assert!(saved["saved_by"].is_string(), "{saved}");
    let first = rules(&["--saved", "1"], 0).json();
    assert!(first["rules"].as_str().unwrap().contains(".offer"), "{first}");
    assert!(rules(&["--saved", "9"], 1).stderr.contains("not kept"));
    let audit = shop.crawl.ask("audit", &[]).exits_with(0).stdout;
    assert!(audit.contains("\"rules save\"") && audit.contains("\"sale\""), "{audit}");
    stop(process);
}
