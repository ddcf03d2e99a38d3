"""Cards, bitboards and their text."""

import numpy as np
import pytest

from ginenv import cards
from tests import brute


def word(text):
    return np.uint64(brute.bitboard(brute.cards(text)))


def test_every_card_has_its_bit_and_its_text():
    for suit, letter in enumerate("shdc"):
        for rank, figure in enumerate("A23456789TJQK"):
            board = cards.parse(figure + letter)
            assert board == np.uint64(1 << (16 * suit + rank))
            assert cards.show(board) == figure + letter
            assert cards.pack([13 * suit + rank]) == board


@pytest.mark.parametrize("text", ["", "5s 6s 7s", "As Kh Td 2c", "Ks Ah"])
def test_text_to_bitboard_and_back(text):
    assert cards.parse(text) == word(text)
    assert set(cards.show(cards.parse(text)).split()) == set(text.split())


def test_the_text_of_a_bitboard_goes_suit_by_suit_from_the_ace_up():
    assert cards.show(cards.parse("Kc Ad Th 2s As")) == "As 2s Th Ad Kc"


def test_a_bitboard_is_a_little_endian_64_bit_word_of_four_suits():
    board = cards.parse("As 2h 3d 4c")
    assert np.asarray(board).dtype == np.dtype("<u8")
    assert np.asarray([board], "<u8").view("<u2").tolist() == [1, 2, 4, 8]


def test_pack_keeps_leading_shape_and_ignores_order():
    ids = np.array([[[0, 13, 51], [51, 13, 0]], [[5, 6, 7], [12, 25, 38]]])
    boards = cards.pack(ids)
    assert boards.shape == (2, 2)
    assert boards.dtype == np.uint64
    assert boards[0, 0] == boards[0, 1] == word("As Ah Kc")
    assert boards[1].tolist() == [word("6s 7s 8s"), word("Ks Kh Kd")]


def test_pack_and_parse_agree_on_random_hands():
    rng = np.random.default_rng(0)
    hands = rng.permuted(np.tile(np.arange(52), (500, 1)), axis=1)[:, :10]
    for hand, board in zip(hands, cards.pack(hands), strict=True):
        assert board == cards.parse(brute.show(hand)) == np.uint64(brute.bitboard(hand))


@pytest.mark.parametrize("num_rows", [0, 1, 7, 1000])
def test_planes_have_a_one_for_each_card_of_each_set(num_rows):
    rng = np.random.default_rng(0)
    members = rng.random((2, num_rows, 52)) < 0.2
    boards = [
        np.array([brute.bitboard(np.flatnonzero(row)) for row in rows], dtype=np.uint64)
        for rows in members
    ]
    found = cards.planes(*boards)
    assert found.dtype == np.uint8
    assert np.array_equal(found, np.concatenate(members, axis=1))


@pytest.mark.parametrize("text", ["1s", "10s", "5x", "5", "s5", "5s,6s", "5S"])
def test_parse_says_which_word_is_no_card_and_what_one_looks_like(text):
    with pytest.raises(ValueError) as error:
        cards.parse("Ah " + text)
    assert text in str(error.value)
    assert "A23456789TJQK" in str(error.value)
    assert "shdc" in str(error.value)


def test_parse_refuses_a_card_that_is_there_twice():
    with pytest.raises(ValueError, match="5s"):
        cards.parse("5s 6s 5s")
