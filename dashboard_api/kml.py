"""Reads fences from KML: Placemarks with a polygon, several polygons, a point with radius_m or a line with width_m."""

import json
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from schemas.fences import FenceError

SHAPES = ("Polygon", "MultiGeometry", "Point", "LineString")


def as_geojson(text: bytes) -> dict[str, Any]:
    """The same as a FeatureCollection. What ExtendedData says becomes properties: numbers, lists and words."""
    try:
        root = fromstring(text)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise FenceError("kml", f"not readable as XML: {error}") from error
    for element in root.iter():
        # Every KML version has a namespace of its own; the names within are the same.
        element.tag = str(element.tag).rpartition("}")[2]
    features = [_feature(each, f"Placemark[{number}]") for number, each in enumerate(root.iter("Placemark"))]
    if not features:
        raise FenceError("kml", "it has no Placemark")
    return {"type": "FeatureCollection", "features": features}


def _feature(placemark: Element, where: str) -> dict[str, Any]:
    shape = next((child for child in placemark if child.tag in SHAPES), None)
    if shape is None:
        raise FenceError(where, f"one of {', '.join(SHAPES)} is needed")
    properties = {"name": placemark.findtext("name", default="").strip()[:200] or where}
    for data in placemark.iter("Data"):
        properties[data.get("name", "")] = _value(data.findtext("value", default=""))
    feature = {"type": "Feature", "geometry": _geometry(shape, where), "properties": properties}
    return feature | ({"id": placemark.get("id")} if placemark.get("id") else {})


def _geometry(shape: Element, where: str) -> dict[str, Any]:
    match shape.tag:
        case "Polygon":
            return {"type": "Polygon", "coordinates": _rings(shape, where)}
        case "MultiGeometry":
            parts = [_rings(polygon, where) for polygon in shape.iter("Polygon")]
            return {"type": "MultiPolygon", "coordinates": parts}
        case "Point":
            return {"type": "Point", "coordinates": next(iter(_vertices(shape, where)), [])}
        case _:
            return {"type": "LineString", "coordinates": _vertices(shape, where)}


def _rings(polygon: Element, where: str) -> list[list[list[float]]]:
    outer = polygon.find("outerBoundaryIs")
    if outer is None:
        raise FenceError(where, "the polygon has no outerBoundaryIs")
    return [_vertices(ring, where) for ring in (outer, *polygon.findall("innerBoundaryIs"))]


def _vertices(element: Element, where: str) -> list[list[float]]:
    text = next((each.text or "" for each in element.iter("coordinates")), "")
    try:
        return [[float(number) for number in vertex.split(",")] for vertex in text.split()]
    except ValueError as error:
        raise FenceError(f"{where}.coordinates", f"lon,lat[,altitude] are needed: {error}") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
