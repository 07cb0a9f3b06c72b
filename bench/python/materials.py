"""PBR maps of textures in plain NumPy and OpenCV: the rule of extractors/pbr-maps.ts the way a script would write it.

    python3 bench/python/materials.py --count 40 OUT TEXTURE...

Writes five JPEGs a set into OUT. Prints {"sets", "seconds"}; the seconds include decoding and encoding. Needs numpy, cv2.
"""

import argparse
import json
import os
import time

import cv2
import numpy as np


def chance(probability):
    return np.random.rand() < probability


def shift_hue(image):
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    hsv[:, :, 0] = ((hsv[:, :, 0].astype(int) + np.random.randint(1, 180)) % 180).astype(np.uint8)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def augment(image):
    if chance(0.22):
        image = shift_hue(image)
    if chance(0.5):
        image = np.rot90(image, -1)
    if chance(0.5):
        image = np.fliplr(image)
    if chance(0.5):
        image = np.flipud(image)
    return np.ascontiguousarray(image)


def candidates(image):
    mean = image.astype(float).mean(axis=2) + 10
    shares = [image[:, :, channel] / mean * 85 for channel in range(3)]
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV).astype(float)
    return shares + [hsv[:, :, 0] * 255 / 180, hsv[:, :, 1], hsv[:, :, 2]]


def make_map(image, maps, kind):
    if chance(0.14):
        u = np.random.rand()
        level = 0 if kind == "height" or u > 0.75 else 255 if u > 0.5 else np.random.randint(256)
        return np.full(image.shape[:2], level, float)
    u = np.random.rand()
    if u < (0.4 if kind == "height" else 0.2):
        plane = image.astype(float).mean(axis=2)
    elif u < 0.64:
        plane = maps[np.random.randint(6)].copy()
    else:
        plane = shift_hue(image)[:, :, np.random.randint(3)].astype(float)
    if chance(0.6 if kind == "roughness" else 0.3):
        plane = 255 - plane
    if chance(0.11):
        side = int(np.random.choice([3, 5, 7, 9]))
        plane = cv2.blur(plane, (side, side))
    stretched = kind == "height" or not chance(0.2)
    ends = sorted(
        [np.random.randint(256) if chance(0.75) else 0, np.random.randint(256) if chance(0.75) else 255]
    )
    if stretched:
        low, high = plane.min(), plane.max()
        plane = (plane - low) / max(high - low, 1e-9) * 255
    below = plane < ends[0]
    if stretched and kind != "height":
        plane = ends[0] + plane / 255 * (ends[1] - ends[0])
    if kind == "height" or chance(0.11):
        plane[below] = 0
    return plane


def normals(height):
    r = np.random.rand() * np.random.rand() * 16
    rows, columns = np.gradient(height / 255)
    n = np.dstack([-r * columns, r * rows, np.ones_like(height)])
    n /= np.linalg.norm(n, axis=2, keepdims=True)
    return (n * 127.5 + 128).astype(np.uint8)[:, :, ::-1]


def make_set(path, out, number):
    image = augment(cv2.imread(path))
    maps = candidates(image)
    color = shift_hue(image) if chance(0.2) else image
    height, roughness, metallic = (make_map(image, maps, kind) for kind in ("height", "roughness", "metallic"))
    if chance(0.14):
        metal = metallic > 160
        metallic[metal] = 255
        if chance(0.66):
            roughness[metal] = 0
    if chance(0.1):
        metallic[metallic < 160] = 0
        if chance(0.66):
            roughness[metallic > 160] = 255
    files = {"color": color, "normal": normals(height), "height": height, "roughness": roughness, "metallic": metallic}
    for name, plane in files.items():
        parameters = [cv2.IMWRITE_JPEG_QUALITY, 95]
        cv2.imwrite(os.path.join(out, f"{number}-{name}.jpg"), plane.astype(np.uint8), parameters)


def main():
    parser = argparse.ArgumentParser(description="Makes PBR maps of textures.")
    parser.add_argument("out")
    parser.add_argument("textures", nargs="+")
    parser.add_argument("--count", type=int, default=40)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    np.random.seed(1)
    start = time.process_time()
    for number in range(arguments.count):
        make_set(arguments.textures[number % len(arguments.textures)], arguments.out, number)
    seconds = time.process_time() - start
    print(json.dumps({"sets": arguments.count, "seconds": round(seconds, 3)}))


if __name__ == "__main__":
    main()
