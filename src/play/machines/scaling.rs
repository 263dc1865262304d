//! Clocks for machines that are not equally fast: each has the time that its engines need for the nodes that the reference
//! searches in the time of the plan.

use arena::speed::Speed;
use referee::clock::Scale;

/// A machine whose measures differ by more is named, as a share of their mean.
const UNSTEADY: f64 = 0.10;
/// A machine whose measures differ by more does not play.
const TOO_UNSTEADY: f64 = 0.30;
/// What to do about a machine that cannot have clocks.
const WAYS: &str = "limit the engines by nodes (`time = \"nodes N\"`), which are the same everywhere; or give all machines \
     the clocks of the plan (`renmei run --equal-clocks`)";

/// How the clocks of an event are scaled.
#[derive(Clone, Debug, Default)]
pub struct Scaling {
    /// True if they are.
    pub is_on: bool,
    /// The speed that they are compared with; the first machine that is measured has it.
    pub reference: Option<Speed>,
}

/// What the clocks of a machine are.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// By how much they are longer than those of the plan.
    pub scale: Scale,
    /// What people should know of it.
    pub warning: Option<String>,
    /// True if this machine is the reference from now on.
    pub is_reference: bool,
}

/// Why a machine cannot have clocks of the event.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoClocks {
    /// It was not measured.
    #[error("it has not reported its speed")]
    NoSpeed,
    /// Its speed comes and goes: by how much, as a share of the mean.
    #[error("its speed differs by {} % from one look to the next, and by {} % at most may it: end what else runs there, or give it fewer `--slots`; {WAYS}", (.0 * 100.0).round(), TOO_UNSTEADY * 100.0)]
    Unsteady(f64),
    /// Its clocks would be too long or too short.
    #[error("it searches {} thousand nodes per second and the reference {}: its clocks would be {} times those of the plan, and they may be {} to {} times; {WAYS}",
        thousands(*own), thousands(*reference), rounded(*ratio), Scale::MIN, Scale::MAX)]
    Beyond {
        /// Its nodes per second.
        own: f64,
        /// Those of the reference.
        reference: f64,
        /// The scale that it needs.
        ratio: f64,
    },
}

impl Scaling {
    /// The clocks of a machine of that speed.
    ///
    /// # Errors
    /// Why it cannot play, with the figure.
    pub fn judge(&mut self, speed: Option<&Speed>) -> Result<Judged, NoClocks> {
        let plain = |warning| Judged { scale: Scale::ONE, warning, is_reference: false };
        if !self.is_on {
            return Ok(plain(None));
        }
        let speed = speed.filter(|speed| speed.is_sound()).ok_or(NoClocks::NoSpeed)?;
        let Some(own) = speed.mean() else {
            return Ok(plain(Some(
                "its engines tell no nodes per second: it has the clocks of the plan, whatever its speed"
                    .to_owned(),
            )));
        };
        let percent = (speed.spread * 100.0).round();
        if speed.spread > TOO_UNSTEADY {
            return Err(NoClocks::Unsteady(speed.spread));
        }
        let unsteady = speed.spread > UNSTEADY;
        let warning = unsteady.then(|| format!("its speed differs by {percent} % from one look to the next"));
        let Some(reference) = &self.reference else {
            self.reference = Some(speed.clone());
            return Ok(Judged { scale: Scale::ONE, warning, is_reference: true });
        };
        match speed.scale(reference) {
            Ok(Some(scale)) => Ok(Judged { scale, warning, is_reference: false }),
            Ok(None) => Ok(plain(Some(
                "no engine reports its nodes per second both on it and on the reference: it has the clocks of the plan"
                    .to_owned(),
            ))),
            Err(ratio) => {
                Err(NoClocks::Beyond { own, reference: reference.mean().unwrap_or_default(), ratio })
            }
        }
    }
}

/// Nodes per second in thousands.
pub(crate) fn thousands(nps: f64) -> String {
    if nps < 10_000.0 { format!("{:.1}", nps / 1000.0) } else { format!("{:.0}", nps / 1000.0) }
}

fn rounded(ratio: f64) -> String {
    if ratio < 1.0 { format!("{ratio:.2}") } else { format!("{ratio:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(nps: f64, spread: f64) -> Speed {
        Speed { nps: vec![Some(nps)], spread }
    }

    fn on() -> Scaling {
        Scaling { is_on: true, reference: None }
    }

    #[test]
    fn the_first_machine_is_the_reference_and_a_slower_one_has_longer_clocks() {
        let mut scaling = on();
        assert!(scaling.judge(Some(&speed(1e6, 0.0))).unwrap().is_reference);
        let slow = scaling.judge(Some(&speed(4e5, 0.0))).unwrap();
        assert_eq!((slow.scale.to_string().as_str(), slow.is_reference, slow.warning), ("2.50", false, None));
    }

    #[test]
    fn a_machine_beyond_the_bounds_is_refused_with_its_figure() {
        let mut scaling = on();
        scaling.judge(Some(&speed(1e6, 0.0))).unwrap();
        let why = scaling.judge(Some(&speed(1e5, 0.0))).unwrap_err().to_string();
        assert!(why.contains("searches 100 thousand nodes per second and the reference 1000"), "{why}");
        assert!(why.contains("would be 10.0 times"), "{why}");
        let why = scaling.judge(Some(&speed(1e7, 0.0))).unwrap_err().to_string();
        assert!(why.contains("would be 0.10 times"), "{why}");
    }

    #[test]
    fn a_machine_whose_speed_comes_and_goes_is_named_and_refused_where_it_is_too_much() {
        let warning = on().judge(Some(&speed(1e6, 0.2))).unwrap().warning.unwrap();
        assert!(warning.contains("differs by 20 %"), "{warning}");
        let why = on().judge(Some(&speed(1e6, 0.41))).unwrap_err().to_string();
        assert!(why.contains("differs by 41 %"), "{why}");
    }

    #[test]
    fn engines_without_nodes_have_the_clocks_of_the_plan_and_it_is_said() {
        let silent = Speed { nps: vec![None, None], spread: 0.0 };
        let judged = on().judge(Some(&silent)).unwrap();
        assert_eq!(judged.scale, Scale::ONE);
        assert!(judged.warning.unwrap().contains("tell no nodes per second"));
        assert!(on().judge(None).is_err() && on().judge(Some(&speed(f64::NAN, 0.0))).is_err());
        assert_eq!(Scaling::default().judge(None).unwrap().scale, Scale::ONE, "an event without clocks");
    }
}
