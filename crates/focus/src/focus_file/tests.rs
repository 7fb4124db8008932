use super::*;
use crate::focus_writer::write_focus;
use crate::words::IcuSegmenter;
use proptest::prelude::*;

fn read(text: &str) -> Result<Focus, FocusFileError> {
    read_focus(text, &IcuSegmenter::default())
}

const BY_HAND: &str = "format = 1\nname = \"sailing\"\nseeds = [\"https://a.test/\"]\n[terms]\nzh = [\"帆船\"]\n\
                       [terms.en]\n\"Sailing boats\" = 2\nkeel = 1.0\n";

#[test]
fn a_file_written_by_hand_is_cut_into_terms() {
    let focus = read(BY_HAND).unwrap();
    assert_eq!((focus.name.as_str(), focus.languages["zh"].threshold), ("sailing", DEFAULT_THRESHOLD));
    assert_eq!(focus.seeds, ["https://a.test/"]);
    let english: Vec<_> = focus.languages["en"].vector.iter().map(|(term, _)| term).collect();
    assert_eq!(english, ["boat", "keel", "sailing"]);
    assert_eq!((focus.closeness("boat"), focus.closeness("keel"), focus.closeness("帆船")), (1.0, 0.5, 1.0));
}

#[test]
fn what_is_written_is_read_again() {
    let mut focus = read(BY_HAND).unwrap();
    focus.languages.get_mut("zh").unwrap().threshold = 0.25;
    focus.name = "a \"name\"\nof two lines".to_owned();
    focus.examples = vec!["https://b.test/?q=\\".to_owned()];
    let again = read(&write_focus(&focus)).unwrap();
    for (language, terms) in &focus.languages {
        assert_eq!(again.languages[language].threshold, terms.threshold);
        for (term, weight) in terms.vector.iter() {
            assert!((again.languages[language].vector.weight(term) - weight).abs() < 2e-6, "{term}");
        }
    }
    assert_eq!(Focus { languages: focus.languages.clone(), ..again }, focus);
}

#[test]
fn faults_are_named_by_line() {
    let check = |text: &str, expected: &[(usize, &str)]| {
        let faults = read(text).unwrap_err().faults;
        assert_eq!(faults.len(), expected.len(), "{text}: {faults:?}");
        for (fault, (line, words)) in faults.iter().zip(expected) {
            assert!(fault.line == *line && fault.problem.contains(words), "{text}: {fault:?}");
        }
    };
    check("", &[(1, "format"), (1, "name"), (1, "[terms.en]")]);
    check("format = 1\nname = \"x\nterms = 1", &[(2, "TOML")]);
    check(
        "format = 2\nname = 7\n[terms]\nen = []\nfr = 1",
        &[(1, "format = 1"), (2, "in quotes"), (4, "0 terms"), (5, "a table")],
    );
    check(
        "format = 1\nname = \"x\"\nthreshold = 3\ncolour = 1\nseeds = \"x\"\n[terms.en]\nboat = -1\nthe = 1\n",
        &[
            (3, "above 0 and up to 1"),
            (4, "colour is no key"),
            (5, "a list"),
            (7, "\"boat\""),
            (8, "\"the\" stands in"),
        ],
    );
    check("format = 1\nname = \"x\"\nterms = {}", &[(3, "1 to 32 languages")]);
    let thresholds = "format = 1\nname = \"x\"\nthreshold = { en = 0.1, fr = 0.2 }\nterms = { en = [\"boat\"] }";
    check(thresholds, &[(3, "no [terms.fr]")]);
}

#[test]
fn terms_of_another_dictionary_are_refused() {
    let file = write_focus(&read(BY_HAND).unwrap());
    let other = file.replace("icu4x-dictionary-2", "icu4x-dictionary-0");
    let error = read(&other).unwrap_err().to_string();
    assert!(error.starts_with("line 3: ") && error.contains("icu4x-dictionary-0"), "{error}");
    assert!(error.contains("learn the focus again"), "{error}");
    let by_hand = other.lines().filter(|line| !line.starts_with("segmenter")).collect::<Vec<_>>().join("\n");
    assert!(read(&by_hand).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in "(format = 1\n|name = \"x\"\n|\\[terms\\.en\\]\n|boat = 1\n|= |\\[|\\]|\"|\n|-1|1e999|nan|terms|seeds|[a-z帆]){0,20}"
    ) {
        match read(&text) {
            Ok(focus) => prop_assert!(!focus.languages.is_empty()),
            Err(error) => prop_assert!(!error.faults.is_empty()),
        }
    }

    #[test]
    fn any_focus_is_read_as_it_was_written(name in "\\PC{1,10}[a-z]", term in "\\PC{1,10}", address in "\\PC{0,10}x") {
        let mut focus = read(BY_HAND).unwrap();
        let terms = LanguageTerms { threshold: 0.5, vector: FocusVector::new([(term, 1.0)], 9) };
        focus.languages.insert("x y".to_owned(), terms);
        focus.name = name;
        focus.examples = vec![address];
        let again = read(&write_focus(&focus)).unwrap();
        prop_assert_eq!((again.name, again.examples), (focus.name, focus.examples));
        prop_assert_eq!(&again.languages["x y"], &focus.languages["x y"]);
    }
}

#[test]
fn near_words_are_read_and_written() {
    let text =
        format!("{BY_HAND}[near]\n\"帆船\" = [\"游艇\", \"帆板\"]\nkeel = {{ centreboard = 0.9, boat = 0.1 }}\n");
    let focus = read(&text).unwrap();
    assert_eq!(focus.near.len(), 4);
    assert_eq!(["游艇", "帆板", "centreboard", "boat"].map(|word| focus.closeness(word)), [0.75, 0.75, 0.45, 1.0]);
    assert_eq!(read(&write_focus(&focus)).unwrap().near, focus.near);
    let refused = |lines: &str, words: &str| {
        let error = read(&format!("{BY_HAND}[near]\n{lines}\n")).unwrap_err();
        assert!(error.faults[0].line == 10 && error.faults[0].problem.contains(words), "{lines}: {error}");
    };
    refused("yacht = [\"ship\"]", "\"yacht\" is no term of the focus");
    refused("keel = 1", "near words are a list");
    refused("keel = { ship = 2 }", "up to 1");
    refused("keel = [\"the\"]", "\"the\" stands in");
    assert!(read(&BY_HAND.replace("[terms]", "near = 1\n[terms]")).unwrap_err().to_string().contains("[near]"));
}

#[test]
fn chinese_words_written_by_hand_are_whole() {
    let words = |text: &str| {
        let focus = read(&format!("format = 1\nname = \"x\"\n[terms]\nzh = [\"{text}\"]\n")).unwrap();
        focus.words().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words("自驾游"), ["自驾游"]);
    assert_eq!(words("股票市场"), ["股票市场"]);
    assert_eq!(words("股票 市场"), ["市场", "股票"]);
    let single = read("format = 1\nname = \"x\"\n[terms]\nzh = [\"船\"]\n").unwrap_err().to_string();
    assert!(single.contains("write a longer word"), "{single}");
}
