"""One shape for every error the API can give, and the headers that every answer carries."""

import logging
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError, TimeoutError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from dashboard_api.answers import ErrorAnswer, ErrorBody
from schemas.fences import FenceError

log = logging.getLogger(__name__)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


# What the drivers say of a database that cannot be reached, is locked, or has no connection left.
STORE_IS_AWAY = (OperationalError, InterfaceError, TimeoutError)


def shape_errors(app: FastAPI) -> None:
    for kind in STORE_IS_AWAY:
        app.add_exception_handler(kind, _store_is_away)
    app.add_exception_handler(FenceError, _bad_fence)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _broken)


def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # Starlette calls it for this class only.
    standard = HTTPStatus(error.status_code)
    headers = dict(error.headers or {})
    if standard == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(sorted(allowed_methods(request)))
    message = error.detail if error.detail != standard.phrase else f"{standard.phrase}."
    # Python 3.13 renamed 422, so that its name is no stable code.
    code = "invalid" if standard == 422 else standard.name.lower()
    return error_answer(error.status_code, code, message, request.url.path, headers)


def allowed_methods(request: Request) -> set[str]:
    """Of all routes at this path: Starlette names those of the first alone."""
    # A path of its own, such as /api/fences/import, is no fence's id.
    if described := request.app.openapi()["paths"].get(request.url.path):
        return {method.upper() for method in described}
    return {method for method in METHODS if _would_answer(request, method)}


def _would_answer(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # Starlette calls it for this class only.
    first = error.errors()[0]
    return error_answer(422, "invalid", first["msg"], ".".join(str(part) for part in first["loc"]))


def _bad_fence(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, FenceError)  # Starlette calls it for this class only.
    return error_answer(422, "invalid", error.message, f"body.{error.where}")


def _store_is_away(request: Request, error: Exception) -> JSONResponse:
    return store_is_away(error, request.url.path)


def store_is_away(error: Exception, where: str) -> JSONResponse:
    log.warning("the store does not answer: %s", type(error).__name__)
    message = "The store does not answer now; /readyz says more. Ask again in a moment."
    return error_answer(503, "service_unavailable", message, where, {"Retry-After": "5"})


def _broken(request: Request, _error: Exception) -> JSONResponse:
    # Starlette answers a crash outside of all middleware, so the headers are added here once more.
    message = "The server failed; its log says why."
    return error_answer(500, "internal_error", message, request.url.path, SECURITY_HEADERS)


def error_answer(
    status: int, code: str, message: str, where: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    body = ErrorAnswer(error=ErrorBody(code=code, message=message, where=where))
    return JSONResponse(body.model_dump(), status, headers)
