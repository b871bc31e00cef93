import { describe, expect, it } from 'vitest';
import { mergeTables, reportTable, serveFlags, splitFile } from './store-command.ts';

const table = mergeTables(serveFlags('dataDir'), reportTable);

describe('the file of a command', () => {
  it.each([
    [['b.orch'], 'b.orch', []],
    [['--data-dir=x', 'b.orch'], 'b.orch', ['--data-dir=x']],
    [['--data-dir=x', 'b.orch', '--json'], 'b.orch', ['--data-dir=x', '--json']],
    [['b.orch', '--data-dir', 'x'], 'b.orch', ['--data-dir', 'x']],
    // A switch takes no value, so that what follows it is the file.
    [['--json', 'b.orch'], 'b.orch', ['--json']],
    // The second one is left to be refused as an argument that nobody expects.
    [['a.orch', 'b.orch'], 'a.orch', ['b.orch']],
  ])('%j: %s', (args, file, flags) => {
    expect(splitFile(table, args)).toEqual({ file, flags });
  });

  it.each([[[]], [['--data-dir', 'x']], [['--json']], [['']]])('%j has none', (args: string[]) => {
    expect(splitFile(table, args)).toEqual({ flags: args });
  });
});
