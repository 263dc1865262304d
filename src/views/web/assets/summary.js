// What the fields of a form make, told anew after each change.
"use strict";

const form = document.getElementById("event"), place = document.getElementById("summary");
let asked = 0;

async function tell() {
  const mine = (asked += 1);
  const answer = await fetch(place.dataset.from, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => null);
  const words = answer?.ok ? await answer.text() : null;
  // A later change has a later answer.
  if (words === null || mine !== asked) return;
  place.innerHTML = words;
  document.dispatchEvent(new Event("again"));
}

tell();
let waits;
form.addEventListener("input", () => {
  clearTimeout(waits);
  waits = setTimeout(tell, 300);
});
