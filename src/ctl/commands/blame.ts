import type { Writer } from '../../client/index.ts';
import { formatAge } from '../../meta/index.ts';
import { command } from '../command.ts';
import { ownedLines } from '../history/blame.ts';
import { singleTarget } from '../history/former.ts';
import { pathOfTarget, targetsOf } from '../objects/targets.ts';

export const blameCommand = command({
  name: 'blame',
  summary: 'Show who owns each field of an object',
  description:
    'Show an object as YAML, and before each line the field managers that own it, their operation and how long ago they wrote last. A field without a manager was set by the server.',
  usage: '(TYPE NAME | TYPE/NAME)',
  examples: [{ title: 'Show who set which field of a deployment', lines: ['ctl blame deployment web'] }],
  flags: {},
  run: async ({ args, io, path, cluster }) => {
    const opened = await cluster();
    const target = singleTarget(await targetsOf(opened, args), path);
    const lines = ownedLines(await opened.send({ url: pathOfTarget(target) }));
    const now = io.clock.now();
    const cells = lines.map(({ owners }) => [
      columnOf(owners, ({ manager }) => manager),
      columnOf(owners, ({ operation }) => operation),
      columnOf(owners, ({ time }) => formatAge(time, now)),
    ]);
    const widths = [0, 1, 2].map((i) => cells.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), 0));
    const text = lines.map(({ text: line }, i) => {
      const row = (cells[i] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0));
      return `${row.join(' ')} | ${line}\n`;
    });
    io.stdout.write(text.join(''));
    return 0;
  },
});

/** The cell of each owner in a column; the latest writer first. */
const columnOf = (owners: readonly Writer[], cellOf: (owner: Writer) => string): string =>
  owners.length === 0
    ? '-'
    : owners
        .toSorted((a, b) => ((a.time ?? '') > (b.time ?? '') ? -1 : 1))
        .map(cellOf)
        .join(',');
