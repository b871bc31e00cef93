import { describe, expect, it } from 'vitest';
import { pathsOfLines, pathText } from './paths.ts';

const pathsOf = (text: string) => pathsOfLines(text.split('\n')).map(pathText);

describe('the path of each line of YAML', () => {
  it('follows keys, lists, lists in lists, and lists as far left as their key', () => {
    const text = [
      'a:',
      '  b: 1',
      'list:',
      '  - name: x',
      '    port: 1',
      '  - name: y',
      'left:',
      '- one',
      '- - two',
      'z: 1',
    ];
    expect(pathsOf(text.join('\n'))).toEqual([
      'a',
      'a.b',
      'list',
      'list[0].name',
      'list[0].port',
      'list[1].name',
      'left',
      'left[0]',
      'left[1][0]',
      'z',
    ]);
  });

  it('is that of the text for lines of a block text, also where they look like keys', () => {
    expect(pathsOf('data:\n  file: |-\n    a: 1\n\n    b: 2\n  other: >\n    c: 3\nend: 1')).toEqual([
      'data',
      'data.file',
      'data.file',
      'data.file',
      'data.file',
      'data.other',
      'data.other',
      'end',
    ]);
  });

  it('has quoted keys without their quotes, and keys with dots and slashes', () => {
    expect(pathsOf('"a b":\n  \'c\': 1\n  example.com/d: 1')).toEqual([
      '["a b"]',
      '["a b"].c',
      '["a b"]["example.com/d"]',
    ]);
  });
});
