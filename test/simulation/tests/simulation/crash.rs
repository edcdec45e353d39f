//! How a machine's life ends.

use std::time::Duration;

use base::stop::{self, Action};
use history::Choices;
use runtime::sim::Simulation;

/// How a life ends.
#[derive(Clone, Debug)]
pub enum Crash {
    /// After so many disk operations; a small number crashes recovery.
    Operations(u64),
    /// When the stop point has been passed so often.
    Point(&'static str, u64),
    /// After so much time.
    Time(Duration),
}

impl Crash {
    /// A random end.
    pub fn choose(choices: &mut Choices) -> Crash {
        match choices.below(8) {
            0 => Crash::Operations(choices.between(1, 400)),
            1..=2 => Crash::Operations(choices.between(400, 3000)),
            3..=5 => {
                let points: Vec<_> =
                    stop::POINTS.iter().map(|p| p.0).filter(|p| !p.starts_with("test-")).collect();
                Crash::Point(points[choices.below(points.len() as u64) as usize], choices.below(40))
            }
            _ => Crash::Time(Duration::from_millis(choices.between(1, 150))),
        }
    }

    /// A random end soon after the machine has started: in the pass over the log, or while pages are redone and sessions write.
    pub fn choose_in_recovery(choices: &mut Choices) -> Crash {
        match choices.below(8) {
            0..=3 => Crash::Operations(choices.between(1, 500)),
            4..=5 => {
                let points: Vec<_> =
                    stop::POINTS.iter().map(|p| p.0).filter(|p| p.starts_with("recovery-")).collect();
                Crash::Point(points[choices.below(points.len() as u64) as usize], choices.below(60))
            }
            _ => Crash::Time(Duration::from_micros(choices.between(1, 30_000))),
        }
    }

    /// Prepares it.
    pub fn arm(&self, simulation: &Simulation) -> Option<stop::ArmedPoint> {
        match self {
            Crash::Operations(n) => simulation.crash_after(*n),
            Crash::Point(name, skip) => return Some(stop::arm(name, Action::Crash, *skip)),
            Crash::Time(_) => {}
        }
        None
    }

    /// When the plug is pulled in any case.
    pub fn longest(&self) -> Duration {
        match self {
            Crash::Time(time) => *time,
            _ => Duration::from_millis(100),
        }
    }
}
