"""Command line: `python -m local_stack demo | broker | topics | jars | link | java`."""

import argparse
import logging
import sys

from pydantic import ValidationError

from local_stack import demo
from local_stack.answers import get, key_in, login_link
from local_stack.errors import StackError
from local_stack.jars import JarStore
from local_stack.java import find_java_home, machine_java_home
from local_stack.paths import CACHE
from local_stack.settings import Settings
from local_stack.topics import make_topics


def main() -> int:
    arguments = parser().parse_args()
    # What kafka-python has to say while a broker starts, we find out by asking again.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    try:
        run(arguments)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m local_stack", description="Runs the system on one machine.")
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="everything, until Ctrl-C")
    commands.add_parser("broker", help="Kafka alone, with its topics, until Ctrl-C")
    topics = commands.add_parser("topics", help="make the topics in a cluster and compare existing ones")
    topics.add_argument("--bootstrap-servers", default="localhost:9092")
    jars = commands.add_parser("jars", help="fetch and verify the jars")
    jars.add_argument("--accept", action="store_true", help="write jars.sha256 anew, after a change of ivy.xml")
    commands.add_parser("link", help="a new link that logs a browser in to the running demo")
    commands.add_parser("java", help="succeed if this machine has a Java that will do")
    return top


def run(arguments: argparse.Namespace) -> None:
    match arguments.command:
        case "demo":
            demo.run(read_settings())
        case "broker":
            demo.run(read_settings(), kafka_only=True)
        case "topics":
            made = make_topics(arguments.bootstrap_servers)
            print(f"{len(made)} topics made: {', '.join(made)}" if made else "all topics are there, as they should be")
        case "jars":
            prepare_jars(accept=arguments.accept)
        case "link":
            print_link(read_settings())
        case "java":
            report_java()


def read_settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        wrong = [f"{str(each['loc'][0]).upper()}={each['input']}: {each['msg']}." for each in error.errors()]
        raise StackError("\n".join(wrong)) from error


def prepare_jars(*, accept: bool) -> None:
    jars = JarStore()
    if accept:
        jars.write_checksums(find_java_home(CACHE))
    if not jars.is_complete():
        jars.fetch(find_java_home(CACHE))
    print(f"jars verified in {jars.folder}")


def print_link(settings: Settings) -> None:
    key = key_in(settings.data_dir)
    if get(settings.dashboard_port, "/api/stats", key) is None:
        raise StackError(f"No demo with its data in {settings.data_dir} answers at port {settings.dashboard_port}.")
    print(login_link(settings.dashboard_port, key))


def report_java() -> None:
    home = machine_java_home()
    if home is None:
        raise StackError("This machine has no Java 17 or newer.")
    print(home)


if __name__ == "__main__":
    sys.exit(main())
