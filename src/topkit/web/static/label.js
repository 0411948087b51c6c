// The two tools. A judgment is kept in the browser until the server says that it is safe, and has a key of its
// own, so that sending it again (after a lost connection, a reload, a double click) can never count it twice.
"use strict";

const tool = document.getElementById("tool");
const labelling = tool.dataset.labelling;
const pairs = tool.dataset.tool === "pairs";
const api = `/api/labellings/${labelling}`;
const part = (id) => document.getElementById(id);
const GRADES = ["bad", "fair", "good", "excellent", "perfect"];

let turn = null; // where the labelling stands, as the server says
let busy = true; // a judgment is on its way
let badNext = false; // B was pressed: the next arrow says which is bad

// -- the clock: only time in which the page is seen and the clock is not stopped ------------------------------
const clock = {
  total: 0,
  since: null,
  stopped: false,
  runs() {
    return !this.stopped && document.visibilityState === "visible" && turn !== null && turn.question !== null;
  },
  update() {
    const now = performance.now();
    if (this.since !== null) this.total += now - this.since;
    this.since = this.runs() ? now : null;
    part("clock").textContent = Math.floor(this.total / 1000);
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

// -- what waits to be saved -----------------------------------------------------------------------------------
const box = `topkit-outbox-${tool.dataset.person}-${labelling}`;
function waiting() {
  try {
    return JSON.parse(localStorage.getItem(box)) || {};
  } catch {
    return {};
  }
}
function keep(entry) {
  store({ ...waiting(), [entry.body.key]: entry });
}
function drop(entry) {
  const all = waiting();
  delete all[entry.body.key];
  store(all);
}
function store(all) {
  try {
    localStorage.setItem(box, JSON.stringify(all));
  } catch {
    // a browser that keeps nothing: the judgment is held by this page only
  }
}
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function notice(text) {
  const place = part("notice");
  place.textContent = text;
  place.hidden = !text;
}

async function send(entry) {
  busy = true;
  lock();
  keep(entry);
  for (let tries = 0; ; tries += 1) {
    let response = null;
    try {
      response = await callApi("POST", `${api}/${entry.path}`, entry.body);
    } catch {
      response = null; // no connection
    }
    if (response && (response.ok || response.status === 409)) {
      const reply = await response.json().catch(() => null);
      if (reply !== null) {
        drop(entry);
        notice(response.ok ? "" : reply.message);
        busy = false;
        show(reply.turn);
        say(response.ok && reply.outcome === "saved" ? told(reply.turn) : reply.message);
        return;
      }
    } else if (response && [401, 403].includes(response.status)) {
      notice("You are no longer signed in. Your judgment is kept here: sign in and come back to this page.");
      return;
    } else if (response && response.status < 500 && response.status !== 429) {
      const reply = await response.json().catch(() => ({}));
      drop(entry);
      notice(reply.detail || "The judgment was not taken.");
      busy = false;
      await look();
      return;
    }
    notice("The connection is lost. Your judgment is kept and will be sent again.");
    await pause(Math.min(10000, 500 * 2 ** tries));
  }
}

// -- showing --------------------------------------------------------------------------------------------------
function told(now) {
  if (now.question === null) return "Saved. This topic is done.";
  const { a, b } = now.question;
  const names = b ? `left ${a.title || a.key}, right ${b.title || b.key}` : a.title || a.key;
  return `Saved. Question ${now.asked + 1}: ${names}`;
}

function frame(side, shown) {
  const place = part(`frame-${side}`);
  const name = part(`title-${side}`);
  name.textContent = shown.title || shown.key;
  name.classList.toggle("unseen", shown.kind === "text" && shown.title !== ""); // the frame shows it, marked
  if (place.dataset.document === String(shown.id)) return; // the document stays on its side
  place.dataset.document = shown.id;
  const made = document.createElement("iframe"); // a new one each time: the back button must not step through
  made.setAttribute("sandbox", "");
  made.setAttribute("referrerpolicy", "no-referrer");
  made.title = `Document ${side === "a" && pairs ? "on the left" : side === "b" ? "on the right" : ""}: ${shown.title || shown.key}`;
  made.src = `${api}/documents/${shown.id}`;
  place.replaceChildren(made);
}

function lock() {
  for (const button of document.querySelectorAll("[data-answer], [data-do=undo]")) {
    const undo = button.dataset.do === "undo";
    button.disabled = busy || clock.stopped || (undo ? !turn || turn.asked === 0 : !turn || turn.question === null);
  }
}

function estimate(now) {
  if (now.question === null) return `${now.asked} judgments`;
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
  part("documents").hidden = !open || clock.stopped;
  part("paused").hidden = !(open && clock.stopped);
  part("done").hidden = open;
  for (const group of document.querySelectorAll(".choices, [data-do=pause], .clock")) group.hidden = !open;
  if (open) {
    frame("a", now.question.a);
    if (now.question.b) frame("b", now.question.b);
  } else {
    part("result").replaceChildren(
      ...now.result.map((one) => {
        const item = document.createElement("li");
        item.value = one.place;
        item.textContent = one.title || one.key;
        return item;
      }),
    );
  }
  part("bar").value = now.asked / Math.max(1, now.asked + now.likely);
  part("left").textContent = estimate(now);
  tool.dataset.seq = now.seq;
  setBad(false);
  lock();
  if (!same) clock.restart();
  clock.update();
}

async function look() {
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
        notice(reply.detail || "This labelling cannot be shown.");
        return;
      }
    } catch {
      // no connection: try again
    }
    notice("The connection is lost. Trying again …");
    await pause(Math.min(10000, 500 * 2 ** tries));
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

function stopOrGo() {
  if (!turn || !turn.question) return;
  clock.update();
  clock.stopped = !clock.stopped;
  clock.update();
  part("pause-word").textContent = clock.stopped ? "Go on" : "Stop the clock";
  document.querySelector("[data-do=pause]").setAttribute("aria-pressed", String(clock.stopped));
  part("documents").hidden = clock.stopped;
  part("paused").hidden = !clock.stopped;
  lock();
  say(clock.stopped ? "The clock is stopped." : "The clock runs.");
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
  if (key === " " && !(onButton && !onButton.disabled)) stopOrGo();
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
    if (event.detail > 0) button.blur(); // by mouse or touch: Space is for the clock again
    answer(button.dataset.answer);
  });
}
document.querySelector("[data-do=undo]").addEventListener("click", undo);
document.querySelector("[data-do=pause]").addEventListener("click", stopOrGo);

// A click into a document takes the keys away from the page. Give them back, unless somebody came by Tab to read.
let byTab = false;
document.addEventListener("keydown", (event) => (byTab = event.key === "Tab"), true);
document.addEventListener("pointerdown", () => (byTab = false), true);
window.addEventListener("blur", () => {
  setTimeout(() => {
    if (!byTab && document.activeElement && document.activeElement.tagName === "IFRAME") part("main").focus();
  }, 0);
});

// The back button may bring back an old picture of the page: ask where we are.
window.addEventListener("pageshow", (event) => {
  if (event.persisted && !busy) look();
});

(async function begin() {
  const kept = Object.values(waiting()).sort((one, other) => one.body.seq - other.body.seq);
  await look();
  for (const entry of kept) await send(entry);
})();
