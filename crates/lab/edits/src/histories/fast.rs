//! Noise that differs at every request, or, of a page that a cache keeps for some minutes, at every visit.

use super::kinds::{HOUR_S, HistoryKind, hourly, unseen, whole, worded};

const PRICE: [&str; 2] = ["24 EUR", "19 EUR"];
const HOURS: [&str; 2] = ["from 9 to 17", "from 9 to 18"];
const TARGET: [&str; 2] = ["fees-2026", "fees-2027"];
const STATE: [&str; 2] = ["in service", "out of service"];

pub(crate) const FAST: &[HistoryKind] = &[
    hourly("price before a view counter", "<p>Price: «fact» (seen by «count» people)</p>", PRICE),
    hourly("price behind a view counter", "<p>«count» people have seen this. Price: «fact»</p>", PRICE),
    hourly("price beside people online", "<p>Only «fact» today, «some_people» people are looking at it</p>", PRICE),
    hourly("hours behind a counter", "<p>Visitors so far: «count». The desk is staffed «fact».</p>", HOURS),
    hourly("hours before a counter", "<p>The desk is staffed «fact». Visitors so far: «count».</p>", HOURS),
    hourly("state beside the time of rendering", "<p>The ferry is «fact» (page made in 0.«millis» s)</p>", STATE),
    hourly("state beside the name of a server", "<p>Lift: «fact». Served by web-«one:01|02|03|04|05|06|07»</p>", STATE),
    hourly("state beside the number of the request", "<p>Sluice «fact», reference «token»</p>", STATE),
    hourly(
        "word behind a clock with seconds",
        "<p>At «hour»:«minute»:«second» the bridge is «fact».</p>",
        ["closed", "raised"],
    ),
    hourly(
        "price in a row with a counter",
        "<table><tr><th>Boat</th><th>Fee</th></tr><tr><td>Dinghy</td><td>«fact», asked for «count» \
         times</td></tr><tr><td>Barge</td><td>60 \
         EUR, asked for «count» times</td></tr></table>",
        PRICE,
    ),
    hourly(
        "cell beside a cell with a counter",
        "<table><tr><td>Small hall</td><td>«count»</td><td>«fact»</td></tr><tr><td>Large hall</td><td>«count»</td><td>free on \
         Monday</td></tr></table>",
        ["free on Tuesday", "free on Friday"],
    ),
    hourly(
        "third value of a place that flaps between two",
        "<p>State of the crane: «fact».</p>",
        ["«one:waiting for parts|out of order today»", "repaired and tested"],
    ),
    hourly(
        "fourth value of a place with three",
        "<p>Courses of the week: «fact»</p>",
        ["«one:rowing on Monday|diving on Tuesday|sailing on Sunday»", "swimming on Friday"],
    ),
    hourly("one of two values that flap", "<p>Call us: «one:«fact»|555 0199»</p>", ["555 0123", "555 0177"]),
    hourly(
        "price beside a text in A/B halves",
        "<p>«one:Try it for a month|Begin today» for «fact» and cancel at any time.</p>",
        PRICE,
    ),
    hourly(
        "price behind an advertisement",
        "<p>Advertisement: «one:wool from the hills|tea for cold days|a bank without desks|shoes for all roads|lamps that \
         last|maps of the \
         coast». Entrance «fact».</p>",
        PRICE,
    ),
    hourly(
        "sentence behind a quotation",
        "<p>“«one:Slow is smooth|A smooth sea never made a sailor|Rain makes the river|Calm is a kind of wind|Tides wait for \
         none|The pier is \
         long»” — «fact»</p>",
        ["the pool is open", "the pool is drained"],
    ),
    hourly(
        "offer beside a captcha",
        "<p>How much is «some_people» + «minutes»? Answer, and get «fact».</p>",
        ["5 % off", "8 % off"],
    ),
    worded(
        "target beside a time stamp",
        "<p>See the <a href=\"/files/«fact».pdf?t=«stamp»\">fees</a> of the season.</p>",
        TARGET,
        "fees-2027",
    ),
    worded(
        "target beside a session parameter",
        "<p>The <a href=\"/show?doc=«fact»&amp;sid=«token»\">fees</a> of the season.</p>",
        TARGET,
        "fees-2027",
    ),
    worded(
        "target behind a session in the path",
        "<p>The <a href=\"/s/«token»/«fact».html\">fees</a> and the <a href=\"/s/«token»/map.html\">map</a>.</p>",
        TARGET,
        "fees-2027",
    ),
    worded(
        "target before a jsessionid",
        "<p>The <a href=\"/«fact».do;jsessionid=«capitals»\">fees</a> of the season.</p>",
        TARGET,
        "fees-2027",
    ),
    worded(
        "target on hosts in turn",
        "<p>The <a href=\"https://cdn«one:1|2|3|4|5».files.example/«fact».pdf\">fees</a> of the season.</p>",
        TARGET,
        "fees-2027",
    ),
    worded(
        "target beside a signature",
        "<p>The <a href=\"https://store.example/«fact».pdf?expires=«stamp»&amp;signature=«token»\">fees</a>.</p>",
        TARGET,
        "fees-2027",
    ),
    worded(
        "document on a site with sessions in its paths",
        "<p><a href=\"/(S(«capitals»))/rules.aspx\">Rules</a> <a href=\"/(S(«capitals»))/map.aspx\">Map</a></p><ul><li><a \
         href=\"/(S(«capitals»))/doc/letter-4.pdf\">Letter of April</a></li>«fact»</ul>",
        ["", "<li><a href=\"/(S(«capitals»))/doc/letter-5.pdf\">Letter of May</a></li>"],
        "Letter of May",
    ),
    worded(
        "document on a site with a session parameter",
        "<ul><li><a href=\"/get?id=10&amp;PHPSESSID=«token»\">Letter of April</a></li><li><a \
         href=\"/get?id=9&amp;PHPSESSID=«token»\">Letter of March</a></li>«fact»</ul>",
        ["", "<li><a href=\"/get?id=11&amp;PHPSESSID=«token»\">Letter of May</a></li>"],
        "Letter of May",
    ),
    worded(
        "file of a film beside its signature",
        "<p>The harbour: <video src=\"/films/«fact».mp4?until=«stamp»&amp;sign=«token»\"></video></p>",
        ["winter", "summer"],
        "summer",
    ),
    worded(
        "frame beside its number",
        "<p>The plan: <iframe width=\"400\" src=\"https://plans.example/«fact»?r=«token»\"></iframe></p>",
        ["ground-floor", "first-floor"],
        "first-floor",
    ),
    worded(
        "words of an image with cache-busting",
        "<p>Lift <img src=\"/lift.png?v=«token»\" alt=\"«fact»\"></p>",
        STATE,
        "out of service",
    ),
    worded(
        "target of a form with a session",
        "<form action=\"/«fact»;jsessionid=«token»\"><button>Order</button></form>",
        ["order", "waiting-list"],
        "waiting-list",
    ),
    worded(
        "button beside a token of its form",
        "<form action=\"/order\"><input type=\"hidden\" name=\"csrf\" value=\"«token»\"><button>«fact»</button></form>",
        ["Buy now", "Join the waiting list"],
        "Join the waiting list",
    ),
    worded(
        "price in two locales",
        "<p>Price: «fact»</p><p>The bag of oiled canvas.</p>",
        ["«one:1.299,00 €|€1,299.00»", "«one:1.099,00 €|€1,099.00»"],
        "1.099|1,099",
    ),
    worded(
        "price in JSON-LD of two caches",
        "<script type=\"application/ld+json\">{\"@type\":\"Product\",\"name\":\"Bag\", \
         \"offers\":{\"@type\":\"Offer\",\"priceCurrency\":\"EUR\",\"price\":«fact»}}</script>",
        ["«one:\"349.5\"|349.50|\"349.50\"»", "«one:\"329.5\"|329.50|\"329.50\"»"],
        "329.5",
    ),
    worded(
        "word with soft hyphens by one of two servers",
        "<p>Ren«one:|\u{ad}»ova«one:|\u{ad}»tion of the quay: «fact»</p>",
        ["begins in May", "begins in July"],
        "begins in July",
    ),
    worded(
        "item of a list in another order at each fetch",
        "<ul>«shuffled:<li>Rope of hemp</li>|<li>Anchor of iron</li>|<li>Lamp of brass</li>|<li>Sail of \
         cotton</li>|<li>«fact»</li>»</ul>",
        ["Oar of ash", "Paddle of ash"],
        "Paddle of ash",
    ),
    worded(
        "price in a list in another order at each fetch",
        "<ul>«shuffled:<li>Rope 12 EUR</li>|<li>Anchor 80 EUR</li>|<li>Lamp «fact»</li>|<li>Sail 300 EUR</li>|<li>Oar 35 \
         EUR</li>»</ul>",
        PRICE,
        "19 EUR",
    ),
    worded(
        "price beside recommendations, drawn anew",
        "<p>This bag costs «fact».</p><ul>«some:<li><a href=\"/p/1\">Rope</a></li>|<li><a href=\"/p/2\">Anchor</a></li>|<li><a \
         href=\"/p/3\">Lamp</a></li>|<li><a href=\"/p/4\">Sail</a></li>|<li><a href=\"/p/5\">Oar</a></li>|<li><a \
         href=\"/p/6\">Buoy</a></li>»</ul>",
        PRICE,
        "19 EUR",
    ),
    worded(
        "option of a select with counters",
        "<p>Day: <select><option>Monday, «some_people» left</option><option>«fact», «some_people» left</option></select></p>",
        ["Tuesday", "Friday"],
        "Friday",
    ),
    whole(
        "title with a number of messages",
        "text/html; charset=utf-8",
        "<title>(«some_people») Notices: «fact»</title><main><h1>Notices</h1><p>All notices of the harbour office can be read \
         here and at the \
         office.</p><p>Boats are moored at their own risk.</p></main>",
        ["calm", "storm warning"],
        "storm warning",
    ),
    whole(
        "feed with a token in each link",
        "application/rss+xml",
        "<?xml version=\"1.0\"?><rss \
         version=\"2.0\"><channel><title>Letters</title><link>https://a.test/</link>«fact»<item><title>Letter of \
         April</title><link>https://a.test/l/4?k=«token»</link><guid isPermaLink=\"false\">4</guid><description>On the \
         quay</description></item><item><title>Letter of March</title><link>https://a.test/l/3?k=«token»</link><guid \
         isPermaLink=\"false\">3</guid><description>On the boats</description></item></channel></rss>",
        [
            "",
            "<item><title>Letter of May</title><link>https://a.test/l/5?k=«token»</link><guid \
             isPermaLink=\"false\">5</guid><description>On \
             the crane</description></item>",
        ],
        "Letter of May",
    ),
    whole(
        "value of JSON beside the number of the request",
        "application/json",
        "{\"request\":\"«token»\",\"made\":«stamp»,\"boats\":[{\"id\":\"b1\",\"place\":\"«fact»\",\"seen\":«count»}, \
         {\"id\":\"b2\",\"place\":\"west quay\",\"seen\":«count»}]}",
        ["north quay", "east quay"],
        "east quay",
    ),
    whole(
        "line of a text with a counter",
        "text/plain; charset=utf-8",
        "Harbour office\n\nRequests so far: «count». The sluice opens «fact».\n\nBoats wait at the buoy until the light is \
         green.\n",
        ["at nine", "at eleven"],
        "at eleven",
    ),
    hourly(
        "owner beside the copyright year of two servers",
        "<p>© «one:2025|2026» «fact», all rights reserved</p>",
        ["Harbour board", "Town council"],
    ),
    hourly(
        "price beside a countdown in seconds",
        "<p>The bag costs «fact» for another 02:«second»:«minutes»</p>",
        PRICE,
    ),
    hourly("text whose class is drawn anew", "<p class=\"css-«short»\">The hall is let for «fact» a day.</p>", PRICE),
    hourly(
        "label of a bar that measures",
        "<p>«fact»: <progress value=\"«some_people»\" max=\"100\"></progress></p>",
        ["New roof", "New stairs"],
    ),
    hourly(
        "button beside the words in an empty field",
        "<form action=\"/find\"><input name=\"q\" placeholder=\"Search for «one:lamps|ropes|tents|stoves|boots|maps|knives»\"> \
         <button>«fact»</button></form>",
        ["Search", "Search all halls"],
    ),
    hourly(
        "sentence within a teaser drawn anew",
        "<div class=\"story\"><h4><a href=\"/stories/«digits»\">Story of «one:the crane|the quay|the light|the tide|the pool|the \
         stairs»</a></h4><p>Entrance: «fact»</p></div>",
        PRICE,
    ),
    worded(
        "address of a mail, protected with another key at each fetch",
        "<p>Ask <a href=\"/cdn-cgi/l/email-protection#«fact»\"><span class=\"__cf_email__\" \
         data-cfemail=\"«fact»\">[email&#160;protected]</span></a></p>",
        ["«masked:desk@baths.example»", "«masked:office@baths.example»"],
        "office@baths.example",
    ),
    whole(
        "price in either of two whole versions",
        "text/html; charset=utf-8",
        "<title>Bags</title><main>«one:<h1>Bags</h1><p>A bag of heavy canvas with two handles of rope, made for boats and long \
         roads.</p><p>Price: «fact»</p><p>It dries within an hour in the sun and is sewn twice at all seams.</p>|<h1>The canvas \
         bag</h1><p>Whoever \
         goes to sea takes it along, because it carries more than others and weighs less.</p><p>Yours for «fact»</p><p>Send it \
         back within a month \
         if you do not like it.</p>»</main>",
        PRICE,
        "19 EUR",
    ),
    whole(
        "description with a counter",
        "text/html; charset=utf-8",
        "<title>Bags</title><meta name=\"description\" content=\"«count» bags, from «fact»\"><main><h1>Bags</h1><p>A bag of \
         heavy canvas with \
         two handles of rope, made for boats and long roads.</p></main>",
        PRICE,
        "19 EUR",
    ),
    unseen(
        "nonce in a hidden frame",
        HOUR_S,
        "<div style=\"display:none\"><iframe src=\"https://count.example/f?n=«token»\"></iframe></div>",
    ),
    unseen(
        "nonce in a frame without size",
        HOUR_S,
        "<noscript><iframe src=\"https://count.example/f?n=«token»\" height=\"0\" width=\"0\"></iframe></noscript><iframe \
         style=\"width:0;height:0;border:0\" src=\"https://count.example/g?n=«token»\"></iframe>",
    ),
    unseen(
        "nonce in a frame outside the screen",
        HOUR_S,
        "<iframe style=\"position:absolute;left:-9999px\" src=\"https://count.example/f?n=«token»\"></iframe>",
    ),
    unseen(
        "nonce in a frame of another site",
        HOUR_S,
        "<iframe width=\"300\" height=\"250\" src=\"https://count.example/f?n=«token»\"></iframe>",
    ),
    unseen("token in a hidden text", HOUR_S, "<p style=\"display:none\">«token»</p><p hidden>«digits»</p>"),
    unseen(
        "parameter of a link to another site",
        HOUR_S,
        "<p>Tickets are sold <a href=\"https://tickets.example/list?ref=«token»\">there</a>.</p>",
    ),
];
