import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { drawRooms, pictures } from '../bench/pictures.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

it('the pictures are those of the figures and of the map', () => {
  const latency = JSON.parse(read('docs/pictures/list-latency.json')) as Parameters<typeof pictures>[0];
  for (const [name, svg] of Object.entries(pictures(latency)))
    expect([name, read(`docs/pictures/${name}`)]).toEqual([name, svg]);
});

it('the picture of the rooms has each of them', () => {
  const svg = drawRooms(read('ARCHITECTURE.md'));
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of rooms) expect(svg).toContain(`>${name}</text>`);
});

it('docs/compatibility.md counts the recordings and the differences from them', () => {
  const files = readdirSync(join(root, 'test/reference/expected'));
  const exchanges = files.map((file) => (JSON.parse(read(`test/reference/expected/${file}`)) as unknown[]).length);
  const differences = read('test/reference/differences.md').match(/^\| (?!where|-)/gm) ?? [];
  const counted = [files.length, exchanges.reduce((sum, count) => sum + count, 0), differences.length];
  const page = read('docs/compatibility.md').replaceAll(',', '');
  const [, ...said] = /(\d+) recorded scenarios with (\d+) exchanges.*?; (\d+) differences/s.exec(page) ?? [];
  expect(said.map(Number)).toEqual(counted);
});
