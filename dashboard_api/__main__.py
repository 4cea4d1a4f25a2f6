"""`python -m dashboard_api`: serve the dashboard until told to stop."""

import logging
import signal

import uvicorn
from pydantic_settings import CliApp

from dashboard_api.app import make_app
from dashboard_api.feed import Feed
from dashboard_api.health import Health
from dashboard_api.settings import Settings
from dashboard_api.view import View


def main() -> None:
    settings = CliApp.run(Settings)
    logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    view, health = View(), Health()
    app = make_app(view, health, Feed(settings.bootstrap_servers, view, health))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    )

    def stop(_signal: int, _frame: object) -> None:
        server.should_exit = True

    # Uvicorn raises the signal again once it has shut down; caught here, the process ends with exit code 0.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server.run()


if __name__ == "__main__":
    main()
