// Times in the viewer's own zone.
function zone() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (!Number.isNaN(at.getTime())) element.textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  }
}
zone();
document.addEventListener("again", zone);
// The viewer's own zone at the time in a form, which may lie behind a change of summer time.
for (const input of document.querySelectorAll("input[name=offset]")) input.form.addEventListener("submit", () => {
  if (input.form.elements.until.value === input.form.elements.until.defaultValue) return;
  const minutes = -new Date(input.form.elements.until.value).getTimezoneOffset(), two = (number) => String(Math.trunc(Math.abs(number))).padStart(2, "0");
  input.value = `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
});
