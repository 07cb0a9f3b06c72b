#!/usr/bin/env python3
"""Reads every shard of a run as a stranger would: Python's standard library, and the rules of WebDataset.

    python3 read_shards.py RUN [RUN ...]

Prints what it read as JSON; lists what is wrong on standard error and exits with 1.
"""

import json
import re
import struct
import sys
import tarfile
import zlib
from pathlib import Path

# WebDataset's own rule: the key ends at the first dot of the base name.
NAME = re.compile(r"^((?:.*/|)[^.]+)[.]([^/]*)$")
SPLITS = ("train", "val", "test")
FIELDS = {
    "shapes": ["json", "png"],
    "textures": ["jpg", "json"],
    "shapes2d": ["jpg", "json", "mask.png"],
    "textures2d": ["jpg", "json", "mask.png"],
    "silhouettes": ["edge.png", "grey.png", "hq.jpg", "json", "silhouette.png"],
}


class Problem(Exception):
    pass


def check(holds, message):
    if not holds:
        raise Problem(message)


def read_samples(path):
    """Yields (key, {field: bytes}) of a shard, and checks the container on the way."""
    raw = path.read_bytes()
    check(len(raw) % 512 == 0 and raw[-1024:] == bytes(1024), "does not end with two zero blocks")
    seen, key, fields = set(), None, {}
    with tarfile.open(path, "r:") as tar:
        check(tar.pax_headers == {}, "has pax headers")
        for member in tar:
            check(member.isreg(), f"{member.name} is no regular file")
            check(raw[member.offset + 257 : member.offset + 265] == b"ustar\x0000", f"{member.name} is not USTAR")
            check(member.offset_data == member.offset + 512, f"{member.name} has an extended header")
            facts = (member.mtime, member.mode, member.uid, member.gid, member.uname, member.gname)
            check(facts == (0, 0o644, 0, 0, "", ""), f"{member.name} has time, mode or owner {facts}")
            match = NAME.match(member.name)
            check(match is not None, f"{member.name} is no WebDataset name")
            check(len(member.name) <= 100 and not member.name.startswith("__"), f"{member.name} would be skipped")
            this, field = match.groups()
            check(field == field.lower(), f"{member.name} has a field in upper case")
            if this != key:
                if key is not None:
                    yield key, fields
                check(this not in seen, f"the files of {this} are not next to each other")
                seen.add(this)
                key, fields = this, {}
            check(field not in fields, f"{member.name} repeats a field")
            fields[field] = tar.extractfile(member).read()
    if key is not None:
        yield key, fields


def jpeg_size(data):
    """Width and height from the frame header (SOFn)."""
    check(data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9", "a JPEG is cut off")
    at = 2
    while True:
        check(data[at] == 0xFF, "a JPEG has no marker where one is due")
        marker = data[at + 1]
        length = struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length


def grey_png(data):
    """Width, height and rows of an 8-bit greyscale PNG, every chunk's checksum checked."""
    check(data[:8] == b"\x89PNG\r\n\x1a\n", "a PNG has no signature")
    at, packed, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        check(at + 12 + length <= len(data), "a PNG is cut off")
        body = data[at + 8 : at + 8 + length]
        checksum = struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        check(zlib.crc32(kind + body) == checksum, "a PNG is damaged")
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, depth, colour, _, _, interlace = header
    check((depth, colour, interlace) == (8, 0, 0), f"a PNG has depth {depth} and colour type {colour}, not 8-bit grey")
    return width, height, unfilter(zlib.decompress(packed), width, height)


def unfilter(data, width, height):
    check(len(data) == height * (width + 1), "a PNG has too few or too many pixels")
    rows, above = [], bytes(width)
    for y in range(height):
        start = y * (width + 1)
        kind, row = data[start], bytearray(data[start + 1 : start + 1 + width])
        for x in range(width):
            left = row[x - 1] if x else 0
            corner = above[x - 1] if x else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[x]
            elif kind == 3:
                guess = (left + above[x]) >> 1
            elif kind == 4:
                guess = paeth(left, above[x], corner)
            else:
                guess = 0
            row[x] = (row[x] + guess) & 255
        rows.append(row)
        above = row
    return rows


def paeth(left, above, corner):
    estimate = left + above - corner
    a, b, c = abs(estimate - left), abs(estimate - above), abs(estimate - corner)
    return left if a <= b and a <= c else above if b <= c else corner


def mask_facts(rows):
    """Area and box of the pixels of at least 128."""
    set_columns = [x for row in rows for x, value in enumerate(row) if value >= 128]
    set_rows = [y for y, row in enumerate(rows) if max(row) >= 128]
    if not set_columns:
        return 0, {"left": 0, "top": 0, "width": 0, "height": 0}
    left, top = min(set_columns), set_rows[0]
    box = {"left": left, "top": top, "width": max(set_columns) - left + 1, "height": set_rows[-1] - top + 1}
    return len(set_columns), box


def check_names(label, subset, split, key, fields):
    named = (label["key"], label["subset"], label["split"])
    check(named == (key, subset, split), f"{key}: the label is of another sample")
    parts = f"{subset}-{label['instance']['number']:06d}-{label['variation']}"
    check(key == parts, f"{key} is not <subset>-<instance>-<variation>")
    check(label["files"] == {field: f"{key}.{field}" for field in fields}, f"{key}: the label names other files")


def check_image_sample(subset, split, key, fields):
    label = json.loads(fields["json"])
    check_names(label, subset, split, key, fields)
    width, height, rows = grey_png(fields["mask.png"])
    check((width, height) == jpeg_size(fields["jpg"]), f"{key}: mask and image differ in size")
    check(label["scene"]["size"] == width == height, f"{key}: the scene has another size")
    area, box = mask_facts(rows)
    facts = label["facts"]
    check(facts["area"] == area, f"{key}: area {facts['area']}, but the mask has {area} pixels")
    check(facts["box"] == box, f"{key}: box {facts['box']}, but the mask has {box}")
    check(abs(facts["coverage"] - area / (width * height)) < 1e-9, f"{key}: coverage does not fit")


def run_lengths(text):
    """COCO's compressed counts: groups of 5 bits from "0" on, from the fourth a difference to the one two before."""
    counts, value, shift = [], 0, 0
    for character in text:
        group = ord(character) - 48
        value |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            value -= 1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
        value, shift = 0, 0
    return counts


def check_silhouette(subset, split, key, fields):
    label = json.loads(fields["json"])
    check_names(label, subset, split, key, fields)
    said = label["silhouette"]
    for field in ("edge.png", "grey.png", "silhouette.png"):
        width, height, rows = grey_png(fields[field])
        check((width, height) == (said["width"], said["height"]), f"{key}: {field} has another size")
        if field != "grey.png" and not said["soft"]:
            check({value for row in rows for value in row} <= {0, 255}, f"{key}: {field} is not black and white")
    shown, picture, found = label["hq"], label["picture"], label["object"]
    check(jpeg_size(fields["hq.jpg"]) == (shown["width"], shown["height"]), f"{key}: hq.jpg has another size")
    height, width = found["mask"]["size"]
    check((width, height) == (picture["width"], picture["height"]), f"{key}: the mask is of another picture")
    counts = run_lengths(found["mask"]["counts"])
    check(sum(counts) == width * height, f"{key}: the run lengths do not fill the picture")
    check(sum(counts[1::2]) == found["area"], f"{key}: area {found['area']}, but the mask has {sum(counts[1::2])} pixels")
    starts = [sum(counts[:i]) for i in range(1, len(counts), 2)]
    runs = [(start, start + counts[2 * i + 1] - 1) for i, start in enumerate(starts)]
    ys = [y for first, last in runs for y in ((0, height - 1) if first // height != last // height else (first % height, last % height))]
    left, right, top, bottom = runs[0][0] // height, runs[-1][1] // height, min(ys), max(ys)
    box = {"left": left, "top": top, "width": right - left + 1, "height": bottom - top + 1}
    check(found["box"] == box, f"{key}: box {found['box']}, but the mask has {box}")


def check_bank_item(kind, key, fields):
    label = json.loads(fields["json"])
    check(label["id"] == key, f"{key}: the label is of another item")
    check(label["split"] in SPLITS, f"{key}: no split")
    if kind == "textures":
        check(jpeg_size(fields["jpg"]) == (label["width"], label["height"]), f"{key}: the image has another size")
        return
    width, height, rows = grey_png(fields["png"])
    check((width, height) == (label["width"], label["height"]), f"{key}: the image has another size")
    check({value for row in rows for value in row} <= {0, 255}, f"{key}: a shape has values besides 0 and 255")
    area, box = mask_facts(rows)
    check(area == label["area"], f"{key}: area {label['area']}, but the mask has {area} pixels")
    check(box == {"left": 0, "top": 0, "width": width, "height": height}, f"{key}: the box is not tight")


def shards_of(run):
    """(subset or bank, split, path) of every shard, by the published layout."""
    for kind in ("shapes", "textures"):
        for path in sorted((run / "banks" / kind).glob("*.tar")):
            yield kind, None, path
    for subset in ("shapes2d", "textures2d", "silhouettes"):
        for split in SPLITS:
            paths = sorted((run / subset / split).glob("*.tar"))
            names = [f"{subset}-{split}-{number:06d}.tar" for number in range(len(paths))]
            found = [path.name for path in paths]
            check(found == names, f"{subset}/{split} has shards {found}")
            for path in paths:
                yield subset, split, path


def read_run(run):
    """Checks every shard. Returns counts, and the problems found."""
    counts, keys, problems = {}, {}, []
    for kind, split, path in shards_of(run):
        samples = 0
        try:
            for key, fields in read_samples(path):
                samples += 1
                order = f"{key} has fields {list(fields)}, not {FIELDS[kind]} in this order"
                check(list(fields) == FIELDS[kind], order)
                check(key not in keys.setdefault(kind, set()), f"{key} is in two shards")
                keys[kind].add(key)
                if kind == "silhouettes":
                    check_silhouette(kind, split, key, fields)
                elif split:
                    check_image_sample(kind, split, key, fields)
                else:
                    check_bank_item(kind, key, fields)
            recorded = json.loads(path.with_suffix(".json").read_text())["samples"]
            check(recorded == samples, f"holds {samples} samples, its sidecar says {recorded}")
        except (Problem, tarfile.TarError, KeyError, ValueError, IndexError, OSError, struct.error, zlib.error) as problem:
            problems.append(f"{path.relative_to(run)}: {problem}")
        total = counts.setdefault(kind, {"shards": 0, "samples": 0})
        total["shards"] += 1
        total["samples"] += samples
    return counts, problems


def main(runs):
    failed = False
    for run in runs:
        try:
            counts, problems = read_run(Path(run))
        except Problem as problem:
            counts, problems = {}, [str(problem)]
        print(json.dumps(counts))
        for problem in problems:
            print(problem, file=sys.stderr)
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
