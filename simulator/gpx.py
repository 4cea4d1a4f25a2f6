"""Reads the points of GPX tracks, with the line each begins at."""

from pathlib import Path
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml import DefusedXmlException
from defusedxml.sax import parse

KMH_PER_M_PER_S = 3.6
NAMES = {"time": "event_time", "speed": "speed_kmh", "course": "heading_deg"}
Point = tuple[int, dict[str, str], str | None]


class Tracks(ContentHandler):
    """A track is a truck, by its name; one without a name has the file's."""

    def __init__(self, file_name: str) -> None:
        super().__init__()
        self.points: list[Point] = []
        self._file_name = file_name
        self._line = 0
        self._truck_id = file_name
        self._path: list[str] = []
        self._text = ""
        self._fields: dict[str, str] = {}

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 (SAX calls it so)
        self._locator = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        self._path.append(name.rpartition(":")[2])
        self._text = ""
        if self._path[-1] == "trk":
            self._truck_id = self._file_name
        if self._path[-1] == "trkpt":
            self._line = self._locator.getLineNumber() or 0
            self._fields = {key: attrs[key] for key in ("lat", "lon") if key in attrs}

    def characters(self, content: str) -> None:
        self._text += content

    def endElement(self, name: str) -> None:  # noqa: N802, ARG002
        here, text = self._path.pop(), self._text.strip()
        if here == "name" and self._path[-1:] == ["trk"] and text:
            self._truck_id = text
        elif here in NAMES and "trkpt" in self._path:
            self._fields[NAMES[here]] = as_kmh(text) if here == "speed" else text
        elif here == "trkpt":
            self.points.append((self._line, {"truck_id": self._truck_id, **self._fields}, None))


def as_kmh(text: str) -> str:
    """GPX has metres per second. What is no number stays, and is refused later."""
    try:
        return str(round(float(text) * KMH_PER_M_PER_S, 3))
    except ValueError:
        return text


def read_gpx(path: Path) -> list[Point]:
    tracks = Tracks(path.stem)
    try:
        parse(str(path), tracks)
    except SAXParseException as error:
        tracks.points.append((error.getLineNumber() or 0, {}, f"{error.getMessage()}; nothing after it can be read"))
    except DefusedXmlException as error:
        tracks.points.append((0, {}, f"{error}; nothing after it can be read"))
    return tracks.points
