// The stream of what happens, and games as the stream tells them.

const state = JSON.parse(byId("state").textContent);
// The path that the pages of this event are below.
const base = document.documentElement.dataset.base ?? "";

// The server's time: its clock may differ from this one.
const time = { ahead: state.now - Date.now() };
const serverNow = () => Date.now() + time.ahead;

// The expected line of a move: engines print other words among the moves.
function expected(line) {
  const words = (line ?? "").split(" ");
  const end = words.findIndex((word) => !/^([1-9][a-i][1-9][a-i]\+?|[PLNSBRG]\*[1-9][a-i])$/.test(word));
  return usiMoves(words.slice(0, end < 0 ? 20 : Math.min(end, 20)).join(" "));
}

// Plies of a mate whose length is unknown.
const UNKNOWN = 2147483647;

// A game: `all` keeps the board of each ply.
function readGame(json, all) {
  const game = { ...json, all, boards: [readBoard(json.start)], plies: [], count: 0, at: json.started, last: [null, null] };
  game.board = game.boards[0];
  usiMoves(json.opening).forEach((move) => addPly(game, move, null));
  json.moves.forEach((ply) => addMove(game, ply));
  return game;
}

// What a game is called: its number, or the machine that plays it.
const label = (game) => game.machine ?? `#${game.number}`;

function addPly(game, move, told) {
  const before = game.board;
  const ply = { move, before, color: before.turn, score: null, time: null, depth: null, line: [], told };
  if (told) {
    ply.time = told.c;
    ply.depth = told.d ?? null;
    if (told.s !== undefined) ply.score = told.x === undefined ? { cp: told.s } : { cp: told.s, mate: Math.abs(told.x) < UNKNOWN ? Math.abs(told.x) : Infinity };
    ply.line = expected(told.pv);
    game.last[before.turn] = ply;
    game.at = told.at;
  }
  game.board = moved(before, move);
  game.count += 1;
  game.ply = ply;
  if (game.all) {
    game.boards.push(game.board);
    game.plies.push(ply);
  }
  return ply;
}

// Adds a move of the stream; false if one before it is missing. One that is known already changes nothing.
function addMove(game, told) {
  if (game.first === undefined) game.first = told.p - game.count;
  if (told.p < game.first + game.count) return true;
  if (told.p > game.first + game.count) return false;
  addPly(game, usiMove(told.m), told);
  return true;
}

// Takes what the judge says of a position.
function addJudged(game, { p, s }) {
  game.judged = [...(game.judged ?? []).filter(([ply]) => ply !== p), [p, s]].sort((a, b) => a[0] - b[0]);
}

// What a side's clock shows now, and whether it runs.
function clock(game, color) {
  const rule = game.clocks[color], own = game.last[color]?.told;
  const runs = !game.end && game.board.turn === color;
  const passed = runs ? Math.max(0, serverNow() - game.at) : 0;
  if (rule.fixed) return { words: clockWords(runs ? Math.max(0, rule.fixed - passed) : rule.fixed), runs };
  if (rule.main + rule.byoyomi + rule.increment === 0) return { words: runs ? clockWords(passed) : "", runs };
  const left = (own ? own.l : rule.main) - passed;
  if (left > 0 || !rule.byoyomi) return { words: clockWords(Math.max(0, left)), runs, low: runs && left + rule.byoyomi < 10000 };
  const byoyomi = Math.max(0, rule.byoyomi + Math.min(0, left));
  return { words: clockWords(byoyomi), runs, byoyomi: true, low: runs && byoyomi < 5000 };
}

function clockWords(ms) {
  const seconds = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, "0");
  if (ms < 10000) return `0:0${(Math.floor(ms / 100) / 10).toFixed(1)}`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const CAUSES = state.causes ?? {};
const causeWords = (cause) => CAUSES[cause] ?? cause;

function endWords(game) {
  const { result, cause } = game.end;
  if (result === "draw") return say(`drawn: ${causeWords(cause)}`, `引き分け（${causeWords(cause)}）`);
  if (result === "none") return say(`does not count: ${causeWords(cause)}`, `無効（${causeWords(cause)}）`);
  const winner = `${result === "black" ? "☗" : "☖"} ${game.names[result === "black" ? 0 : 1]}`;
  return say(`${winner} won: ${causeWords(cause)}`, `${winner} の勝ち（${causeWords(cause)}）`);
}

// Times in the viewer's own zone.
function showTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (!Number.isNaN(at.getTime())) element.textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  }
}
showTimes(document);

// The head of the event as a newer page has it: its state, and the orders that it allows; not while somebody looks at these.
function renewHead(page) {
  const shown = document.querySelector(".masthead"), fresh = page.querySelector(".masthead");
  if (shown && fresh && !shown.querySelector("details[open]")) shown.replaceWith(fresh);
}

// Follows the stream from an id on. The browser itself returns after a break and says what it has seen.
const link = { source: null, seen: state.since };

function follow(query, on) {
  const source = new EventSource(`${base}/events?since=${link.seen}${query}`);
  link.source = source;
  const told = (text) => { const place = byId("link"); if (place) place.textContent = text; };
  source.addEventListener("open", () => told(""));
  source.addEventListener("news", (event) => {
    const news = JSON.parse(event.data);
    link.seen = event.lastEventId;
    time.ahead = news.now - Date.now();
    on.news(news.items);
  });
  source.addEventListener("reset", (event) => {
    link.seen = event.lastEventId;
    on.reset();
  });
  source.addEventListener("error", () => {
    told(say("not connected; trying again", "接続が切れました。再接続中"));
    // After a refusal the browser gives up; with a place free again there is more to see.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => follow(query, on), 4000 + 4000 * Math.random());
  });
}
