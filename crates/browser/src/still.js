// Runs before any script of a page, so that two looks at it give the same document: time stands still between timers,
// which the host lets run one after the other; random numbers follow from a seed; and there is nothing to ask a reader.
((seed, startedAt) => {
  'use strict';
  const RealDate = Date;
  const wellFormed = String.prototype.toWellFormed;
  const channel = new MessageChannel();
  const waiting = [];
  channel.port1.onmessage = () => { const next = waiting.shift(); if (next) next(); };
  // A real turn of the event loop, so that what the page has posted to itself comes first.
  const turn = () => new Promise((resolve) => { waiting.push(resolve); channel.port2.postMessage(0); });

  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  Math.random = random;
  if (globalThis.crypto) {
    const fill = (array) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
      return array;
    };
    Crypto.prototype.getRandomValues = fill;
    Crypto.prototype.randomUUID = () => {
      const bytes = fill(new Uint8Array(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    };
  }

  let now = startedAt;
  function StillDate(...parts) {
    if (!new.target) return new RealDate(now).toString();
    return Reflect.construct(RealDate, parts.length ? parts : [now], new.target === StillDate ? RealDate : new.target);
  }
  Object.setPrototypeOf(StillDate, RealDate);
  StillDate.prototype = RealDate.prototype;
  StillDate.now = () => now;
  Object.defineProperty(StillDate, 'name', { value: 'Date' });
  RealDate.prototype.constructor = StillDate;
  globalThis.Date = StillDate;
  Performance.prototype.now = () => now - startedAt;
  Object.defineProperty(Performance.prototype, 'timeOrigin', { get: () => startedAt });
  Object.defineProperty(Event.prototype, 'timeStamp', { get: () => now - startedAt });
  Object.defineProperty(Document.prototype, 'lastModified', { get: () => '01/01/1970 00:00:00' });
  const formats = Intl.DateTimeFormat.prototype;
  const format = Object.getOwnPropertyDescriptor(formats, 'format').get;
  Object.defineProperty(formats, 'format', {
    get() { const bound = format.call(this); return (time) => bound(time === undefined ? now : time); },
  });
  const toParts = formats.formatToParts;
  formats.formatToParts = function (time) { return toParts.call(this, time === undefined ? now : time); };
  if (globalThis.Temporal) {
    const instant = () => Temporal.Instant.fromEpochMilliseconds(now);
    const zoned = (zone = 'UTC') => instant().toZonedDateTimeISO(zone);
    Object.assign(Temporal.Now, {
      instant,
      zonedDateTimeISO: zoned,
      plainDateTimeISO: (zone) => zoned(zone).toPlainDateTime(),
      plainDateISO: (zone) => zoned(zone).toPlainDate(),
      plainTimeISO: (zone) => zoned(zone).toPlainTime(),
    });
  }

  for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) {
    try { window[name] = () => (name === 'confirm' ? false : null); } catch { /* a frame of another site */ }
  }
  try { delete Navigator.prototype.serviceWorker; } catch { /* not in every frame */ }
  for (const name of ['SharedWorker', 'WebSocket', 'WebTransport', 'RTCPeerConnection', 'EventSource']) {
    try { delete globalThis[name]; } catch { /* not in every frame */ }
  }

  // Closed shadow roots are read, too: a reader sees them.
  const closed = new WeakMap();
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    if (options && options.mode === 'closed') closed.set(this, root);
    return root;
  };

  let mutations = 0;
  const observer = new MutationObserver((records) => { mutations += records.length; });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

  // Timers of frames run on real time. They are the page's only timers that may depend on the machine.
  const isTop = window === window.top;
  const timers = new Map();
  let ids = 0;
  // Timers that set one another wait at least four milliseconds from the fifth on (HTML, "timer initialization steps").
  let level = 0;
  const add = (run, delay, every) => {
    ids += 1;
    const least = level >= 5 ? 4 : 0;
    timers.set(ids, { at: now + Math.max(least, Number(delay) || 0), order: ids, run, every, level: level + 1 });
    return ids;
  };
  const called = (work, rest) => (typeof work === 'function' ? () => work(...rest) : () => (0, eval)(String(work)));
  if (isTop) {
    globalThis.setTimeout = (work, delay, ...rest) => add(called(work, rest), delay, null);
    globalThis.setInterval = (work, delay, ...rest) => add(called(work, rest), delay, Math.max(10, Number(delay) || 0));
    globalThis.requestAnimationFrame = (work) => add(() => work(now - startedAt), 16, null);
    globalThis.requestIdleCallback = (work) => add(() => work({ didTimeout: false, timeRemaining: () => 50 }), 1, null);
    for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback']) {
      globalThis[name] = (id) => { timers.delete(id); };
    }
  }
  const first = () => {
    let found = null;
    for (const [id, timer] of timers) {
      if (!found || timer.at < found.timer.at || (timer.at === found.timer.at && timer.order < found.timer.order)) {
        found = { id, timer };
      }
    }
    return found;
  };

  // Lets the timers run that are due `until` milliseconds after the start, at most `most` of them. Time moves with them
  // alone, so that it does not depend on the machine.
  const advance = async (until, most) => {
    let ran = 0;
    await turn();
    await turn();
    for (let next = first(); next && next.timer.at <= startedAt + until && ran < most; next = first()) {
      now = Math.max(now, next.timer.at);
      const { id, timer } = next;
      if (timer.every === null) timers.delete(id); else timer.at = now + timer.every;
      ids += 1;
      timer.order = ids;
      ran += 1;
      level = timer.level;
      try { timer.run(); } catch (error) { console.error(error); }
      level = 0;
      await turn();
    }
    const next = first();
    return { ran, mutations, next: next ? next.timer.at - startedAt : null };
  };

  const rootsBelow = (node, roots) => {
    for (const element of node.querySelectorAll('*')) {
      const root = element.shadowRoot || closed.get(element);
      if (root) { roots.push(root); rootsBelow(root, roots); }
    }
    return roots;
  };
  // The document as a reader sees it, at most `most` characters of it, and its base if that is not the address asked for.
  const capture = (most, asked) => {
    for (const element of document.querySelectorAll('noscript')) element.remove();
    const moved = document.baseURI.split('#')[0] !== asked && !document.querySelector('base[href]');
    const root = document.documentElement;
    if (!root) return { html: '', cut: false };
    const html = root.getHTML({ serializableShadowRoots: true, shadowRoots: rootsBelow(document, []) });
    const open = root.cloneNode(false).outerHTML.replace(/<\/html>$/i, '');
    const whole = `<!DOCTYPE html>${open}${html}</html>`;
    // Half of a pair of surrogates cannot be sent.
    const sent = Reflect.apply(wellFormed, whole.slice(0, most), []);
    return { html: sent, cut: whole.length > most, base: moved ? document.baseURI : null };
  };
  Object.defineProperty(globalThis, '__recrawl', { value: Object.freeze({ advance, capture }) });
})
