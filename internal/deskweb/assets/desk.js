// The desk's script. It holds the bearer token, asks for the screen of the address, and puts it in
// place without losing the focus, a selection or an open detail. Screens come as documents that the
// browser parsed: this script makes no markup of text, and its page would not let it.
"use strict";
(() => {
  const $ = (q, in_ = document) => in_.querySelector(q);
  const all = (q, in_ = document) => [...in_.querySelectorAll(q)];
  const store = window.sessionStorage; // of this name, this port and this tab
  let bearer = store.getItem("desk") || "";
  let asked = 0, loading = false, again = false, pause = 1000;

  const say = (head, text) => {
    document.body.className = "plain";
    const main = document.createElement("main"), h = document.createElement("h1"), p = document.createElement("p");
    main.id = "main"; h.textContent = head; p.textContent = text;
    main.append(h, p);
    document.body.replaceChildren(main);
  };
  const stranger = () => {
    store.removeItem("desk"); bearer = "";
    say("This page has no key", "A link to the desk opens it once, within a minute. Type cordon ui --web again for a new one.");
  };

  // admit changes the one-time token of the address for a bearer token, and takes it off the address.
  const admit = async () => {
    const token = location.hash.slice(1);
    if (!/^[0-9a-f]{32}$/.test(token)) return;
    history.replaceState(null, "", location.pathname + location.search);
    const answer = await fetch("/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token})});
    if (!answer.ok) return;
    bearer = (await answer.json()).bearer;
    store.setItem("desk", bearer);
  };

  // screen asks for the document of an address.
  const screen = address => new Promise((done, failed) => {
    const x = new XMLHttpRequest();
    x.open("GET", "/screen" + address);
    x.responseType = "document";
    x.setRequestHeader("Authorization", "Bearer " + bearer);
    x.onload = () => done({code: x.status, page: x.response});
    x.onerror = () => failed(new Error("the desk does not answer"));
    x.send();
  });

  // keeps are attributes that belong to the reader, not to the server.
  const keeps = (el, name) => name === "open" && /^(details|dialog)$/.test(el.localName) || name === "value" || name === "hidden" && el.hasAttribute("data-find");
  const attributes = (old, now) => {
    for (const {name} of [...old.attributes]) if (!now.hasAttribute(name) && !keeps(old, name)) old.removeAttribute(name);
    for (const {name, value} of now.attributes) {
      if (old.getAttribute(name) !== value && !keeps(old, name) && !name.startsWith("on")) old.setAttribute(name, value);
    }
  };
  const same = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");

  // morph makes an element equal to another and keeps every node that can stay.
  const morph = (old, now) => {
    if (old.isEqualNode(now)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) { old.data = now.data; return; }
    attributes(old, now);
    const named = new Map(all(":scope > [id]", old).map(e => [e.id, e]));
    let at = old.firstChild;
    for (const child of [...now.childNodes]) {
      const found = child.id && named.get(child.id);
      if (found && found !== at) old.insertBefore(found, at);
      else if (found) at = at.nextSibling;
      if (found) { morph(found, child); continue; }
      if (at && same(at, child)) { const next = at.nextSibling; morph(at, child); at = next; continue; }
      old.insertBefore(document.adoptNode(child), at);
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  };

  // show puts a screen in place. A new address begins at its top; an update stays where it is.
  const show = (page, fresh) => {
    const focus = document.activeElement && document.activeElement.id;
    document.title = page.title;
    if (fresh) {
      document.body.className = page.body.className;
      document.body.replaceChildren(...[...page.body.childNodes].map(n => document.adoptNode(n)));
      const main = $("#main");
      if (location.hash && $(location.hash)) $(location.hash).scrollIntoView();
      else if (main) { main.scrollTop = 0; main.focus({preventScroll: true}); }
    } else {
      morph(document.body, page.body);
      if (focus && document.activeElement === document.body) { const el = document.getElementById(focus); if (el) el.focus({preventScroll: true}); }
    }
    filter();
  };

  // load shows the screen of the address; calls that come meanwhile become one.
  const load = async fresh => {
    if (!bearer) return stranger();
    if (loading && !fresh) { again = true; return; }
    loading = true;
    const mine = ++asked;
    try {
      const {code, page} = await screen(location.pathname + location.search);
      if (mine !== asked) return;
      if (code === 401) return stranger();
      if (code === 404) return say("There is no such screen", "The worker or plan is not known any more.");
      if (code !== 200 || !page) return say("The desk could not make this screen", "cordon ls and cordon journal verify say more.");
      show(page, fresh);
    } catch (e) {
      lost();
    } finally {
      if (mine === asked) loading = false;
      if (again && mine === asked) { again = false; load(false); }
    }
  };

  const lost = () => { const l = $("#live"); if (l) { l.classList.add("lost"); l.textContent = "the desk was closed; workers go on"; } };

  // follow reads the stream of events with fetch: an EventSource could not show the token.
  const follow = async () => {
    try {
      const answer = await fetch("/events", {headers: {Authorization: "Bearer " + bearer}});
      if (answer.status === 401) return stranger();
      if (!answer.ok) throw new Error(answer.status);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let first = true;;) {
        const {value, done} = await reader.read();
        if (done) break;
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        pause = 1000;
        if (parts.length && !first) load(false);
        first = false;
      }
    } catch (e) { /* it is tried again */ }
    if (!bearer) return;
    lost();
    setTimeout(async () => { pause = Math.min(pause * 2, 30000); follow(); load(false); }, pause);
  };

  const go = address => { history.pushState(null, "", address); load(true); };
  addEventListener("popstate", () => load(true));
  document.addEventListener("click", e => {
    const a = e.target.closest("a[href]"), b = e.target.closest("button[data-copy]");
    if (b) { copy(b); return; }
    if (!a || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const to = new URL(a.getAttribute("href"), location.href);
    if (to.origin !== location.origin) return;
    if (to.pathname === location.pathname && to.search === location.search && to.hash) return; // within the screen
    e.preventDefault();
    go(to.pathname + to.search + to.hash);
  });
  document.addEventListener("submit", e => {
    const form = e.target;
    if (form.method !== "get") return;
    e.preventDefault();
    const q = new URLSearchParams([...new FormData(form)].filter(([, v]) => v)).toString();
    go(new URL(form.action).pathname + (q ? "?" + q : ""));
  });

  const copy = async b => {
    const from = document.getElementById(b.dataset.copy), was = b.textContent;
    await navigator.clipboard.writeText(from.textContent);
    b.textContent = "copied";
    setTimeout(() => { b.textContent = was; }, 1500);
  };

  // filter hides the rows that do not have the text of the search field.
  const filter = () => {
    const field = $("#find"), text = field ? field.value.trim().toLowerCase() : "";
    for (const row of all("[data-find]")) row.hidden = text !== "" && !row.textContent.toLowerCase().includes(text);
  };
  document.addEventListener("input", e => { if (e.target.id === "find") filter(); });

  const move = (q, by) => {
    const list = all(q).filter(e => e.offsetParent), at = list.indexOf(document.activeElement.closest(q));
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
    if (next) { next.focus(); next.scrollIntoView({block: "nearest"}); }
  };
  const press = q => { const el = $(q); if (el) el.click(); };
  const keysOf = {
    j: () => move("a.row", 1), k: () => move("a.row", -1), "]": () => move(".file > summary", 1), "[": () => move(".file > summary", -1),
    g: () => $("#main").scrollTo(0, 0), G: () => $("#main").scrollTo(0, $("#main").scrollHeight),
    n: () => press("#next"), y: () => press("button[data-copy]"), "/": () => { const f = $("#find"); if (f) f.focus(); },
    1: () => go("/"), 2: () => go("/plan"), 3: () => go("/journal"),
    "?": () => { const d = $("#help"); if (d) d.open ? d.close() : d.showModal(); },
  };
  document.addEventListener("keydown", e => {
    if (e.key === "Escape" && e.target.id === "find") { e.target.value = ""; filter(); e.target.blur(); return; }
    if (e.metaKey || e.ctrlKey || e.altKey || e.target.closest("input,textarea,select")) return;
    const act = keysOf[e.key];
    if (act) { e.preventDefault(); act(); }
  });

  (async () => {
    try { await admit(); } catch (e) { /* it is said below */ }
    if (!bearer) return stranger();
    await load(true);
    if (bearer) follow();
  })();
})();
