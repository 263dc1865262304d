//! CSA files, 2.2 and 3.0, and the dialects of servers and old programs.

use std::fmt::Write;
use std::ops::ControlFlow;

use referee::legality::foul;
use rsshogi::board::{Position, STARTPOS_SFEN};
use rsshogi::records::{TimeControl, parse_csa_time_control};
use rsshogi::types::{Color, Move};

use super::clock::{self, milliseconds};
use super::ending::contradiction;
use super::replay::{Replay, can_play, line_of};
use super::{Each, Ending, Flaw, GameRecord, RecordFault, within_bound};
use crate::csa::{PositionBlock, move_from_csa, move_to_csa, position_lines, squares};

/// Comments with data of programs: server settings, ratings, the final board.
const MACHINE: [&str; 14] = [
    "CSA encoding=",
    "encoding=",
    "rating:",
    "black_rate:",
    "white_rate:",
    "Max_Moves:",
    "Least_Time_Per_Move:",
    "Increment:",
    "buoy game",
    "ILLEGAL_MOVE(",
    "Deferred",
    "P+",
    "P-",
    "$",
];

/// Games are separated by lines `/`.
pub(super) fn read(lines: &mut dyn Iterator<Item = String>, each: &mut Each<'_>) -> ControlFlow<()> {
    let mut lines = (1..).zip(lines).peekable();
    while let Some(&(first, _)) = lines.peek() {
        let (mut reader, mut last, mut size) = (Ok(Reader::default()), first - 1, 0);
        for (at, line) in lines.by_ref().take_while(|(_, line)| line.trim() != "/") {
            (last, size) = (at, size + line.len() + 1);
            // What is left of a faulty game is passed over.
            let read = reader.as_mut().map_or(Ok(()), |reader: &mut Reader| {
                within_bound(size, at).and_then(|()| reader.line(line.trim_end(), at))
            });
            if let Err(fault) = read {
                reader = Err(fault);
            }
        }
        if let Some(read) = reader.and_then(|reader| reader.finish(last)).transpose() {
            each(first, read)?;
        }
    }
    ControlFlow::Continue(())
}

/// Reads one game. Statements may come in any sensible order; some files have headers after the moves.
#[derive(Default)]
struct Reader {
    header: GameRecord,
    block: PositionBlock,
    /// True once the lines hold a game: a trailing comment does not count.
    begun: bool,
    replay: Option<Replay>,
    /// True if the rest of the game is left out.
    is_cut: bool,
}

impl Reader {
    fn line(&mut self, line: &str, at: usize) -> Result<(), RecordFault> {
        if let Some(comment) = line.strip_prefix('\'') {
            return self.comment(comment);
        }
        let line = line.trim_start();
        self.begun |= !line.is_empty();
        if let Some(word) = line.strip_prefix('#') {
            return self.announced(word, at);
        }
        // Headers of 81Dojo: the side to move, and what it knows of the players.
        if ["To_Move:", "I+", "I-"].iter().any(|header| line.starts_with(header)) {
            return Ok(());
        }
        if let Some(header) = line.strip_prefix('$') {
            self.header_line(header);
            return Ok(());
        }
        for (prefix, color) in [("N+", Color::BLACK), ("N-", Color::WHITE)] {
            if let Some(name) = line.strip_prefix(prefix) {
                self.name(color, name);
                return Ok(());
            }
        }
        let mut rest = line;
        while !rest.is_empty() {
            // A comment may follow the statements, and may contain commas.
            let (statement, next) =
                if rest.starts_with('\'') { (rest, "") } else { rest.split_once(',').unwrap_or((rest, "")) };
            self.statement(statement.trim(), at)?;
            rest = next;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &str, at: usize) -> Result<(), RecordFault> {
        let broken =
            |why, foul| RecordFault { line: at, what: Flaw::Statement(why, statement.to_owned(), foul) };
        let fault = |why| broken(why, None);
        match statement.as_bytes() {
            [b'+' | b'-' | b'T' | b'%', ..] if self.is_cut => Ok(()),
            [] | [b'V', ..] | [b'v', b'=', ..] => Ok(()),
            [b'\'', ..] => self.comment(&statement[1..]),
            [b'P', ..] if self.replay.is_some() => Err(fault("position line after the start")),
            [b'P', ..] => self.block.line(statement).map_err(fault),
            [b'+' | b'-'] => self.start(if statement == "-" { Color::WHITE } else { Color::BLACK }, at),
            [b'+' | b'-', ..] => {
                let replay = self.replay(at)?;
                let position = replay.position();
                let mv = move_from_csa(position, statement);
                if matches!(replay.ending(), Some(Ending::Unknown(word)) if word == "MATTA") {
                    return self.after_take_back(mv, at);
                }
                let mv = mv.ok_or_else(|| {
                    broken("no such move here", squares(statement).and_then(|mv| foul(position, mv)))
                })?;
                replay.push(mv, at)
            }
            [b'T', ..] => {
                let spent = milliseconds(&statement[1..]).ok_or_else(|| fault("no time"))?;
                let replay = self.replay(at)?;
                if replay.is_untimed() {
                    replay.spend(spent);
                    return Ok(());
                }
                Err(fault("time without a move before it; perhaps the move stands in a comment"))
            }
            [b'%', ..] => {
                let replay = self.replay(at)?;
                let ending = Ending::from_csa(&statement[1..], replay.position().turn());
                replay.end(ending)
            }
            _ => Err(fault("unknown statement")),
        }
    }

    /// Goes on behind a `%MATTA` with a move that is possible there. The format does not say how many moves were taken back:
    /// where the move is not possible, the rest of the game is left out.
    fn after_take_back(&mut self, mv: Option<Move>, at: usize) -> Result<(), RecordFault> {
        let replay = self.replay(at)?;
        let legal = mv.filter(|mv| can_play(replay.position(), *mv));
        let read = if legal.is_some() { "the game goes on from there" } else { "the rest is left out" };
        replay.doubt(format!("a move is taken back (`%MATTA`) after move {}: {read}", replay.len()));
        match legal {
            Some(mv) => {
                replay.reopen();
                replay.push(mv, at)?;
            }
            None => self.is_cut = true,
        }
        Ok(())
    }

    /// A line such as `#ILLEGAL_MOVE` or `#SENTE_WIN`, with which a server announces the end of a game.
    fn announced(&mut self, word: &str, at: usize) -> Result<(), RecordFault> {
        let replay = self.replay(at)?;
        let turn = replay.position().turn();
        let announced = match word.trim() {
            "SENTE_WIN" => Ending::Won { by: Color::BLACK },
            "GOTE_WIN" => Ending::Won { by: Color::WHITE },
            "DRAW" => Ending::Draw,
            "RESIGN" => Ending::Resign,
            word => Ending::from_csa(word, turn),
        };
        match replay.ending() {
            None => return replay.end(announced),
            Some(ending)
                if !matches!(announced, Ending::Unknown(_))
                    && ending.winner(turn) != announced.winner(turn) =>
            {
                let doubt = contradiction(ending, &announced, turn);
                replay.doubt(doubt);
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, turn: Color, at: usize) -> Result<(), RecordFault> {
        if self.replay.is_some() {
            return Err(RecordFault::new(at, "a second start"));
        }
        let position =
            std::mem::take(&mut self.block).finish(turn).map_err(|reason| RecordFault::new(at, reason))?;
        self.replay = Some(Replay::new(position, std::mem::take(&mut self.header)));
        Ok(())
    }

    // Some files leave out the line that names the side to move.
    fn replay(&mut self, at: usize) -> Result<&mut Replay, RecordFault> {
        if self.replay.is_none() {
            self.start(Color::BLACK, at)?;
        }
        self.replay.as_mut().ok_or_else(|| RecordFault::new(at, "no start position"))
    }

    fn record(&mut self) -> &mut GameRecord {
        self.replay.as_mut().map_or(&mut self.header, |replay| &mut replay.record)
    }

    fn name(&mut self, color: Color, name: &str) {
        let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        let record = self.record();
        *(if color == Color::BLACK { &mut record.black } else { &mut record.white }) = name;
    }

    fn header_line(&mut self, header: &str) {
        let Some((key, value)) = header.split_once(':') else { return };
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        let record = self.record();
        match key.trim() {
            "EVENT" => record.event = Some(value.to_owned()),
            "SITE" => record.site = Some(value.to_owned()),
            "START_TIME" => record.started = Some(value.to_owned()),
            "END_TIME" => record.ended = Some(value.to_owned()),
            // `TIMET` is the spelling in the text of CSA 3.0.
            key @ ("TIME_LIMIT" | "TIME" | "TIMET" | "TIME+" | "TIMET+" | "TIME-" | "TIMET-") => {
                let side = match key.as_bytes().last() {
                    Some(b'+') => Some(Color::BLACK),
                    Some(b'-') => Some(Color::WHITE),
                    _ => None,
                };
                let control = parse_csa_time_control(value).map(|control| control.to_spec());
                clock::set(record, side, control.as_deref().unwrap_or(value));
            }
            "NOTE" => {
                unescaped(value).lines().for_each(|line| super::replay::add_line(&mut record.comment, line))
            }
            _ => {}
        }
    }

    fn comment(&mut self, comment: &str) -> Result<(), RecordFault> {
        if let Some(analysis) = comment.strip_prefix("**") {
            self.analysis(analysis.trim());
            return Ok(());
        }
        if let Some(text) = comment.strip_prefix('*') {
            self.text(text.strip_prefix(' ').filter(|rest| is_starred(rest)).unwrap_or(text));
            return Ok(());
        }
        if let Some(replay) = &mut self.replay {
            if let Some(summary) = comment.strip_prefix("summary:") {
                return summed(replay, summary);
            }
            if let Some(time) = comment.strip_prefix("$END_TIME:") {
                replay.record.ended = Some(time.trim().to_owned());
            }
        }
        // As `header` writes clocks that no key of the format can hold.
        if let (None, Some(words)) = (&self.replay, comment.strip_prefix(CLOCKS)) {
            self.header.time_control.get_or_insert_with(|| words.trim().to_owned());
            return Ok(());
        }
        let final_board = matches!(comment.as_bytes(), [b'P', b'1'..=b'9', ..] | [b'+' | b'-']);
        if !final_board && !MACHINE.iter().any(|prefix| comment.starts_with(prefix)) {
            self.text(comment);
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        match &mut self.replay {
            Some(replay) => replay.comment(text.trim_end()),
            None => super::replay::add_line(&mut self.header.comment, text.trim_end()),
        }
    }

    /// `SCORE PV.. #NODES` as on floodgate, or ShogiHome's `評価値=SCORE` and `読み筋=PV`.
    fn analysis(&mut self, text: &str) {
        let Some(replay) = &mut self.replay else { return };
        if super::kif::analysis(replay, text) {
            return;
        }
        let mut words = text.split_whitespace().take_while(|word| !word.starts_with('#')).peekable();
        let Some(score) = words.next().and_then(|word| word.parse().ok()) else {
            return replay.comment(&format!("*{text}"));
        };
        replay.score(score);
        // Some programs begin the line with the move just played.
        if words.peek().and_then(|word| Move::from_usi(word)) == replay.last_move() {
            words.next();
        }
        let pv = line_of(replay.position(), words, |position, word| {
            move_from_csa(position, word)
                .or_else(|| Move::from_usi(word).filter(|mv| can_play(position, *mv)))
        });
        replay.expect(pv);
    }

    fn finish(mut self, at: usize) -> Result<Option<GameRecord>, RecordFault> {
        if !self.begun {
            return Ok(None);
        }
        self.replay(at)?;
        self.replay.map(Replay::finish).transpose()
    }
}

/// Compares the summary of a server with the ending so far: the summary is the ruling, and a sign such as `%KACHI` may be
/// what a player claimed.
fn summed(replay: &mut Replay, summary: &str) -> Result<(), RecordFault> {
    let names = [&replay.record.black, &replay.record.white].map(|name| name.as_deref().unwrap_or_default());
    let turn = replay.position().turn();
    let Some(ruling) = Ending::from_summary(summary, names, turn) else { return Ok(()) };
    let Some(sign) = replay.ending() else { return replay.end(ruling) };
    if *sign == ruling {
        return Ok(());
    }
    let (refined, agreed) = (ruling.refines(sign), sign.winner(turn) == ruling.winner(turn));
    // A summary may give the winner alone.
    let consistent = refined || agreed && matches!(ruling, Ending::Won { .. });
    let doubt = (!consistent).then(|| contradiction(sign, &ruling, turn));
    doubt.into_iter().for_each(|doubt| replay.doubt(doubt));
    if refined || !agreed {
        replay.end_anew(ruling);
    }
    Ok(())
}

fn unescaped(note: &str) -> String {
    note.replace("\\\\", "\u{0}").replace("\\n", "\n").replace('\u{0}', "\\")
}

pub(super) fn write(record: &GameRecord, v3: bool) -> Result<String, RecordFault> {
    let mut out = header(record, v3);
    let mut moves = String::new();
    let last = record.replayed(|position, index, ply| {
        if index == 0 {
            out.push_str(&start(record, position));
        }
        moves.push_str(&ply_lines(position, ply, v3));
    })?;
    if record.plies.is_empty() {
        out.push_str(&start(record, &last));
    }
    out.push_str(&moves);
    if let Some(ending) = &record.ending {
        out.push_str(&ending_lines(record, ending, last.turn(), v3));
    }
    Ok(out)
}

/// The comment that names clocks which no key of the format can hold.
const CLOCKS: &str = "clocks: ";

fn header(record: &GameRecord, v3: bool) -> String {
    let mut out = String::from(if v3 { "'CSA encoding=UTF-8\nV3.0\n" } else { "V2.2\n" });
    let mut line = |key: &str, value: &Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(out, "{key}{}", value.replace(['\n', '\r'], " "));
        }
    };
    line("N+", &record.black);
    line("N-", &record.white);
    line("$EVENT:", &record.event);
    line("$SITE:", &record.site);
    line("$START_TIME:", &record.started);
    line("$END_TIME:", &record.ended);
    let Some(words) = &record.time_control else { return out };
    let sides = clock::sides(words);
    let clocks = sides.map(|clock| clock.and_then(TimeControl::from_spec));
    match clocks {
        // No key of the format holds fractions of a second, or a limit that is no time.
        _ if sides.map(|clock| clock.is_some()) != clocks.map(|clock| clock.is_some()) => {
            line(&format!("'{CLOCKS}"), &record.time_control);
        }
        [Some(control), white] if white == Some(control) => {
            let (hours, minutes) = (control.base_seconds() / 3600, control.base_seconds() / 60 % 60);
            // CSA 2.2 has only whole minutes and byoyomi; other controls use the newer key.
            if v3 || control.increment_seconds() > 0 || control.base_seconds() % 60 > 0 {
                line("$TIME:", &Some(control.to_spec()));
            } else {
                let limit = format!("{hours:02}:{minutes:02}+{:02}", control.byoyomi_seconds());
                line("$TIME_LIMIT:", &Some(limit));
            }
        }
        [black, white] => {
            line("$TIME+:", &black.map(|control| control.to_spec()));
            line("$TIME-:", &white.map(|control| control.to_spec()));
        }
    }
    out
}

fn start(record: &GameRecord, position: &Position) -> String {
    let board = if record.start == STARTPOS_SFEN { "PI\n+\n".to_owned() } else { position_lines(position) };
    board + &comment_lines(&record.comment)
}

/// A second asterisk would make a comment the note of an engine: a blank stands before it, which the reader removes.
fn comment_lines(comment: &str) -> String {
    let line = |line: &str| format!("'*{}{line}\n", if is_starred(line) { " " } else { "" });
    comment.lines().map(line).collect()
}

fn is_starred(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with('*')
}

fn time_line(time_ms: u32, v3: bool) -> String {
    match time_ms % 1000 {
        part if v3 && part > 0 => format!("T{}.{part:03}\n", time_ms / 1000),
        _ => format!("T{}\n", time_ms / 1000),
    }
}

fn ply_lines(position: &Position, ply: &super::Ply, v3: bool) -> String {
    let mut out = move_to_csa(position, ply.mv).unwrap_or_default() + "\n";
    out.extend(ply.time_ms.map(|time_ms| time_line(time_ms, v3)));
    if let Some(score) = ply.score {
        let _ = write!(out, "'** {score}");
        let mut position = position.clone();
        super::replay::play(&mut position, ply.mv);
        for &mv in &ply.pv {
            let Some(text) = move_to_csa(&position, mv).filter(|_| super::replay::play(&mut position, mv))
            else {
                break;
            };
            let _ = write!(out, " {text}");
        }
        out.push('\n');
    }
    out + &comment_lines(&ply.comment)
}

fn ending_lines(record: &GameRecord, ending: &Ending, to_move: Color, v3: bool) -> String {
    let Some(word) = ending.to_csa(to_move) else { return comment_lines(&record.ending_comment) };
    let mut out = format!("%{word}\n");
    out.extend(record.ending_time_ms.map(|time_ms| time_line(time_ms, v3)));
    // CSA has no word for perpetual check and for a refused declaration. They are written as a foul, with the reason in
    // the comment that shogi-server uses.
    let reason = match ending {
        Ending::PerpetualCheck { by } => Some(("oute_sennichite", by)),
        Ending::IllegalDeclaration { by } => Some(("illegal kachi", by)),
        _ => None,
    };
    if let Some((reason, by)) = reason {
        let (black, white) = if *by == Color::BLACK { ("lose", "win") } else { ("win", "lose") };
        let name = |name: &Option<String>| name.as_ref().map_or(String::new(), |name| name.replace(':', " "));
        let (sente, gote) = (name(&record.black), name(&record.white));
        let _ = writeln!(out, "'summary:{reason}:{sente} {black}:{gote} {white}");
    }
    out + &comment_lines(&record.ending_comment)
}
