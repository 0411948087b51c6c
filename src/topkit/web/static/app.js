// Forms that speak to the API: data-method and data-url say where, data-next where to go afterwards.
"use strict";

const csrf = document.body.dataset.csrf;

function say(text, bad) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("bad", Boolean(bad));
  status.classList.add("shown");
}

async function callApi(method, url, body) {
  const headers = { "X-CSRF-Token": csrf };
  const files = body instanceof FormData;
  if (body !== undefined && !files) headers["Content-Type"] = "application/json";
  return fetch(url, {
    method,
    headers,
    body: body === undefined || files ? body : JSON.stringify(body),
    credentials: "same-origin",
    cache: "no-store",
  });
}

function valueOf(field) {
  const kind = field.dataset.type || field.type;
  if (kind === "int" || kind === "number" || kind === "list") return Number(field.value);
  if (kind === "bool") return field.value !== "";
  return field.value;
}

function bodyOf(form) {
  if ("files" in form.dataset) {
    const data = new FormData(form);
    for (const [name, value] of [...data]) if (value === "") data.delete(name);
    return data;
  }
  const outer = {};
  const inner = {};
  for (const field of form.elements) {
    if (!field.name || ((field.type === "checkbox" || field.type === "radio") && !field.checked)) continue;
    const target = form.dataset.wrap && !("outer" in field.dataset) ? inner : outer;
    if (field.dataset.type === "list") (target[field.name] ||= []).push(valueOf(field));
    else target[field.name] = valueOf(field);
  }
  if (form.dataset.wrap) outer[form.dataset.wrap] = [inner];
  return Object.keys(outer).length ? outer : undefined;
}

async function submit(form) {
  const button = form.querySelector("button");
  button.disabled = true;
  say("Working …");
  try {
    const response = await callApi(form.dataset.method, form.dataset.url, bodyOf(form));
    const reply = await response.json().catch(() => ({}));
    if (!response.ok) {
      say(reply.detail || "The server answered with an error (" + response.status + ").", true);
      return;
    }
    sessionStorage.setItem("said", reply.message || "Done.");
    const next = form.dataset.next;
    if (next) location.assign(next.replace("{id}", reply.id));
    else location.reload();
  } catch {
    say("The server cannot be reached. Nothing was changed; try again.", true);
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.url) return;
  event.preventDefault();
  submit(event.target);
});

for (const link of document.querySelectorAll("input.link")) link.addEventListener("focus", () => link.select());

const said = sessionStorage.getItem("said");
if (said && said !== "Done.") say(said);
sessionStorage.removeItem("said");
