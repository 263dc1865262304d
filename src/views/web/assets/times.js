// Times in the viewer's own zone.
for (const element of document.querySelectorAll("time[datetime]")) {
  const at = new Date(element.dateTime);
  if (!Number.isNaN(at.getTime())) element.textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}
// The viewer's own zone, for a time in a form.
for (const input of document.querySelectorAll("input[name=offset]")) {
  const minutes = -new Date().getTimezoneOffset(), two = (number) => String(Math.trunc(Math.abs(number))).padStart(2, "0");
  input.value = `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
