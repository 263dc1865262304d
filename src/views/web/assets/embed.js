// One board: the game that is asked for, or the games that are played, one after the other.

const { game: only, rotate } = byId("stage").dataset;
const REST = 8000;
const games = new Map();
const shown = { number: only === undefined ? -1 : Number(only), since: Date.now(), dirty: true };

let resetting = false;

const take = (json) => games.set(json.number, Object.assign(readGame(json, false), { endedAt: json.end ? Date.now() : null }));

// A game that has ended stays for a while; a rotation goes on while others are played.
function choose() {
  if (only !== undefined) return;
  const game = games.get(shown.number), now = Date.now();
  const stays = game?.end ? now - game.endedAt < REST : game && !(rotate && now - shown.since > 1000 * rotate);
  if (stays) return;
  const playing = [...games.values()].filter((other) => !other.end).map((other) => other.number).sort((a, b) => a - b);
  const next = playing.find((number) => number > shown.number) ?? playing[0];
  if (next === undefined) return;
  Object.assign(shown, { number: next, since: now, dirty: true });
  for (const [number, other] of games) if (other.end && number !== next) games.delete(number);
}

function player(place, game, color) {
  const left = clock(game, color);
  place.classList.toggle("turn", left.runs);
  place.classList.toggle("low", Boolean(left.low));
  place.replaceChildren();
  put(place, "span", "name", `${"☗☖"[color]} ${game.names[color]}`);
  put(place, "span", "clock", left.words);
}

function facts(game) {
  if (game.end) return `${label(game)} · ${endWords(game)}`;
  const value = game.ply?.score ?? game.last[1 - game.board.turn]?.score ?? game.last[game.board.turn]?.score ?? null;
  const last = game.ply ? `${game.ply.told?.p ?? game.count} ${spelled(game.ply.before, game.ply.move, false)}` : "";
  return [label(game), last, labelled(value)].filter(Boolean).join(" · ");
}

function paint() {
  choose();
  const game = games.get(shown.number);
  if (!game) {
    byId("facts").textContent = resetting ? "" : say("no game is running", "対局はありません");
    return;
  }
  if (shown.dirty) byId("board").replaceChildren(drawBoard(game.board, { flipped: false, letters: false }));
  shown.dirty = false;
  player(byId("above"), game, 1);
  player(byId("below"), game, 0);
  byId("facts").textContent = facts(game);
}

function news(items) {
  for (const item of items) {
    const game = games.get(item.g);
    if (item.k === "s") take(item.game);
    else if (item.k === "m" && game && !addMove(game, item)) { reset(); return; }
    else if (item.k === "e" && game) Object.assign(game, { end: item, endedAt: Date.now() });
    else if (item.k === "x") for (const known of [...games.values()]) if (known.machine && (item.g ?? known.number) === known.number) games.delete(known.number);
    if (item.g === shown.number || item.game?.number === shown.number) shown.dirty = true;
  }
}

async function reset() {
  if (resetting) return;
  resetting = true;
  try {
    const path = only === undefined ? "/api/now" : `/api/games/${only}`;
    const answer = await fetch(`${base}${path}`).catch(() => null);
    if (answer?.ok) {
      const told = await answer.json();
      games.clear();
      (told.games ?? [told]).forEach(take);
      shown.dirty = true;
    }
  } finally { resetting = false; }
}

if (only === undefined) state.games.forEach(take);
else reset();
setInterval(paint, 200);
paint();
follow(only === undefined ? "" : `&game=${only}`, { news, reset });
