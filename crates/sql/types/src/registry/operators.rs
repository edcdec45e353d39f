//! `pg_operator`.

use base::Oid;

use super::{Operator, Selectivity};

/// Every built-in operator, by OID: name, left, right, result, function, commutator, negator, can hash, can merge, estimator.
#[rustfmt::skip]
pub static OPERATORS: &[Operator] = &[
    op(15, "=", 23, 20, 16, 852, 416, 36, true, true, Selectivity::Equal), // int4 = int8
    op(36, "<>", 23, 20, 16, 853, 417, 15, false, false, Selectivity::NotEqual), // int4 <> int8
    op(37, "<", 23, 20, 16, 854, 419, 82, false, false, Selectivity::Less), // int4 < int8
    op(58, "<", 16, 16, 16, 56, 59, 1695, false, false, Selectivity::Less), // bool < bool
    op(59, ">", 16, 16, 16, 57, 58, 1694, false, false, Selectivity::Greater), // bool > bool
    op(76, ">", 23, 20, 16, 855, 418, 80, false, false, Selectivity::Greater), // int4 > int8
    op(80, "<=", 23, 20, 16, 856, 430, 76, false, false, Selectivity::LessEqual), // int4 <= int8
    op(82, ">=", 23, 20, 16, 857, 420, 37, false, false, Selectivity::GreaterEqual), // int4 >= int8
    op(85, "<>", 16, 16, 16, 84, 85, 91, false, false, Selectivity::NotEqual), // bool <> bool
    op(91, "=", 16, 16, 16, 60, 91, 85, true, true, Selectivity::Equal), // bool = bool
    op(92, "=", 18, 18, 16, 61, 92, 630, true, true, Selectivity::Equal), // char = char
    op(93, "=", 19, 19, 16, 62, 93, 643, true, true, Selectivity::Equal), // name = name
    op(94, "=", 21, 21, 16, 63, 94, 519, true, true, Selectivity::Equal), // int2 = int2
    op(95, "<", 21, 21, 16, 64, 520, 524, false, false, Selectivity::Less), // int2 < int2
    op(96, "=", 23, 23, 16, 65, 96, 518, true, true, Selectivity::Equal), // int4 = int4
    op(97, "<", 23, 23, 16, 66, 521, 525, false, false, Selectivity::Less), // int4 < int4
    op(98, "=", 25, 25, 16, 67, 98, 531, true, true, Selectivity::Equal), // text = text
    op(254, "=", 19, 25, 16, 240, 260, 259, true, true, Selectivity::Equal), // name = text
    op(255, "<", 19, 25, 16, 241, 264, 257, false, false, Selectivity::Less), // name < text
    op(256, "<=", 19, 25, 16, 242, 263, 258, false, false, Selectivity::LessEqual), // name <= text
    op(257, ">=", 19, 25, 16, 243, 262, 255, false, false, Selectivity::GreaterEqual), // name >= text
    op(258, ">", 19, 25, 16, 244, 261, 256, false, false, Selectivity::Greater), // name > text
    op(259, "<>", 19, 25, 16, 245, 265, 254, false, false, Selectivity::NotEqual), // name <> text
    op(260, "=", 25, 19, 16, 247, 254, 265, true, true, Selectivity::Equal), // text = name
    op(261, "<", 25, 19, 16, 248, 258, 263, false, false, Selectivity::Less), // text < name
    op(262, "<=", 25, 19, 16, 249, 257, 264, false, false, Selectivity::LessEqual), // text <= name
    op(263, ">=", 25, 19, 16, 250, 256, 261, false, false, Selectivity::GreaterEqual), // text >= name
    op(264, ">", 25, 19, 16, 251, 255, 262, false, false, Selectivity::Greater), // text > name
    op(265, "<>", 25, 19, 16, 252, 259, 260, false, false, Selectivity::NotEqual), // text <> name
    op(349, "||", 5078, 5077, 5078, 378, 0, 0, false, false, Selectivity::None), // anycompatiblearray || anycompatible
    op(352, "=", 28, 28, 16, 68, 352, 3315, true, false, Selectivity::Equal), // xid = xid
    op(353, "=", 28, 23, 16, 1319, 0, 3316, false, false, Selectivity::Equal), // xid = int4
    op(374, "||", 5077, 5078, 5078, 379, 0, 0, false, false, Selectivity::None), // anycompatible || anycompatiblearray
    op(375, "||", 5078, 5078, 5078, 383, 0, 0, false, false, Selectivity::None), // anycompatiblearray || anycompatiblearray
    op(385, "=", 29, 29, 16, 69, 385, 0, true, false, Selectivity::Equal), // cid = cid
    op(387, "=", 27, 27, 16, 1292, 387, 402, true, true, Selectivity::Equal), // tid = tid
    op(402, "<>", 27, 27, 16, 1265, 402, 387, false, false, Selectivity::NotEqual), // tid <> tid
    op(410, "=", 20, 20, 16, 467, 410, 411, true, true, Selectivity::Equal), // int8 = int8
    op(411, "<>", 20, 20, 16, 468, 411, 410, false, false, Selectivity::NotEqual), // int8 <> int8
    op(412, "<", 20, 20, 16, 469, 413, 415, false, false, Selectivity::Less), // int8 < int8
    op(413, ">", 20, 20, 16, 470, 412, 414, false, false, Selectivity::Greater), // int8 > int8
    op(414, "<=", 20, 20, 16, 471, 415, 413, false, false, Selectivity::LessEqual), // int8 <= int8
    op(415, ">=", 20, 20, 16, 472, 414, 412, false, false, Selectivity::GreaterEqual), // int8 >= int8
    op(416, "=", 20, 23, 16, 474, 15, 417, true, true, Selectivity::Equal), // int8 = int4
    op(417, "<>", 20, 23, 16, 475, 36, 416, false, false, Selectivity::NotEqual), // int8 <> int4
    op(418, "<", 20, 23, 16, 476, 76, 430, false, false, Selectivity::Less), // int8 < int4
    op(419, ">", 20, 23, 16, 477, 37, 420, false, false, Selectivity::Greater), // int8 > int4
    op(420, "<=", 20, 23, 16, 478, 82, 419, false, false, Selectivity::LessEqual), // int8 <= int4
    op(430, ">=", 20, 23, 16, 479, 80, 418, false, false, Selectivity::GreaterEqual), // int8 >= int4
    op(433, "@>", 603, 600, 16, 193, 511, 0, false, false, Selectivity::Contain), // box @> point
    op(439, "%", 20, 20, 20, 945, 0, 0, false, false, Selectivity::None), // int8 % int8
    op(473, "@", 0, 20, 20, 1230, 0, 0, false, false, Selectivity::None), //  @ int8
    op(484, "-", 0, 20, 20, 462, 0, 0, false, false, Selectivity::None), //  - int8
    op(485, "<<", 604, 604, 16, 341, 0, 0, false, false, Selectivity::Position), // polygon << polygon
    op(486, "&<", 604, 604, 16, 342, 0, 0, false, false, Selectivity::Position), // polygon &< polygon
    op(487, "&>", 604, 604, 16, 343, 0, 0, false, false, Selectivity::Position), // polygon &> polygon
    op(488, ">>", 604, 604, 16, 344, 0, 0, false, false, Selectivity::Position), // polygon >> polygon
    op(489, "<@", 604, 604, 16, 345, 490, 0, false, false, Selectivity::Contain), // polygon <@ polygon
    op(490, "@>", 604, 604, 16, 340, 489, 0, false, false, Selectivity::Contain), // polygon @> polygon
    op(491, "~=", 604, 604, 16, 339, 491, 0, false, false, Selectivity::Equal), // polygon ~= polygon
    op(492, "&&", 604, 604, 16, 346, 492, 0, false, false, Selectivity::Area), // polygon && polygon
    op(493, "<<", 603, 603, 16, 188, 0, 0, false, false, Selectivity::Position), // box << box
    op(494, "&<", 603, 603, 16, 189, 0, 0, false, false, Selectivity::Position), // box &< box
    op(495, "&>", 603, 603, 16, 190, 0, 0, false, false, Selectivity::Position), // box &> box
    op(496, ">>", 603, 603, 16, 191, 0, 0, false, false, Selectivity::Position), // box >> box
    op(497, "<@", 603, 603, 16, 192, 498, 0, false, false, Selectivity::Contain), // box <@ box
    op(498, "@>", 603, 603, 16, 187, 497, 0, false, false, Selectivity::Contain), // box @> box
    op(499, "~=", 603, 603, 16, 186, 499, 0, false, false, Selectivity::Equal), // box ~= box
    op(500, "&&", 603, 603, 16, 125, 500, 0, false, false, Selectivity::Area), // box && box
    op(501, ">=", 603, 603, 16, 126, 505, 504, false, false, Selectivity::Area), // box >= box
    op(502, ">", 603, 603, 16, 127, 504, 505, false, false, Selectivity::Area), // box > box
    op(503, "=", 603, 603, 16, 128, 503, 0, false, false, Selectivity::Equal), // box = box
    op(504, "<", 603, 603, 16, 129, 502, 501, false, false, Selectivity::Area), // box < box
    op(505, "<=", 603, 603, 16, 130, 501, 502, false, false, Selectivity::Area), // box <= box
    op(506, ">^", 600, 600, 16, 131, 0, 0, false, false, Selectivity::Position), // point >^ point
    op(507, "<<", 600, 600, 16, 132, 0, 0, false, false, Selectivity::Position), // point << point
    op(508, ">>", 600, 600, 16, 133, 0, 0, false, false, Selectivity::Position), // point >> point
    op(509, "<^", 600, 600, 16, 134, 0, 0, false, false, Selectivity::Position), // point <^ point
    op(510, "~=", 600, 600, 16, 135, 510, 713, false, false, Selectivity::Equal), // point ~= point
    op(511, "<@", 600, 603, 16, 136, 433, 0, false, false, Selectivity::Contain), // point <@ box
    op(512, "<@", 600, 602, 16, 137, 755, 0, false, false, Selectivity::None), // point <@ path
    op(513, "@@", 0, 603, 600, 138, 0, 0, false, false, Selectivity::None), //  @@ box
    op(514, "*", 23, 23, 23, 141, 514, 0, false, false, Selectivity::None), // int4 * int4
    op(517, "<->", 600, 600, 701, 991, 517, 0, false, false, Selectivity::None), // point <-> point
    op(518, "<>", 23, 23, 16, 144, 518, 96, false, false, Selectivity::NotEqual), // int4 <> int4
    op(519, "<>", 21, 21, 16, 145, 519, 94, false, false, Selectivity::NotEqual), // int2 <> int2
    op(520, ">", 21, 21, 16, 146, 95, 522, false, false, Selectivity::Greater), // int2 > int2
    op(521, ">", 23, 23, 16, 147, 97, 523, false, false, Selectivity::Greater), // int4 > int4
    op(522, "<=", 21, 21, 16, 148, 524, 520, false, false, Selectivity::LessEqual), // int2 <= int2
    op(523, "<=", 23, 23, 16, 149, 525, 521, false, false, Selectivity::LessEqual), // int4 <= int4
    op(524, ">=", 21, 21, 16, 151, 522, 95, false, false, Selectivity::GreaterEqual), // int2 >= int2
    op(525, ">=", 23, 23, 16, 150, 523, 97, false, false, Selectivity::GreaterEqual), // int4 >= int4
    op(526, "*", 21, 21, 21, 152, 526, 0, false, false, Selectivity::None), // int2 * int2
    op(527, "/", 21, 21, 21, 153, 0, 0, false, false, Selectivity::None), // int2 / int2
    op(528, "/", 23, 23, 23, 154, 0, 0, false, false, Selectivity::None), // int4 / int4
    op(529, "%", 21, 21, 21, 155, 0, 0, false, false, Selectivity::None), // int2 % int2
    op(530, "%", 23, 23, 23, 156, 0, 0, false, false, Selectivity::None), // int4 % int4
    op(531, "<>", 25, 25, 16, 157, 531, 98, false, false, Selectivity::NotEqual), // text <> text
    op(532, "=", 21, 23, 16, 158, 533, 538, true, true, Selectivity::Equal), // int2 = int4
    op(533, "=", 23, 21, 16, 159, 532, 539, true, true, Selectivity::Equal), // int4 = int2
    op(534, "<", 21, 23, 16, 160, 537, 542, false, false, Selectivity::Less), // int2 < int4
    op(535, "<", 23, 21, 16, 161, 536, 543, false, false, Selectivity::Less), // int4 < int2
    op(536, ">", 21, 23, 16, 162, 535, 540, false, false, Selectivity::Greater), // int2 > int4
    op(537, ">", 23, 21, 16, 163, 534, 541, false, false, Selectivity::Greater), // int4 > int2
    op(538, "<>", 21, 23, 16, 164, 539, 532, false, false, Selectivity::NotEqual), // int2 <> int4
    op(539, "<>", 23, 21, 16, 165, 538, 533, false, false, Selectivity::NotEqual), // int4 <> int2
    op(540, "<=", 21, 23, 16, 166, 543, 536, false, false, Selectivity::LessEqual), // int2 <= int4
    op(541, "<=", 23, 21, 16, 167, 542, 537, false, false, Selectivity::LessEqual), // int4 <= int2
    op(542, ">=", 21, 23, 16, 168, 541, 534, false, false, Selectivity::GreaterEqual), // int2 >= int4
    op(543, ">=", 23, 21, 16, 169, 540, 535, false, false, Selectivity::GreaterEqual), // int4 >= int2
    op(544, "*", 21, 23, 23, 170, 545, 0, false, false, Selectivity::None), // int2 * int4
    op(545, "*", 23, 21, 23, 171, 544, 0, false, false, Selectivity::None), // int4 * int2
    op(546, "/", 21, 23, 23, 172, 0, 0, false, false, Selectivity::None), // int2 / int4
    op(547, "/", 23, 21, 23, 173, 0, 0, false, false, Selectivity::None), // int4 / int2
    op(550, "+", 21, 21, 21, 176, 550, 0, false, false, Selectivity::None), // int2 + int2
    op(551, "+", 23, 23, 23, 177, 551, 0, false, false, Selectivity::None), // int4 + int4
    op(552, "+", 21, 23, 23, 178, 553, 0, false, false, Selectivity::None), // int2 + int4
    op(553, "+", 23, 21, 23, 179, 552, 0, false, false, Selectivity::None), // int4 + int2
    op(554, "-", 21, 21, 21, 180, 0, 0, false, false, Selectivity::None), // int2 - int2
    op(555, "-", 23, 23, 23, 181, 0, 0, false, false, Selectivity::None), // int4 - int4
    op(556, "-", 21, 23, 23, 182, 0, 0, false, false, Selectivity::None), // int2 - int4
    op(557, "-", 23, 21, 23, 183, 0, 0, false, false, Selectivity::None), // int4 - int2
    op(558, "-", 0, 23, 23, 212, 0, 0, false, false, Selectivity::None), //  - int4
    op(559, "-", 0, 21, 21, 213, 0, 0, false, false, Selectivity::None), //  - int2
    op(584, "-", 0, 700, 700, 206, 0, 0, false, false, Selectivity::None), //  - float4
    op(585, "-", 0, 701, 701, 220, 0, 0, false, false, Selectivity::None), //  - float8
    op(586, "+", 700, 700, 700, 204, 586, 0, false, false, Selectivity::None), // float4 + float4
    op(587, "-", 700, 700, 700, 205, 0, 0, false, false, Selectivity::None), // float4 - float4
    op(588, "/", 700, 700, 700, 203, 0, 0, false, false, Selectivity::None), // float4 / float4
    op(589, "*", 700, 700, 700, 202, 589, 0, false, false, Selectivity::None), // float4 * float4
    op(590, "@", 0, 700, 700, 207, 0, 0, false, false, Selectivity::None), //  @ float4
    op(591, "+", 701, 701, 701, 218, 591, 0, false, false, Selectivity::None), // float8 + float8
    op(592, "-", 701, 701, 701, 219, 0, 0, false, false, Selectivity::None), // float8 - float8
    op(593, "/", 701, 701, 701, 217, 0, 0, false, false, Selectivity::None), // float8 / float8
    op(594, "*", 701, 701, 701, 216, 594, 0, false, false, Selectivity::None), // float8 * float8
    op(595, "@", 0, 701, 701, 221, 0, 0, false, false, Selectivity::None), //  @ float8
    op(596, "|/", 0, 701, 701, 230, 0, 0, false, false, Selectivity::None), //  |/ float8
    op(597, "||/", 0, 701, 701, 231, 0, 0, false, false, Selectivity::None), //  ||/ float8
    op(606, "<->", 603, 600, 701, 357, 615, 0, false, false, Selectivity::None), // box <-> point
    op(607, "=", 26, 26, 16, 184, 607, 608, true, true, Selectivity::Equal), // oid = oid
    op(608, "<>", 26, 26, 16, 185, 608, 607, false, false, Selectivity::NotEqual), // oid <> oid
    op(609, "<", 26, 26, 16, 716, 610, 612, false, false, Selectivity::Less), // oid < oid
    op(610, ">", 26, 26, 16, 1638, 609, 611, false, false, Selectivity::Greater), // oid > oid
    op(611, "<=", 26, 26, 16, 717, 612, 610, false, false, Selectivity::LessEqual), // oid <= oid
    op(612, ">=", 26, 26, 16, 1639, 611, 609, false, false, Selectivity::GreaterEqual), // oid >= oid
    op(613, "<->", 600, 628, 701, 725, 760, 0, false, false, Selectivity::None), // point <-> line
    op(614, "<->", 600, 601, 701, 363, 761, 0, false, false, Selectivity::None), // point <-> lseg
    op(615, "<->", 600, 603, 701, 364, 606, 0, false, false, Selectivity::None), // point <-> box
    op(616, "<->", 601, 628, 701, 727, 762, 0, false, false, Selectivity::None), // lseg <-> line
    op(617, "<->", 601, 603, 701, 365, 763, 0, false, false, Selectivity::None), // lseg <-> box
    op(618, "<->", 600, 602, 701, 371, 784, 0, false, false, Selectivity::None), // point <-> path
    op(620, "=", 700, 700, 16, 287, 620, 621, true, true, Selectivity::Equal), // float4 = float4
    op(621, "<>", 700, 700, 16, 288, 621, 620, false, false, Selectivity::NotEqual), // float4 <> float4
    op(622, "<", 700, 700, 16, 289, 623, 625, false, false, Selectivity::Less), // float4 < float4
    op(623, ">", 700, 700, 16, 291, 622, 624, false, false, Selectivity::Greater), // float4 > float4
    op(624, "<=", 700, 700, 16, 290, 625, 623, false, false, Selectivity::LessEqual), // float4 <= float4
    op(625, ">=", 700, 700, 16, 292, 624, 622, false, false, Selectivity::GreaterEqual), // float4 >= float4
    op(630, "<>", 18, 18, 16, 70, 630, 92, false, false, Selectivity::NotEqual), // char <> char
    op(631, "<", 18, 18, 16, 1246, 633, 634, false, false, Selectivity::Less), // char < char
    op(632, "<=", 18, 18, 16, 72, 634, 633, false, false, Selectivity::LessEqual), // char <= char
    op(633, ">", 18, 18, 16, 73, 631, 632, false, false, Selectivity::Greater), // char > char
    op(634, ">=", 18, 18, 16, 74, 632, 631, false, false, Selectivity::GreaterEqual), // char >= char
    op(639, "~", 19, 25, 16, 79, 0, 640, false, false, Selectivity::Regex), // name ~ text
    op(640, "!~", 19, 25, 16, 1252, 0, 639, false, false, Selectivity::NotRegex), // name !~ text
    op(641, "~", 25, 25, 16, 1254, 0, 642, false, false, Selectivity::Regex), // text ~ text
    op(642, "!~", 25, 25, 16, 1256, 0, 641, false, false, Selectivity::NotRegex), // text !~ text
    op(643, "<>", 19, 19, 16, 659, 643, 93, false, false, Selectivity::NotEqual), // name <> name
    op(644, "<>", 30, 30, 16, 619, 644, 649, false, false, Selectivity::NotEqual), // oidvector <> oidvector
    op(645, "<", 30, 30, 16, 677, 646, 648, false, false, Selectivity::Less), // oidvector < oidvector
    op(646, ">", 30, 30, 16, 681, 645, 647, false, false, Selectivity::Greater), // oidvector > oidvector
    op(647, "<=", 30, 30, 16, 678, 648, 646, false, false, Selectivity::LessEqual), // oidvector <= oidvector
    op(648, ">=", 30, 30, 16, 680, 647, 645, false, false, Selectivity::GreaterEqual), // oidvector >= oidvector
    op(649, "=", 30, 30, 16, 679, 649, 644, true, true, Selectivity::Equal), // oidvector = oidvector
    op(654, "||", 25, 25, 25, 1258, 0, 0, false, false, Selectivity::None), // text || text
    op(660, "<", 19, 19, 16, 655, 662, 663, false, false, Selectivity::Less), // name < name
    op(661, "<=", 19, 19, 16, 656, 663, 662, false, false, Selectivity::LessEqual), // name <= name
    op(662, ">", 19, 19, 16, 657, 660, 661, false, false, Selectivity::Greater), // name > name
    op(663, ">=", 19, 19, 16, 658, 661, 660, false, false, Selectivity::GreaterEqual), // name >= name
    op(664, "<", 25, 25, 16, 740, 666, 667, false, false, Selectivity::Less), // text < text
    op(665, "<=", 25, 25, 16, 741, 667, 666, false, false, Selectivity::LessEqual), // text <= text
    op(666, ">", 25, 25, 16, 742, 664, 665, false, false, Selectivity::Greater), // text > text
    op(667, ">=", 25, 25, 16, 743, 665, 664, false, false, Selectivity::GreaterEqual), // text >= text
    op(670, "=", 701, 701, 16, 293, 670, 671, true, true, Selectivity::Equal), // float8 = float8
    op(671, "<>", 701, 701, 16, 294, 671, 670, false, false, Selectivity::NotEqual), // float8 <> float8
    op(672, "<", 701, 701, 16, 295, 674, 675, false, false, Selectivity::Less), // float8 < float8
    op(673, "<=", 701, 701, 16, 296, 675, 674, false, false, Selectivity::LessEqual), // float8 <= float8
    op(674, ">", 701, 701, 16, 297, 672, 673, false, false, Selectivity::Greater), // float8 > float8
    op(675, ">=", 701, 701, 16, 298, 673, 672, false, false, Selectivity::GreaterEqual), // float8 >= float8
    op(682, "@", 0, 21, 21, 1253, 0, 0, false, false, Selectivity::None), //  @ int2
    op(684, "+", 20, 20, 20, 463, 684, 0, false, false, Selectivity::None), // int8 + int8
    op(685, "-", 20, 20, 20, 464, 0, 0, false, false, Selectivity::None), // int8 - int8
    op(686, "*", 20, 20, 20, 465, 686, 0, false, false, Selectivity::None), // int8 * int8
    op(687, "/", 20, 20, 20, 466, 0, 0, false, false, Selectivity::None), // int8 / int8
    op(688, "+", 20, 23, 20, 1274, 692, 0, false, false, Selectivity::None), // int8 + int4
    op(689, "-", 20, 23, 20, 1275, 0, 0, false, false, Selectivity::None), // int8 - int4
    op(690, "*", 20, 23, 20, 1276, 694, 0, false, false, Selectivity::None), // int8 * int4
    op(691, "/", 20, 23, 20, 1277, 0, 0, false, false, Selectivity::None), // int8 / int4
    op(692, "+", 23, 20, 20, 1278, 688, 0, false, false, Selectivity::None), // int4 + int8
    op(693, "-", 23, 20, 20, 1279, 0, 0, false, false, Selectivity::None), // int4 - int8
    op(694, "*", 23, 20, 20, 1280, 690, 0, false, false, Selectivity::None), // int4 * int8
    op(695, "/", 23, 20, 20, 1281, 0, 0, false, false, Selectivity::None), // int4 / int8
    op(706, "<->", 603, 603, 701, 978, 706, 0, false, false, Selectivity::None), // box <-> box
    op(707, "<->", 602, 602, 701, 370, 707, 0, false, false, Selectivity::None), // path <-> path
    op(708, "<->", 628, 628, 701, 239, 708, 0, false, false, Selectivity::None), // line <-> line
    op(709, "<->", 601, 601, 701, 361, 709, 0, false, false, Selectivity::None), // lseg <-> lseg
    op(712, "<->", 604, 604, 701, 729, 712, 0, false, false, Selectivity::None), // polygon <-> polygon
    op(713, "<>", 600, 600, 16, 988, 713, 510, false, false, Selectivity::NotEqual), // point <> point
    op(731, "+", 600, 600, 600, 1441, 731, 0, false, false, Selectivity::None), // point + point
    op(732, "-", 600, 600, 600, 1442, 0, 0, false, false, Selectivity::None), // point - point
    op(733, "*", 600, 600, 600, 1443, 733, 0, false, false, Selectivity::None), // point * point
    op(734, "/", 600, 600, 600, 1444, 0, 0, false, false, Selectivity::None), // point / point
    op(735, "+", 602, 602, 602, 1435, 735, 0, false, false, Selectivity::None), // path + path
    op(736, "+", 602, 600, 602, 1436, 0, 0, false, false, Selectivity::None), // path + point
    op(737, "-", 602, 600, 602, 1437, 0, 0, false, false, Selectivity::None), // path - point
    op(738, "*", 602, 600, 602, 1438, 0, 0, false, false, Selectivity::None), // path * point
    op(739, "/", 602, 600, 602, 1439, 0, 0, false, false, Selectivity::None), // path / point
    op(755, "@>", 602, 600, 16, 1426, 512, 0, false, false, Selectivity::None), // path @> point
    op(756, "<@", 600, 604, 16, 1429, 757, 0, false, false, Selectivity::Contain), // point <@ polygon
    op(757, "@>", 604, 600, 16, 1428, 756, 0, false, false, Selectivity::Contain), // polygon @> point
    op(758, "<@", 600, 718, 16, 1478, 759, 0, false, false, Selectivity::Contain), // point <@ circle
    op(759, "@>", 718, 600, 16, 1477, 758, 0, false, false, Selectivity::Contain), // circle @> point
    op(760, "<->", 628, 600, 701, 702, 613, 0, false, false, Selectivity::None), // line <-> point
    op(761, "<->", 601, 600, 701, 380, 614, 0, false, false, Selectivity::None), // lseg <-> point
    op(762, "<->", 628, 601, 701, 704, 616, 0, false, false, Selectivity::None), // line <-> lseg
    op(763, "<->", 603, 601, 701, 381, 617, 0, false, false, Selectivity::None), // box <-> lseg
    op(773, "@", 0, 23, 23, 1251, 0, 0, false, false, Selectivity::None), //  @ int4
    op(784, "<->", 602, 600, 701, 421, 618, 0, false, false, Selectivity::None), // path <-> point
    op(792, "=", 602, 602, 16, 984, 792, 0, false, false, Selectivity::Equal), // path = path
    op(793, "<", 602, 602, 16, 982, 794, 0, false, false, Selectivity::None), // path < path
    op(794, ">", 602, 602, 16, 983, 793, 0, false, false, Selectivity::None), // path > path
    op(795, "<=", 602, 602, 16, 985, 796, 0, false, false, Selectivity::None), // path <= path
    op(796, ">=", 602, 602, 16, 986, 795, 0, false, false, Selectivity::None), // path >= path
    op(797, "#", 0, 602, 23, 1432, 0, 0, false, false, Selectivity::None), //  # path
    op(798, "?#", 602, 602, 16, 973, 0, 0, false, false, Selectivity::None), // path ?# path
    op(799, "@-@", 0, 602, 701, 987, 0, 0, false, false, Selectivity::None), //  @-@ path
    op(800, ">^", 603, 603, 16, 115, 0, 0, false, false, Selectivity::Position), // box >^ box
    op(801, "<^", 603, 603, 16, 116, 0, 0, false, false, Selectivity::Position), // box <^ box
    op(802, "?#", 603, 603, 16, 125, 0, 0, false, false, Selectivity::Area), // box ?# box
    op(803, "#", 603, 603, 603, 980, 0, 0, false, false, Selectivity::None), // box # box
    op(804, "+", 603, 600, 603, 1422, 0, 0, false, false, Selectivity::None), // box + point
    op(805, "-", 603, 600, 603, 1423, 0, 0, false, false, Selectivity::None), // box - point
    op(806, "*", 603, 600, 603, 1424, 0, 0, false, false, Selectivity::None), // box * point
    op(807, "/", 603, 600, 603, 1425, 0, 0, false, false, Selectivity::None), // box / point
    op(808, "?-", 600, 600, 16, 990, 808, 0, false, false, Selectivity::None), // point ?- point
    op(809, "?|", 600, 600, 16, 989, 809, 0, false, false, Selectivity::None), // point ?| point
    op(818, "+", 20, 21, 20, 837, 822, 0, false, false, Selectivity::None), // int8 + int2
    op(819, "-", 20, 21, 20, 838, 0, 0, false, false, Selectivity::None), // int8 - int2
    op(820, "*", 20, 21, 20, 839, 824, 0, false, false, Selectivity::None), // int8 * int2
    op(821, "/", 20, 21, 20, 840, 0, 0, false, false, Selectivity::None), // int8 / int2
    op(822, "+", 21, 20, 20, 841, 818, 0, false, false, Selectivity::None), // int2 + int8
    op(823, "-", 21, 20, 20, 942, 0, 0, false, false, Selectivity::None), // int2 - int8
    op(824, "*", 21, 20, 20, 943, 820, 0, false, false, Selectivity::None), // int2 * int8
    op(825, "/", 21, 20, 20, 948, 0, 0, false, false, Selectivity::None), // int2 / int8
    op(843, "*", 790, 700, 790, 846, 845, 0, false, false, Selectivity::None), // money * float4
    op(844, "/", 790, 700, 790, 847, 0, 0, false, false, Selectivity::None), // money / float4
    op(845, "*", 700, 790, 790, 848, 843, 0, false, false, Selectivity::None), // float4 * money
    op(900, "=", 790, 790, 16, 888, 900, 901, false, true, Selectivity::Equal), // money = money
    op(901, "<>", 790, 790, 16, 889, 901, 900, false, false, Selectivity::NotEqual), // money <> money
    op(902, "<", 790, 790, 16, 890, 903, 905, false, false, Selectivity::Less), // money < money
    op(903, ">", 790, 790, 16, 892, 902, 904, false, false, Selectivity::Greater), // money > money
    op(904, "<=", 790, 790, 16, 891, 905, 903, false, false, Selectivity::LessEqual), // money <= money
    op(905, ">=", 790, 790, 16, 893, 904, 902, false, false, Selectivity::GreaterEqual), // money >= money
    op(906, "+", 790, 790, 790, 894, 906, 0, false, false, Selectivity::None), // money + money
    op(907, "-", 790, 790, 790, 895, 0, 0, false, false, Selectivity::None), // money - money
    op(908, "*", 790, 701, 790, 896, 916, 0, false, false, Selectivity::None), // money * float8
    op(909, "/", 790, 701, 790, 897, 0, 0, false, false, Selectivity::None), // money / float8
    op(912, "*", 790, 23, 790, 864, 917, 0, false, false, Selectivity::None), // money * int4
    op(913, "/", 790, 23, 790, 865, 0, 0, false, false, Selectivity::None), // money / int4
    op(914, "*", 790, 21, 790, 866, 918, 0, false, false, Selectivity::None), // money * int2
    op(915, "/", 790, 21, 790, 867, 0, 0, false, false, Selectivity::None), // money / int2
    op(916, "*", 701, 790, 790, 919, 908, 0, false, false, Selectivity::None), // float8 * money
    op(917, "*", 23, 790, 790, 862, 912, 0, false, false, Selectivity::None), // int4 * money
    op(918, "*", 21, 790, 790, 863, 914, 0, false, false, Selectivity::None), // int2 * money
    op(931, "<<", 869, 869, 16, 927, 933, 0, false, false, Selectivity::Network), // inet << inet
    op(932, "<<=", 869, 869, 16, 928, 934, 0, false, false, Selectivity::Network), // inet <<= inet
    op(933, ">>", 869, 869, 16, 929, 931, 0, false, false, Selectivity::Network), // inet >> inet
    op(934, ">>=", 869, 869, 16, 930, 932, 0, false, false, Selectivity::Network), // inet >>= inet
    op(965, "^", 701, 701, 701, 232, 0, 0, false, false, Selectivity::None), // float8 ^ float8
    op(969, "@@", 0, 601, 600, 225, 0, 0, false, false, Selectivity::None), //  @@ lseg
    op(971, "@@", 0, 604, 600, 227, 0, 0, false, false, Selectivity::None), //  @@ polygon
    op(1038, "^", 1700, 1700, 1700, 1739, 0, 0, false, false, Selectivity::None), // numeric ^ numeric
    op(1054, "=", 1042, 1042, 16, 1048, 1054, 1057, true, true, Selectivity::Equal), // bpchar = bpchar
    op(1055, "~", 1042, 25, 16, 1658, 0, 1056, false, false, Selectivity::Regex), // bpchar ~ text
    op(1056, "!~", 1042, 25, 16, 1659, 0, 1055, false, false, Selectivity::NotRegex), // bpchar !~ text
    op(1057, "<>", 1042, 1042, 16, 1053, 1057, 1054, false, false, Selectivity::NotEqual), // bpchar <> bpchar
    op(1058, "<", 1042, 1042, 16, 1049, 1060, 1061, false, false, Selectivity::Less), // bpchar < bpchar
    op(1059, "<=", 1042, 1042, 16, 1050, 1061, 1060, false, false, Selectivity::LessEqual), // bpchar <= bpchar
    op(1060, ">", 1042, 1042, 16, 1051, 1058, 1059, false, false, Selectivity::Greater), // bpchar > bpchar
    op(1061, ">=", 1042, 1042, 16, 1052, 1059, 1058, false, false, Selectivity::GreaterEqual), // bpchar >= bpchar
    op(1070, "=", 2277, 2277, 16, 744, 1070, 1071, true, true, Selectivity::Equal), // anyarray = anyarray
    op(1071, "<>", 2277, 2277, 16, 390, 1071, 1070, false, false, Selectivity::NotEqual), // anyarray <> anyarray
    op(1072, "<", 2277, 2277, 16, 391, 1073, 1075, false, false, Selectivity::Less), // anyarray < anyarray
    op(1073, ">", 2277, 2277, 16, 392, 1072, 1074, false, false, Selectivity::Greater), // anyarray > anyarray
    op(1074, "<=", 2277, 2277, 16, 393, 1075, 1073, false, false, Selectivity::LessEqual), // anyarray <= anyarray
    op(1075, ">=", 2277, 2277, 16, 396, 1074, 1072, false, false, Selectivity::GreaterEqual), // anyarray >= anyarray
    op(1076, "+", 1082, 1186, 1114, 2071, 2551, 0, false, false, Selectivity::None), // date + interval
    op(1077, "-", 1082, 1186, 1114, 2072, 0, 0, false, false, Selectivity::None), // date - interval
    op(1093, "=", 1082, 1082, 16, 1086, 1093, 1094, true, true, Selectivity::Equal), // date = date
    op(1094, "<>", 1082, 1082, 16, 1091, 1094, 1093, false, false, Selectivity::NotEqual), // date <> date
    op(1095, "<", 1082, 1082, 16, 1087, 1097, 1098, false, false, Selectivity::Less), // date < date
    op(1096, "<=", 1082, 1082, 16, 1088, 1098, 1097, false, false, Selectivity::LessEqual), // date <= date
    op(1097, ">", 1082, 1082, 16, 1089, 1095, 1096, false, false, Selectivity::Greater), // date > date
    op(1098, ">=", 1082, 1082, 16, 1090, 1096, 1095, false, false, Selectivity::GreaterEqual), // date >= date
    op(1099, "-", 1082, 1082, 23, 1140, 0, 0, false, false, Selectivity::None), // date - date
    op(1100, "+", 1082, 23, 1082, 1141, 2555, 0, false, false, Selectivity::None), // date + int4
    op(1101, "-", 1082, 23, 1082, 1142, 0, 0, false, false, Selectivity::None), // date - int4
    op(1108, "=", 1083, 1083, 16, 1145, 1108, 1109, true, true, Selectivity::Equal), // time = time
    op(1109, "<>", 1083, 1083, 16, 1106, 1109, 1108, false, false, Selectivity::NotEqual), // time <> time
    op(1110, "<", 1083, 1083, 16, 1102, 1112, 1113, false, false, Selectivity::Less), // time < time
    op(1111, "<=", 1083, 1083, 16, 1103, 1113, 1112, false, false, Selectivity::LessEqual), // time <= time
    op(1112, ">", 1083, 1083, 16, 1104, 1110, 1111, false, false, Selectivity::Greater), // time > time
    op(1113, ">=", 1083, 1083, 16, 1105, 1111, 1110, false, false, Selectivity::GreaterEqual), // time >= time
    op(1116, "+", 700, 701, 701, 281, 1126, 0, false, false, Selectivity::None), // float4 + float8
    op(1117, "-", 700, 701, 701, 282, 0, 0, false, false, Selectivity::None), // float4 - float8
    op(1118, "/", 700, 701, 701, 280, 0, 0, false, false, Selectivity::None), // float4 / float8
    op(1119, "*", 700, 701, 701, 279, 1129, 0, false, false, Selectivity::None), // float4 * float8
    op(1120, "=", 700, 701, 16, 299, 1130, 1121, true, true, Selectivity::Equal), // float4 = float8
    op(1121, "<>", 700, 701, 16, 300, 1131, 1120, false, false, Selectivity::NotEqual), // float4 <> float8
    op(1122, "<", 700, 701, 16, 301, 1133, 1125, false, false, Selectivity::Less), // float4 < float8
    op(1123, ">", 700, 701, 16, 303, 1132, 1124, false, false, Selectivity::Greater), // float4 > float8
    op(1124, "<=", 700, 701, 16, 302, 1135, 1123, false, false, Selectivity::LessEqual), // float4 <= float8
    op(1125, ">=", 700, 701, 16, 304, 1134, 1122, false, false, Selectivity::GreaterEqual), // float4 >= float8
    op(1126, "+", 701, 700, 701, 285, 1116, 0, false, false, Selectivity::None), // float8 + float4
    op(1127, "-", 701, 700, 701, 286, 0, 0, false, false, Selectivity::None), // float8 - float4
    op(1128, "/", 701, 700, 701, 284, 0, 0, false, false, Selectivity::None), // float8 / float4
    op(1129, "*", 701, 700, 701, 283, 1119, 0, false, false, Selectivity::None), // float8 * float4
    op(1130, "=", 701, 700, 16, 305, 1120, 1131, true, true, Selectivity::Equal), // float8 = float4
    op(1131, "<>", 701, 700, 16, 306, 1121, 1130, false, false, Selectivity::NotEqual), // float8 <> float4
    op(1132, "<", 701, 700, 16, 307, 1123, 1135, false, false, Selectivity::Less), // float8 < float4
    op(1133, ">", 701, 700, 16, 309, 1122, 1134, false, false, Selectivity::Greater), // float8 > float4
    op(1134, "<=", 701, 700, 16, 308, 1125, 1133, false, false, Selectivity::LessEqual), // float8 <= float4
    op(1135, ">=", 701, 700, 16, 310, 1124, 1132, false, false, Selectivity::GreaterEqual), // float8 >= float4
    op(1201, "=", 869, 869, 16, 920, 1201, 1202, true, true, Selectivity::Equal), // inet = inet
    op(1202, "<>", 869, 869, 16, 925, 1202, 1201, false, false, Selectivity::NotEqual), // inet <> inet
    op(1203, "<", 869, 869, 16, 921, 1205, 1206, false, false, Selectivity::Less), // inet < inet
    op(1204, "<=", 869, 869, 16, 922, 1206, 1205, false, false, Selectivity::LessEqual), // inet <= inet
    op(1205, ">", 869, 869, 16, 923, 1203, 1204, false, false, Selectivity::Greater), // inet > inet
    op(1206, ">=", 869, 869, 16, 924, 1204, 1203, false, false, Selectivity::GreaterEqual), // inet >= inet
    op(1207, "~~", 19, 25, 16, 858, 0, 1208, false, false, Selectivity::Like), // name ~~ text
    op(1208, "!~~", 19, 25, 16, 859, 0, 1207, false, false, Selectivity::NotLike), // name !~~ text
    op(1209, "~~", 25, 25, 16, 850, 0, 1210, false, false, Selectivity::Like), // text ~~ text
    op(1210, "!~~", 25, 25, 16, 851, 0, 1209, false, false, Selectivity::NotLike), // text !~~ text
    op(1211, "~~", 1042, 25, 16, 1631, 0, 1212, false, false, Selectivity::Like), // bpchar ~~ text
    op(1212, "!~~", 1042, 25, 16, 1632, 0, 1211, false, false, Selectivity::NotLike), // bpchar !~~ text
    op(1220, "=", 829, 829, 16, 830, 1220, 1221, true, true, Selectivity::Equal), // macaddr = macaddr
    op(1221, "<>", 829, 829, 16, 835, 1221, 1220, false, false, Selectivity::NotEqual), // macaddr <> macaddr
    op(1222, "<", 829, 829, 16, 831, 1224, 1225, false, false, Selectivity::Less), // macaddr < macaddr
    op(1223, "<=", 829, 829, 16, 832, 1225, 1224, false, false, Selectivity::LessEqual), // macaddr <= macaddr
    op(1224, ">", 829, 829, 16, 833, 1222, 1223, false, false, Selectivity::Greater), // macaddr > macaddr
    op(1225, ">=", 829, 829, 16, 834, 1223, 1222, false, false, Selectivity::GreaterEqual), // macaddr >= macaddr
    op(1226, "~*", 19, 25, 16, 1240, 0, 1227, false, false, Selectivity::IRegex), // name ~* text
    op(1227, "!~*", 19, 25, 16, 1241, 0, 1226, false, false, Selectivity::NotIRegex), // name !~* text
    op(1228, "~*", 25, 25, 16, 1238, 0, 1229, false, false, Selectivity::IRegex), // text ~* text
    op(1229, "!~*", 25, 25, 16, 1239, 0, 1228, false, false, Selectivity::NotIRegex), // text !~* text
    op(1234, "~*", 1042, 25, 16, 1656, 0, 1235, false, false, Selectivity::IRegex), // bpchar ~* text
    op(1235, "!~*", 1042, 25, 16, 1657, 0, 1234, false, false, Selectivity::NotIRegex), // bpchar !~* text
    op(1320, "=", 1184, 1184, 16, 1152, 1320, 1321, true, true, Selectivity::Equal), // timestamptz = timestamptz
    op(1321, "<>", 1184, 1184, 16, 1153, 1321, 1320, false, false, Selectivity::NotEqual), // timestamptz <> timestamptz
    op(1322, "<", 1184, 1184, 16, 1154, 1324, 1325, false, false, Selectivity::Less), // timestamptz < timestamptz
    op(1323, "<=", 1184, 1184, 16, 1155, 1325, 1324, false, false, Selectivity::LessEqual), // timestamptz <= timestamptz
    op(1324, ">", 1184, 1184, 16, 1157, 1322, 1323, false, false, Selectivity::Greater), // timestamptz > timestamptz
    op(1325, ">=", 1184, 1184, 16, 1156, 1323, 1322, false, false, Selectivity::GreaterEqual), // timestamptz >= timestamptz
    op(1327, "+", 1184, 1186, 1184, 1189, 2554, 0, false, false, Selectivity::None), // timestamptz + interval
    op(1328, "-", 1184, 1184, 1186, 1188, 0, 0, false, false, Selectivity::None), // timestamptz - timestamptz
    op(1329, "-", 1184, 1186, 1184, 1190, 0, 0, false, false, Selectivity::None), // timestamptz - interval
    op(1330, "=", 1186, 1186, 16, 1162, 1330, 1331, true, true, Selectivity::Equal), // interval = interval
    op(1331, "<>", 1186, 1186, 16, 1163, 1331, 1330, false, false, Selectivity::NotEqual), // interval <> interval
    op(1332, "<", 1186, 1186, 16, 1164, 1334, 1335, false, false, Selectivity::Less), // interval < interval
    op(1333, "<=", 1186, 1186, 16, 1165, 1335, 1334, false, false, Selectivity::LessEqual), // interval <= interval
    op(1334, ">", 1186, 1186, 16, 1167, 1332, 1333, false, false, Selectivity::Greater), // interval > interval
    op(1335, ">=", 1186, 1186, 16, 1166, 1333, 1332, false, false, Selectivity::GreaterEqual), // interval >= interval
    op(1336, "-", 0, 1186, 1186, 1168, 0, 0, false, false, Selectivity::None), //  - interval
    op(1337, "+", 1186, 1186, 1186, 1169, 1337, 0, false, false, Selectivity::None), // interval + interval
    op(1338, "-", 1186, 1186, 1186, 1170, 0, 0, false, false, Selectivity::None), // interval - interval
    op(1360, "+", 1082, 1083, 1114, 1272, 1363, 0, false, false, Selectivity::None), // date + time
    op(1361, "+", 1082, 1266, 1184, 1297, 1366, 0, false, false, Selectivity::None), // date + timetz
    op(1363, "+", 1083, 1082, 1114, 1296, 1360, 0, false, false, Selectivity::None), // time + date
    op(1366, "+", 1266, 1082, 1184, 1298, 1361, 0, false, false, Selectivity::None), // timetz + date
    op(1383, "<->", 604, 718, 701, 785, 1523, 0, false, false, Selectivity::None), // polygon <-> circle
    op(1399, "-", 1083, 1083, 1186, 1690, 0, 0, false, false, Selectivity::None), // time - time
    op(1420, "@@", 0, 718, 600, 1472, 0, 0, false, false, Selectivity::None), //  @@ circle
    op(1500, "=", 718, 718, 16, 1462, 1500, 1501, false, false, Selectivity::Equal), // circle = circle
    op(1501, "<>", 718, 718, 16, 1463, 1501, 1500, false, false, Selectivity::NotEqual), // circle <> circle
    op(1502, "<", 718, 718, 16, 1464, 1503, 1505, false, false, Selectivity::Area), // circle < circle
    op(1503, ">", 718, 718, 16, 1465, 1502, 1504, false, false, Selectivity::Area), // circle > circle
    op(1504, "<=", 718, 718, 16, 1466, 1505, 1503, false, false, Selectivity::Area), // circle <= circle
    op(1505, ">=", 718, 718, 16, 1467, 1504, 1502, false, false, Selectivity::Area), // circle >= circle
    op(1506, "<<", 718, 718, 16, 1454, 0, 0, false, false, Selectivity::Position), // circle << circle
    op(1507, "&<", 718, 718, 16, 1455, 0, 0, false, false, Selectivity::Position), // circle &< circle
    op(1508, "&>", 718, 718, 16, 1456, 0, 0, false, false, Selectivity::Position), // circle &> circle
    op(1509, ">>", 718, 718, 16, 1457, 0, 0, false, false, Selectivity::Position), // circle >> circle
    op(1510, "<@", 718, 718, 16, 1458, 1511, 0, false, false, Selectivity::Contain), // circle <@ circle
    op(1511, "@>", 718, 718, 16, 1453, 1510, 0, false, false, Selectivity::Contain), // circle @> circle
    op(1512, "~=", 718, 718, 16, 1452, 1512, 0, false, false, Selectivity::Equal), // circle ~= circle
    op(1513, "&&", 718, 718, 16, 1459, 1513, 0, false, false, Selectivity::Area), // circle && circle
    op(1514, "|>>", 718, 718, 16, 1461, 0, 0, false, false, Selectivity::Position), // circle |>> circle
    op(1515, "<<|", 718, 718, 16, 1460, 0, 0, false, false, Selectivity::Position), // circle <<| circle
    op(1516, "+", 718, 600, 718, 1146, 0, 0, false, false, Selectivity::None), // circle + point
    op(1517, "-", 718, 600, 718, 1147, 0, 0, false, false, Selectivity::None), // circle - point
    op(1518, "*", 718, 600, 718, 1148, 0, 0, false, false, Selectivity::None), // circle * point
    op(1519, "/", 718, 600, 718, 1149, 0, 0, false, false, Selectivity::None), // circle / point
    op(1520, "<->", 718, 718, 701, 1471, 1520, 0, false, false, Selectivity::None), // circle <-> circle
    op(1521, "#", 0, 604, 23, 1445, 0, 0, false, false, Selectivity::None), //  # polygon
    op(1522, "<->", 600, 718, 701, 1476, 3291, 0, false, false, Selectivity::None), // point <-> circle
    op(1523, "<->", 718, 604, 701, 728, 1383, 0, false, false, Selectivity::None), // circle <-> polygon
    op(1525, "?#", 601, 601, 16, 994, 1525, 0, false, false, Selectivity::None), // lseg ?# lseg
    op(1526, "?||", 601, 601, 16, 995, 1526, 0, false, false, Selectivity::None), // lseg ?|| lseg
    op(1527, "?-|", 601, 601, 16, 996, 1527, 0, false, false, Selectivity::None), // lseg ?-| lseg
    op(1528, "?-", 0, 601, 16, 998, 0, 0, false, false, Selectivity::None), //  ?- lseg
    op(1529, "?|", 0, 601, 16, 997, 0, 0, false, false, Selectivity::None), //  ?| lseg
    op(1535, "=", 601, 601, 16, 999, 1535, 1586, false, false, Selectivity::Equal), // lseg = lseg
    op(1536, "#", 601, 601, 600, 362, 1536, 0, false, false, Selectivity::None), // lseg # lseg
    op(1537, "?#", 601, 628, 16, 277, 0, 0, false, false, Selectivity::None), // lseg ?# line
    op(1538, "?#", 601, 603, 16, 373, 0, 0, false, false, Selectivity::None), // lseg ?# box
    op(1539, "?#", 628, 603, 16, 278, 0, 0, false, false, Selectivity::None), // line ?# box
    op(1546, "<@", 600, 628, 16, 959, 0, 0, false, false, Selectivity::None), // point <@ line
    op(1547, "<@", 600, 601, 16, 369, 0, 0, false, false, Selectivity::None), // point <@ lseg
    op(1548, "<@", 601, 628, 16, 960, 0, 0, false, false, Selectivity::None), // lseg <@ line
    op(1549, "<@", 601, 603, 16, 372, 0, 0, false, false, Selectivity::None), // lseg <@ box
    op(1550, "=", 1266, 1266, 16, 1352, 1550, 1551, true, true, Selectivity::Equal), // timetz = timetz
    op(1551, "<>", 1266, 1266, 16, 1353, 1551, 1550, false, false, Selectivity::NotEqual), // timetz <> timetz
    op(1552, "<", 1266, 1266, 16, 1354, 1554, 1555, false, false, Selectivity::Less), // timetz < timetz
    op(1553, "<=", 1266, 1266, 16, 1355, 1555, 1554, false, false, Selectivity::LessEqual), // timetz <= timetz
    op(1554, ">", 1266, 1266, 16, 1357, 1552, 1553, false, false, Selectivity::Greater), // timetz > timetz
    op(1555, ">=", 1266, 1266, 16, 1356, 1553, 1552, false, false, Selectivity::GreaterEqual), // timetz >= timetz
    op(1557, "##", 600, 628, 600, 961, 0, 0, false, false, Selectivity::None), // point ## line
    op(1558, "##", 600, 601, 600, 366, 0, 0, false, false, Selectivity::None), // point ## lseg
    op(1559, "##", 600, 603, 600, 367, 0, 0, false, false, Selectivity::None), // point ## box
    op(1567, "##", 601, 603, 600, 368, 0, 0, false, false, Selectivity::None), // lseg ## box
    op(1577, "##", 628, 601, 600, 1488, 0, 0, false, false, Selectivity::None), // line ## lseg
    op(1578, "##", 601, 601, 600, 1489, 0, 0, false, false, Selectivity::None), // lseg ## lseg
    op(1583, "*", 1186, 701, 1186, 1618, 1584, 0, false, false, Selectivity::None), // interval * float8
    op(1584, "*", 701, 1186, 1186, 1624, 1583, 0, false, false, Selectivity::None), // float8 * interval
    op(1585, "/", 1186, 701, 1186, 1326, 0, 0, false, false, Selectivity::None), // interval / float8
    op(1586, "<>", 601, 601, 16, 1482, 1586, 1535, false, false, Selectivity::NotEqual), // lseg <> lseg
    op(1587, "<", 601, 601, 16, 1483, 1589, 1590, false, false, Selectivity::None), // lseg < lseg
    op(1588, "<=", 601, 601, 16, 1484, 1590, 1589, false, false, Selectivity::None), // lseg <= lseg
    op(1589, ">", 601, 601, 16, 1485, 1587, 1588, false, false, Selectivity::None), // lseg > lseg
    op(1590, ">=", 601, 601, 16, 1486, 1588, 1587, false, false, Selectivity::None), // lseg >= lseg
    op(1591, "@-@", 0, 601, 701, 1487, 0, 0, false, false, Selectivity::None), //  @-@ lseg
    op(1611, "?#", 628, 628, 16, 1495, 1611, 0, false, false, Selectivity::None), // line ?# line
    op(1612, "?||", 628, 628, 16, 1496, 1612, 0, false, false, Selectivity::None), // line ?|| line
    op(1613, "?-|", 628, 628, 16, 1497, 1613, 0, false, false, Selectivity::None), // line ?-| line
    op(1614, "?-", 0, 628, 16, 1499, 0, 0, false, false, Selectivity::None), //  ?- line
    op(1615, "?|", 0, 628, 16, 1498, 0, 0, false, false, Selectivity::None), //  ?| line
    op(1616, "=", 628, 628, 16, 1492, 1616, 0, false, false, Selectivity::Equal), // line = line
    op(1617, "#", 628, 628, 600, 1494, 1617, 0, false, false, Selectivity::None), // line # line
    op(1625, "~~*", 19, 25, 16, 1635, 0, 1626, false, false, Selectivity::ILike), // name ~~* text
    op(1626, "!~~*", 19, 25, 16, 1636, 0, 1625, false, false, Selectivity::NotILike), // name !~~* text
    op(1627, "~~*", 25, 25, 16, 1633, 0, 1628, false, false, Selectivity::ILike), // text ~~* text
    op(1628, "!~~*", 25, 25, 16, 1634, 0, 1627, false, false, Selectivity::NotILike), // text !~~* text
    op(1629, "~~*", 1042, 25, 16, 1660, 0, 1630, false, false, Selectivity::ILike), // bpchar ~~* text
    op(1630, "!~~*", 1042, 25, 16, 1661, 0, 1629, false, false, Selectivity::NotILike), // bpchar !~~* text
    op(1694, "<=", 16, 16, 16, 1691, 1695, 59, false, false, Selectivity::LessEqual), // bool <= bool
    op(1695, ">=", 16, 16, 16, 1692, 1694, 58, false, false, Selectivity::GreaterEqual), // bool >= bool
    op(1751, "-", 0, 1700, 1700, 1771, 0, 0, false, false, Selectivity::None), //  - numeric
    op(1752, "=", 1700, 1700, 16, 1718, 1752, 1753, true, true, Selectivity::Equal), // numeric = numeric
    op(1753, "<>", 1700, 1700, 16, 1719, 1753, 1752, false, false, Selectivity::NotEqual), // numeric <> numeric
    op(1754, "<", 1700, 1700, 16, 1722, 1756, 1757, false, false, Selectivity::Less), // numeric < numeric
    op(1755, "<=", 1700, 1700, 16, 1723, 1757, 1756, false, false, Selectivity::LessEqual), // numeric <= numeric
    op(1756, ">", 1700, 1700, 16, 1720, 1754, 1755, false, false, Selectivity::Greater), // numeric > numeric
    op(1757, ">=", 1700, 1700, 16, 1721, 1755, 1754, false, false, Selectivity::GreaterEqual), // numeric >= numeric
    op(1758, "+", 1700, 1700, 1700, 1724, 1758, 0, false, false, Selectivity::None), // numeric + numeric
    op(1759, "-", 1700, 1700, 1700, 1725, 0, 0, false, false, Selectivity::None), // numeric - numeric
    op(1760, "*", 1700, 1700, 1700, 1726, 1760, 0, false, false, Selectivity::None), // numeric * numeric
    op(1761, "/", 1700, 1700, 1700, 1727, 0, 0, false, false, Selectivity::None), // numeric / numeric
    op(1762, "%", 1700, 1700, 1700, 1729, 0, 0, false, false, Selectivity::None), // numeric % numeric
    op(1763, "@", 0, 1700, 1700, 1704, 0, 0, false, false, Selectivity::None), //  @ numeric
    op(1784, "=", 1560, 1560, 16, 1581, 1784, 1785, false, true, Selectivity::Equal), // bit = bit
    op(1785, "<>", 1560, 1560, 16, 1582, 1785, 1784, false, false, Selectivity::NotEqual), // bit <> bit
    op(1786, "<", 1560, 1560, 16, 1595, 1787, 1789, false, false, Selectivity::Less), // bit < bit
    op(1787, ">", 1560, 1560, 16, 1593, 1786, 1788, false, false, Selectivity::Greater), // bit > bit
    op(1788, "<=", 1560, 1560, 16, 1594, 1789, 1787, false, false, Selectivity::LessEqual), // bit <= bit
    op(1789, ">=", 1560, 1560, 16, 1592, 1788, 1786, false, false, Selectivity::GreaterEqual), // bit >= bit
    op(1791, "&", 1560, 1560, 1560, 1673, 1791, 0, false, false, Selectivity::None), // bit & bit
    op(1792, "|", 1560, 1560, 1560, 1674, 1792, 0, false, false, Selectivity::None), // bit | bit
    op(1793, "#", 1560, 1560, 1560, 1675, 1793, 0, false, false, Selectivity::None), // bit # bit
    op(1794, "~", 0, 1560, 1560, 1676, 0, 0, false, false, Selectivity::None), //  ~ bit
    op(1795, "<<", 1560, 23, 1560, 1677, 0, 0, false, false, Selectivity::None), // bit << int4
    op(1796, ">>", 1560, 23, 1560, 1678, 0, 0, false, false, Selectivity::None), // bit >> int4
    op(1797, "||", 1562, 1562, 1562, 1679, 0, 0, false, false, Selectivity::None), // varbit || varbit
    op(1800, "+", 1083, 1186, 1083, 1747, 1849, 0, false, false, Selectivity::None), // time + interval
    op(1801, "-", 1083, 1186, 1083, 1748, 0, 0, false, false, Selectivity::None), // time - interval
    op(1802, "+", 1266, 1186, 1266, 1749, 2552, 0, false, false, Selectivity::None), // timetz + interval
    op(1803, "-", 1266, 1186, 1266, 1750, 0, 0, false, false, Selectivity::None), // timetz - interval
    op(1804, "=", 1562, 1562, 16, 1666, 1804, 1805, false, true, Selectivity::Equal), // varbit = varbit
    op(1805, "<>", 1562, 1562, 16, 1667, 1805, 1804, false, false, Selectivity::NotEqual), // varbit <> varbit
    op(1806, "<", 1562, 1562, 16, 1671, 1807, 1809, false, false, Selectivity::Less), // varbit < varbit
    op(1807, ">", 1562, 1562, 16, 1669, 1806, 1808, false, false, Selectivity::Greater), // varbit > varbit
    op(1808, "<=", 1562, 1562, 16, 1670, 1809, 1807, false, false, Selectivity::LessEqual), // varbit <= varbit
    op(1809, ">=", 1562, 1562, 16, 1668, 1808, 1806, false, false, Selectivity::GreaterEqual), // varbit >= varbit
    op(1849, "+", 1186, 1083, 1083, 1848, 1800, 0, false, false, Selectivity::None), // interval + time
    op(1862, "=", 21, 20, 16, 1850, 1868, 1863, true, true, Selectivity::Equal), // int2 = int8
    op(1863, "<>", 21, 20, 16, 1851, 1869, 1862, false, false, Selectivity::NotEqual), // int2 <> int8
    op(1864, "<", 21, 20, 16, 1852, 1871, 1867, false, false, Selectivity::Less), // int2 < int8
    op(1865, ">", 21, 20, 16, 1853, 1870, 1866, false, false, Selectivity::Greater), // int2 > int8
    op(1866, "<=", 21, 20, 16, 1854, 1873, 1865, false, false, Selectivity::LessEqual), // int2 <= int8
    op(1867, ">=", 21, 20, 16, 1855, 1872, 1864, false, false, Selectivity::GreaterEqual), // int2 >= int8
    op(1868, "=", 20, 21, 16, 1856, 1862, 1869, true, true, Selectivity::Equal), // int8 = int2
    op(1869, "<>", 20, 21, 16, 1857, 1863, 1868, false, false, Selectivity::NotEqual), // int8 <> int2
    op(1870, "<", 20, 21, 16, 1858, 1865, 1873, false, false, Selectivity::Less), // int8 < int2
    op(1871, ">", 20, 21, 16, 1859, 1864, 1872, false, false, Selectivity::Greater), // int8 > int2
    op(1872, "<=", 20, 21, 16, 1860, 1867, 1871, false, false, Selectivity::LessEqual), // int8 <= int2
    op(1873, ">=", 20, 21, 16, 1861, 1866, 1870, false, false, Selectivity::GreaterEqual), // int8 >= int2
    op(1874, "&", 21, 21, 21, 1892, 1874, 0, false, false, Selectivity::None), // int2 & int2
    op(1875, "|", 21, 21, 21, 1893, 1875, 0, false, false, Selectivity::None), // int2 | int2
    op(1876, "#", 21, 21, 21, 1894, 1876, 0, false, false, Selectivity::None), // int2 # int2
    op(1877, "~", 0, 21, 21, 1895, 0, 0, false, false, Selectivity::None), //  ~ int2
    op(1878, "<<", 21, 23, 21, 1896, 0, 0, false, false, Selectivity::None), // int2 << int4
    op(1879, ">>", 21, 23, 21, 1897, 0, 0, false, false, Selectivity::None), // int2 >> int4
    op(1880, "&", 23, 23, 23, 1898, 1880, 0, false, false, Selectivity::None), // int4 & int4
    op(1881, "|", 23, 23, 23, 1899, 1881, 0, false, false, Selectivity::None), // int4 | int4
    op(1882, "#", 23, 23, 23, 1900, 1882, 0, false, false, Selectivity::None), // int4 # int4
    op(1883, "~", 0, 23, 23, 1901, 0, 0, false, false, Selectivity::None), //  ~ int4
    op(1884, "<<", 23, 23, 23, 1902, 0, 0, false, false, Selectivity::None), // int4 << int4
    op(1885, ">>", 23, 23, 23, 1903, 0, 0, false, false, Selectivity::None), // int4 >> int4
    op(1886, "&", 20, 20, 20, 1904, 1886, 0, false, false, Selectivity::None), // int8 & int8
    op(1887, "|", 20, 20, 20, 1905, 1887, 0, false, false, Selectivity::None), // int8 | int8
    op(1888, "#", 20, 20, 20, 1906, 1888, 0, false, false, Selectivity::None), // int8 # int8
    op(1889, "~", 0, 20, 20, 1907, 0, 0, false, false, Selectivity::None), //  ~ int8
    op(1890, "<<", 20, 23, 20, 1908, 0, 0, false, false, Selectivity::None), // int8 << int4
    op(1891, ">>", 20, 23, 20, 1909, 0, 0, false, false, Selectivity::None), // int8 >> int4
    op(1916, "+", 0, 20, 20, 1910, 0, 0, false, false, Selectivity::None), //  + int8
    op(1917, "+", 0, 21, 21, 1911, 0, 0, false, false, Selectivity::None), //  + int2
    op(1918, "+", 0, 23, 23, 1912, 0, 0, false, false, Selectivity::None), //  + int4
    op(1919, "+", 0, 700, 700, 1913, 0, 0, false, false, Selectivity::None), //  + float4
    op(1920, "+", 0, 701, 701, 1914, 0, 0, false, false, Selectivity::None), //  + float8
    op(1921, "+", 0, 1700, 1700, 1915, 0, 0, false, false, Selectivity::None), //  + numeric
    op(1955, "=", 17, 17, 16, 1948, 1955, 1956, true, true, Selectivity::Equal), // bytea = bytea
    op(1956, "<>", 17, 17, 16, 1953, 1956, 1955, false, false, Selectivity::NotEqual), // bytea <> bytea
    op(1957, "<", 17, 17, 16, 1949, 1959, 1960, false, false, Selectivity::Less), // bytea < bytea
    op(1958, "<=", 17, 17, 16, 1950, 1960, 1959, false, false, Selectivity::LessEqual), // bytea <= bytea
    op(1959, ">", 17, 17, 16, 1951, 1957, 1958, false, false, Selectivity::Greater), // bytea > bytea
    op(1960, ">=", 17, 17, 16, 1952, 1958, 1957, false, false, Selectivity::GreaterEqual), // bytea >= bytea
    op(2016, "~~", 17, 17, 16, 2005, 0, 2017, false, false, Selectivity::Like), // bytea ~~ bytea
    op(2017, "!~~", 17, 17, 16, 2006, 0, 2016, false, false, Selectivity::NotLike), // bytea !~~ bytea
    op(2018, "||", 17, 17, 17, 2011, 0, 0, false, false, Selectivity::None), // bytea || bytea
    op(2060, "=", 1114, 1114, 16, 2052, 2060, 2061, true, true, Selectivity::Equal), // timestamp = timestamp
    op(2061, "<>", 1114, 1114, 16, 2053, 2061, 2060, false, false, Selectivity::NotEqual), // timestamp <> timestamp
    op(2062, "<", 1114, 1114, 16, 2054, 2064, 2065, false, false, Selectivity::Less), // timestamp < timestamp
    op(2063, "<=", 1114, 1114, 16, 2055, 2065, 2064, false, false, Selectivity::LessEqual), // timestamp <= timestamp
    op(2064, ">", 1114, 1114, 16, 2057, 2062, 2063, false, false, Selectivity::Greater), // timestamp > timestamp
    op(2065, ">=", 1114, 1114, 16, 2056, 2063, 2062, false, false, Selectivity::GreaterEqual), // timestamp >= timestamp
    op(2066, "+", 1114, 1186, 1114, 2032, 2553, 0, false, false, Selectivity::None), // timestamp + interval
    op(2067, "-", 1114, 1114, 1186, 2031, 0, 0, false, false, Selectivity::None), // timestamp - timestamp
    op(2068, "-", 1114, 1186, 1114, 2033, 0, 0, false, false, Selectivity::None), // timestamp - interval
    op(2314, "~<~", 25, 25, 16, 2160, 2318, 2317, false, false, Selectivity::Less), // text ~<~ text
    op(2315, "~<=~", 25, 25, 16, 2161, 2317, 2318, false, false, Selectivity::LessEqual), // text ~<=~ text
    op(2317, "~>=~", 25, 25, 16, 2163, 2315, 2314, false, false, Selectivity::GreaterEqual), // text ~>=~ text
    op(2318, "~>~", 25, 25, 16, 2164, 2314, 2315, false, false, Selectivity::Greater), // text ~>~ text
    op(2326, "~<~", 1042, 1042, 16, 2174, 2330, 2329, false, false, Selectivity::Less), // bpchar ~<~ bpchar
    op(2327, "~<=~", 1042, 1042, 16, 2175, 2329, 2330, false, false, Selectivity::LessEqual), // bpchar ~<=~ bpchar
    op(2329, "~>=~", 1042, 1042, 16, 2177, 2327, 2326, false, false, Selectivity::GreaterEqual), // bpchar ~>=~ bpchar
    op(2330, "~>~", 1042, 1042, 16, 2178, 2326, 2327, false, false, Selectivity::Greater), // bpchar ~>~ bpchar
    op(2345, "<", 1082, 1114, 16, 2338, 2375, 2348, false, false, Selectivity::Less), // date < timestamp
    op(2346, "<=", 1082, 1114, 16, 2339, 2374, 2349, false, false, Selectivity::LessEqual), // date <= timestamp
    op(2347, "=", 1082, 1114, 16, 2340, 2373, 2350, false, true, Selectivity::Equal), // date = timestamp
    op(2348, ">=", 1082, 1114, 16, 2342, 2372, 2345, false, false, Selectivity::GreaterEqual), // date >= timestamp
    op(2349, ">", 1082, 1114, 16, 2341, 2371, 2346, false, false, Selectivity::Greater), // date > timestamp
    op(2350, "<>", 1082, 1114, 16, 2343, 2376, 2347, false, false, Selectivity::NotEqual), // date <> timestamp
    op(2358, "<", 1082, 1184, 16, 2351, 2388, 2361, false, false, Selectivity::Less), // date < timestamptz
    op(2359, "<=", 1082, 1184, 16, 2352, 2387, 2362, false, false, Selectivity::LessEqual), // date <= timestamptz
    op(2360, "=", 1082, 1184, 16, 2353, 2386, 2363, false, true, Selectivity::Equal), // date = timestamptz
    op(2361, ">=", 1082, 1184, 16, 2355, 2385, 2358, false, false, Selectivity::GreaterEqual), // date >= timestamptz
    op(2362, ">", 1082, 1184, 16, 2354, 2384, 2359, false, false, Selectivity::Greater), // date > timestamptz
    op(2363, "<>", 1082, 1184, 16, 2356, 2389, 2360, false, false, Selectivity::NotEqual), // date <> timestamptz
    op(2371, "<", 1114, 1082, 16, 2364, 2349, 2374, false, false, Selectivity::Less), // timestamp < date
    op(2372, "<=", 1114, 1082, 16, 2365, 2348, 2375, false, false, Selectivity::LessEqual), // timestamp <= date
    op(2373, "=", 1114, 1082, 16, 2366, 2347, 2376, false, true, Selectivity::Equal), // timestamp = date
    op(2374, ">=", 1114, 1082, 16, 2368, 2346, 2371, false, false, Selectivity::GreaterEqual), // timestamp >= date
    op(2375, ">", 1114, 1082, 16, 2367, 2345, 2372, false, false, Selectivity::Greater), // timestamp > date
    op(2376, "<>", 1114, 1082, 16, 2369, 2350, 2373, false, false, Selectivity::NotEqual), // timestamp <> date
    op(2384, "<", 1184, 1082, 16, 2377, 2362, 2387, false, false, Selectivity::Less), // timestamptz < date
    op(2385, "<=", 1184, 1082, 16, 2378, 2361, 2388, false, false, Selectivity::LessEqual), // timestamptz <= date
    op(2386, "=", 1184, 1082, 16, 2379, 2360, 2389, false, true, Selectivity::Equal), // timestamptz = date
    op(2387, ">=", 1184, 1082, 16, 2381, 2359, 2384, false, false, Selectivity::GreaterEqual), // timestamptz >= date
    op(2388, ">", 1184, 1082, 16, 2380, 2358, 2385, false, false, Selectivity::Greater), // timestamptz > date
    op(2389, "<>", 1184, 1082, 16, 2382, 2363, 2386, false, false, Selectivity::NotEqual), // timestamptz <> date
    op(2534, "<", 1114, 1184, 16, 2520, 2544, 2537, false, false, Selectivity::Less), // timestamp < timestamptz
    op(2535, "<=", 1114, 1184, 16, 2521, 2543, 2538, false, false, Selectivity::LessEqual), // timestamp <= timestamptz
    op(2536, "=", 1114, 1184, 16, 2522, 2542, 2539, false, true, Selectivity::Equal), // timestamp = timestamptz
    op(2537, ">=", 1114, 1184, 16, 2524, 2541, 2534, false, false, Selectivity::GreaterEqual), // timestamp >= timestamptz
    op(2538, ">", 1114, 1184, 16, 2523, 2540, 2535, false, false, Selectivity::Greater), // timestamp > timestamptz
    op(2539, "<>", 1114, 1184, 16, 2525, 2545, 2536, false, false, Selectivity::NotEqual), // timestamp <> timestamptz
    op(2540, "<", 1184, 1114, 16, 2527, 2538, 2543, false, false, Selectivity::Less), // timestamptz < timestamp
    op(2541, "<=", 1184, 1114, 16, 2528, 2537, 2544, false, false, Selectivity::LessEqual), // timestamptz <= timestamp
    op(2542, "=", 1184, 1114, 16, 2529, 2536, 2545, false, true, Selectivity::Equal), // timestamptz = timestamp
    op(2543, ">=", 1184, 1114, 16, 2531, 2535, 2540, false, false, Selectivity::GreaterEqual), // timestamptz >= timestamp
    op(2544, ">", 1184, 1114, 16, 2530, 2534, 2541, false, false, Selectivity::Greater), // timestamptz > timestamp
    op(2545, "<>", 1184, 1114, 16, 2532, 2539, 2542, false, false, Selectivity::NotEqual), // timestamptz <> timestamp
    op(2551, "+", 1186, 1082, 1114, 2546, 1076, 0, false, false, Selectivity::None), // interval + date
    op(2552, "+", 1186, 1266, 1266, 2547, 1802, 0, false, false, Selectivity::None), // interval + timetz
    op(2553, "+", 1186, 1114, 1114, 2548, 2066, 0, false, false, Selectivity::None), // interval + timestamp
    op(2554, "+", 1186, 1184, 1184, 2549, 1327, 0, false, false, Selectivity::None), // interval + timestamptz
    op(2555, "+", 23, 1082, 1082, 2550, 1100, 0, false, false, Selectivity::None), // int4 + date
    op(2570, "<<|", 603, 603, 16, 2562, 0, 0, false, false, Selectivity::Position), // box <<| box
    op(2571, "&<|", 603, 603, 16, 2563, 0, 0, false, false, Selectivity::Position), // box &<| box
    op(2572, "|&>", 603, 603, 16, 2564, 0, 0, false, false, Selectivity::Position), // box |&> box
    op(2573, "|>>", 603, 603, 16, 2565, 0, 0, false, false, Selectivity::Position), // box |>> box
    op(2574, "<<|", 604, 604, 16, 2566, 0, 0, false, false, Selectivity::Position), // polygon <<| polygon
    op(2575, "&<|", 604, 604, 16, 2567, 0, 0, false, false, Selectivity::Position), // polygon &<| polygon
    op(2576, "|&>", 604, 604, 16, 2568, 0, 0, false, false, Selectivity::Position), // polygon |&> polygon
    op(2577, "|>>", 604, 604, 16, 2569, 0, 0, false, false, Selectivity::Position), // polygon |>> polygon
    op(2589, "&<|", 718, 718, 16, 2587, 0, 0, false, false, Selectivity::Position), // circle &<| circle
    op(2590, "|&>", 718, 718, 16, 2588, 0, 0, false, false, Selectivity::Position), // circle |&> circle
    op(2634, "~", 0, 869, 869, 2627, 0, 0, false, false, Selectivity::None), //  ~ inet
    op(2635, "&", 869, 869, 869, 2628, 0, 0, false, false, Selectivity::None), // inet & inet
    op(2636, "|", 869, 869, 869, 2629, 0, 0, false, false, Selectivity::None), // inet | inet
    op(2637, "+", 869, 20, 869, 2630, 2638, 0, false, false, Selectivity::None), // inet + int8
    op(2638, "+", 20, 869, 869, 2631, 2637, 0, false, false, Selectivity::None), // int8 + inet
    op(2639, "-", 869, 20, 869, 2632, 0, 0, false, false, Selectivity::None), // inet - int8
    op(2640, "-", 869, 869, 20, 2633, 0, 0, false, false, Selectivity::None), // inet - inet
    op(2750, "&&", 2277, 2277, 16, 2747, 2750, 0, false, false, Selectivity::ArrayContain), // anyarray && anyarray
    op(2751, "@>", 2277, 2277, 16, 2748, 2752, 0, false, false, Selectivity::ArrayContain), // anyarray @> anyarray
    op(2752, "<@", 2277, 2277, 16, 2749, 2751, 0, false, false, Selectivity::ArrayContain), // anyarray <@ anyarray
    op(2779, "||", 25, 2776, 25, 2003, 0, 0, false, false, Selectivity::None), // text || anynonarray
    op(2780, "||", 2776, 25, 25, 2004, 0, 0, false, false, Selectivity::None), // anynonarray || text
    op(2799, "<", 27, 27, 16, 2791, 2800, 2802, false, false, Selectivity::Less), // tid < tid
    op(2800, ">", 27, 27, 16, 2790, 2799, 2801, false, false, Selectivity::Greater), // tid > tid
    op(2801, "<=", 27, 27, 16, 2793, 2802, 2800, false, false, Selectivity::LessEqual), // tid <= tid
    op(2802, ">=", 27, 27, 16, 2792, 2801, 2799, false, false, Selectivity::GreaterEqual), // tid >= tid
    op(2860, "=", 4537, 4537, 16, 4244, 2860, 2861, true, true, Selectivity::Equal), // anymultirange = anymultirange
    op(2861, "<>", 4537, 4537, 16, 4245, 2861, 2860, false, false, Selectivity::NotEqual), // anymultirange <> anymultirange
    op(2862, "<", 4537, 4537, 16, 4274, 2865, 2864, false, false, Selectivity::Multirange), // anymultirange < anymultirange
    op(2863, "<=", 4537, 4537, 16, 4275, 2864, 2865, false, false, Selectivity::Multirange), // anymultirange <= anymultirange
    op(2864, ">=", 4537, 4537, 16, 4276, 2863, 2862, false, false, Selectivity::Multirange), // anymultirange >= anymultirange
    op(2865, ">", 4537, 4537, 16, 4277, 2862, 2863, false, false, Selectivity::Multirange), // anymultirange > anymultirange
    op(2866, "&&", 3831, 4537, 16, 4246, 2867, 0, false, false, Selectivity::Multirange), // anyrange && anymultirange
    op(2867, "&&", 4537, 3831, 16, 4247, 2866, 0, false, false, Selectivity::Multirange), // anymultirange && anyrange
    op(2868, "&&", 4537, 4537, 16, 4248, 2868, 0, false, false, Selectivity::Multirange), // anymultirange && anymultirange
    op(2869, "@>", 4537, 2283, 16, 4249, 2872, 0, false, false, Selectivity::Multirange), // anymultirange @> anyelement
    op(2870, "@>", 4537, 3831, 16, 4250, 2873, 0, false, false, Selectivity::Multirange), // anymultirange @> anyrange
    op(2871, "@>", 4537, 4537, 16, 4251, 2874, 0, false, false, Selectivity::Multirange), // anymultirange @> anymultirange
    op(2872, "<@", 2283, 4537, 16, 4252, 2869, 0, false, false, Selectivity::Multirange), // anyelement <@ anymultirange
    op(2873, "<@", 3831, 4537, 16, 4253, 2870, 0, false, false, Selectivity::Multirange), // anyrange <@ anymultirange
    op(2874, "<@", 4537, 4537, 16, 4254, 2871, 0, false, false, Selectivity::Multirange), // anymultirange <@ anymultirange
    op(2875, "&<", 3831, 4537, 16, 4264, 0, 0, false, false, Selectivity::Multirange), // anyrange &< anymultirange
    op(2876, "&<", 4537, 3831, 16, 4265, 0, 0, false, false, Selectivity::Multirange), // anymultirange &< anyrange
    op(2877, "&<", 4537, 4537, 16, 4266, 0, 0, false, false, Selectivity::Multirange), // anymultirange &< anymultirange
    op(2972, "=", 2950, 2950, 16, 2956, 2972, 2973, true, true, Selectivity::Equal), // uuid = uuid
    op(2973, "<>", 2950, 2950, 16, 2959, 2973, 2972, false, false, Selectivity::NotEqual), // uuid <> uuid
    op(2974, "<", 2950, 2950, 16, 2954, 2975, 2977, false, false, Selectivity::Less), // uuid < uuid
    op(2975, ">", 2950, 2950, 16, 2958, 2974, 2976, false, false, Selectivity::Greater), // uuid > uuid
    op(2976, "<=", 2950, 2950, 16, 2955, 2977, 2975, false, false, Selectivity::LessEqual), // uuid <= uuid
    op(2977, ">=", 2950, 2950, 16, 2957, 2976, 2974, false, false, Selectivity::GreaterEqual), // uuid >= uuid
    op(2988, "=", 2249, 2249, 16, 2981, 2988, 2989, true, true, Selectivity::Equal), // record = record
    op(2989, "<>", 2249, 2249, 16, 2982, 2989, 2988, false, false, Selectivity::NotEqual), // record <> record
    op(2990, "<", 2249, 2249, 16, 2983, 2991, 2993, false, false, Selectivity::Less), // record < record
    op(2991, ">", 2249, 2249, 16, 2984, 2990, 2992, false, false, Selectivity::Greater), // record > record
    op(2992, "<=", 2249, 2249, 16, 2985, 2993, 2991, false, false, Selectivity::LessEqual), // record <= record
    op(2993, ">=", 2249, 2249, 16, 2986, 2992, 2990, false, false, Selectivity::GreaterEqual), // record >= record
    op(3147, "~", 0, 829, 829, 3144, 0, 0, false, false, Selectivity::None), //  ~ macaddr
    op(3148, "&", 829, 829, 829, 3145, 0, 0, false, false, Selectivity::None), // macaddr & macaddr
    op(3149, "|", 829, 829, 829, 3146, 0, 0, false, false, Selectivity::None), // macaddr | macaddr
    op(3188, "*=", 2249, 2249, 16, 3181, 3188, 3189, false, true, Selectivity::Equal), // record *= record
    op(3189, "*<>", 2249, 2249, 16, 3182, 3189, 3188, false, false, Selectivity::NotEqual), // record *<> record
    op(3190, "*<", 2249, 2249, 16, 3183, 3191, 3193, false, false, Selectivity::Less), // record *< record
    op(3191, "*>", 2249, 2249, 16, 3184, 3190, 3192, false, false, Selectivity::Greater), // record *> record
    op(3192, "*<=", 2249, 2249, 16, 3185, 3193, 3191, false, false, Selectivity::LessEqual), // record *<= record
    op(3193, "*>=", 2249, 2249, 16, 3186, 3192, 3190, false, false, Selectivity::GreaterEqual), // record *>= record
    op(3206, "#>>", 3802, 1009, 25, 3940, 0, 0, false, false, Selectivity::None), // jsonb #>> _text
    op(3211, "->", 3802, 25, 3802, 3478, 0, 0, false, false, Selectivity::None), // jsonb -> text
    op(3212, "->", 3802, 23, 3802, 3215, 0, 0, false, false, Selectivity::None), // jsonb -> int4
    op(3213, "#>", 3802, 1009, 3802, 3217, 0, 0, false, false, Selectivity::None), // jsonb #> _text
    op(3222, "=", 3220, 3220, 16, 3233, 3222, 3223, true, true, Selectivity::Equal), // pg_lsn = pg_lsn
    op(3223, "<>", 3220, 3220, 16, 3236, 3223, 3222, false, false, Selectivity::NotEqual), // pg_lsn <> pg_lsn
    op(3224, "<", 3220, 3220, 16, 3231, 3225, 3227, false, false, Selectivity::Less), // pg_lsn < pg_lsn
    op(3225, ">", 3220, 3220, 16, 3235, 3224, 3226, false, false, Selectivity::Greater), // pg_lsn > pg_lsn
    op(3226, "<=", 3220, 3220, 16, 3232, 3227, 3225, false, false, Selectivity::LessEqual), // pg_lsn <= pg_lsn
    op(3227, ">=", 3220, 3220, 16, 3234, 3226, 3224, false, false, Selectivity::GreaterEqual), // pg_lsn >= pg_lsn
    op(3228, "-", 3220, 3220, 1700, 3237, 0, 0, false, false, Selectivity::None), // pg_lsn - pg_lsn
    op(3240, "=", 3802, 3802, 16, 4043, 3240, 3241, true, true, Selectivity::Equal), // jsonb = jsonb
    op(3241, "<>", 3802, 3802, 16, 4038, 3241, 3240, false, false, Selectivity::NotEqual), // jsonb <> jsonb
    op(3242, "<", 3802, 3802, 16, 4039, 3243, 3245, false, false, Selectivity::Less), // jsonb < jsonb
    op(3243, ">", 3802, 3802, 16, 4040, 3242, 3244, false, false, Selectivity::Greater), // jsonb > jsonb
    op(3244, "<=", 3802, 3802, 16, 4041, 3245, 3243, false, false, Selectivity::LessEqual), // jsonb <= jsonb
    op(3245, ">=", 3802, 3802, 16, 4042, 3244, 3242, false, false, Selectivity::GreaterEqual), // jsonb >= jsonb
    op(3246, "@>", 3802, 3802, 16, 4046, 3250, 0, false, false, Selectivity::Matching), // jsonb @> jsonb
    op(3247, "?", 3802, 25, 16, 4047, 0, 0, false, false, Selectivity::Matching), // jsonb ? text
    op(3248, "?|", 3802, 1009, 16, 4048, 0, 0, false, false, Selectivity::Matching), // jsonb ?| _text
    op(3249, "?&", 3802, 1009, 16, 4049, 0, 0, false, false, Selectivity::Matching), // jsonb ?& _text
    op(3250, "<@", 3802, 3802, 16, 4050, 3246, 0, false, false, Selectivity::Matching), // jsonb <@ jsonb
    op(3276, "<->", 600, 604, 701, 3275, 3289, 0, false, false, Selectivity::None), // point <-> polygon
    op(3284, "||", 3802, 3802, 3802, 3301, 0, 0, false, false, Selectivity::None), // jsonb || jsonb
    op(3285, "-", 3802, 25, 3802, 3302, 0, 0, false, false, Selectivity::None), // jsonb - text
    op(3286, "-", 3802, 23, 3802, 3303, 0, 0, false, false, Selectivity::None), // jsonb - int4
    op(3287, "#-", 3802, 1009, 3802, 3304, 0, 0, false, false, Selectivity::None), // jsonb #- _text
    op(3289, "<->", 604, 600, 701, 3292, 3276, 0, false, false, Selectivity::None), // polygon <-> point
    op(3291, "<->", 718, 600, 701, 3290, 1522, 0, false, false, Selectivity::None), // circle <-> point
    op(3315, "<>", 28, 28, 16, 3308, 3315, 352, false, false, Selectivity::NotEqual), // xid <> xid
    op(3316, "<>", 28, 23, 16, 3309, 0, 353, false, false, Selectivity::NotEqual), // xid <> int4
    op(3346, "*", 790, 20, 790, 3344, 3349, 0, false, false, Selectivity::None), // money * int8
    op(3347, "/", 790, 20, 790, 3345, 0, 0, false, false, Selectivity::None), // money / int8
    op(3349, "*", 20, 790, 790, 3399, 3346, 0, false, false, Selectivity::None), // int8 * money
    op(3362, "=", 774, 774, 16, 4113, 3362, 3363, true, true, Selectivity::Equal), // macaddr8 = macaddr8
    op(3363, "<>", 774, 774, 16, 4118, 3363, 3362, false, false, Selectivity::NotEqual), // macaddr8 <> macaddr8
    op(3364, "<", 774, 774, 16, 4114, 3366, 3367, false, false, Selectivity::Less), // macaddr8 < macaddr8
    op(3365, "<=", 774, 774, 16, 4115, 3367, 3366, false, false, Selectivity::LessEqual), // macaddr8 <= macaddr8
    op(3366, ">", 774, 774, 16, 4116, 3364, 3365, false, false, Selectivity::Greater), // macaddr8 > macaddr8
    op(3367, ">=", 774, 774, 16, 4117, 3365, 3364, false, false, Selectivity::GreaterEqual), // macaddr8 >= macaddr8
    op(3368, "~", 0, 774, 774, 4120, 0, 0, false, false, Selectivity::None), //  ~ macaddr8
    op(3369, "&", 774, 774, 774, 4121, 0, 0, false, false, Selectivity::None), // macaddr8 & macaddr8
    op(3370, "|", 774, 774, 774, 4122, 0, 0, false, false, Selectivity::None), // macaddr8 | macaddr8
    op(3398, "-", 3802, 1009, 3802, 3343, 0, 0, false, false, Selectivity::None), // jsonb - _text
    op(3477, "->>", 3802, 25, 25, 3214, 0, 0, false, false, Selectivity::None), // jsonb ->> text
    op(3481, "->>", 3802, 23, 25, 3216, 0, 0, false, false, Selectivity::None), // jsonb ->> int4
    op(3516, "=", 3500, 3500, 16, 3508, 3516, 3517, true, true, Selectivity::Equal), // anyenum = anyenum
    op(3517, "<>", 3500, 3500, 16, 3509, 3517, 3516, false, false, Selectivity::NotEqual), // anyenum <> anyenum
    op(3518, "<", 3500, 3500, 16, 3510, 3519, 3521, false, false, Selectivity::Less), // anyenum < anyenum
    op(3519, ">", 3500, 3500, 16, 3511, 3518, 3520, false, false, Selectivity::Greater), // anyenum > anyenum
    op(3520, "<=", 3500, 3500, 16, 3512, 3521, 3519, false, false, Selectivity::LessEqual), // anyenum <= anyenum
    op(3521, ">=", 3500, 3500, 16, 3513, 3520, 3518, false, false, Selectivity::GreaterEqual), // anyenum >= anyenum
    op(3552, "&&", 869, 869, 16, 3551, 3552, 0, false, false, Selectivity::Network), // inet && inet
    op(3585, "&>", 3831, 4537, 16, 4267, 0, 0, false, false, Selectivity::Multirange), // anyrange &> anymultirange
    op(3627, "<", 3614, 3614, 16, 3616, 3632, 3631, false, false, Selectivity::Less), // tsvector < tsvector
    op(3628, "<=", 3614, 3614, 16, 3617, 3631, 3632, false, false, Selectivity::LessEqual), // tsvector <= tsvector
    op(3629, "=", 3614, 3614, 16, 3618, 3629, 3630, false, true, Selectivity::Equal), // tsvector = tsvector
    op(3630, "<>", 3614, 3614, 16, 3619, 3630, 3629, false, false, Selectivity::NotEqual), // tsvector <> tsvector
    op(3631, ">=", 3614, 3614, 16, 3620, 3628, 3627, false, false, Selectivity::GreaterEqual), // tsvector >= tsvector
    op(3632, ">", 3614, 3614, 16, 3621, 3627, 3628, false, false, Selectivity::Greater), // tsvector > tsvector
    op(3633, "||", 3614, 3614, 3614, 3625, 0, 0, false, false, Selectivity::None), // tsvector || tsvector
    op(3636, "@@", 3614, 3615, 16, 3634, 3637, 0, false, false, Selectivity::TextSearch), // tsvector @@ tsquery
    op(3637, "@@", 3615, 3614, 16, 3635, 3636, 0, false, false, Selectivity::TextSearch), // tsquery @@ tsvector
    op(3660, "@@@", 3614, 3615, 16, 3634, 3661, 0, false, false, Selectivity::TextSearch), // tsvector @@@ tsquery
    op(3661, "@@@", 3615, 3614, 16, 3635, 3660, 0, false, false, Selectivity::TextSearch), // tsquery @@@ tsvector
    op(3674, "<", 3615, 3615, 16, 3662, 3679, 3678, false, false, Selectivity::Less), // tsquery < tsquery
    op(3675, "<=", 3615, 3615, 16, 3663, 3678, 3679, false, false, Selectivity::LessEqual), // tsquery <= tsquery
    op(3676, "=", 3615, 3615, 16, 3664, 3676, 3677, false, true, Selectivity::Equal), // tsquery = tsquery
    op(3677, "<>", 3615, 3615, 16, 3665, 3677, 3676, false, false, Selectivity::NotEqual), // tsquery <> tsquery
    op(3678, ">=", 3615, 3615, 16, 3666, 3675, 3674, false, false, Selectivity::GreaterEqual), // tsquery >= tsquery
    op(3679, ">", 3615, 3615, 16, 3667, 3674, 3675, false, false, Selectivity::Greater), // tsquery > tsquery
    op(3680, "&&", 3615, 3615, 3615, 3669, 0, 0, false, false, Selectivity::None), // tsquery && tsquery
    op(3681, "||", 3615, 3615, 3615, 3670, 0, 0, false, false, Selectivity::None), // tsquery || tsquery
    op(3682, "!!", 0, 3615, 3615, 3671, 0, 0, false, false, Selectivity::None), //  !! tsquery
    op(3693, "@>", 3615, 3615, 16, 3691, 3694, 0, false, false, Selectivity::Matching), // tsquery @> tsquery
    op(3694, "<@", 3615, 3615, 16, 3692, 3693, 0, false, false, Selectivity::Matching), // tsquery <@ tsquery
    op(3762, "@@", 25, 25, 16, 3760, 0, 0, false, false, Selectivity::Matching), // text @@ text
    op(3763, "@@", 25, 3615, 16, 3761, 0, 0, false, false, Selectivity::Matching), // text @@ tsquery
    op(3825, "/", 790, 790, 701, 3822, 0, 0, false, false, Selectivity::None), // money / money
    op(3877, "^@", 25, 25, 16, 3696, 0, 0, false, false, Selectivity::Prefix), // text ^@ text
    op(3882, "=", 3831, 3831, 16, 3855, 3882, 3883, true, true, Selectivity::Equal), // anyrange = anyrange
    op(3883, "<>", 3831, 3831, 16, 3856, 3883, 3882, false, false, Selectivity::NotEqual), // anyrange <> anyrange
    op(3884, "<", 3831, 3831, 16, 3871, 3887, 3886, false, false, Selectivity::Range), // anyrange < anyrange
    op(3885, "<=", 3831, 3831, 16, 3872, 3886, 3887, false, false, Selectivity::Range), // anyrange <= anyrange
    op(3886, ">=", 3831, 3831, 16, 3873, 3885, 3884, false, false, Selectivity::Range), // anyrange >= anyrange
    op(3887, ">", 3831, 3831, 16, 3874, 3884, 3885, false, false, Selectivity::Range), // anyrange > anyrange
    op(3888, "&&", 3831, 3831, 16, 3857, 3888, 0, false, false, Selectivity::Range), // anyrange && anyrange
    op(3889, "@>", 3831, 2283, 16, 3858, 3891, 0, false, false, Selectivity::Range), // anyrange @> anyelement
    op(3890, "@>", 3831, 3831, 16, 3859, 3892, 0, false, false, Selectivity::Range), // anyrange @> anyrange
    op(3891, "<@", 2283, 3831, 16, 3860, 3889, 0, false, false, Selectivity::Range), // anyelement <@ anyrange
    op(3892, "<@", 3831, 3831, 16, 3861, 3890, 0, false, false, Selectivity::Range), // anyrange <@ anyrange
    op(3893, "<<", 3831, 3831, 16, 3863, 3894, 0, false, false, Selectivity::Range), // anyrange << anyrange
    op(3894, ">>", 3831, 3831, 16, 3864, 3893, 0, false, false, Selectivity::Range), // anyrange >> anyrange
    op(3895, "&<", 3831, 3831, 16, 3865, 0, 0, false, false, Selectivity::Range), // anyrange &< anyrange
    op(3896, "&>", 3831, 3831, 16, 3866, 0, 0, false, false, Selectivity::Range), // anyrange &> anyrange
    op(3897, "-|-", 3831, 3831, 16, 3862, 3897, 0, false, false, Selectivity::Matching), // anyrange -|- anyrange
    op(3898, "+", 3831, 3831, 3831, 3867, 3898, 0, false, false, Selectivity::None), // anyrange + anyrange
    op(3899, "-", 3831, 3831, 3831, 3869, 0, 0, false, false, Selectivity::None), // anyrange - anyrange
    op(3900, "*", 3831, 3831, 3831, 3868, 3900, 0, false, false, Selectivity::None), // anyrange * anyrange
    op(3962, "->", 114, 25, 114, 3947, 0, 0, false, false, Selectivity::None), // json -> text
    op(3963, "->>", 114, 25, 25, 3948, 0, 0, false, false, Selectivity::None), // json ->> text
    op(3964, "->", 114, 23, 114, 3949, 0, 0, false, false, Selectivity::None), // json -> int4
    op(3965, "->>", 114, 23, 25, 3950, 0, 0, false, false, Selectivity::None), // json ->> int4
    op(3966, "#>", 114, 1009, 114, 3951, 0, 0, false, false, Selectivity::None), // json #> _text
    op(3967, "#>>", 114, 1009, 25, 3953, 0, 0, false, false, Selectivity::None), // json #>> _text
    op(4012, "@?", 3802, 4072, 16, 4010, 0, 0, false, false, Selectivity::Matching), // jsonb @? jsonpath
    op(4013, "@@", 3802, 4072, 16, 4011, 0, 0, false, false, Selectivity::Matching), // jsonb @@ jsonpath
    op(4035, "&>", 4537, 3831, 16, 4268, 0, 0, false, false, Selectivity::Multirange), // anymultirange &> anyrange
    op(4142, "&>", 4537, 4537, 16, 4269, 0, 0, false, false, Selectivity::Multirange), // anymultirange &> anymultirange
    op(4161, "|>>", 600, 600, 16, 131, 0, 0, false, false, Selectivity::Position), // point |>> point
    op(4162, "<<|", 600, 600, 16, 134, 0, 0, false, false, Selectivity::Position), // point <<| point
    op(4179, "-|-", 3831, 4537, 16, 4255, 4180, 0, false, false, Selectivity::Matching), // anyrange -|- anymultirange
    op(4180, "-|-", 4537, 3831, 16, 4257, 4179, 0, false, false, Selectivity::Matching), // anymultirange -|- anyrange
    op(4198, "-|-", 4537, 4537, 16, 4256, 4198, 0, false, false, Selectivity::Matching), // anymultirange -|- anymultirange
    op(4392, "+", 4537, 4537, 4537, 4270, 4392, 0, false, false, Selectivity::None), // anymultirange + anymultirange
    op(4393, "-", 4537, 4537, 4537, 4271, 0, 0, false, false, Selectivity::None), // anymultirange - anymultirange
    op(4394, "*", 4537, 4537, 4537, 4272, 4394, 0, false, false, Selectivity::None), // anymultirange * anymultirange
    op(4395, "<<", 3831, 4537, 16, 4258, 4399, 0, false, false, Selectivity::Multirange), // anyrange << anymultirange
    op(4396, "<<", 4537, 3831, 16, 4259, 4398, 0, false, false, Selectivity::Multirange), // anymultirange << anyrange
    op(4397, "<<", 4537, 4537, 16, 4260, 4400, 0, false, false, Selectivity::Multirange), // anymultirange << anymultirange
    op(4398, ">>", 3831, 4537, 16, 4261, 4396, 0, false, false, Selectivity::Multirange), // anyrange >> anymultirange
    op(4399, ">>", 4537, 3831, 16, 4262, 4395, 0, false, false, Selectivity::Multirange), // anymultirange >> anyrange
    op(4400, ">>", 4537, 4537, 16, 4263, 4397, 0, false, false, Selectivity::Multirange), // anymultirange >> anymultirange
    op(4539, "@>", 3831, 4537, 16, 4541, 4540, 0, false, false, Selectivity::Multirange), // anyrange @> anymultirange
    op(4540, "<@", 4537, 3831, 16, 4542, 4539, 0, false, false, Selectivity::Multirange), // anymultirange <@ anyrange
    op(5005, "<->", 3615, 3615, 3615, 5003, 0, 0, false, false, Selectivity::None), // tsquery <-> tsquery
    op(5025, "+", 3220, 1700, 3220, 5022, 5026, 0, false, false, Selectivity::None), // pg_lsn + numeric
    op(5026, "+", 1700, 3220, 3220, 5023, 5025, 0, false, false, Selectivity::None), // numeric + pg_lsn
    op(5027, "-", 3220, 1700, 3220, 5024, 0, 0, false, false, Selectivity::None), // pg_lsn - numeric
    op(5068, "=", 5069, 5069, 16, 5084, 5068, 5072, true, true, Selectivity::Equal), // xid8 = xid8
    op(5072, "<>", 5069, 5069, 16, 5085, 5072, 5068, false, false, Selectivity::NotEqual), // xid8 <> xid8
    op(5073, "<", 5069, 5069, 16, 5034, 5074, 5076, false, false, Selectivity::Less), // xid8 < xid8
    op(5074, ">", 5069, 5069, 16, 5035, 5073, 5075, false, false, Selectivity::Greater), // xid8 > xid8
    op(5075, "<=", 5069, 5069, 16, 5036, 5076, 5074, false, false, Selectivity::LessEqual), // xid8 <= xid8
    op(5076, ">=", 5069, 5069, 16, 5037, 5075, 5073, false, false, Selectivity::GreaterEqual), // xid8 >= xid8
    op(9980, "<", 9960, 9960, 16, 9961, 9985, 9984, false, false, Selectivity::Less), // folded, folded
    op(9981, "<=", 9960, 9960, 16, 9962, 9984, 9985, false, false, Selectivity::LessEqual), // folded, folded
    op(9982, "=", 9960, 9960, 16, 9963, 9982, 9983, true, true, Selectivity::Equal), // folded, folded
    op(9983, "<>", 9960, 9960, 16, 9964, 9983, 9982, false, false, Selectivity::NotEqual), // folded, folded
    op(9984, ">=", 9960, 9960, 16, 9965, 9981, 9980, false, false, Selectivity::GreaterEqual), // folded, folded
    op(9985, ">", 9960, 9960, 16, 9966, 9980, 9981, false, false, Selectivity::Greater), // folded, folded
];

#[allow(clippy::too_many_arguments)]
const fn op(
    oid: u32,
    name: &'static str,
    left: u32,
    right: u32,
    result: u32,
    function: u32,
    commutator: u32,
    negator: u32,
    can_hash: bool,
    can_merge: bool,
    selectivity: Selectivity,
) -> Operator {
    Operator {
        oid: Oid(oid),
        name,
        left: Oid(left),
        right: Oid(right),
        result: Oid(result),
        function: Oid(function),
        commutator: Oid(commutator),
        negator: Oid(negator),
        can_hash,
        can_merge,
        selectivity,
    }
}
