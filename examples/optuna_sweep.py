"""Optuna: the learning rate, entropy and batch size that teach PPO most in little time.

python examples/optuna_sweep.py

Every trial trains on the same deals and is measured over `greedy` on other ones, the same for all.
What differs by less than the intervals tell is no difference: longer trainings, and several seeds,
are for the two or three best. What was found: docs/results/sweep.md.
"""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import optuna

from trysim.arena import compare
from trysim.train.ppo import PPOConfig, train

OPTIONS = {"horizon": "deal"}  # Семерик, every deal by itself
BATCH_SIZES = [256, 1024, 4096]


def config_of(trial: optuna.Trial, decisions: int) -> PPOConfig:
    """A short training; what is not named is the default."""
    return PPOConfig(
        options=OPTIONS,
        total_decisions=decisions,
        learning_rate=trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
        entropy=trial.suggest_float("entropy", 1e-3, 1e-1, log=True),
        batch_size=trial.suggest_categorical("batch_size", BATCH_SIZES),
        n_tables=256,
        n_epochs=2,
        averaged_updates=30,  # the last ones of a short training
        hidden=[64, 64],
        evaluate_every=decisions,
        evaluate_deals=10,
        anchors=["random"],
        threads=1,
    )


def strength(trial: optuna.Trial, decisions: int, deals: int, out: Path) -> float:
    """Points a deal over `greedy`."""
    result = train(config_of(trial, decisions), out / f"trial-{trial.number}")
    agents = [f"policy:{result.policy}", "greedy"]
    pair = compare(
        "semerik", agents, deals, seed=7, options=OPTIONS, workers=1, progress=False
    ).pairs[0]
    trial.set_user_attr("ci95", pair.ci95)
    return pair.mean


def draw(trials: list[dict[str, Any]], path: Path) -> None:
    """The trials, one panel for each of what was tried."""
    figure, panels = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    for panel, name in zip(panels, ("learning_rate", "entropy", "batch_size"), strict=True):
        panel.scatter([t[name] for t in trials], [t["over_greedy"] for t in trials])
        panel.set(xscale="log", xlabel=name)
    panels[2].minorticks_off()
    panels[2].set_xticks(BATCH_SIZES, [str(size) for size in BATCH_SIZES])
    panels[0].set_ylabel("points a deal over greedy")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def save(study: optuna.Study, decisions: int, deals: int, out: Path) -> None:
    """All trials as JSON and a picture."""
    trials = [
        {**trial.params, "over_greedy": trial.value, **trial.user_attrs} for trial in study.trials
    ]
    found = {"decisions": decisions, "deals": deals, "best": study.best_params, "trials": trials}
    (out / "sweep.json").write_text(json.dumps(found, indent=2) + "\n")
    draw(trials, out / "sweep.png")


def main(
    trials: int = 20, decisions: int = 200_000, deals: int = 1000, out: str | Path = "runs/sweep"
) -> optuna.Study:
    """Try `trials` of them; the study, as Optuna keeps it."""
    sampler = optuna.samplers.TPESampler(seed=1, n_startup_trials=8)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(lambda trial: strength(trial, decisions, deals, Path(out)), n_trials=trials)
    save(study, decisions, deals, Path(out))
    return study


if __name__ == "__main__":
    print(main().best_trial)
