/** The `fieldPath` of rules: a JSONPath of fields and keys (`.a.b`, `['x']`). */

/** The part of a schema that paths lead through. */
export interface PathSchema {
  readonly properties: { readonly size: number; readonly get: (name: string) => PathSchema | undefined };
  /** The schema of the values of a map; true: any. */
  readonly additionalProperties: PathSchema | true | undefined;
}

/** The path as errors print it, such as `a.b[key]`; undefined when it leads to no field of the schema. */
export function fieldPathOf(path: string, schema: PathSchema): string | undefined {
  const tokens = tokensOf(path);
  let current: PathSchema | undefined = schema;
  let printed = '';
  for (let i = 0; i < tokens.length; i++) {
    const open = tokens[i];
    if (open !== '.' && open !== '[') return undefined;
    const name = open === '.' ? tokens[++i] : unquote(tokens[++i]);
    if (open === '[' && tokens[++i] !== ']') return undefined;
    if (name === undefined || current === undefined) return undefined;
    const { properties, additionalProperties: values }: PathSchema = current;
    if (properties.size > 0) {
      current = properties.get(name);
      if (current === undefined) return undefined;
      printed += printed === '' ? name : `.${name}`;
    } else {
      if (values === undefined) return undefined;
      current = values === true ? undefined : values;
      printed += `[${name}]`;
    }
  }
  return printed;
}

/** Delimiters, quoted texts and names. */
function tokensOf(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs) ?? [];
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
]);

/** The text of a token in single quotes; undefined for another token and for unknown escapes. */
function unquote(token: string | undefined): string | undefined {
  const inner = token === undefined ? undefined : /^'(.*)'$/s.exec(token)?.[1];
  if (inner === undefined) return undefined;
  let valid = true;
  const text = inner.replace(/\\(.)/gs, (_, letter: string) => {
    const character = escapes.get(letter);
    if (character === undefined) valid = false;
    return character ?? '';
  });
  return valid ? text : undefined;
}
