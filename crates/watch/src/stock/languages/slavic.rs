//! Polish, Czech, Slovak, Russian, Ukrainian.

use super::Class::*;
use super::Language;

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "Polish",
        denials_agree: true,
        words: &[
            (
                In,
                "w magazynie|na stanie|w sprzedazy|na magazynie|ponownie w magazynie|znow w magazynie|z powrotem w magazynie|ostatnie sztuki|ostatnia sztuka|ostatnie egzemplarze|gotowy do wysylki|wysylka od reki|od reki|dostepny od reki|w sklepie|dostepny w magazynie|produkt na stanie",
            ),
            (
                WeakIn,
                "dostepny|dostepna|dostepne|dostepni|ponownie dostepny|ponownie dostepna|ponownie dostepne|znow dostepny|znowu dostepny",
            ),
            (
                Out,
                "wyprzedany|wyprzedana|wyprzedane|wyprzedano|brak w magazynie|brak na stanie|brak towaru|brak produktu|poza magazynem|nakład wyczerpany|naklad wyczerpany|wyczerpany|wyczerpane|sold out|przedsprzedaz|brak sztuk|niedostepny w magazynie|wycofany|brak w sprzedazy|zapas wyczerpany|brak zapasow",
            ),
            (WeakOut, "niedostepny|niedostepna|niedostepne|niedostepni|brak"),
            (Label, "stan magazynowy|dostepnosc|zapas|zapasy|dostepna ilosc|ilosc w magazynie"),
            (Left, "zostalo|zostaly|pozostalo|pozostaly|zostal|zostala|jeszcze"),
            (
                Count,
                "szt|sztuk|sztuki|sztuka|egzemplarzy|egzemplarze|produkt|produkty|produktow|artykul|artykuly|towar|towaru|par|biletow|miejsc|rozmiar|ten produkt|tego produktu",
            ),
            (
                Time,
                "dzien|dni|dnia|godzin|godziny|godzina|minut|tydzien|tygodnie|tygodni|miesiac|miesiace|miesiecy|dni roboczych",
            ),
            (Not, "nie|nie jest|juz nie|nigdy|jeszcze nie|nie ma|nie sa|ani|nie byl"),
            (NoneOf, "brak|zadne|zadnych|zaden|zadnej|zero|bez|nic|ani jednej"),
            (After, "brak|nie ma"),
            (Be, "jest|sa"),
            (Yes, "tak|jest|oczywiscie"),
            (No, "nie|brak|zero|niestety nie|niestety|jeszcze nie|juz nie|nie ma|zadnych"),
            (
                Offer,
                "powiadom|powiadomienie|powiadomienia|powiadomic|powiadomimy|daj znac|dajcie znac|poinformuj|informuj|przypomnij|wyslij mi|alert|alerty|zapisz sie|lista oczekujacych|e mail|mailem|napisz do mnie|otrzymaj|chce wiedziec|zawiadom",
            ),
            (
                Condition,
                "gdy|kiedy|jesli|jezeli|jak tylko|dopoki|dopóki|az|zanim|o ile|czy|skoro|po powrocie|w momencie",
            ),
            (
                Future,
                "wkrotce|niedlugo|bedzie|beda|oczekiwany|oczekiwana|oczekiwane|spodziewany|przewidywany|przewidywana|planowany|nastepna|nastepny|w drodze|wróci|wroci|pojawi|niebawem|pozniej|dostawa",
            ),
            (Past, "byl|byla|bylo|byly|poprzednio|wczesniej|ostatnio|dawniej"),
            (
                Now,
                "teraz|obecnie|aktualnie|dzis|dzisiaj|natychmiast|w tej chwili|nareszcie|od razu|juz|chwilowo|wreszcie",
            ),
            (Almost, "prawie|niemal|blisko|praktycznie"),
            (
                Doubt,
                "moze|byc moze|mozliwe|prawdopodobnie|na zamowienie|na zapytanie|zapytaj|zwykle|zazwyczaj|sprawdz|nieznana|nieznany|zadzwon|czasami|nie wszystkie|rzadko",
            ),
            (
                Related,
                "podobne|podobny|inne|inny|inna|alternatywa|alternatywy|powiazane|polecane|klienci kupili|innych|akcesoria",
            ),
            (Or, "lub|albo|ani"),
            (But, "ale|lecz|jednak|i|oraz|poniewaz|oprocz|natomiast|a"),
            (From, "od|w|dnia|za|po|przed|na poczatku|pod koniec|okolo|w ciagu|dopiero|dopiero od"),
            (
                Date,
                "stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|wrzesnia|pazdziernika|listopada|grudnia|styczniu|lutym|marcu|kwietniu|maju|czerwcu|lipcu|sierpniu|wrzesniu|pazdzierniku|listopadzie|grudniu|poniedzialek|wtorek|sroda|czwartek|piatek|sobota|niedziela|jutro|przyszlym tygodniu|przyszlym miesiacu|kilka dni",
            ),
            (
                Neutral,
                "nie tylko|nie czekaj|nie przegap|bez problemu|dodaj do koszyka|kup teraz|online|ten|ta|to|nasz|wiecej niz|niestety|nadal",
            ),
        ],
    },
    Language {
        name: "Czech",
        denials_agree: true,
        words: &[
            (
                In,
                "skladem|na sklade|opet skladem|znovu skladem|posledni kus|posledni kusy|ihned k odeslani|ihned k odberu|k dispozici skladem|je skladem|mame skladem|v prodejne|posledni kusy skladem|ve skladu",
            ),
            (
                WeakIn,
                "dostupne|dostupny|dostupna|k dispozici|k dostani|opet dostupne|znovu dostupne|k odberu|v prodeji|opet k dostani",
            ),
            (
                Out,
                "vyprodano|vyprodan|vyprodana|vyprodany|vyprodane|neni skladem|nemame skladem|predobjednavka|predprodej|rozebrano|docasne vyprodano|mimo sklad|sold out|neskladem|ukoncen prodej|prodej ukoncen",
            ),
            (WeakOut, "nedostupne|nedostupny|nedostupna|neni dostupne|neni k dispozici|nelze objednat"),
            (Label, "dostupnost|stav skladu|zasoba|zasoby|sklad|pocet kusu skladem|skladova zasoba"),
            (Left, "zbyva|zbyvaji|zbyl|zbylo|poslednich|uz jen|jeste"),
            (
                Count,
                "ks|kus|kusy|kusu|produkt|produkty|produktu|zbozi|polozka|polozky|polozek|par|paru|vstupenek|mist|velikost|tento produkt|toto zbozi|vyrobek",
            ),
            (Time, "den|dny|dni|dnu|hodin|hodiny|hodina|minut|tyden|tydny|tydnu|mesic|mesice|mesicu|pracovnich dni"),
            (Not, "neni|neni uz|nejsou|nikdy|jiz neni|uz neni|zatim neni|nemame|ne|ani|nebylo|nebude|jeste neni|nema"),
            (NoneOf, "zadne|zadny|zadna|zadnych|nula|bez|nic"),
            (After, "neni|nejsou|nemame"),
            (Be, "je|jsou"),
            (Yes, "ano|jo|jiste"),
            (No, "ne|neni|bohuzel ne|bohuzel|nula|zadne|zatim ne|uz ne|nic|nemame"),
            (
                Offer,
                "upozornit|upozornete|upozorneni|upozorni|hlidat|hlidaci|hlidani|dejte vedet|dejte mi vedet|dat vedet|informovat|informujte|pripomenout|poslat e mail|e mailem|zaslat|oznamit|oznameni|notifikace|napiste mi|chci vedet|vedet",
            ),
            (Condition, "az|kdyz|pokud|jakmile|jestli|jestlize|dokud|nez|zda|kdyby|po naskladneni|do vyprodani"),
            (
                Future,
                "brzy|bude|budou|ocekavame|ocekavano|ocekavany|ocekavane|predpokladane|pripravujeme|na ceste|pristi|pozdeji|naskladnime|naskladneni|planovane|dorazi|jiz brzy|zanedlouho",
            ),
            (Past, "byl|bylo|byla|byly|drive|predtim|naposledy|puvodne|minule"),
            (Now, "nyni|ted|aktualne|momentalne|dnes|ihned|konecne|v tuto chvili|prave|v soucasnosti|okamzite|jiz|uz"),
            (Almost, "temer|skoro|takrka|prakticky|malem"),
            (
                Doubt,
                "mozna|pravdepodobne|asi|na dotaz|na objednavku|dotazte se|obvykle|vetsinou|zavolejte|overte|neznama|neznamy|snad|mozno|ne vsechny|malokdy",
            ),
            (
                Related,
                "podobne|podobny|jine|jiny|alternativa|alternativy|souvisejici|doporucene|zakaznici koupili|prislusenstvi|ostatni",
            ),
            (Or, "nebo|ani|ci"),
            (But, "ale|avsak|vsak|a|protoze|krome|nicmene|i"),
            (From, "od|dne|za|po|v|na|kolem|koncem|zacatkem|behem|pred|az od"),
            (
                Date,
                "ledna|unora|brezna|dubna|kvetna|cervna|cervence|srpna|zari|rijna|listopadu|prosince|lednu|unoru|breznu|dubnu|kvetnu|cervnu|cervenci|srpnu|rijnu|prosinci|pondeli|utery|streda|ctvrtek|patek|sobota|nedele|zitra|pristi tyden|pristim tydnu|pristi mesic|nekolika dni|nekolik dni",
            ),
            (
                Neutral,
                "nejen|nevahejte|necekejte|bez obav|do kosiku|koupit|online|tento|toto|nas|vice nez|bohuzel|stale",
            ),
        ],
    },
    Language {
        name: "Slovak",
        denials_agree: true,
        words: &[
            (
                In,
                "skladom|na sklade|opat skladom|znova skladom|posledny kus|posledne kusy|ihned k odberu|v predajni|mame skladom",
            ),
            (WeakIn, "dostupne|dostupny|dostupna|k dispozicii|opat dostupne|v predaji|v ponuke"),
            (
                Out,
                "vypredane|vypredany|vypredana|nie je skladom|predobjednavka|momentalne vypredane|nemame skladom|sold out",
            ),
            (WeakOut, "nedostupne|nedostupny|nedostupna|nie je dostupne|nie je k dispozicii"),
            (Label, "dostupnost|stav skladu|zasoba|zasoby|sklad"),
            (Left, "zostava|zostavaju|zostalo|ostava|ostavaju|uz len"),
            (Count, "ks|kus|kusy|kusov|produkt|produkty|tovar|polozka|polozky|poloziek"),
            (Time, "den|dni|hodin|hodiny|tyzden|tyzdne|tyzdnov|mesiac|mesiace"),
            (Not, "nie je|nie|nie su|uz nie je|zatial nie je|nikdy|ani|nemame"),
            (NoneOf, "ziadne|ziadny|ziadna|nula|bez"),
            (After, "nie je|nie su|nemame"),
            (Yes, "ano|hej"),
            (No, "nie|bohuzial|zial|nula|ziadne|este nie"),
            (
                Offer,
                "upozornit|upozornite|upozornenie|strazit|strazny|dajte vediet|dajte mi vediet|informovat|informujte|oznamit|poslat e mail|notifikacia",
            ),
            (Condition, "ked|ak|hned ako|akonahle|kym|az|pokial|ci"),
            (Future, "coskoro|bude|budu|ocakavame|ocakavane|na ceste|buduci|neskor|onedlho"),
            (Past, "bol|bola|bolo|boli|predtym|naposledy"),
            (Now, "teraz|momentalne|aktualne|dnes|ihned|konecne|uz"),
            (Almost, "takmer|skoro"),
            (Doubt, "mozno|na objednavku|na dotaz|zvycajne|asi|overte|nie vsetky"),
            (Related, "podobne|ine|alternativy|suvisiace|odporucane"),
            (But, "ale|avsak|a|lebo"),
            (From, "od|o|po|v|dna"),
            (
                Date,
                "januara|februara|marca|aprila|maja|juna|jula|augusta|septembra|oktobra|novembra|decembra|zajtra|buduci tyzden",
            ),
            (Neutral, "nielen|stale"),
        ],
    },
    Language {
        name: "Russian",
        denials_agree: true,
        words: &[
            (
                In,
                "в наличии|есть в наличии|есть на складе|на складе|снова в наличии|опять в наличии|имеется в наличии|снова в продаже|в продаже|последний экземпляр|последние экземпляры|мало на складе|много на складе|готов к отправке|товар есть|осталось мало|заканчивается|последняя штука|поступил в продажу",
            ),
            (
                WeakIn,
                "доступен|доступна|доступно|доступны|снова доступен|снова доступно|имеется|можно купить|доступен для заказа|доступно для заказа",
            ),
            (
                Out,
                "нет в наличии|распродано|распродан|распродана|распроданы|нет на складе|закончился|закончилась|закончилось|закончились|отсутствует|отсутствуют|отсутствует в наличии|под заказ|раскуплено|раскуплен|нет в продаже|снят с продажи|снято с продажи|снят с производства|предзаказ|sold out|товар закончился|нету|нету в наличии|продано",
            ),
            (WeakOut, "недоступен|недоступна|недоступно|недоступны|не доступен|не доступно"),
            (Label, "наличие|остаток|остатки|количество на складе|остаток на складе|доступность|склад|наличия|запас"),
            (Left, "осталось|остался|осталась|остались|осталось всего|остается|еще"),
            (
                Count,
                "шт|штук|штуки|штука|экземпляр|экземпляра|экземпляров|товар|товары|товара|товаров|единиц|единицы|пар|пара|пары|билетов|билета|мест|места|размер|этот товар|данный товар|позиции",
            ),
            (Time, "день|дня|дней|час|часа|часов|минут|неделя|недели|недель|неделю|месяц|месяца|месяцев|рабочих дней"),
            (Not, "не|нет|больше нет|уже нет|никогда|пока нет|ни|еще нет|не имеется|нету|больше не|не осталось"),
            (NoneOf, "нет|ноль|без|ничего|ни одного|ни одной|никаких|ни одна"),
            (After, "нет|нету|отсутствует|отсутствуют|не имеется|не осталось"),
            (Be, "есть|сейчас"),
            (Yes, "да|есть|конечно|имеется"),
            (No, "нет|не|отсутствует|увы|к сожалению|ноль|пока нет|нету|уже нет|больше нет|к сожалению нет"),
            (
                Offer,
                "сообщить|сообщите|сообщи|уведомить|уведомите|уведомление|уведомления|уведоми|напомнить|напомните|оповестить|оповещение|известить|извещение|подписаться|подпишитесь|лист ожидания|отправить письмо|узнать о поступлении|на почту|дать знать|дайте знать|сигнал|получить",
            ),
            (
                Condition,
                "когда|если|как только|при|пока не|пока|до|при появлении|при поступлении|после|о поступлении|о появлении",
            ),
            (
                Future,
                "скоро|будет|будут|ожидается|ожидаются|ожидаем|поступит|появится|появятся|в пути|следующая|вскоре|позже|планируется|в ближайшее время|поступление|ожидание",
            ),
            (Past, "был|была|было|были|ранее|раньше|прежде|последний раз"),
            (
                Now,
                "сейчас|теперь|сегодня|в данный момент|на данный момент|уже|наконец|сразу|временно|в настоящее время|пока что",
            ),
            (Almost, "почти|практически|чуть не"),
            (
                Doubt,
                "возможно|может быть|может|наверное|вероятно|уточняйте|уточнить|узнать|по запросу|обычно|неизвестно|спросить|звоните|проверьте|проверить|как правило|иногда|ли|не все|редко",
            ),
            (
                Related,
                "похожие|другие|другой|другая|аналоги|аналог|аналоги|сопутствующие|рекомендуем|с этим товаром покупают|вместо|остальные|других|иные",
            ),
            (Or, "или|ни|либо"),
            (But, "но|однако|а|и|зато|потому|кроме|хотя"),
            (From, "с|в|через|после|к|от|на|около|начиная с|в течение|не ранее|в конце|в начале|только с"),
            (
                Date,
                "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|январе|феврале|марте|апреле|мае|июне|июле|августе|сентябре|октябре|ноябре|декабре|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье|завтра|следующей неделе|следующем месяце|несколько дней|весной|летом|осенью|зимой",
            ),
            (
                Neutral,
                "не только|не упустите|не пропустите|не ждите|не более|не менее|без проблем|в корзину|купить|онлайн|этот|эта|это|наш|более|все еще|мы имеем",
            ),
        ],
    },
    Language {
        name: "Ukrainian",
        denials_agree: true,
        words: &[
            (
                In,
                "в наявності|є в наявності|у наявності|знову в наявності|знову у наявності|на складі|є на складі|у продажу|в продажу|знову в продажу|останній екземпляр|закінчується|готовий до відправки|готово до відправлення|є у наявності",
            ),
            (WeakIn, "доступний|доступна|доступно|доступні|наявний|наявна|знову доступний|знову доступно"),
            (
                Out,
                "немає в наявності|нема в наявності|немає у наявності|розпродано|розпроданий|розпродана|закінчився|закінчилась|закінчилися|закінчилося|відсутній|відсутня|відсутнє|немає на складі|під замовлення|знято з продажу|передзамовлення|sold out|продано|не в наявності",
            ),
            (WeakOut, "недоступний|недоступна|недоступно|недоступні"),
            (Label, "наявність|залишок|залишки|склад|доступність|запас|кількість на складі"),
            (Left, "залишилось|залишилося|залишився|залишилась|залишились|залишилося всього|ще"),
            (
                Count,
                "шт|штук|штуки|одиниць|одиниці|товар|товару|товарів|товари|екземплярів|пар|квитків|місць|цей товар|розмір",
            ),
            (Time, "день|дні|днів|година|години|годин|хвилин|тиждень|тижні|тижнів|місяць|місяці|місяців"),
            (
                Not,
                "не|немає|нема|більше немає|вже немає|ніколи|поки немає|ні|ані|ще немає|більше не|не залишилося|не залишилось",
            ),
            (NoneOf, "немає|жодного|жодної|жоден|жодна|нуль|без|нічого"),
            (After, "немає|нема|відсутній|відсутня|відсутні|відсутнє|не залишилося|не залишилось"),
            (Be, "є"),
            (Yes, "так|є|звичайно"),
            (No, "ні|немає|нема|на жаль|на жаль ні|нуль|поки немає|ще ні|вже немає|на жаль немає"),
            (
                Offer,
                "повідомити|повідомте|повідом|повідомлення|сповістити|сповістіть|сповіщення|нагадати|нагадайте|підписатися|лист очікування|надіслати|на пошту|дати знати|отримати",
            ),
            (Condition, "коли|якщо|щойно|як тільки|при|поки|до|після|при появі|чи|при надходженні"),
            (
                Future,
                "скоро|незабаром|буде|будуть|очікується|очікуються|очікуємо|з'явиться|надійде|в дорозі|наступна|пізніше|планується|найближчим часом",
            ),
            (Past, "був|була|було|були|раніше|колись|востаннє"),
            (Now, "зараз|тепер|сьогодні|наразі|вже|нарешті|на даний момент|тимчасово|негайно|в даний момент"),
            (Almost, "майже|практично"),
            (
                Doubt,
                "можливо|може|мабуть|ймовірно|уточнюйте|за запитом|зазвичай|невідомо|перевірте|телефонуйте|запитати|не всі|рідко",
            ),
            (Related, "схожі|інші|інший|інша|аналоги|супутні|рекомендуємо|з цим товаром купують|замість|подібні"),
            (Or, "або|чи|ні|ані"),
            (But, "але|проте|однак|а|і|й|та|бо|крім|хоча"),
            (From, "з|від|через|після|у|в|на|за|з початку|в кінці|протягом"),
            (
                Date,
                "січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня|завтра|наступного тижня|наступного місяця|кілька днів|понеділок|вівторок|середу|четвер|п'ятницю|суботу|неділю",
            ),
            (
                Neutral,
                "не тільки|не лише|не пропустіть|не чекайте|без проблем|до кошика|купити|онлайн|цей|ця|це|наш|більше ніж|досі",
            ),
        ],
    },
];
