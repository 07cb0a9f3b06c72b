import { uniform } from './distributions.ts';
import type { Rng } from './rng.ts';

/** A unit quaternion x, y, z, w. */
export type UnitQuaternion = [x: number, y: number, z: number, w: number];

/**
 * A rotation, uniform over SO(3): axes uniform on the sphere, angles with density (1 − cos θ)/π on [0, π] (Shoemake, Graphics
 * Gems III). Three random numbers.
 */
export function uniformRotation(rng: Rng): UnitQuaternion {
  const u = rng.next();
  const a = uniform(rng, 0, 2 * Math.PI);
  const b = uniform(rng, 0, 2 * Math.PI);
  const low = Math.sqrt(1 - u);
  const high = Math.sqrt(u);
  return [low * Math.sin(a), low * Math.cos(a), high * Math.sin(b), high * Math.cos(b)];
}

/** Turns about the x axis, then the y axis, then the z axis, in degrees. */
export function eulerRotation(x: number, y: number, z: number): UnitQuaternion {
  const half = (degrees: number) => (degrees * Math.PI) / 360;
  const about = (axis: number, angle: number): UnitQuaternion => {
    const quaternion: UnitQuaternion = [0, 0, 0, Math.cos(angle)];
    quaternion[axis] = Math.sin(angle);
    return quaternion;
  };
  return product(about(2, half(z)), product(about(1, half(y)), about(0, half(x))));
}

/** The rotation b, then the rotation a. */
export function product(a: UnitQuaternion, b: UnitQuaternion): UnitQuaternion {
  const [ax, ay, az, aw] = a;
  const [bx, by, bz, bw] = b;
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

/** The rotation as a matrix, row by row. */
export function rotationMatrix([x, y, z, w]: UnitQuaternion): number[] {
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    1 - 2 * (x * x + z * z),
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    1 - 2 * (x * x + y * y),
  ];
}
