"""ST-02: the best separator that the size allows, also where words have no blanks between them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linkrag_dagster.chunking.strategies.segmenter import segmenters, word_boundaries
from tests.chunking.strategies.support import CL100K, pieces, words

# Words as a reader of the language parts them; a longer unit may stay whole.
SEGMENTED = {
    "zh": [
        "新的|索引|算法|把|搜索|效率|提高|了|百分之四十",
        "已有|合同|在|续约|时|自动|切换|到|新|口径|不|需要|客户|操作",
        "数据库|管理员|每天|晚上|都|会|备份|所有|重要|文件",
        "北京大学|的|学生|在|图书馆|里|研究|自然语言|处理",
        "机器|学习|模型|需要|大量|数据|才能|得到|可靠|的|结果",
        "港口|办公室|每天|清晨|登记|进港|的|船只",
        "工程师|检查|服务器|的|日志|文件|以后|重新|启动|系统",
        "我们|计划|明年|春天|在|上海|举行|国际|会议",
        "图书馆|星期天|开放|时间|从|上午|九点|到|下午|五点",
    ],
    "ja": [
        "国境|の|長い|トンネル|を|抜ける|と|雪国|で|あった",
        "検索|エンジン|は|毎晩|索引|を|作り直し|ます",
        "東京都|に|住んで|いる|友人|から|手紙|が|届いた",
        "私|は|昨日|図書館|で|新しい|本|を|借りました",
        "文章|を|意味|の|ある|単位|に|分割|する|方法",
        "毎朝|新聞|を|読んで|から|会社|に|行きます",
        "サーバー|の|設定|を|変更|して|再起動|しました",
        "子供|たち|は|公園|で|元気に|遊んで|いる",
    ],
    "th": [
        "ภาษาไทย|เขียน|ติดกัน|โดย|ไม่|เว้นวรรค|ระหว่าง|คำ",
        "นักเรียน|อ่าน|หนังสือ|ใน|ห้องสมุด|ทุก|วัน",
        "ระบบ|ค้นหา|จะ|สร้าง|ดัชนี|ใหม่|ทุก|คืน",
        "ฉัน|ชอบ|กิน|ข้าวผัด|กับ|เพื่อน|ที่|ร้านอาหาร",
        "เขา|ทำงาน|ที่|โรงพยาบาล|ใกล้|สถานีรถไฟ",
        "พรุ่งนี้|เรา|จะ|ไป|ตลาด|ซื้อ|ผลไม้|และ|ผัก",
    ],
}


def _places(parts: list[str]) -> set[int]:
    places, at = {0}, 0
    for part in parts:
        at += len(part)
        places.add(at)
    return places


@pytest.mark.parametrize("language", SEGMENTED)
@pytest.mark.parametrize("size", [10, 12, 16, 24])
def test_no_cut_inside_a_word(language: str, size: int) -> None:
    """ST-02: seed 001 warns that the usual separators cut words of Chinese, Japanese and Thai; these don't."""
    if not segmenters()[language]:
        pytest.skip(f"no segmenter for {language}: install the package that docs/decisions/006 names")
    for sentence in SEGMENTED[language]:
        parts = sentence.split("|")
        text = "".join(parts)
        for piece in pieces("recursive", text, size=size):
            assert piece.end_char in _places(parts), (words("recursive", text, size=size), piece.ends)
            assert piece.end_char - piece.start_char <= size


def test_separators_in_their_order() -> None:
    """ST-02: blank line, line break, sentence, clause, white space, anywhere."""
    assert words("recursive", "aa bb\n\ncc dd", size=8) == ["aa bb", "cc dd"]
    assert words("recursive", "aa bb\ncc dd", size=8) == ["aa bb", "cc dd"]
    assert words("recursive", "One two. Three four.", size=12) == ["One two.", "Three four."]
    assert words("recursive", "one, two three", size=10) == ["one,", "two three"]
    assert words("recursive", "one two three", size=8) == ["one two", "three"]
    assert words("recursive", "abcdefgh", size=3) == ["abc", "def", "gh"]
    assert words("recursive", "甲乙丙。丁戊己，庚辛壬癸", size=7) == ["甲乙丙。", "丁戊己，", "庚辛壬癸"]


def test_the_example_of_seed_001() -> None:
    """ST-02: each topic by itself, no word torn; headings stand alone, which is what `document_aware` mends."""
    text = "## 索引重建\n\n搜索效率提高了 40%。覆盖了全部海外机房。\n\n## 计费调整\n\n存储按实际占用计费。"
    assert words("recursive", text, size=20) == [
        "## 索引重建",
        "搜索效率提高了 40%。",
        "覆盖了全部海外机房。",
        "## 计费调整\n\n存储按实际占用计费。",
    ]


@settings(deadline=None)
@given(st.text(alphabet="ab ,.\n。，字語カなกา👩‍👧é", max_size=200), st.integers(1, 30), st.booleans())
@example("㍻ \u200d 한", 2, True)
@example("<pre>***|---+&amp;\\|", 1, True)
def test_pieces_tile_up_to_white_space(text: str, size: int, tokens: bool) -> None:
    """ST-02, TK-03: bounded, in order, trimmed, and only white space between them."""
    unit = "tokens" if tokens else "chars"
    made = pieces("recursive", text, size=size, unit=unit)
    at = 0
    for piece in made:
        assert piece.start_char >= at
        assert not text[at : piece.start_char].strip()
        content = text[piece.start_char : piece.end_char]
        assert content == content.strip() != ""
        length = CL100K.count(content) if tokens else len(content)
        assert length <= size or len(content) == 1
        at = piece.end_char
    assert not text[at:].strip()


@settings(deadline=None)
@given(st.text(alphabet="ab ,.\n。字語", max_size=200), st.integers(2, 30), st.data())
def test_overlap(text: str, size: int, data: st.DataObject) -> None:
    """ST-02: with an overlap pieces keep the size, begin behind the one before, and end where they ended."""
    overlap = data.draw(st.integers(1, size - 1))
    made = pieces("recursive", text, size=size, overlap=overlap)
    bare = pieces("recursive", text, size=size - overlap)
    assert [p.end_char for p in made] == [p.end_char for p in bare]
    for piece, own in zip(made, bare, strict=True):
        assert own.start_char - overlap <= piece.start_char <= own.start_char
    for left, right in pairwise(made):
        assert left.start_char < right.start_char


def test_numbers_and_marks_stay() -> None:
    """ST-02, TK-03: no cut inside a number, none before a closing mark."""
    text = "费用是3,100,000元（含税），其余另计；"
    for size in (10, 12, 14):
        for content in words("recursive", text, size=size):
            assert content[0] not in "，；）,"
            assert "3,100,000" in content or not set(content) & set("0123456789")


@settings(deadline=None)
@given(st.text(alphabet="新的索引データを国กา a1，", max_size=120))
def test_word_boundaries_lie_inside(text: str) -> None:
    """ST-02: ascending, inside the slice, none twice."""
    found = word_boundaries(text, 0, len(text))
    assert found == sorted(set(found))
    assert all(0 < place < len(text) for place in found)


def test_every_cut_inside_a_grapheme_says_so() -> None:
    """TK-03: also where the part before it was cut inside the same one."""
    family = "👨\u200d👩\u200d👧\u200d👦"
    text = f"a word {family} end"
    found = pieces("recursive", text, size=4, unit="tokens")
    inside = [p.ends for p in found if 7 < p.end_char < 7 + len(family)]
    assert len(inside) > 1
    assert set(inside) == {"token_safe_residue"}
    assert [p.ends for p in found if p.end_char == 7 + len(family)] == ["space"]
