// Times in the viewer's own zone.
for (const element of document.querySelectorAll("time[datetime]")) {
  const at = new Date(element.dateTime);
  if (!Number.isNaN(at.getTime())) element.textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}
