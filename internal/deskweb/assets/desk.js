// The script holds the bearer token, asks for the screen of the address, and puts it in place without
// losing the focus, a selection or an open detail. It makes no markup of text.
const $ = (q, in_ = document) => in_.querySelector(q);
const all = (q, in_ = document) => [...in_.querySelectorAll(q)];
const hear = (kind, act, first) => document.addEventListener(kind, act, first);
const place = () => location.pathname + location.search;
const focused = () => document.activeElement;
const make = name => document.createElement(name);
const byId = (id, of = document) => of.getElementById(id);
const store = window.sessionStorage; // of this tab
let bearer = store.getItem("desk") || "";
let asked = 0, loading = false, again = false, pause = 1000;

const say = (head, text) => {
  document.body.className = "plain";
  const main = make("main"), h = make("h1"), p = make("p");
  main.id = "main"; h.textContent = head; p.textContent = text;
  main.append(h, p);
  document.body.replaceChildren(main);
};
const stranger = () => {
  store.removeItem("desk"); bearer = "";
  say("This page has no key", "A link to the desk opens it once, within a minute. Type cordon ui --web again for a new one.");
};

// admit changes the one-time token of the address for a bearer token.
const admit = async () => {
  const token = location.hash.slice(1);
  if (!/^[0-9a-f]{32}$/.test(token)) return;
  history.replaceState(null, "", place());
  const answer = await fetch("/session", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token})});
  if (!answer.ok) return;
  bearer = (await answer.json()).bearer;
  store.setItem("desk", bearer);
};

// screen asks for a document.
const screen = address => new Promise((done, failed) => {
  const x = new XMLHttpRequest();
  x.open("GET", "/screen" + address);
  x.responseType = "document";
  x.setRequestHeader("Authorization", "Bearer " + bearer);
  x.onload = () => done({code: x.status, page: x.response});
  x.onerror = () => failed(new Error("the desk does not answer"));
  x.send();
});

// keeps are attributes of the reader's.
const keeps = (el, name) => name === "open" && /^(details|dialog)$/.test(el.localName) || /^(value|data-on|tabindex)$/.test(name) || name === "hidden" && el.hasAttribute("data-find");
const attributes = (old, now) => {
  for (const {name} of [...old.attributes]) if (!now.hasAttribute(name) && !keeps(old, name)) old.removeAttribute(name);
  for (const {name, value} of now.attributes) {
    if (old.getAttribute(name) !== value && !keeps(old, name) && !name.startsWith("on")) old.setAttribute(name, value);
  }
};
const same = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");
const alike = (a, b) => ["path", "old", "new"].every(k => a.dataset[k] === b.dataset[k]);

// morph makes an element equal to another.
const morph = (old, now) => {
  if (old.isEqualNode(now)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) { old.data = now.data; return; }
  if (/^(told|send|lacks|same|same-as)$/.test(old.id)) return; // of the reader's
  const keep = old.dataset.more && alike(old, now); // rows that came later
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
  while (at) { const next = at.nextSibling; if (!keep || at.className !== "chunk") at.remove(); at = next; }
};

// show puts a screen in place. An update stays where it is.
const show = (page, fresh) => {
  const focus = focused() && focused().id;
  document.title = page.title;
  if (fresh) {
    document.body.className = page.body.className;
    document.body.replaceChildren(...[...page.body.childNodes].map(n => document.adoptNode(n)));
    const main = $("#main");
    if (location.hash && $(location.hash)) $(location.hash).scrollIntoView();
    else if (main) { main.scrollTop = 0; main.focus({preventScroll: true}); }
  } else {
    morph(document.body, page.body);
    if (focus && focused() === document.body) byId(focus)?.focus({preventScroll: true});
  }
  filter();
  rows();
};

// rows asks for those of open files that the screen left out.
const rows = async () => {
  const open = all(".file[open][data-more]").filter(f => !$(".chunk", f));
  if (!open.length) return;
  const {page} = await screen(location.pathname + "?rows=all");
  for (const f of open) {
    const got = page && byId(f.id, page);
    if (got && alike(f, got) && !$(".chunk", f)) f.append(...all(".chunk", got));
  }
};
hear("toggle", rows, true);

// notice tells who newly needs the reader, if asked to and out of sight.
let known = null;
const notice = () => {
  const now = new Map(all("#needing a.row").map(a => [a.id, ($(".n", a).textContent + " " + $(".w", a).textContent).slice(0, 140)]));
  const ask = known && document.hidden && window.Notification && Notification.permission === "granted";
  if (ask) for (const [tag, body] of now) if (!known.has(tag)) new Notification("cordon", {body, tag});
  known = now;
};

// load shows the screen of the address; calls meanwhile become one.
const load = async fresh => {
  if (!bearer) return stranger();
  if (loading && !fresh) { again = true; return; }
  loading = true;
  const mine = ++asked;
  try {
    const {code, page} = await screen(place());
    if (mine !== asked) return;
    if (code === 401) return stranger();
    if (code === 404) return say("There is no such screen", "The worker or plan is not known any more.");
    if (code !== 200 || !page) return say("The desk could not make this screen", "cordon ls and cordon journal verify say more.");
    show(page, fresh);
    notice();
  } catch (e) {
    lost();
  } finally {
    if (mine === asked) loading = false;
    if (again && mine === asked) { again = false; load(false); }
  }
};

const lost = () => { const l = $("#live"); if (l) { l.classList.add("lost"); l.textContent = "the desk was closed; workers go on"; } };

// follow reads the stream of events. An EventSource could not show the token.
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
hear("click", e => {
  const near = q => e.target.closest(q), a = near("a[href]"), b = near("button[data-copy]"), f = near("button[data-fill]"), n = near("td[data-n]"), d = near("[data-do]");
  if (b) return copy(b);
  if (near("[data-notify]")) return Notification.requestPermission();
  if (f) { const to = byId(f.dataset.fill); to.value = f.textContent; to.focus(); return preview(); }
  if (n) return mark(n, e.shiftKey);
  if (d) return note({...d.dataset});
  if (!a || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const to = new URL(a.getAttribute("href"), location.href);
  if (to.origin !== location.origin) return;
  if (to.pathname + to.search === place() && to.hash) return; // within the screen
  e.preventDefault();
  go(to.pathname + to.search + to.hash);
});
hear("submit", e => {
  const form = e.target;
  if (form.id === "decide") { e.preventDefault(); send(form); return; }
  if (form.id === "remark") { e.preventDefault(); remark(form); return; }
  if (form.method !== "get") return;
  e.preventDefault();
  const q = new URLSearchParams([...new FormData(form)].filter(([, v]) => v)).toString();
  go(new URL(form.action).pathname + (q ? "?" + q : ""));
});

const copy = async b => {
  const from = byId(b.dataset.copy), was = b.textContent;
  await navigator.clipboard.writeText(from.textContent);
  b.textContent = "copied";
  setTimeout(() => { b.textContent = was; }, 1500);
};

// decision is the form of the chosen act.
const decision = form => {
  const on = $("input[name=choice]:checked", form);
  if (!on) return null;
  const d = {worker: form.dataset.worker, choice: on.value, seen: form.dataset.seen};
  for (const f of all("[name]", on.closest(".opt"))) {
    if (f === on || !f.value.trim() || f.type === "checkbox" && !f.checked) continue;
    if (/^(roots|repeated|accepts)$/.test(f.name)) (d[f.name] ||= []).push(f.value);
    else d[f.name] = f.name === "comments" || f.value.trim();
  }
  return d;
};
const post = async (path, body) => {
  const answer = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json", Authorization: "Bearer " + bearer}, body: JSON.stringify(body)});
  if (answer.status === 401) stranger();
  return {code: answer.status, ...(/json/.test(answer.headers.get("Content-Type")) ? await answer.json() : {error: "the desk refused this"})};
};

// preview shows the command that decides the same.
let previews = 0;
const preview = async () => {
  const form = $("#decide"), d = form && decision(form);
  if (!d) return;
  const button = $("#send"), mine = ++previews;
  button.disabled = false;
  button.textContent = d.choice[0].toUpperCase() + d.choice.slice(1) + ": " + d.worker;
  const {command, error} = await post("/preview", d);
  if (mine !== previews || !$("#command")) return;
  $("#same").hidden = $("#same-as").hidden = !command;
  $("#command").textContent = command ?? "";
  $("#lacks").textContent = error ?? "";
};

// act decides or notes something, with what the reader saw.
let acting = false;
const act = async (path, body, form) => {
  if (!body || acting) return;
  acting = true;
  tell("", "Being carried out…");
  try {
    const {code, done, error, moved} = await post(path, body);
    if (code === 200) form?.reset();
    tell(code === 200 ? "ok" : "bad", done || error, moved);
  } catch (e) {
    tell("bad", "The desk did not answer. The journal says whether it was decided.");
  }
  acting = false;
  await load(false);
  if (path === "/decide") $("#told")?.focus(); else preview();
};
const send = form => act("/decide", decision(form), form);
const note = (n, form) => act("/note", {worker: location.pathname.split("/")[2], ...n}, form);
const tell = (kind, text, list) => {
  const told = $("#told"), ul = make("ul");
  if (!told) return;
  told.className = kind;
  told.textContent = text;
  for (const t of list || []) { const li = make("li"); li.textContent = t; ul.append(li); }
  if (list) told.append(ul);
};
for (const kind of ["change", "input"]) hear(kind, e => { if (e.target.closest("#decide")) preview(); });

// Lines are marked by a click (shift: a range), or J and K (after V: a range).
let first = null, range = false;
const marked = () => all("td[data-on]");
const mark = (cell, on) => {
  const cells = all(`td[data-n=${cell.dataset.n}]`, cell.closest(".file"));
  if (!on || !cells.includes(first)) first = cell;
  const [from, to] = [first, cell].map(c => cells.indexOf(c)).sort((a, b) => a - b);
  for (const c of marked()) delete c.dataset.on;
  for (const c of cells.slice(from, to + 1)) c.dataset.on = "";
  cell.tabIndex = -1;
  cell.focus();
};
const step = by => {
  const at = focused(), here = at.closest("td[data-n]"), file = at.closest(".file");
  const q = ".file[open] td[data-n" + (range && here ? `=${here.dataset.n}]` : "]:not(:has(~ [data-n]))"), cells = all(q);
  const to = cells[here ? cells.indexOf($(q, here.parentNode)) + by : cells.findIndex(c => !file || file.contains(c))];
  if (to) mark(to, range);
};
const comment = () => {
  const form = $("#remark"), on = marked();
  if (!form || !on.length) return tell("", "Mark a line first: J and K, or a click on its number.");
  form.lines.value = [...new Set([on[0], on.at(-1)].map(c => c.textContent))].join("-");
  form.side.value = on[0].dataset.n;
  $("#note-on").textContent = "Comment on " + $(".m", on[0].closest(".file")).textContent;
  $("#note").showModal();
  form.text.focus();
};
const remark = form => {
  const file = marked()[0].closest(".file").dataset, side = form.side.value, [from, to = from] = form.lines.value.split("-").map(Number);
  $("#note").close();
  note({do: "comment", path: file.path, side, blob: file[side], from, to, text: form.text.value}, form);
};
const see = () => {
  const file = focused().closest(".file"), b = file && $("[data-do]", file);
  b?.click();
  if (b?.dataset.do !== "unseen") move(".file > summary", 1);
};

// filter hides rows without the text of the search field.
const filter = () => {
  const field = $("#find"), text = field ? field.value.trim().toLowerCase() : "";
  for (const row of all("[data-find]")) row.hidden = text !== "" && !row.textContent.toLowerCase().includes(text);
};
hear("input", e => { if (e.target.id === "find") filter(); });

const move = (q, by) => {
  const list = all(q).filter(e => e.offsetParent), at = list.indexOf(focused().closest(q));
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
  if (next) { next.focus(); next.scrollIntoView({block: "nearest"}); }
};
const press = q => $(q)?.click();
const keysOf = {
  j: () => move("a.row", 1), k: () => move("a.row", -1), "]": () => move(".file > summary", 1), "[": () => move(".file > summary", -1),
  g: () => $("#main").scrollTo(0, 0), G: () => $("#main").scrollTo(0, $("#main").scrollHeight),
  n: () => press("#next"), y: () => press("#same:not([hidden]) button, .cmd:not([hidden]) button[data-copy]"), "/": () => $("#find")?.focus(),
  c: comment, v: see, J: () => step(1), K: () => step(-1), V: () => { range = !range; },
  "?": () => { const d = $("#help"); d?.open ? d.close() : d?.showModal(); },
};
hear("keydown", e => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); ($("#note[open] form") || $("#decide"))?.requestSubmit(); return; }
  if (e.key === "Escape" && e.target.closest("#decide")) { $("#main").focus(); return; }
  if (e.key === "Escape" && e.target.id === "find") { e.target.value = ""; filter(); e.target.blur(); return; }
  if (e.metaKey || e.ctrlKey || e.altKey || e.target.closest("input:not([type=radio]),textarea,select,#note")) return;
  const named = $(`[data-key="${CSS.escape(e.key)}"]`), act = keysOf[e.key]; // a choice or a screen, else a key of its own
  if (named || act) e.preventDefault();
  if (named?.type === "radio") { named.checked = true; named.focus(); preview(); } else if (named) named.click(); else act?.();
});

try { await admit(); } catch (e) { /* it is said below */ }
await load(true);
if (bearer) follow();
