//! The console of a running crawl: who sees it, what it shows, and that what a page says stays text.

use crate::site::serve;
use operate::Access;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::{Browser, Crawl, HttpAnswer, Process, READABLE, SOON, Scheme, programs, wait_for};

/// The one script of a screen.
const OUR_SCRIPT: &str = "<script src=\"/console.js\" defer></script>";
const HOSTILE: &str = "</title></bdi></style><script>parent.ran=1</script>\"'><img src=x onerror=parent.ran=1> & Lamp";

/// The parts of the page that change from one edition to the next.
const EDITIONS: [[&str; 2]; 3] = [
    ["It costs 40 crowns today.", "It can be sent to you tomorrow."],
    ["It costs 25 crowns today.", "It can be sent to you tomorrow."],
    ["It costs 25 crowns today.", "It can no longer be sent to you."],
];

/// A crawl that runs, and has seen a shop in three editions.
struct Running {
    crawl: Crawl,
    process: Process,
    access: Access,
    lamp: String,
    key_of_another_host: String,
    operator_of_another_host: String,
    admin_of_another_host: String,
}

impl Running {
    fn start() -> Self {
        let edition = Arc::new(AtomicUsize::new(0));
        let shown = Arc::clone(&edition);
        let title = HOSTILE.replace('&', "&amp;").replace('<', "&lt;");
        let address = serve(move |path| {
            let [price, stock] = EDITIONS[shown.load(Ordering::SeqCst)];
            let text = "It gives a warm light and lasts for years.";
            ("text/html", format!("<title>{title}</title><h1>{path}</h1><p>{text}<p>{price}<p>{stock}<p>{title}"))
        });
        let lamp = format!("http://{address}/lamp?a=%22%3E%3Cb%3E&b=1");
        let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("policy.min_interval", "1d");
        crawl.ask("run", &[&lamp, &format!("http://{address}/chair"), "--until-idle"]).exits_with(0);
        for look in 1..2 * EDITIONS.len() {
            edition.store(look / 2, Ordering::SeqCst);
            crawl.ask("refetch", &[&lamp]).exits_with(0);
            crawl.ask("run", &["--until-idle"]).exits_with(0);
        }
        let keys = crawl.directory.path().join("keys.toml").display().to_string();
        let keys_of_another_host = ["viewer", "operator", "admin"].map(|role| {
            let mut command = programs().command("recrawl");
            command.args(["--format", "json", "key", role, "--role", role, "--host", "other.test", "--file", &keys]);
            let key = Process::start(command, crawl.directory.path()).finish().exits_with(0).json();
            key["token"].as_str().unwrap().to_owned()
        });
        let [key_of_another_host, operator_of_another_host, admin_of_another_host] = keys_of_another_host;
        let crawl = crawl.with("http.keys_file", &keys);
        let process = crawl.start("run", &[]);
        let access = || Access::noted(&crawl.data());
        wait_for("the crawl runs", SOON, || access().is_some());
        let access = access().unwrap();
        let running =
            Self { crawl, process, access, lamp, key_of_another_host, operator_of_another_host, admin_of_another_host };
        wait_for("its stages have counted", SOON, || running.screen("/").body.contains("2 of 2 pages were fetched"));
        running
    }

    fn token(&self) -> &str {
        self.access.token.as_ref().unwrap().reveal()
    }

    fn screen(&self, path: &str) -> HttpAnswer {
        HttpAnswer::with_token(&*self.access.address, path, self.token()).unwrap()
    }

    /// The answer to a form, which a caller sends from a screen of his own.
    fn form(&self, path: &str, token: &str, fields: &[(&str, &str)]) -> HttpAnswer {
        let screen = HttpAnswer::with_token(&*self.access.address, "/seeds", token).unwrap().body;
        let shown =
            screen.split_once("name=\"form_token\" value=\"").map_or("", |(_, rest)| rest.split('"').next().unwrap());
        let fields = [&[("form_token", shown)], fields].concat();
        HttpAnswer::to_form(&*self.access.address, path, token, &fields).unwrap()
    }

    /// The address of a screen about the lamp.
    fn of_lamp(&self, path: &str, further: &str) -> String {
        let url: String = form_urlencoded::byte_serialize(self.lamp.as_bytes()).collect();
        format!("{path}?url={url}{further}")
    }

    /// All screens.
    fn screens(&self) -> Vec<String> {
        let mut screens: Vec<String> = [
            "/",
            "/changes",
            "/changes?verdict=gone",
            "/pages",
            "/pages?contains=nowhere&outcome=&verdict=",
            "/hosts?by=name",
            "/seeds",
            "/watches",
            "/trouble",
            "/budget",
            "/stages",
            "/people",
            "/people?caller=viewer&action=forget&refused=1",
        ]
        .map(str::to_owned)
        .into();
        let of_lamp = [("/page", ""), ("/difference", "&from=1&to=3"), ("/watches", ""), ("/links", "")];
        screens.extend(of_lamp.map(|(path, further)| self.of_lamp(path, further)));
        screens
    }
}

#[test]
fn the_console_shows_a_crawl_to_who_has_a_key_and_what_pages_say_stays_text() {
    let running = Running::start();
    for path in running.screens() {
        let screen = running.screen(&path);
        assert_eq!((screen.status, screen.header("content-type")), (200, Some("text/html; charset=utf-8")), "{path}");
        let policy = screen.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(policy.contains("script-src 'self';") && policy.contains("trusted-types 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(screen.header("referrer-policy"), Some("same-origin"));
        for markup in ["<script", "<img", "onerror=parent.ran=1>", "style=", "javascript:"] {
            let without_ours = screen.body.replacen(OUR_SCRIPT, "", 1);
            assert!(!without_ours.contains(markup), "{path} has {markup}:\n{}", screen.body);
        }
        assert!(screen.body.len() < 30_000, "{path}: {} bytes", screen.body.len());
        let refused = HttpAnswer::to(&*running.access.address, &path).unwrap();
        assert_eq!(refused.status, 401, "{path}");
        assert!(
            refused.header("www-authenticate").is_some_and(|ways| ways.contains("Basic")),
            "a browser asks for the key"
        );
        assert!(!refused.body.contains("Lamp"));
    }
    let style = running.screen("/console.css");
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(!style.body.contains("url(") && !style.body.contains("@import"), "nothing is loaded from elsewhere");

    let now = running.screen("/").body;
    assert!(now.contains("All is well: 2 of 2 pages were fetched") && now.contains("Newest changes"), "{now}");
    let page = running.screen(&running.of_lamp("/page", "")).body;
    assert!(page.contains("&amp; Lamp"), "{page}");
    assert!(page.contains("3: what changed") && page.contains("Compare these two"), "{page}");
    let difference = running.screen(&running.of_lamp("/difference", "&from=1&to=3")).body;
    assert!(difference.contains("costs <del>40</del> crowns") && difference.contains("costs <ins>25</ins> crowns"));
    let changes = running.screen("/changes").body;
    assert!(changes.contains("costs <del>40</del> crowns") && changes.contains("is new here"), "{changes}");
    let first = running.screen("/changes?verdict=first").body;
    assert!(first.contains("is new here") && !first.contains("<del>"), "{first}");
    let listed = running.screen("/pages?contains=LAMP").body;
    assert!(listed.contains("One page") && !listed.contains("/chair"), "{listed}");

    for (path, status) in [
        ("/page", 400),
        ("/page?url=x", 400),
        ("/page?url=http://nowhere.test/", 404),
        ("/pages?outcome=great", 400),
        ("/pages?verdict=great", 400),
        ("/hosts?by=size", 400),
        ("/changes?verdict=great", 400),
        ("/?x=1", 400),
        (&*running.of_lamp("/difference", "&from=2&to=2"), 400),
    ] {
        assert_eq!(running.screen(path).status, status, "{path}");
    }
    assert_eq!(running.screen(&running.of_lamp("/difference", "&from=1&to=9")).status, 404);
    let backwards = running.screen(&running.of_lamp("/difference", "&from=3&to=1")).body;
    assert!(backwards.contains("costs <del>40</del> crowns"), "{backwards}");
    let of_other =
        |path: &str| HttpAnswer::with_token(&*running.access.address, path, &running.key_of_another_host).unwrap();
    for (path, shown) in
        [("/pages", "There is no such page"), ("/changes", "There is none"), ("/hosts", "No host is known")]
    {
        let screen = of_other(path);
        assert!(screen.status == 200 && screen.body.contains(shown), "{path}: {}", screen.body);
        assert!(!screen.body.contains("lamp") && !screen.body.contains("Lamp"), "{}", screen.body);
    }
    assert!(!of_other("/").body.contains("Lamp"));
    for path in [running.of_lamp("/page", ""), running.of_lamp("/difference", "&from=1&to=2")] {
        let refused = of_other(&path);
        assert!(refused.status == 403 && !refused.body.contains("Lamp"), "{}", refused.body);
    }
    running.crawl.ask("forget", &[&running.lamp]).exits_with(0);
    wait_for("the page is gone", SOON, || running.screen(&running.of_lamp("/page", "")).status == 404);
    running.process.signal(libc::SIGINT);
    running.process.finish().exits_with(0);
}

#[test]
fn a_form_gives_no_more_rights_than_its_key_and_what_pages_say_stays_text() {
    let running = Running::start();
    let (owner, other) = (running.token(), &*running.operator_of_another_host);
    let host = running.lamp.split('/').nth(2).unwrap().to_owned();
    let chair = format!("http://{host}/chair");
    let robots = format!("http://{host}/robots.txt");
    // Neither orders nor a look at what a host serves or has served, for a key of another host.
    for (path, fields) in [
        ("/pages/refetch", [("names", &*chair), ("back", "/")]),
        ("/hosts/block", [("names", &*host), ("back", "/")]),
        ("/seeds/add", [("names", &*chair), ("back", "/")]),
        ("/seeds/check", [("sitemap", &*robots), ("names", "")]),
        ("/rules/try", [("url", &*running.lamp), ("trigger", "says \"crowns\"")]),
        // Takes an admin.
        ("/pages/forget", [("names", "http://other.test/"), ("back", "/")]),
    ] {
        let answer = running.form(path, other, &fields);
        assert!(answer.status == 403 && !answer.body.contains("Lamp"), "{path}: {} {}", answer.status, answer.body);
        assert!(answer.header("content-type") == Some("text/html; charset=utf-8"), "{path}: a refusal is a screen");
    }
    let checked = running.form("/seeds/check", other, &[("names", &format!("{chair}\nhttp://other.test/\n"))]);
    assert!(
        checked.body.contains("your key is not for its host") && checked.body.contains("New: 1"),
        "{}",
        checked.body
    );
    assert_eq!(running.form("/pages/refetch", &running.key_of_another_host, &[("names", &chair)]).status, 403);

    // Titles and addresses of pages, and whatever stands in a form.
    let hostile = format!("http://{host}/x?{}", HOSTILE.replace(' ', "+"));
    for (path, fields, status) in [
        ("/seeds/check", vec![("names", HOSTILE)], 400),
        ("/seeds/check", vec![("names", &*hostile)], 200),
        ("/seeds/check", vec![("names", &*chair)], 200),
        ("/seeds/check", vec![("sitemap", "file:///etc/passwd")], 400),
        ("/seeds/check", vec![("sitemap", &*chair)], 400),
        ("/seeds/check", vec![], 400),
        ("/rules/try", vec![("url", &*running.lamp), ("trigger", "says \"crowns\"")], 200),
        ("/rules/try", vec![("url", &*running.lamp), ("watch", "h1"), ("trigger", "price below 30")], 200),
        ("/rules/try", vec![("url", &*running.lamp), ("watch", HOSTILE)], 400),
        ("/rules/try", vec![("url", &*running.lamp)], 400),
        ("/pages/refetch", vec![("names", HOSTILE)], 400),
        ("/pages/refetch", vec![("names", ""), ("back", "//evil.test")], 400),
        ("/pages/refetch", vec![("names", &*chair), ("back", "//evil.test")], 200),
        ("/pages/refetch", vec![("names", &*chair), ("further", "x")], 400),
    ] {
        let answer = running.form(path, owner, &fields);
        assert_eq!(answer.status, status, "{path} {fields:?}: {}", answer.body);
        for markup in ["<script", "<img", "onerror=parent.ran=1>", "evil.test", "root:"] {
            let without_ours = answer.body.replacen(OUR_SCRIPT, "", 1);
            assert!(!without_ours.contains(markup), "{path} {fields:?} has {markup}:\n{}", answer.body);
        }
    }
    // A host that was stopped is not asked by a trial either.
    running.form("/hosts/pause", owner, &[("names", &host)]);
    wait_for("the host is paused", SOON, || running.screen("/hosts").body.contains("<td>paused</td>"));
    let refused = running.form("/rules/try", owner, &[("url", &running.lamp), ("watch", "h1")]);
    assert!(refused.status == 404 && refused.body.contains("is paused or blocked"), "{}", refused.body);
    running.process.signal(libc::SIGINT);
    running.process.finish().exits_with(0);
}

#[test]
fn people_are_shown_with_their_keys_and_orders_to_an_admin_of_all_hosts_alone() {
    let running = Running::start();
    let forget = [("names", "http://other.test/")];
    assert_eq!(running.form("/pages/forget", &running.operator_of_another_host, &forget).status, 403);
    assert_eq!(running.form("/pages/forget", &running.admin_of_another_host, &forget).status, 200);
    let people = running.screen("/people").body;
    for shown in [
        "<bdi>the data directory</bdi>",
        "<bdi>viewer</bdi>",
        "<code>other.test</code>",
        "class=\"lacks\"",
        "refused: the key",
        "has the role operator",
        "<td>seeds</td>",
        ">People</a>",
    ] {
        assert!(people.contains(shown), "{shown}: {people}");
    }
    let file = running.crawl.directory.path().join("keys.toml");
    let keys = std::fs::read_to_string(&file).unwrap();
    let hashes: Vec<_> = keys.split('"').filter(|word| word.len() == 64).collect();
    assert_eq!(hashes.len(), 3);
    assert!(!hashes.iter().any(|hash| people.contains(*hash)), "{people}");

    let refused = running.screen("/people?caller=operator&action=forget&refused=1").body;
    assert!(refused.contains("has the role operator") && !refused.contains("<td>seeds</td>"), "{refused}");
    let taken = running.screen("/people?caller=admin").body;
    assert!(taken.contains("<td>forget</td>") && !taken.contains("has the role operator"), "{taken}");
    assert!(running.screen("/people?caller=viewer").body.contains("There is none of these"));
    for key in [&running.key_of_another_host, &running.operator_of_another_host, &running.admin_of_another_host] {
        let screen = |path: &str| HttpAnswer::with_token(&*running.access.address, path, key).unwrap();
        assert_eq!(screen("/people").status, 403);
        assert!(!screen("/").body.contains(">People</a>"));
    }
    // A faulty file is a sentence, without the hash that the fault may be in.
    std::fs::write(&file, keys.replacen("role = ", "role: ", 1)).unwrap();
    let people = running.screen("/people").body;
    assert!(people.contains("cannot be read") && !hashes.iter().any(|hash| people.contains(*hash)), "{people}");
    running.process.signal(libc::SIGINT);
    running.process.finish().exits_with(0);
}

#[test]
fn each_screen_can_be_read_on_narrow_and_wide_light_and_dark_screens_and_by_its_headings() {
    let running = Running::start();
    let directory = &running.crawl.directory;
    let style = directory.path().join("console.css");
    std::fs::write(style, running.screen("/console.css").body).unwrap();
    let Some(browser) = Browser::find(directory.path()) else { return };
    let shown = browser.visit(&format!("http://anybody:{}@{}/", running.token(), running.access.address));
    assert!(shown.contains("All is well"), "a browser logs in with any name: {shown}");
    let mut tab = browser.tab();
    let axe = axe_core();
    for path in running.screens() {
        // The test runs scripts in the screen, which its own policy does not allow: its file has none. Ours is left out.
        let file = directory.path().join("screen.html");
        let screen = running.screen(&path).body.replace("/console.css", "console.css").replacen(OUR_SCRIPT, "", 1);
        std::fs::write(&file, screen).unwrap();
        tab.load(&format!("file://{}", file.display()));
        let built = tab.evaluate(&format!("(page => {STRUCTURE})(window)"));
        for (width, scheme) in [
            (320, Scheme::Light),
            (320, Scheme::Dark),
            (768, Scheme::Light),
            (1_280, Scheme::Light),
            (1_280, Scheme::Dark),
        ] {
            tab.show(width, scheme);
            let seen = tab.evaluate(&format!("(page => {READABLE})(window)"));
            assert_eq!(seen["overflows"], false, "{path} at {width}: {seen:#}");
            assert!(seen["least"].as_f64() >= Some(4.5), "{path} at {width} {scheme:?}: {seen:#}");
        }
        if let Some(axe) = &axe {
            tab.evaluate(axe);
            for (width, scheme) in [(320, Scheme::Light), (1_280, Scheme::Dark)] {
                tab.show(width, scheme);
                let found = tab
                    .evaluate("axe.run().then(found => found.violations.map(({ id, nodes }) => [id, nodes[0].html]))");
                assert_eq!(found, serde_json::json!([]), "{path} at {width} {scheme:?}");
            }
        }
        assert_eq!(built["ran"], Value::Null, "{path}: a text of the page ran");
        assert_eq!(built["headings"][0], 1, "{path}: {built:#}");
        assert_eq!(built["skipped"], false, "{path}: {built:#}");
        for name in ["unnamed", "foreign", "scripts"] {
            assert_eq!(built[name], 0, "{path}: {name}: {built:#}");
        }
        assert_eq!((&built["lang"], &built["mains"]), (&"en".into(), &1.into()), "{path}");
    }
    running.process.signal(libc::SIGINT);
    running.process.finish().exits_with(0);
}

/// The script of axe-core, which finds what keeps people from reading a page.
fn axe_core() -> Option<String> {
    let file = std::env::var_os("RECRAWL_AXE").filter(|file| std::path::Path::new(file).is_file());
    if file.is_none() {
        assert!(std::env::var_os("RECRAWL_KAFKA_REQUIRED").is_none(), "axe-core is missing; make setup installs it");
        println!("LEFT OUT: axe-core is not here, the screens were not checked by it");
    }
    Some(std::fs::read_to_string(file?).unwrap())
}

/// Levels of the headings, whether one is skipped, controls without a name, addresses of elsewhere, and scripts.
const STRUCTURE: &str = "(() => {
  const all = selector => [...page.document.querySelectorAll(selector)];
  const headings = all('h1, h2, h3, h4').map(heading => Number(heading.localName[1]));
  const named = control => control.labels?.length || control.getAttribute('aria-label') || control.textContent.trim();
  const controls = all('input:not([type=hidden]), select, button, a[href]');
  return {
    ran: page.ran ?? null,
    headings,
    skipped: headings.some((level, at) => at > 0 && level > headings[at - 1] + 1),
    unnamed: controls.filter(control => !named(control)).length,
    foreign: all('[src], link[href]').filter(found => !/^(data:|console[.]css)/.test(found.getAttribute('src') ?? found.getAttribute('href'))).length,
    scripts: all('script').length,
    lang: page.document.documentElement.lang,
    mains: all('main').length,
  };
})()";
