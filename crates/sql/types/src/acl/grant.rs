//! GRANT and REVOKE as changes of a list of items.

use base::{Oid, SqlResult, SqlState, sql_err};

use super::{AclItem, held};

/// One GRANT or REVOKE: the item says to whom, by whom and what.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// What is added or taken away.
    pub item: AclItem,
    /// GRANT (not REVOKE).
    pub grant: bool,
    /// CASCADE: what the grantee granted on goes too.
    pub cascade: bool,
}

/// Carries out a change; after an error the items are in between. `has(a, b)`: whether role a has the privileges of role b.
pub fn change(
    items: &mut Vec<AclItem>,
    change: Change,
    owner: Oid,
    has: &dyn Fn(Oid, Oid) -> bool,
) -> SqlResult<()> {
    let Change { item, grant, cascade } = change;
    if grant && item.grantable != 0 && item.grantee != Oid::INVALID {
        check_circle(items, item, owner, has)?;
    }
    let same = |old: &AclItem| (old.grantee, old.grantor) == (item.grantee, item.grantor);
    let at = items.iter().position(same).unwrap_or_else(|| {
        items.push(AclItem { privileges: 0, grantable: 0, ..item });
        items.len() - 1
    });
    let entry = &mut items[at];
    let before = entry.grantable;
    if grant {
        entry.privileges |= item.privileges;
        entry.grantable |= item.grantable;
    } else {
        entry.privileges &= !item.privileges;
        entry.grantable &= !item.grantable;
    }
    let after = entry.grantable;
    if (entry.privileges, after) == (0, 0) {
        items.remove(at);
    }
    match before & !after {
        0 => Ok(()),
        lost => revoke_dependents(items, (item.grantee, lost), (owner, cascade), has),
    }
}

/// A role loses grant options: what it granted with them is revoked too (CASCADE), or prevents this (RESTRICT).
fn revoke_dependents(
    items: &mut Vec<AclItem>,
    (role, lost): (Oid, u32),
    (owner, cascade): (Oid, bool),
    has: &dyn Fn(Oid, Oid) -> bool,
) -> SqlResult<()> {
    if role == owner {
        return Ok(());
    }
    // It may still have them from somebody else.
    let lost = lost & !held(items, owner, &|of| has(role, of)).grantable;
    while let Some(dependent) = items.iter().find(|i| i.grantor == role && i.privileges & lost != 0) {
        if !cascade {
            return Err(sql_err!(DEPENDENT_OBJECTS_STILL_EXIST, "dependent privileges exist")
                .hint("Use CASCADE to revoke them too."));
        }
        let item = AclItem { grantee: dependent.grantee, grantor: role, privileges: lost, grantable: lost };
        change(items, Change { item, grant: false, cascade }, owner, has)?;
    }
    Ok(())
}

/// Grant options must not be circular: the grantor must still hold them without what the grantee granted.
fn check_circle(
    items: &[AclItem],
    item: AclItem,
    owner: Oid,
    has: &dyn Fn(Oid, Oid) -> bool,
) -> SqlResult<()> {
    // The owner's do not come from anybody.
    if item.grantor == owner {
        return Ok(());
    }
    let mut rest = items.to_vec();
    while let Some(of_grantee) = rest.iter().find(|i| i.grantee == item.grantee && i.grantable != 0) {
        let taken = AclItem { privileges: of_grantee.grantable, ..*of_grantee };
        change(&mut rest, Change { item: taken, grant: false, cascade: true }, owner, has)?;
    }
    let own = held(&rest, owner, &|of| has(item.grantor, of)).grantable;
    if item.grantable & !own != 0 {
        let message = "grant options cannot be granted back to your own grantor";
        return Err(base::SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::bits;
    use super::*;

    const OWNER: Oid = Oid(10);
    const A: Oid = Oid(20);
    const B: Oid = Oid(30);

    fn only_itself(a: Oid, b: Oid) -> bool {
        a == b
    }

    fn apply(
        items: &mut Vec<AclItem>,
        grant: bool,
        (grantor, grantee): (Oid, Oid),
        letters: &str,
        option: bool,
        cascade: bool,
    ) -> SqlResult<()> {
        let privileges = bits(letters);
        let grantable = if option || !grant { privileges } else { 0 };
        let item = AclItem { grantee, grantor, privileges, grantable };
        change(items, Change { item, grant, cascade }, OWNER, &only_itself)
    }

    fn shown(items: &[AclItem]) -> Vec<String> {
        items.iter().map(|i| format!("{}={}/{}", i.grantee, i.letters(), i.grantor)).collect()
    }

    #[test]
    fn grants_add_up_and_revokes_take_away() {
        let mut items = Vec::new();
        apply(&mut items, true, (OWNER, A), "r", false, false).unwrap();
        apply(&mut items, true, (OWNER, A), "w", true, false).unwrap();
        assert_eq!(shown(&items), ["20=rw*/10"]);
        apply(&mut items, false, (OWNER, A), "rw", false, false).unwrap();
        assert!(items.is_empty());
    }

    #[test]
    fn what_was_granted_on_goes_with_cascade_only() {
        let mut items = Vec::new();
        apply(&mut items, true, (OWNER, A), "r", true, false).unwrap();
        apply(&mut items, true, (A, B), "r", false, false).unwrap();
        let error = apply(&mut items.clone(), false, (OWNER, A), "r", false, false).unwrap_err();
        assert_eq!(error.message(), "dependent privileges exist");
        apply(&mut items, false, (OWNER, A), "r", false, true).unwrap();
        assert!(items.is_empty());
    }

    #[test]
    fn grant_options_do_not_go_in_circles() {
        let mut items = Vec::new();
        apply(&mut items, true, (OWNER, A), "r", true, false).unwrap();
        apply(&mut items, true, (A, B), "r", true, false).unwrap();
        let error = apply(&mut items, true, (B, A), "r", true, false).unwrap_err();
        assert_eq!(error.message(), "grant options cannot be granted back to your own grantor");
    }
}
