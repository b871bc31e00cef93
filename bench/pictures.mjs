// Draws the pictures of the README: the rooms of ARCHITECTURE.md, and a latency measured by the benchmark.
//   npm run bench -- --only=listLatency && node bench/pictures.mjs
// Keeps the latency figures next to the picture, which is drawn from them again when there are no new ones.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./rows.mjs').Series} Series */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'docs/pictures');

const colours = ['#2563eb', '#d97706', '#be123c'];
/** Readable on white and on black. */
const ink = '#6b7280';

const escaped = (/** @type {string} */ text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @param {number} x @param {number} y @param {string} text @param {string} [more] */
const label = (x, y, text, more = '') => `<text x="${x}" y="${y}" ${more}>${escaped(text)}</text>`;

/** @param {number} width @param {number} height @param {string} title @param {string[]} parts */
const picture = (width, height, title, parts) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}" ` +
  `font-family="system-ui, sans-serif" font-size="13" fill="${ink}">\n${parts.join('\n')}\n</svg>\n`;

/** The rooms by floor, the highest floor first; each may import rooms of its own floor and of those below. @param {string} architecture */
export function drawRooms(architecture) {
  /** @type {Map<string, string[]>} */
  const floors = new Map();
  for (const [, floor = '', room = ''] of architecture.matchAll(/^\| (\w+) \| `(\w+)` \|/gm)) {
    floors.set(floor, [...(floors.get(floor) ?? []), room]);
  }
  const [width, gap, height] = [760, 8, 34];
  const parts = [...floors].reverse().flatMap(([floor, rooms], row) => {
    const y = row * (height + 2 * gap) + gap;
    const each = (width - 90 - gap * rooms.length) / rooms.length;
    const boxes = rooms.flatMap((room, i) => {
      const x = 90 + i * (each + gap);
      const place = `x="${x.toFixed(1)}" y="${y}" width="${each.toFixed(1)}" height="${height}"`;
      return [
        `<rect ${place} rx="6" fill="none" stroke="${colours[0]}"/>`,
        label(Number((x + each / 2).toFixed(1)), y + 22, room, 'text-anchor="middle"'),
      ];
    });
    return [label(0, y + 22, floor, 'font-weight="600"'), ...boxes];
  });
  return picture(width, floors.size * (height + 2 * gap), 'The rooms of the source, by floor', parts);
}

/** Curves of latency by percentile. @param {Series[]} series @param {string} title */
export function drawLatency(series, title) {
  const [left, top, width, height] = [52, 40, 640, 240];
  const highest = Math.max(...series.flatMap(({ points }) => points.map(([, ms]) => ms)));
  const step = 10 ** Math.floor(Math.log10(highest)) / (highest / 10 ** Math.floor(Math.log10(highest)) < 4 ? 2 : 1);
  const most = Math.ceil(highest / step) * step;
  // The distance to 100 percent on a logarithmic scale shows the slow ones.
  const x = (/** @type {number} */ percent) => left + (Math.log10(100 / (100 - percent)) / Math.log10(200)) * width;
  const y = (/** @type {number} */ ms) => top + height - (ms / most) * height;
  const at = (/** @type {number} */ value) => Number(value.toFixed(1));
  const rows = Array.from({ length: Math.round(most / step) + 1 }, (_, i) => i * step).flatMap((ms) => [
    `<line x1="${left}" x2="${left + width}" y1="${at(y(ms))}" y2="${at(y(ms))}" stroke="${ink}" stroke-opacity="0.25"/>`,
    label(left - 8, at(y(ms)) + 4, String(at(ms)), 'text-anchor="end"'),
  ]);
  const columns = [0, 50, 80, 90, 95, 99, 99.5].map((percent) =>
    label(at(x(percent)), top + height + 20, percent === 0 ? 'fastest' : `${percent} %`, 'text-anchor="middle"'),
  );
  const curves = series.flatMap(({ name, points }, i) => [
    `<polyline fill="none" stroke="${colours[i]}" stroke-width="2" points="${points.map(([percent, ms]) => `${at(x(percent))},${at(y(ms))}`).join(' ')}"/>`,
    label(left + 12, top + 18 + i * 18, name, `style="fill:${colours[i]}"`),
  ]);
  const head = label(0, 18, `${title} (ms, by percentile)`, 'font-weight="600"');
  return picture(left + width + 30, top + height + 32, title, [head, ...rows, ...columns, ...curves]);
}

/** The latency picture's figures: those of the last benchmark, or the kept ones. @returns {{ figure: string, series: Series[] }} */
function latencyFigures() {
  const kept = join(folder, 'list-latency.json');
  const results = join(root, 'bench/results.json');
  /** @type {{ figure: string, series?: Series[] }[]} */
  const measured = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : [];
  for (const { figure, series } of measured) {
    if (series !== undefined) writeFileSync(kept, `${JSON.stringify({ figure, series }, null, 1)}\n`);
  }
  return JSON.parse(readFileSync(kept, 'utf8'));
}

/** The pictures by file name. @param {{ figure: string, series: Series[] }} latency */
export const pictures = ({ series }) => ({
  'rooms.svg': drawRooms(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')),
  'list-latency.svg': drawLatency(series, 'Latency of a LIST of 500 objects of 2 KB by four clients'),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, svg] of Object.entries(pictures(latencyFigures()))) writeFileSync(join(folder, name), svg);
}
