//! The ways by which pages get into a crawl: a table in CSV, arguments, and the pages of a sitemap.

use crate::site::serve;
use serde_json::Value;
use tests::{Crawl, Process, programs};

#[test]
fn pages_come_from_a_table_from_arguments_and_from_a_sitemap() {
    let site = serve(|path| ("text/html", format!("<title>Page</title><h1>Page {path}</h1><p>It is about {path}.")));
    let url = |path: &str| format!("http://{site}{path}");
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s");
    let file = |name: &str, text: String| {
        let path = crawl.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let table = file("pages.csv", format!("Name;URL;Weight\n\"Lamp; red\";{};4\nChair;{};\n", url("/1"), url("/2")));
    let ran = crawl.ask("run", &[&url("/3"), &url("/2"), "--seeds", &table, "--until-idle"]).exits_with(0);
    let ran = ran.says(&["addresses in column 2 (url), weights in column 3 (weight); 1 other column is not read"]);
    assert_eq!(ran.json()["pages"], 3);
    let weight = |path: &str| -> Value { crawl.ask("page", &[&url(path)]).exits_with(0).json()["weight"].clone() };
    assert_eq!([weight("/1"), weight("/2"), weight("/3")], [4.0, 1.0, 1.0]);

    let entries = ["/3", "/4", "/5"].map(|path| format!("<url><loc>{}</loc></url>", url(path))).concat();
    let sitemap = file("map.xml", format!("<urlset>{entries}</urlset>"));
    crawl.ask("seed", &["--file", &sitemap]).exits_with(2).says(&["a sitemap or feed of 3 pages", "map.xml --urls"]);
    let mut command = programs().command("recrawl");
    command.args(["sitemap", &sitemap, "--urls"]);
    let listed = Process::start(command, crawl.directory.path()).finish().exits_with(0).stdout;
    let sent = crawl.ask("seed", &["--file", &file("listed.txt", listed)]).exits_with(0).json();
    assert_eq!((&sent["seeds"], &sent["faults"]), (&Value::from(3), &Value::from(0)));
    assert_eq!(crawl.ask("run", &["--until-idle"]).exits_with(0).json()["pages"], 5);
}
