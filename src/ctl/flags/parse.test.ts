import { describe, expect, it } from 'vitest';
import { duration, integer, list, repeatable, text, toggle } from './flag.ts';
import { FlagError, parseLine } from './parse.ts';

const table = {
  allNamespaces: toggle(false, '', { short: 'A' }),
  chunkSize: integer(500, ''),
  dryRun: text('none', '', { bare: 'unchanged' }),
  fromLiteral: repeatable(''),
  output: text('', '', { short: 'o' }),
  selector: list('', { short: 'l' }),
  stdin: toggle(false, '', { short: 'i' }),
  timeout: duration(0, ''),
};
const parse = (line: string, options = {}) =>
  parseLine(
    table,
    line.split(' ').filter((word) => word !== ''),
    options,
  );

describe('a command line', () => {
  it('has flags before, between and after arguments, in every spelling', () => {
    const { args, values, set } = parse('-A get --output json pods -l=a=b --chunk-size=5 --timeout 1m30s x');
    expect(args).toEqual(['get', 'pods', 'x']);
    expect(values).toMatchObject({
      allNamespaces: true,
      output: 'json',
      selector: ['a=b'],
      chunkSize: 5,
      timeout: 90_000,
    });
    expect([...set].sort()).toEqual(['allNamespaces', 'chunkSize', 'output', 'selector', 'timeout']);
    expect(parse('-Ao wide').values).toMatchObject({ allNamespaces: true, output: 'wide' });
    expect(parse('-oyaml -iA').values).toMatchObject({ output: 'yaml', stdin: true, allNamespaces: true });
  });

  it('collects lists: at commas or as they are', () => {
    expect(parse('-l a,b -l c --from-literal a,b --from-literal c').values).toMatchObject({
      selector: ['a', 'b', 'c'],
      fromLiteral: ['a,b', 'c'],
    });
  });

  it('takes no value for flags that have one without it', () => {
    expect(parse('--dry-run client')).toMatchObject({ values: { dryRun: 'unchanged' }, args: ['client'] });
    expect(parse('--dry-run=client').values).toMatchObject({ dryRun: 'client' });
    expect(parse('--all-namespaces=false').values).toMatchObject({ allNamespaces: false });
  });

  it('ends flags at two hyphens, and at the first argument where a program follows', () => {
    expect(parse('a -- -A b')).toMatchObject({
      args: ['a', '-A', 'b'],
      argsBeforeDash: 1,
      values: { allNamespaces: false },
    });
    expect(parse('-i ls -A', { stopAtArgument: true })).toMatchObject({ args: ['ls', '-A'], values: { stdin: true } });
  });

  it.each([
    ['--foo', 'unknown flag: --foo'],
    ['-z', "unknown shorthand flag: 'z' in -z"],
    ['-o', "flag needs an argument: 'o' in -o"],
    ['--output', 'flag needs an argument: --output'],
    ['--chunk-size=x', 'invalid argument "x" for "--chunk-size" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    ['--stdin=x', 'invalid argument "x" for "-i, --stdin" flag: strconv.ParseBool: parsing "x": invalid syntax'],
    ['---a', 'bad flag syntax: ---a'],
  ])('%s is refused: %s', (line, message) => {
    expect(() => parse(line)).toThrow(new FlagError(message));
  });
});
