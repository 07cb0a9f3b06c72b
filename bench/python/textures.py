"""Textures of photos in plain NumPy and OpenCV: the rule of extractors/texture-regions.ts the way a script would write it.

    python3 bench/python/textures.py --cell 75 PHOTO...

Prints {"photos", "textures", "seconds"}; the seconds include decoding. Needs numpy and cv2, no scipy.
"""

import argparse
import json
import time

import cv2
import numpy as np

MIN_CELLS = 7
MIN_SIMILARITY = 0.5
MAX_REGIONS = 100
MAX_OVERLAP = 0.25
SHORT_SIDE = 2200


def jensenshannon(p, q):
    """scipy.spatial.distance.jensenshannon with base e."""
    p = p / p.sum()
    q = q / q.sum()
    m = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(p > 0, p * np.log(p / m), 0).sum()
        right = np.where(q > 0, q * np.log(q / m), 0).sum()
    return np.sqrt(max(0, (left + right) / 2))


def channel_maps(image):
    maps = [image[:, :, 0], image[:, :, 1], image[:, :, 2], image.mean(axis=2)]
    for colour in range(3):
        dx = cv2.Sobel(image[:, :, colour], cv2.CV_64F, 1, 0, ksize=3)
        dy = cv2.Sobel(image[:, :, colour], cv2.CV_64F, 0, 1, ksize=3)
        maps += [dx, dy, np.sqrt(dx**2 + dy**2)]
    return maps


def similarity(a, b):
    """Lowest of all channels, up to the first under MIN_SIMILARITY; a and b are lists of 13 cells of pixels."""
    lowest = 1.0
    for x, y in zip(a, b):
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        if low == high:
            continue
        p = np.histogram(x, bins=10, range=(low, high))[0]
        q = np.histogram(y, bins=10, range=(low, high))[0]
        lowest = min(lowest, 1 - jensenshannon(p, q))
        if lowest < MIN_SIMILARITY:
            break
    return lowest


def grow(cells, x, y):
    """The largest square from (x, y) whose cells are all similar: its side in cells and its lowest similarity."""
    columns, rows = len(cells), len(cells[0])
    inside = [cells[x][y]]
    side, score = 1, 1.0
    while x + side < columns and y + side < rows:
        added = [cells[x + side][y + i] for i in range(side + 1)] + [cells[x + i][y + side] for i in range(side)]
        lowest = score
        for i, cell in enumerate(added):
            for other in inside + added[:i]:
                lowest = min(lowest, similarity(cell, other))
                if lowest < MIN_SIMILARITY:
                    return side, score
        inside += added
        side, score = side + 1, lowest
    return side, score


def inside_of(inner, outer):
    return (
        inner[0] >= outer[0]
        and inner[1] >= outer[1]
        and inner[0] + inner[2] <= outer[0] + outer[2]
        and inner[1] + inner[2] <= outer[1] + outer[2]
    )


def overlap(a, b):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[2], b[1] + b[2]) - max(a[1], b[1])
    return max(0, width) * max(0, height) / min(a[2], b[2]) ** 2


def is_smooth(crop):
    middle = crop.shape[0] // 2
    for quadrant in (crop[:middle, :middle], crop[:middle, middle:], crop[middle:, :middle], crop[middle:, middle:]):
        if quadrant.std() < 3.5 or (quadrant.std() < 6 and quadrant.mean() > 245):
            return True
    return False


def textures(image, cell):
    """[(x, y, side, score)] in cells, best first."""
    columns, rows = image.shape[1] // cell, image.shape[0] // cell
    maps = channel_maps(image)
    cells = [
        [[m[y * cell : (y + 1) * cell, x * cell : (x + 1) * cell] for m in maps] for y in range(rows)]
        for x in range(columns)
    ]
    found = []
    for x in range(columns):
        for y in range(rows):
            if len(found) == MAX_REGIONS:
                break
            side, score = grow(cells, x, y)
            if side >= MIN_CELLS and not any(inside_of((x, y, side), earlier) for earlier in found):
                found.append((x, y, side, score))
    kept = []
    for x, y, side, score in sorted(found, key=lambda region: -region[3]):
        if any(overlap((x, y, side), better) > MAX_OVERLAP for better in kept):
            continue
        if not is_smooth(image[y * cell : (y + side) * cell, x * cell : (x + side) * cell]):
            kept.append((x, y, side, score))
    return kept


def read(path):
    image = cv2.imread(path)
    scale = SHORT_SIDE / min(image.shape[:2])
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else image


def main():
    parser = argparse.ArgumentParser(description="Finds uniform textures in photos.")
    parser.add_argument("photos", nargs="+")
    parser.add_argument("--cell", type=int, default=75, help="side of a cell in pixels")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    start = time.process_time()
    found = [textures(read(path), arguments.cell) for path in arguments.photos]
    seconds = time.process_time() - start
    print(json.dumps({"photos": len(found), "textures": sum(map(len, found)), "seconds": round(seconds, 3)}))


if __name__ == "__main__":
    main()
