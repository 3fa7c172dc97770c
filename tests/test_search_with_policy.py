"""`search:`: a policy and sampled worlds asked together."""

import pytest

from tests.positions import mixed_decisions
from trysim.agents import make_agent
from trysim.envs.games import GAMES, BadInput

each_game = pytest.mark.parametrize("name", GAMES)


def decisions(name, n=40):
    return mixed_decisions(name, n, n_plays=20, seed=2)


@each_game
def test_all_weight_on_the_policy_is_the_policy(name):
    asked = decisions(name)
    policy = make_agent(f"policy:{name}", name).act(asked)
    found = make_agent(f"search:policy={name},worlds=2,weight=1e8", name).act(asked)
    assert (found == policy).mean() > 0.95  # not where a logit says nothing of worth


@each_game
def test_no_weight_on_the_policy_is_pimc(name):
    """The same worlds, so the same choices; what is level the policy decides, there the expert."""
    asked = decisions(name)
    pimc = make_agent("pimc:worlds=30", name).act(asked)
    found = make_agent(f"search:policy={name},worlds=30,weight=1e-8", name).act(asked)
    assert (found == pimc).mean() > 0.7


@each_game
def test_choices_do_not_depend_on_what_else_is_asked(name):
    asked = decisions(name)
    agent = make_agent(f"search:policy={name},worlds=3,endgame=2", name)
    together = agent.act(asked)
    assert [int(agent.act(asked.only([k]))[0]) for k in range(asked.n)] == together.tolist()
    assert all(asked.legal[k] >> action & 1 for k, action in enumerate(together))


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ("search:policy=semerik", "search:policy=semerik"),
        ("search:worlds=50,policy=semerik", "search:policy=semerik,worlds=50"),
        ("search:policy=semerik,weight=2", "search:policy=semerik"),
        ("search:policy=semerik,endgame=4,rollout=greedy",
         "search:policy=semerik,endgame=4,rollout=greedy"),
    ],
)  # fmt: skip
def test_a_spec_has_one_text(given, spec):
    assert make_agent(given, "semerik").spec == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("search", "a policy is needed: search:policy=semerik"),
        ("search:policy=nowhere", "cannot read the policy"),
        ("search:policy=semerik,weight=0", "allowed are numbers above 0"),
        ("search:policy=semerik,rollout=pimc", "allowed are random, greedy, expert"),
        ("search:policy=semnadtsat", "a policy for semnadtsat, not for semerik"),
    ],
)
def test_wrong_specs_are_explained(spec, message):
    with pytest.raises(BadInput) as error:
        make_agent(spec, "semerik")
    assert message in str(error.value)
