// Reads records with ShogiHome's own loader, and says what it found: node loader.mjs MODULES FILE... prints a line of
// JSON for each file.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const { importCSA, importKIF, importJKFString, Move, getBlackPlayerName, getWhitePlayerName } =
  createRequire(`${modules}/`)("tsshogi");
const read = { csa: importCSA, kifu: importKIF, jkf: importJKFString };

for (const file of files) {
  const record = read[file.split(".").at(-1)](readFileSync(file, "utf8"));
  if (record instanceof Error) {
    console.log(JSON.stringify({ file, error: record.message }));
    continue;
  }
  const nodes = record.moves.slice(1);
  const moves = nodes.filter((node) => node.move instanceof Move);
  const end = nodes.find((node) => !(node.move instanceof Move));
  console.log(JSON.stringify({
    file,
    start: record.initialPosition.sfen,
    names: [getBlackPlayerName(record.metadata), getWhitePlayerName(record.metadata)],
    moves: moves.map((node) => node.move.usi),
    ms: moves.map((node) => node.elapsedMs),
    comments: nodes.map((node) => node.comment),
    ending: end ? (end.move.name ?? end.move.type) : null,
  }));
}
