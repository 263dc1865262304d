// Options of an engine that have some letters in their names.
"use strict";

const filter = document.querySelector("[data-filter]"), rows = document.querySelectorAll(".option");
if (filter) {
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const sought = filter.value.toLowerCase();
    for (const row of rows) row.hidden = !row.dataset.name.toLowerCase().includes(sought);
  });
}
