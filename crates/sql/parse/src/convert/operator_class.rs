//! CREATE OPERATOR CLASS, CREATE and ALTER OPERATOR FAMILY.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::{Converter, name, shape, text_of};
use crate::ast::{AlterOperatorFamily, CreateOperatorClass, Name, OperatorClassItem, TypeName};

impl Converter<'_> {
    pub(crate) fn create_operator_class(
        &mut self,
        s: n::CreateOpClassStmt,
    ) -> SqlResult<CreateOperatorClass> {
        Ok(CreateOperatorClass {
            name: name(s.opclassname)?,
            family: optional_name(s.opfamilyname)?,
            method: text_of(s.amname),
            type_name: self.boxed_type(s.datatype)?,
            items: self.operator_class_items(s.items)?,
            default: s.isDefault,
        })
    }

    pub(crate) fn alter_operator_family(
        &mut self,
        s: n::AlterOpFamilyStmt,
    ) -> SqlResult<AlterOperatorFamily> {
        Ok(AlterOperatorFamily {
            name: name(s.opfamilyname)?,
            method: text_of(s.amname),
            drop: s.isDrop,
            items: self.operator_class_items(s.items)?,
        })
    }

    fn operator_class_items(&mut self, list: n::List) -> SqlResult<Vec<OperatorClassItem>> {
        let mut items = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::CreateOpClassItem(item) = node else { return Err(shape("operator class")) };
            let item = *item;
            let number = item.number;
            let named = item.name.map(|o| self.object_with_args(*o)).transpose()?;
            let types = self.type_names(item.class_args)?;
            items.push(match item.itemtype {
                n::OPCLASS_ITEM_OPERATOR => OperatorClassItem::Operator {
                    number,
                    operator: named,
                    sort_family: optional_name(item.order_family)?,
                    types,
                },
                n::OPCLASS_ITEM_FUNCTION => OperatorClassItem::Function { number, function: named, types },
                _ => OperatorClassItem::Storage(self.boxed_type(item.storedtype)?),
            });
        }
        Ok(items)
    }

    fn type_names(&mut self, list: n::List) -> SqlResult<Vec<TypeName>> {
        let mut types = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::TypeName(t) = node else { return Err(shape("types of an operator class")) };
            types.push(self.type_name(*t)?);
        }
        Ok(types)
    }
}

fn optional_name(list: n::List) -> SqlResult<Option<Name>> {
    (!list.is_empty()).then(|| name(list)).transpose()
}
