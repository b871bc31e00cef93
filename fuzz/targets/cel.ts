import { formatIssues } from '../../src/cel/issues.ts';
import { parse } from '../../src/cel/syntax/parse.ts';
import type { Random } from '../random.ts';
import { law, type Target } from '../target.ts';
import { anyText } from '../values.ts';

const options = { optionalSyntax: true, twoVariableMacros: true };
const texts = [
  'self.items.all(x, x.name.startsWith("a") && x.size >= 0) || !has(self.a)',
  'a ? [1, ?b.?c, {"k": -1.5e3}] : Msg{f: a[0]}.g(b"\\xff", r\'\\n\', """x""")',
  'm.transformMap(k, v, k in [1u, 0xF], v).size() % 2 == 1 ? o.optMap(x, x) : null',
];
const operators = ['+', '-', '*', '/', '%', '<', '<=', '==', '!=', 'in', '&&', '||'];

const expression: Target = {
  name: 'cel-expression',
  seeds: texts.map((text) => Buffer.from(text)),
  words: [
    ...operators,
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    ',',
    '?',
    ':',
    '!',
    '"',
    "'''",
    '\\',
    '`',
    'has(',
    '.map(x, ',
  ],
  generate: (random) => generate(random, 4),
  run: (bytes) => {
    const source = Buffer.from(bytes).toString();
    const { expr, issues } = parse(source, options);
    law((expr === undefined) === issues.length > 0, 'a text has a tree or issues');
    const text = formatIssues(source, issues);
    law(text.length <= 102 * (2 * source.length + 17_000), 'the text of issues is bounded');
  },
};

function generate(random: Random, depth: number): string {
  const next = (): string => generate(random, depth - 1);
  if (depth === 0)
    return random.once(4) ? anyText(random) : random.pick(['a', '1', '"s"', 'true', 'b.c', '-2.5', '3u']);
  return random.pick([
    () => `${next()} ${random.pick(operators)} ${next()}`,
    () => `(${next()})`,
    () => `${next()} ? ${next()} : ${next()}`,
    () => `[${random.list(0, 3, next).join(', ')}]`,
    () => `{${next()}: ${next()}}`,
    () => `a.${random.pick(['all', 'exists', 'map', 'filter', 'f'])}(x, ${next()})`,
    next,
  ])();
}

export const celTargets: readonly Target[] = [expression];
