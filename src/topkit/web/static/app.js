// Forms that call the API: data-method and data-url name the request, data-next the page to open afterwards.
"use strict";

const csrf = document.body.dataset.csrf;
const root = document.body.dataset.root; // the path of the app on its host, "" if it has the host for itself
const words = JSON.parse(document.getElementById("words").textContent);

// The translation of a message, with its values: _("{count} left", { count: 3 }). English if there is none.
function _(text, values = {}) {
  return (words[text] || text).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

function showStatus(text, isError) {
  const status = document.getElementById("status");
  status.textContent = _(text);
  status.classList.toggle("bad", Boolean(isError));
  status.classList.add("shown");
}

async function callApi(method, url, body) {
  const headers = { "X-CSRF-Token": csrf };
  const hasFiles = body instanceof FormData;
  if (body !== undefined && !hasFiles) headers["Content-Type"] = "application/json";
  return fetch(root + url, {
    method,
    headers,
    body: body === undefined || hasFiles ? body : JSON.stringify(body),
    credentials: "same-origin",
    cache: "no-store",
  });
}

function valueOf(field) {
  const kind = field.dataset.type || field.type;
  if (kind === "int" || kind === "number" || kind === "list") return Number(field.value);
  if (kind === "bool") return field.value !== "";
  if (kind === "optional") return field.value.trim() || null;
  return field.value;
}

function bodyOf(form, submitter) {
  if ("files" in form.dataset) {
    const data = new FormData(form);
    for (const [name, value] of [...data]) if (value === "") data.delete(name);
    return data;
  }
  const outer = {};
  const inner = {};
  for (const field of form.elements) {
    if (!field.name || field.name === "csrf" || (field.tagName === "BUTTON" && field !== submitter) || ((field.type === "checkbox" || field.type === "radio") && !field.checked)) continue;
    const target = form.dataset.wrap && !("outer" in field.dataset) ? inner : outer;
    if (["list", "words"].includes(field.dataset.type)) (target[field.name] ||= []).push(valueOf(field));
    else target[field.name] = valueOf(field);
  }
  if (form.dataset.wrap) outer[form.dataset.wrap] = [inner];
  return Object.keys(outer).length ? outer : undefined;
}

async function submit(form, submitter) {
  const button = submitter || form.querySelector("button");
  const body = bodyOf(form, submitter);
  button.disabled = true;
  showStatus(_("Working …"));
  try {
    const response = await callApi(form.dataset.method, form.dataset.url, body);
    const reply = await response.json().catch(() => ({}));
    if (!response.ok) {
      showStatus(reply.detail || _("The server returned an error ({status}).", { status: response.status }), true);
      return;
    }
    if ("keep" in form.dataset) {
      showStatus(reply.message); // it is shown only once, so the page stays
      return;
    }
    sessionStorage.setItem("message", reply.message || "");
    const next = form.dataset.next;
    if (next) location.assign(root + next.replace("{id}", reply.id));
    else location.reload();
  } catch {
    showStatus(_("Cannot reach the server. Nothing was changed; try again."), true);
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.url) return;
  event.preventDefault();
  submit(event.target, event.submitter);
});

// In a narrow window the rows of a table are shown as blocks. Then each cell needs its heading, and the roles that
// browsers drop when the display of a table changes.
for (const table of document.querySelectorAll(".scroll table:not(.matrix)")) {
  const heads = [...table.querySelectorAll("thead th")];
  table.setAttribute("role", "table");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, i) => {
      cell.setAttribute("role", cell.tagName === "TD" ? "cell" : "columnheader");
      const head = heads[i];
      if (cell.tagName === "TD" && head && !head.querySelector(".unseen")) cell.dataset.label = head.textContent.trim();
    });
  }
}

for (const link of document.querySelectorAll("input.link")) link.addEventListener("focus", () => link.select());

const message = sessionStorage.getItem("message");
if (message) showStatus(message);
sessionStorage.removeItem("message");
