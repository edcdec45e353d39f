//! What needs a configuration or the parser: documents and queries made of texts.

use std::sync::Arc;

use base::SqlResult;
use textsearch::configuration::Configuration;
use textsearch::parser::KINDS;
use textsearch::query::{Op, Syntax};
use tuple::{Bytes, Datum};

use super::{encoded, query_of, stored, vector_of};
use crate::call::{Call, Parser};
use crate::registry::SetRows;
use crate::registry::types::prelude::*;

functions! {
    3713 ts_token_type(oid) -> record [immutable strict rows(16.0) names(&["parser_oid", "tokid", "alias", "description"]) outs(b"iooo", &[crate::oids::oid, crate::oids::int4, crate::oids::text, crate::oids::text])] { set kinds }
    3714 ts_token_type(text) -> record [stable strict rows(16.0) names(&["parser_name", "tokid", "alias", "description"]) outs(b"iooo", &[crate::oids::text, crate::oids::int4, crate::oids::text, crate::oids::text])] { set kinds_of_name }
    3715 ts_parse(oid, text) -> record [immutable strict rows(1000.0) names(&["parser_oid", "txt", "tokid", "token"]) outs(b"iioo", &[crate::oids::oid, crate::oids::text, crate::oids::int4, crate::oids::text])] { set tokens }
    3716 ts_parse(text, text) -> record [stable strict rows(1000.0) names(&["parser_name", "txt", "tokid", "token"]) outs(b"iioo", &[crate::oids::text, crate::oids::text, crate::oids::int4, crate::oids::text])] { set tokens_of_name }
    3723 ts_lexize(regdictionary, text) -> _text [immutable strict] { |cx; dictionary: u32, word: &str| lexize(cx, dictionary, word) }
    3759 get_current_ts_config() -> regconfig [stable strict] { |cx;| cx.session.text_search_configuration().map(|oid| Datum::Oid(oid.0)) }
    3745 to_tsvector(regconfig, text) -> tsvector [immutable strict cost(100.0)] { |cx; of: u32, text: &str| to_vector(cx, Some(of), text) }
    3749 to_tsvector(text) -> tsvector [stable strict cost(100.0)] { |cx; text: &str| to_vector(cx, None, text) }
    3746 to_tsquery(regconfig, text) -> tsquery [immutable strict cost(100.0)] { |cx; of: u32, text: &str| to_query(cx, Some(of), text, OPERATORS) }
    3750 to_tsquery(text) -> tsquery [stable strict cost(100.0)] { |cx; text: &str| to_query(cx, None, text, OPERATORS) }
    3747 plainto_tsquery(regconfig, text) -> tsquery [immutable strict cost(100.0)] { |cx; of: u32, text: &str| to_query(cx, Some(of), text, WORDS) }
    3751 plainto_tsquery(text) -> tsquery [stable strict cost(100.0)] { |cx; text: &str| to_query(cx, None, text, WORDS) }
    5006 phraseto_tsquery(regconfig, text) -> tsquery [immutable strict cost(100.0)] { |cx; of: u32, text: &str| to_query(cx, Some(of), text, PHRASE) }
    5001 phraseto_tsquery(text) -> tsquery [stable strict cost(100.0)] { |cx; text: &str| to_query(cx, None, text, PHRASE) }
    5007 websearch_to_tsquery(regconfig, text) -> tsquery [immutable strict cost(100.0)] { |cx; of: u32, text: &str| to_query(cx, Some(of), text, WEB) }
    5009 websearch_to_tsquery(text) -> tsquery [stable strict cost(100.0)] { |cx; text: &str| to_query(cx, None, text, WEB) }
    3760 ts_match_tt(text, text) -> bool [stable strict cost(100.0)] { |cx; text: &str, query: &str| matches_text(cx, text, &to_query(cx, None, query, WORDS)?) }
    3761 ts_match_tq(text, tsquery) -> bool [stable strict cost(100.0)] { |cx; text: &str, query: &Datum| matches_text(cx, text, query) }
    3743 ts_headline(regconfig, text, tsquery, text) -> text [immutable strict cost(100.0)] { |cx; of: u32, text: &str, query: &Datum, options: &str| headline(cx, Some(of), text, query, options) }
    3744 ts_headline(regconfig, text, tsquery) -> text [immutable strict cost(100.0)] { |cx; of: u32, text: &str, query: &Datum| headline(cx, Some(of), text, query, "") }
    3754 ts_headline(text, tsquery, text) -> text [stable strict cost(100.0)] { |cx; text: &str, query: &Datum, options: &str| headline(cx, None, text, query, options) }
    3755 ts_headline(text, tsquery) -> text [stable strict cost(100.0)] { |cx; text: &str, query: &Datum| headline(cx, None, text, query, "") }
    6183 ts_debug(regconfig, text) -> record [stable strict cost(100.0) rows(1000.0) names(&["config", "document", "alias", "description", "token", "dictionaries", "dictionary", "lexemes"]) outs(b"iioooooo", &[crate::oids::regconfig, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::_regdictionary, crate::oids::regdictionary, crate::oids::_text])] { set debug }
    6184 ts_debug(text) -> record [stable strict cost(100.0) rows(1000.0) names(&["document", "alias", "description", "token", "dictionaries", "dictionary", "lexemes"]) outs(b"ioooooo", &[crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::text, crate::oids::_regdictionary, crate::oids::regdictionary, crate::oids::_text])] { set debug_default }
}

/// How a text is read as a query, and what joins the words of one of its parts.
type Reading = (Syntax, Op);

const OPERATORS: Reading = (Syntax::Operators, Op::Phrase);
const WORDS: Reading = (Syntax::Plain, Op::And);
const PHRASE: Reading = (Syntax::Plain, Op::Phrase);
const WEB: Reading = (Syntax::Web, Op::Phrase);

/// The configuration with this OID, or that of the session.
pub(super) fn configuration(cx: &Call, oid: Option<u32>) -> SqlResult<Arc<Configuration>> {
    let oid = match oid {
        Some(oid) => Oid(oid),
        None => cx.session.text_search_configuration()?,
    };
    cx.session.text_search(oid)
}

fn to_vector(cx: &Call, of: Option<u32>, text: &str) -> SqlResult<Datum> {
    stored(configuration(cx, of)?.vector(text, &mut |notice| cx.session.tell(notice)))
}

fn to_query(cx: &Call, of: Option<u32>, text: &str, (syntax, op): Reading) -> SqlResult<Datum> {
    encoded(&configuration(cx, of)?.query(text, syntax, op, &mut |notice| cx.session.tell(notice))?)
}

fn matches_text(cx: &Call, text: &str, query: &Datum) -> SqlResult<bool> {
    let vector = to_vector(cx, None, text)?;
    textsearch::matching::matches(&vector_of(&vector), &query_of(query)?)
}

fn headline(cx: &Call, of: Option<u32>, text: &str, query: &Datum, options: &str) -> SqlResult<String> {
    use textsearch::headline::{Style, headline, options as list};
    let (configuration, style) = (configuration(cx, of)?, Style::of(&list(options)?)?);
    headline(&configuration, text, &query_of(query)?, &style, &mut |notice| cx.session.tell(notice))
}

fn text_array(lexemes: &[textsearch::dictionary::Lexeme]) -> Datum {
    crate::array::from_texts(lexemes.iter().map(|lexeme| Some(lexeme.word.as_str())))
}

/// The lexemes that a dictionary gives for a word on its own.
fn lexize(cx: &Call, dictionary: u32, word: &str) -> SqlResult<Option<Datum>> {
    let lexemes = cx.session.text_search_dictionary(Oid(dictionary))?.lexemes(word);
    Ok(lexemes.map(|lexemes| text_array(&lexemes)))
}

/// Rows that are made one by one.
struct Made<I>(I);

impl<I: Iterator<Item = Vec<Datum>>> SetRows for Made<I> {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        let next = self.0.next();
        let more = next.is_some();
        *row = next.unwrap_or_default();
        Ok(more)
    }
}

fn kinds(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    kinds_of(cx, Parser::Number(Oid(u32::from_datum(&args[0]))))
}

fn kinds_of_name(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    kinds_of(cx, Parser::Named(<&str>::from_datum(&args[0])))
}

fn kinds_of(cx: &Call, parser: Parser<'_>) -> SqlResult<Box<dyn SetRows>> {
    cx.session.text_search_parser(parser)?;
    Ok(Box::new(Made(KINDS.iter().map(|(kind, name, description)| {
        vec![Datum::Int4(*kind as i32), Datum::text(name), Datum::text(description)]
    }))))
}

fn tokens(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    tokens_of(cx, Parser::Number(Oid(u32::from_datum(&args[0]))), &args[1])
}

fn tokens_of_name(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    tokens_of(cx, Parser::Named(<&str>::from_datum(&args[0])), &args[1])
}

fn tokens_of(cx: &Call, parser: Parser<'_>, text: &Datum) -> SqlResult<Box<dyn SetRows>> {
    cx.session.text_search_parser(parser)?;
    let text = <&str>::from_datum(text);
    let (mut rows, mut pace) = (Vec::new(), crate::piece::Pace::new());
    for token in textsearch::parser::Parser::new(text) {
        rows.push(vec![Datum::Int4(token.kind as i32), Datum::Bytes(Bytes::new(token.text.as_bytes()))]);
        pace.did(64 + token.text.len())?;
    }
    Ok(Box::new(Made(rows.into_iter())))
}

fn debug(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    debug_rows(cx, Some(u32::from_datum(&args[0])), <&str>::from_datum(&args[1]))
}

fn debug_default(cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    debug_rows(cx, None, <&str>::from_datum(&args[0]))
}

fn debug_rows(cx: &Call, of: Option<u32>, text: &str) -> SqlResult<Box<dyn SetRows>> {
    let configuration = configuration(cx, of)?;
    let (mut rows, mut pace) = (Vec::new(), crate::piece::Pace::new());
    for token in textsearch::parser::Parser::new(text) {
        pace.did(256 + token.text.len())?;
        let (_, name, description) = KINDS[token.kind as usize - 1];
        let asked = configuration.asked(token.kind);
        let first = asked.first().map_or(Datum::Null, |asked| Datum::Oid(asked.oid));
        let found = asked.iter().find_map(|a| Some((a.oid, a.dictionary.lexemes(token.text)?)));
        let asked: Vec<Datum> = asked.iter().map(|asked| Datum::Oid(asked.oid)).collect();
        let asked = crate::array::Array::from_values(oids::regdictionary, asked, cx)?.to_datum();
        let (dictionary, lexemes) = match &found {
            Some((oid, lexemes)) => (Datum::Oid(*oid), text_array(lexemes)),
            None => (first, Datum::Null),
        };
        let token = Datum::Bytes(Bytes::new(token.text.as_bytes()));
        rows.push(vec![Datum::text(name), Datum::text(description), token, asked, dictionary, lexemes]);
    }
    Ok(Box::new(Made(rows.into_iter())))
}
