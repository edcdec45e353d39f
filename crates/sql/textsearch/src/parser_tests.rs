use proptest::prelude::*;

use super::*;

fn tokens(text: &str) -> String {
    let shown = |token: Token| format!("{}={}", KINDS[token.kind as usize - 1].1, token.text);
    Parser::new(text).map(shown).collect::<Vec<_>>().join(" ; ")
}

#[test]
fn texts_are_taken_apart_as_by_postgresql() {
    let answers = [
        ("a.b", "file=a.b"),
        ("a.bc", "host=a.bc"),
        ("12.ab", "host=12.ab"),
        ("1.a", "uint=1 ; blank=. ; asciiword=a"),
        ("foo-1", "asciiword=foo ; int=-1"),
        ("foo-1a", "numhword=foo-1a ; hword_asciipart=foo ; blank=- ; hword_numpart=1a"),
        ("foo-bar.com", "host=foo-bar.com"),
        ("a_b.com", "host=a_b.com"),
        ("foo.com:80/x", "url=foo.com:80/x ; host=foo.com:80 ; url_path=/x"),
        ("foo.com/", "host=foo.com ; blank=/"),
        ("foo.com/a?b=c", "url=foo.com/a?b=c ; host=foo.com ; url_path=/a?b=c"),
        (
            "ftp://foo.com/x y",
            "protocol=ftp:// ; url=foo.com/x ; host=foo.com ; url_path=/x ; blank=  ; asciiword=y",
        ),
        ("http:/a", "asciiword=http ; blank=: ; file=/a"),
        ("a@b.cd", "email=a@b.cd"),
        ("a-b@c.de", "email=a-b@c.de"),
        ("é1@b.cd", "email=é1@b.cd"),
        ("é@b.com", "word=é ; blank=@ ; host=b.com"),
        ("/usr/local", "file=/usr/local"),
        ("a/1", "file=a/1"),
        ("~/x", "file=~/x"),
        ("../x", "file=../x"),
        (" ./x", "blank= . ; file=/x"),
        ("..", "file=.."),
        ("/a/../b", "file=/a/../b"),
        ("/a/-", "file=/a ; blank=/ ; blank=-"),
        ("a.-", "asciiword=a ; blank=. ; blank=-"),
        ("-5", "int=-5"),
        ("-5.5.5", "blank=- ; version=5.5.5"),
        ("5.5.5", "version=5.5.5"),
        ("1e+5", "sfloat=1e+5"),
        ("1.5e-3x", "sfloat=1.5e-3 ; asciiword=x"),
        ("5.a", "uint=5 ; blank=. ; asciiword=a"),
        ("--5", "blank=- ; int=-5"),
        ("a--b", "asciiword=a ; blank=- ; blank=- ; asciiword=b"),
        (
            "a-b1-c",
            "numhword=a-b1-c ; hword_asciipart=a ; blank=- ; hword_numpart=b1 ; blank=- ; hword_asciipart=c",
        ),
        ("a-aa-11", "asciihword=a-aa ; hword_asciipart=a ; blank=- ; hword_asciipart=aa ; blank=- ; uint=11"),
        ("a-b-.", "asciihword=a-b ; hword_asciipart=a ; blank=- ; hword_asciipart=b ; blank=-."),
        ("é-b", "hword=é-b ; hword_part=é ; blank=- ; hword_asciipart=b"),
        ("aé", "word=aé"),
        ("日本語", "word=日本語"),
        ("é1/a", "file=é1/a"),
        ("<b a='x>y'>", "tag=<b a='x>y'>"),
        ("<!-- < -->", "tag=<!-- < -->"),
        ("<!doctype>", "tag=<!doctype>"),
        ("<?xml a?>", "tag=<?xml a?>"),
        ("<1>", "blank=< ; uint=1 ; blank=>"),
        ("</a/>", "tag=</a/>"),
        ("<a", "blank=< ; asciiword=a"),
        (
            "&amp;&#12;&#x1f;&#x;",
            "entity=&amp; ; entity=&#12; ; entity=&#x1f; ; blank=&# ; asciiword=x ; blank=;",
        ),
        ("a_b", "asciiword=a ; blank=_ ; asciiword=b"),
        ("can't", "asciiword=can ; blank=' ; asciiword=t"),
        ("1+1", "uint=1 ; int=+1"),
        ("1 -1", "uint=1 ; blank=  ; int=-1"),
        ("x_e_.xa", "asciiword=x ; blank=_ ; asciiword=e ; blank=_. ; asciiword=xa"),
        ("a__b.cc", "asciiword=a ; blank=__ ; host=b.cc"),
        ("bb.-.a@bb.cc", "asciiword=bb ; blank=. ; blank=-. ; email=a@bb.cc"),
        ("aa.bb/é", "host=aa.bb ; blank=/ ; word=é"),
        ("<a \" <b>", "blank=< ; asciiword=a ; blank= \"  ; tag=<b>"),
        ("a://", "protocol=a://"),
    ];
    for (text, wanted) in answers {
        assert_eq!(tokens(text), wanted, "{text}");
    }
}

#[test]
fn no_text_takes_more_than_linear_time() {
    // Each would take minutes if every token looked at all that follows.
    for part in ["a_", "a__", "1_1.", "/.", "<!--", "<a \"", "&a", "a-1-", "a@", "1e5/", "http://", "a.b_c@"]
    {
        let text = part.repeat(200_000);
        assert!(Parser::new(&text).count() > 0, "{part}");
        let text = text + "!";
        assert!(Parser::new(&text).count() > 0, "{part}");
    }
}

proptest! {
    #[test]
    fn tokens_make_up_the_text(text in "[ab1é.@/<>&;:='\"_~+?!x\u{301} -]{0,40}") {
        let whole = [Kind::AsciiHyphenWord, Kind::HyphenWord, Kind::NumHyphenWord, Kind::Url];
        let parts: String = Parser::new(&text).filter(|t| !whole.contains(&t.kind)).map(|t| t.text).collect();
        prop_assert_eq!(parts, text);
    }
}
