//! `recrawl-lab rank`, as scripts call it.

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Five pages, of which the last links nothing, with the relevances of their links.
const LINKS: &str = "from,to,weight\n0,1,.9\n0,2,0\n1,2,.6\n2,0,.8\n3,0,.5\n3,2,.7\n3,4,.2\n";

struct Said {
    status: i32,
    stdout: String,
    stderr: String,
}

/// Ranks what stands on stdin.
fn rank(input: &str, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recrawl-lab"));
    command.args(["rank", "-"]).args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { status: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn json(input: &str, arguments: &[&str]) -> Value {
    let said = rank(input, &[arguments, &["--format", "json"]].concat());
    assert_eq!(said.status, 0, "{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

fn refused(input: &str, arguments: &[&str], words: &[&str]) {
    let said = rank(input, arguments);
    assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{}", said.stderr);
    words.iter().for_each(|word| assert!(said.stderr.contains(word), "no {word:?} in {}", said.stderr));
}

#[track_caller]
fn ranked(answer: &Value, expected: &[(&str, f64)]) {
    assert_eq!(answer.as_array().unwrap().len(), expected.len(), "{answer}");
    for (page, (url, score)) in answer.as_array().unwrap().iter().zip(expected) {
        assert_eq!(page["url"], *url, "{answer}");
        let got = page["score"].as_f64().unwrap();
        assert!((got - score).abs() < 1e-8, "{url}: {got}, expected {score}");
    }
}

#[test]
fn every_method_answers_best_first() {
    let plain = LINKS.lines().map(|line| line.rsplit_once(',').unwrap().0).collect::<Vec<_>>().join("\n");
    let pagerank = [
        ("2", 0.363524008725),
        ("0", 0.358238639137),
        ("1", 0.190622771026),
        ("4", 0.04924323172),
        ("3", 0.038371349392),
    ];
    ranked(&json(&plain, &[]), &pagerank);
    ranked(&json(&plain, &["--method", "pagerank", "--top", "2"]), &pagerank[..2]);
    let opic = [
        ("2", 0.310626702997),
        ("0", 0.277929155313),
        ("1", 0.190735694823),
        ("4", 0.122615803815),
        ("3", 0.098092643052),
    ];
    ranked(&json(&plain, &["--method", "opic"]), &opic);
    let hits = json(&plain, &["--method", "hits"]);
    let authorities =
        [("2", 0.767700023453), ("0", 0.474464707658), ("4", 0.366392510486), ("1", 0.226443024704), ("3", 0.0)];
    ranked(&hits, &authorities);
    assert!((hits[4]["hub"].as_f64().unwrap() - 0.767700023453).abs() < 1e-8, "{hits}");
    let ipagerank = [
        ("0", 0.310971243522),
        ("2", 0.309002908248),
        ("1", 0.301392011852),
        ("4", 0.04156738152),
        ("3", 0.037066454858),
    ];
    ranked(&json(LINKS, &["--method", "ipagerank"]), &ipagerank);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trusted");
    std::fs::write(&file, "# ours\n0\n\n3\nnowhere\n").unwrap();
    let trusted = ["--method", "trustrank", "--trusted", file.to_str().unwrap()];
    let trust = [
        ("0", 0.391820925626),
        ("2", 0.332228369045),
        ("1", 0.166523893391),
        ("3", 0.085267645666),
        ("4", 0.024159166272),
    ];
    ranked(&json(&plain, &trusted), &trust);
    assert!(rank(&plain, &trusted).stderr.contains("line 5: nowhere"));
}

#[test]
fn link_values_are_those_of_hosts() {
    let page = |from: u32, to: [u32; 2]| {
        let links = to.map(|to| format!("http://s{to}.test/deep?page={from}"));
        json!({"url": format!("https://s{from}.test/"), "links": links}).to_string()
    };
    // A link to the own host does not count. Values of these four sites after each pass are known.
    let lines = [page(1, [2, 3]), page(2, [3, 2]), page(3, [1, 4]), page(4, [1, 2])].join("\n");
    let hosts = |values: [(u32, f64); 4], arguments: &[&str]| {
        let expected = values.map(|(site, value)| (format!("https://s{site}.test/"), value));
        let expected: Vec<(&str, f64)> = expected.iter().map(|(url, value)| (url.as_str(), *value)).collect();
        ranked(&json(&lines, &[&["--method", "linkvalue", "--passes"], arguments].concat()), &expected);
    };
    hosts([(1, 4.0), (2, 3.0), (3, 2.0), (4, 2.0)], &["1"]);
    hosts([(1, 1873.0), (2, 1284.0), (4, 871.0), (3, 757.0)], &["4"]);
    // The published cut of one value turns the order round; that of all values keeps it.
    hosts([(4, 50896.0), (3, 44238.0), (1, 330.0), (2, 273.0)], &["6", "--as-published"]);
    let roots = [330.83530645927135, 273.9142201493015, 225.6014184352572, 210.32831478429148];
    hosts([(1, roots[0]), (2, roots[1]), (4, roots[2]), (3, roots[3])], &["6"]);
    assert!(rank(&lines, &["--as-published"]).stderr.contains("--method linkvalue"));
    assert_eq!(json(&lines, &["--hosts"]).as_array().unwrap().len(), 4);
}

#[test]
fn all_ways_to_write_links_are_the_same() {
    let expected = json("from,to\na,b\na,c\nc,a\n", &[]);
    for input in [
        "\u{feff}source,target\r\na,b\r\na,c\r\nc,a\r\n",
        "note,Target,SOURCE\nx,b,a\n,c,a\n,\"a\",c\n",
        "{\"url\":\"a\",\"links\":[\"b\",\"c\"]}\n\n{\"url\":\"c\",\"links\":[\"a\"],\"more\":1}\n",
        "{\"from\":\"a\",\"to\":\"b\"}\n{\"source\":\"a\",\"target\":\"c\"}\n{\"url\":\"c\",\"links\":[{\"url\":\"a\"}]}",
    ] {
        assert_eq!(json(input, &[]), expected, "{input}");
    }
    let weighted = json("from,to,weight\na,b,3\na,c,1\nb,c,\n", &[]);
    let line = "{\"url\":\"a\",\"links\":[{\"url\":\"b\",\"weight\":3},\"c\"]}\n{\"from\":\"b\",\"to\":\"c\"}\n";
    assert_eq!(json(line, &[]), weighted);
}

#[test]
fn bad_lines_are_reported_by_number_and_left_out_when_asked() {
    let csv = "from,to,weight\na,b,1\na,,1\na,c,much\nb,c,-1\nb,a,nan\nc,a,2\n";
    let words = ["line 3: the link has no target", "line 4: the weight \"much\" is no number", "line 5: ", "line 6: "];
    refused(csv, &[], &[&words[..], &["--skip-bad"]].concat());
    let said = rank(csv, &["--skip-bad", "--format", "jsonl"]);
    assert_eq!((said.status, said.stdout.lines().count()), (0, 3));
    assert!(said.stderr.contains("line 3: ") && said.stderr.contains("4 bad lines left out"), "{}", said.stderr);

    let lines =
        "{\"url\":\"a\",\"links\":[\"b\"]}\n{\"url\":\"a\"}\nnonsense\n{\"url\":\"b\",\"links\":[\"a\",\"\"]}\n";
    refused(lines, &[], &["line 2: ", "line 3: ", "line 4: a link has no target", "\"links\":"]);
    assert_eq!(json(lines, &["--skip-bad"]).as_array().unwrap().len(), 2);

    let many = format!("from,to\n{}a,b\n", "x,\n".repeat(1_000));
    refused(&many, &[], &["line 2: ", "line 21: ", "980 more bad lines"]);
    assert!(!rank(&many, &[]).stderr.contains("line 22:"));
}

#[test]
fn what_cannot_be_ranked_is_refused() {
    refused("", &[], &["line 1", "from,to"]);
    refused("a,b\nc,d\n", &[], &["line 1", "from,to or source,target", "\"a,b\""]);
    refused("from,to\n", &[], &["there are no links"]);
    refused("from,to\na,b\n", &["--method", "ipagerank"], &["weight"]);
    refused("from,to,weight\na,b,2\n", &["--method", "ipagerank"], &["from a to b", "from 0 to 1"]);
    refused("from,to\na,b\n", &["--method", "trustrank"], &["--trusted"]);
    refused("from,to\na,b\n", &["--trusted", "nowhere"], &["trustrank"]);
    refused("from,to\na,b\n", &["--method", "trustrank", "--trusted", "nowhere"], &["nowhere"]);
    refused("from,to\na,b\n", &["--damping", "1"], &["--damping"]);
    refused("from,to\na,b\n", &["--weights", "--exponent", "2"], &["--exponent"]);
    let missing = Command::new(env!("CARGO_BIN_EXE_recrawl-lab")).args(["rank", "nowhere.csv"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("nowhere.csv"));
}

#[test]
fn a_page_that_links_itself_gains_nothing() {
    let honest = "from,to\na,b\nb,c\nc,a\nd,a\n";
    let spam = format!("{honest}{}", "d,d\nd,a\n".repeat(100_000));
    for method in ["pagerank", "opic", "hits", "linkvalue"] {
        let once = if method == "linkvalue" { format!("{honest}{}", "d,d\n".repeat(100_000)) } else { spam.clone() };
        assert_eq!(json(&once, &["--method", method]), json(honest, &["--method", method]), "{method}");
    }
    assert!(rank(&spam, &[]).stderr.contains("100000 of pages to themselves, 100000 repeated"));
}

#[test]
fn weights_are_printed_beside_scores() {
    let links = (0..3_000).map(|page| format!("p{page},hub\n")).collect::<String>();
    let answer = json(&format!("from,to\n{links}"), &["--weights", "--method", "hits"]);
    let weight = |index: usize| answer[index]["weight"].as_f64().unwrap();
    assert_eq!((weight(0), weight(1)), (1_000.0_f64.powf(0.7), 0.05));
    assert_eq!(json("from,to\na,b\n", &["--weights", "--exponent", "0"])[1]["weight"], 1.0);
    let text = rank("from,to\na,b\n", &["--weights"]).stdout;
    assert!(text.lines().all(|line| line.split_whitespace().count() == 3), "{text}");
}

#[test]
fn a_page_with_a_million_links_is_ranked() {
    let links: Vec<String> = (0..1_000_000).map(|page| format!("https://h{}.test/{page}", page % 1_000)).collect();
    let line = json!({"url": "https://hub.test/", "links": links}).to_string();
    let answer = json(&line, &["--top", "3"]);
    assert_eq!(answer.as_array().unwrap().len(), 3);
    assert_eq!(json(&line, &["--hosts"]).as_array().unwrap().len(), 1_001);
}

#[test]
fn hosts_that_live_on_exchanged_links_are_named_with_the_reason_and_weigh_less() {
    let mut links = "from,to\n".to_owned();
    for from in 0..12 {
        (0..12).for_each(|to| links += &format!("http://farm-{from}.test/a,http://farm-{to}.test/b\n"));
        (1..6)
            .for_each(|step| links += &format!("http://good-{from}.test/,http://good-{}.test/\n", (from + step) % 12));
    }
    let answer = json(&links, &["--hosts", "--spam-shape", "--weights"]);
    for host in answer.as_array().unwrap() {
        let (spam, reasons) = (host["spam"].as_f64().unwrap(), host["reasons"].as_array().map_or(0, Vec::len));
        match host["url"].as_str().unwrap().contains("farm") {
            true => assert!(spam > 0.9 && reasons == 2 && host["weight"].as_f64().unwrap() < 0.3, "{host}"),
            false => assert!(spam == 0.0 && reasons == 0, "{host}"),
        }
    }
    let text = rank(&links, &["--hosts", "--spam-shape", "--top", "1"]).stdout;
    assert!(text.contains("https://"), "{text}");
    refused(&links, &["--spam-shape"], &["--hosts"]);
}
