"""Rules: which alerts go to which channels."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel

from dashboard_api.answers import shown
from dashboard_api.parts import Asker, Parts, Text
from dashboard_api.routes.params import errors
from schemas.models import Count
from store import channels, rules
from store.rules import Known, Rule

RULE_EXAMPLE: dict[str, Any] = Rule(
    name="Critical at night", severities=["critical"], channel_ids=["0c2b7e9a415f"], group_wait_s=30
).model_dump(mode="json")
RuleId = Annotated[Text, Path(max_length=200)]


class RuleAnswer(BaseModel):
    model_config = shown({"rule_id": "5f0c2b7e9a41", "rule": RULE_EXAMPLE})
    rule_id: str
    rule: Rule


class RulePage(BaseModel):
    model_config = shown({"items": [{"rule_id": "5f0c2b7e9a41", "rule": RULE_EXAMPLE}], "total": 1})
    items: list[RuleAnswer]
    total: Count


def rule_routes(parts: Parts) -> APIRouter:
    router = APIRouter(prefix="/api/rules", tags=["notifications"], responses=errors(401, 403, 413, 422, 429))

    def check(rule: Rule) -> None:
        unknown = set(rule.channel_ids) - {row.channel_id for row in channels.known(parts.store)}
        if unknown:
            raise HTTPException(422, f"No channel has the id {min(unknown)}.")

    @router.get("", summary="All rules, in the order in which they are looked at")
    def page() -> RulePage:
        items = [answer(each) for each in rules.known(parts.store)]
        return RulePage(items=items, total=len(items))

    @router.post("", status_code=201, summary="Add a rule", responses=errors(400))
    def add(rule: Rule, who: Asker) -> RuleAnswer:
        check(rule)
        return answer(rules.add(parts.store, rule, who=who.label, at_ms=parts.now_ms()))

    @router.put("/{rule_id}", summary="Change a rule", responses=errors(400, 404))
    def change(rule_id: RuleId, rule: Rule, who: Asker) -> RuleAnswer:
        check(rule)
        changed = rules.change(parts.store, rule_id, rule, who=who.label, at_ms=parts.now_ms())
        if changed is None:
            raise HTTPException(404, "No rule has this id.")
        return answer(changed)

    @router.delete("/{rule_id}", status_code=204, summary="Remove a rule", responses=errors(404))
    def remove(rule_id: RuleId, who: Asker) -> None:
        if not rules.remove(parts.store, rule_id, who=who.label, at_ms=parts.now_ms()):
            raise HTTPException(404, "No rule has this id.")

    return router


def answer(known: Known) -> RuleAnswer:
    return RuleAnswer(rule_id=known.rule_id, rule=known.rule)
