//! Pages made for histories: short, with frame, paragraphs, a list and a table.

/// A page of a kind that people watch. «block» is where a history happens.
pub(crate) const PAGES: [&str; 3] = [
    r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Town baths</title></head><body>
<header><a href="/">Start</a></header><nav><ul><li><a href="/baths">Baths</a></li><li><a href="/courses">Courses</a></li><li>
<a href="/contact">Contact</a></li></ul></nav>
<main><h1>Town baths</h1>
<p>The baths stand beside the river and have three pools, of which the smallest is kept warm for children.</p>
«block»
<p>Whoever wants to take part in a course asks at the desk, where the forms lie, and brings a towel.</p>
<h2>Rules of the house</h2>
<ul><li>Shoes stay at the door</li><li>Children under eight come with an adult</li><li>Bags are left in the lockers</li>
<li>Dogs wait outside</li></ul>
<p>The water is tested every morning before the doors open, and the results hang beside the stairs.</p>
</main>
<footer><p>Board of the town baths</p><a href="/imprint">Imprint</a></footer></body></html>"#,
    r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rope and sail</title></head><body>
<div class="top"><a href="/">Shop</a> <a href="/cart">Cart</a></div>
<article><h1>Canvas bag</h1>
<p>A bag of heavy canvas with two handles of rope, made for boats, which dries within an hour in the sun.</p>
<table><tr><th>Size</th><th>Volume</th></tr><tr><td>Small</td><td>20 l</td></tr><tr><td>Medium</td><td>35 l</td></tr><tr>
<td>Large</td><td>60 l</td></tr></table>
<p>All seams are sewn twice, and the bottom has a second layer that can be changed when it is worn out.</p>
«block»
<p>We send parcels on three days of the week and take things back within a month if they were not used.</p>
</article>
<div class="bottom"><a href="/terms">Terms</a> <a href="/privacy">Privacy</a></div></body></html>"#,
    r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Moorings</title></head><body>
<div id="page"><h1>Moorings in the old harbour</h1>
<p>Guests moor at the eastern quay, where water and current can be had, and pay at the office of the harbour.</p>
<h2>What is new</h2>
«block»
<h2>How to find us</h2>
<p>The entrance lies between the two green lights, and boats with a deep keel wait for the flood before it.</p>
<dl><dt>Radio</dt><dd>Channel 11</dd><dt>Depth</dt><dd>Two metres at low water</dd></dl>
</div></body></html>"#,
];
