// The state of projects at a glance: cards on the start page, and the live dashboard of one project.
"use strict";

const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)} %`);

function showGlance(card, state) {
  const values = {
    percent: share(state.share),
    labellings: `${state.complete} / ${state.labellings}`,
    today: state.today,
    people: `${state.people_today} / ${state.people}`,
    agreement: share(state.agreement),
    hours: state.hours_left === null ? "–" : `${state.hours_left.toFixed(1)} h`,
    end: state.end || "–",
  };
  for (const [name, value] of Object.entries(values)) {
    const place = card.querySelector(`[data-value=${name}]`);
    if (place) place.textContent = value;
  }
  card.querySelector("[data-value=share]").value = state.share;
}

const live = document.getElementById("live");
if (live) {
  const source = new EventSource(root + live.dataset.url);
  source.addEventListener("glance", (event) => {
    showGlance(live, JSON.parse(event.data));
    live.dataset.updates = Number(live.dataset.updates || 0) + 1;
  });
  addEventListener("pagehide", () => source.close());
}

(async function fillCards() {
  for (const card of document.querySelectorAll("[data-glance]")) {
    try {
      const response = await fetch(root + card.dataset.glance, { credentials: "same-origin", cache: "no-store" });
      if (response.ok) showGlance(card, await response.json());
    } catch {
      return; // no connection: the cards stay as they are
    }
  }
})();
