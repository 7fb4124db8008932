//! robots.txt of any bytes.
//!
//! Input: a line with a path, then the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use politeness::RobotsFile;

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (path, file) = input.split_at(end);
    let path = String::from_utf8_lossy(path);
    let robots = RobotsFile::parse(file);
    assert!(robots.check("ExampleBot", "/robots.txt").allowed);
    assert!(robots.sitemaps().iter().map(String::len).sum::<usize>() <= 3 * file.len());
    let lines = 1 + file.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    for agent in ["ExampleBot", "other"] {
        let verdict = robots.check(agent, &path);
        assert!(verdict.allowed || verdict.rule.is_some(), "only a rule forbids");
        assert_eq!(verdict.rule.is_some(), verdict.line.is_some());
        assert!(verdict.line.is_none_or(|line| (1..=lines).contains(&line)));
        let _ = robots.crawl_delay(agent);
    }
    let by_name = [b"User-agent: *\n", file].concat();
    let _ = RobotsFile::parse(&by_name).check("ExampleBot", &path);
});
