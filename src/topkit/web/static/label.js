// The two labelling tools. A judgment stays in the browser until the server confirms that it is saved. Each has a
// random key, so sending it again (after a lost connection, a reload or a double click) never counts it twice.
"use strict";

const tool = document.getElementById("tool");
const labelling = tool.dataset.labelling;
const pairs = tool.dataset.tool === "pairs";
const api = `/api/labellings/${labelling}`;
const byId = (id) => document.getElementById(id);
const WHILE_OPEN = "[data-do=pause], [data-do=flag], [data-do=comment], [data-answer=skip]";
const GRADES = ["bad", "fair", "good", "excellent", "perfect"];

let turn = null; // the current turn, as the server sent it
let busy = true; // a judgment is being sent
let badNext = false; // B was pressed: the next arrow key marks that document as bad

// -- the clock counts only while the page is visible and the clock is not stopped -----------------------------
const clock = {
  total: 0,
  since: null,
  stopped: false,
  isRunning() {
    return !this.stopped && document.visibilityState === "visible" && turn !== null && turn.question !== null;
  },
  update() {
    const now = performance.now();
    if (this.since !== null) this.total += now - this.since;
    this.since = this.isRunning() ? now : null;
    byId("clock").textContent = Math.floor(this.total / 1000);
  },
  restart() {
    this.total = 0;
    this.since = null;
    this.update();
  },
  seconds() {
    this.update();
    return Math.round(this.total) / 1000;
  },
};
document.addEventListener("visibilitychange", () => clock.update());
setInterval(() => clock.update(), 500);

// -- judgments that are not saved yet -------------------------------------------------------------------------
const outbox = `topkit-outbox-${tool.dataset.person}-${labelling}`;
function unsaved() {
  try {
    return JSON.parse(localStorage.getItem(outbox)) || {};
  } catch {
    return {};
  }
}
function keep(request) {
  store({ ...unsaved(), [request.body.key]: request });
}
function drop(request) {
  const requests = unsaved();
  delete requests[request.body.key];
  store(requests);
}
function store(requests) {
  try {
    localStorage.setItem(outbox, JSON.stringify(requests));
  } catch {
    // no storage in this browser: only this page has the judgment
  }
}
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
// The sign-in form, which leads back to this question.
const signIn = () => `${root}/login?next=${encodeURIComponent(location.pathname.slice(root.length))}`;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function showNotice(text, link) {
  const notice = byId("notice");
  notice.textContent = text;
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link.href;
    anchor.textContent = link.text;
    notice.append(" ", anchor);
  }
  notice.hidden = !text;
}

async function send(request) {
  busy = true;
  lock();
  keep(request);
  for (let tries = 0; ; tries += 1) {
    let response = null;
    try {
      response = await callApi("POST", `${api}/${request.path}`, request.body);
    } catch {
      response = null; // no connection
    }
    if (response && (response.ok || response.status === 409)) {
      const reply = await response.json().catch(() => null);
      if (reply !== null) {
        drop(request);
        showNotice(response.ok ? "" : _(reply.message));
        busy = false;
        show(reply.turn);
        if (response.ok && reply.outcome === "saved" && request.path === "answers") suggest(request.body);
        showStatus(response.ok && reply.outcome === "saved" ? describe(reply.turn) : reply.message);
        return;
      }
    } else if (response && [401, 403].includes(response.status)) {
      showNotice(_("You are no longer signed in. Your judgment is kept in this browser."), {
        href: signIn(),
        text: _("Sign in and continue with this question"),
      });
      return;
    } else if (response && response.status < 500 && response.status !== 429) {
      const reply = await response.json().catch(() => ({}));
      drop(request);
      showNotice(_(reply.detail || "The judgment was not accepted."));
      busy = false;
      await loadTurn();
      return;
    }
    showNotice(
      response === null
        ? _("The connection is lost. Your judgment is kept and will be sent again.")
        : _("The server reports an error ({status}). Your judgment is kept and will be sent again.", { status: response.status }),
    );
    await wait(Math.min(10000, 500 * 2 ** tries));
  }
}

// -- display --------------------------------------------------------------------------------------------------
function describe(now) {
  if (now.question === null) return _("Saved. This topic is complete.");
  const { a, b } = now.question;
  const [left, right] = [a, b].map((shown) => shown && (shown.title || shown.key));
  const names = b ? _("left {left}, right {right}", { left, right }) : left;
  return _("Saved. Question {number}: {names}", { number: now.asked + 1, names });
}

function showDocument(side, shown) {
  const container = byId(`frame-${side}`);
  const name = byId(`title-${side}`);
  name.textContent = shown.title || shown.key;
  name.classList.toggle("unseen", !["html", "url"].includes(shown.kind) && shown.title !== ""); // shown in the frame
  if (container.dataset.document === String(shown.id)) return; // the document stays on its side
  container.dataset.document = shown.id;
  const frame = document.createElement("iframe"); // a new one each time, so that documents do not enter the history
  // No scripts. The same origin lets this page scroll the document and receive its keys; not for other sites.
  const links = "allow-popups allow-popups-to-escape-sandbox";
  frame.setAttribute("sandbox", shown.kind === "url" ? links : `allow-same-origin ${links}`);
  frame.setAttribute("referrerpolicy", "no-referrer");
  const place = !pairs ? _("Document: {name}") : side === "a" ? _("Document on the left: {name}") : _("Document on the right: {name}");
  frame.title = place.replace("{name}", () => shown.title || shown.key);
  frame.addEventListener("load", () => listen(frame));
  frame.src = `${root}${api}/documents/${shown.id}`;
  container.replaceChildren(frame);
}

function lock() {
  for (const button of document.querySelectorAll("[data-answer], [data-do=undo]")) {
    const undo = button.dataset.do === "undo";
    button.disabled = busy || clock.stopped || (undo ? !turn || turn.asked === 0 : !turn || turn.question === null);
  }
}

function estimate(now) {
  if (now.question === null) return now.asked === 1 ? _("1 judgment") : _("{count} judgments", { count: now.asked });
  const left = Math.max(1, Math.round(now.likely));
  const range = now.least === now.most ? "" : ` (${_("{least} to {most}", now)})`;
  const minutes = now.seconds === null || now.asked < 3 ? null : (left * now.seconds) / 60;
  const time =
    minutes === null ? "" : minutes < 1 ? _(", less than a minute") : _(", about {minutes} min", { minutes: Math.round(minutes) });
  return _("{asked} judged, about {left} left", { asked: now.asked, left }) + range + time;
}

function show(now) {
  const same = turn !== null && turn.seq === now.seq;
  turn = now;
  const open = now.question !== null;
  byId("documents").hidden = !open || clock.stopped;
  byId("paused").hidden = !(open && clock.stopped);
  byId("done").hidden = open;
  for (const group of document.querySelectorAll(".choices, .clock, " + WHILE_OPEN)) group.hidden = !open;
  if (open) {
    showDocument("a", now.question.a);
    if (now.question.b) showDocument("b", now.question.b);
  } else {
    byId("result").replaceChildren(
      ...now.result.map((placed) => {
        const item = document.createElement("li");
        item.value = placed.place;
        item.textContent = placed.title || placed.key;
        return item;
      }),
    );
  }
  byId("bar").value = now.asked / Math.max(1, now.asked + now.likely);
  byId("left").textContent = estimate(now);
  tool.dataset.seq = now.seq;
  setBad(false);
  lock();
  if (!same) clock.restart();
  clock.update();
}

async function loadTurn() {
  for (let tries = 0; ; tries += 1) {
    try {
      const response = await callApi("GET", api);
      if (response.ok) {
        busy = false;
        show(await response.json());
        return;
      }
      if (response.status < 500) {
        const reply = await response.json().catch(() => ({}));
        if (response.status === 401) location.assign(signIn());
        showNotice(_(reply.detail || "Cannot show this labelling."));
        return;
      }
      showNotice(_("The server reports an error ({status}). Trying again …", { status: response.status }));
    } catch {
      showNotice(_("The connection is lost. Trying again …"));
    }
    await wait(Math.min(10000, 500 * 2 ** tries));
  }
}

// -- answering ------------------------------------------------------------------------------------------------
function answer(choice) {
  if (busy || clock.stopped || !turn || !turn.question) return;
  const { a, b } = turn.question;
  const body = { seq: turn.seq + 1, key: newKey(), a: a.key, b: b ? b.key : null, answer: choice };
  send({ path: "answers", body: { ...body, seconds: Math.min(86400, clock.seconds()) } });
}

function undo() {
  if (busy || clock.stopped || !turn || turn.asked === 0) return;
  send({ path: "undo", body: { seq: turn.seq + 1, key: newKey() } });
}

function toggleClock() {
  if (!turn || !turn.question) return;
  clock.update();
  clock.stopped = !clock.stopped;
  clock.update();
  byId("pause-word").textContent = clock.stopped ? _("Continue") : _("Stop the clock");
  document.querySelector("[data-do=pause]").setAttribute("aria-pressed", String(clock.stopped));
  byId("documents").hidden = clock.stopped;
  byId("paused").hidden = !clock.stopped;
  lock();
  showStatus(clock.stopped ? _("The clock is stopped.") : _("The clock is running."));
}

// -- remarks, guidelines, scrolling ---------------------------------------------------------------------------
async function remark(flagged, text) {
  if (!turn || !turn.question) return;
  const { a, b } = turn.question;
  const body = { a: a.key, b: b ? b.key : null, flagged, text };
  try {
    const response = await callApi("POST", `${api}/remarks`, body);
    const reply = await response.json().catch(() => ({}));
    showNotice(_(reply.message || reply.detail || "The remark was not saved."));
  } catch {
    showNotice(_("The connection is lost. The remark was not saved; try again."));
  }
}

function openComment() {
  if (turn && turn.question) byId("remark").showModal();
}
byId("remark").addEventListener("close", () => {
  const text = byId("remark-text").value.trim();
  const flagged = byId("remark-flag").checked;
  if (byId("remark").returnValue === "send" && (text || flagged)) remark(flagged, text);
  if (byId("remark").returnValue === "send") byId("remark-text").value = "";
  byId("remark-flag").checked = false;
});

// What a model says about the question that was just answered, if the project shows that; never before the answer.
async function suggest({ a, b, answer: given }) {
  if (!("suggests" in tool.dataset) || !b || given === "skip") return;
  const response = await callApi("GET", `${api}/suggestion?${new URLSearchParams({ a, b })}`).catch(() => null);
  const said = response && response.ok ? await response.json() : null;
  if (!said) return;
  const side = said.prefers === null ? _("about the same") : said.prefers === a ? _("left is better") : _("right is better");
  showNotice(_("The model {name} says about the last question: {side}. Undo (U) if you change your mind.", { name: said.model, side }));
}

function showGuide(open) {
  const guide = byId("guide");
  if (!guide) return;
  guide.hidden = !open;
  document.querySelector("[data-do=guide]").setAttribute("aria-expanded", String(open));
}
function toggleGuide() {
  if (!byId("guide")) return;
  showGuide(byId("guide").hidden);
  try {
    localStorage.setItem("topkit-guide", byId("guide").hidden ? "" : "open");
  } catch {
    // no storage in this browser: the next page starts without the guidelines
  }
}
try {
  showGuide(localStorage.getItem("topkit-guide") === "open");
} catch {
  showGuide(false);
}

function scroll(side, direction) {
  const frame = document.querySelector(`#frame-${side} iframe`);
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  const view = frame && frame.contentDocument && frame.contentWindow; // null for a page of another site
  if (view) view.scrollBy({ top: direction * 0.9 * view.innerHeight, behavior });
}

// Keys that are pressed inside a document answer the question too. The document has no scripts of its own.
function listen(frame) {
  if (frame.contentDocument) frame.contentDocument.addEventListener("keydown", onKey);
}

function setBad(on) {
  badNext = on;
  tool.classList.toggle("marking-bad", on);
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input, textarea, select, summary, a[href], dialog")) return;
  const key = event.key.toLowerCase();
  const inFrame = event.target.ownerDocument !== document;
  const onButton = event.target.closest("button");
  if (inFrame && [" ", "arrowdown", "arrowup", "pagedown", "pageup", "home", "end"].includes(key)) return; // scrolls
  if (key === " " && !(onButton && !onButton.disabled)) toggleClock();
  else if (key === "u") undo();
  else if (key === "s") answer("skip");
  else if (key === "f") remark(true, "");
  else if (key === "c") openComment();
  else if (key === "g") toggleGuide();
  else if (key === "?") byId("keys").showModal();
  else if (key === "pagedown" || key === "pageup") scroll(event.shiftKey && pairs ? "b" : "a", key === "pagedown" ? 1 : -1);
  else if (pairs && key === "b") setBad(!badNext);
  else if (pairs && key === "arrowleft") answer(badNext ? "bad-a" : "a");
  else if (pairs && key === "arrowright") answer(badNext ? "bad-b" : "b");
  else if (pairs && key === "arrowdown") answer("tie");
  else if (!pairs && ["1", "2", "3", "4", "5"].includes(key)) answer(GRADES[Number(key) - 1]);
  else return;
  event.preventDefault();
}
document.addEventListener("keydown", onKey);

for (const button of document.querySelectorAll("[data-answer]")) {
  button.addEventListener("click", (event) => {
    if (event.detail > 0) button.blur(); // clicked by mouse or touch: Space controls the clock again
    answer(button.dataset.answer);
  });
}
document.querySelector("[data-do=undo]").addEventListener("click", undo);
document.querySelector("[data-do=flag]").addEventListener("click", () => remark(true, ""));
document.querySelector("[data-do=comment]").addEventListener("click", openComment);
document.querySelector("[data-do=keys]").addEventListener("click", () => byId("keys").showModal());
document.querySelector("[data-do=guide]")?.addEventListener("click", toggleGuide);
document.querySelector("[data-do=pause]").addEventListener("click", toggleClock);

// A click into a document moves the keyboard focus there. Move it back, unless the person used Tab to get there.
let byTab = false;
document.addEventListener("keydown", (event) => (byTab = event.key === "Tab"), true);
document.addEventListener("pointerdown", () => (byTab = false), true);
window.addEventListener("blur", () => {
  setTimeout(() => {
    if (!byTab && document.activeElement && document.activeElement.tagName === "IFRAME") byId("main").focus();
  }, 0);
});

// The back button may show an old copy of the page: load the current turn.
window.addEventListener("pageshow", (event) => {
  if (event.persisted && !busy) loadTurn();
});

(async function start() {
  const requests = Object.values(unsaved()).sort((first, second) => first.body.seq - second.body.seq);
  await loadTurn();
  for (const request of requests) await send(request);
})();
