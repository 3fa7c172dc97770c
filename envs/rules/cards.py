"""Cards as text and as numbers: rank then suit (`7H`, `TS`), numbers by suit, then by rank."""

SUITS = "CDHS"  # clubs, diamonds, hearts, spades


def deck(ranks: str) -> tuple[str, ...]:
    """The card codes of a deck with these ranks, low to high; a card's number is its place."""
    return tuple(rank + suit for suit in SUITS for rank in ranks)


def suit_sets(n_ranks: int) -> tuple[int, ...]:
    """Per suit the set of its cards, in a deck of `n_ranks` cards a suit."""
    return tuple(((1 << n_ranks) - 1) << (n_ranks * suit) for suit in range(len(SUITS)))


def rank_set(n_ranks: int, rank: int) -> int:
    """The set of all cards of a rank, in a deck of `n_ranks` cards a suit."""
    return sum(1 << (n_ranks * suit + rank) for suit in range(len(SUITS)))
