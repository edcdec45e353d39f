//! What is watched of statements that run: ids, figures, plans. A statement looks at one flag to know that nothing is.

use super::{Module, Setting, Value};

/// Which statements `pg_stat_statements` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrackStatements {
    /// None.
    None,
    /// Those that clients send.
    #[default]
    Top,
    /// Those in functions too.
    All,
}

/// What is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Libraries of `shared_preload_libraries`, of `session_preload_libraries`, and of LOAD: bits of [`Module`].
    libraries: [u8; 3],
    ids: Ids,
    track: TrackStatements,
    planning: bool,
    no_utility: bool,
    /// One more than the milliseconds from which on `auto_explain` logs a plan; 0: never.
    explained_from: i64,
    active: bool,
    has_ids: bool,
}

/// `compute_query_id`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ids {
    Off,
    On,
    /// If a module wants them.
    #[default]
    Auto,
}

impl Watch {
    /// Takes over a value.
    pub(super) fn apply(&mut self, setting: Setting, value: &Value) {
        match setting {
            Setting::shared_preload_libraries => self.libraries[0] = bits(value.as_text()),
            Setting::session_preload_libraries => self.libraries[1] = bits(value.as_text()),
            Setting::compute_query_id => {
                self.ids = match value.as_text() {
                    "off" => Ids::Off,
                    "on" => Ids::On,
                    _ => Ids::Auto,
                };
            }
            Setting::pg_stat_statements_track => {
                self.track = match value.as_text() {
                    "none" => TrackStatements::None,
                    "all" => TrackStatements::All,
                    _ => TrackStatements::Top,
                };
            }
            Setting::pg_stat_statements_track_planning => self.planning = value.as_bool(),
            Setting::pg_stat_statements_track_utility => self.no_utility = !value.as_bool(),
            Setting::auto_explain_log_min_duration => self.explained_from = i64::from(value.as_int()) + 1,
            _ => return,
        }
        self.settle();
    }

    /// LOAD.
    pub(super) fn load(&mut self, module: Module) {
        self.libraries[2] |= module as u8;
        self.settle();
    }

    fn settle(&mut self) {
        let statements = self.counts_statements();
        self.has_ids = match self.ids {
            Ids::Off => false,
            Ids::On => true,
            Ids::Auto => statements,
        };
        let counted = statements && self.track != TrackStatements::None;
        let explained = self.is_loaded(Module::AutoExplain) && self.explained_from > 0;
        self.active = counted || explained;
    }

    /// Whether a module is loaded.
    pub fn is_loaded(&self, module: Module) -> bool {
        self.libraries.iter().any(|loaded| loaded & module as u8 != 0)
    }

    /// Whether there are counters of statements: only the server can load that module.
    pub fn counts_statements(&self) -> bool {
        self.libraries[0] & Module::StatStatements as u8 != 0
    }

    /// Whether runs of statements are watched at all.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether statements have ids.
    #[inline]
    pub fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// Whether statements at this nesting depth are counted.
    pub fn counts_at(&self, depth: u32) -> bool {
        self.counts_statements()
            && match self.track {
                TrackStatements::None => false,
                TrackStatements::Top => depth == 0,
                TrackStatements::All => true,
            }
    }

    /// Whether making of plans is counted too.
    pub fn counts_planning(&self) -> bool {
        self.planning
    }

    /// Whether statements without a plan are counted too.
    pub fn counts_utility(&self) -> bool {
        !self.no_utility
    }

    /// Milliseconds from which on plans are logged.
    pub fn explained_from(&self) -> Option<i64> {
        let wanted = self.is_loaded(Module::AutoExplain) && self.explained_from > 0;
        wanted.then_some(self.explained_from - 1)
    }
}

fn bits(list: &str) -> u8 {
    let named = |module: &&Module| libraries(list).any(|library| library == module.name());
    Module::ALL.iter().filter(named).fold(0, |bits, module| bits | *module as u8)
}

/// The libraries in a list of them, without the folder that they are always in and the suffix of their files.
pub fn libraries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(|word| {
            let word = word.trim().trim_matches('"');
            let word = word.strip_prefix("$libdir/").unwrap_or(word);
            word.strip_suffix(".so").unwrap_or(word)
        })
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(list: &[(Setting, &str)]) -> Watch {
        let mut watch = Watch::default();
        for (setting, text) in list {
            watch.apply(*setting, &setting.definition().parse(text).unwrap());
        }
        watch
    }

    #[test]
    fn nothing_is_watched_unless_a_library_is_loaded() {
        use Setting::*;
        let all = (pg_stat_statements_track, "all");
        let soon = (auto_explain_log_min_duration, "0");
        let watch = applied(&[all, soon]);
        assert!(!watch.is_active() && !watch.has_ids() && watch.explained_from().is_none());
        let watch = applied(&[all, (shared_preload_libraries, "x, pg_stat_statements")]);
        assert!(watch.is_active() && watch.has_ids() && watch.counts_at(3));
        let watch = applied(&[
            (shared_preload_libraries, "$libdir/pg_stat_statements.so"),
            (compute_query_id, "off"),
        ]);
        assert!(watch.is_active() && !watch.has_ids() && !watch.counts_at(3) && watch.counts_at(0));
        let mut watch = applied(&[soon, (compute_query_id, "on")]);
        assert!(!watch.is_active() && watch.has_ids());
        watch.load(Module::AutoExplain);
        assert_eq!((watch.is_active(), watch.explained_from()), (true, Some(0)));
        let watch = applied(&[(session_preload_libraries, "pg_stat_statements")]);
        assert!(!watch.is_active() && !watch.counts_statements());
    }
}
