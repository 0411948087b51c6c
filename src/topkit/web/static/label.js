// The two labelling tools. A judgment stays in the browser until the server confirms that it is saved. Each has a
// random key, so sending it again (after a lost connection, a reload or a double click) never counts it twice.
"use strict";

const tool = document.getElementById("tool");
const labelling = tool.dataset.labelling;
const pairs = tool.dataset.tool === "pairs";
const api = `/api/labellings/${labelling}`;
const byId = (id) => document.getElementById(id);
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
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function showNotice(text) {
  const notice = byId("notice");
  notice.textContent = text;
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
        showNotice(response.ok ? "" : reply.message);
        busy = false;
        show(reply.turn);
        showStatus(response.ok && reply.outcome === "saved" ? describe(reply.turn) : reply.message);
        return;
      }
    } else if (response && [401, 403].includes(response.status)) {
      showNotice("You are no longer signed in. Your judgment is kept in this browser: sign in and open this page again.");
      return;
    } else if (response && response.status < 500 && response.status !== 429) {
      const reply = await response.json().catch(() => ({}));
      drop(request);
      showNotice(reply.detail || "The judgment was not accepted.");
      busy = false;
      await loadTurn();
      return;
    }
    showNotice("The connection is lost. Your judgment is kept and will be sent again.");
    await wait(Math.min(10000, 500 * 2 ** tries));
  }
}

// -- display --------------------------------------------------------------------------------------------------
function describe(now) {
  if (now.question === null) return "Saved. This topic is complete.";
  const { a, b } = now.question;
  const names = b ? `left ${a.title || a.key}, right ${b.title || b.key}` : a.title || a.key;
  return `Saved. Question ${now.asked + 1}: ${names}`;
}

function showDocument(side, shown) {
  const container = byId(`frame-${side}`);
  const name = byId(`title-${side}`);
  name.textContent = shown.title || shown.key;
  name.classList.toggle("unseen", shown.kind === "text" && shown.title !== ""); // the frame shows the title itself
  if (container.dataset.document === String(shown.id)) return; // the document stays on its side
  container.dataset.document = shown.id;
  const frame = document.createElement("iframe"); // a new one each time, so that documents do not enter the history
  frame.setAttribute("sandbox", "");
  frame.setAttribute("referrerpolicy", "no-referrer");
  frame.title = `Document ${side === "a" && pairs ? "on the left" : side === "b" ? "on the right" : ""}: ${shown.title || shown.key}`;
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
  if (now.question === null) return `${now.asked} ${now.asked === 1 ? "judgment" : "judgments"}`;
  const left = Math.max(1, Math.round(now.likely));
  const range = now.least === now.most ? "" : ` (${now.least} to ${now.most})`;
  const minutes = now.seconds === null || now.asked < 3 ? null : (left * now.seconds) / 60;
  const time = minutes === null ? "" : minutes < 1 ? ", less than a minute" : `, about ${Math.round(minutes)} min`;
  return `${now.asked} judged, about ${left} left${range}${time}`;
}

function show(now) {
  const same = turn !== null && turn.seq === now.seq;
  turn = now;
  const open = now.question !== null;
  byId("documents").hidden = !open || clock.stopped;
  byId("paused").hidden = !(open && clock.stopped);
  byId("done").hidden = open;
  for (const group of document.querySelectorAll(".choices, [data-do=pause], .clock")) group.hidden = !open;
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
        showNotice(reply.detail || "Cannot show this labelling.");
        return;
      }
    } catch {
      // no connection: try again
    }
    showNotice("The connection is lost. Trying again …");
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
  byId("pause-word").textContent = clock.stopped ? "Continue" : "Stop the clock";
  document.querySelector("[data-do=pause]").setAttribute("aria-pressed", String(clock.stopped));
  byId("documents").hidden = clock.stopped;
  byId("paused").hidden = !clock.stopped;
  lock();
  showStatus(clock.stopped ? "The clock is stopped." : "The clock is running.");
}

function setBad(on) {
  badNext = on;
  tool.classList.toggle("marking-bad", on);
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input, textarea, select, summary, a")) return;
  const key = event.key.toLowerCase();
  const onButton = event.target.closest("button");
  if (key === " " && !(onButton && !onButton.disabled)) toggleClock();
  else if (key === "u") undo();
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
