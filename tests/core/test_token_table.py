from benchmarks.token_table import table
from ctxhub.core.text.token_table import FILE, NO_RANK, token_table
from tests.tokens import o200k


def test_the_table_is_the_one_that_is_made_from_the_vocabulary() -> None:
    assert FILE.read_bytes() == table()


def test_a_token_has_a_rank_and_other_texts_have_none() -> None:
    rank = token_table().rank

    assert rank(" the") < rank(" memory") < NO_RANK
    assert rank(" thezq") == NO_RANK


def test_no_character_costs_less_than_in_the_vocabulary() -> None:
    characters = [chr(code) for code in range(0x80, 0x20000) if not 0xD800 <= code < 0xE000]

    assert [char for char in characters if token_table().tokens_of_character(char) < o200k(char)] == []
