//! Noise that moves with the time of day or with the visitors: two looks a minute apart find the same.

use super::kinds::{DAY_S, HOUR_S, HistoryKind, daily, hourly, unseen, worded, worded_daily};

const ROOM: [&str; 2] = ["small hall", "large hall"];
const PRICE: [&str; 2] = ["24 EUR", "19 EUR"];

/// A text with its age, as pages of many languages write it.
const fn age(name: &'static str, block: &'static str) -> HistoryKind {
    hourly(name, block, ROOM)
}

pub(crate) const SLOW: &[HistoryKind] = &[
    age("age in English, by the hour", "<p>Concert in the «fact», «hours» hours ago</p>"),
    age("age in German, by the hour", "<p>Konzert (vor «hours» Std.): «fact»</p>"),
    age("age in French, by the hour", "<p>Concert, il y a «hours» heures, «fact»</p>"),
    age("age in Spanish, by the hour", "<p>Hace «hours» horas · concierto · «fact»</p>"),
    age("age in Italian, by the hour", "<p>«hours» ore fa: concerto, «fact»</p>"),
    age("age in Portuguese, by the hour", "<p>Há «hours» horas: concerto, «fact»</p>"),
    age("age in Dutch, by the hour", "<p>«hours» uur geleden: concert, «fact»</p>"),
    age("age in Swedish, by the hour", "<p>för «hours» timmar sedan: konsert, «fact»</p>"),
    age("age in Danish, by the hour", "<p>for «hours» timer siden: koncert, «fact»</p>"),
    age("age in Finnish, by the hour", "<p>«hours» tuntia sitten: konsertti, «fact»</p>"),
    age("age in Polish, by the hour", "<p>«hours» godz. temu: koncert, «fact»</p>"),
    age("age in Czech, by the hour", "<p>před «hours» hodinami: koncert, «fact»</p>"),
    age("age in Hungarian, by the hour", "<p>«hours» órája: hangverseny, «fact»</p>"),
    age("age in Russian, by the hour", "<p>«hours» ч. назад: концерт, «fact»</p>"),
    age("age in Ukrainian, by the hour", "<p>«hours» год. тому: концерт, «fact»</p>"),
    age("age in Greek, by the hour", "<p>πριν από «hours» ώρες: συναυλία, «fact»</p>"),
    age("age in Turkish, by the hour", "<p>«hours» saat önce: konser, «fact»</p>"),
    age("age in Chinese, by the hour", "<p>音乐会 «hours»小时前 «fact»</p>"),
    age("age in Japanese, by the hour", "<p>コンサート、«hours»時間前、«fact»</p>"),
    age("age in Korean, by the hour", "<p>연주회 «hours»시간 전 «fact»</p>"),
    age("age in Arabic, by the hour", "<p dir=\"rtl\">حفلة منذ «hours» ساعة «fact»</p>"),
    age("age in Hebrew, by the hour", "<p dir=\"rtl\">קונצרט לפני «hours» שעות «fact»</p>"),
    age("age in Hindi, by the hour", "<p>«hours» घंटे पहले: संगीत, «fact»</p>"),
    age("age in Vietnamese, by the hour", "<p>«hours» giờ trước: hòa nhạc, «fact»</p>"),
    age("age in Indonesian, by the hour", "<p>«hours» jam yang lalu: konser, «fact»</p>"),
    age("age in Thai, by the hour", "<p>«hours» ชั่วโมงที่แล้ว «fact»</p>"),
    age("age in English, in minutes", "<p>«minutes» minutes ago in the «fact»</p>"),
    age("age in German, in minutes", "<p>Vor «minutes» Minuten, «fact»</p>"),
    age("age in French, in minutes", "<p>Il y a «minutes» minutes, «fact»</p>"),
    age("age in Chinese, in minutes", "<p>«minutes»分钟前 «fact»</p>"),
    age("age alone in its text, in German", "<p class=\"by\">vor «hours» Std.</p><p>Concert in the «fact».</p>"),
    age("age alone in its text, in Chinese", "<p class=\"by\">«hours»小时前</p><p>Concert in the «fact».</p>"),
    hourly("short age in hours", "<p class=\"by\">«hours»h · «fact»</p>", ROOM),
    daily("short age in days", "<p class=\"by\">«days»d · «fact»</p>", ROOM),
    daily("age in days", "<p>Posted «days» days ago by the «fact»</p>", ROOM),
    daily("age in days in German", "<p>«fact», vor «days» Tagen</p>", ROOM),
    daily("days left in German", "<p>Noch «left» Tage im Saal: «fact»</p>", ROOM),
    daily("days left in English", "<p>«left» days left to book the «fact»</p>", ROOM),
    daily("days left in French", "<p>Plus que «left» jours, «fact»</p>", ROOM),
    hourly("countdown in days and hours", "<p>Ends in «left» d «hours_left» h: «fact»</p>", ROOM),
    daily("date of the day", "<p>Today is «weekday», «day» March 2026. Concert in the «fact».</p>", ROOM),
    daily(
        "date of the day, alone in its text",
        "<p>«weekday», «day» March 2026</p><p>Concert in the «fact».</p>",
        ROOM,
    ),
    daily("date of the day in German", "<p>Heute, «wochentag», den «day». März 2026: «fact»</p>", ROOM),
    daily("date of the day in Chinese", "<p>今天是2026年3月«day»日，«fact»</p>", ROOM),
    daily("date of the day, in figures", "<p>As of 2026-03-«month_day»: «fact»</p>", ROOM),
    hourly("time of the last update", "<p>Updated at «hour»:«minute». Concert in the «fact».</p>", ROOM),
    hourly("likes and comments", "<p>«count» likes · «some_people» comments · «fact»</p>", PRICE),
    hourly("likes, alone in their text", "<p>«count» likes</p><p>The bag costs «fact».</p>", PRICE),
    hourly("view counter that a cache keeps", "<p>Viewed «grouped» times. Costs «fact».</p>", PRICE),
    hourly("view counter in thousands", "<p>«thousands» views · costs «fact»</p>", PRICE),
    hourly("people online", "<p>«some_people» guests online now, entrance «fact»</p>", PRICE),
    hourly("number of ratings", "<p>4.6 of 5 («grouped» ratings), «fact»</p>", PRICE),
    hourly("number of things sold", "<p>«fact», «count» sold so far</p>", PRICE),
    hourly("number of subscribers in Russian", "<p>Подписчиков: «count», цена «fact»</p>", PRICE),
    hourly("visitors of the day in Japanese", "<p>本日の訪問者数：«count»人、料金 «fact»</p>", PRICE),
    daily("days of running", "<p>Up for «days» days. State: «fact»</p>", ["all well", "disturbed"]),
    daily("share of the time", "<p>Goal reached by «per_mille» %. Next: «fact»</p>", ["new roof", "new stairs"]),
    worded(
        "items of news with their ages",
        "<ul>«fact»<li><a href=\"/n/crane\">The crane is back</a> <span>vor «hours» Std.</span></li><li><a \
         href=\"/n/quay\">Work on the quay</a> \
         <span>vor «hours» Std.</span></li><li><a href=\"/n/light\">New light</a> <span>vor «hours» Std.</span></li></ul>",
        ["", "<li><a href=\"/n/tide\">Highest tide in years</a> <span>vor «hours» Std.</span></li>"],
        "Highest tide in years",
    ),
    hourly(
        "comments with their ages",
        "<div><h4>Anna · «hours»h</h4><p>We liked the warm pool.</p></div><div><h4>Bo · «hours»h</h4><p>«fact»</p></div>",
        ["The stairs are steep.", "The stairs were mended."],
    ),
    worded_daily(
        "target beside the day of the look",
        "<p><a href=\"/rooms/«fact»?from=2026-03-«month_day»\">Free rooms</a> of the house</p>",
        ["attic", "cellar"],
        "cellar",
    ),
    worded(
        "target beside the hour of the look",
        "<p><a href=\"/tides/«fact»?at=2026-03-«month_day»T«hour»\">Tides</a> of the harbour</p>",
        ["north", "south"],
        "south",
    ),
    unseen(
        "day of the look in a link to another site",
        DAY_S,
        "<p>Rooms are let <a href=\"https://rooms.example/?in=2026-03-«month_day»\">there</a>.</p>",
    ),
    unseen(
        "hour of the look in a hidden frame",
        HOUR_S,
        "<iframe style=\"display:none\" src=\"https://count.example/f?h=«hour»«minute»\"></iframe>",
    ),
    unseen("time of the build in a hidden text", HOUR_S, "<div hidden>built «hour»:«minute»</div>"),
];
