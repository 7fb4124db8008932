//! Settings whose texts other crates give a meaning: their faults are in one list with all others, in the order of lines.

use change_rate::EstimatorChoice;
use page::CanonicalUrl;
use policies::PolicyKind;
use recrawl::load::from_layers;
use settings::{Layers, RankMethod, Secrets, Settings, TextFile, WantedFocus};

fn layered(file: &str, flags: &[(&str, &str)]) -> Result<Settings, String> {
    let overrides: Vec<_> = flags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let layers = Layers { files: &[("recrawl.toml", file)], environment: [], overrides: &overrides };
    from_layers(layers).map_err(|faults| faults.to_string())
}

fn faults_of(file: &str) -> String {
    layered(file, &[]).expect_err("the file is faulty")
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

const RULES: &str = "[[rules]]\nname = \"lamp\"\npages = \"shop.test/lamp\"\nwatch = ['.price', \"[a='\\\"']\"]\n\
                     trigger = [\"price below 20\"]\nonly_triggers = true\n\n[[rules]]\npages = [\"*\"]\nignore = [\".ad\"]\n";

#[test]
fn rules_are_read_in_order_and_printed_as_they_are() {
    let settings = layered(RULES, &[]).unwrap();
    let rules = watch::configured(&settings).unwrap();
    let name = |page: &str| rules.find(&url(page)).unwrap().name().to_owned();
    assert_eq!([name("http://shop.test/lamp"), name("http://shop.test/")], ["lamp", "2"]);
    let printed = settings.to_toml(Secrets::Masked);
    assert_eq!(layered(&printed, &[]).unwrap(), settings, "{printed}");
}

#[test]
fn the_rules_of_a_later_file_take_the_place_of_those_before() {
    let other = "[[rules]]\npages = [\"a.test\"]\nwatch = [\"h1\"]\n";
    let files = [("a.toml", RULES), ("b.toml", other), ("c.toml", "[crawl]\n")];
    let settings = from_layers(Layers { files: &files, environment: [], overrides: &[] }).unwrap();
    assert_eq!(settings.rules.iter().map(|rule| rule.pages.clone()).collect::<Vec<_>>(), [["a.test"]]);
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
    let wrong = faults_of("[[rules]]\npages = \"a b\"\nwatch = \"p\"\nweight = 2\n");
    assert!(wrong.starts_with("recrawl.toml:2: rule 1: pages: ") && wrong.lines().count() == 1, "{wrong}");
    let twice = "[[rules]]\nname = \"a\"\npages = \"a.test\"\nwatch = \"p\"\n";
    check(
        &format!("{twice}{twice}"),
        "recrawl.toml:6: rule 2: name: another rule is called \"a\", too; give each rule a name of its own",
    );
    assert_eq!(
        layered("", &[("rules.pages", "a.test")]).unwrap_err(),
        "flag: rules: is no setting; write [[rules]] in a configuration file"
    );
}

const CRAWL_RULES: &str = "[[rules]]\nname = \"docs\"\npages = [\"a.test/docs/*\", \"regex:^https://b\\\\.test/[0-9]+$\"]\n\
                           crawl = \"allow\"\nmax_depth = 3\nmin_interval = \"1h\"\nmax_interval = \"7d\"\nweight = 5.0\n\
                           headers = { \"X-Key\" = \"k\" }\n\n\
                           [[rules]]\npages = [\"*.test\"]\nmax_pages = 10\ncrawl_delay = \"2s\"\ncrawl = \"deny\"\n";

#[test]
fn rules_say_how_pages_are_crawled() {
    let settings = layered(CRAWL_RULES, &[]).unwrap();
    let (scope, watched) = (scope::configured(&settings).unwrap(), watch::configured(&settings).unwrap());
    let name = |text: &str| scope.rule(&url(text)).map(|rule| rule.name().to_owned());
    assert_eq!(name("https://b.test/42").as_deref(), Some("docs"));
    assert_eq!(name("https://b.test/x").as_deref(), Some("2"));
    assert_eq!(name("https://c.example/"), None);
    assert!(scope.allows(&url("http://a.test/docs/x")) && !scope.allows(&url("http://a.test/")));
    assert!(watched.find(&url("http://a.test/docs/x")).is_none(), "nothing is watched there");
    let printed = settings.to_toml(Secrets::Shown);
    assert_eq!(layered(&printed, &[]).unwrap(), settings, "{printed}");
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

fn file(name: &str, text: &str) -> TextFile {
    TextFile { name: name.to_owned(), text: text.to_owned() }
}

#[test]
fn a_filter_file_is_part_of_the_scope_and_its_faults_are_named_by_line() {
    let scope = |text: &str| {
        scope::configured(&Settings { url_filters: vec![file("filter.txt", text)], ..Settings::default() })
    };
    let faults = scope("+.\nno\n").unwrap_err().to_string();
    assert!(faults.starts_with("filter.txt:2: \"no\" begins with neither + nor -"), "{faults}");
    let scope = scope("-\\.gif$\n+.\n").unwrap();
    assert!(scope.allows(&url("http://a.test/")) && !scope.allows(&url("http://a.test/x.gif")));
}

const SAILING: &str = "format = 1\nname = \"sailing\"\n\n[terms.en]\nsailing = 0.6\nregatta = 0.4\n";

/// The names of wanted focuses, or the faults.
fn focuses(wanted: Vec<WantedFocus>) -> Result<Vec<String>, String> {
    let settings = Settings { wanted, ..Settings::default() };
    let focuses = focus::configured(&settings, &focus::IcuSegmenter::default());
    focuses.map(|focuses| focuses.into_iter().map(|focus| focus.name).collect()).map_err(|faults| faults.to_string())
}

fn own(name: &str, text: &str) -> WantedFocus {
    WantedFocus::File(file(name, text))
}

fn class(name: &str) -> WantedFocus {
    WantedFocus::Class(name.to_owned())
}

#[test]
fn a_focus_has_a_name_of_its_own() {
    assert_eq!(focuses(vec![own("sailing.toml", SAILING), class("sport")]).unwrap(), ["sailing", "sport"]);
    let faults = focuses(vec![own("sailing.toml", SAILING), own("again.toml", SAILING)]).unwrap_err();
    assert!(faults.contains("again.toml:1") && faults.contains("\"sailing\""), "{faults}");
    assert!(focuses(vec![class("sport"), class("sport")]).unwrap_err().contains("focus.files"));
    assert!(focuses(vec![class("no such class")]).unwrap_err().contains("no such class"));
}

#[test]
fn every_line_that_is_wrong_in_a_focus_is_named() {
    let text = "format = 1\nname = \"sailing\"\nthreshold = 2.0\n\n[terms.en]\nsailing = \"much\"\n";
    let faults = focuses(vec![own("sailing.toml", text)]).unwrap_err();
    assert!(faults.contains("sailing.toml:3") && faults.contains("sailing.toml:6"), "{faults}");
}

#[test]
fn there_are_so_many_focuses_and_no_more() {
    let numbered = |number: usize| own("many.toml", &SAILING.replace("\"sailing\"", &format!("\"sailing {number}\"")));
    assert!(focuses((0..focus::MAX_FOCUSES).map(numbered).collect()).is_ok());
    let faults = focuses((0..=focus::MAX_FOCUSES).map(numbered).collect()).unwrap_err();
    assert!(faults.contains(&format!("more than {} focuses", focus::MAX_FOCUSES)), "{faults}");
}

#[test]
fn trusted_pages_are_hosts_or_paths() {
    let file = "[ranker]\nimportance = \"trustrank\"\ntrusted = [\"*.example.org\", \"shop.example/guides/*\"]\n";
    let settings = layered(file, &[]).unwrap();
    assert_eq!(settings.ranker.importance, RankMethod::TrustRank);
    assert_eq!(layered(&settings.to_toml(Secrets::Masked), &[]).unwrap(), settings);
    let faults = faults_of("[ranker]\ntrusted = [\"a b\"]\n");
    assert_eq!(
        faults,
        "recrawl.toml:2: ranker.trusted: cannot contain \"a b\"; write hosts, or paths on them, such as \
         [\"*.example.org\", \"shop.example/guides/*\"]"
    );
}

#[test]
fn every_policy_and_estimator_of_the_registries_is_chosen_by_its_name() {
    for (name, policy) in PolicyKind::for_operators() {
        let settings = layered(&format!("[policy]\nname = \"{name}\"\n"), &[]).unwrap();
        assert_eq!((&*settings.policy.name, policy.name()), (name, name));
    }
    for (name, estimator) in EstimatorChoice::for_operators() {
        let file = format!("[policy]\nname = \"crawl-value\"\n[estimator]\nname = \"{name}\"\n");
        assert_eq!(layered(&file, &[]).unwrap().estimator.name, estimator.name());
    }
    let optimal = faults_of("[policy]\nname = \"optimal\"\n");
    assert!(optimal.contains("write \"live\" or \"crawl-value\" or \"uniform\" or \"proportional\""), "{optimal}");
    for simulated in ["smoothed", "oracle", "clairvoyant", "reported", "sweep-reported"] {
        let reported = faults_of(&format!("[policy]\nname = \"{simulated}\"\n"));
        let expected =
            format!("policy.name: cannot be \"{simulated}\", which only a simulation can follow; write \"live\"");
        assert!(reported.contains(&expected), "{reported}");
    }
    assert_eq!(
        faults_of(
            "[estimator]\nname = \"gamma\"\n\n[policy]\ntheta = 7.0\n\n[[rules]]\npages = \"a.test\"\nwatch = \"\"\n"
        )
        .lines()
        .count(),
        3,
        "faults of all crates are in one list"
    );
    assert!(
        faults_of("[estimator]\nname = \"gamma\"\n")
            .starts_with("recrawl.toml:2: estimator.name: the policy \"live\" needs sweep forecasts")
    );
    let number = faults_of("[policy]\nname = 3\n");
    assert!(number.starts_with("recrawl.toml:2: policy.name: cannot be the number 3; write \"live\" or"), "{number}");
}
