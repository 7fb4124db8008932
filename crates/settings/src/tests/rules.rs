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
