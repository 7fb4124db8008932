//! A generated web: sites with subjects in English or Chinese, links that often but not always stay with the subject,
//! words around links that often but not always fit the subject, and sites in the focus that only other sites lead to.

use super::web::{FocusPage, FocusWeb};
use chance::{splitmix64, unit};
use focus::{Focus, IcuSegmenter, LearningText, classes, learn_from_texts};

const SITES: usize = 80;
/// Pages of each site.
pub const PAGES_PER_SITE: usize = 250;
const PAGES: usize = SITES * PAGES_PER_SITE;
/// Sites in the focus, the first ones. Of these the last ones are behind tunnels.
pub const FOCUS_SITES: usize = 20;
/// Sites that only pages of other sites lead to.
pub const TUNNELLED_SITES: usize = 6;
/// Example pages in each language from which the focus is learned.
const EXAMPLES: usize = 12;
/// Other pages, from which the learner knows the words in common use.
const OTHERS: usize = 80;
/// The seeds: the first pages of two sites in the focus and of two others.
const SEED_SITES: [usize; 4] = [0, 1, 40, 61];
/// Pages of other sites that lead to each tunnelled site, how many pages in the focus link to each of these, and how many
/// links it has into the site.
const PORTALS_PER_SITE: usize = 3;
const LINKS_TO_PORTAL: usize = 10;
const LINKS_FROM_PORTAL: usize = 4;
/// The subject of the focus, as the place of its class in the catalogue.
const SUBJECT: usize = 6;

const LANGUAGES: [&str; 2] = ["en", "zh"];

/// Draws numbers from a seed.
struct Chance(u64);

impl Chance {
    /// A number from 0 to below 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(1);
        unit(splitmix64(self.0))
    }

    fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    fn of<'a>(&mut self, words: &'a [String]) -> &'a str {
        &words[self.below(words.len())]
    }
}

/// Words of a language: those of each subject, and those of any page.
struct Language {
    subjects: Vec<Vec<String>>,
    general: Vec<String>,
    neutral_anchors: Vec<String>,
    gap: &'static str,
}

const CHINESE_GENERAL: &str = "问题 情况 发展 社会 工作 生活 时间 世界 方面 经验 方法 关系 活动 组织 方式 结果 过程 条件 部分 地方 \
                               朋友 孩子 家庭 城市 道路 天气 季节 故事 历史 文化 语言 声音 颜色 意见 计划 目标 机会 原因 影响 \
                               变化 水平 特点 内容 作用 要求 办法 思想 精神 感觉 印象 习惯 传统 桌子 窗户 花园 河流 邻居 早晨 夜晚";

fn languages() -> [Language; 2] {
    let classes = classes(&IcuSegmenter::default());
    let words = |language: &str| -> Vec<Vec<String>> {
        let terms = |class: &Focus| class.languages[language].vector.iter().map(|(term, _)| term.to_owned()).collect();
        classes.iter().map(terms).collect()
    };
    let list = |words: &str, gap: &str| words.split(gap).map(|word| word.trim().to_owned()).collect();
    let syllables = ["ba", "mo", "rel", "ti", "sun", "ka", "vor", "del", "pi", "nar", "lo", "gat"];
    let english_general =
        (0..1728).map(|index| [index / 144, index / 12 % 12, index % 12].map(|at| syllables[at]).concat()).collect();
    [
        Language {
            subjects: words("en"),
            general: english_general,
            neutral_anchors: list("read more,next page,click here,continue,details,part two", ","),
            gap: " ",
        },
        Language {
            subjects: words("zh"),
            general: list(CHINESE_GENERAL, " "),
            neutral_anchors: list("更多,下一页,点击这里,详细内容,继续阅读,第二部分", ","),
            gap: "",
        },
    ]
}

fn url(page: usize) -> String {
    format!("http://s{}.test/p{}", page / PAGES_PER_SITE, page % PAGES_PER_SITE)
}

/// Subject, language and title of a page, from which its text and the anchors of links to it are drawn.
struct Plan {
    subject: usize,
    language: usize,
    title: String,
}

/// A text of a subject: a quarter of its words are a dozen of the subject's, a few are those of any subject.
fn write(chance: &mut Chance, language: &Language, subject: usize, words: usize) -> Vec<String> {
    let own: Vec<String> = (0..12).map(|_| chance.of(&language.subjects[subject]).to_owned()).collect();
    let word = |_| match chance.share() {
        share if share < 0.25 => chance.of(&own).to_owned(),
        share if share < 0.27 => {
            let other = chance.below(language.subjects.len());
            chance.of(&language.subjects[other]).to_owned()
        }
        _ => chance.of(&language.general).to_owned(),
    };
    (0..words).map(word).collect()
}

/// Generates a web from a seed, and learns its focus: from examples that are not among its pages, beside some that are
/// off the focus.
pub fn generate(seed: u64) -> (FocusWeb, Focus) {
    let mut chance = Chance(seed);
    let pages = generate_pages(&mut chance);
    let focus = learn(&mut chance, &pages);
    (FocusWeb::new(pages, SEED_SITES.map(|site| site * PAGES_PER_SITE).into()), focus)
}

fn learn(chance: &mut Chance, pages: &[FocusPage]) -> Focus {
    let text = |language: &str, title: &str, text: &str| LearningText {
        language: language.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
    };
    let examples: Vec<LearningText> =
        examples(chance).iter().map(|(language, example)| text(language, "", example)).collect();
    let others = pages.iter().enumerate().filter(|(_, page)| !page.is_relevant).step_by(pages.len() / OTHERS);
    let others: Vec<LearningText> = others
        .map(|(number, page)| text(LANGUAGES[language_of(number / PAGES_PER_SITE)], &page.title, &page.text))
        .collect();
    learn_from_texts("subject", &IcuSegmenter::default(), &examples, &others).expect("the examples have terms")
}

fn language_of(site: usize) -> usize {
    usize::from(site % 2 == 1)
}

/// Example pages in the focus in each language. They are not part of the web.
fn examples(chance: &mut Chance) -> Vec<(&'static str, String)> {
    let mut write_in = |(language, name)| {
        let words = write(chance, language, SUBJECT, 150);
        (name, words.join(language.gap))
    };
    let languages = languages();
    let named = languages.iter().zip(LANGUAGES);
    named.flat_map(|named| vec![named; EXAMPLES]).map(&mut write_in).collect()
}

fn generate_pages(chance: &mut Chance) -> Vec<FocusPage> {
    let languages = languages();
    let subjects = languages[0].subjects.len();
    let other_subject = |chance: &mut Chance| (SUBJECT + 1 + chance.below(subjects - 1)) % subjects;
    let site_subjects: Vec<usize> =
        (0..SITES).map(|site| if site < FOCUS_SITES { SUBJECT } else { other_subject(chance) }).collect();
    let plans: Vec<Plan> = (0..PAGES)
        .map(|page| {
            let site = page / PAGES_PER_SITE;
            let subject = match chance.share() {
                share if site < FOCUS_SITES && share < 0.08 => other_subject(chance),
                share if site >= FOCUS_SITES && share < 0.01 => SUBJECT,
                _ => site_subjects[site],
            };
            let language = language_of(site);
            let words = write(chance, &languages[language], subject, 6);
            Plan { subject, language, title: words.join(languages[language].gap) }
        })
        .collect();
    let mut targets: Vec<Vec<usize>> =
        (0..PAGES).map(|page| draw_targets(chance, &site_subjects, plans[page].subject, page)).collect();
    dig_tunnels(chance, &mut targets);
    let written = |page: usize| render(chance, &languages, &plans, page, &targets[page]);
    (0..PAGES).map(written).collect()
}

/// Earlier pages of a site have more links to them.
fn draw_page(chance: &mut Chance, site: usize) -> usize {
    site * PAGES_PER_SITE + (chance.share().powi(2) * PAGES_PER_SITE as f64) as usize
}

fn is_tunnelled(site: usize) -> bool {
    (FOCUS_SITES - TUNNELLED_SITES..FOCUS_SITES).contains(&site)
}

fn draw_targets(chance: &mut Chance, site_subjects: &[usize], subject: usize, page: usize) -> Vec<usize> {
    let site = page / PAGES_PER_SITE;
    let alike: Vec<usize> = (0..SITES).filter(|other| site_subjects[*other] == subject).collect();
    let count = 8 + chance.below(8);
    let mut draw = |_| {
        let to = match chance.share() {
            share if share < 0.6 => site,
            share if share < 0.8 && !alike.is_empty() => alike[chance.below(alike.len())],
            _ => chance.below(SITES),
        };
        // Only its own pages link to a tunnelled site directly.
        let to = if is_tunnelled(to) && to != site { chance.below(FOCUS_SITES - TUNNELLED_SITES) } else { to };
        draw_page(chance, to)
    };
    (0..count).map(&mut draw).collect()
}

/// Pages in the focus link to a few pages of other sites, and those to the tunnelled sites.
fn dig_tunnels(chance: &mut Chance, targets: &mut [Vec<usize>]) {
    for site in (0..FOCUS_SITES).filter(|site| is_tunnelled(*site)) {
        for _ in 0..PORTALS_PER_SITE {
            let elsewhere = FOCUS_SITES + chance.below(SITES - FOCUS_SITES);
            let portal = draw_page(chance, elsewhere);
            for _ in 0..LINKS_TO_PORTAL {
                let in_focus = chance.below(FOCUS_SITES - TUNNELLED_SITES);
                targets[draw_page(chance, in_focus)].push(portal);
            }
            targets[portal].extend((0..LINKS_FROM_PORTAL).map(|_| draw_page(chance, site)));
        }
    }
}

/// A page as HTML. Three of five anchors are words of the target's title, one of ten misleads.
fn render(chance: &mut Chance, languages: &[Language; 2], plans: &[Plan], page: usize, targets: &[usize]) -> FocusPage {
    let plan = &plans[page];
    let language = &languages[plan.language];
    let mut html = format!("<title>{}</title>", plan.title);
    let mut text = String::new();
    for target in targets {
        let words = write(chance, language, plan.subject, 12).join(language.gap);
        let to = &plans[*target];
        let is_silent = is_tunnelled(target / PAGES_PER_SITE)
            && target / PAGES_PER_SITE != page / PAGES_PER_SITE
            && (target / PAGES_PER_SITE).is_multiple_of(3);
        let anchor = match chance.share() {
            share if share < 0.6 && !is_silent => to.title.clone(),
            share if share < 0.7 && !is_silent => {
                let other = chance.below(language.subjects.len());
                write(chance, language, other, 3).join(language.gap)
            }
            _ => chance.of(&language.neutral_anchors).to_owned(),
        };
        html += &format!("<p>{words}.</p><p><a href=\"{}\">{anchor}</a></p>", url(*target));
        text += &format!("{words}.\n{anchor}\n");
    }
    FocusPage { url: url(page), is_relevant: plan.subject == SUBJECT, title: plan.title.clone(), text, html }
}
