// Makes screens, which are whole without it, easier to read: times in the reader's zone, marks at changes that the reader has not
// seen, and figures that renew themselves. It inserts no text as markup, and asks nobody but the port it came from.
"use strict";
(() => {
  const SEEN = "recrawl-changes-seen-until";
  const RENEW_MS = 5000;
  const MOST_MS = 60000;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // The Swedish form is that of the server: 2026-11-29 12:11.
  const format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
  let seen = null;

  const showTimes = (root) => {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) {
        time.textContent = format.format(at);
      }
    }
  };

  const seenUntil = () => {
    try {
      return Number(localStorage.getItem(SEEN) || 0);
    } catch {
      return 0;
    }
  };

  // The list of changes counts as read once it is shown; the first screen only marks what is new.
  const markUnread = (root) => {
    const cards = [...root.querySelectorAll("article[data-seen-at]")];
    const at = (card) => Date.parse(card.dataset.seenAt) || 0;
    seen ??= seenUntil();
    for (const card of cards.filter((card) => seen > 0 && at(card) > seen)) {
      const mark = document.createElement("span");
      mark.className = "unread";
      mark.textContent = "new";
      card.querySelector(".about").prepend(mark, " ");
    }
    if (root.querySelector("[data-marks-read]")) {
      try {
        localStorage.setItem(SEEN, String(Math.max(seenUntil(), ...cards.map(at))));
      } catch {
        // The reader's browser keeps nothing. Then nothing is marked.
      }
    }
  };

  const improve = (root) => {
    showTimes(root);
    markUnread(root);
  };

  // A reader who types, chooses, selects or has pushed a table aside is not disturbed.
  const isInUse = (main) =>
    document.hidden ||
    (main.contains(document.activeElement) && document.activeElement.matches("a, button, input, select, textarea, summary")) ||
    !getSelection().isCollapsed ||
    [...main.querySelectorAll(".scroll")].some((table) => table.scrollLeft > 0);

  // The line below the screen that says how old it is, with a button that stops the renewal.
  const renewing = () => {
    const main = document.getElementById("content");
    const line = document.createElement("p");
    const [age, button, news] = ["span", "button", "span"].map((name) => document.createElement(name));
    line.className = "quiet";
    button.type = "button";
    button.textContent = "Pause the renewal";
    button.setAttribute("aria-pressed", "false");
    news.setAttribute("role", "status");
    line.append(age, " ", button, " ", news);
    document.querySelector("footer").append(line);
    const clock = new Intl.DateTimeFormat("sv-SE", { timeStyle: "medium" });
    let renewedAt = new Date();
    let failures = 0;
    const isPaused = () => button.getAttribute("aria-pressed") === "true";
    const sayAge = () => {
      age.textContent = failures === 0 ? `As of ${clock.format(renewedAt)}.` : `Not renewed since ${clock.format(renewedAt)}.`;
    };
    const title = () => main.querySelector("h1").textContent;

    const take = (request) => {
      const fresh = request.status === 200 && request.response && request.response.getElementById("content");
      failures = fresh ? 0 : failures + 1;
      if (fresh && !isInUse(main)) {
        const before = title();
        improve(fresh);
        main.replaceChildren(...fresh.childNodes);
        renewedAt = new Date();
        if (title() !== before) {
          news.textContent = title();
        }
      }
      sayAge();
      // A key that is no longer taken would be asked for again and again.
      if (request.status !== 401) {
        setTimeout(renew, Math.min(RENEW_MS * 2 ** failures, MOST_MS));
      }
    };
    const renew = () => {
      if (isPaused() || isInUse(main)) {
        setTimeout(renew, RENEW_MS);
        return;
      }
      const request = new XMLHttpRequest();
      request.responseType = "document";
      request.addEventListener("loadend", () => take(request));
      request.open("GET", location.href);
      request.send();
    };

    button.addEventListener("click", () => button.setAttribute("aria-pressed", String(!isPaused())));
    sayAge();
    setTimeout(renew, RENEW_MS);
  };

  improve(document);
  const named = document.getElementById("zone");
  if (named) {
    named.textContent = `Times are of ${zone}.`;
  }
  if (document.querySelector("[data-renews]")) {
    renewing();
  }
})();
