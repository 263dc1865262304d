//! Reading a Game_Summary.

use super::{Span, Standing, Summary, SummaryError, TimeBlock, TimeUnit, Times};
use crate::csa::PositionBlock;
use referee::Color;
use std::{fmt, str::FromStr};

impl FromStr for Summary {
    type Err = SummaryError;

    /// Reads the lines of a block; lines before `BEGIN Game_Summary` and after its end are ignored.
    fn from_str(text: &str) -> Result<Self, SummaryError> {
        let mut reader = Reader::default();
        // Some servers end lines with more than one carriage return.
        let lines = text.lines().map(|line| line.trim_end_matches('\r'));
        let begun = lines.skip_while(|line| *line != "BEGIN Game_Summary").skip(1);
        for line in begun.take_while(|line| *line != "END Game_Summary") {
            reader.line(line)?;
        }
        reader.finish()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Block {
    #[default]
    Head,
    /// For both sides, or for one.
    Time(Option<Color>),
    Position,
}

#[derive(Default)]
struct Reader {
    block: Block,
    /// The lines so far, but for what follows.
    summary: Summary,
    to_move: Option<Color>,
    same: Option<TimeBlock>,
    each: [Option<TimeBlock>; 2],
    position: PositionBlock,
    turn: Option<Color>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), SummaryError> {
        match (line, self.block) {
            ("BEGIN Time", _) => self.block = Block::Time(None),
            ("BEGIN Time+", _) => self.block = Block::Time(Some(Color::Black)),
            ("BEGIN Time-", _) => self.block = Block::Time(Some(Color::White)),
            ("BEGIN Position", _) => self.block = Block::Position,
            _ if line.starts_with("END ") => self.block = Block::Head,
            (_, Block::Head) => self.head(line).ok_or_else(|| unreadable(line))?,
            (_, Block::Time(side)) => self.time(side, line).ok_or_else(|| unreadable(line))?,
            (_, Block::Position) => self.board(line)?,
        }
        Ok(())
    }

    fn head(&mut self, line: &str) -> Option<()> {
        let known = &mut self.summary;
        let text = |value: &str| Some(value.to_owned());
        match line.split_once(':') {
            Some(("Protocol_Version", value)) => value.clone_into(&mut known.version),
            Some(("Protocol_Mode", value)) => known.mode = text(value),
            Some(("Format", value)) => value.clone_into(&mut known.format),
            Some(("Declaration", value)) => known.declaration = text(value),
            Some(("Game_ID", value)) => known.game_id = text(value),
            Some(("Name+", value)) => value.clone_into(&mut known.names[0]),
            Some(("Name-", value)) => value.clone_into(&mut known.names[1]),
            Some(("Your_Turn", value)) => known.your_turn = Some(side(value)?),
            Some(("Rematch_On_Draw", value)) => known.rematch_on_draw = Some(yes_or_no(value)?),
            Some(("To_Move", value)) => self.to_move = Some(side(value)?),
            Some(("Max_Moves", value)) => known.max_moves = Some(value.parse().ok()?),
            _ => known.others.push(line.to_owned()),
        }
        Some(())
    }

    fn time(&mut self, side: Option<Color>, line: &str) -> Option<()> {
        let block = match side {
            None => self.same.get_or_insert_default(),
            Some(color) => self.each[color.index()].get_or_insert_default(),
        };
        let (key, value) = line.split_once(':')?;
        let number = || value.parse::<u64>().ok();
        match key {
            "Time_Unit" => block.unit = Some(value.parse().ok()?),
            "Total_Time" => block.total = Some(number()?),
            "Byoyomi" => block.byoyomi = Some(number()?),
            "Increment" => block.increment = Some(number()?),
            "Delay" => block.delay = Some(number()?),
            "Least_Time_Per_Move" => block.least = Some(number()?),
            "Time_Roundup" => block.roundup = Some(yes_or_no(value)?),
            _ => {
                let standing = block.standing.get_or_insert_with(Standing::default);
                match key {
                    "Remaining_Time+" => standing.remaining[0] = number()?,
                    "Remaining_Time-" => standing.remaining[1] = number()?,
                    "Last_Move" => value.clone_into(&mut standing.last_move),
                    "Current_Turn" => standing.current_turn = value.parse().ok()?,
                    _ => return None,
                }
            }
        }
        Some(())
    }

    fn board(&mut self, line: &str) -> Result<(), SummaryError> {
        match (line, line.as_bytes()) {
            ("+" | "-", _) => self.turn = side(line),
            (_, [b'P', ..]) => self.position.line(line).map_err(SummaryError::Position)?,
            (_, [b'+' | b'-', ..]) => self.summary.moves.push(match line.split_once(",T") {
                Some((mv, rest)) => {
                    let time = rest.split_once(',').map_or(rest, |(time, _comment)| time);
                    (mv.to_owned(), Some(time.parse().map_err(|_| unreadable(line))?))
                }
                None => (line.to_owned(), None),
            }),
            _ => return Err(unreadable(line)),
        }
        Ok(())
    }

    fn finish(self) -> Result<Summary, SummaryError> {
        let Summary { version, format, names: [black, white], .. } = &self.summary;
        let required =
            [("Protocol_Version", version), ("Format", format), ("Name+", black), ("Name-", white)];
        if let Some((what, _)) = required.into_iter().find(|(_, value)| value.is_empty()) {
            return Err(SummaryError::Missing(what));
        }
        let to_move = self.to_move.ok_or(SummaryError::Missing("To_Move"))?;
        let turn = self.turn.unwrap_or(to_move);
        let start = self.position.finish(turn.into()).map_err(SummaryError::Position)?;
        let times = match (self.same, self.each) {
            (Some(block), _) => Times::Same(block),
            (None, [None, None]) => Times::Unlimited,
            (None, each) => Times::Each(Box::new(each.map(Option::unwrap_or_default))),
        };
        Ok(Summary { to_move, times, start: start.to_sfen(Some(1)), ..self.summary })
    }
}

impl FromStr for TimeUnit {
    type Err = SummaryError;

    fn from_str(text: &str) -> Result<Self, SummaryError> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (count, span) = text.split_at(digits);
        let of = match span {
            "msec" => Span::Msec,
            "sec" => Span::Sec,
            "min" => Span::Min,
            _ => return Err(unreadable(text)),
        };
        let count = if count.is_empty() { 1 } else { count.parse().map_err(|_| unreadable(text))? };
        Ok(Self { count, of })
    }
}

fn side(text: &str) -> Option<Color> {
    match text {
        "+" => Some(Color::Black),
        "-" => Some(Color::White),
        _ => None,
    }
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "YES" => Some(true),
        "NO" => Some(false),
        _ => None,
    }
}

fn unreadable(line: impl fmt::Display) -> SummaryError {
    SummaryError::Line(line.to_string())
}
