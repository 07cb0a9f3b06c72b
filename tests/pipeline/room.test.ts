import { describe, expect, it } from 'vitest';
import { Room } from '../../pipeline/room.ts';

const MEGABYTE = 1024 * 1024;

/** Lets promises that are settled go on. */
const settle = () => new Promise(resolve => setImmediate(resolve));

/** A room for results that are so many bytes each, and how many have entered it of those that want to. */
function roomOf(places: number) {
  const room = new Room<{ bytes: number }>(places, ({ bytes }) => bytes);
  const visit = { entered: 0 };
  const knock = (times: number) => {
    for (let i = 0; i < times; i++) void room.enter().then(() => visit.entered++);
  };
  return { room, visit, knock };
}

describe('room for what is in flight', () => {
  it('bounds how much is worked on at a time', async () => {
    const { room, visit, knock } = roomOf(2);
    knock(5);
    await settle();
    expect(visit.entered).toBe(2);
    await room.keep(Promise.resolve({ bytes: 10 }));
    await settle();
    expect(visit.entered).toBe(3);
  });

  it('goes on behind work that is slow', async () => {
    const { room, visit, knock } = roomOf(2);
    knock(100);
    void room.keep(new Promise(() => {}));
    for (let done = 0; done < 50; done++) await room.keep(Promise.resolve({ bytes: 1000 }));
    await settle();
    expect(visit.entered).toBe(52);
  });

  it('holds no more results than memory is meant for, and goes on when their turn comes', async () => {
    const { room, visit, knock } = roomOf(2);
    knock(100);
    const [first, second] = [{ bytes: 10 * MEGABYTE }, { bytes: 10 * MEGABYTE }];
    await room.keep(Promise.resolve(first));
    await room.keep(Promise.resolve(second));
    await settle();
    expect(visit.entered).toBe(3);
    room.leave(first);
    await settle();
    expect(visit.entered).toBe(3);
    room.leave(second);
    await settle();
    expect(visit.entered).toBe(4);
  });

  it('lets everybody in when it is opened', async () => {
    const { room, visit, knock } = roomOf(1);
    knock(3);
    room.open();
    knock(3);
    await settle();
    expect(visit.entered).toBe(6);
  });
});
