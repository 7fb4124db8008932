//! English, German, Dutch, and the languages of the North.

use super::Class::*;
use super::Language;

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "English",
        denials_agree: false,
        words: &[
            (After, "no more|no longer|not anymore|not any more"),
            (
                In,
                "in stock|instock|back in stock|restocked|ready to ship|low stock|limited stock|low in stock|last one|few left|not many left|not many left in stock|last few|one left|in stock again|on stock|stock available|available in stock|plenty in stock|limited availability|in store stock",
            ),
            (WeakIn, "available|available again|obtainable|purchasable|on hand|on the shelf"),
            (
                Out,
                "out of stock|outofstock|oos|sold out|soldout|out stock|no stock|none left|none in stock|none available|nothing left|not stocked|discontinued|back ordered|backordered|on back order|on backorder|back order|backorder|pre order|preorder|available for pre order|available to pre order|available for preorder|available on back order|available on backorder|available to back order|temporarily out|stock exhausted|awaiting stock|run out|ran out|stock out|stockout|all sold",
            ),
            (WeakOut, "unavailable|not available"),
            (
                Label,
                "stock|stocks|stock level|stock levels|stock status|availability|inventory|quantity available|available quantity|qty available|stock availability",
            ),
            (Left, "left|remaining|remain|remains|left in stock|remaining in stock"),
            (
                Count,
                "item|items|piece|pieces|pcs|pc|unit|units|copy|copies|product|products|ticket|tickets|seat|seats|room|rooms|place|places|spot|spots|pair|pairs|size|sizes|article|articles|x|of these|of them|of this|more",
            ),
            (
                Time,
                "day|days|hour|hours|hrs|minute|minutes|min|week|weeks|month|months|h|working days|business days|years|year|time",
            ),
            (
                Not,
                "not|isn't|isnt|isn t|aren't|arent|ain't|wasn't|weren't|don't|doesn't|do not|hasn't|haven't|cannot|can't|won't|wont|no longer|not currently|not yet|never|nor|neither|hardly|no more|not longer|anything but|far from",
            ),
            (NoneOf, "no|none|none of|zero|nothing|0 of|nil|not any|not a single|without"),
            (Be, "is|are|it is|it's|they are|we are|this is|these are|that is|currently we are"),
            (Yes, "yes|yep|y|true|✓|✔|✅|☑|🟢|○|◯|of course|sure|plenty"),
            (
                No,
                "no|nope|n|none|false|✗|✘|❌|❎|✖|×|🔴|zero|nil|not|n/a|sold out|unfortunately not|sadly not|not any more|not anymore|not at the moment|not currently|not yet|not now|no longer|nothing",
            ),
            (
                Offer,
                "notify|notify me|notified|notification|notifications|email me|e mail me|mail me|let me know|let you know|alert|alerts|alert me|remind me|reminder|text me|tell me|wait list|waitlist|waiting list|sign up|subscribe|join the list|get an email|we'll email|we will email|inform me|message me|ping me|drop us|keep me posted|keep me informed|watch this item|be the first to know|add to wishlist|request|show|show only|filter|filter by|only show",
            ),
            (
                Condition,
                "when|if|once|as soon as|until|till|unless|whether|while|whenever|before|should|provided|assuming|in case|upon",
            ),
            (
                Future,
                "soon|coming|coming soon|expected|will|will be|will not|won't be|we'll be|it'll be|shortly|due|to be|arriving|arrives|next|estimated|planned|going to|awaited|awaiting|later this|later|expecting|restocking|restock|eta|returning|returns|on the way|scheduled",
            ),
            (
                Past,
                "was|were|had been|has been|used to be|previously|formerly|once was|last|last seen|no longer was|been|originally",
            ),
            (
                Now,
                "now|currently|right now|today|at the moment|at present|presently|at last|finally|immediately|again now|as of now|from now on|at this time",
            ),
            (Almost, "almost|nearly|close to|nearly all|about to be|about to|not quite|virtually|practically|mostly"),
            (
                Doubt,
                "maybe|may be|may|might|might be|perhaps|possibly|could be|probably|usually|normally|typically|often|sometimes|check|ask|ask us|call|please call|call us|contact us|on request|upon request|unknown|please ask|enquire|inquire|varies|vary|see store|see stores|supposedly|allegedly|claims to be|likely|subject to|wish|wishes|wondering|wonder|unsure|not sure|not know|not all|not every|not many|doubt|rarely|seldom|hopefully|some say",
            ),
            (
                Related,
                "similar|related|other|others|another|alternative|alternatives|you may also like|you might also like|customers also bought|customers also viewed|people also bought|also bought|also viewed|recommended|more like this|elsewhere|instead|different|accessories|competitors",
            ),
            (Or, "or|nor"),
            (But, "but|however|though|although|yet|so|because|and|&|except|which|while stocks"),
            (From, "from|on|by|in|around|at the end of|after|starting|as of|from the|within|for|at|early|late|mid"),
            (
                Date,
                "january|jan|february|feb|march|april|apr|june|jun|july|jul|august|aug|september|sept|sep|october|oct|november|nov|december|dec|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|next|spring|summer|autumn|winter|the end of|a few days|a few weeks|a week|a month|early may|may 1|in may|from may|mid may|late may|the near future|future|may",
            ),
            (
                Neutral,
                "not only|not just|not merely|order soon|ends soon|ending soon|sells out soon|selling fast|no more than|not more than|no fewer than|no less than|not less than|don't miss|do not miss|don't wait|do not wait|not to be missed|no doubt|without doubt|without a doubt|no problem|no worries|still|order now|buy now|shop now|add to cart|add to basket|add to bag|this|the|our|we have|hurry|online|in all|ships today|currently the|colours|colors|warehouse",
            ),
        ],
    },
    Language {
        name: "German",
        denials_agree: false,
        words: &[
            (
                In,
                "auf lager|lagernd*|ab lager|vorratig*|lieferbar*|sofort lieferbar|wieder da|wieder auf lager|wieder lieferbar|wieder vorratig|sofort versandfertig|versandfertig|im lager|auf vorrat|am lager|an lager|nur noch wenige|letzte exemplare|letztes exemplar|letztes stuck|letzte stucke|wenige exemplare|geringer bestand|nur noch eins|nur noch eines|in stock|auf lager verfugbar|lager verfugbar|ab lager lieferbar",
            ),
            (
                WeakIn,
                "verfugbar*|erhaltlich*|vorhanden*|wieder verfugbar|wieder erhaltlich|zu haben|bestellbar*|sofort verfugbar|am stock",
            ),
            (
                Out,
                "ausverkauft*|vergriffen*|nicht auf lager|nicht lieferbar|nicht vorratig|kein bestand|keine bestande|kein lagerbestand|lager leer|restlos ausverkauft|leider ausverkauft|vorbestellbar*|vorbestellung|vorbestellen|nachbestellt|lieferengpass|nicht am lager|momentan vergriffen|out of stock|alle weg|bald wieder da|abverkauft*",
            ),
            (WeakOut, "nicht verfugbar|unverfugbar|nicht erhaltlich|nicht bestellbar"),
            (
                Label,
                "bestand|lagerbestand|lagerstand|verfugbarkeit|lieferbarkeit|lagerstatus|lagermenge|verfugbare menge|anzahl auf lager|vorrat|lager|bestande|lieferstatus|stock",
            ),
            (Left, "nur noch|noch|ubrig|noch ubrig|verbleibend*|noch verfugbar|noch da"),
            (
                Count,
                "stuck|stk|exemplar|exemplare|artikel|einheit|einheiten|paar|platz|platze|tickets|ticket|produkt|produkte|ware|grosse|grossen|karten|weitere|der artikel|dieser artikel|das produkt|dieses produkt|modell|variante|mal|x",
            ),
            (
                Time,
                "tag|tage|tagen|stunde|stunden|std|minute|minuten|woche|wochen|monat|monate|monaten|werktage|werktagen|werktag|arbeitstagen|jahre",
            ),
            (
                Not,
                "nicht|nicht mehr|nie|niemals|weder|noch nicht|derzeit nicht|momentan nicht|kaum|keineswegs|keinesfalls|nirgends|nimmer",
            ),
            (NoneOf, "kein|keine|keinen|keiner|keines|keins|null|nichts|ohne|nix|niemand"),
            (After, "nicht|nicht mehr|nirgends"),
            (
                Be,
                "ist|sind|ist es|ist er|ist sie|ist das|sei|ist dieser artikel|ist der artikel|sind wir|ist das produkt|ist dieses produkt|ist leider|sind leider|ist derzeit|ist momentan|ist aktuell|ist zurzeit",
            ),
            (Yes, "ja|jawohl|jep|klar|naturlich|reichlich"),
            (
                No,
                "nein|ne|nicht|keine|keiner|keins|leider nein|leider nicht|nicht mehr|nichts|null|noch nicht|ausverkauft|nee",
            ),
            (
                Offer,
                "benachrichtig*|benachrichtigung|informier*|erinner*|e mail an mich|mail an mich|per e mail|bescheid|verstandig*|alarm|wecker|warteliste|newsletter|merken|merkzettel|anfragen|melden|mitteilen|anmelden",
            ),
            (Condition, "wenn|sobald|falls|ob|solange|sofern|bis|bevor|ehe|sollte"),
            (
                Future,
                "bald|in kurze|demnachst|voraussichtlich|erwartet|wird|werden|kommt|kommen|trifft|geplant|nachste|nachsten|nachster|unterwegs|zulauf|im zulauf|ab dem|kunftig|spater|liefertermin|wieder ab|erst ab|erst wieder|neuware",
            ),
            (Past, "war|waren|gewesen|zuletzt|fruher|ehemals|einst|wurde|wurden|bisher|vorher|hatten"),
            (PastAfter, "war|waren|gewesen"),
            (
                Now,
                "jetzt|aktuell|derzeit|momentan|zurzeit|zur zeit|heute|sofort|ab sofort|nun|endlich|gerade|im moment|gegenwartig|augenblicklich",
            ),
            (Almost, "fast|beinahe|nahezu|so gut wie|knapp|bald"),
            (
                Doubt,
                "vielleicht|eventuell|evtl|moglicherweise|ggf|gegebenenfalls|unter umstanden|auf anfrage|bitte anfragen|anfragen|unbekannt|meist|meistens|normalerweise|in der regel|vermutlich|wohl|angeblich|hoffentlich|ungewiss|kann|konnte|fraglich|prufen|bitte anrufen|nicht alle|nicht viele|nicht jede|nicht jeder|selten|bezweifle",
            ),
            (
                Related,
                "ahnliche*|andere*|anderer|verwandte*|alternative*|alternativen|kunden kauften auch|das konnte ihnen auch gefallen|dazu passend|zubehor|passend dazu|empfehlung*|stattdessen|ubrige",
            ),
            (Or, "oder|noch|bzw"),
            (But, "aber|jedoch|doch|sondern|sonst|weil|und|dafur|allerdings|dagegen|ausser"),
            (From, "ab|am|im|vom|in|erst|um|ende|anfang|mitte|nach|innerhalb|binnen|erst ab|in den|wieder ab"),
            (
                Date,
                "januar|februar|marz|april|mai|juni|juli|august|september|oktober|november|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|ubermorgen|nachste woche|nachster woche|nachsten monat|fruhjahr|fruhling|sommer|herbst|winter|ende|anfang|mitte|kw|kalenderwoche|einigen tagen|wenigen tagen|einer woche|wenigen wochen",
            ),
            (
                Neutral,
                "nicht nur|nicht verpassen|nicht warten|nicht mehr lange|noch heute|kein problem|keine sorge|in den warenkorb|jetzt kaufen|jetzt bestellen|nur solange|wir haben|diese|dieses|dieser|der|die|das|online|nur online|mehr als|leider|bei uns|unser|unsere|in unserem",
            ),
        ],
    },
    Language {
        name: "Dutch",
        denials_agree: false,
        words: &[
            (
                In,
                "op voorraad|uit voorraad|voorradig|in voorraad|weer op voorraad|weer voorradig|direct leverbaar|leverbaar|leverbare|uit voorraad leverbaar|weer leverbaar|laatste stuks|laatste exemplaren|beperkte voorraad|in stock|op voorraad leverbaar",
            ),
            (WeakIn, "beschikbaar|beschikbare|verkrijgbaar|weer beschikbaar|weer verkrijgbaar|te koop|aanwezig"),
            (
                Out,
                "uitverkocht*|niet op voorraad|niet leverbaar|geen voorraad|niet voorradig|uit assortiment|pre order|voorbestellen|nabestelling|out of stock|tijdelijk uitverkocht|voorraad op",
            ),
            (WeakOut, "niet beschikbaar|onbeschikbaar|niet verkrijgbaar"),
            (Label, "voorraad|beschikbaarheid|voorraadstatus|aantal op voorraad|leverbaarheid"),
            (Left, "nog|nog maar|resterend*|alleen nog|nog slechts"),
            (
                Count,
                "stuk|stuks|exemplaar|exemplaren|artikel|artikelen|product|producten|dit artikel|dit product|paar|kaarten|tickets|plaatsen|maat|maten|x",
            ),
            (Time, "dag|dagen|uur|uren|minuten|week|weken|maand|maanden|werkdag|werkdagen"),
            (Not, "niet|niet meer|nog niet|nooit|noch|niet langer|momenteel niet|nergens"),
            (NoneOf, "geen|geen enkel|geen enkele|nul|niets|zonder"),
            (After, "niet|niet meer"),
            (Be, "is|zijn|is dit artikel|is dit product|is het"),
            (Yes, "ja|jazeker|zeker"),
            (No, "nee|neen|niet|geen|helaas niet|niet meer|nog niet|nul|helaas"),
            (
                Offer,
                "hou me op de hoogte|houd mij op de hoogte|op de hoogte|mail mij|mail me|e mail mij|melding|meldingen|bericht|waarschuw*|laat het mij weten|laat me weten|laat mij weten|verwittig*|informeer*|wachtlijst|stuur mij|stuur me|geef een seintje|herinner*|aanmelden",
            ),
            (Condition, "als|zodra|wanneer|indien|of|tot|totdat|mocht|zolang|voordat"),
            (
                Future,
                "binnenkort|verwacht|verwachte|zal|zullen|wordt|worden|komt|straks|volgende|spoedig|onderweg|later|weldra|pas weer",
            ),
            (Past, "was|waren|geweest|voorheen|eerder|laatst|vroeger"),
            (PastAfter, "was|waren|geweest"),
            (Now, "nu|momenteel|direct|vandaag|op dit moment|thans|eindelijk|meteen"),
            (Almost, "bijna|haast|vrijwel|zo goed als"),
            (
                Doubt,
                "misschien|mogelijk|wellicht|op aanvraag|meestal|normaal gesproken|waarschijnlijk|eventueel|onbekend|vermoedelijk|kan|bel ons|vraag|niet alle|niet elke|zelden",
            ),
            (
                Related,
                "vergelijkbare|soortgelijke|andere|ander|alternatief|alternatieven|gerelateerde|anderen kochten ook|aanbevolen|in plaats daarvan|accessoires",
            ),
            (Or, "of|noch"),
            (But, "maar|echter|en|want|omdat|behalve|toch"),
            (From, "vanaf|op|in|vanaf de|rond|eind|begin|medio|binnen|na|over|uiterlijk"),
            (
                Date,
                "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|morgen|volgende week|volgende maand|eind|begin|enkele dagen|een week",
            ),
            (
                Neutral,
                "niet alleen|geen zorgen|geen probleem|niet wachten|bestel nu|in winkelwagen|dit|deze|wij hebben|we hebben|online|meer dan|niet meer dan|helaas|in ons",
            ),
        ],
    },
    Language {
        name: "Swedish",
        denials_agree: false,
        words: &[
            (
                In,
                "i lager|finns i lager|pa lager|ater i lager|i lager igen|tillbaka i lager|lagervara|finns pa lager|fatal kvar|sista exemplaren|nagra fa kvar|fa i lager|begransat antal|i butikslager",
            ),
            (
                WeakIn,
                "tillganglig|tillgangligt|tillgangliga|finns att kopa|finns hemma|ater tillganglig|leveransklar|leverbar",
            ),
            (
                Out,
                "slut i lager|slutsald*|slutsalt|slut|ej i lager|ej tillganglig|slut pa lager|tillfalligt slut|helt slut|utsald*|utsalt|ar slut|forbestall*|utgatt|utgangen|restnoterad*|ur lager",
            ),
            (WeakOut, "otillganglig*|ej tillgangligt|ej tillgangliga|ej leverbar"),
            (Label, "lager|lagersaldo|lagerstatus|saldo|tillganglighet|antal i lager|lagerniva"),
            (Left, "kvar|aterstar|aterstaende|endast kvar"),
            (
                Count,
                "st|styck|stycken|exemplar|artikel|artiklar|produkt|produkter|varan|produkten|par|biljetter|platser|storlekar|vara|varor",
            ),
            (Time, "dag|dagar|timme|timmar|minuter|vecka|veckor|manad|manader|arbetsdagar|vardagar"),
            (Not, "inte|ej|icke|finns inte|aldrig|inte langre|ej langre|annu inte|varken|knappt"),
            (NoneOf, "ingen|inga|inget|noll|utan|ingenting"),
            (After, "inte|ej|inte langre|saknas"),
            (Be, "ar|finns"),
            (Yes, "ja|japp|jo|javisst"),
            (No, "nej|inte|ej|tyvarr|tyvarr inte|inga|ingen|inte langre|noll|inte just nu"),
            (
                Offer,
                "meddela*|meddelande|bevaka|bevakning|avisera|avisering|maila mig|mejla mig|paminn*|underratta*|kontakta mig|fa ett mejl|fa mejl|notis|notifiera*|hor av|vantelista|informera|anmal|e posta mig",
            ),
            (Condition, "nar|om|sa snart|sa fort|ifall|tills|huruvida|innan|medan"),
            (
                Future,
                "snart|inom kort|kommer|vantas|beraknas|kommande|nasta|pa vag|forvantas|ska|skall|blir|senare|forvantad|ater den|ankommer",
            ),
            (Past, "var|fanns|tidigare|senast|varit|forut|brukade"),
            (Now, "nu|just nu|for narvarande|idag|omgaende|direkt|aktuellt|antligen"),
            (Almost, "nastan|snart|narapa|i princip"),
            (
                Doubt,
                "kanske|mojligen|eventuellt|vanligtvis|oftast|troligen|sannolikt|pa forfragan|okant|fraga|ring|kan|inte alla|sallan",
            ),
            (Related, "liknande|andra|annan|relaterade|alternativ|andra kopte aven|rekommenderade|i stallet|tillbehor"),
            (Or, "eller|heller"),
            (But, "men|dock|och|fast|utom|daremot|for att"),
            (From, "fran|den|i|fran och med|fr o m|omkring|om|efter|inom|vecka|forst"),
            (
                Date,
                "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december|mandag|tisdag|onsdag|torsdag|fredag|lordag|sondag|imorgon|i morgon|nasta vecka|nasta manad|slutet av|borjan av|nagra dagar|vecka",
            ),
            (
                Neutral,
                "inte bara|inga problem|missa inte|kop nu|lagg i varukorg|denna|detta|vi har|online|fortfarande|mer an|fler an",
            ),
        ],
    },
    Language {
        name: "Danish and Norwegian",
        denials_agree: false,
        words: &[
            (
                In,
                "pa lager|er pa lager|tilbage pa lager|igen pa lager|pa lager igen|lagervare|pa fjernlager|klar til levering|fa tilbage|fa igjen|fa stk igjen|tilbake pa lager|lagerfort|sidste eksemplarer|fa pa lager|kan leveres",
            ),
            (
                WeakIn,
                "tilgaengelig|tilgaengelige|tilgaengeligt|tilgjengelig|tilgjengelige|leveringsklar|kan kobes|kan kjopes|til radighed",
            ),
            (
                Out,
                "udsolgt*|utsolgt*|ikke pa lager|ikke lager|ude af lager|tomt lager|restordre|midlertidig utsolgt|midlertidigt udsolgt|forudbestil*|forhandsbestill*|utgatt|udgaet|tom for|ikke pa lager igen|ikke lagerfort|i restordre",
            ),
            (WeakOut, "utilgaengelig*|utilgjengelig*|ikke tilgjengelig|ikke tilgaengelig"),
            (
                Label,
                "lager|lagerstatus|lagerbeholdning|lagersaldo|antal pa lager|antall pa lager|tilgaengelighed|tilgjengelighet|beholdning|lagerantal|lagerantall",
            ),
            (Left, "tilbage|igjen|tilbake|resterende|kun tilbage"),
            (
                Count,
                "stk|stykker|styk|eksemplar|eksemplarer|vare|varer|varen|produkt|produktet|produkter|par|billetter|pladser|plasser|storrelser",
            ),
            (
                Time,
                "dag|dage|dager|time|timer|minutter|uge|uger|uke|uker|maned|maneder|hverdage|virkedager|arbejdsdage",
            ),
            (Not, "ikke|ikke laengere|ikke lenger|aldri|aldrig|endnu ikke|enna ikke|hverken|verken|ikke mere|neppe|ei"),
            (NoneOf, "ingen|intet|ingenting|nul|null|uden|uten"),
            (After, "ikke|ikke laengere|ikke lenger|mangler"),
            (Be, "er|er varen|er produktet"),
            (Yes, "ja|jepp|jo"),
            (
                No,
                "nej|nei|ikke|desvaerre|desvaerre ikke|dessverre|dessverre ikke|ingen|nul|null|ikke laengere|ikke lenger|ikke endnu",
            ),
            (
                Offer,
                "giv mig besked|gi meg beskjed|besked|beskjed|varsle*|varsel|underret*|send mig|send meg|mail mig|kontakt mig|pamind*|fa mail|notifikation|informer*|venteliste|advis*|fa besked|fa beskjed|overvag",
            ),
            (Condition, "nar|hvis|sa snart|om|dersom|indtil|inntil|hvorvidt|sa laenge|sa lenge|med det samme"),
            (
                Future,
                "snart|ventes|forventes|forventet|kommer|vil|bliver|blir|naeste|neste|pa vej|pa vei|senere|inden laenge|skal|forst igen|kommende|ankommer",
            ),
            (Past, "var|tidligere|sidst|sist|vaert|vaeret|plejede|pleide"),
            (
                Now,
                "nu|na|lige nu|i dag|straks|for tiden|i ojeblikket|akkurat na|pt|for oyeblikket|aktuelt|endelig|omgaende",
            ),
            (Almost, "naesten|nesten|snart|sa godt som"),
            (
                Doubt,
                "maske|kanskje|muligvis|muligens|eventuelt|normalt|vanligvis|saedvanligvis|sandsynligvis|sannsynligvis|pa foresporgsel|pa foresporsel|ukendt|ukjent|sporg|ring|kan vaere|ikke alle|sjeldent|sjelden|sjaeldent",
            ),
            (
                Related,
                "lignende|andre|anden|annen|relaterede|relaterte|alternativ*|andre kobte ogsa|andre kjopte ogsa|anbefalede|anbefalte|tilbehor|i stedet",
            ),
            (Or, "eller|heller"),
            (But, "men|dog|og|undtagen|unntatt|fordi"),
            (From, "fra|den|i|fra den|fra og med|omkring|om|efter|etter|inden for|innen|uge|uke|forst"),
            (
                Date,
                "januar|februar|marts|mars|april|maj|mai|juni|juli|august|september|oktober|november|december|desember|mandag|tirsdag|onsdag|torsdag|fredag|lordag|sondag|i morgen|naeste uge|neste uke|slutningen af|nogle dage|noen dager|neste maned",
            ),
            (
                Neutral,
                "ikke bare|ikke kun|gar ikke glip|intet problem|ikke noe problem|kob nu|kjop na|laeg i kurv|legg i handlekurv|denne|dette|vi har|online|pa nett|stadig|fortsatt|mere end|mer enn|flere enn",
            ),
        ],
    },
];
