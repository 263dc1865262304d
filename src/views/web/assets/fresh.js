// A page whose content is taken anew when a game begins or ends, or the operator did something: at most every three
// seconds, and not while a dialog is open, in which somebody may be typing.

let waiting = false;
async function refresh() {
  if (document.querySelector("#fresh :popover-open")) return void setTimeout(refresh, 3000);
  waiting = false;
  // Without an answer the page stays as it is; the stream says that it is not connected.
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const content = page.getElementById("fresh");
  if (!content) return;
  showTimes(content);
  renewHead(page);
  if (!document.querySelector("#fresh :popover-open")) byId("fresh").replaceWith(content);
}

follow("", {
  news: (items) => {
    if (waiting || !items.some((item) => "seo".includes(item.k))) return;
    waiting = true;
    setTimeout(refresh, 3000);
  },
  reset: refresh,
});
