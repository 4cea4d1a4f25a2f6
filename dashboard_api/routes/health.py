"""Whether the process answers, and whether its parts work."""

from fastapi import APIRouter, Response

from dashboard_api.answers import HealthAnswer, PartAnswer, ReadyAnswer
from dashboard_api.health import Health


def health_routes(health: Health, tracks: Health | None = None) -> APIRouter:
    """`tracks` is told, but not waited for: the page shows trucks while their last hour is still being read."""
    router = APIRouter(tags=["health"])

    # Both without a thread: they answer also when every thread waits for the store.
    @router.get("/healthz", summary="The process answers")
    async def healthz() -> HealthAnswer:
        return HealthAnswer(status="ok")

    @router.get("/readyz", summary="Every part works; 503 and why when not", responses={503: {"model": ReadyAnswer}})
    async def readyz(response: Response) -> ReadyAnswer:
        response.status_code = 200 if health.ready else 503
        parts = {
            "kafka": PartAnswer(ready=health.connected, why=health.trouble),
            "view": PartAnswer(ready=health.rebuilt, why="" if health.rebuilt else health.progress),
            **{name: PartAnswer(ready=not why, why=why) for name, why in health.troubles.items()},
        }
        if tracks is not None:
            parts["tracks"] = PartAnswer(ready=tracks.rebuilt, why="" if tracks.rebuilt else tracks.progress)
        return ReadyAnswer(ready=health.ready, parts=parts)

    return router
