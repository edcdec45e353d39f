//! When a table needs upkeep: PostgreSQL's rules, over what is counted of it.

use base::Oid;
use base::settings::{ServerSettings, Setting};
use catalog::SizeEstimate;
use catalog::system::pg_statistic;
use counters::Relation;

/// The storage parameters that say how a table is kept up; what is not there is the server's to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Of a table with these storage parameters.
    pub(crate) fn new(options: impl IntoIterator<Item = (String, String)>) -> Parameters {
        let ours = |name: &str| {
            name.starts_with("autovacuum_")
                || name.starts_with("log_autovacuum_")
                || name.starts_with("vacuum_")
        };
        Parameters(options.into_iter().filter(|(name, _)| ours(name)).collect())
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A number.
    pub(crate) fn real(&self, name: &str) -> Option<f64> {
        self.text(name)?.trim().parse().ok()
    }

    /// The same, whole.
    pub(crate) fn int(&self, name: &str) -> Option<i32> {
        self.text(name)?.trim().parse().ok()
    }

    /// Whether the table is to be kept up at all (`autovacuum_enabled`).
    pub(crate) fn enabled(&self) -> bool {
        self.text("autovacuum_enabled").and_then(base::settings::parse_bool).unwrap_or(true)
    }
}

/// What a table needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) vacuum: bool,
    pub(crate) analyze: bool,
    /// It is to go: a temporary table whose session has ended without a word.
    pub(crate) drop: bool,
}

impl Need {
    /// Whether it needs anything.
    pub(crate) fn any(self) -> bool {
        self.vacuum || self.analyze || self.drop
    }

    /// In texts: what comes first.
    pub(crate) fn verb(self) -> &'static str {
        if self.vacuum { "vacuum" } else { "analyze" }
    }

    /// What both have.
    pub(crate) fn and(self, other: Need) -> Need {
        Need {
            vacuum: self.vacuum && other.vacuum,
            analyze: self.analyze && other.analyze,
            drop: self.drop && other.drop,
        }
    }
}

/// What is known of a table from the catalogs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) oid: Oid,
    /// Rows and pages, as last noted.
    pub(crate) size: SizeEstimate,
    /// Of the pages, those whose rows are all frozen.
    pub(crate) all_frozen: u32,
    /// A TOAST table: its rows are never analyzed.
    pub(crate) is_toast: bool,
    /// Of a TOAST table without parameters, those of the table that it belongs to.
    pub(crate) parameters: Parameters,
    /// Has ids so old that a VACUUM is to freeze them.
    pub(crate) has_old_ids: bool,
    /// A temporary table that no session has.
    pub(crate) is_orphan: bool,
}

/// How many rows must be dead, new or changed before a table needs something.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Thresholds {
    dead: f64,
    /// None: new rows alone need nothing.
    inserted: Option<f64>,
    /// None: it is never analysed.
    changed: Option<f64>,
}

/// Whole rows beyond a threshold from which on something is needed.
fn beyond(threshold: f64) -> i64 {
    (threshold.floor() as i64).saturating_add(1)
}

impl Facts {
    fn thresholds(&self, settings: &ServerSettings) -> Thresholds {
        // Names of settings and of parameters are the same.
        let value =
            |setting: Setting| self.parameters.real(setting.name()).unwrap_or_else(|| settings.real(setting));
        let rows = f64::from(self.size.tuples.max(0.0));
        let scaled = |base, scale, share: f64| value(base) + value(scale) * rows * share;
        let most = value(Setting::autovacuum_vacuum_max_threshold);
        let dead = scaled(Setting::autovacuum_vacuum_threshold, Setting::autovacuum_vacuum_scale_factor, 1.0);
        let unfrozen = match self.size.pages {
            0 => 1.0,
            pages => 1.0 - f64::from(self.all_frozen.min(pages)) / f64::from(pages),
        };
        let inserted = scaled(
            Setting::autovacuum_vacuum_insert_threshold,
            Setting::autovacuum_vacuum_insert_scale_factor,
            unfrozen,
        );
        let changed =
            scaled(Setting::autovacuum_analyze_threshold, Setting::autovacuum_analyze_scale_factor, 1.0);
        // ANALYZE writes its own rows there.
        let analyzed = !self.is_toast && self.oid != pg_statistic::TABLE.oid;
        Thresholds {
            dead: if most >= 0.0 { dead.min(most) } else { dead },
            inserted: (value(Setting::autovacuum_vacuum_insert_threshold) >= 0.0).then_some(inserted),
            changed: analyzed.then_some(changed),
        }
    }

    /// Milliseconds from which on work on the table is logged; less than 0: none is.
    pub(crate) fn log_min_duration(&self, settings: &ServerSettings) -> i32 {
        let setting = Setting::log_autovacuum_min_duration;
        self.parameters.int(setting.name()).unwrap_or_else(|| settings.int(setting))
    }

    /// What the table needs.
    pub(crate) fn need(&self, counted: &Relation, settings: &ServerSettings) -> Need {
        if self.is_orphan {
            return Need { drop: true, ..Need::default() };
        }
        if !self.parameters.enabled() {
            return Need::default();
        }
        let limits = self.thresholds(settings);
        let over = |count: i64, limit: Option<f64>| limit.is_some_and(|limit| count >= beyond(limit));
        Need {
            vacuum: self.has_old_ids
                || over(counted.dead, Some(limits.dead))
                || over(counted.inserted_since_vacuum, limits.inserted),
            analyze: over(counted.changed, limits.changed),
            drop: false,
        }
    }

    /// How many rows may still be changed before the table can need something besides what it needs now, and of how many: nothing is needed before.
    pub(crate) fn distance(&self, counted: &Relation, now: Need, settings: &ServerSettings) -> (i64, i64) {
        if !self.parameters.enabled() {
            return (i64::MAX, i64::MAX);
        }
        let limits = self.thresholds(settings);
        let all = [
            (counted.dead, Some(limits.dead).filter(|_| !now.vacuum)),
            (counted.inserted_since_vacuum, limits.inserted.filter(|_| !now.vacuum)),
            (counted.changed, limits.changed.filter(|_| !now.analyze)),
        ];
        // A lane tells when it is over its limit, so that the last row that makes the table need something is one beyond.
        let left = |(count, limit): (i64, Option<f64>)| {
            limit.map(|limit| (beyond(limit).saturating_sub(count.max(0) + 1).max(0), beyond(limit)))
        };
        all.into_iter().filter_map(left).min().unwrap_or((i64::MAX, i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(tuples: f32, parameters: &[(&str, &str)]) -> Facts {
        let pair = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        Facts {
            oid: Oid(20000),
            size: SizeEstimate { pages: 10, tuples, all_visible: 0 },
            all_frozen: 0,
            is_toast: false,
            parameters: Parameters::new(parameters.iter().map(pair)),
            has_old_ids: false,
            is_orphan: false,
        }
    }

    fn need(facts: &Facts, [dead, changed, inserted]: [i64; 3]) -> (bool, bool) {
        let counted = Relation { dead, changed, inserted_since_vacuum: inserted, ..Relation::default() };
        let settings = ServerSettings::new();
        let need = facts.need(&counted, &settings);
        let (left, _) = facts.distance(&counted, Need::default(), &settings);
        assert!(need.any() <= (left == 0), "{need:?} with {left} to go");
        let (more, _) = facts.distance(&counted, need, &settings);
        assert!(more > 0 || !need.any(), "{need:?}, and something else without a change");
        (need.vacuum, need.analyze)
    }

    #[test]
    fn thresholds_are_passed_and_not_only_reached() {
        let thousand = facts(1000.0, &[]);
        assert_eq!(need(&thousand, [250, 150, 1200]), (false, false));
        assert_eq!(need(&thousand, [251, 0, 0]), (true, false));
        assert_eq!(need(&thousand, [0, 151, 0]), (false, true));
        assert_eq!(need(&thousand, [0, 0, 1201]), (true, false));
        assert_eq!(need(&facts(-1.0, &[]), [51, 51, 0]), (true, true), "never vacuumed: no rows");
    }

    #[test]
    fn frozen_pages_need_no_freezing() {
        let mut half = facts(1000.0, &[]);
        half.all_frozen = 5;
        assert_eq!(need(&half, [0, 0, 1100]), (false, false));
        assert_eq!(need(&half, [0, 0, 1101]), (true, false));
    }

    #[test]
    fn parameters_of_the_table_come_first() {
        let eager = facts(
            1000.0,
            &[
                ("autovacuum_vacuum_threshold", "0"),
                ("autovacuum_vacuum_scale_factor", "0"),
                ("fillfactor", "70"),
            ],
        );
        assert_eq!(need(&eager, [1, 0, 0]), (true, false));
        assert_eq!(need(&facts(10.0, &[("autovacuum_enabled", "off")]), [900, 900, 9000]), (false, false));
        assert_eq!(
            need(&facts(1e9, &[("autovacuum_vacuum_max_threshold", "100")]), [101, 0, 0]),
            (true, false)
        );
        let no_inserts = facts(10.0, &[("autovacuum_vacuum_insert_threshold", "-1")]);
        assert_eq!(need(&no_inserts, [0, 0, 1 << 40]), (false, false));
    }

    #[test]
    fn an_orphan_needs_nothing_but_to_go() {
        let orphan = Facts { is_orphan: true, ..facts(10.0, &[]) };
        let counted = Relation { dead: 1 << 20, changed: 1 << 20, ..Relation::default() };
        let need = orphan.need(&counted, &ServerSettings::new());
        assert_eq!(need, Need { drop: true, ..Need::default() });
        assert_eq!(need.and(Need { vacuum: true, analyze: true, drop: false }), Need::default());
    }

    #[test]
    fn toast_tables_and_statistics_are_not_analysed() {
        let mut toast = facts(10.0, &[]);
        toast.is_toast = true;
        assert_eq!(need(&toast, [900, 900, 0]), (true, false));
        let mut statistics = facts(10.0, &[]);
        statistics.oid = pg_statistic::TABLE.oid;
        assert_eq!(need(&statistics, [900, 900, 0]), (true, false));
    }

    #[test]
    fn nothing_is_needed_before_the_distance_is_gone() {
        let thousand = facts(1000.0, &[]);
        let counted = Relation { changed: 100, ..Relation::default() };
        let (nothing, analyze) = (Need::default(), Need { analyze: true, ..Need::default() });
        assert_eq!(thousand.distance(&counted, nothing, &ServerSettings::new()), (50, 151));
        assert_eq!(
            thousand.distance(&counted, analyze, &ServerSettings::new()),
            (250, 251),
            "VACUUM is next"
        );
        assert_eq!(need(&thousand, [0, 100 + 50, 0]), (false, false));
        assert_eq!(need(&thousand, [0, 100 + 51, 0]), (false, true));
    }
}
