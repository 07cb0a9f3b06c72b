"""Natural shapes as one would write them with OpenCV: the baseline that bench/ compares with.

    python3 bench/python/natural_shapes.py PHOTO... > result.json

Runs the published rule on one core, from reading each photo to its mask as PNG, and prints
{"photos": number, "shapes": number, "seconds": number}. Needs python3-opencv and numpy.
"""

import json
import random
import sys
import time

import cv2
import numpy as np

WORK_SIDE = 512
CHANNEL_DRAWS = 15
THRESHOLDS = 20
MIN_AREA = 20000
MAX_AREA_SHARE = 0.5
BORDER = 5
EROSION_SIDE = 11
MIN_ERODED_AREA = 15000


def shrink(image):
    scale = WORK_SIDE / min(image.shape[:2])
    if scale >= 1:
        return image
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def largest_component(mask):
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count < 2:
        return None
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    return labels == largest, stats[largest]


def is_thick(shape, side, min_area):
    eroded = cv2.erode(shape.astype(np.uint8), np.ones((side, side), np.uint8))
    return eroded.sum() >= min_area


def find_shape(image):
    height, width = image.shape[:2]
    scale = min(height, width) / WORK_SIDE
    border = max(1, round(BORDER * scale))
    side = max(3, 2 * round((EROSION_SIDE * scale - 1) / 2) + 1)
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    for _ in range(CHANNEL_DRAWS):
        use_hsv = random.random() < 0.5
        index = random.randrange(3)
        maximum = 179 if use_hsv and index == 0 else 255
        channel = (hsv if use_hsv else image)[:, :, index] / maximum
        if random.random() < 0.5:
            channel = 1 - channel
        for _ in range(THRESHOLDS):
            found = largest_component(channel > random.random())
            if found is None:
                continue
            mask, (left, top, w, h, area) = found
            if left < border or top < border or left + w > width - border or top + h > height - border:
                continue
            if area < MIN_AREA * scale**2 or area > MAX_AREA_SHARE * width * height:
                continue
            shape = mask[top : top + h, left : left + w]
            if is_thick(shape, side, MIN_ERODED_AREA * scale**2):
                return shape.astype(np.uint8) * 255
    return None


def main(paths):
    cv2.setNumThreads(1)
    random.seed(1)
    shapes = 0
    start = time.process_time()
    for path in paths:
        shape = find_shape(shrink(cv2.imread(path, cv2.IMREAD_COLOR)))
        if shape is not None:
            shapes += 1
            cv2.imencode(".png", shape)
    seconds = time.process_time() - start
    print(json.dumps({"photos": len(paths), "shapes": shapes, "seconds": round(seconds, 3)}))


if __name__ == "__main__":
    main(sys.argv[1:])
