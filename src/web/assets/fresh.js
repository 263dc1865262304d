// A page whose content is taken anew when something ends: at most every three seconds.

let waiting = false;
async function refresh() {
  waiting = false;
  // Without an answer the page stays as it is; the stream says that it is not connected.
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const content = page.getElementById("fresh");
  if (!content) return;
  showTimes(content);
  byId("fresh").replaceWith(content);
}

follow("", {
  news: (items) => {
    if (waiting || !items.some((item) => item.k === "e" || item.k === "o")) return;
    waiting = true;
    setTimeout(refresh, 3000);
  },
  reset: refresh,
});
