import json
import random
import re
import subprocess
import sys
from itertools import pairwise
from operator import sub
from pathlib import Path
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.text import token_count, token_pieces
from ctxhub.core.text.token_count import count_tokens, is_estimate, is_within, use_exact_counts
from ctxhub.core.text.token_pieces import Counted
from ctxhub.toolbox.dispatch import as_text
from tests.hostile_texts import KINDS, hostile_answers
from tests.timing import within_cpu_seconds
from tests.tokens import o200k

# Read as bytes, to keep the line breaks.
CORPUS = {
    path.stem: path.read_bytes().decode() for path in (Path(__file__).parent.parent / "corpus").glob("*.txt")
}
# Some files hold several texts with this separator; others are cut into ten pieces.
SEPARATOR, TEXTS = "\n%%\n", 10
# The highest mean ratio of estimate to exact count for each kind of text.
MAX_RATIO = {
    "english_public_domain": 1.14, "english_notes": 1.11, "json_answers": 1.16, "json_ids": 1.08,
    "python_code": 1.15, "javascript_code": 1.14, "sql_code": 1.19, "markdown": 1.16, "css": 1.15,
    "paths_and_logs": 1.15, "stack_traces": 1.24, "chinese_traditional": 1.15, "chinese_simplified": 1.3,
    "japanese": 1.28, "korean": 1.43, "russian": 1.44, "vietnamese": 1.5, "georgian": 1.5, "basque": 1.25,
    "danish": 1.25, "welsh": 1.25, "finnish": 1.37, "rare_letters": 1.1, "long_compounds": 1.38,
}  # fmt: skip
MAX_MEDIAN_RATIO = 1.2
# Short texts alone, which are no answers.
SHORT_PIECE_ALLOWANCE = 1
MIB = 1024 * 1024
ANSWERS = 3_000
GOLDEN = Path(__file__).parent.parent / "golden" / "files"

every_kind = pytest.mark.parametrize("kind", sorted(CORPUS))


def windows(text: str, size: int, count: int) -> list[str]:
    chance = random.Random(size)
    starts = [chance.randrange(max(len(text) - size, 1)) for _ in range(count)]
    return [text[start : start + size] for start in starts]


def texts(kind: str) -> list[str]:
    text = CORPUS[kind]
    if SEPARATOR in text:
        return text.rstrip("\n").split(SEPARATOR)
    cuts = [len(text) * number // TEXTS for number in range(TEXTS + 1)]
    return [text[start:end] for start, end in pairwise(cuts)]


def ratio_to_exact(text: str) -> float:
    return count_tokens(text) / o200k(text)


@pytest.fixture
def exact_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_count, "_count", token_count._count)
    use_exact_counts()


@every_kind
def test_estimates_of_ten_texts_of_each_kind_are_not_below_the_exact_count(kind: str) -> None:
    assert len({*texts(kind)}) >= TEXTS
    assert [text for text in texts(kind) if count_tokens(text) < o200k(text)] == []


def test_the_median_estimate_is_at_most_a_quarter_too_high() -> None:
    assert median(ratio_to_exact(text) for kind in CORPUS for text in texts(kind)) <= MAX_MEDIAN_RATIO


@pytest.mark.parametrize("kind", ["georgian", "vietnamese"])
def test_scripts_that_share_a_first_byte_with_rarer_scripts_are_not_overestimated(kind: str) -> None:
    assert median(map(ratio_to_exact, texts(kind))) <= 1.5


@pytest.mark.parametrize(
    "text",
    [
        # Burmese, Khmer, Amharic, Cherokee, Gothic, phonetic signs, Tibetan, Lao, Odia, flags of regions.
        "လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း",
        "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ",
        "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።",
        "ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ ᎤᎾᏕᎿ ᏚᏳᎧᏛ ᎨᏒᎢ",
        "𐌰𐌻𐌻𐌰𐌹 𐌼𐌰𐌽𐌽𐌰 𐍆𐍂𐌴𐌹𐌷𐌰𐌻𐍃 𐌾𐌰𐌷 𐍃𐌰𐌼𐌰𐌻𐌴𐌹𐌺𐍃",
        "ᴀʙᴄᴅᴇ ᴛʜᴇ ᴅᴇᴘᴏʏᴍᴇɴᴛ ᵃᵇᶜᵈᵉᶠᵍʰ ᴡᴀꜱ ʀᴏʟʟᴇᴅ ʙᴀᴄᴋ",
        "བོད་ཡིག་གི་ཡི་གེ་འདི་ཀློག་པར་དཀའ། གྲངས་མཛོད་འདི་བསྐྱར་དུ་འགོ་འཛུགས་དགོས།",
        "ຕ້ອງເລີ່ມຖານຂໍ້ມູນໃໝ່ກ່ອນການຍ້າຍທຸກຄັ້ງ ບໍ່ດັ່ງນັ້ນບັນທຶກຈະສູນເສຍ",
        "ପ୍ରତ୍ୟେକ ସ୍ଥାନାନ୍ତରଣ ପୂର୍ବରୁ ଡାଟାବେସ ପୁନଃଆରମ୍ଭ କରିବା ଆବଶ୍ୟକ।",
        "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f" * 5,
    ],
)
def test_estimates_of_rare_scripts_are_not_below_the_exact_count(text: str) -> None:
    assert count_tokens(text) >= o200k(text)


@every_kind
def test_the_estimate_of_a_whole_file_is_not_below_the_exact_count(kind: str) -> None:
    assert count_tokens(CORPUS[kind]) >= o200k(CORPUS[kind])


@every_kind
def test_the_estimate_of_a_long_line_or_paragraph_is_not_below_the_exact_count(kind: str) -> None:
    pieces = CORPUS[kind].split("\n") + CORPUS[kind].split("\n\n")

    assert [piece for piece in pieces if len(piece) >= 200 and count_tokens(piece) < o200k(piece)] == []


@every_kind
@pytest.mark.parametrize(("size", "count"), [(200, 200), (1000, 100), (5000, 20)])
def test_the_estimate_of_a_window_is_not_below_the_exact_count(kind: str, size: int, count: int) -> None:
    too_low = [
        window for window in windows(CORPUS[kind], size, count) if count_tokens(window) < o200k(window)
    ]

    assert too_low == []


@every_kind
def test_the_estimate_of_a_short_piece_is_hardly_below_the_exact_count(kind: str) -> None:
    shortfalls = [o200k(window) - count_tokens(window) for window in windows(CORPUS[kind], 50, 300)]

    assert max(shortfalls) <= SHORT_PIECE_ALLOWANCE


@pytest.mark.parametrize("kind", sorted(MAX_RATIO))
def test_the_mean_estimate_of_a_kind_is_within_its_ratio(kind: str) -> None:
    pieces = windows(CORPUS[kind], 1000, 100)

    assert mean(map(ratio_to_exact, pieces)) <= MAX_RATIO[kind]


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=80))
def test_no_text_counts_more_than_its_bytes(text: str) -> None:
    assert count_tokens(text) <= len(text.encode("utf-8", "surrogatepass"))
    assert is_within(text, count_tokens(text))


def test_a_mark_without_a_letter_is_not_counted_as_part_of_a_word() -> None:
    text = as_text({"value": "\u0e31\u0e49\u0e19"})

    assert count_tokens(text) >= o200k(text)


def test_a_far_longer_text_is_known_not_to_fit() -> None:
    text = "a" * 100 * MIB

    with within_cpu_seconds(0.1):
        assert not is_within(text, 20_000)


def test_a_longer_text_hardly_counts_less() -> None:
    """A word may be one token where its beginning is several."""
    chance = random.Random(3)
    texts = [chance.choice([*KINDS.values()])(chance, 60) for _ in range(ANSWERS)]
    parts = [text[: chance.randrange(len(text) + 1)] for text in texts]

    assert max(map(sub, map(count_tokens, parts), map(count_tokens, texts))) <= 2


def test_hostile_answers_are_never_below_the_exact_count() -> None:
    assert [text for text in hostile_answers(ANSWERS, seed=1) if count_tokens(text) < o200k(text)] == []


@pytest.mark.parametrize("name", ["hour_answers.txt", "mcp_transcript.txt"])
def test_no_answer_of_the_golden_files_is_below_the_exact_count(name: str) -> None:
    answers = golden_answers(name)

    assert len(answers) > 100
    assert [text for text in answers if count_tokens(text) < o200k(text)] == []


def test_answers_of_the_hub_are_at_most_a_fifth_too_high() -> None:
    answers = [text for text in golden_answers("hour_answers.txt") if '"rows"' in text]

    assert len(answers) > 50
    assert sum(map(count_tokens, answers)) <= 1.2 * sum(map(o200k, answers))


def test_rows_of_refs_and_times_are_at_most_a_fifth_too_high() -> None:
    text = as_text({"columns": ["ref", "by", "at"], "rows": [*map(row_of, range(50))]})

    assert o200k(text) <= count_tokens(text) <= 1.2 * o200k(text)


def row_of(number: int) -> list[str]:
    key = f"decision:auth/session-{number}/ttl@v{number % 9 + 1}"
    return [key, f"agent-{number % 8}", f"2026-11-{number % 28 + 1:02}T{number % 24:02}:07:41Z"]


def golden_answers(name: str) -> list[str]:
    """The JSON that begins a line, as it was sent."""
    text = (GOLDEN / name).read_text()
    starts = [match.end() - 1 for match in re.finditer(r"^(?:< )?\{", text, re.MULTILINE)]
    return [as_text(json.JSONDecoder().raw_decode(text, start)[0]) for start in starts]


@pytest.mark.parametrize("kind", KINDS)
def test_a_mebibyte_is_counted_at_once(kind: str) -> None:
    text = KINDS[kind](random.Random(1), MIB)[:MIB]

    with within_cpu_seconds(1):
        assert count_tokens(text) <= len(text.encode())


@pytest.mark.parametrize("kind", ["base64", "lower case", "words"])
def test_a_long_text_without_known_words_is_not_below_the_exact_count(kind: str) -> None:
    text = KINDS[kind](random.Random(1), 100_000)

    assert count_tokens(text) >= o200k(text)


def test_the_pieces_of_a_text_join_to_it() -> None:
    for text in (*CORPUS.values(), *hostile_answers(300, seed=2)):
        assert "".join(token_pieces._words_in.findall(text)) == text


def test_the_counts_that_are_kept_are_bounded() -> None:
    kept = Counted(len, most=3, longest=2)

    assert [kept[text] for text in ("a", "bb", "ccc", "d", "e")] == [1, 2, 3, 1, 1]
    assert dict(kept) == {"e": 1}


def test_an_empty_text_costs_nothing() -> None:
    assert count_tokens("") == 0


def test_a_lone_surrogate_is_counted() -> None:
    assert count_tokens("\ud800") > 0


def test_a_text_of_several_pieces_counts_as_their_sum() -> None:
    line = CORPUS["json_answers"].replace("\n", " ")[:10_000]

    assert count_tokens(line * 30) == pytest.approx(30 * count_tokens(line), rel=0.02)


def test_counting_starts_as_an_estimate() -> None:
    assert is_estimate()


@pytest.mark.usefixtures("exact_counts")
def test_exact_counts_match_the_vocabulary() -> None:
    assert not is_estimate()
    assert [count_tokens(text) for text in CORPUS.values()] == [o200k(text) for text in CORPUS.values()]


@pytest.mark.usefixtures("exact_counts")
def test_exact_counts_of_a_huge_text_are_counted_in_pieces() -> None:
    assert count_tokens("\U0001fadf\u0f3a" * 100_000) > 200_000


def test_exact_counts_need_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)

    with pytest.raises(ImportError):
        use_exact_counts()

    assert is_estimate()


def test_the_module_imports_neither_django_nor_the_vocabulary() -> None:
    code = "import sys, ctxhub.core.text.token_count; print({'django', 'bpe_openai'} & set(sys.modules))"

    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
