"""`greedy`: a simple rule player for each game.

It looks one card ahead and remembers what is gone.
"""

from trysim.agents.greedy import semerik, semnadtsat, sim_lystiv

PLAYERS = {"sim_lystiv": sim_lystiv, "semnadtsat": semnadtsat, "semerik": semerik}
