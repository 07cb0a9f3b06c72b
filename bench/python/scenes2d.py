"""The authors' way to a 2D scene, in OpenCV: for comparison. No mask file, no label.

Reads shape-*.png and texture-*.jpg of a folder, makes N images, prints JSON {images, seconds}.
"""

import glob
import json
import random
import sys
import time

import cv2
import numpy as np

SIZE = 512


def crop(path):
    texture = cv2.imread(path)
    smallest = min(texture.shape[:2])
    if smallest < SIZE:
        texture = cv2.resize(texture, None, fx=SIZE / smallest, fy=SIZE / smallest)
    top = random.randint(0, texture.shape[0] - SIZE)
    left = random.randint(0, texture.shape[1] - SIZE)
    return np.rot90(texture[top : top + SIZE, left : left + SIZE], random.randint(0, 3))


def place(shape):
    long_side = random.uniform(0.32, 1) * SIZE
    scale = long_side / max(shape.shape)
    shape = cv2.resize(shape, None, fx=scale, fy=scale)
    angle = random.randint(0, 359)
    height, width = shape.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1)
    box = [int(height * abs(turn[0, 1]) + width * abs(turn[0, 0])), int(height * abs(turn[0, 0]) + width * abs(turn[0, 1]))]
    turn[0, 2] += box[0] / 2 - width / 2
    turn[1, 2] += box[1] / 2 - height / 2
    turned = cv2.warpAffine(shape, turn, tuple(box))
    if max(box) > SIZE:
        turned = cv2.resize(turned, None, fx=SIZE / max(box), fy=SIZE / max(box))
    mask = np.zeros((SIZE, SIZE), np.uint8)
    height, width = (min(side, SIZE) for side in turned.shape)
    top, left = random.randint(0, SIZE - height), random.randint(0, SIZE - width)
    mask[top : top + height, left : left + width] = turned[:height, :width]
    return mask > 127


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    shapes = sorted(glob.glob(f"{folder}/shape-*.png"))
    textures = sorted(glob.glob(f"{folder}/texture-*.jpg"))
    cv2.setNumThreads(1)
    random.seed(1)
    start = time.process_time()
    for _ in range(count):
        mask = place(cv2.imread(random.choice(shapes), cv2.IMREAD_GRAYSCALE))
        fill, background = (crop(path) for path in random.sample(textures, 2))
        cv2.imencode(".jpg", np.where(mask[:, :, None], fill, background))
    print(json.dumps({"images": count, "seconds": round(time.process_time() - start, 3)}))


main()
