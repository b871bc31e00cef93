import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

// Evaluates the part of PromQL that the dashboard and the alert rules use, over two scrapes of the same targets.

type Labels = { readonly [label: string]: string };

/** A series with its values at the two scrapes; `first` is undefined when it began between them. */
interface Sample {
  readonly labels: Labels;
  readonly first: number | undefined;
  readonly last: number;
}

/** A series with the value of an expression. */
interface Element {
  readonly labels: Labels;
  readonly value: number;
}

type Value = number | readonly Element[];

/** The series of two scrapes by name, with the labels that Prometheus adds. */
export type Scraped = ReadonlyMap<string, readonly Sample[]>;

/** How long after the first scrape the second one was, for rates (seconds). */
const interval = 60;

const samplePattern = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;

function samplesOf(text: string): Map<string, number> {
  return new Map(
    [...text.matchAll(samplePattern)].map(([, name, labels = '', value]) => [`${name}{${labels}}`, Number(value)]),
  );
}

/** Parses the scrapes of targets. */
export function scraped(
  targets: readonly { readonly own: Labels; readonly before: string; readonly after: string }[],
): Scraped {
  const all = new Map<string, Sample[]>();
  for (const { own, before, after } of targets) {
    const earlier = samplesOf(before);
    for (const [key, last] of samplesOf(after)) {
      const [, name = '', text = ''] = /^(\w+)\{(.*)\}$/.exec(key) ?? [];
      const labels = { ...own, ...labelsOf(text) };
      all.set(name, [...(all.get(name) ?? []), { labels, first: earlier.get(key), last }]);
    }
    all.set('up', [...(all.get('up') ?? []), { labels: own, first: 1, last: 1 }]);
  }
  return all;
}

const labelsOf = (text: string): Labels =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [label, value]),
  );

/**
 * The value of a query. A comparison keeps every element of its left side that has one on its right side, whether or not
 * it holds, so that the rule of an alert that does not fire has a value. @throws Error at what is wrong, or not known here
 */
export function evaluate(query: string, series: Scraped): Value {
  const root = parser.parse(query).topNode;
  root.cursor().iterate(({ type, from }) => {
    if (type.isError) throw new Error(`syntax error at ${from}`);
  });
  const expression = root.firstChild;
  if (expression === null) throw new Error('an empty query');
  return new Evaluation(query, series).value(expression);
}

class Evaluation {
  readonly #query: string;
  readonly #series: Scraped;

  constructor(query: string, series: Scraped) {
    this.#query = query;
    this.#series = series;
  }

  value(node: SyntaxNode): Value {
    switch (node.name) {
      case 'NumberDurationLiteral':
        return Number(this.#text(node));
      case 'ParenExpr':
        return this.value(only(node));
      case 'VectorSelector':
        return this.#select(node).map(({ labels, last }) => ({ labels, value: last }));
      case 'FunctionCall':
        return this.#call(node);
      case 'AggregateExpr':
        return this.#aggregate(node);
      case 'BinaryExpr':
        return this.#binary(node);
      default:
        throw new Error(`${node.name} is not known`);
    }
  }

  #text({ from, to }: SyntaxNode): string {
    return this.#query.slice(from, to);
  }

  /** The series of a selector, of which there must be one: it has neither `__name__` nor an offset. */
  #select(node: SyntaxNode): readonly Sample[] {
    const name = this.#text(child(node, 'Identifier'));
    const matchers = descendants(node, 'UnquotedLabelMatcher').map((matcher) => {
      const [label = '', op = '', value = ''] = childrenOf(matcher).map((part) => this.#text(part));
      const text = JSON.parse(value) as string;
      const whole = new RegExp(`^(?:${text})$`);
      const tests: { readonly [op: string]: (found: string) => boolean } = {
        '=': (found) => found === text,
        '!=': (found) => found !== text,
        '=~': (found) => whole.test(found),
        '!~': (found) => !whole.test(found),
      };
      return ({ labels }: Sample) => tests[op]?.(labels[label] ?? '') === true;
    });
    const found = this.#series.get(name)?.filter((sample) => matchers.every((matches) => matches(sample))) ?? [];
    if (found.length === 0) throw new Error(`no series for ${this.#text(node)}`);
    return found;
  }

  #call(node: SyntaxNode): Value {
    const name = this.#text(child(node, 'FunctionIdentifier'));
    const [first, second] = childrenOf(child(node, 'FunctionCallBody'));
    if (name === 'time') return Date.now() / 1000;
    if (first === undefined) throw new Error(`${name} has no argument`);
    if (name === 'histogram_quantile') return quantiles(this.#vector(second));
    if (first.name !== 'MatrixSelector') throw new Error(`${name} needs a range`);
    const samples = this.#select(child(first, 'VectorSelector')).filter((sample) => sample.first !== undefined);
    const increase = ({ first: from = 0, last }: Sample) => last - from;
    const ranges: { readonly [name: string]: (sample: Sample) => number } = {
      rate: (sample) => increase(sample) / interval,
      increase,
      changes: (sample) => (increase(sample) === 0 ? 0 : 1),
    };
    const range = ranges[name];
    if (range === undefined) throw new Error(`the function ${name} is not known`);
    const metric = this.#text(descendants(first, 'Identifier')[0]!);
    if (name !== 'changes' && !/_(total|bucket|sum|count|attempts)$/.test(metric)) {
      throw new Error(`${name} of ${metric}, which is not a counter`);
    }
    return samples.map((sample) => ({ labels: sample.labels, value: range(sample) }));
  }

  #vector(node: SyntaxNode | undefined): readonly Element[] {
    const value = node === undefined ? 0 : this.value(node);
    if (typeof value === 'number') throw new Error('a vector is needed, not a number');
    return value;
  }

  #aggregate(node: SyntaxNode): Value {
    const operation = this.#text(child(node, 'AggregateOp'));
    const parts = childrenOf(child(node, 'FunctionCallBody'));
    const elements = this.#vector(parts.at(-1));
    if (operation === 'topk')
      return [...elements].sort((a, b) => b.value - a.value).slice(0, Number(this.#text(parts[0]!)));
    const by = descendants(node.getChild('AggregateModifier'), 'LabelName').map((label) => this.#text(label));
    const unknown = by.filter((label) => elements.every(({ labels }) => labels[label] === undefined));
    if (unknown.length > 0) throw new Error(`no series has the label ${unknown.join()}`);
    const combine = aggregations[operation];
    if (combine === undefined) throw new Error(`the aggregation ${operation} is not known`);
    return grouped(elements, (labels) => pick(labels, by)).map(({ labels, members }) => ({
      labels,
      value: combine(members.map(({ value }) => value)),
    }));
  }

  #binary(node: SyntaxNode): Value {
    const [leftNode, operator, rightNode] = childrenOf(node);
    if (
      leftNode === undefined ||
      operator === undefined ||
      rightNode === undefined ||
      node.getChild('MatchingModifierClause')
    ) {
      throw new Error(`${this.#text(node)} is not known`);
    }
    const compute = operators[this.#text(operator)];
    if (compute === undefined) throw new Error(`the operator ${this.#text(operator)} is not known`);
    const left = this.value(leftNode);
    const right = this.value(rightNode);
    if (typeof left === 'number') {
      return typeof right === 'number'
        ? compute(left, right)
        : right.map((one) => ({ ...one, value: compute(left, one.value) }));
    }
    if (typeof right === 'number') return left.map(({ labels, value }) => ({ labels, value: compute(value, right) }));
    const others = new Map(right.map(({ labels, value }) => [keyOf(labels), value]));
    return left.flatMap(({ labels, value }) => {
      const other = others.get(keyOf(labels));
      return other === undefined ? [] : [{ labels, value: compute(value, other) }];
    });
  }
}

const operators: { readonly [operator: string]: (a: number, b: number) => number } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '==': (a) => a,
  '>': (a) => a,
  '<': (a) => a,
};

const aggregations: { readonly [operation: string]: (values: readonly number[]) => number } = {
  sum: (values) => values.reduce((total, value) => total + value, 0),
  max: (values) => values.reduce((most, value) => Math.max(most, value)),
  min: (values) => values.reduce((least, value) => Math.min(least, value)),
  count: (values) => values.length,
};

const keyOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

const pick = (labels: Labels, names: readonly string[]): Labels =>
  Object.fromEntries(names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])));

function grouped(elements: readonly Element[], labelsIn: (labels: Labels) => Labels) {
  const groups = new Map<string, { readonly labels: Labels; readonly members: Element[] }>();
  for (const element of elements) {
    const labels = labelsIn(element.labels);
    const group = groups.get(keyOf(labels)) ?? { labels, members: [] };
    group.members.push(element);
    groups.set(keyOf(labels), group);
  }
  return [...groups.values()];
}

const withoutBound = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'le'));

/** One element for each histogram, whose buckets must be complete. The value is not the quantile, but what was observed. */
function quantiles(buckets: readonly Element[]): readonly Element[] {
  return grouped(buckets, withoutBound).map(({ labels, members }) => {
    const all = members.find((member) => member.labels['le'] === '+Inf');
    if (all === undefined || members.length < 2) throw new Error('a quantile needs the buckets of a histogram');
    return { labels, value: all.value };
  });
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let next = node.firstChild; next !== null; next = next.nextSibling) found.push(next);
  return found;
}

function child(node: SyntaxNode, name: string): SyntaxNode {
  const found = node.getChild(name);
  if (found === null) throw new Error(`${node.name} has no ${name}`);
  return found;
}

function only(node: SyntaxNode): SyntaxNode {
  const [found, ...more] = childrenOf(node);
  if (found === undefined || more.length > 0) throw new Error(`${node.name} has not one part`);
  return found;
}

function descendants(node: SyntaxNode | null, name: string): SyntaxNode[] {
  if (node === null) return [];
  return childrenOf(node).flatMap((one) => (one.name === name ? [one] : descendants(one, name)));
}
