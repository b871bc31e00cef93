import type { Json } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { goText } from './go-value.ts';
import { type JsonPath, jsonPath } from './jsonpath/evaluate.ts';
import { TemplateError } from './jsonpath/parse.ts';
import { TabWriter } from './tab-writer.ts';

interface Column {
  readonly header: string;
  readonly path: JsonPath;
}

/** The columns of `-o custom-columns=NAME:.metadata.name,…`. @throws CommandError */
export function columnsOfSpec(spec: string): Column[] {
  if (spec === '') throw new CommandError('custom-columns format specified but no custom columns given');
  return spec.split(/,(?![^[{]*[\]}])/).map((part) => {
    const colon = part.indexOf(':');
    if (colon < 0) {
      throw new CommandError(`unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`);
    }
    return { header: part.slice(0, colon), path: relaxedPath(part.slice(colon + 1)) };
  });
}

/** The columns of a file: a line of headers, and a line of paths below them. @throws CommandError */
export function columnsOfFile(text: string): Column[] {
  const [headers = '', paths = ''] = text.split('\n');
  const [names, expressions] = [headers, paths].map((line) => line.trim().split(/\s+/)) as [string[], string[]];
  if (headers.trim() === '' || names.length !== expressions.length) {
    throw new CommandError('a file of custom columns needs a line of headers and a line with a path for each');
  }
  return names.map((header, i) => ({ header, path: relaxedPath(expressions[i] ?? '') }));
}

/** A path with or without braces and leading dot: `metadata.name`, `.metadata.name`, `{.metadata.name}`. @throws CommandError */
export function relaxedPath(expression: string): JsonPath {
  const match = /^\{?\.?([^{}]*(?:\{[^{}]*\})?[^{}]*)\}?$/.exec(expression.trim());
  if (match === null) {
    throw new CommandError(
      `unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'`,
    );
  }
  try {
    return jsonPath(`{.${match[1] ?? ''}}`);
  } catch (error) {
    if (error instanceof TemplateError) throw new CommandError(error.message);
    throw error;
  }
}

/** Prints objects in columns, the header before the first one. */
export class CustomColumnsPrinter {
  readonly #columns: readonly Column[];
  readonly #writer: TabWriter;
  #headed: boolean;

  constructor(columns: readonly Column[], noHeaders: boolean, write: (text: string) => unknown) {
    this.#columns = columns;
    this.#headed = noHeaders;
    this.#writer = new TabWriter(write);
  }

  print(object: Json): void {
    if (!this.#headed) this.#writer.row(this.#columns.map(({ header }) => header));
    this.#headed = true;
    this.#writer.row(this.#columns.map(({ path }) => cellText(path.values(object))));
  }

  flush(): void {
    if (!this.#headed) this.#writer.row(this.#columns.map(({ header }) => header));
    this.#headed = true;
    this.#writer.flush();
  }
}

const cellText = (values: readonly Json[]): string =>
  values.length === 0 ? '<none>' : values.map((value) => (value === null ? '<none>' : goText(value))).join(',');
