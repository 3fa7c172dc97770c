"""`expert`: a strong rule player for each game, written as principles with their reasons."""

from trysim.agents.expert import semerik, semnadtsat, sim_lystiv

PLAYERS = {"sim_lystiv": sim_lystiv, "semnadtsat": semnadtsat, "semerik": semerik}
