import { describe, expect, it } from 'vitest';
import { eachPemBlock, firstPemBlock, formatPem, onlyPemBlock, pemBlocks } from './pem.ts';

const block = '-----BEGIN A-----\nYWJj\n-----END A-----\n';
const told = (text: string) => pemBlocks(text).map(({ type, bytes }) => `${type} ${bytes.toString()}`);

// The results of the reference server's reader (Go's encoding/pem).
describe('pemBlocks', () => {
  it.each([
    ['one block', block, 'A abc'],
    ['no line at the end', block.trimEnd(), 'A abc'],
    ['lines of another system', block.replaceAll('\n', '\r\n'), 'A abc'],
    ['white space in lines and at their ends', '-----BEGIN A----- \t\n Y\tW\nJ j\n\n-----END A-----\t \n', 'A abc'],
    ['text around', `text\n${block}text: more\n${block}text`, 'A abc', 'A abc'],
    ['headers', '-----BEGIN A-----\nProc-Type: 4\nB:c\n\nYWJj\n-----END A-----', 'A abc'],
    ['nothing in it', '-----BEGIN A-----\n-----END A-----', 'A '],
    ['nothing but a line in it', '-----BEGIN A-----\n\n-----END A-----', 'A '],
    ['a type of any kind', '-----BEGIN a-B c-----\nYWJj\n-----END a-B c-----', 'a-B c abc'],
    ['a type that is empty', '-----BEGIN -----\nYWJj\n-----END -----', ' abc'],
    ['what looks like a block before it', `-----BEGIN B-----\nYWJj\n${block}`, 'A abc'],
    ['a beginning that is not a line before it', `x${block}${block}`, 'A abc'],
    ['an end that is not a line', '-----BEGIN A-----\nYWJj-----END A-----\n'],
    ['an end that is not a line, and a block', `-----BEGIN A-----\nYWJj-----END A-----\n${block}`, 'A abc'],
    ['lines that no line feed ends', block.replaceAll('\n', '\r')],
    ['a beginning after a carriage return', `x\r${block}`],
    ['an end before a carriage return alone', `${block.trimEnd()}\r`],
    ['headers that nothing ends', '-----BEGIN A-----\nB: c\n-----END A-----\n'],
    ['headers and no data', '-----BEGIN A-----\nB: c\n\n-----END A-----\n', 'A '],
    ['more after the end', '-----BEGIN A-----\nYWJj\n-----END A----- x\n'],
    ['another end', '-----BEGIN A-----\nYWJj\n-----END B-----\n'],
    ['no end', '-----BEGIN A-----\nYWJj\n'],
    ['text before the beginning', ` ${block}`],
    ['no base64', '-----BEGIN A-----\nYW!j\n-----END A-----\n'],
    ['base64 without its padding', '-----BEGIN A-----\nYWI\n-----END A-----\n'],
    ['base64 after its end', '-----BEGIN A-----\nYWI=YWJj\n-----END A-----\n'],
    ['base64 for URLs', '-----BEGIN A-----\n-_-_\n-----END A-----\n'],
    ['nothing', ''],
  ])('%s', (_, text, ...expected) => {
    expect(told(text)).toEqual(expected);
  });

  it('returns the text of a block, and whether it has headers', () => {
    const text = `x\n${block}-----BEGIN B-----\nC: d\n\nYWJj\n-----END B-----`;
    expect(pemBlocks(text).map(({ text, hasHeaders }) => [text, hasHeaders])).toEqual([
      [block, false],
      ['-----BEGIN B-----\nC: d\n\nYWJj\n-----END B-----', true],
    ]);
  });

  it('takes linear time', () => {
    const begun = '-----BEGIN A-----\n';
    for (const text of [
      begun.repeat(100_000),
      `${begun.repeat(100_000)}-----END B-----\n`,
      `${begun}YWJj\n`.repeat(50_000),
    ]) {
      expect(told(text)).toEqual([]);
      expect(told(text + block)).toEqual(['A abc']);
    }
  });
});

describe('onlyPemBlock', () => {
  it.each([block, ` \n\n`.trimStart() + block, `\n\t \n${block}\r\n \n`])('returns the block: %j', (text) => {
    expect(onlyPemBlock(text)?.bytes.toString()).toBe('abc');
  });

  it.each([
    '',
    'x',
    `x\n${block}`,
    `x${block}${block}`,
    `${block}x`,
    `${block}\0`,
    block + block,
    `${block}-----BEGIN A-----\n`,
  ])('rejects %j', (text) => {
    expect(onlyPemBlock(text)).toBeUndefined();
  });
});

it('reads no more blocks than are asked for', () => {
  const many = `${block.repeat(2)}-----BEGIN A-----\n`;
  const blocks = eachPemBlock(many);
  expect(blocks.next().value?.bytes.toString()).toBe('abc');
  expect(firstPemBlock(many)?.text).toBe(block);
  expect([...blocks]).toHaveLength(1);
});

it('parses its own output', () => {
  const bytes = Buffer.from('x'.repeat(100));
  const text = formatPem('SOME THING', bytes);
  expect(text.split('\n').map(({ length }) => length)).toEqual([26, 64, 64, 8, 24, 0]);
  expect(onlyPemBlock(text)).toMatchObject({ type: 'SOME THING', bytes });
  expect(pemBlocks(formatPem('A', Buffer.alloc(0)))).toMatchObject([{ type: 'A', bytes: Buffer.alloc(0) }]);
});
