//! What pages cost to read, as the options of a tablespace say.

/// Costs of pages of a tablespace; none: as the settings of the same names say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageCosts {
    /// `seq_page_cost`.
    pub seq: Option<f64>,
    /// `random_page_cost`.
    pub random: Option<f64>,
}

impl PageCosts {
    /// From options of a tablespace, `name=value`, which were checked when they were stored.
    pub(crate) fn of(options: &[String]) -> PageCosts {
        let named = |name: &str| {
            let mut pairs = options.iter().filter_map(|option| option.split_once('='));
            pairs.find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok())
        };
        PageCosts { seq: named("seq_page_cost"), random: named("random_page_cost") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let costs = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
            PageCosts::of(&options)
        };
        assert_eq!(costs(&[]), PageCosts::default());
        let both = costs(&["effective_io_concurrency=7", "random_page_cost=1.5", "seq_page_cost=1e-2"]);
        assert_eq!(both, PageCosts { seq: Some(0.01), random: Some(1.5) });
    }
}
