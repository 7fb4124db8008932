//! Watch rules in configuration files.

use super::{faults_of, layered};
use crate::{Layers, Secrets, Settings};
use page::CanonicalUrl;

const RULES: &str = "[[rules]]\nname = \"lamp\"\npages = \"shop.test/lamp\"\nwatch = ['.price', \"[a='\\\"']\"]\n\
                     trigger = [\"price below 20\"]\nonly_triggers = true\n\n[[rules]]\npages = [\"*\"]\nignore = [\".ad\"]\n";

#[test]
fn rules_are_read_in_order_and_printed_as_they_are() {
    let settings = layered(RULES, &[], &[]).unwrap();
    let name = |url: &str| settings.rules.find(&CanonicalUrl::parse(url).unwrap()).unwrap().name().to_owned();
    assert_eq!([name("http://shop.test/lamp"), name("http://shop.test/")], ["lamp", "2"]);
    let printed = settings.to_toml(Secrets::Masked);
    assert_eq!(layered(&printed, &[], &[]).unwrap(), settings, "{printed}");
}

#[test]
fn the_rules_of_a_later_file_take_the_place_of_those_before() {
    let other = "[[rules]]\npages = [\"a.test\"]\nwatch = [\"h1\"]\n";
    let files = [("a.toml", RULES), ("b.toml", other), ("c.toml", "[crawl]\n")];
    let settings = Settings::from_layers(Layers { files: &files, environment: [], overrides: &[] }).unwrap();
    assert_eq!(settings.rules.iter().map(|rule| rule.text().pages.clone()).collect::<Vec<_>>(), [["a.test"]]);
}

#[test]
fn what_is_wrong_with_a_rule_is_said_with_its_number_key_and_remedy() {
    let check = |file: &str, expected: &str| assert_eq!(faults_of(file), expected, "{file}");
    check(
        "[[rules]]\npages = [\"a.test\"]\nwatch = [\"p\"]\n\n[[rules]]\npages = [\"b.test\"]\nwatch = [\n  \"li:last-child\"]\n",
        "recrawl.toml:7: rule 2: watch: \"li:last-child\": :last-child is not supported; write :first-child, \
         :nth-child(2n+1) or :not(.class), or select by id, class or attribute",
    );
    check(
        "[[rules]]\npages = [\"a.test\"]\nwacth = [\"p\"]\n",
        "recrawl.toml:3: rule 1: wacth: there is no such key; did you mean watch?",
    );
    check(
        "[[rules]]\npages = 3\nwatch = [\"p\", 4]\nonly_triggers = \"no\"\n",
        "recrawl.toml:2: rule 1: pages: cannot be the number 3; write a text or a list of texts, such as \
         [\"shop.example/*\"]\n\
         recrawl.toml:3: rule 1: watch: cannot be a list; write a text or a list of texts, such as [\".price\", \"/status\"]\n\
         recrawl.toml:4: rule 1: only_triggers: cannot be \"no\"; write true or false",
    );
    check(
        "[[rules]]\nwatch = \"p\"\n",
        "recrawl.toml:1: rule 1: pages: the rule names no page; write pages = [\"shop.example/*\"]",
    );
    check(
        "[[rules]]\npages = \"a.test\"\ntrigger = \"price below 20\"\nwatch = \"\"\n",
        "recrawl.toml:4: rule 1: watch: \"\": a selector is missing at the end; write a CSS selector such as #price, .stock \
         or table.offers td:nth-child(2)",
    );
    check(
        "[rules]\npages = \"a.test\"\n",
        "recrawl.toml:1: rules: is a list of tables; write [[rules]] on a line of its own before each rule, with its keys \
         below",
    );
    let twice = "[[rules]]\nname = \"a\"\npages = \"a.test\"\nwatch = \"p\"\n";
    check(
        &format!("{twice}{twice}"),
        "recrawl.toml:6: rule 2: name: another rule is called \"a\", too; give each rule a name of its own",
    );
    assert_eq!(
        layered("", &[], &[("rules.pages", "a.test")]).unwrap_err(),
        "flag: rules: is no setting; write [[rules]] in a configuration file"
    );
}

const CRAWL_RULES: &str = "[[rules]]\nname = \"docs\"\npages = [\"a.test/docs/*\", \"regex:^https://b\\\\.test/[0-9]+$\"]\n\
                           crawl = \"allow\"\nmax_depth = 3\nmin_interval = \"1h\"\nmax_interval = \"7d\"\nweight = 5.0\n\
                           headers = { \"X-Key\" = \"k\" }\n\n\
                           [[rules]]\npages = [\"*.test\"]\nmax_pages = 10\ncrawl_delay = \"2s\"\ncrawl = \"deny\"\n";

#[test]
fn rules_say_how_pages_are_crawled() {
    let settings = layered(CRAWL_RULES, &[], &[]).unwrap();
    let url = |text: &str| CanonicalUrl::parse(text).unwrap();
    let name = |text: &str| settings.scope.rule(&url(text)).map(|rule| rule.name().to_owned());
    assert_eq!(name("https://b.test/42").as_deref(), Some("docs"));
    assert_eq!(name("https://b.test/x").as_deref(), Some("2"));
    assert_eq!(name("https://c.example/"), None);
    assert!(settings.scope.allows(&url("http://a.test/docs/x")) && !settings.scope.allows(&url("http://a.test/")));
    assert!(settings.rules.find(&url("http://a.test/docs/x")).is_none(), "nothing is watched there");
    let printed = settings.to_toml(Secrets::Shown);
    assert_eq!(layered(&printed, &[], &[]).unwrap(), settings, "{printed}");
    let masked = settings.to_toml(Secrets::Masked);
    assert!(masked.contains("# headers is set; the values are masked: X-Key") && !masked.contains("\"k\""), "{masked}");
}

#[test]
fn what_is_wrong_with_the_crawl_of_a_rule_is_said_too() {
    let check = |file: &str, expected: &str| assert_eq!(faults_of(file), expected, "{file}");
    check(
        "[[rules]]\npages = [\"a.test\"]\ncrawl = \"maybe\"\nmax_depth = -1\nheaders = \"x\"\n",
        "recrawl.toml:3: rule 1: crawl: cannot be \"maybe\"; write \"allow\" or \"deny\"\n\
         recrawl.toml:4: rule 1: max_depth: cannot be the number -1; write a whole number from 0 to 1000\n\
         recrawl.toml:5: rule 1: headers: cannot be \"x\"; write a table of names and values, such as \
         { Accept-Language = \"de\" }",
    );
    check(
        "[[rules]]\npages = [\"a.test/x\"]\ncrawl_delay = \"2s\"\n",
        "recrawl.toml:3: rule 1: crawl_delay: it is for whole hosts, and \"a.test/x\" names some pages; name hosts only, \
         such as shop.example or *.example, in a rule of its own",
    );
}

#[test]
fn a_filter_file_is_part_of_the_scope_and_its_faults_are_named_by_line() {
    let mut settings = Settings::default();
    let faults = settings.add_url_filter("filter.txt", "+.\nno\n").unwrap_err().to_string();
    assert!(faults.starts_with("filter.txt:2: \"no\" begins with neither + nor -"), "{faults}");
    settings.add_url_filter("filter.txt", "-\\.gif$\n+.\n").unwrap();
    let allows = |text: &str| settings.scope.allows(&CanonicalUrl::parse(text).unwrap());
    assert!(allows("http://a.test/") && !allows("http://a.test/x.gif"));
}
