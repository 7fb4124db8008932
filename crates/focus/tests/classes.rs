//! The built-in classes on short pages that were written for this test.

use focus::{
    Focus, FocusSet, FocusSetRules, IcuSegmenter, PageTerms, PhraseSegmenter, RelevanceMeasure, class, classes, terms,
};
use std::collections::BTreeSet;

const PAGES: [(&str, &str, &str); 14] = [
    (
        "sport",
        "Late goal sends United through",
        "A header in the last minute was enough on Saturday evening. The home side had held the ball for most of the \
         second half, yet their captain missed twice from close range. The visiting coach said afterwards that the team \
         had trained for exactly this. With three matches left in the season they stand second in the league, four points \
         behind the champions, and face them in the cup next month.",
    ),
    (
        "sport",
        "国家队客场取胜",
        "昨晚的比赛中，国家队凭借替补前锋的进球以一比零战胜对手。主教练赛后表示，球员们执行了训练中的要求，门将的几次扑救非常关键。\
         联赛还剩三轮，球队目前排名第二，落后榜首四分。下个月两队还将在杯赛决赛中相遇，球迷已经开始抢购门票。",
    ),
    (
        "finance",
        "Shares slip as rates stay high",
        "Investors sold bank stocks on Tuesday after the central bank left interest rates where they were. The index closed \
         lower for the third day. Analysts had expected a cut, since inflation fell in spring. Bond yields rose, and the \
         currency gained against its neighbours. Two lenders report their quarterly profit on Thursday; traders will look \
         at how many loans went bad.",
    ),
    (
        "finance",
        "央行维持利率不变 股市小幅下跌",
        "周二，央行宣布维持利率不变，投资者抛售银行股，指数连续第三个交易日收低。分析师此前预计将会降息，因为春季通胀有所回落。\
         债券收益率上升，本国货币兑周边货币走强。两家银行将于周四公布季度利润，市场关注不良贷款的规模。",
    ),
    (
        "health",
        "New advice on treating asthma in children",
        "Doctors should check how a child uses an inhaler before they raise the dose, according to guidance published by the \
         hospital network. In a trial with six hundred patients, symptoms got better in half of them after a nurse had \
         explained the device once more. Families should ask their pharmacy for a plan that says what to do when breathing \
         becomes hard at night. Drugs taken by mouth remain the treatment for severe attacks.",
    ),
    (
        "health",
        "儿童哮喘治疗有新建议",
        "医院联盟发布的指南指出，医生在增加药物剂量之前应先检查孩子如何使用吸入器。在一项六百名患者参加的临床试验中，\
         护士再次讲解之后，一半患者的症状得到缓解。家长应向药房索取应对计划，以便夜间呼吸困难时使用。严重发作时仍需口服药物治疗。",
    ),
    (
        "software",
        "Version 4.2 fixes a leak in the thread pool",
        "The maintainers released a new version of the library today. It closes a bug that let memory grow whenever a worker \
         thread was stopped during a call to the database. Developers who pinned an older release should upgrade; the public \
         interface stays the same. The source code is in the usual repository, with a script that finds calls to the two \
         functions that are gone. A container image follows tomorrow.",
    ),
    (
        "software",
        "4.2版本修复线程池内存泄漏",
        "项目维护者今天发布了新版本，修复了一个漏洞：工作线程在访问数据库时被停止，内存会不断增长。仍在使用旧版本的开发者应当升级，\
         对外接口没有变化。代码已经放到仓库中，并附带一个脚本，用来查找已经删除的两个函数。容器镜像将在明天提供。",
    ),
    (
        "law",
        "Appeal court overturns ruling on hidden fees",
        "Three judges found on Friday that a clause hidden on page nine was no part of the contract. The defendant, a telephone \
         company, had argued that its customers could have read it. The plaintiff's lawyer called the verdict a reminder that \
         consumer legislation has teeth. The company may take the lawsuit to the supreme court within a month.",
    ),
    (
        "law",
        "法院二审判决隐藏条款无效",
        "周五，三名法官认定，写在第九页的条款不构成合同内容。被告是一家电话公司，主张客户本可以阅读该条款。原告律师表示，\
         这一判决说明消费者权益法规并非摆设。公司可以在一个月内向最高法院提起上诉，诉讼费用由被告承担。",
    ),
    (
        "travel",
        "Four days on the islands without a car",
        "The night ferry arrives at seven, early enough for breakfast by the harbour before the first bus leaves. Our hotel kept \
         the luggage, and the beach is ten minutes away on foot. On the second day a guide took a dozen tourists to the crater. \
         Book flights back before June, since the airline halves its timetable. The museum in the old town is free on Sundays, and no \
         visa is needed for a trip of this length.",
    ),
    (
        "travel",
        "不租车的海岛四日游",
        "夜航渡轮早上七点到达，旅客可以先在港口吃早餐，再坐第一班公交。酒店可以寄存行李，步行十分钟就到海滩。\
         第二天，导游带着十几名游客登上火山口，景区门票包含午餐。返程航班请在六月之前预订，之后班次会减半。古镇的博物馆周日免费，\
         短途旅行不需要签证。",
    ),
    (
        "",
        "Privacy notice",
        "We use your data to deliver what you ordered and to answer your questions. You can ask for a copy at any time, or have it \
         deleted. We keep letters for ten years because we must. If you have a complaint, write to the address below, and somebody will \
         reply within two weeks.",
    ),
    (
        "",
        "关于本站",
        "本站由一群志愿者维护，内容每周更新。如果您发现错误，请写信告诉我们，我们会尽快更正。转载请注明出处，谢谢您的支持。",
    ),
];

#[test]
fn a_page_is_closest_to_its_class_and_reaches_its_threshold() {
    let segmenter = IcuSegmenter::default();
    let set = FocusSet::new(classes(&segmenter), FocusSetRules::default(), &segmenter);
    let (classes, measure) = (set.focuses(), RelevanceMeasure::default());
    for (class, title, text) in PAGES {
        let page = PageTerms::read(&PhraseSegmenter::new(&segmenter, set.phrases()), title, text);
        let mut scores: Vec<(f64, &str)> =
            classes.iter().map(|class| (class.relevance(&measure, &page).score, class.name.as_str())).collect();
        scores.sort_by(|one, other| other.0.total_cmp(&one.0));
        let relevant: Vec<&str> = classes
            .iter()
            .filter(|class| class.relevance(&measure, &page).is_relevant)
            .map(|class| class.name.as_str())
            .collect();
        let expected: &[&str] = if class.is_empty() { &[] } else { &[class] };
        assert_eq!(relevant, expected, "{title}: {:?}", &scores[..4]);
    }
}

/// Sentences around a word. Those without punctuation put characters beside it with which the dictionary may join its ends.
const SENTENCES: [(&str, &str); 8] = [
    ("", ""),
    ("关于", "的消息"),
    ("我们讨论了", "，结果很好。"),
    ("这是中国", "市场报告"),
    ("国际", "次日发布"),
    ("最新", "大全"),
    ("《", "》"),
    ("about ", " news"),
];

#[test]
fn every_chinese_word_of_a_class_is_found_whole() {
    let segmenter = IcuSegmenter::default();
    let (mut words, mut cut) = (0, Vec::new());
    for class in classes(&segmenter) {
        let phrases = class.phrases(&segmenter);
        for (word, _) in class.languages["zh"].vector.iter() {
            for (before, after) in SENTENCES {
                let mut found = BTreeSet::new();
                let text = format!("{before}{word}{after}");
                let segmenter = PhraseSegmenter::new(&segmenter, &phrases);
                terms(&segmenter, &text, &mut |term, _| {
                    found.insert(term.to_owned());
                });
                words += 1;
                if !found.contains(word) {
                    cut.push(text);
                }
            }
        }
    }
    // Two words of one class share a character, and the first is taken: 新房 (new home) and 房贷 (mortgage).
    assert!(words > 4000 && cut == ["最新房贷大全"], "{} of {words}: {cut:#?}", cut.len());
}

fn is_relevant(focus: &Focus, title: &str, text: &str) -> bool {
    let segmenter = IcuSegmenter::default();
    let phrases = focus.phrases(&segmenter);
    let page = PageTerms::read(&PhraseSegmenter::new(&segmenter, &phrases), title, text);
    focus.relevance(&RelevanceMeasure::default(), &page).is_relevant
}

#[test]
fn characters_that_words_share_make_no_page_relevant() {
    let travel = class("travel", &IcuSegmenter::default()).expect("it is built in");
    let liner = "集装箱班轮公司宣布增加欧洲航线的运力。班轮联盟表示，航运需求回升，码头装卸效率提高，班轮准班率上升，运价指数小幅上涨。";
    assert!(!is_relevant(&travel, "班轮航运市场回暖", liner));
    let school =
        "学校本学期新开设三个班，各班班主任已经到岗。校区分为东区和西区，区内设有图书馆和操场，班级人数不超过四十人。";
    assert!(!is_relevant(&travel, "新校区开班", school));
    let holiday = "景区门票提前预订可享优惠，自驾游游客请注意停车位置。古镇的民宿价格适中，乘坐航班的旅客可在机场换乘大巴，邮轮码头也有接驳车。";
    assert!(is_relevant(&travel, "古镇三日游攻略", holiday));
}
