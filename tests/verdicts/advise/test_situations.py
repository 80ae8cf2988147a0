from dataclasses import replace

from tests.verdicts.advise.test_answer import pilot

from simreal.verdicts.advise import advise, strategies_of
from simreal.verdicts.advise.situations import situations
from simreal.verdicts.claims import evaluate_claims


def test_each_situation_gets_the_advice_of_its_own_question():
    evidence = replace(pilot(), goal=0.85)
    found = strategies_of(evidence)
    assert len(found) >= 2
    for name, request in situations(0.85).items():
        advised = advise(evidence, request)
        assert (name in found) == (advised.strategy is not None)


def test_without_a_goal_no_situation_can_be_asked():
    assert strategies_of(pilot()) == {}


def test_the_claim_that_it_depends_is_judged_by_the_situations():
    evidence = replace(pilot(), goal=0.85)
    verdicts = {v.claim.id: v for v in evaluate_claims(evidence)}
    assert verdicts["choice"].state == "not tested here"
    asked = replace(evidence, strategies=strategies_of(evidence))
    verdict = {v.claim.id: v for v in evaluate_claims(asked)}["choice"]
    different = len(set(asked.strategies.values()))
    assert verdict.state == ("supported" if different > 1 else "contradicted")
