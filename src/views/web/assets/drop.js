// A file is opened as soon as it is chosen, or dropped anywhere on the page.
"use strict";

const form = document.getElementById("drop"), field = form.elements.file;
field.addEventListener("change", () => { if (field.files.length) form.requestSubmit(); });
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    form.classList.toggle("over", type === "dragover");
    if (type !== "drop" || !event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}
