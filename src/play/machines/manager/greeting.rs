//! The hello of a worker: whether its machine may play, and with which clocks.

use super::{Act, Manager, Sender, dropped_words};
use crate::{
    Moment,
    messages::{self, Hello, NAME, Terms, Welcome},
    scaling::Judged,
};
use arena::desk::DeskNote;
use referee::{clock::Scale, number::number, sink::SideRecord};
use serde::Deserialize;

/// What every version of a hello has: another version may have other fields.
#[derive(Deserialize)]
struct Version {
    protocol: u32,
    #[serde(default)]
    build: String,
    #[serde(default)]
    session: u64,
}

impl Manager {
    /// The answer to a hello, and the start of the worker that it is for.
    pub(super) fn hello(&mut self, now: Moment, from: &Sender, payload: &[u8]) -> (u64, Welcome) {
        let mut hello = match read(payload) {
            Ok(hello) => hello,
            Err(why) => {
                let why = format!("this hello cannot be read: {why}");
                return (0, Welcome::Refused { why, for_good: true });
            }
        };
        let claimed = std::mem::replace(&mut hello.name, from.name.clone());
        let worker = from.id.as_str();
        let welcome = self.welcome(now, worker, &hello);
        if hello.name != claimed && matches!(welcome, Welcome::Come(_)) && !claimed.is_empty() {
            let claimed = notation::clipped(&claimed, NAME);
            let text =
                format!("it calls itself `{claimed}`: a machine has the name that its key was let in with");
            self.fault(worker, None, &text);
        }
        (hello.session, welcome)
    }

    fn welcome(&mut self, now: Moment, worker: &str, hello: &Hello) -> Welcome {
        if let Some(reason) = self.dropped.get(&hello.name) {
            return Welcome::Refused { why: dropped_words(reason), for_good: true };
        }
        let is_ours = hello.ready && hello.protocol == messages::PROTOCOL;
        let judged =
            if is_ours { self.event.scaling.judge(hello.speed.as_ref()).map(Some) } else { Ok(None) };
        let (verdicts, missing) = match self.registry.hello(now.steady, now.wall, worker, hello) {
            Ok(known) => known,
            Err(refusal) => return Welcome::Refused { why: refusal.why, for_good: refusal.for_good },
        };
        self.lost(missing);
        match judged {
            Ok(judged) => judged.into_iter().for_each(|judged| self.comes(now, worker, hello, judged)),
            Err(why) => {
                let lost = self.registry.back(worker, &hello.holding.held, true);
                self.lost(lost);
                let why = format!("does not play: {why}");
                self.fault(worker, None, &format!("it {why}"));
                return Welcome::Refused { why: format!("this machine {why}"), for_good: true };
            }
        }
        let verdicts = self.with_boards(worker, verdicts);
        Welcome::Come(Box::new(Terms { epoch: self.epoch(), verdicts, ..self.event.terms.clone() }))
    }

    /// A machine can play.
    fn comes(&mut self, now: Moment, worker: &str, hello: &Hello, judged: Judged) {
        let Judged { scale, warning, is_reference } = judged;
        self.registry.set_scale(worker, scale);
        if let Some(speed) = hello.speed.as_ref().filter(|_| is_reference) {
            let json = serde_json::to_string(speed).unwrap_or_default();
            self.act(Act::Keep(SideRecord::Reference(json)));
        }
        let (slots, cores) = (number(hello.slots, "slot"), number(hello.cores, "core"));
        let clocks = match (scale, is_reference) {
            (_, true) => "; the clocks of other machines are scaled by its speed".to_owned(),
            (Scale::ONE, _) => String::new(),
            (scale, _) => format!("; its clocks are {scale} times those of the plan"),
        };
        if let Some(more) = self.budgets.arrival(now.steady, worker) {
            self.say(format!("machine `{}` is here: {slots}, {cores}{clocks}{more}", hello.name));
        }
        warning.into_iter().for_each(|warning| self.fault(worker, None, &warning));
        self.words(worker, &hello.words);
        self.note(DeskNote::Free);
    }
}

/// A hello; of one of another version only what says so.
fn read(payload: &[u8]) -> serde_json::Result<Hello> {
    let why = match serde_json::from_slice(payload) {
        Ok(hello) => return Ok(hello),
        Err(why) => why,
    };
    let version = serde_json::from_slice::<Version>(payload);
    let Some(Version { protocol, build, session }) =
        version.ok().filter(|version| version.protocol != messages::PROTOCOL)
    else {
        return Err(why);
    };
    let (name, holding) = (String::new(), Default::default());
    Ok(Hello {
        protocol,
        build,
        session,
        name,
        slots: 1,
        cores: 1,
        speed: None,
        ready: false,
        words: vec![],
        holding,
    })
}
